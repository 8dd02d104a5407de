"""bm25s: BM25 in sparse matrices, with the package's own defaults (k1 1.5, b .75, Lucene's formula)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memoranda_bench.datasets import Document
from memoranda_bench.systems.interface import SystemUnfit, require
from memoranda_bench.systems.tokens import bigrams

__all__ = ["Bm25s"]


class Bm25s:
    """English by the package's tokenizer, plain or stemmed with its stop words; Chinese by pairs of characters."""

    def __init__(self, language: str, *, stemmed: bool = False, dated: bool = True) -> None:
        """Set up the tokens; nothing is read yet.

        Raises:
            SystemMissing: bm25s, or for ``stemmed`` snowballstemmer, is not installed.
            SystemUnfit: stemming is for English alone.
        """
        if stemmed and language != "en":
            raise SystemUnfit("stems English only")
        self._bm25s = require("bm25s")
        self._dated = dated
        self._tokens: Callable[[str], list[str]] = self._english(stemmed) if language == "en" else bigrams
        self._engine: Any = None
        self._ids: list[str] = []

    def _english(self, stemmed: bool) -> Callable[[str], list[str]]:
        tokenize = self._bm25s.tokenize
        stemmer = require("snowballstemmer").stemmer("english").stemWords if stemmed else None
        # The package's longer English list (question words, auxiliaries, pronouns too): the stronger reference.
        stop_words = "english_plus" if stemmed else []

        def tokens(text: str) -> list[str]:
            found: list[list[str]] = tokenize(
                [text], stopwords=stop_words, stemmer=stemmer, return_ids=False, show_progress=False
            )
            return found[0]

        return tokens

    def index(self, documents: Sequence[Document]) -> None:
        """Build the matrix."""
        self._ids = [document.id for document in documents]
        self._engine = self._bm25s.BM25()
        texts = [self._tokens(document.shown(dated=self._dated)) for document in documents]
        self._engine.index(texts, show_progress=False)

    def ask(self, question: str, k: int) -> list[str]:
        """See :class:`memoranda_bench.systems.interface.System`; what scores zero is not returned."""
        known = [token for token in self._tokens(question) if token in self._engine.vocab_dict]
        if not known:
            return []
        scores = self._engine.get_scores(known)
        best = (-scores).argsort(kind="stable")[:k]
        return [self._ids[place] for place in best if scores[place] > 0]

    def close(self) -> None:
        """Nothing is held outside of memory."""
