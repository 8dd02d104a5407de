"""What stands around a document speaks for it: its neighbours, and the rest of its sitting.

BM25F (Robertson, Zaragoza and Taylor, *Simple BM25 Extension to Multiple
Weighted Fields*, 2004), where the fields of a document are itself, its
neighbours and its sitting. For a term ``t`` that weighs ``w``::

    f(d)   = tf / (1 - b + b * len(d) / avg)
    F(d)   = f(d) + near * f(d±1) + far * f(d±2) + sitting * [t stands elsewhere in the sitting]
    score += w * idf * (k1 + 1) * F(d) / (k1 + F(d))

The neighbour before lends ``answer`` instead of ``near`` if it ends in a
question. What nothing is lent to keeps its BM25 score to the last digit.

It is worked out around the best documents by their own words: nothing here
grows with the number of documents that are stored.
"""

from __future__ import annotations

from memoranda.core.records import dataclass
from memoranda.index.entries import ASKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memoranda.index.bm25 import Bm25Parameters
    from memoranda.index.partition import Partition
    from memoranda.index.scoring import Scoring

__all__ = ["Context", "Lent", "Surroundings", "Terms"]

#: Sittings are laid out in a row, far enough apart that no step leads from one into the next.
_APART = 1 << 40
#: A query of more terms than this says enough by itself.
_MOST_TERMS = 128


@dataclass(frozen=True, slots=True)
class Context:
    """How much of a neighbour's words counts as a document's own: shares from 0 (nothing) to 1.

    ``near`` and ``far`` are those one and two places away, ``answer`` is the
    question right before, ``sitting`` whatever else was said then. With
    ``spread``, what holds no word of the query itself may come up for its
    neighbours' sake. A document that ends in a question itself keeps
    ``asking`` of its score. ``pool`` is how many documents, the best by their
    own words, are looked around. ``meaning`` are the shares of their nearness
    to the question that neighbours one and two places away lend, where there
    are vectors.
    """

    near: float = 0.0
    far: float = 0.0
    answer: float = 0.0
    sitting: float = 0.0
    spread: bool = False
    asking: float = 1.0
    pool: int = 64
    meaning: tuple[float, float] = (0.0, 0.0)

    def __bool__(self) -> bool:
        """Whether anything is lent at all."""
        return bool(self.near or self.far or self.answer or self.sitting)


@dataclass(frozen=True, slots=True)
class Lent:
    """What one neighbour, or (``doc`` is None) the rest of the sitting, lends: terms and their part of the score.

    ``step`` is how many places after the document the neighbour stands (-1: right before it).
    """

    doc: int | None
    step: int
    asks: bool
    terms: tuple[str, ...]
    part: float


class Terms:
    """The query's terms that stand somewhere, the most telling first, and what a posting is put into."""

    __slots__ = ("factors", "gain", "impacts", "k1", "ratios")

    def __init__(self, scoring: Scoring, parameters: Bm25Parameters) -> None:
        self.k1 = parameters.k1
        self.gain = parameters.k1 + 1.0
        self.impacts, self.ratios = scoring.impacts, scoring.ratios
        self.factors = scoring.factors()

    @property
    def are_many(self) -> bool:
        """Whether the query says so much by itself that nothing need be lent."""
        return len(self.factors) > _MOST_TERMS


