"""What is known of a corpus's documents and of the files that they came from, so that nothing is read twice.

One database a corpus, ``.cache/documents/<corpus>.db`` with a checksum behind
it: derived, and thrown away where anything is wrong with it. What it says of a
file counts as long as the file's stamp is the same. Each run has a copy of its
own, on disk, so that a million documents take as little memory as ten.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from contextlib import suppress

from memoranda.core.errors import OutsideVault, VaultFull
from memoranda.core.records import dataclass
from memoranda.storage.baseline_files import replace_unsynced
from memoranda.storage.document_files import DocumentHead, read_head
from memoranda.storage.files import TEMPORARY_PREFIX, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Any, BinaryIO

    from memoranda.storage.documents import DocumentFile
    from memoranda.storage.vault import VaultFolder

__all__ = ["DocumentLedger", "DocumentOrigin", "KnownDocument"]

_VERSION = 2
_PIECE = 1 << 20
_CHECK_BYTES = 4
# A run's copy is worth neither a sync nor a way back, and its pages are not to be held.
_SETTINGS = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024;"
# Texts are kept as bytes, since a person's front matter may hold halves of characters, which no database takes.
_TABLES = f"""
CREATE TABLE documents (
    id BLOB PRIMARY KEY, stamp TEXT, source BLOB, hash BLOB, head BLOB, seen INTEGER
) WITHOUT ROWID;
CREATE INDEX by_source ON documents (source);
CREATE INDEX by_hash ON documents (hash);
CREATE TABLE sources (source BLOB PRIMARY KEY, stamp TEXT, digest BLOB) WITHOUT ROWID;
PRAGMA user_version = {_VERSION};
"""


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document of a corpus, and what its front matter says."""

    id: str
    head: DocumentHead


@dataclass(frozen=True, slots=True)
class DocumentOrigin:
    """What a document says it was made of: a source, and bytes with this SHA-256."""

    id: str
    source: str
    hash: str


