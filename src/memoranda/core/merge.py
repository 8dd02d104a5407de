"""Three-way merge of texts by lines: two edits of one base become one text.

Changes that touch different lines of the base are both taken, also when the
lines are neighbours. What both inserted at one place is kept from both, theirs
first. Where both changed the same lines in different ways there is a conflict,
and theirs stands.
"""

from __future__ import annotations

from memoranda.core.markdown import lines
from memoranda.core.records import dataclass

__all__ = ["Merge", "merge"]

# Without lines that stand once on both sides, spans are compared pair by pair up to this many pairs, and
# narrowed this often: it keeps the time near linear, and beyond it a span counts as changed as a whole.
_MOST_PAIRS = 40_000
_MOST_ROUNDS = 24


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged text; with ``conflict`` it is theirs, unchanged."""

    text: str
    conflict: bool


@dataclass(frozen=True, slots=True)
class _Change:
    """The base's lines ``start`` to ``end`` become ``new``."""

    start: int
    end: int
    new: tuple[str, ...]

    def meets(self, other: _Change) -> bool:
        """Whether both touch a line in common, or one inserts inside what the other changed."""
        return self.start < other.end and other.start < self.end


def merge(base: str, ours: str, theirs: str) -> Merge:
    """Take the changes from ``base`` to ``ours`` and from ``base`` to ``theirs`` into one text.

    Lines end at ``\\n``, ``\\r\\n`` or a lone ``\\r`` and keep their endings, but for two
    cases that would lose a line: one without ending gets one when the other side
    added lines behind it, and a blank line put behind a lone ``\\r`` ends the same way.
    """
    if ours in (base, theirs):
        return Merge(theirs, False)
    if theirs == base:
        return Merge(ours, False)
    old = _split(base)
    changes = _both(_changes(old, _split(ours)), _changes(old, _split(theirs)))
    if changes is None:
        return Merge(theirs, True)
    merged: list[str] = []
    done = 0
    for change in changes:
        merged += old[done : change.start]
        merged += change.new
        done = change.end
    merged += old[done:]
    return Merge(_join(merged), False)


def _split(text: str) -> list[str]:
    return [text[start:end] for start, _, end in lines(text)]


def _join(parts: list[str]) -> str:
    ending = "\n"
    for index, line in enumerate(parts):
        if line == "\n" and index and parts[index - 1].endswith("\r"):
            parts[index] = line = "\r"  # behind a lone CR, LF would be the second half of one ending
        if line.endswith(("\n", "\r")):
            ending = "\r\n" if line.endswith("\r\n") else line[-1]
        elif index < len(parts) - 1:
            parts[index] = line + ending
    return "".join(parts)


def _both(ours: list[_Change], theirs: list[_Change]) -> list[_Change] | None:
    """The changes of both sides in order; ``None`` if they contradict each other."""
    taken: list[_Change] = []
    mine = other = 0
    while mine < len(ours) and other < len(theirs):
        our, their = ours[mine], theirs[other]
        if our == their:
            taken.append(our)
            mine, other = mine + 1, other + 1
        elif our.start == our.end == their.start == their.end:
            taken.append(_Change(our.start, our.end, _united(our.new, their.new)))
            mine, other = mine + 1, other + 1
        elif our.meets(their):
            return None
        elif (our.start, our.end) < (their.start, their.end):
            taken.append(our)
            mine += 1
        else:
            taken.append(their)
            other += 1
    return taken + ours[mine:] + theirs[other:]


def _united(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Two insertions at one place: theirs first; what both begin with stands once, unless it is only blank lines."""
    alike = 0
    while alike < min(len(ours), len(theirs)) and ours[alike] == theirs[alike]:
        alike += 1
    if not any(line.strip() for line in ours[:alike]):
        alike = 0
    return theirs + ours[alike:]


def _changes(old: list[str], new: list[str]) -> list[_Change]:
    """What turns ``old`` into ``new``, in order, no two touching each other.

    Spans between lines that stand exactly once on both sides are narrowed again
    and again (the patience method); only short rests are compared pair by pair.
    """
    spans: list[tuple[int, int, int, int]] = []
    work = [(0, len(old), 0, len(new), 0)]
    while work:
        a, b, c, d, rounds = work.pop()
        while a < b and c < d and old[a] == new[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
        if a == b or c == d:
            if a < b or c < d:
                spans.append((a, b, c, d))
        elif rounds < _MOST_ROUNDS and (anchors := _anchors(old, new, a, b, c, d)):
            for i, j in anchors:
                if i > a or j > c:
                    work.append((a, i, c, j, rounds + 1))
                a, c = i + 1, j + 1
            work.append((a, b, c, d, rounds + 1))
        elif (b - a) * (d - c) <= _MOST_PAIRS:
            spans += _compared(old, new, a, b, c, d)
        else:
            spans.append((a, b, c, d))
    return [_Change(a, b, tuple(new[c:d])) for a, b, c, d in sorted(spans)]


def _anchors(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """The longest rising chain of pairs of equal lines that stand once in either span."""
    from bisect import bisect_left

    there = _once(new, c, d)
    pairs = [(i, there[line]) for line, i in _once(old, a, b).items() if line in there]
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        before.append(ends[length - 1] if length else -1)
        if length == len(tops):
            tops.append(j)
            ends.append(index)
        else:
            tops[length], ends[length] = j, index
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _once(parts: list[str], start: int, end: int) -> dict[str, int]:
    """The lines that stand once in the span, with their places, in order."""
    places: dict[str, int] = {}
    for index in range(start, end):
        line = parts[index]
        places[line] = -1 if line in places else index
    return {line: index for line, index in places.items() if index >= 0}


def _compared(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int, int, int]]:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
    return [(a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
