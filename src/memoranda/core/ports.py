"""The seams: what the floors below ask of the world, as small protocols.

Each has one contract suite under ``tests/contract`` and an honest fake under
``tests/fakes``.
"""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime, tzinfo

__all__ = ["Clock", "KeywordIndex"]


class Clock(Protocol):
    """Tells the time. Nothing may rely on it going forward."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...

    def zone(self) -> tzinfo:
        """The zone in which the user's days begin and end."""
        ...


class KeywordIndex(Protocol):
    """Term statistics of one partition (one level of one scope), exact at every moment.

    Documents are small non-negative integers chosen by the caller.
    """

    def __len__(self) -> int:
        """How many documents are held."""
        ...

    @property
    def total_length(self) -> int:
        """The sum of all documents' lengths, in terms."""
        ...

    def put(self, doc: int, terms: Sequence[str]) -> None:
        """Add a document, or replace it."""
        ...

    def remove(self, doc: int) -> None:
        """Take a document out; one that is not held is ignored."""
        ...

    def length(self, doc: int) -> int:
        """A document's length in terms; 0 if it is not held."""
        ...

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        ...

    def postings(self, term: str) -> Iterable[tuple[int, int]]:
        """The documents that hold the term, each with how often."""
        ...

    def terms(self) -> Iterator[str]:
        """Every term that stands in some document."""
        ...