class DocumentLedger:
    """The ledger of one corpus. ``save`` it after use; a lost one costs time and nothing else.

    Whatever is asked of it raises VaultFull where the disk has no room for the run's copy.
    """

    def __init__(self, vault: VaultFolder, corpus: str) -> None:
        self._vault = vault
        self._path = vault.path(f".cache/documents/{corpus}.db")
        self._folder = os.path.dirname(self._path)
        self._seen = 0
        self._changed = False
        self._copy: BinaryIO | None = None
        self._rows = self._opened()

    def __enter__(self) -> DocumentLedger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the run's copy go; what was not saved is not known next time."""
        self._rows.close()
        if self._copy is not None:
            self._copy.close()

    def __contains__(self, document: object) -> bool:
        return bool(self._found("SELECT 1 FROM documents WHERE id = ?", _blob(str(document))))

    def documents(self, files: Iterable[DocumentFile]) -> Iterator[KnownDocument]:
        """The documents in these files, which from now on are all that are known; only what is new or changed is read.

        Nothing is forgotten of the others before the last was taken.
        """
        for file in self._looked_at(files):
            for (head,) in self._found("SELECT head FROM documents WHERE id = ?", _blob(file.document)):
                yield KnownDocument(file.document, DocumentHead(*json.loads(head)))

    def note(self, files: Iterable[DocumentFile]) -> None:
        """Know these documents, and no others."""
        for _ in self._looked_at(files):
            pass

    def _looked_at(self, files: Iterable[DocumentFile]) -> Iterator[DocumentFile]:
        now = time.time_ns()
        self._seen += 1
        known = "UPDATE documents SET seen = ? WHERE id = ? AND stamp = ?"
        for file in files:
            stamp = _packed(file.stamp)
            if not self._do(known, self._seen, _blob(file.document), stamp):
                self._put(file.document, stamp if file.stamp.is_settled(now) else "", read_head(file.path))
            yield file
        self._changed = self._do("DELETE FROM documents WHERE seen <> ?", self._seen) > 0 or self._changed

    def of_source(self, source: str) -> list[DocumentOrigin]:
        """The documents that say they were made of this source, by id."""
        return self._origins("SELECT id, source, hash FROM documents WHERE source = ? ORDER BY id", source)

    def of_digest(self, digest: str) -> list[DocumentOrigin]:
        """The documents that say they were made of bytes with this SHA-256, by id."""
        return self._origins("SELECT id, source, hash FROM documents WHERE hash = ? ORDER BY id", digest)

    def expect(self, document: DocumentOrigin) -> None:
        """Take it that there will be such a document, until files are looked at again."""
        self._put(document.id, "", DocumentHead(source=document.source, hash=document.hash))

    def expect_no(self, document: str) -> None:
        """Take it that there will be none, until files are looked at again."""
        self._do("DELETE FROM documents WHERE id = ?", _blob(document))

    def digest_of(self, source: str, stamp: Stamp) -> str:
        """The SHA-256 of a file that has this stamp, where that is known; else nothing."""
        query = "SELECT digest FROM sources WHERE source = ? AND stamp = ?"
        return "".join(_text(digest) for (digest,) in self._found(query, _blob(source), _packed(stamp)))

    def note_digest(self, source: str, stamp: Stamp, digest: str, since: int) -> None:
        """Remember a file's digest, unless it may have been changing when it was looked at (in nanoseconds)."""
        if stamp.is_settled(since):
            self._do("INSERT OR REPLACE INTO sources VALUES (?, ?, ?)", _blob(source), _packed(stamp), _blob(digest))
            self._changed = True

    def drop_digests(self) -> None:
        """Know nothing more of files that are no document's source now."""
        gone = self._do("DELETE FROM sources WHERE digest NOT IN (SELECT hash FROM documents)")
        self._changed = self._changed or gone > 0

    def save(self) -> None:
        """Write it down, where anything is new."""
        if not self._changed or self._copy is None:
            return
        self._do("DELETE FROM documents WHERE stamp = ''")
        self._do("COMMIT")
        with suppress(OSError, OutsideVault):  # the next run reads more
            self._vault.check_inside(self._folder, ".cache/documents")
            self._copy.seek(0)
            replace_unsynced(self._path, _checked(self._copy))
            self._changed = False
        self._do("BEGIN")

    def _put(self, document: str, stamp: str, head: DocumentHead) -> None:
        fields = json.dumps([getattr(head, name) for name in DocumentHead.__slots__])
        row = (_blob(document), stamp, _blob(head.source), _blob(head.hash), fields.encode("ascii"), self._seen)
        self._do("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?)", *row)
        self._changed = self._changed or bool(stamp)

    def _origins(self, query: str, given: str) -> list[DocumentOrigin]:
        return [DocumentOrigin(*map(_text, row)) for row in self._found(query, _blob(given))]

    def _do(self, statement: str, *given: bytes | str | int) -> int:
        """How many rows a statement changed."""
        try:
            return self._rows.execute(statement, given).rowcount
        except sqlite3.Error as error:
            raise _no_room(error) from error

    def _found(self, query: str, *given: bytes | str | int) -> list[Any]:
        try:
            return self._rows.execute(query, given).fetchall()
        except sqlite3.Error as error:
            raise _no_room(error) from error

    def _opened(self) -> sqlite3.Connection:
        """This run's copy of what was written down, or an empty one."""
        try:
            self._vault.check_inside(self._folder, ".cache/documents")
            os.makedirs(self._folder, 0o700, exist_ok=True)
            path = os.path.join(self._folder, f"{TEMPORARY_PREFIX}{os.getpid()}-{time.time_ns()}.tmp")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            copy = os.fdopen(os.open(path, flags, 0o600), "r+b")
        except (OSError, OutsideVault):  # read-only, say; the system may have a place for it
            return self._connected("")
        try:
            self._copy_to(copy)
            rows = self._connected(path)
            self._copy = copy
            return rows
        except (OSError, VaultFull):
            copy.close()
            with suppress(OSError):
                os.unlink(self._path)
            return self._connected("")
        finally:
            with suppress(OSError):  # Windows alone holds it until it is closed
                os.unlink(path)

    def _copy_to(self, copy: BinaryIO) -> None:
        """Copy what was written down, if it is whole. Raises OSError."""
        try:
            with open(self._path, "rb") as stream:
                left, check = os.fstat(stream.fileno()).st_size - _CHECK_BYTES, 0
                while left > 0 and (piece := stream.read(min(left, _PIECE))):
                    check = zlib.crc32(piece, check)
                    copy.write(piece)
                    left -= len(piece)
                whole = stream.read(_CHECK_BYTES + 1) == check.to_bytes(_CHECK_BYTES, "big")
        except FileNotFoundError:
            return
        if not whole:
            copy.truncate(0)
            self._changed = True
        copy.flush()

    def _connected(self, path: str) -> sqlite3.Connection:
        rows = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            rows.executescript(_SETTINGS)
            (version,) = rows.execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                if version:
                    rows.executescript("DROP TABLE IF EXISTS documents; DROP TABLE IF EXISTS sources;")
                rows.executescript(_TABLES)
            (self._seen,) = rows.execute("SELECT coalesce(max(seen), 0) FROM documents").fetchone()
        except sqlite3.Error as error:
            rows.close()
            raise _no_room(error) from error
        rows.execute("BEGIN")  # all of a run is one transaction, since each costs a write
        return rows


def _no_room(error: sqlite3.Error) -> VaultFull:
    return VaultFull(f"what is known of the documents could not be kept at hand for this run ({error})")


def _checked(stream: BinaryIO) -> Iterator[bytes]:
    """A file in pieces, and its checksum behind it."""
    check = 0
    while piece := stream.read(_PIECE):
        check = zlib.crc32(piece, check)
        yield piece
    yield check.to_bytes(_CHECK_BYTES, "big")


def _blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogatepass")


def _packed(stamp: Stamp) -> str:
    return " ".join(map(str, stamp))
