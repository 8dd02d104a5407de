"""Text in columns of a terminal: Chinese takes two, an accent none."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["clip", "columns", "first_line", "local_time", "pad", "width"]

_WIDE = ("W", "F")
_WITHOUT_WIDTH = ("Mn", "Me", "Cf")


def _char_width(char: str) -> int:
    import unicodedata

    if unicodedata.east_asian_width(char) in _WIDE:
        return 2
    return 0 if unicodedata.category(char) in _WITHOUT_WIDTH else 1


def width(text: str) -> int:
    """How many columns the text takes (Unicode Standard Annex 11; ambiguous characters take one)."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def pad(text: str, size: int) -> str:
    """The text with spaces after it, up to ``size`` columns."""
    return text + " " * (size - width(text))


def clip(text: str, size: int) -> str:
    """The text, cut to ``size`` columns with ``…`` in the last when something was cut."""
    if width(text) <= size:
        return text
    taken, end = 0, 0
    for end, char in enumerate(text):  # noqa: B007 - the position is what is wanted
        taken += _char_width(char)
        if taken > size - 1:
            break
    return text[:end] + "…" if size > 0 else ""


def columns(
    rows: Sequence[Sequence[str]], *, limit: int | None = None, right: Sequence[int] = (), gap: str = "  "
) -> list[str]:
    """The rows as lines with aligned columns.

    The last column is cut so that a line takes at most ``limit`` columns of the
    terminal (``None``: it is never cut); ``right`` names the columns whose cells
    stand at their right edge.
    """
    if not rows:
        return []
    count = max(len(row) for row in rows)
    sizes = [max((width(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    lines = []
    for row in rows:
        cells = []
        for position, cell in enumerate(row):
            if position in right:
                cell = " " * (sizes[position] - width(cell)) + cell
            elif position < len(row) - 1:
                cell = pad(cell, sizes[position])
            elif limit is not None:
                before = sum(sizes[:position]) + len(gap) * position
                cell = clip(cell, max(limit - before, 8))
            cells.append(cell)
        lines.append(gap.join(cells).rstrip(" "))
    return lines


def local_time(ts: str | None, *, seconds: bool = False) -> str:
    """An ISO 8601 moment in the machine's zone (``2026-07-10 11:00``); anything else stays as it is."""
    if not ts or len(ts) <= 10:
        return ts or ""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(ts)
        if moment.tzinfo is not None:
            moment = moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return ts
    return moment.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def first_line(text: str) -> str:
    """The first line of a text that says something."""
    return next((line.strip() for line in text.split("\n") if line.strip()), "")
