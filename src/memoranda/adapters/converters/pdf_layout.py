"""The reading order of a page: columns are told from tables, lines are joined to paragraphs, headings found.

A page is cut in two where a gap runs through it, again and again, as in Nagy and
Seth's XY-cut (1984). It is cut from top to bottom between columns of prose only:
what stands side by side in short pieces is a table or a form, and is read in
rows.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from memoranda.adapters.converters.markdown_text import heading, prose
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Segment", "body_size", "page_blocks", "words_of"]

_SOFT_HYPHEN = "\u00ad"
#: Columns of prose have so many rows, of so many letters on average (ideographs count twice).
_ROWS, _LETTERS = 4, 20
#: A page of more segments is read in rows: finding columns would take too long.
_MOST = 4_000
_DEEPEST = 8
#: So many gaps from the top, and from the foot, are tried as where columns begin and end.
_TOPS, _FEET = 40, 4


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line without a gap: its text, where it stands (points, y upwards), the height of its letters."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool


def body_size(pages: Iterable[Sequence[Segment]]) -> float:
    """The height of most letters of a document."""
    counts: dict[float, int] = {}
    for page in pages:
        for one in page:
            key = round(one.size * 2) / 2
            counts[key] = counts.get(key, 0) + len(one.text)
    return max(counts, key=lambda size: (counts[size], -size), default=1.0) or 1.0


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def words_of(pages: Iterable[Sequence[Segment]]) -> frozenset[str]:
    """The words of a document, small, those at broken line ends left out: they say how broken ones are written."""
    found: set[str] = set()
    for page in pages:
        for one in page:
            words = _word().findall(one.text.lower())
            found.update(words[:-1] if one.text.endswith(_SOFT_HYPHEN) else words)
    return frozenset(found)


def page_blocks(segments: Sequence[Segment], size: float, known: frozenset[str]) -> list[str]:
    """A page as blocks of markdown, in reading order. ``size`` and ``known`` are those of the whole document."""
    written: list[str] = []
    for part in _ordered(list(segments), 0):
        written += _Part(part, size, known).blocks()
    return written


def _ordered(segments: list[Segment], depth: int) -> list[list[Segment]]:
    if not segments:
        return []
    if depth < _DEEPEST and len(segments) <= _MOST:
        if columns := _columns(segments):
            return [part for column in columns for part in _ordered(column, depth + 1)]
        if bands := _bands(segments):
            return [part for band in bands for part in _ordered(band, depth + 1)]
    return [segments]


def _columns(segments: list[Segment]) -> tuple[list[Segment], list[Segment]] | None:
    """Left and right of the first gap between two columns of prose."""
    if len(segments) < 2 * _ROWS:
        return None
    across = sorted(segments, key=lambda one: one.x0)
    size = sorted(one.size for one in segments)[len(segments) // 2]
    right = across[0].x1
    for at in range(1, len(across)):
        if across[at].x0 - right > 0.5 * size and _is_prose(across[:at]) and _is_prose(across[at:]):
            return across[:at], across[at:]
        right = max(right, across[at].x1)
    return None


def _is_prose(column: list[Segment]) -> bool:
    rows = _rows(column)
    if len(rows) < _ROWS:
        return False
    width = max(one.x1 for one in column) - min(one.x0 for one in column)
    full = sum(1 for row in rows if row[-1].x1 - row[0].x0 > 0.6 * width)
    letters = sum(_length(one.text) for one in column)
    parted = sum(1 for row in rows if any(b.x0 - a.x1 > 2.0 * b.size for a, b in pairwise(row)))
    return full * 2 >= len(rows) and letters >= _LETTERS * len(rows) and parted * 4 <= len(rows)


def _length(text: str) -> int:
    return len(text) + sum(1 for one in text if one >= "\u2e80")


def _bands(segments: list[Segment]) -> list[list[Segment]]:
    """The page in two or three from the top down, so that the most can be cut into columns; empty: nothing can."""
    down = sorted(segments, key=lambda one: -one.y1)
    bottom, gaps = down[0].y0, []
    for at in range(1, len(down)):
        if down[at].y1 <= bottom + 0.5:
            gaps.append(at)
        bottom = min(bottom, down[at].y0)
    most, best = 0, (0, len(down))
    for begin in (0, *gaps[:_TOPS]):
        for end in (len(down), *reversed(gaps[-_FEET:])):
            if end - begin > most and (begin or end < len(down)) and _columns(down[begin:end]):
                most, best = end - begin, (begin, end)
    if not most:
        return []
    return [part for part in (down[: best[0]], down[best[0] : best[1]], down[best[1] :]) if part]


def _rows(segments: Iterable[Segment]) -> list[list[Segment]]:
    """What stands on one line, from left to right; lines from the top down."""
    rows: list[list[Segment]] = []
    low = high = 0.0
    for one in sorted(segments, key=lambda one: (-(one.y0 + one.y1), one.x0)):
        middle = (one.y0 + one.y1) / 2
        shared = min(high, one.y1) - max(low, one.y0)
        if rows and (low < middle < high or shared > 0.6 * min(high - low, one.y1 - one.y0)):
            rows[-1].append(one)
            if one.size >= max(other.size for other in rows[-1]):
                low, high = one.y0, one.y1
        else:
            rows.append([one])
            low, high = one.y0, one.y1
    for row in rows:
        row.sort(key=lambda one: one.x0)
    return rows


class _Line:
    """A row as text."""

    __slots__ = ("bold", "low", "single", "size", "text", "x0", "x1", "y0", "y1")

    def __init__(self, row: list[Segment]) -> None:
        pieces: list[str] = []
        self.single = True
        for before, one in zip([None, *row], row, strict=False):
            if before is not None:
                gap = one.x0 - before.x1
                self.single = self.single and gap <= 2.0 * one.size
                pieces.append(_between(before, one, gap))
            pieces.append(one.text)
        self.text = "".join(pieces)
        self.x0, self.x1 = row[0].x0, max(one.x1 for one in row)
        self.y0, self.y1 = min(one.y0 for one in row), max(one.y1 for one in row)
        longest = max(row, key=lambda one: len(one.text))
        self.size, self.low = longest.size, longest.y0
        self.bold = all(one.bold for one in row)


def _between(before: Segment, one: Segment, gap: float) -> str:
    wide = before.text[-1:] >= "\u2e80" and one.text[:1] >= "\u2e80"
    if gap < (0.5 if wide else 0.12) * one.size:
        return ""
    return " " if gap <= 1.5 * one.size else "  "


class _Part:
    def __init__(self, segments: list[Segment], size: float, known: frozenset[str]) -> None:
        self._lines = [_Line(row) for row in _rows(segments)]
        self._size = size
        self._known = known
        self._left = min(one.x0 for one in segments)
        self._right = max(one.x1 for one in segments)

    def blocks(self) -> list[str]:
        found: list[str] = []
        text, level, before = "", 0, None
        for line in self._lines:
            rank = self._rank(line, before)
            near = before is not None and before.low - line.low < (2.2 if rank else 1.75) * max(line.size, before.size)
            alike = before is not None and (not level or abs(line.size - before.size) < 0.1 * line.size)
            if before is not None and rank == level and near and alike:
                text = self._joined(text, before, line)
            else:
                found.append(_written(text, level))
                text, level = line.text, rank
            before = line
        found.append(_written(text, level))
        return [one for one in found if one]

    def _rank(self, line: _Line, before: _Line | None) -> int:
        """The level of the heading that a line is, 0 for none: letters larger than most, or bold and alone."""
        text = line.text.strip(_SOFT_HYPHEN + " ")
        if not line.single or len(text) > 150 or not any(one.isalpha() for one in text):
            return 0
        ratio = line.size / self._size
        if ratio > 1.15:
            return 1 if ratio > 1.7 else 2 if ratio > 1.3 else 3
        alone = before is None or before.low - line.low > 1.4 * line.size
        if line.bold and ratio > 0.95 and alone and len(text) < 80 and text[-1] not in ".,;:。，；：":
            return 3
        return 0

    def _joined(self, text: str, before: _Line, line: _Line) -> str:
        """The text with another line behind it: in one flow where the one before is full, else on a line of its own."""
        full = before.x1 > self._right - 0.12 * (self._right - self._left) - before.size
        if text.endswith(_SOFT_HYPHEN):
            return self._mended(text[:-1], line.text)
        if not (full and before.single and line.single and _says(before.text) and _says(line.text)):
            return f"{text}\n{line.text}"
        if text[-1:] >= "\u2e80" and line.text[:1] >= "\u2e80":
            return text + line.text
        return f"{text} {line.text}"

    def _mended(self, text: str, rest: str) -> str:
        """A word that was broken at the line's end, with its hyphen where the document writes it so."""
        left, right = _word().findall(text.lower()[-60:]), _word().match(rest.lower())
        if not left or right is None:
            return f"{text}-{rest}"
        head, tail = left[-1], right[0]
        if f"{head}{tail}" in self._known:
            return text + rest
        if f"{head}-{tail}" in self._known or (head in self._known and tail in self._known and len(head) > 2):
            return f"{text}-{rest}"
        return text + rest


def _says(text: str) -> bool:
    """Whether there are words in a line, and not only signs that draw a rule."""
    return any(map(str.isalnum, text))


def _written(text: str, level: int) -> str:
    text = text.replace(_SOFT_HYPHEN, "-").strip()
    if not text:
        return ""
    return heading(level, text) if level else prose(text)
