"""How a section of a document is divided where it is too large for one passage.

Units nest: blocks, the items and quotes in them, rows, sentences, lines. What
fits stays whole; only what alone is larger than the bound is opened, and its
parts are packed in order. What is cut takes along what it needs to be
understood: rows their table's header, list items the lines of the items they
belong to, code its fence.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.lines import lines
from memoranda.core.markdown import scan
from memoranda.core.markdown_leaves import fence_closes, fence_opens, measure
from memoranda.core.nesting import open_item, open_quote
from memoranda.core.records import dataclass
from memoranda.core.sentences import columns, masked_spans, reach, sentence_starts, whole_character, word_break

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.markdown import Block
    from memoranda.core.nesting import Nested

__all__ = ["Packer", "Piece", "Unit", "block_unit", "prose_unit"]

_DEEPEST = 6  # containers in containers beyond this are cut by lines
_compiled = cache(re.compile)
_DELIMITER = r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z"
_CONTAINER_MARKS = r"(?m)^[ \t]*(?:>[ \t]?)+"
_QUOTE_MARK = r"[ \t]*(?:>[ \t]?)+"
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text that fits: ``before`` + ``text[start:end]`` + ``behind`` is what is read."""

    start: int
    end: int
    before: str = ""
    behind: str = ""


class Unit:
    """Something that is kept together if it can be.

    ``before`` goes in front of a piece that begins with it, ``again`` of one
    that begins inside it; ``behind`` follows a piece that ends with it,
    ``close`` one that ends inside it.
    """

    __slots__ = ("again", "before", "behind", "block", "close", "depth", "end", "kind", "masked", "nested", "start")

    def __init__(
        self, kind: str, start: int, end: int, before: str = "", again: str = "", behind: str = "", close: str = ""
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.before, self.again, self.behind, self.close = before, again, behind, close
        self.nested: Nested | None = None
        self.block: Block | None = None
        self.depth = 0
        self.masked: tuple[str, int] | None = None


def block_unit(nested: Nested, block: Block, start: int, end: int, before: str = "", depth: int = 0) -> Unit:
    """The unit of a block of ``nested`` that takes ``start`` to ``end`` of the outermost text."""
    unit = Unit(block.kind, start, end, before, before)
    unit.nested, unit.block, unit.depth = nested, block, depth
    return unit


def prose_unit(start: int, end: int) -> Unit:
    """The unit of paragraphs that are read as one."""
    return Unit("paragraph", start, end)


def _begun(text: str, start: int, end: int) -> int:
    while start < end and text[start] in _BLANK:
        start += 1
    return start


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in _BLANK:
        end -= 1
    return end


class Packer:
    """Packs the units of one section, in order, into pieces of at most ``size`` columns."""

    def __init__(self, text: str, size: int, blanks: re.Pattern[str]) -> None:
        self.text = text
        self.size = size
        self.pieces: list[Piece] = []
        self._blanks = blanks  # lines that are no text
        self._open = False
        self._start = self._end = self._width = 0
        self._before = self._behind = ""

    def add(self, unit: Unit) -> None:
        """Take the next unit."""
        text = self.text
        width = columns(text, unit.start, unit.end)
        if self._open:
            more = columns(text, self._end, unit.start) + width
            if self._width + more + columns(unit.behind) <= self.size:
                self._end, self._behind = unit.end, unit.behind
                self._width += more
                return
        small = self._open and self._width < self.size // 4
        fits = columns(unit.before) + width + columns(unit.behind) <= self.size
        if fits and not (small and unit.kind in ("paragraph", "item", "quote", "table")):
            self.flush()
            self._begin(unit.before, unit.start, unit.end, unit.behind)
            return
        parts = self._parts(unit)
        if parts is None:
            self._divide(unit, small)
        else:
            for part in parts:
                self.add(part)

    def flush(self) -> None:
        """End the piece at hand."""
        if self._open and self.text[self._start : self._end].strip():
            self.pieces.append(Piece(self._start, self._end, self._before, self._behind))
        self._open = False

    def _begin(self, before: str, start: int, end: int, behind: str) -> None:
        self._open = True
        self._start, self._end, self._before, self._behind = start, end, before, behind
        self._width = columns(before) + columns(self.text, start, end)

    def _divide(self, unit: Unit, small: bool) -> None:
        """Cut what has no parts: behind a clause, else between words, else between characters."""
        text, start, end = self.text, unit.start, unit.end
        # What is masked with spaces, marks of quotes and the lines that name places, ends or begins no piece.
        masked, base = unit.masked or (text[start:end], start)
        before = unit.before
        if small and not unit.before:
            room = self.size - self._width - columns(text, self._end, start) - columns(unit.close)
            if room > 0:
                cut = base + word_break(masked, start - base, reach(text, start, end, room) - base)
                if cut > start:
                    self._end, self._behind = base + _trimmed(masked, start - base, cut - base), unit.close
                    start, before = cut, unit.again
        self.flush()
        while (start := base + _begun(masked, start - base, end - base)) < end:
            # Nothing as long can fit: the rest is measured when it is short.
            if end - start <= self.size and columns(before + text[start:end] + unit.behind) <= self.size:
                self._begin(before, start, end, unit.behind)
                return
            room = self.size - columns(before) - columns(unit.close)
            limit = min(reach(text, start, end, room), end - 1)
            cut = base + word_break(masked, start - base, limit - base)
            if cut <= start:
                cut = whole_character(text, start, max(limit, start + 1))
            self._begin(before, start, base + _trimmed(masked, start - base, cut - base), unit.close)
            self.flush()
            start, before = cut, unit.again

    def _parts(self, unit: Unit) -> list[Unit] | None:
        """What a unit consists of; ``None`` if it can only be cut."""
        if unit.kind in ("item", "quote"):
            return self._contained(unit)
        if unit.kind == "paragraph":
            return self._tabled(unit) or self._sentences(unit)
        if unit.kind == "table":
            return self._rows(unit)
        if unit.kind == "fence":
            return self._code(unit)
        if unit.kind in ("indented", "html", "lines"):
            return [_line(unit, start, stop) for start, stop in self._lines(unit)]
        return None

    def _lines(self, unit: Unit) -> Iterator[tuple[int, int]]:
        for start, stop, _ in lines(self.text, unit.start, unit.end):
            yield start, _trimmed(self.text, start, stop)

    def _kept(self, wanted: str) -> str:
        """As many of the last lines as leave a passage room for its own."""
        while columns(wanted) > self.size // 2:
            _, _, wanted = wanted.partition("\n")
        return wanted

    def _contained(self, unit: Unit) -> list[Unit] | None:
        """The blocks in an item or a quote. Each takes what stands before the next, so that nothing is lost."""
        nested, block, text = unit.nested, unit.block, self.text
        if nested is None or block is None or unit.depth >= _DEEPEST:
            unit.kind = "lines"
            return self._parts(unit)
        inner = open_item(nested, block) if block.kind == "item" else open_quote(nested, block)
        blocks = scan(inner.text)
        begins = [unit.start]
        for kid in blocks[1:]:
            first, _ = measure(inner.text, kid.start, kid.end, 0)
            place = inner.outer(first)
            line = max(text.rfind("\n", begins[-1], place), text.rfind("\r", begins[-1], place)) + 1
            begins.append(max(line, begins[-1]))
        heading = unit.before
        if block.kind == "item" and blocks and blocks[0].kind in ("paragraph", "heading"):
            heading = self._kept(unit.before + self._first_line(unit))
        units = []
        for at, kid in enumerate(blocks):
            end = begins[at + 1] if at + 1 < len(begins) else unit.end
            before = heading if at else unit.before
            kid_unit = block_unit(inner, kid, begins[at], _trimmed(text, begins[at], end), before, unit.depth + 1)
            units.append(kid_unit)
        if not units:
            unit.kind = "lines"
            return self._parts(unit)
        return units

    def _first_line(self, unit: Unit) -> str:
        """What is repeated of an item above its parts."""
        _, stop, _ = next(lines(self.text, unit.start, unit.end))
        limit = reach(self.text, unit.start, stop, self.size // 4)
        if limit < stop:
            limit = unit.start + word_break(self.text[unit.start : stop], 0, limit - unit.start)
            return f"{self.text[unit.start : limit].rstrip()} …\n" if limit > unit.start else ""
        return f"{self.text[unit.start : stop].rstrip()}\n"

    def _tabled(self, unit: Unit) -> list[Unit]:
        """The text and the table of a paragraph that holds one; nothing for one without."""
        text = self.text
        if text.find("|", unit.start, unit.end) < 0 or text.find("-", unit.start, unit.end) < 0:
            return []
        delimiter = _compiled(_DELIMITER)
        header = before = -1
        for start, stop, _ in lines(text, unit.start, unit.end):
            is_one = text.find("|", start, stop) >= 0
            if is_one and before >= 0 and delimiter.match(text, start, stop):
                header = before
                break
            before = start if is_one else -1
        if header < 0:
            return []
        table = Unit("table", header, unit.end, unit.before, unit.before)
        if header == unit.start:
            return [table]
        return [Unit("paragraph", unit.start, _trimmed(text, unit.start, header), unit.before, unit.again), table]

    def _rows(self, unit: Unit) -> list[Unit]:
        """The rows of a table, its header with the first."""
        rows = list(self._lines(unit))
        again = "\n".join(self.text[start:stop] for start, stop in rows[:2]) + "\n"
        if columns(again) > self.size // 4:
            # The widths of columns are looks; names and number are what matters.
            cells = [" ".join(cell.split()) for cell in self.text[slice(*rows[0])].strip("|> \t").split("|")]
            again = "|".join(("", *cells, "\n")) + "|---" * len(cells) + "|\n"
        again = self._kept(unit.before + again) if columns(again) <= self.size // 2 else unit.before
        first = Unit("row", rows[0][0], rows[min(2, len(rows) - 1)][1], unit.before, again)
        return [first, *(Unit("row", start, stop, again, again) for start, stop in rows[3:])]

    def _code(self, unit: Unit) -> list[Unit]:
        """The lines of a fence, those that open and close it with the first and the last."""
        text = self.text
        rows = list(self._lines(unit))
        start, stop = rows[0]
        found = _compiled(r"`{3,}|~{3,}").search(text, start, stop)
        fence = fence_opens(text, found.start(), stop) if found else ""
        if found is None or not fence or len(fence) > self.size // 8:
            unit.kind = "lines"
            return self._parts(unit) or []
        marks = _compiled(_QUOTE_MARK).match(text, start, found.start())
        indent = marks[0] if marks else " " * min(found.start() - start, self.size // 8)
        info = text[found.end() : min(stop, found.end() + self.size // 8)].rstrip()
        again = self._kept(f"{unit.before}{indent}{fence}{info}\n")
        close = f"\n{indent}{fence}"
        if not again or columns(again) + columns(close) > self.size * 3 // 4:
            again, close = unit.before, ""
        last, last_stop = rows[-1]
        margin = _compiled(rf"{_QUOTE_MARK}[ \t]*" if marks else r"[ \t]*").match(text, last, last_stop)
        closed = len(rows) > 1 and margin is not None and fence_closes(text, margin.end(), last_stop, fence)
        spans = [[start, stop] for start, stop in rows]
        if closed:  # the closing line stays with the last one of code
            spans.pop()
            spans[-1][1] = last_stop
        if len(spans) > 1:
            opener = spans.pop(0)
            spans[0][0] = opener[0]
        units = [Unit("line", a, b, again, again, close, close) for a, b in spans]
        units[0].before = unit.before
        units[-1].behind = "" if closed else close
        return units

    def _sentences(self, unit: Unit) -> list[Unit]:
        """The sentences of a paragraph, with what has to be known to cut them further."""
        text = self.text
        base = unit.start
        piece = text[base : unit.end]
        hidden = self._blanks.sub(lambda found: " " * len(found[0]), piece)
        mark = ""
        if unit.depth:
            marks = _compiled(_QUOTE_MARK).match(hidden)
            mark = marks[0] if marks and len(marks[0]) <= self.size // 8 else ""
            hidden = _compiled(_CONTAINER_MARKS).sub(lambda found: " " * len(found[0]), hidden)
        masked = masked_spans(hidden)
        begins = [0, *sentence_starts(masked)]
        units = []
        for at, begin in enumerate(begins):
            end = begins[at + 1] if at + 1 < len(begins) else len(piece)
            again = unit.again + mark
            end = base + _trimmed(masked, begin, end)
            one = Unit("sentence", base + begin, end, again if at else unit.before, again)
            one.masked = (masked, base)
            units.append(one)
        return units


def _line(unit: Unit, start: int, stop: int) -> Unit:
    return Unit("line", start, stop, unit.before if start == unit.start else unit.again, unit.again)