class Surroundings:
    """Some documents of one partition with what they hold of the query and what is lent to them."""

    __slots__ = (
        "_around",
        "_asking",
        "_context",
        "_has_neighbours",
        "_held",
        "_lent",
        "_partition",
        "_places",
        "_pool",
        "_slots",
        "_terms",
    )

    def __init__(
        self,
        partition: Partition,
        pool: Iterable[int],
        terms: Terms,
        context: Context,
        sees: Callable[[int], bool] | None = None,
    ) -> None:
        """``pool`` are the documents to look around; neighbours that ``sees`` refuses do not count."""
        # With k1 = 0 how often a term stands makes no difference: there is nothing to lend.
        context = context if terms.k1 and not terms.are_many else Context(asking=context.asking)
        self._partition, self._terms, self._context = partition, terms, context
        self._places: dict[int, int] = {}
        self._slots: dict[int, int] = {}
        self._has_neighbours = False
        self._settle(pool, sees)
        self._pool = set(self._places) if not context else {self._slots[doc] for doc in pool}
        self._asking: set[int] = set()
        if context.answer != context.near or context.asking != 1.0:
            self._asking = {self._slots[doc] for doc, _ in partition.index.codes(ASKS, self._slots)}
        self._held: list[dict[int, int]] = []
        self._lent: list[dict[int, float]] = []
        self._around: list[dict[int, int]] = []
        if context:
            self._read()

    def _settle(self, pool: Iterable[int], sees: Callable[[int], bool] | None) -> None:
        """Give the documents, and those around them, a place in the row."""
        places, slots = self._places, self._slots
        if not self._context:
            for at, doc in enumerate(pool):
                places[at * _APART] = doc
                slots[doc] = at * _APART
            return
        rows: dict[int, int] = {}
        refused: set[int] = set()
        run_of, reach = self._partition.run, 2 if self._context.far else 1
        for doc in pool:
            run, at = run_of(doc)
            if len(run) == 1:
                slots[doc] = rows[doc] = start = len(rows) * _APART
                places[start] = doc
                continue
            start, first = rows.setdefault(run[0], len(rows) * _APART), max(0, at - reach)
            for slot, other in enumerate(run[first : at + reach + 1], start + first):
                if slot in places or slot in refused:
                    continue
                if sees is None or other == doc or sees(other):
                    places[slot] = other
                    slots[other] = slot
                else:
                    refused.add(slot)
        # Where nobody has a neighbour nothing can be lent from one to the other.
        self._has_neighbours = len(places) > len(rows)

    def _read(self) -> None:
        """What each term's postings say of the documents, and what they lend each other."""
        terms, context, places, slots = self._terms, self._context, self._places, self._slots
        ratios, codes = terms.ratios, self._partition.index.codes
        steps: list[tuple[int, float]] = []
        if self._has_neighbours:
            steps += [(1, context.near), (-1, context.near)]
            if context.far:
                steps += [(2, context.far), (-2, context.far)]
        answer, asking = context.answer, self._asking
        for term, _ in terms.factors:
            held = {slots[doc]: code for doc, code in codes(term, slots)}
            lent: dict[int, float] = {}
            # Step by step, so that sums do not depend on how the documents are numbered.
            for step, share in steps:
                for slot, code in held.items():
                    if (to := slot + step) in places:
                        given = (answer if slot in asking else share) if step == 1 else share
                        lent[to] = lent.get(to, 0.0) + given * ratios[code]
            around: dict[int, int] = {}
            if context.sitting:
                for slot in held.keys() & self._pool:
                    row = slot // _APART
                    around[row] = around.get(row, 0) + 1
            self._held.append(held)
            self._lent.append(lent)
            self._around.append(around)

    def scores(self, own: Mapping[int, float]) -> Iterator[tuple[int, float]]:
        """Every document that may come up, with its score; ``own`` are the BM25 scores of the pool."""
        places, pool, spread = self._places, self._pool, self._context.spread
        if not self._context or not (self._has_neighbours or self._context.sitting):
            yield from ((doc, own[doc]) for doc in self._slots)
            return
        totals, borrowed, rows = self._summed()
        alone = self._alone()
        for slot in places if spread else pool:
            doc = places[slot]
            if slot in pool and slot not in borrowed and alone.get(slot // _APART, True):
                yield doc, own[doc]
            else:
                yield doc, rows.get(slot // _APART, 0.0) + totals.get(slot, 0.0)

    def _summed(self) -> tuple[dict[int, float], set[int], dict[int, float]]:
        """Scores above what every document of a row has from its sitting, who owes any of it, and that by row."""
        shared = self._context.sitting / self._terms.k1
        common = shared / (1.0 + shared)
        pool, impacts, ratios = self._pool, self._terms.impacts, self._terms.ratios
        totals: dict[int, float] = {}
        borrowed: set[int] = set()
        rows: dict[int, float] = {}
        for (_, factor), held, lent, around in zip(
            self._terms.factors, self._held, self._lent, self._around, strict=True
        ):
            for row in around:
                rows[row] = rows.get(row, 0.0) + factor * common
            borrowed.update(lent)
            for slot, code in held.items():
                extra = lent.get(slot, 0.0)
                add = 0.0
                if around and (others := around.get(slot // _APART, 0)):
                    add = -factor * common
                    if others > (slot in pool):
                        extra += shared
                if extra:
                    ratio = ratios[code] + extra
                    impact = ratio / (1.0 + ratio)
                else:
                    impact = impacts[code]
                totals[slot] = totals.get(slot, 0.0) + (add + factor * impact)
            for slot, extra in lent.items():
                if slot not in held:
                    add = 0.0
                    if around and slot // _APART in around:
                        add, extra = -factor * common, extra + shared
                    totals[slot] = totals.get(slot, 0.0) + (add + factor * extra / (1.0 + extra))
        return totals, borrowed, rows

    def _alone(self) -> dict[int, bool]:
        """Whether a row has one document of the pool alone: nothing comes to it from its sitting."""
        if not self._context.sitting:
            return {}
        found: dict[int, bool] = {}
        for slot in self._pool:
            row = slot // _APART
            found[row] = row not in found
        return found

    def asks(self, doc: int) -> bool:
        """Whether the document ends in a question."""
        return self._slots[doc] in self._asking

    def shares(self, doc: int) -> list[tuple[str, bool, float]]:
        """Each term that speaks for a document, whether it stands there itself, and how far it counts (at most 1)."""
        if not self._held:
            self._read()
        found = []
        slot, gain = self._slots[doc], self._terms.gain
        held, lent, sitting = self._held, self._lent, self._context.sitting
        for place, (term, _) in enumerate(self._terms.factors):
            if slot in held[place]:
                found.append((term, True, 1.0))
            elif (sitting or slot in lent[place]) and (ratio := self._borrowed(place, slot)):
                found.append((term, False, min(1.0, gain * ratio / (1.0 + ratio))))
        return found

    def lent(self, doc: int) -> list[Lent]:
        """What a document owes to its neighbours, the greatest part first, and to its sitting, last.

        A term's gain over what the document's own text is worth is divided
        among those who lend it, in proportion.
        """
        slot, context = self._slots[doc], self._context
        if not context:
            return []
        found: dict[int, tuple[list[str], float]] = {}
        for place, (term, factor) in enumerate(self._terms.factors):
            whole = self._borrowed(place, slot)
            if not whole:
                continue
            code = self._held[place].get(slot)
            impact, ratio = (0.0, 0.0) if code is None else (self._terms.impacts[code], self._terms.ratios[code])
            gained = factor * ((ratio + whole) / (1.0 + ratio + whole) - impact)
            for step in (-1, 1, -2, 2):
                theirs = self._held[place].get(slot + step)
                if theirs is not None:
                    _note(found, step, term, gained * self._share(slot, step) * self._terms.ratios[theirs] / whole)
            if self._is_around(place, slot):
                _note(found, 0, term, gained * context.sitting / self._terms.k1 / whole)
        lent = [
            Lent(
                self._places[slot + step] if step else None,
                step,
                slot + step in self._asking if step else False,
                tuple(names),
                part,
            )
            for step, (names, part) in found.items()
            if part > 0.0
        ]
        return sorted(lent, key=lambda one: (one.doc is None, -one.part, one.step))

    def _borrowed(self, place: int, slot: int) -> float:
        lent = self._lent[place].get(slot, 0.0)
        if self._context.sitting and self._is_around(place, slot):
            lent += self._context.sitting / self._terms.k1
        return lent

    def _is_around(self, place: int, slot: int) -> bool:
        own = slot in self._pool and slot in self._held[place]
        return self._around[place].get(slot // _APART, 0) > own

    def _share(self, slot: int, step: int) -> float:
        if step == -1 and slot - 1 in self._asking:
            return self._context.answer
        return self._context.near if abs(step) == 1 else self._context.far


def _note(found: dict[int, tuple[list[str], float]], step: int, term: str, part: float) -> None:
    names, before = found.get(step, ([], 0.0))
    found[step] = ([*names, term], before + part)
