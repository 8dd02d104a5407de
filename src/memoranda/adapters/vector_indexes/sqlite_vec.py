"""sqlite-vec (https://github.com/asg017/sqlite-vec): vectors in a virtual table of the ledger's own file.

Every vector of the asked homes is looked at; nothing is approximate. One file,
``vectors.sqlite``, in write-ahead mode: readers wait for no writer. What is
removed is overwritten with zeros, and the log beside the file emptied; where a
reader holds on to an older state for more than a second, the log keeps it until
the next change.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module

from memoranda.adapters.vector_indexes.accounted import AccountedIndex
from memoranda.adapters.vector_indexes.accounts import home_number
from memoranda.adapters.vector_indexes.ledger import Ledger, sqlite_connect
from memoranda.core.errors import MissingExtra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from memoranda.adapters.vector_indexes.accounted import Kept
    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["open_index"]

#: The engine answers for no more than this at once.
_MOST = 4096
#: Vectors that lie together. Each home fills chunks of its own: small ones, for most homes are.
_CHUNK = 128
#: The table is written anew when so many places of removed vectors are empty, and more than are filled.
_HOLES = 1000


def open_index(folder: str, model: str, settings: EmbeddingSettings) -> AccountedIndex:
    """The index in a folder. Raises MissingExtra."""
    extension: str = import_module("sqlite_vec").loadable_path()
    connect = _connector(extension)
    return AccountedIndex(_SqliteVec(), Ledger(os.path.join(folder, "vectors.sqlite"), model, connect, lambda: None))


def _connector(extension: str) -> Any:
    """What opens a connection with the extension: many builds of Python's own sqlite3 load none."""
    with suppress(Exception):
        probe = sqlite_connect(":memory:")
        try:
            _load(probe, extension)
        finally:
            probe.close()

        def standard(path: str) -> Any:
            return _load(sqlite_connect(path), extension)

        return standard
    try:
        apsw = import_module("apsw")
    except ImportError as error:
        raise MissingExtra('index = "sqlite-vec"', "sqlite-vec") from error
    return lambda path: _load(apsw.Connection(path), extension)


def _load(connection: Any, extension: str) -> Any:
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    connection.enable_load_extension(False)
    return connection


class _SqliteVec:
    """The table ``vectors``, a partition a home."""

    inside = True

    def prepare(self, connection: Any, dimension: int) -> None:
        """Make the table."""
        connection.execute("DROP TABLE IF EXISTS vectors")
        connection.execute(
            f"""CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, home INTEGER PARTITION KEY,
                vector FLOAT[{dimension}] DISTANCE_METRIC=cosine, chunk_size={_CHUNK})"""
        )
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'holes'")

    def add(self, connection: Any, kept: Sequence[Kept], matrix: Any) -> None:
        """Insert."""
        numbers = {home: home_number(connection, home) for home in {one.home for one in kept}}
        connection.executemany(
            "INSERT INTO vectors(id, home, vector) VALUES (?, ?, ?)",
            ((one.id, numbers[one.home], row.tobytes()) for one, row in zip(kept, matrix, strict=True)),
        )

    def discard(self, connection: Any, kept: Sequence[tuple[int, str]]) -> None:
        """Delete: the engine overwrites the place, and does not fill it again."""
        if not kept:
            return
        connection.executemany("DELETE FROM vectors WHERE id = ?", ((id,) for id, _ in kept))
        connection.execute("UPDATE meta SET value = value + ? WHERE key = 'holes'", (len(kept),))
        (holes,) = connection.execute("SELECT value FROM meta WHERE key = 'holes'").fetchone()
        if holes >= _HOLES:
            (filled,) = connection.execute("SELECT total(filled) FROM homes").fetchone()
            if holes > filled:
                self._write_anew(connection)

    def nearest(self, connection: Any, question: Any, count: int, homes: Sequence[tuple[str, int]]) -> set[int] | None:
        """The nearest of each home."""
        if count > _MOST:
            return None
        asked = question.astype("float32").tobytes()
        (all_homes,) = connection.execute("SELECT count(*) FROM homes WHERE filled > 0").fetchone()
        if len(homes) == all_homes:
            statement = "SELECT id FROM vectors WHERE vector MATCH ? AND k = ?"
            return {id for (id,) in connection.execute(statement, (asked, count))}
        found: set[int] = set()
        statement = "SELECT id FROM vectors WHERE vector MATCH ? AND k = ? AND home = ?"
        for home, _ in homes:
            found.update(id for (id,) in connection.execute(statement, (asked, count, home_number(connection, home))))
        return found

    def vectors(self, connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        """The vectors, one by one."""
        import numpy as np

        found = {}
        for id, _ in kept:
            row = connection.execute("SELECT vector FROM vectors WHERE id = ?", (id,)).fetchone()
            if row is not None:
                found[id] = np.frombuffer(row[0], dtype=np.float32)
        return found

    def flush(self) -> None:
        """The ledger's file is flushed by itself."""

    def wipe(self) -> None:
        """Nothing is outside the ledger's file."""

    def close(self) -> None:
        """Nothing is open but the ledger."""

    def _write_anew(self, connection: Any) -> None:
        (dimension,) = connection.execute("SELECT value FROM meta WHERE key = 'dimension'").fetchone()
        connection.execute("CREATE TABLE moved AS SELECT id, home, vector FROM vectors")
        self.prepare(connection, dimension)
        connection.execute("INSERT INTO vectors(id, home, vector) SELECT id, home, vector FROM moved ORDER BY home, id")
        connection.execute("DROP TABLE moved")
