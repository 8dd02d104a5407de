"""The best documents of several indexes for one query, as if they were one index.

The scores are exact. Which documents need one is found by their upper bounds
(Turtle and Flood, *Query evaluation: strategies and optimizations*, 1995): terms
are taken from the most telling down, and once what the rest could add at most
is less than the last of the best has already, no further document is let in.
"""

from __future__ import annotations

from operator import attrgetter

from memoranda.core.records import dataclass
from memoranda.index.accumulators import Accumulators, add_up, last_of_best, promising
from memoranda.index.bm25 import Impacts, Ratios, inverse_document_frequency, length_norm, pack, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from memoranda.core.ports import KeywordIndex
    from memoranda.index.accumulators import Postings
    from memoranda.index.bm25 import Bm25Parameters

__all__ = ["Scored", "Scoring", "TermScore"]

#: So few postings are summed up in full sooner than it is found out which may be left out.
_FEW_POSTINGS = 6000
#: From so many postings on numpy is faster, where it is.
_MANY_POSTINGS = 50_000
#: Of so many postings what they are worth is kept.
_SHARES_HELD = 300_000
#: Sums in another order differ in their last digits; what may be left out must not depend on them.
_SLACK = 1.0 + 1e-9


@dataclass(frozen=True, slots=True)
class Scored:
    """A document's score; ``index`` counts the indexes that were asked."""

    index: int
    doc: int
    score: float


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one query term added to a document's score."""

    term: str
    weight: float
    tf: int
    df: int
    idf: float
    part: float


class _Term:
    __slots__ = ("bound", "df", "factor", "idf", "term", "weight")

    def __init__(self, term: str, weight: float, df: int, idf: float, gain: float) -> None:
        self.term, self.weight, self.df, self.idf = term, weight, df, idf
        self.factor = weight * idf * gain
        self.bound = 0.0


class _Shares:
    """What the postings of lists that are asked for again and again are worth, list by list."""

    __slots__ = ("_held", "_known")

    def __init__(self) -> None:
        # With each list itself: as long as it is held no other can have its identity.
        self._known: dict[int, tuple[object, list[float]]] = {}
        self._held = 0

    def of(self, codes: list[int], impacts: Impacts) -> list[float]:
        """The impacts of a list of codes, which must not change."""
        known = self._known.get(id(codes))
        if known is None:
            if (held := self._held + len(codes)) > _SHARES_HELD:
                self._known.clear()
                held = len(codes)
            self._held = held
            known = self._known[id(codes)] = (codes, list(map(impacts.__getitem__, codes)))
        return known[1]


_tables: dict[tuple[float, float], tuple[Impacts, Ratios, _Shares]] = {}


def _tables_for(norm: tuple[float, float]) -> tuple[Impacts, Ratios, _Shares]:
    """The tables that the last queries filled, while nothing was added or removed since."""
    known = _tables.get(norm)
    if known is None:
        if len(_tables) >= 8:
            _tables.clear()
        known = _tables[norm] = (Impacts(*norm), Ratios(*norm), _Shares())
    return known


