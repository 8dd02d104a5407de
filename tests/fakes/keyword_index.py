"""An honest keyword index: it keeps the documents and counts anew at every question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

    def put(self, doc: int, terms: Sequence[str]) -> None:
        self.documents[doc] = list(terms)

    def remove(self, doc: int) -> None:
        self.documents.pop(doc, None)

    def length(self, doc: int) -> int:
        return len(self.documents.get(doc, []))

    def document_frequency(self, term: str) -> int:
        return sum(term in terms for terms in self.documents.values())

    def postings(self, term: str) -> list[tuple[int, int]]:
        return [(doc, terms.count(term)) for doc, terms in self.documents.items() if term in terms]

    def terms(self) -> Iterator[str]:
        return iter({term for terms in self.documents.values() for term in terms})
