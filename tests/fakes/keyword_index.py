"""An honest keyword index: it keeps the documents and counts anew at every question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from memoranda.index.bm25 import pack

__all__ = ["NaiveKeywordIndex"]


class NaiveKeywordIndex:
    """Slow and plainly right."""

    def __init__(self) -> None:
        self.documents: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def total_length(self) -> int:
        return sum(len(terms) for terms in self.documents.values())

    @property
    def dense(self) -> int:
        """No numbers are known to be without gaps."""
        return 0

    def put(self, doc: int, terms: Sequence[str]) -> None:
        self.documents[doc] = list(terms)

    def remove(self, doc: int) -> None:
        self.documents.pop(doc, None)

    def document_frequency(self, term: str) -> int:
        return len(self._holders(term))

    def postings(self, term: str) -> list[tuple[list[int], list[int]]]:
        held = self._holders(term)
        return [(list(held), list(held.values()))] if held else []

    def codes(self, term: str, docs: Collection[int]) -> list[tuple[int, int]]:
        held = self._holders(term)
        return [(doc, held[doc]) for doc in docs if doc in held]

    def bounds(self, term: str) -> tuple[int, int]:
        held = [(terms.count(term), len(terms)) for terms in self.documents.values() if term in terms]
        return (max(tf for tf, _ in held), min(length for _, length in held)) if held else (0, 0)

    def terms(self) -> Iterator[str]:
        return iter({term for terms in self.documents.values() for term in terms})

    def _holders(self, term: str) -> dict[int, int]:
        return {doc: pack(terms.count(term), len(terms)) for doc, terms in self.documents.items() if term in terms}
