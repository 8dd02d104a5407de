"""BM25: an exact inverted index of one partition, and the score over several.

The score of a document ``d`` for weighted query terms is::

    sum over t of  weight(t) * idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(d) / avg))
    idf(t) = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*
(2009), with the ``1 +`` inside the logarithm that keeps every idf positive.
``N``, ``df`` and ``avg`` are summed over the partitions that are asked, so that
a score does not depend on what the asker may not see, nor on how it is stored.
"""

from __future__ import annotations

import sys
from math import log

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from memoranda.core.ports import KeywordIndex

__all__ = [
    "Bm25Index",
    "Bm25Parameters",
    "Scored",
    "TermScore",
    "best",
    "explain",
    "inverse_document_frequency",
    "rank",
    "score",
]


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """``k1`` bounds what repetition adds; ``b`` (0 to 1) says how far length is held against a document."""

    k1: float = 1.2
    b: float = 0.4


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


class Bm25Index:
    """The postings of one partition in memory; the same whatever the order of changes was."""

    __slots__ = ("_documents", "_lengths", "_postings", "_total")

    def __init__(self) -> None:
        self._postings: dict[str, dict[int, int]] = {}
        self._documents: dict[int, tuple[str, ...]] = {}
        self._lengths: dict[int, int] = {}
        self._total = 0

    def __len__(self) -> int:
        """How many documents are held."""
        return len(self._lengths)

    @property
    def total_length(self) -> int:
        """The sum of all documents' lengths, in terms."""
        return self._total

    def put(self, doc: int, terms: Sequence[str]) -> None:
        """Add a document, or replace it."""
        self.remove(doc)
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        postings = self._postings
        for term, count in counts.items():
            holders = postings.get(term)
            if holders is None:
                postings[sys.intern(term)] = {doc: count}
            else:
                holders[doc] = count
        # Interned: a term that stands in a thousand documents is one string.
        self._documents[doc] = tuple(map(sys.intern, counts))
        self._lengths[doc] = len(terms)
        self._total += len(terms)

    def remove(self, doc: int) -> None:
        """Take a document out; one that is not held is ignored."""
        held = self._documents.pop(doc, None)
        if held is None:
            return
        postings = self._postings
        for term in held:
            holders = postings[term]
            del holders[doc]
            if not holders:
                del postings[term]
        self._total -= self._lengths.pop(doc)

    def length(self, doc: int) -> int:
        """A document's length in terms; 0 if it is not held."""
        return self._lengths.get(doc, 0)

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        return len(self._postings.get(term, ()))

    def postings(self, term: str) -> Collection[tuple[int, int]]:
        """The documents that hold the term, each with how often."""
        holders = self._postings.get(term)
        return () if holders is None else holders.items()

    def terms(self) -> Iterator[str]:
        """Every term that stands in some document."""
        return iter(self._postings)


def inverse_document_frequency(documents: int, frequency: int) -> float:
    """How much a term tells that stands in ``frequency`` of ``documents``; always above zero."""
    return log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def score(
    indexes: Sequence[KeywordIndex],
    terms: Mapping[str, float],
    parameters: Bm25Parameters,
    expired: Callable[[], bool] | None = None,
) -> list[dict[int, float]]:
    """The score of every document that holds a term, for each index.

    The most telling terms are taken first; once ``expired`` says so the rest is
    left out, and what was summed so far is returned.
    """
    scores: list[dict[int, float]] = [{} for _ in indexes]
    base, slope = _length_norm(indexes, parameters)
    gain = parameters.k1 + 1.0
    for at, (term, weight, _, idf) in enumerate(_weighed(indexes, terms)):
        if at and expired is not None and expired():
            break
        factor = weight * idf * gain
        for index, found in zip(indexes, scores, strict=True):
            length, known = index.length, found.get
            for doc, tf in index.postings(term):
                found[doc] = known(doc, 0.0) + factor * tf / (tf + base + slope * length(doc))
    return scores


def best(
    scores: Sequence[Mapping[int, float]], limit: int, order: Callable[[int, int], str] | None = None
) -> list[Scored]:
    """The ``limit`` highest scores above zero, best first; equal ones by ``order(index, doc)``."""
    import heapq

    if limit < 1:
        return []
    total = sum(map(len, scores))
    floor = 0.0
    if total > limit:
        floor = heapq.nlargest(limit, (value for found in scores for value in found.values()))[-1]
    # Everything that ties with the last place competes for it by order, not by luck.
    chosen = [
        Scored(number, doc, value)
        for number, found in enumerate(scores)
        for doc, value in found.items()
        if value >= floor and value > 0.0
    ]
    if order is None:
        chosen.sort(key=lambda s: (-s.score, s.index, s.doc))
    else:
        chosen.sort(key=lambda s: (-s.score, order(s.index, s.doc)))
    return chosen[:limit]


def rank(
    indexes: Sequence[KeywordIndex],
    terms: Mapping[str, float],
    parameters: Bm25Parameters,
    limit: int,
    order: Callable[[int, int], str] | None = None,
) -> list[Scored]:
    """The ``limit`` best documents for weighted query terms, as if all indexes were one."""
    return best(score(indexes, terms, parameters), limit, order)


def explain(
    indexes: Sequence[KeywordIndex],
    documents: Collection[tuple[int, int]],
    terms: Mapping[str, float],
    parameters: Bm25Parameters,
) -> dict[tuple[int, int], list[TermScore]]:
    """What each term added to the score of each ``(index, doc)``, the most telling term first."""
    parts: dict[tuple[int, int], list[TermScore]] = {place: [] for place in documents}
    wanted = [{doc for number, doc in documents if number == at} for at in range(len(indexes))]
    base, slope = _length_norm(indexes, parameters)
    gain = parameters.k1 + 1.0
    for term, weight, df, idf in _weighed(indexes, terms):
        for number, index in enumerate(indexes):
            if not wanted[number]:
                continue
            for doc, tf in index.postings(term):
                if doc in wanted[number]:
                    part = weight * idf * gain * tf / (tf + base + slope * index.length(doc))
                    parts[number, doc].append(TermScore(term, weight, tf, df, idf, part))
    return parts


def _length_norm(indexes: Sequence[KeywordIndex], parameters: Bm25Parameters) -> tuple[float, float]:
    """``k1 * (1 - b)`` and ``k1 * b / avg``: what a document's length is put into."""
    documents = sum(map(len, indexes))
    total = sum(index.total_length for index in indexes)
    slope = parameters.k1 * parameters.b * documents / total if total else 0.0
    return parameters.k1 * (1.0 - parameters.b), slope


def _weighed(indexes: Sequence[KeywordIndex], terms: Mapping[str, float]) -> list[tuple[str, float, int, float]]:
    """The terms that stand somewhere: term, weight, document frequency, idf; in an order of their own."""
    documents = sum(map(len, indexes))
    found = []
    for term, weight in terms.items():
        df = sum(index.document_frequency(term) for index in indexes)
        if df and weight > 0.0:
            found.append((term, weight, df, inverse_document_frequency(documents, df)))
    found.sort(key=lambda entry: (-entry[1] * entry[3], entry[0]))
    return found
