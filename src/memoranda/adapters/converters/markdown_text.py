"""Writing markdown that says what a document says, and nothing that its text only looks like."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "blocks",
    "clean",
    "code_span",
    "fence",
    "heading",
    "indented",
    "item",
    "marker",
    "one_line",
    "picture",
    "prose",
    "table",
]


@cache
def _not_text() -> dict[int, str | None]:
    """Control characters that a text cannot hold; breaks that are none in markdown become spaces or line ends."""
    codes = (*range(0x20), 0x7F, 0x200B, 0xFEFF)
    gone: dict[int, str | None] = {code: None for code in codes if code not in (9, 10, 13)}
    return gone | {0x0B: "\n", 0x0C: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n", 0xA0: " ", 0xAD: None}


@cache
def _looks_like_markup() -> re.Pattern[str]:
    return re.compile(r"^( {0,3})(?=#{1,6}(?:[ \t]|$)|```|~~~|(?:-+|=+)[ \t]*$)", re.MULTILINE)


def clean(text: str) -> str:
    """The text with line ends as ``\\n`` and without control characters, soft hyphens and lone surrogates."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_not_text())
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def one_line(text: str) -> str:
    """The text on one line, runs of white space as one space."""
    return " ".join(clean(text).split())


def prose(text: str) -> str:
    """A text as paragraphs: a line that only looks like a heading, a fence, a rule or a comment is made none."""
    text = clean(text).replace("<!--", "&lt;!--")
    return _looks_like_markup().sub(r"\1\\", text)


def heading(level: int, text: str) -> str:
    """A heading of level 1 to 6; empty where the text is."""
    text = one_line(text).replace("<!--", "&lt;!--").rstrip("#").rstrip()
    return f"{'#' * min(max(level, 1), 6)} {text}" if text else ""


def item(text: str, *, depth: int = 0, label: str = "-") -> str:
    """A list item, ``depth`` levels in; further lines of it are indented under it."""
    return indented(f"{label} {indented(text, ' ' * (len(label) + 1)).lstrip()}", "    " * min(depth, 12))


def indented(text: str, by: str) -> str:
    """The text with every line moved in, empty ones excepted."""
    return "\n".join(by + line if line else line for line in text.split("\n"))


def fence(text: str, language: str = "") -> str:
    """Code between fences that are longer than any in it."""
    text = clean(text).strip("\n")
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{language}\n{text}\n{mark}"


def code_span(text: str) -> str:
    """Code within a line."""
    text = one_line(text)
    if not text:
        return ""
    mark = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{room}{text}{room}{mark}"


def picture(words: str) -> str:
    """What stands for a picture: its description. No link, so that nothing is ever fetched to show it."""
    words = one_line(words).replace("[", "(").replace("]", ")").replace("<!--", "&lt;!--")
    return f"[picture: {words}]" if words else ""


def marker(kind: str, label: object) -> str:
    """A line that says where a page, slide or sheet begins."""
    words = one_line(str(label)).replace("--", "‐‐").replace(">", "›").strip("-")
    return f"<!-- {kind} {words} -->"


def table(rows: Iterable[Sequence[str]]) -> str:
    """A table whose first row is its head. Rows of any length: no cell is lost. Columns and rows without text go.

    Rows are not filled up: what is missing at a row's end is empty by the rules of tables.
    """
    lines = [[_cell(cell) for cell in row] for row in rows]
    lines = [line for line in lines if any(line)]
    if not lines:
        return ""
    width = max(map(len, lines))
    filled = [False] * width
    for line in lines:
        for at, cell in enumerate(line):
            if cell:
                filled[at] = True
    columns = [at for at in range(width) if filled[at]]
    lines[0] += [""] * (width - len(lines[0]))
    if len(columns) < width:
        lines = [[line[at] for at in columns[: bisect_left(columns, len(line))]] for line in lines]
    written = ["| " + " | ".join(line) + " |" for line in lines]
    written.insert(1, "|" + " --- |" * len(columns))
    return "\n".join(written)


def _cell(text: str) -> str:
    if not text:
        return ""
    return one_line(text).replace("|", "\\|").replace("<!--", "&lt;!--")


def blocks(parts: Iterable[str]) -> str:
    """Blocks with a blank line between them and a line end behind; empty ones are left out. Empty where all are."""
    text = "\n\n".join(stripped for part in parts if (stripped := part.strip("\n").rstrip()))
    return text + "\n" if text.strip() else ""
