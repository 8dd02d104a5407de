"""An honest embedder without a model: texts are near as far as they share words."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

__all__ = ["WordEmbedder", "word_vector"]


def word_vector(text: str, dimension: int = 64, meanings: Mapping[str, str] | None = None) -> list[float]:
    """The counts of a text's words (Chinese by characters), each at a place that its checksum gives.

    ``meanings`` are words that stand for others. The first number is 1: no vector is all zero.
    """
    spaced = "".join(f" {letter} " if ord(letter) > 0x2E80 else letter for letter in text.casefold())
    vector = [1.0, *([0.0] * (dimension - 1))]
    for word in spaced.split():
        word = (meanings or {}).get(word, word)
        vector[1 + zlib.crc32(word.encode("utf-8", "replace")) % (dimension - 1)] += 1.0
    return vector


class WordEmbedder:
    """Remembers what it was asked in ``documents`` and ``queries``; raises ``fault`` while that is set."""

    def __init__(self, dimension: int = 64, meanings: Mapping[str, str] | None = None, version: str = "1") -> None:
        self.model = f"words:{version}@{dimension}"
        self.dimension, self.meanings = dimension, meanings
        self.fault: Exception | None = None
        self.documents: list[str] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if self.fault is not None:
            raise self.fault
        self.documents += texts
        return [word_vector(text, self.dimension, self.meanings) for text in texts]

    def embed_query(self, text: str, seconds: float | None = None) -> list[float]:
        if self.fault is not None:
            raise self.fault
        self.queries.append(text)
        return word_vector(text, self.dimension, self.meanings)
