"""SQLite's full-text search, as the standard library carries it: FTS5, its unicode61 tokenizer, its bm25()."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from memoranda_bench.datasets import Document
from memoranda_bench.systems.interface import SystemMissing
from memoranda_bench.systems.tokens import Tokenizer, our_tokens, words

__all__ = ["Fts5", "any_word"]


def any_word(tokens: Sequence[str]) -> str:
    """The MATCH expression for any of the tokens, each taken literally."""
    quoted = ('"' + token.replace('"', '""') + '"' for token in dict.fromkeys(tokens))
    return " OR ".join(quoted)


class Fts5:
    """English text as it is; Chinese, which unicode61 cannot cut, as memoranda's tokens with blanks between."""

    def __init__(self, language: str, *, dated: bool = True) -> None:
        """Make the table, in memory.

        Raises:
            SystemMissing: this Python's SQLite was built without FTS5.
        """
        self._plain = language == "en"
        self._dated = dated
        self._ids: list[str] = []
        self._tokens: Tokenizer = words if self._plain else our_tokens
        self._database = sqlite3.connect(":memory:")
        try:
            self._database.execute("CREATE VIRTUAL TABLE found USING fts5(text, tokenize='unicode61')")
        except sqlite3.OperationalError as error:
            raise SystemMissing(f"this Python's sqlite3 has no FTS5 ({error}): install one that has") from error

    def index(self, documents: Sequence[Document]) -> None:
        """Insert the texts."""
        self._ids = [document.id for document in documents]
        texts = [document.shown(dated=self._dated) for document in documents]
        rows = ((place, text if self._plain else " ".join(self._tokens(text))) for place, text in enumerate(texts))
        self._database.executemany("INSERT INTO found(rowid, text) VALUES (?, ?)", rows)

    def ask(self, question: str, k: int) -> list[str]:
        """See :class:`memoranda_bench.systems.interface.System`."""
        tokens = self._tokens(question)
        if not tokens:
            return []
        found = self._database.execute(
            "SELECT rowid FROM found WHERE found MATCH ? ORDER BY bm25(found), rowid LIMIT ?", (any_word(tokens), k)
        )
        return [self._ids[place] for (place,) in found]

    def close(self) -> None:
        """Close the database."""
        self._database.close()
