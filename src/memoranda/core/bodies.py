"""What may be written as an item's text, and how it is laid out in the file."""

from __future__ import annotations

import re

from memoranda.core.blocks import BLOCK_ID, comment_in
from memoranda.core.errors import BadText
from memoranda.core.items import merge_markers
from memoranda.core.markdown import scan
from memoranda.core.names import normalize_newlines
from memoranda.core.records import dataclass
from memoranda.core.sections import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.markdown import Block

__all__ = ["Body", "can_be_block_id", "check_body", "indented", "read_body", "with_block_id"]


@dataclass(frozen=True, slots=True)
class Body:
    """A text as it will be read back from the file, and its top-level blocks.

    The blocks' offsets and lines are one too high: they were read with an empty
    line in front, as a text is never at the beginning of a file.
    """

    text: str
    blocks: tuple[Block, ...]
    skipped: int = 0

    @property
    def last(self) -> str:
        """The kind of the last block; empty for a text without blocks."""
        return self.blocks[-1].kind if self.blocks else ""

    @property
    def is_paragraph(self) -> bool:
        """Whether the text is one paragraph and nothing else."""
        return len(self.blocks) == 1 and self.last == "paragraph" and self.blocks[0].start == 1


def read_body(text: str) -> Body:
    """The text with ``\\n`` line endings, without blank lines and white space around it."""
    plain = normalize_newlines(text)
    start, end = trimmed(plain, 0, len(plain))
    body = plain[start:end]
    return Body(body, tuple(scan("\n" + body)), plain.count("\n", 0, start))


def check_body(text: str, *, allow_empty: bool = False) -> Body:
    """See that the text can stand in a category file without changing the items around it.

    Raises:
        BadText: it is empty, or holds a heading of level 1 or 2, an unclosed
            fence or HTML block, a metadata comment, or merge markers; the
            message names the line and says what to do.
    """
    body = read_body(text)
    if not body.text and not allow_empty:
        raise BadText("the text is empty")
    shifted = "\n" + body.text
    for block in body.blocks:
        line = block.line - 1 + body.skipped
        if block.kind == "heading" and block.level <= 2:
            if shifted[block.start : block.content].strip(" \t"):
                raise BadText(f"line {line} of the text is a heading of level {block.level}: use ### or deeper")
            raise BadText(
                f"line {line} of the text is a heading, for a line of = or - stands under it: "
                "put a blank line between them, or use ### or deeper"
            )
        if not block.closed:
            what = "fence" if block.kind == "fence" else "HTML block or comment"
            raise BadText(f"the {what} that begins in line {line} of the text is not closed: close it")
        if block.kind == "html" and comment_in(shifted, block):
            raise BadText(f"line {line} of the text reads as an item's metadata: put it in a fence, or leave it out")
    if found := merge_markers(shifted, list(body.blocks)):
        line = found[0][0] - 1 + body.skipped
        raise BadText(f"line {line} of the text begins a set of merge markers: choose one side")
    return body


def can_be_block_id(name: str) -> bool:
    """Whether the name can be written as `` ^name``."""
    return re.fullmatch(BLOCK_ID, name) is not None


def with_block_id(body: Body, name: str) -> str | None:
    """The text with `` ^name`` where it names the whole; ``None`` if there is no such place.

    The place is the end of the last paragraph before any nested list.
    """
    if not can_be_block_id(name):
        return None
    owner: Block | None = None
    for block in body.blocks:
        if block.kind == "item":
            break
        owner = block
    if owner is None or owner.kind != "paragraph":
        return None
    end = len(body.text[: owner.end - 1].rstrip(" \t\n"))
    return f"{body.text[:end]} ^{name}{body.text[end:]}"


def indented(text: str, width: int, newline: str) -> str:
    """The text as a list item's content: every line but the first ``width`` columns in.

    A first line that is itself indented, but is no code, goes to a line of its
    own, for behind the marker its indentation would count as the item's; so
    does one that would make a rule of the marker.
    """
    lines = text.split("\n")
    pad = " " * width
    spaced = text.startswith((" ", "\t")) and not text.startswith("    ")
    if width and (spaced or (lines[0] and not lines[0].strip("-*_ \t"))):
        lines.insert(0, "")
    return newline.join([lines[0], *(pad + line if line else line for line in lines[1:])])
