"""What is known of a file that is to be taken in: whether its document is there, and what it is to be called if not."""

from __future__ import annotations

import os
import time
from hashlib import sha256

from memoranda.core.records import dataclass
from memoranda.services.document_making import id_of, is_id_of
from memoranda.storage.document_ledger import DocumentOrigin
from memoranda.storage.files import Stamp, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.services.document_sources import Source
    from memoranda.storage.document_ledger import DocumentLedger

__all__ = ["Asked", "Ingested", "SourceLookup", "Twin"]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file.

    ``outcome``: ``stored``; ``unchanged``; ``replaced``; ``changed`` (the file is
    another than when it was taken in, and what is there stays); or one of
    :data:`memoranda.core.documents.Refusal`, and ``reason`` says why.
    """

    path: str
    outcome: str
    document: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A file that is being converted."""

    source: Source
    digest: str
    document: str
    stamp: Stamp | None
    replaces: DocumentOrigin | None = None


@dataclass(frozen=True, slots=True)
class Twin:
    """A file with the bytes of one that is being converted: it shares its fate."""

    path: str
    digest: str


class SourceLookup:
    """Looks files up in a corpus's ledger, and remembers which are being converted.

    ``most``: the bytes a document may have; ``replacing``: a file that is
    another than when it was taken in is to be converted again.
    """

    def __init__(self, ledger: DocumentLedger, most: int, *, replacing: bool) -> None:
        self._ledger, self._most, self._replacing = ledger, most, replacing
        #: The digests of what is being converted.
        self._converting: set[str] = set()

    def look_at(self, source: Source) -> Ingested | Twin | tuple[Asked, bytes]:
        """What is known of a file, or that and its bytes where it is to be converted."""
        if source.fault is not None:
            return Ingested(source.path, source.fault.kind, "", str(source.fault))
        # Of a document and a person's copy of it, the one that was taken in is meant.
        known = _last(self._ledger.of_source(source.id), lambda one: is_id_of(one.id, source.id))
        stamp, since = None, 0
        if source.data is not None:
            data = source.data
        else:
            try:
                status = os.stat(source.path)
                stamp, since = Stamp.of(status), time.time_ns()
                digest = self._ledger.digest_of(source.id, stamp)
                if digest and digest not in self._converting and (there := self._there(known, digest)):
                    return Ingested(source.path, "unchanged", there)
                if status.st_size > self._most:
                    return Ingested(source.path, "too_large", "", _too_large(status.st_size, self._most))
                data = read_bytes(source.path)
            except OSError as error:
                return Ingested(source.path, "unreadable", "", f"could not be read ({error.strerror})")
        if len(data) > self._most:
            return Ingested(source.path, "too_large", "", _too_large(len(data), self._most))
        digest = sha256(data).hexdigest()
        if stamp is not None:
            self._ledger.note_digest(source.id, stamp, digest, since)
        if known is not None and known.hash != digest and not self._replacing:
            return Ingested(source.path, "changed", known.id, "another than what was taken in; --replace takes it in")
        if (there := self._there(known, digest)) and digest in self._converting:
            return Twin(source.path, digest)
        if there:
            return Ingested(source.path, "unchanged", there)
        if known is not None:
            name = known.id
        else:
            name = id_of(source.name or os.path.basename(source.path), source.id, self._ledger)
        # The same bytes, or the same file, once more in this run are the same document; and what a
        # document was before is nowhere then: who has those bytes too is taken in.
        self._ledger.expect(DocumentOrigin(name, source.id, digest))
        self._converting.add(digest)
        return Asked(source, digest, name, stamp, known), data

    def _there(self, known: DocumentOrigin | None, digest: str) -> str:
        """The document that has these bytes: the ``known`` one of their source, or where there is none, any."""
        if known is not None:
            return known.id if known.hash == digest else ""
        return self.document_of(digest)

    def document_of(self, digest: str) -> str:
        """The document that was made of these bytes, if there is one."""
        made = [one for one in self._ledger.of_digest(digest) if one.source]
        one = _last(made, lambda one: is_id_of(one.id, one.source))
        return "" if one is None else one.id

    def told(self, asked: Asked, *, refused: bool) -> None:
        """It is taken in, or was refused: then what is known is what was known before."""
        self._converting.discard(asked.digest)
        if not refused:
            return
        if asked.replaces is None:
            self._ledger.expect_no(asked.document)
        else:
            self._ledger.expect(asked.replaces)


def _last(documents: list[DocumentOrigin], rank: Callable[[DocumentOrigin], bool]) -> DocumentOrigin | None:
    """The last of those that rank highest."""
    return max(reversed(documents), key=rank, default=None)


def _too_large(size: int, most: int) -> str:
    return f"{size / 1e6:,.1f} MB; {most / 1e6:,.0f} MB are allowed (max_size of the corpus)"
