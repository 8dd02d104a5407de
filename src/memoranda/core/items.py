"""A category file and its items, without loss: ``serialize(parse(x)) == x`` for every text.

An item is a level-2 section, up to the next heading of level 1 or 2. In a file
without level-2 headings each top-level list item or paragraph is one (see
:mod:`memoranda.core.blocks`), unless a comment ``<!-- memoranda: form=sections -->``
says that the file only waits for its sections: an editor leaves it where it
took the last section out from below a person's own text.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from memoranda.core.blocks import comment_in, parse_blocks, read_metadata
from memoranda.core.edits import common_start
from memoranda.core.lines import lines
from memoranda.core.markdown import scan, scan_from
from memoranda.core.metadata import EMPTY_METADATA, parse_comment
from memoranda.core.plain_sections import plain_section, read_plain_sections
from memoranda.core.sections import Category, Naming, Section, body_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.markdown import Block

    #: Line, kind and message.
    Fault = tuple[int, str, str]

__all__ = [
    "EMPTY_CATEGORY",
    "FORM_COMMENT",
    "Category",
    "Section",
    "merge_markers",
    "parse",
    "reparse",
    "serialize",
]

#: Keeps a file without sections from being read as one of paragraphs and list items.
FORM_COMMENT = "<!-- memoranda: form=sections -->"

EMPTY_CATEGORY = Category("")

_MARKERS = (r"<{7}(?: |\Z)", r"={7}\Z", r">{7}(?: |\Z)")


def parse(text: str) -> Category:
    """Take a category file apart. Never raises: what is wrong is in ``problems``."""
    if "\r" in text or ("<<<<<<<" in text and ">>>>>>>" in text):
        return _parse(text, scan(text))
    blocks: list[Block] = []
    start = 0
    if not text.startswith("## "):
        blocks, start = scan_from(text, 0, 1, plain_section().match)
    if start == len(text):
        return _parse(text, blocks)
    return _parse_headed(text, start, text.count("\n", 0, start) + 1, blocks, [], {})


def _parse(text: str, blocks: list[Block]) -> Category:
    """The category whose top-level blocks are ``blocks``."""
    problems: list[Fault] = []
    naming = Naming(problems)
    headed = any(block.level == 2 for block in blocks)
    if headed:
        sections = _parse_sections(text, blocks, len(text), naming, problems)
    elif _waits_for_sections(text, blocks):
        headed, sections = True, []
    else:
        sections = parse_blocks(text, blocks, naming, problems)
    return _category(text, sections, problems, headed, blocks)


def _parse_headed(
    text: str, start: int, line: int, blocks: list[Block], sections: list[Section], taken: dict[str, int]
) -> Category:
    """The rest of a category from a level-2 heading at ``start``, in line ``line``, on.

    ``blocks`` are the blocks before, as far as they may have faults; ``sections``
    are the items before, with their names ``taken``. Runs of plain sections are
    read without the scanner, what lies between them with it.
    """
    problems: list[Fault] = []
    naming = Naming(problems, taken)
    if any(block.level == 2 for block in blocks):
        sections = _parse_sections(text, blocks, start, naming, problems)
    while True:
        start, line = read_plain_sections(text, start, line, naming, sections)
        if start == len(text):
            return _category(text, sections, problems, True, blocks)
        found, end = scan_from(text, start, line, plain_section().match)
        sections += _parse_sections(text, found, end, naming, problems)
        blocks += found
        line += text.count("\n", start, end)
        start = end


def _category(text: str, sections: list[Section], problems: list[Fault], headed: bool, blocks: list[Block]) -> Category:
    if blocks and blocks[0].kind == "front-matter":
        from memoranda.core.frontmatter import check_front_matter

        problems.extend((line, "front-matter", message) for line, message in check_front_matter(text))
    problems.extend((line, "merge-marker", message) for line, message in merge_markers(text, blocks))
    open_at = None
    if blocks and not blocks[-1].closed:
        what = "fence" if blocks[-1].kind == "fence" else "HTML block or comment"
        open_at = blocks[-1].start
        problems.append((blocks[-1].line, "unclosed", f"this {what} is never closed"))
    problems.sort(key=lambda problem: problem[0])
    return Category(text, tuple(sections), tuple(problems), headed, open_at)


def reparse(known: Category, text: str) -> Category:
    """What :func:`parse` gives for ``text``, at the cost of what follows the last item that both begin with.

    ``known`` is an earlier state of the same file. At a level-2 heading nothing
    is open, so what stands before one that is unchanged is unchanged too.
    """
    sections = known.sections
    # A first line "---" may become front matter by a line anywhere below.
    if not known.headed or known.problems or "<<<<<<<" in text or text.startswith(("---", "\ufeff---")):
        return parse(text)
    # Up to but without the character before the difference: a last line may go on there.
    alike = common_start(known.text, text) - 1
    kept = bisect_right(sections, alike, key=lambda section: section.head_end) - 1
    # An underlined heading may owe its beginning to the lines before it; one with # does not.
    while kept > 0 and not text[sections[kept].start : sections[kept].content].lstrip(" ").startswith("#"):
        kept -= 1
    if kept < 1:
        return parse(text)
    start, line = sections[kept].start, sections[kept].line
    taken = {section.key: section.line for section in sections[:kept]}
    if "\r" not in text:
        return _parse_headed(text, start, line, [], list(sections[:kept]), taken)
    blocks, end = scan_from(text, start, line)
    problems: list[Fault] = []
    rest = _parse_sections(text, blocks, end, Naming(problems, taken), problems)
    return _category(text, [*sections[:kept], *rest], problems, True, blocks)


def serialize(category: Category) -> str:
    """The text that :func:`parse` was given."""
    return "".join(category.slices())


def _waits_for_sections(text: str, blocks: list[Block]) -> bool:
    if "form=sections" not in text:
        return False
    return any(
        block.kind == "html"
        and (comment := comment_in(text, block)) is not None
        and parse_comment(text[slice(*comment)])[0].get("form") == "sections"
        for block in blocks
    )


def _parse_sections(text: str, blocks: list[Block], end: int, naming: Naming, problems: list[Fault]) -> list[Section]:
    """The items of ``text`` up to ``end``, which has those blocks at its end."""
    sections: list[Section] = []
    heading: Block | None = None
    comments: list[tuple[int, int]] = []
    for block in blocks:
        if block.kind == "heading" and block.level <= 2:
            if heading is not None:
                sections.append(_section(text, heading, block.start, comments, naming, problems))
            heading = block if block.level == 2 else None
            comments = []
        elif block.kind == "html" and heading is not None and (comment := comment_in(text, block)):
            comments.append(comment)
    if heading is not None:
        sections.append(_section(text, heading, end, comments, naming, problems))
    return sections


def _section(
    text: str,
    heading: Block,
    end: int,
    comments: list[tuple[int, int]],
    naming: Naming,
    problems: list[Fault],
) -> Section:
    comment = comments[-1] if comments else None
    metadata = EMPTY_METADATA
    if comment is not None:
        metadata = read_metadata(text, comment, heading, problems)
        if len(comments) > 1:
            problems.append((heading.line, "metadata", "more than one metadata comment; the last one counts"))
    body_start, body_end, body = body_of(text, heading.end, end, comment, None)
    if body_start == body_end:
        body_start = body_end = heading.end
    name = heading.text
    address, key = naming.named(name, body, heading.line, f"{name}\n{body}")
    return Section(
        name=name,
        address_name=address,
        key=key,
        start=heading.start,
        end=end,
        body_start=body_start,
        body_end=body_end,
        comment=comment,
        metadata=metadata,
        line=heading.line,
        form="section",
        text=body,
        content=heading.content,
        head_end=heading.end,
    )


def merge_markers(text: str, blocks: list[Block]) -> list[tuple[int, str]]:
    """Full sets of merge markers outside fences, as (line of the first, message)."""
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return []
    fences = [(block.start, block.end) for block in blocks if block.kind == "fence"]
    found: list[tuple[int, str]] = []
    markers = [re.compile(marker) for marker in _MARKERS]
    state = opened = fence = 0
    for number, (start, stop, _) in enumerate(lines(text), 1):
        if text[start : start + 1] not in ("<", "=", ">"):
            continue
        while fence < len(fences) and fences[fence][1] <= start:
            fence += 1
        if fence < len(fences) and fences[fence][0] <= start:
            continue
        if markers[0].match(text, start, stop):
            state, opened = 1, number
        elif state and markers[state].match(text, start, stop):
            state += 1
            if state == 3:
                found.append((opened, f"merge markers from line {opened} to {number}: choose one side"))
                state = 0
    return found
