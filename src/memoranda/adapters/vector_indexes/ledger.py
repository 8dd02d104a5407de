"""Which rows an index holds: a file of SQLite beside an engine, or with the vectors in it.

What stands here is held, whatever the engine has: it is written after the
vectors were and before they are taken away, in one transaction. Ids are never
given twice, so that what a crash left in the engine is never taken for a row.
A file that is damaged, of another space or of another version holds nothing,
and is made anew at the next ``put``.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from memoranda.core.errors import MemorandaError, VaultBusy, VaultError, VaultFull, VaultReadOnly, VaultUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")

__all__ = ["Damaged", "Ledger", "disk_fault", "sqlite_connect"]

_VERSION = 1
#: Milliseconds: how long a reader waits for a lock that another connection holds.
_PATIENCE = 30_000
# When SQLite moves what is in a table from page to page, it may leave copies behind, which nothing wipes later. So
# texts stand in tables that only ever grow at their end, and are overwritten where they are; the rest is hashes.
_SCHEMA = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    # filled: how many of its rows can be found.
    """CREATE TABLE homes(number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE,
       filled INTEGER NOT NULL DEFAULT 0)""",
    "CREATE TABLE names(number INTEGER PRIMARY KEY, name BLOB NOT NULL)",
    # key and parent: hashes. mark: a part of the key, by which rows are sampled; NULL: the vector has no direction.
    """CREATE TABLE rows(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, parent BLOB NOT NULL,
       home INTEGER NOT NULL, digest TEXT NOT NULL, mark INTEGER)""",
    "CREATE TABLE texts(id INTEGER PRIMARY KEY, address BLOB NOT NULL, parent BLOB NOT NULL)",
    "CREATE INDEX rows_parent ON rows(parent)",
    "CREATE INDEX rows_home ON rows(home)",
    "CREATE INDEX rows_mark ON rows(mark, key) WHERE mark IS NOT NULL",
    """CREATE TRIGGER comes AFTER INSERT ON rows WHEN new.mark IS NOT NULL
       BEGIN UPDATE homes SET filled = filled + 1 WHERE number = new.home; END""",
    """CREATE TRIGGER goes AFTER DELETE ON rows WHEN old.mark IS NOT NULL
       BEGIN UPDATE homes SET filled = filled - 1 WHERE number = old.home; END""",
    # In the engine, or about to be, and not held.
    "CREATE TABLE doomed(id INTEGER PRIMARY KEY, home INTEGER NOT NULL)",
)
# Result codes of SQLite (https://sqlite.org/rescode.html).
_ERROR, _PERM, _BUSY, _LOCKED, _READONLY, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 1, 3, 5, 6, 8, 11, 13, 14, 26
# The statements are fixed: one that fails as such met another schema, or a damaged table of the engine.
_DAMAGE = frozenset({_ERROR, _CORRUPT, _NOTADB})


class Damaged(Exception):
    """What the engine keeps cannot be read any more."""


class Ledger:
    """The rows of one space in ``path``; ``connect`` opens a connection of sqlite3 or apsw in autocommit.

    Connections are lent, one to a thread at a time. ``wipe`` empties the engine
    when the file is made anew.
    """

    def __init__(self, path: str, model: str, connect: Callable[[str], Any], wipe: Callable[[], None]) -> None:
        self.path, self.model = path, model
        self.fault = ""
        self._connect, self._wipe = connect, wipe
        self._lock, self._writing = threading.Lock(), threading.RLock()
        self._idle: list[Any] = []
        self._inode = (0, 0)
        self._bad: tuple[int, ...] = ()
        self._closed = False

    def read(self, ask: Callable[[Any], T], nothing: T) -> T:
        """What ``ask`` tells of one state of the file, or ``nothing`` where nothing is held."""
        lent = self._take()
        if lent is None:
            return nothing
        connection, inode = lent
        try:
            connection.execute("BEGIN")
            answer = ask(connection) if self._fits(connection) else nothing
            connection.execute("ROLLBACK")
        except MemorandaError:
            _shut(connection)
            raise
        except Exception as error:
            _shut(connection)
            if self._is_damage(error):
                return nothing
            self.fail(error)
        except BaseException:
            _shut(connection)
            raise
        self._give(connection, inode)
        return answer

    def write(self, change: Callable[[Any], T], nothing: T, *, create: bool = False) -> T:
        """Change the file in one transaction; without ``create``, ``nothing`` where nothing is held.

        What is found damaged is made anew, and ``change`` asked again.
        """
        with self._writing:
            lent = self._take()
            for last in (False, True):
                if lent is None or not self._ready(lent[0]):
                    if not create:
                        return nothing
                    lent = self.begin_anew()
                connection, inode = lent
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    answer = change(connection)
                    connection.execute("COMMIT")
                except MemorandaError:
                    _shut(connection)
                    raise
                except Exception as error:
                    _shut(connection)
                    if not last and self._is_damage(error):
                        lent = None
                        continue
                    self.fail(error)
                except BaseException:
                    _shut(connection)
                    raise
                self._give(connection, inode)
                return answer
        raise AssertionError("unreachable")

    def begin_anew(self) -> tuple[Any, tuple[int, int]]:
        """An empty file, and an empty engine; the connection is the caller's."""
        self.erase()
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise disk_fault(error, self.path) from error
        lent = self._take()
        if lent is None:
            raise VaultError(f"{self.path}: is taken away while it is made")
        connection, inode = lent
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                connection.execute(statement)
            start = (
                ("model", self.model),
                ("dimension", 0),
                ("generation", 0),
                ("next", 1),
                ("holes", 0),
                ("blank", 0),
            )
            connection.executemany("INSERT INTO meta VALUES (?, ?)", start)
            connection.execute(f"PRAGMA user_version={_VERSION}")
            connection.execute("COMMIT")
        except Exception as error:
            _shut(connection)
            self.fail(error)
        return connection, inode

    def erase(self) -> None:
        """Take the file away, and what the engine has."""
        with self._writing:
            self._drop_idle()
            try:
                for end in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        os.unlink(self.path + end)
            except OSError as error:
                raise disk_fault(error, self.path) from error
            self._wipe()
            self._bad, self.fault = (), ""

    def flush(self) -> None:
        """Bring what was written into the file itself, so that nothing wiped is left in the log beside it."""
        lent = self._take()
        if lent is None:
            return
        connection, inode = lent
        try:
            connection.execute("PRAGMA busy_timeout=1000")
            # Where a reader holds on to an older state, it is done the next time.
            list(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
            connection.execute(f"PRAGMA busy_timeout={_PATIENCE}")
        except Exception as error:
            _shut(connection)
            if _code(error) not in (_BUSY, _LOCKED):
                self.fail(error)
        else:
            self._give(connection, inode)

    def damage(self, reason: str) -> None:
        """From now on nothing is held, until the file is made anew."""
        self.fault = reason
        with suppress(OSError):
            self._bad = _seen(os.stat(self.path))

    def close(self) -> None:
        """Close what is open."""
        self._closed = True
        self._drop_idle()

    def fail(self, error: Exception) -> NoReturn:
        """Raise a fault of SQLite or of the disk as an error of the vault, and any other as it is."""
        if isinstance(error, OSError):
            raise disk_fault(error, self.path) from error
        code, message = _code(error), f"{self.path}: {error}"
        if code in (_BUSY, _LOCKED):
            raise VaultBusy(message) from error
        if code in (_PERM, _READONLY):
            raise VaultReadOnly(message) from error
        if code == _FULL:
            raise VaultFull(message) from error
        if code == _CANTOPEN:
            raise VaultUnreadable(message) from error
        if code or isinstance(error, (Damaged, UnicodeError)):
            raise VaultError(message) from error
        raise error

    def _take(self) -> tuple[Any, tuple[int, int]] | None:
        """A connection of our own, with what it is open on; ``None``: there is no file, or a damaged one."""
        try:
            status = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise disk_fault(error, self.path) from error
        inode = (status.st_dev, status.st_ino)
        if _seen(status) == self._bad:
            return None
        with self._lock:
            if inode == self._inode and self._idle:
                return self._idle.pop(), inode
            stale, self._idle = (self._idle, []) if inode != self._inode else ([], self._idle)
            self._inode = inode
        for connection in stale:
            _shut(connection)
        connection = None
        try:
            connection = self._connect(self.path)
            for pragma in (f"busy_timeout={_PATIENCE}", "secure_delete=ON", "synchronous=NORMAL", "trusted_schema=OFF"):
                list(connection.execute(f"PRAGMA {pragma}"))
        except Exception as error:
            if connection is not None:
                _shut(connection)
            if self._is_damage(error):
                return None
            self.fail(error)
        return connection, inode

    def _give(self, connection: Any, inode: tuple[int, int]) -> None:
        with self._lock:
            if not self._closed and inode == self._inode:
                self._idle.append(connection)
                return
        _shut(connection)

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            _shut(connection)

    def _ready(self, connection: Any) -> bool:
        try:
            if self._fits(connection):
                return True
        except Exception as error:
            if not self._is_damage(error):
                _shut(connection)
                self.fail(error)
        _shut(connection)
        return False

    def _fits(self, connection: Any) -> bool:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            return False
        found = connection.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
        return found is not None and found[0] == self.model

    def _is_damage(self, error: Exception) -> bool:
        # What was text and no longer is: sqlite3 and apsw decode it.
        if not isinstance(error, (Damaged, UnicodeError)) and _code(error) not in _DAMAGE:
            return False
        self.damage(f"{self.path}: {error}")
        return True


def sqlite_connect(path: str) -> Any:
    """A connection of the standard library, in autocommit, that any one thread at a time may use."""
    import sqlite3

    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def disk_fault(error: OSError, path: str) -> VaultError:
    """What the operating system refused, as an error of the vault."""
    import errno

    message = f"{path}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return VaultFull(message)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return VaultReadOnly(message)
    return VaultError(message)


def _code(error: BaseException) -> int:
    """The primary result code of an error of sqlite3 or apsw; 0: it is none."""
    code = getattr(error, "sqlite_errorcode", getattr(error, "result", None))
    if code is None and type(error).__name__ == "OperationalError":
        return _ERROR  # sqlite3 itself, where what it reads is no text
    return code & 0xFF if isinstance(code, int) else 0


def _seen(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _shut(connection: Any) -> None:
    """Close; what was begun is rolled back."""
    with suppress(Exception):
        connection.close()
