"""The seams: what the floors below ask of the world, as small protocols.

Each has one contract suite under ``tests/contract`` and an honest fake under
``tests/fakes``.
"""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from memoranda.core.documents import Converted
    from memoranda.core.vectors import Near, VectorRow

__all__ = ["Clock", "Converter", "Embedder", "KeywordIndex", "LanguageModel", "Segmenter", "VectorIndex"]


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


class Converter(Protocol):
    """Turns documents of some formats into markdown. Reads the bytes it is given and nothing else.

    It may use much memory and time, loop, or crash on a hostile document: the
    caller runs it where that does no harm.
    """

    @property
    def name(self) -> str:
        """What it is called in the settings and in what it makes: ``"built-in"``, ``"pandoc"``."""
        ...

    @property
    def version(self) -> str:
        """The same document gives the same markdown as long as this is the same."""
        ...

    @property
    def formats(self) -> Collection[str]:
        """The formats it reads, by name: ``docx``, ``pdf``, ...."""
        ...

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """The document as markdown with a text in it, never without one.

        ``format`` is one of :attr:`formats`, ``name`` a file's name, for titles and
        messages only.

        Raises:
            NotConverted: it cannot be taken in; the message says in one line why.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one space, where like meaning lies close by cosine. Safe from several threads."""

    @property
    def model(self) -> str:
        """Names the space: ``"openai:text-embedding-3-small@512"``. Vectors of two names are never compared.

        The same text has the same vector, but for rounding, as long as this is the same.
        """
        ...

    def warm(self) -> None:
        """Make ready what takes long the first time: a model in this process is loaded, an endpoint is not asked.

        Raises:
            ServiceFailed, MissingExtra: as below.
        """
        ...

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order, all of one length; not necessarily of length 1.

        May take long. Transient faults have been tried again, with pauses, before anything is raised.

        Raises:
            ServiceFailed: the endpoint failed, or answered with what cannot be vectors of this space.
            MissingExtra: the package that it needs cannot be imported.
        """
        ...

    def embed_query(self, text: str, seconds: float | None = None) -> Sequence[float]:
        """The vector of a question, in ``seconds`` (``None``: however long it takes), tried once.

        Raises:
            ServiceFailed: as above, or not in time.
            MissingExtra: the package that it needs cannot be imported.
        """
        ...


class LanguageModel(Protocol):
    """Answers in text. Any object of the host that has this method will do."""

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The reply to messages, each with ``role`` (``system``, ``user`` or ``assistant``) and ``content``.

        One request at most, or as many as the host likes: each call counts as
        one. May take long.

        Raises:
            ServiceRefused: there is no reply, and asking the same again would give none.
            Exception: whatever else it is, there is no reply yet.
        """
        ...


class VectorIndex(Protocol):
    """The vectors of one space (one model, one dimension) by address. Derived: it can be made again from the files.

    Cosines alone count: vectors need not be of length 1. A vector that is all
    zero, or holds what is no number, is held and never found. One writer at a
    time; who reads sees what was committed last when it asks.
    """

    @property
    def dimension(self) -> int:
        """The length of the vectors; 0 as long as there is none."""
        ...

    def __len__(self) -> int:
        """How many rows are held."""
        ...

    def parents(self) -> set[str]:
        """The parents (:attr:`VectorRow.parent`) of all rows."""
        ...

    def held(self, parent: str) -> Mapping[str, str]:
        """The rows of one parent: digests by address."""
        ...

    def put(self, rows: Sequence[VectorRow], vectors: Sequence[Sequence[float]]) -> None:
        """Add rows with their vectors, or replace those of the same address. All or none is held after a crash.

        Raises:
            UsageError: not as many vectors as rows, or of another length than those that are held.
            VaultError: it could not be written.
        """
        ...

    def remove(self, addresses: Collection[str]) -> None:
        """Take rows out, their vectors and addresses wiped from the disk; those that are not held are ignored."""
        ...

    def search(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> list[Near]:
        """The ``count`` rows nearest to a vector, the nearest first, of these homes only (``None``: of all).

        Equal ones in an order that does not depend on how they were added. Raises UsageError: another length.
        """
        ...

    def cosines(self, vector: Sequence[float], addresses: Collection[str]) -> Mapping[str, Near]:
        """How near single rows are; those that are not held are left out."""
        ...

    def sample(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> Sequence[float]:
        """The cosines of up to ``count`` rows from all over these homes, always the same: what is near by chance."""
        ...

    def clear(self) -> None:
        """Hold nothing."""
        ...

    def close(self) -> None:
        """Give back what is held open."""
        ...
