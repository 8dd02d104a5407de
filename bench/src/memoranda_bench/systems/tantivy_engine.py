"""tantivy, the full-text engine in Rust: its default analyzer for English, its BM25."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda_bench.datasets import Document
from memoranda_bench.systems.interface import require
from memoranda_bench.systems.tokens import Tokenizer, our_tokens, words

__all__ = ["Tantivy"]

_WRITER_BYTES = 64_000_000


class Tantivy:
    """English text as it is; Chinese, which the default analyzer cannot cut, as memoranda's tokens."""

    def __init__(self, language: str, *, dated: bool = True) -> None:
        """Make the index, in memory.

        Raises:
            SystemMissing: tantivy is not installed.
        """
        self._tantivy = require("tantivy")
        self._plain = language == "en"
        self._dated = dated
        self._tokens: Tokenizer = words if self._plain else our_tokens
        builder = self._tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, tokenizer_name="default" if self._plain else "whitespace")
        builder.add_unsigned_field("place", stored=True, fast=True)
        self._schema = builder.build()
        self._index = self._tantivy.Index(self._schema)
        self._searcher: Any = None
        self._ids: list[str] = []

    def index(self, documents: Sequence[Document]) -> None:
        """Write one segment by one thread, so that ties keep the documents' order."""
        self._ids = [document.id for document in documents]
        writer = self._index.writer(_WRITER_BYTES, 1)
        for place, document in enumerate(documents):
            text = document.shown(dated=self._dated)
            record = self._tantivy.Document()
            record.add_text("text", text if self._plain else " ".join(self._tokens(text)))
            record.add_unsigned("place", place)
            writer.add_document(record)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, question: str, k: int) -> list[str]:
        """See :class:`memoranda_bench.systems.interface.System`."""
        query, occur = self._tantivy.Query, self._tantivy.Occur
        terms = [
            (occur.Should, query.term_query(self._schema, "text", token, "freq"))
            for token in dict.fromkeys(self._tokens(question))
        ]
        if not terms:
            return []
        found = self._searcher.search(query.boolean_query(terms), k).hits
        return [self._ids[self._searcher.doc(address)["place"][0]] for _, address in found]

    def close(self) -> None:
        """Nothing is held outside of memory."""
