"""Notes in markdown: cut at their headings, and made to stand as the text of an item."""

from __future__ import annotations

from memoranda.core import settling
from memoranda.core.markdown import scan
from memoranda.core.names import name_key, normalize_newlines
from memoranda.core.records import dataclass
from memoranda.retrieval.rendering import strip_injected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.markdown import Block

__all__ = ["Part", "parts_of", "settled", "without_empty_headings"]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a note: its heading (``None`` before the first), its text as it is written, its place.

    ``line`` is the one of the heading and ``text_line`` that where the text
    begins, counted from 1 in what was cut; ``within`` are the headings of deeper levels inside it.
    """

    heading: str | None
    level: int
    text: str
    line: int
    text_line: int
    within: tuple[str, ...] = ()


def parts_of(text: str) -> list[Part]:
    """The note cut at its headings of level 1 and 2, in order; a part without text counts.

    ``text`` is without front matter and has ``\\n`` line endings.
    """
    # One empty line in front, so that no rule at the beginning is taken for front matter.
    shifted = "\n" + text
    parts: list[Part] = []
    heading: Block | None = None
    start = 0
    within: list[str] = []
    counted = [0, 0]  # up to where lines were counted, and how many

    def close(end: int) -> None:
        body = shifted[start:end].lstrip("\n")
        begins = shifted.count("\n", counted[0], end - len(body)) + counted[1]
        counted[:] = end - len(body), begins
        level, name, line = (0, None, 1) if heading is None else (heading.level, heading.text.strip(), heading.line - 1)
        parts.append(Part(name, level, body.rstrip("\n"), line, begins, tuple(within)))

    for block in scan(shifted):
        if block.kind != "heading":
            continue
        if block.level > 2:
            within.append(block.text.strip())
            continue
        close(block.start)
        heading, start, within = block, block.end, []
    close(len(shifted))
    return parts


def without_empty_headings(text: str, title: str) -> str:
    """The text without headings that nothing stands below, and without a first heading that repeats the title."""
    shifted = "\n" + text
    blocks = scan(shifted)
    gone: list[Block] = []
    deepest = 0  # the level down to which a heading would be followed by nothing but its own kind
    for block in reversed(blocks):
        if block.kind != "heading":
            deepest = 7
        elif block.level >= deepest:
            gone.append(block)
        else:
            deepest = block.level
    first = blocks[0] if blocks else None
    if first is not None and first.kind == "heading" and first not in gone and name_key(first.text) == name_key(title):
        gone.append(first)
    pieces: list[str] = []
    done = 0
    for block in sorted(gone, key=lambda block: block.start):
        pieces.append(shifted[done : block.start])
        done = block.end
    return "".join((*pieces, shifted[done:])).strip("\n")


def settled(text: str) -> str:
    """The text as it can stand as an item's: see :mod:`memoranda.core.settling`. Without blank lines around it."""
    # A recalled block is never remembered again; where it goes, the text may read otherwise.
    return settling.settled(strip_injected(normalize_newlines(text)))
