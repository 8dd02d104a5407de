"""The other engines, each built from the same items and asked the same questions.

All but ``fts5-raw`` and ``fts5-trigram`` get memoranda's own tokens, so that engines are compared
and not analyses.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from memoranda_bench.systems.fts5 import any_word
from memoranda_bench.systems.interface import require
from memoranda_bench.systems.tokens import our_tokens, words

__all__ = ["PEERS", "Peer", "open_peer", "question_tokens"]

_TOP = 10
_WRITER_BYTES = 128_000_000
#: unicode61 would cut at what memoranda keeps inside a token; a quote is doubled inside SQL's quotes.
_OUR_TOKENS = "unicode61 remove_diacritics 0 tokenchars '-.@&_:+#'''"


class Peer(Protocol):
    """One engine.

    ``tokens`` cuts texts and questions; ``ask`` gets what it makes of a
    question, so that only the engine is timed.
    """

    @property
    def tokens(self) -> Callable[[str], list[str]] | None:
        """``None``: it takes raw text (and ``ask`` gets words)."""

    def build(self, items: Iterable[tuple[str, str, list[str]]]) -> None:
        """Index every item: its address, its raw text, and its tokens (none for an engine that takes raw text)."""

    def ask(self, tokens: list[str]) -> list[str]:
        """The addresses of the ten best, best first."""


class Fts5:
    """FTS5 in one file, filled in one transaction, with SQLite's own settings otherwise."""

    def __init__(self, folder: str, tokenizer: str = "") -> None:
        """Make the file; a ``tokenizer`` of its own gets raw text."""
        self.tokens = None if tokenizer else our_tokens
        self._database = sqlite3.connect(os.path.join(folder, "found.sqlite"))
        self._database.execute(
            f'CREATE VIRTUAL TABLE found USING fts5(address UNINDEXED, text, tokenize="{tokenizer or _OUR_TOKENS}")'
        )

    def build(self, items: Iterable[tuple[str, str, list[str]]]) -> None:
        """See :class:`Peer`."""
        rows = ((address, text if self.tokens is None else " ".join(tokens)) for address, text, tokens in items)
        with self._database:
            self._database.executemany("INSERT INTO found(address, text) VALUES (?, ?)", rows)

    def ask(self, tokens: list[str]) -> list[str]:
        """See :class:`Peer`."""
        found = self._database.execute(
            "SELECT address FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?", (any_word(tokens), _TOP)
        )
        return [address for (address,) in found]


class Tantivy:
    """tantivy in a folder, written by one thread and merged."""

    tokens = staticmethod(our_tokens)

    def __init__(self, folder: str) -> None:
        """Make the index. Raises SystemMissing."""
        self._tantivy = require("tantivy")
        builder = self._tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, tokenizer_name="whitespace", index_option="freq")
        builder.add_text_field("address", stored=True, tokenizer_name="raw")
        self._schema = builder.build()
        path = os.path.join(folder, "tantivy")
        os.makedirs(path)
        self._index = self._tantivy.Index(self._schema, path=path)
        self._searcher: Any = None

    def build(self, items: Iterable[tuple[str, str, list[str]]]) -> None:
        """See :class:`Peer`."""
        writer = self._index.writer(_WRITER_BYTES, 1)
        for address, _, tokens in items:
            record = self._tantivy.Document()
            record.add_text("text", " ".join(tokens))
            record.add_text("address", address)
            writer.add_document(record)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, tokens: list[str]) -> list[str]:
        """See :class:`Peer`."""
        query, occur = self._tantivy.Query, self._tantivy.Occur
        terms = [
            (occur.Should, query.term_query(self._schema, "text", token, "freq")) for token in dict.fromkeys(tokens)
        ]
        found = self._searcher.search(query.boolean_query(terms), _TOP, count=False).hits
        return [self._searcher.doc(place)["address"][0] for _, place in found]


class Bm25s:
    """bm25s in memory, by numba where that is installed."""

    tokens = staticmethod(our_tokens)

    def __init__(self, folder: str) -> None:
        """Nothing lies in the folder. Raises SystemMissing."""
        self._bm25s = require("bm25s")
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        backend = "numba" if importlib.util.find_spec("numba") else "numpy"
        self._engine = self._bm25s.BM25(backend=backend)
        self._vocabulary: dict[str, int] = {}
        self._addresses: list[str] = []

    def build(self, items: Iterable[tuple[str, str, list[str]]]) -> None:
        """See :class:`Peer`."""
        known = self._vocabulary
        documents: list[list[int]] = []
        for address, _, tokens in items:
            self._addresses.append(address)
            documents.append([known.setdefault(token, len(known)) for token in tokens])
        tokenized = self._bm25s.tokenization.Tokenized(ids=documents, vocab=known)
        self._engine.index(tokenized, show_progress=False)

    def ask(self, tokens: list[str]) -> list[str]:
        """See :class:`Peer`."""
        numbers = [known for token in tokens if (known := self._vocabulary.get(token)) is not None]
        if not numbers:
            return []
        top = min(_TOP, len(self._addresses))
        found, scores = self._engine.retrieve([numbers], k=top, show_progress=False)
        return [self._addresses[n] for n, score in zip(found[0], scores[0], strict=True) if score > 0]


PEERS: dict[str, Callable[[str], Peer]] = {
    # Words as blanks part them: a Chinese clause is one word, and nothing in it is found.
    "fts5-raw": lambda folder: Fts5(folder, "unicode61"),
    # The only tokenizer that SQLite has which finds words of Chinese, those of three characters and more.
    "fts5-trigram": lambda folder: Fts5(folder, "trigram"),
    "fts5": Fts5,
    "tantivy": Tantivy,
    "bm25s": Bm25s,
}


def open_peer(name: str, folder: str) -> Peer:
    """An empty engine that may write into ``folder``. Raises SystemMissing."""
    return PEERS[name](folder)


def question_tokens(peer: Peer, question: str) -> list[str]:
    """What a question becomes for a peer."""
    return words(question) if peer.tokens is None else peer.tokens(question)
