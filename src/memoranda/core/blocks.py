"""The items of a category file without level-2 headings: its list items and paragraphs."""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.lines import blank_lines, line_at
from memoranda.core.markdown import scan
from memoranda.core.metadata import EMPTY_METADATA, find_comment, parse_comment
from memoranda.core.nesting import open_item, whole
from memoranda.core.sections import Section, body_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.markdown import Block
    from memoranda.core.metadata import Metadata
    from memoranda.core.sections import Naming

__all__ = ["BLOCK_ID", "comment_in", "parse_blocks", "read_metadata"]

#: A pattern of what may stand behind a ``^``: no brackets, for ``^[...]`` is a footnote.
BLOCK_ID = r"[^\s\[\]|#^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+"
_LINE_END = "\r\n"


@cache
def _id_to_the_end() -> re.Pattern[str]:
    return re.compile(rf"\^({BLOCK_ID})[ \t]*\Z")


class _Found:
    """What belongs to one block beside its text, as offsets into the file."""

    __slots__ = ("block_id", "body", "comment", "text")

    def __init__(self) -> None:
        self.block_id: tuple[int, int] | None = None
        self.comment: tuple[int, int] | None = None
        self.body = (0, 0)
        self.text = ""


def parse_blocks(text: str, blocks: list[Block], naming: Naming, problems: list[tuple[int, str, str]]) -> list[Section]:
    """The items of a file whose top-level blocks are ``blocks``; what is wrong is added to ``problems``."""
    sections = []
    for at, block in enumerate(blocks):
        if block.kind not in ("item", "paragraph"):
            continue
        found = _read_item(text, block) if block.kind == "item" else _read_paragraph(text, block)
        end = block.end
        following = blocks[at + 1] if at + 1 < len(blocks) else None
        if following is not None and following.kind == "html":
            behind = comment_in(text, following)
            if behind is not None and not text[block.end : following.start].strip(" \t\r\n"):
                if found.comment is not None:
                    problems.append((block.line, "metadata", "two metadata comments; the last one counts"))
                    found = _read_item(text, block, keep_comment=True)
                found.comment, end = behind, following.end
        sections.append(_section(text, block, found, blank_lines(text, end), naming, problems))
    return sections


def _section(
    text: str,
    block: Block,
    found: _Found,
    end: int,
    naming: Naming,
    problems: list[tuple[int, str, str]],
) -> Section:
    metadata = EMPTY_METADATA
    if found.comment is not None:
        metadata = read_metadata(text, found.comment, block, problems)
    name = mark = ""
    if found.block_id is not None:
        name, mark = text[slice(*found.block_id)].strip(" \t")[1:], "^"
    elif metadata.name:
        name = metadata.name
    if name:
        address, key = naming.named(name, found.text, block.line, found.text, mark)
    else:
        address, key = naming.unnamed(found.text, block.line)
    return Section(
        name=name,
        address_name=address,
        key=key,
        start=block.start,
        end=end,
        body_start=found.body[0],
        body_end=found.body[1],
        comment=found.comment,
        metadata=metadata,
        line=block.line,
        form="list" if block.kind == "item" else "paragraph",
        text=found.text,
        content=block.content,
        head_end=block.content,
        block_id=found.block_id,
    )


def read_metadata(text: str, comment: tuple[int, int], item: Block, problems: list[tuple[int, str, str]]) -> Metadata:
    """What the comment of an item says; what is broken in it is added to ``problems``."""
    metadata, broken = parse_comment(text[slice(*comment)])
    if broken:
        line = item.line + line_at(text[item.start : comment[0]], comment[0] - item.start) - 1
        problems.extend((line, "metadata", message) for message in broken)
    return metadata


def comment_in(text: str, block: Block) -> tuple[int, int] | None:
    """The slice of the metadata comment that an HTML block consists of."""
    comment = find_comment(text, block.start, block.end)
    if comment is None or text[block.start : comment[0]].strip(" "):
        return None
    return comment


def _id_in(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The slice of a block id at the end of the last line of ``text[start:end]``."""
    while end > start and text[end - 1] in _LINE_END:
        end -= 1
    line = max(text.rfind("\n", start, end), text.rfind("\r", start, end), start - 1) + 1
    caret = text.rfind("^", line, end)
    found = _id_to_the_end().match(text, caret, end) if caret >= 0 else None
    if found is None or (caret > line and text[caret - 1] not in " \t"):
        return None
    first = caret
    while first > line and text[first - 1] in " \t":
        first -= 1
    if not text[start:first].strip(" \t\r\n"):
        return None  # an id alone names nothing
    return first, found.end(1)


def _read_paragraph(text: str, block: Block) -> _Found:
    found = _Found()
    found.block_id = _id_in(text, block.start, block.end)
    first, last, found.text = body_of(text, block.start, block.end, None, found.block_id)
    found.body = (first, last)
    return found


def _read_item(text: str, block: Block, keep_comment: bool = False) -> _Found:
    found = _Found()
    stop = len(text[block.content : block.end].rstrip(" \t\r\n")) + block.content
    lines_in = text.find("\n", block.content, stop) >= 0 or text.find("\r", block.content, stop) >= 0
    if not lines_in and text.find("<!--", block.content, stop) < 0:
        found.block_id = _id_in(text, block.content, stop)
        first, last, found.text = body_of(text, block.content, stop, None, found.block_id)
        found.body = (first, last)
        return found
    inner = open_item(whole(text), block)
    comment = block_id = None
    nested = False
    for kid in scan(inner.text):
        if kid.kind == "html" and not keep_comment and (here := comment_in(inner.text, kid)):
            comment = here
            continue
        nested = nested or kid.kind == "item"
        if not nested:  # the ids of nested items are theirs
            text_kind = kid.kind in ("paragraph", "heading")
            block_id = _id_in(inner.text, kid.start, kid.end) if text_kind else None
    first, last, found.text = body_of(inner.text, inner.lead, len(inner.text), comment, block_id)
    if first < last:
        found.body = (inner.outer(first), inner.outer(last - 1) + 1)
    else:
        found.body = (block.content, block.content)
    if comment is not None:
        found.comment = (inner.outer(comment[0]), inner.outer(comment[1] - 1) + 1)
    if block_id is not None:
        found.block_id = (inner.outer(block_id[0]), inner.outer(block_id[1] - 1) + 1)
    return found