class Scoring:
    """One query's terms against some indexes.

    ``N``, ``df`` and ``avg`` are summed over the indexes that are asked, so that
    a score does not depend on what the asker may not see, nor on how it is stored.
    """

    __slots__ = (
        "_asked",
        "_full",
        "_indexes",
        "_lists",
        "_norm",
        "_shares",
        "_terms",
        "documents",
        "impacts",
        "ratios",
    )

    def __init__(
        self, indexes: Sequence[KeywordIndex], weights: Mapping[str, float], parameters: Bm25Parameters
    ) -> None:
        self._indexes, self._asked = indexes, weights
        self.documents = sum(map(len, indexes))
        total = sum(index.total_length for index in indexes)
        #: By the code of a posting: what it is worth, and how often the term stands there for the length.
        self._norm = length_norm(self.documents, total, parameters)
        self.impacts, self.ratios, self._shares = _tables_for(self._norm)
        self._full: list[Accumulators] | None = None
        self._lists: list[list[Postings]] = []
        gain = parameters.k1 + 1.0
        terms = []
        for term, weight in weights.items():
            if weight > 0.0 and (df := sum(index.document_frequency(term) for index in indexes)):
                terms.append(_Term(term, weight, df, inverse_document_frequency(self.documents, df), gain))
        # In an order of their own: a sum of fractions depends on it.
        terms.sort(key=lambda term: (-term.weight * term.idf, term.term))
        self._terms = terms

    def factors(self) -> list[tuple[str, float]]:
        """The terms that stand somewhere, the most telling first: what each part of a score is multiplied by."""
        return [(term.term, term.factor) for term in self._terms]

    def ideal(self) -> float:
        """The score of a document of average length that holds every term of the query once, known or not."""
        known = self.frequencies()
        return sum(
            weight * inverse_document_frequency(self.documents, known.get(term, 0))
            for term, weight in self._asked.items()
            if weight > 0.0
        )

    def frequencies(self) -> dict[str, int]:
        """In how many documents each term stands that stands in any."""
        return {term.term: term.df for term in self._terms}

    def pool(
        self,
        size: int,
        *,
        tie: Callable[[int, int], int] | None = None,
        keep: Callable[[int, int], bool] | None = None,
        expired: Callable[[], bool] | None = None,
    ) -> list[Scored]:
        """The ``size`` best documents, best first.

        Of those that tie for the last places the ones with the least ``tie`` are
        taken. Only documents count that ``keep`` does not refuse. The most telling
        terms are taken first; once ``expired`` says so the rest is left out.
        """
        if size < 1 or not self._terms:
            return []
        if keep is not None:
            return _kept(self._all(expired), size, tie, keep)
        postings = sum(term.df for term in self._terms)
        if self._full is None and postings > _MANY_POSTINGS and (expired is None or not expired()):
            from memoranda.index.array_scoring import array_scores

            if (scores := array_scores()) is not None:
                return _best(scores(self._indexes, self.factors(), self._norm, size), size, tie)
        if self._full is None and postings > _FEW_POSTINGS and len(self._terms) > 1:
            return _best(self._bounded(size, expired), size, tie)
        sums = self._all(expired)
        rest = [most * _SLACK for most in self._bounds()]
        return _best(promising(sums, self._lists, rest, size), size, tie)

    def of(self, number: int, docs: Collection[int]) -> dict[int, float]:
        """The scores of some documents of one index; those that hold no term are left out."""
        if self._full is not None:
            return dict(self._full[number].scores(docs))
        found: dict[int, float] = {}
        for term in self._terms:
            self._add(found, term.factor, self._indexes[number].codes(term.term, docs))
        return found

    def parts(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], list[TermScore]]:
        """What each term added to the score of each ``(index, doc)``, the most telling term first."""
        found: dict[tuple[int, int], list[TermScore]] = {place: [] for place in places}
        wanted: dict[int, list[int]] = {}
        for number, doc in found:
            wanted.setdefault(number, []).append(doc)
        for term in self._terms:
            for number, docs in wanted.items():
                for doc, code in self._indexes[number].codes(term.term, docs):
                    part = term.factor * self.impacts[code]
                    tf = unpack(code)[0]
                    found[number, doc].append(TermScore(term.term, term.weight, tf, term.df, term.idf, part))
        return found

    def _add(self, found: dict[int, float], factor: float, codes: Iterable[tuple[int, int]]) -> None:
        known, impacts = found.get, self.impacts
        for doc, code in codes:
            found[doc] = known(doc, 0.0) + factor * impacts[code]

    def _shared(self, codes: Collection[int]) -> Iterable[float]:
        """What postings are worth, the term's factor aside."""
        return self._shares.of(codes, self.impacts) if type(codes) is list else map(self.impacts.__getitem__, codes)

    def _all(self, expired: Callable[[], bool] | None) -> list[Accumulators]:
        """The scores of every document that holds a term."""
        if self._full is not None:
            return self._full
        postings = sum(term.df for term in self._terms)
        sums = [Accumulators(index.dense, postings) for index in self._indexes]
        self._lists = lists = []
        for at, term in enumerate(self._terms):
            if at and expired is not None and expired():
                return sums
            lists.append(self._postings(term))
            for number, docs, codes in lists[-1]:
                sums[number].add(docs, self._shared(codes), term.factor)
        self._full = sums
        return sums

    def _postings(self, term: _Term) -> list[Postings]:
        return [
            (number, docs, codes)
            for number, index in enumerate(self._indexes)
            for docs, codes in index.postings(term.term)
        ]

    def _bounded(self, size: int, expired: Callable[[], bool] | None) -> list[dict[int, float]]:
        """Scores of the ``size`` best documents and of some more; of the rest no more than was needed."""
        terms, scores = self._terms, [{} for _ in self._indexes]  # type: list[_Term], list[dict[int, float]]
        rest = self._bounds()
        taken = 0.0
        for at, term in enumerate(terms):
            if at and expired is not None and expired():
                return scores
            # What the best have is hardly ever more than half of what they could have.
            if at and taken > 2.0 * rest[at] and sum(map(len, scores)) >= size:
                last = last_of_best(scores, size)
                if last > rest[at] * _SLACK:
                    return self._narrowed(scores, at, last, rest, expired)
            for number, docs, codes in self._postings(term):
                add_up(scores[number], docs, self._shared(codes), term.factor)
            taken += term.bound
        return scores

    def _bounds(self) -> list[float]:
        """What the terms from each on can add at most, after setting each term's own bound."""
        rest = [0.0]
        for term in reversed(self._terms):
            highest = 0.0
            for index in self._indexes:
                tf, length = index.bounds(term.term)
                if tf:
                    highest = max(highest, self.impacts[pack(tf, length)])
            term.bound = term.factor * highest
            rest.append(rest[-1] + term.bound)
        rest.reverse()
        return rest

    def _narrowed(
        self,
        scores: list[dict[int, float]],
        start: int,
        last: float,
        rest: list[float],
        expired: Callable[[], bool] | None,
    ) -> list[dict[int, float]]:
        """The terms from ``start`` on are asked only of documents that may still be among the best."""
        for at in range(start, len(self._terms)):
            if expired is not None and expired():
                break
            term, need = self._terms[at], last - rest[at] * _SLACK
            for number, index in enumerate(self._indexes):
                alive = {doc: score for doc, score in scores[number].items() if score >= need}
                self._add(alive, term.factor, index.codes(term.term, alive.keys()))
                scores[number] = alive
        return scores


