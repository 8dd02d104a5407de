"""Where the scores of documents add up, and how the best of them are found without a look at all.

Accumulators in the sense of Moffat and Zobel, *Self-indexing inverted files for
fast text retrieval* (1996): one number for each document that holds a term.
"""

from __future__ import annotations

import heapq
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    #: The number of an index, documents of it that hold a term, and their codes, side by side.
    Postings = tuple[int, Collection[int], Collection[int]]

__all__ = ["Accumulators", "add_up", "last_of_best", "promising"]

#: A place for every document pays as long as there are no more than so many for each posting.
_PLACES_PER_POSTING = 16
#: So many times as many numbers as are wanted tell well enough where to look for them.
_SAMPLE = 4


class Accumulators:
    """The scores of one index's documents.

    The documents of a segment are numbered without gaps: where many of them
    are met they have a place each in a row, which is quicker than a mapping.
    """

    __slots__ = ("_loose", "_row")

    def __init__(self, dense: int, postings: int) -> None:
        """``dense`` documents are numbered without gaps, ``postings`` are to be added in all."""
        self._row = [0.0] * dense if dense <= postings * _PLACES_PER_POSTING else []
        self._loose: dict[int, float] = {}

    def add(self, docs: Collection[int], shares: Iterable[float], factor: float) -> None:
        """Add ``factor`` times its share to each document's score."""
        if self._row and isinstance(docs, (list, array)):
            row = self._row
            for doc, share in zip(docs, shares, strict=True):
                row[doc] += factor * share
            return
        add_up(self._loose, docs, shares, factor)

    def scores(self, docs: Collection[int]) -> list[tuple[int, float]]:
        """Of these documents, those that hold any term, with their scores."""
        row, loose = self._row, self._loose
        inside = len(row)
        found = ((doc, row[doc] if doc < inside else loose.get(doc, 0.0)) for doc in docs)
        return [(doc, score) for doc, score in found if score]

    def of(self, docs: Collection[int]) -> list[float]:
        """The scores of documents that hold one term; 0 where it was too late to add them up."""
        if self._row and isinstance(docs, (list, array)):
            return list(map(self._row.__getitem__, docs))
        loose = self._loose
        return [loose.get(doc, 0.0) for doc in docs]

    def at_least(self, floor: float, docs: Collection[int]) -> Iterable[tuple[int, float]]:
        """Of documents that hold one term, those with so high a score, and their scores."""
        if self._row and isinstance(docs, (list, array)):
            row = self._row
            high = [doc for doc in docs if row[doc] >= floor] if floor else docs
            return zip(high, map(row.__getitem__, high), strict=True)
        loose = self._loose
        return [(doc, score) for doc in docs if (score := loose.get(doc, 0.0)) >= floor]

    def items(self) -> Iterator[tuple[int, float]]:
        """Every document that holds any term, with its score."""
        yield from ((doc, score) for doc, score in enumerate(self._row) if score)
        yield from self._loose.items()


def add_up(scores: dict[int, float], docs: Iterable[int], shares: Iterable[float], factor: float) -> None:
    """Add ``factor`` times its share to each document's score in a mapping."""
    if not scores:
        scores.update(zip(docs, [0.0 + factor * share for share in shares], strict=True))
        return
    known = scores.get
    for doc, share in zip(docs, shares, strict=True):
        scores[doc] = known(doc, 0.0) + factor * share


def promising(
    sums: Sequence[Accumulators], lists: Sequence[Sequence[Postings]], rest: Sequence[float], size: int
) -> list[dict[int, float]]:
    """Of each index the documents that may be among the ``size`` best, and some more.

    ``lists`` are the postings of each term, the most telling first, ``rest``
    what it and all after it can add to a score at most: what holds none but
    the last terms may be unable to come up to the best.
    """
    found: list[dict[int, float]] = [{} for _ in sums]
    floor, counted = 0.0, 0
    for postings, most in zip(lists, rest, strict=False):
        if floor > most:
            break
        for number, docs, _ in postings:
            added = sums[number]
            if not floor and len(docs) >= size:
                floor = _nth_best(added.of(docs), size)
            found[number].update(added.at_least(floor, docs))
        if sum(map(len, found)) >= counted + size:
            floor = last_of_best(found, size)
            found = [{doc: score for doc, score in known.items() if score >= floor} for known in found]
            counted = sum(map(len, found))
    return found


def last_of_best(scores: Sequence[Mapping[int, float]], size: int) -> float:
    """The score of the ``size``-th best document; there must be so many."""
    return _nth_best([score for found in scores for score in found.values()], size)


def _nth_best(numbers: list[float], n: int) -> float:
    """The ``n``-th greatest of at least ``n`` numbers."""
    some = n * _SAMPLE
    while len(numbers) > 2 * some:
        # Nothing below the n-th best of some is among the n best of all.
        least = sorted(numbers[:some])[-n]
        left = [number for number in numbers if number >= least]
        if len(left) > len(numbers) // 2:
            return heapq.nlargest(n, left)[-1]
        numbers = left
    return sorted(numbers)[-n]
