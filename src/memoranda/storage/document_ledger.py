"""What is known of a corpus's documents and of the files that they came from, so that nothing is read twice.

One JSON file a corpus under ``.cache/documents``: derived, and thrown away where
anything is wrong with it. What it says of a file counts as long as the file's
stamp is the same.
"""

from __future__ import annotations

import json
import os
import time

from memoranda.core.errors import OutsideVault
from memoranda.core.records import dataclass
from memoranda.storage.baseline_files import checksum, replace_unsynced
from memoranda.storage.document_files import DocumentHead, read_head
from memoranda.storage.files import Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from memoranda.storage.documents import DocumentFile
    from memoranda.storage.vault import VaultFolder

__all__ = ["DocumentLedger", "KnownDocument"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document of a corpus, and what its front matter says."""

    id: str
    head: DocumentHead


class DocumentLedger:
    """The ledger of one corpus. ``save`` it after use; a lost one costs time and nothing else."""

    def __init__(self, vault: VaultFolder, corpus: str) -> None:
        self._vault = vault
        self._path = vault.path(f".cache/documents/{corpus}.json")
        self._folder = os.path.dirname(self._path)
        #: A document's stamp and front matter, a source's stamp and digest: packed, since there may be very many.
        self._documents: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._changed = False
        try:
            vault.check_inside(self._folder, ".cache/documents")
            with open(self._path, "rb") as stream:
                check, _, data = stream.read().partition(b"\n")
            found: Any = json.loads(data) if check == checksum(data) else {}
            if found.get("version") == _VERSION:
                self._documents, self._sources = (_texts(found[name]) for name in ("documents", "sources"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OutsideVault):
            pass

    def documents(self, files: Iterable[DocumentFile]) -> list[KnownDocument]:
        """The documents in these files; only what is new or changed is read."""
        return list(self._read(files))

    def note(self, files: Iterable[DocumentFile]) -> set[str]:
        """Know these documents, and no others; their names."""
        return {one.id for one in self._read(files)}

    def _read(self, files: Iterable[DocumentFile]) -> Iterator[KnownDocument]:
        now, known = time.time_ns(), self._documents
        held: dict[str, str] = {}
        for file in files:
            entry = known.get(file.document, "")
            head = _unpacked(entry, file.stamp)
            if head is None:
                head = read_head(file.path)
                self._changed = True
                fields = [getattr(head, name) for name in DocumentHead.__slots__]
                entry = f"{_packed(file.stamp)} {json.dumps(fields, ensure_ascii=False)}"
            if file.stamp.is_settled(now):
                held[file.document] = entry
            yield KnownDocument(file.document, head)
        self._changed = self._changed or held.keys() != known.keys()
        self._documents = held

    def digest_of(self, source: str, stamp: Stamp) -> str:
        """The SHA-256 of a file that has this stamp, where that is known; else nothing."""
        known, _, digest = self._sources.get(source, "").rpartition(" ")
        return digest if known == _packed(stamp) else ""

    def note_digest(self, source: str, stamp: Stamp, digest: str, since: int) -> None:
        """Remember a file's digest, unless it may have been changing when it was looked at (in nanoseconds)."""
        if stamp.is_settled(since):
            self._sources[source] = f"{_packed(stamp)} {digest}"
            self._changed = True

    def keep_digests(self, digests: Collection[str]) -> None:
        """Know nothing more of files but those with these digests."""
        for source in [one for one, known in self._sources.items() if known.rpartition(" ")[2] not in digests]:
            del self._sources[source]
            self._changed = True

    def save(self) -> None:
        """Write it down, where anything is new."""
        if not self._changed:
            return
        data = {"version": _VERSION, "documents": self._documents, "sources": self._sources}
        try:
            self._vault.check_inside(self._folder, ".cache/documents")
            os.makedirs(self._folder, 0o700, exist_ok=True)
            packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
            replace_unsynced(self._path, checksum(packed) + b"\n" + packed)
            self._changed = False
        except (OSError, UnicodeError, OutsideVault):
            pass  # the next run reads more


def _packed(stamp: Stamp) -> str:
    return " ".join(map(str, stamp))


def _unpacked(entry: str, stamp: Stamp) -> DocumentHead | None:
    """The front matter of an entry that was made at this stamp."""
    if not entry.startswith(f"{_packed(stamp)} ["):
        return None
    try:
        return DocumentHead(*map(str, json.loads(entry[entry.index("[") :])))
    except (ValueError, TypeError):
        return None


def _texts(table: dict[str, str]) -> dict[str, str]:
    """The same table, if it holds texts alone. Raises TypeError, AttributeError."""
    if not all(isinstance(value, str) for value in table.values()):
        raise TypeError("no ledger")
    return dict(table)
