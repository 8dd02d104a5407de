"""The seams: what the floors below ask of the world, as small protocols.

Each has one contract suite under ``tests/contract`` and an honest fake under
``tests/fakes``.
"""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime, tzinfo

__all__ = ["Clock", "KeywordIndex", "Segmenter"]


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

    @property
    def dense(self) -> int:
        """The numbers below this one leave hardly a gap; sequences in ``postings`` hold no others."""
        ...

    def put(self, doc: int, terms: Sequence[str]) -> None:
        """Add a document, or replace it."""
        ...

    def remove(self, doc: int) -> None:
        """Take a document out; one that is not held is ignored."""
        ...

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        ...

    def postings(self, term: str) -> Sequence[tuple[Collection[int], Collection[int]]]:
        """The documents that hold the term and their codes (:func:`memoranda.index.bm25.pack`), side by side.

        In one pair of columns or several; no document stands in two.
        """
        ...

    def codes(self, term: str, docs: Collection[int]) -> Iterable[tuple[int, int]]:
        """Of these documents, those that hold the term, with their codes."""
        ...

    def bounds(self, term: str) -> tuple[int, int]:
        """No document holds the term more often than this, none that does is shorter than that; (0, 0): none does."""
        ...

    def terms(self) -> Iterator[str]:
        """Every term that stands in some document."""
        ...


class Segmenter(Protocol):
    """Cuts Chinese into words. The same text is cut alike as long as the name is the same."""

    @property
    def name(self) -> str:
        """What cuts, with its version: ``"rjieba 0.2.2"``."""
        ...

    def cut(self, text: str) -> Iterable[str]:
        """The words of a text, in order, single characters too; together they are the text."""
        ...
