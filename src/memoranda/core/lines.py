"""The lines of a text: they end at ``\\n``, ``\\r\\n`` or a lone ``\\r`` and nowhere else."""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["blank_lines", "line_at", "line_pattern", "lines"]


@cache
def line_pattern() -> re.Pattern[str]:
    """A line with its ending; the group is its content. It matches at every offset."""
    return re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")


@cache
def _blank_pattern() -> re.Pattern[str]:
    return re.compile(r"(?:[ \t]*(?:\r\n?|\n))*")


def line_at(text: str, offset: int) -> int:
    """The number, from 1, of the line in which a character stands."""
    before = text[:offset]
    ends = before.count("\n")
    if "\r" in before:
        ends += before.count("\r") - before.count("\r\n")
    return ends + 1


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int]]:
    """The lines of ``text[start:end]`` as (start, end of content, end with the line ending)."""
    stop = len(text) if end is None else min(end, len(text))
    pos = max(start, 0)
    line = line_pattern().match
    while pos < stop:
        found = line(text, pos, stop)
        assert found is not None  # the pattern matches at every offset
        yield pos, found.end(1), found.end()
        pos = found.end()


def blank_lines(text: str, start: int, end: int | None = None) -> int:
    """Where the blank lines that begin at ``start`` end."""
    found = _blank_pattern().match(text, start, len(text) if end is None else end)
    return found.end() if found else start
