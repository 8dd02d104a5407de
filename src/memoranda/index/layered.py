"""The index of a partition whose documents lie on disk, but for those that came or went since."""

from __future__ import annotations

from memoranda.index.bm25 import Bm25Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from memoranda.index.segment import SegmentPartition

__all__ = ["LayeredIndex"]


class LayeredIndex:
    """A segment's documents by their numbers, and others in memory by higher ones; as exact as a rebuilt index.

    ``terms_of`` gives the terms that a document of the segment was indexed by.
    """

    __slots__ = ("_base", "_cleaned", "_gone", "_lost", "_memory", "_terms_of", "_total")

    def __init__(self, base: SegmentPartition, terms_of: Callable[[int], Sequence[str]]) -> None:
        self._base = base
        self._terms_of = terms_of
        self._memory = Bm25Index()
        self._gone: set[int] = set()
        self._lost: dict[str, int] = {}
        self._cleaned: dict[str, tuple[list[int], list[int]]] = {}
        self._total = base.total_length

    def __len__(self) -> int:
        """How many documents are held."""
        return self._base.documents - len(self._gone) + len(self._memory)

    @property
    def total_length(self) -> int:
        """The sum of all documents' lengths, in terms."""
        return self._total + self._memory.total_length

    @property
    def dense(self) -> int:
        """The documents below this number are those of the segment."""
        return self._base.documents

    def put(self, doc: int, terms: Sequence[str]) -> None:
        """Add a document, or replace it."""
        if doc < self._base.documents:
            raise ValueError(f"document {doc} is the segment's; what takes its place has a number of its own")
        self._memory.put(doc, terms)

    def remove(self, doc: int) -> None:
        """Take a document out; one that is not held is ignored."""
        if doc >= self._base.documents:
            self._memory.remove(doc)
        elif doc not in self._gone:
            terms = self._terms_of(doc)
            self._gone.add(doc)
            self._total -= len(terms)
            for term in set(terms):
                self._lost[term] = self._lost.get(term, 0) + 1
                self._cleaned.pop(term, None)

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        base = self._base.document_frequency(term) - self._lost.get(term, 0)
        return base + self._memory.document_frequency(term)

    def postings(self, term: str) -> list[tuple[Collection[int], Collection[int]]]:
        """The documents that hold the term and their codes, side by side."""
        columns = self._base.columns(term)
        found: list[tuple[Collection[int], Collection[int]]] = []
        if columns is not None:
            found.append(self._clean(term, columns) if term in self._lost else columns)
        found += self._memory.postings(term)
        return found

    def codes(self, term: str, docs: Collection[int]) -> list[tuple[int, int]]:
        """Of these documents, those that hold the term, with their codes."""
        found = self._base.codes(term, docs)
        if term in self._lost:
            found = [(doc, code) for doc, code in found if doc not in self._gone]
        return found + self._memory.codes(term, docs) if len(self._memory) else found

    def bounds(self, term: str) -> tuple[int, int]:
        """No document holds the term more often than this, none that does is shorter than that."""
        most, shortest = self._base.bounds(term)
        if not len(self._memory):
            return most, shortest
        more, shorter = self._memory.bounds(term)
        return (max(most, more), min(shortest, shorter)) if most and more else (most or more, shortest or shorter)

    def terms(self) -> Iterator[str]:
        """Every term that stands in some document."""
        for term in self._base.terms():
            if self.document_frequency(term):
                yield term
        for term in self._memory.terms():
            if not self._base.document_frequency(term):
                yield term

    def _clean(self, term: str, columns: tuple[Sequence[int], Sequence[int]]) -> tuple[list[int], list[int]]:
        known = self._cleaned.get(term)
        if known is None:
            pairs = [(doc, code) for doc, code in zip(*columns, strict=True) if doc not in self._gone]
            known = self._cleaned[term] = ([doc for doc, _ in pairs], [code for _, code in pairs])
        return known