def _best(scores: Sequence[Mapping[int, float]], size: int, tie: Callable[[int, int], int] | None) -> list[Scored]:
    floor = last_of_best(scores, size) if sum(map(len, scores)) > size else 0.0
    chosen = [
        Scored(number, doc, score)
        for number, found in enumerate(scores)
        for doc, score in found.items()
        if score >= floor
    ]
    if len(chosen) > size:
        # Everything that ties with the last place competes for it by a mark of its own, not by luck.
        level = [one for one in chosen if one.score == floor]
        level.sort(key=(lambda one: (tie(one.index, one.doc), one.doc)) if tie else (lambda one: one.doc))
        chosen = [one for one in chosen if one.score != floor]
        chosen += level[: size - len(chosen)]
    chosen.sort(key=attrgetter("score"), reverse=True)
    return chosen


def _kept(
    scores: Sequence[Accumulators],
    size: int,
    tie: Callable[[int, int], int] | None,
    keep: Callable[[int, int], bool],
) -> list[Scored]:
    """The best that ``keep`` allows: asked from the best down, for it may be costly."""
    ordered = [Scored(number, doc, score) for number, found in enumerate(scores) for doc, score in found.items()]
    ordered.sort(key=lambda one: (-one.score, one.index, one.doc))
    kept: list[Scored] = []
    for one in ordered:
        if len(kept) >= size and one.score < kept[-1].score:
            break
        if keep(one.index, one.doc):
            kept.append(one)
    if len(kept) > size:
        last = kept[-1].score
        level = [one for one in kept if one.score == last]
        above = len(kept) - len(level)
        level.sort(key=(lambda one: (tie(one.index, one.doc), one.doc)) if tie else (lambda one: one.doc))
        kept[above:] = level[: size - above]
    return kept
