"""Sections as tools write them, and most people: read by one match each, without the block scanner.

A section is plain when nothing in it could be a heading of level 1 or 2, or
hide one: but for fences that are closed and comments of one line, no line
begins, within three columns, with a fence or HTML, and none underlines. A
metadata comment may only be the last thing. All else is for :mod:`memoranda.core.markdown`;
what is read here is what would be found there.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.markdown_leaves import atx_text
from memoranda.core.metadata import EMPTY_METADATA, SOUND_COMMENT, sound_metadata
from memoranda.core.names import PLAIN_NAME
from memoranda.core.sections import Section, body_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.sections import Naming

__all__ = ["plain_section", "read_plain_sections"]

_WHITE = " \t\n"


@cache
def plain_section() -> re.Pattern[str]:
    """A plain section with the blank lines behind it, its lines ended by ``\\n``.

    Groups: a plain name, any other heading, the body with the blank lines
    behind it, two for the marks of fences, the pairs of the comment. No line is
    matched in two ways, so a section that is not plain costs no more than the
    lines before it shows that.
    """
    heading = rf"## (?:({PLAIN_NAME})|[ \t]*(?![ \t])([^\n]*))\n"
    blank = r"(?:[ \t]*\n)"
    # An underline is one only below a paragraph.
    unlike = r" {0,3}(?:<[A-Za-z!/?]|#{1,2}[ \t\n]|```|~~~)|(?<!\n\n) {0,3}(?:=+|-+)[ \t]*\n"
    remark = r"<!--(?=[^\n]*-->)(?![ \t]*(?i:memoranda|wikimem)[ \t]*:)"
    line = rf"[^ \n#<=`~-][^\n]*\n|(?:(?=[ \n#<=`~-])(?!{unlike})|{remark})[^\n]*\n"
    fences = _fence("`", 4, r"[^`\n]*") + "|" + _fence("~", 5, r"(?!~)[^\n]*")
    body = rf"(?:{line}|{fences}){{0,1999}}"
    return re.compile(rf"{heading}{blank}{{0,99}}(?!{blank})({body})(?:{SOUND_COMMENT}{blank}{{1,99}})?(?=## |\Z)")


def _fence(mark: str, group: int, info: str) -> str:
    """A fence at column 0, from its opening line to the first that closes it; ``group`` is its mark."""
    closing = rf" {{0,3}}\{group}{mark}*[ \t]*\n"
    return rf"({mark}{{3,}}){info}\n(?:(?!{closing})[^\n]*\n){{0,1999}}{closing}"


def read_plain_sections(text: str, start: int, line: int, naming: Naming, sections: list[Section]) -> tuple[int, int]:
    """Add the plain sections that follow each other from ``start`` on; where they end, and the number of that line.

    ``text`` has no ``\\r``; at ``start``, in line ``line``, stands ``## ``, and nothing is open.
    """
    match, taken, add = plain_section().match, naming.taken, sections.append
    while found := match(text, start):
        plain_name, heading, body, _, _, pairs = found.groups()
        end, body_start = found.end(), found.start(3)
        metadata, comment = EMPTY_METADATA, None
        if pairs is not None:
            sound = sound_metadata(pairs)
            if sound is None:
                break
            metadata, comment = sound, (found.end(3), found.end(6) + 3)
        if plain_name is not None:
            name, content = plain_name, start + 3
            head_end = content + len(name) + 1
        else:
            name, content, head_end = atx_text(heading), found.start(2), found.end(2) + 1
        body = body.rstrip(_WHITE)
        if body < "!":  # empty or indented
            body_start, body_end, body = body_of(text, head_end, end, comment, None)
            if body_start == body_end:
                body_start = body_end = head_end
        else:
            body_end = body_start + len(body)
        key = name.lower()
        if plain_name is not None and key not in taken:
            taken[key] = line
            address = name
        else:
            address, key = naming.named(name, body, line, f"{name}\n{body}")
        add(Section(name, address, key, start, end, body_start, body_end, comment, metadata, line, "section", body,
                    content, head_end))  # fmt: skip
        line += text.count("\n", start, end)
        start = end
    return start, line
