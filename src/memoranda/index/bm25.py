"""BM25: the formula, how a posting is packed, and the index of one partition in memory.

The score of a document ``d`` for weighted query terms is::

    sum over t of  weight(t) * idf(t) * (k1 + 1) * tf / (tf + k1 * (1 - b + b * len(d) / avg))
    idf(t) = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*
(2009), with the ``1 +`` inside the logarithm that keeps every idf positive.

A posting is a document and a code: how often the term stands there (``tf``) and
how long the document is (``len``), in one number of 32 bits. All that a score
needs of a document is in the code, whether it lies in memory or on disk.
"""

from __future__ import annotations

import sys
from math import log

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = [
    "LENGTH_BITS",
    "LENGTH_MASK",
    "ONE_MORE",
    "Bm25Index",
    "Bm25Parameters",
    "Impacts",
    "Ratios",
    "inverse_document_frequency",
    "length_norm",
    "pack",
    "unpack",
]

#: A code is how often, above, and how long, in so many bits below.
LENGTH_BITS = 20
#: What of a code is the length: the longest there is.
LENGTH_MASK = (1 << LENGTH_BITS) - 1
_MOST = (1 << 12) - 1
#: What a code grows by when the term comes once more.
ONE_MORE = 1 << LENGTH_BITS


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """``k1`` bounds what repetition adds; ``b`` (0 to 1) says how far length is held against a document."""

    k1: float = 1.2
    b: float = 0.4


def pack(tf: int, length: int) -> int:
    """The code of a posting. Beyond 4,095 times and 1,048,575 terms more makes no difference."""
    return (tf if tf < _MOST else _MOST) << LENGTH_BITS | (length if length < LENGTH_MASK else LENGTH_MASK)


def unpack(code: int) -> tuple[int, int]:
    """``tf`` and length of a code."""
    return code >> LENGTH_BITS, code & LENGTH_MASK


def inverse_document_frequency(documents: int, frequency: int) -> float:
    """How much a term tells that stands in ``frequency`` of ``documents``; always above zero."""
    return log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def length_norm(documents: int, total_length: int, parameters: Bm25Parameters) -> tuple[float, float]:
    """``k1 * (1 - b)`` and ``k1 * b / avg``: what a document's length is put into."""
    slope = parameters.k1 * parameters.b * documents / total_length if total_length else 0.0
    return parameters.k1 * (1.0 - parameters.b), slope


class Impacts(dict[int, float]):
    """``tf / (tf + base + slope * len)`` by code, each worked out once: few codes differ."""

    __slots__ = ("_base", "_slope")

    def __init__(self, base: float, slope: float) -> None:
        super().__init__()
        self._base = base
        self._slope = slope

    def __missing__(self, code: int) -> float:
        tf, length = code >> LENGTH_BITS, code & LENGTH_MASK
        impact = self[code] = tf / (tf + self._base + self._slope * length)
        return impact


class Ratios(dict[int, float]):
    """``tf / (base + slope * len)`` by code: how often the term stands there, for how long the document is."""

    __slots__ = ("_base", "_slope")

    def __init__(self, base: float, slope: float) -> None:
        super().__init__()
        self._base = base
        self._slope = slope

    def __missing__(self, code: int) -> float:
        norm = self._base + self._slope * (code & LENGTH_MASK)
        ratio = self[code] = (code >> LENGTH_BITS) / norm if norm else 0.0
        return ratio


class Bm25Index:
    """The postings of one partition in memory; the same whatever the order of changes was."""

    __slots__ = ("_bounds", "_documents", "_lengths", "_postings", "_total")

    def __init__(self) -> None:
        self._postings: dict[str, dict[int, int]] = {}
        self._documents: dict[int, tuple[str, ...]] = {}
        self._lengths: dict[int, int] = {}
        self._bounds: dict[str, tuple[int, int]] = {}
        self._total = 0

    def __len__(self) -> int:
        """How many documents are held."""
        return len(self._lengths)

    @property
    def total_length(self) -> int:
        """The sum of all documents' lengths, in terms."""
        return self._total

    @property
    def dense(self) -> int:
        """No numbers are known to be without gaps."""
        return 0

    def put(self, doc: int, terms: Sequence[str]) -> None:
        """Add a document, or replace it."""
        self.remove(doc)
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        postings, bounds, length = self._postings, self._bounds, len(terms)
        for term, count in counts.items():
            code = pack(count, length)
            holders = postings.get(term)
            if holders is None:
                postings[sys.intern(term)] = {doc: code}
            else:
                holders[doc] = code
                if (bound := bounds.get(term)) is not None:
                    bounds[term] = (max(bound[0], count), min(bound[1], length))
        # Interned: a term that stands in a thousand documents is one string.
        self._documents[doc] = tuple(map(sys.intern, counts))
        self._lengths[doc] = length
        self._total += length

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
                self._bounds.pop(term, None)
        self._total -= self._lengths.pop(doc)

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        return len(self._postings.get(term, ()))

    def postings(self, term: str) -> list[tuple[Collection[int], Collection[int]]]:
        """The documents that hold the term and their codes, side by side."""
        holders = self._postings.get(term)
        return [] if holders is None else [(holders.keys(), holders.values())]

    def codes(self, term: str, docs: Collection[int]) -> list[tuple[int, int]]:
        """Of these documents, those that hold the term, with their codes."""
        holders = self._postings.get(term)
        if holders is None:
            return []
        return [(doc, holders[doc]) for doc in docs if doc in holders]

    def bounds(self, term: str) -> tuple[int, int]:
        """No document holds the term more often than this, none that does is shorter than that."""
        bound = self._bounds.get(term)
        if bound is None:
            found = [unpack(code) for code in self._postings.get(term, {}).values()]
            if not found:
                return (0, 0)
            bound = self._bounds[term] = (max(tf for tf, _ in found), min(length for _, length in found))
        return bound

    def terms(self) -> Iterator[str]:
        """Every term that stands in some document."""
        return iter(self._postings)
