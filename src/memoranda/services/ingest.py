"""Taking documents in: what is found is converted elsewhere, and kept as markdown with its original beside it.

A document is known by its source (the file's path, or its address) and its
bytes. What is there already is left alone, so that a run which was interrupted
is simply run again, and ends where an unbroken one would have.
"""

from __future__ import annotations

import os
import time
from collections import deque
from hashlib import sha256

from memoranda.core.documents import NotConverted
from memoranda.core.names import content_hash
from memoranda.core.records import dataclass, replace
from memoranda.services.document_log import announced, recover_documents
from memoranda.services.document_making import ending_of, find_secret, head_of, id_of, is_id_of
from memoranda.storage.document_files import DocumentFiles, DocumentHead, NewDocument, split_document
from memoranda.storage.document_ledger import DocumentLedger, KnownDocument
from memoranda.storage.documents import Documents
from memoranda.storage.files import Stamp, make_folder, read_bytes
from memoranda.storage.journal import new_change_id
from memoranda.storage.refusals import Refused, read_refusals, update_refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memoranda.core.documents import Converted
    from memoranda.storage.store import Storage

    #: Converts documents, each its bytes and its file's name; what became of each, in their order.
    Convert = Callable[[Iterable[tuple[bytes, str]]], Iterator[Converted | NotConverted]]

__all__ = ["FINE", "Ingested", "Ingestion", "Source", "readable_name"]

#: Outcomes after which a document is there as its file has it.
FINE = frozenset({"stored", "unchanged", "replaced"})
_EDITED = "edited by hand; --force overwrites it"
#: So many documents, or bytes, are made durable together, or what came within so many seconds.
_TOGETHER, _BYTES_TOGETHER, _SECONDS = 64, 16 << 20, 0.5


@dataclass(frozen=True, slots=True)
class Source:
    """Something to take in: a file, or (``data``) what was read from elsewhere already.

    ``id`` is what its document is known by: its real path, or its address.
    ``fault`` says why it cannot be taken in, where that is known before.
    """

    path: str
    id: str
    data: bytes | None = None
    name: str = ""
    fault: NotConverted | None = None

    @classmethod
    def file(cls, path: str) -> Source:
        """A file, which may be a link."""
        return cls(path, readable_name(os.path.realpath(path)))


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
class _Asked:
    """A file that is being converted."""

    source: Source
    digest: str
    document: str
    stamp: Stamp | None
    replaces: KnownDocument | None = None


@dataclass(frozen=True, slots=True)
class _Twin:
    """A file with the bytes of one that is being converted: it shares its fate."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class _Ready:
    """A converted document that is to be put, and what is told then."""

    asked: _Asked
    new: NewDocument
    told: Ingested


class Ingestion:
    """One run over one corpus: one change in the journal, however many lines that takes.

    ``redacted``: a document with a secret is kept without it and without its
    original, else it is refused. ``replacing``: a file that is another than when
    it was taken in takes the place of what is there, which goes into history;
    what a person has edited stays, unless ``overwriting``.
    """

    def __init__(
        self,
        storage: Storage,
        corpus: str,
        convert: Convert,
        *,
        redacted: bool = False,
        replacing: bool = False,
        overwriting: bool = False,
    ) -> None:
        """Raises BadName, UsageError: there can be no such corpus; VaultReadOnly, VaultBusy."""
        self._storage, self._corpus, self._convert = storage, corpus, convert
        self._redacted, self._replacing, self._overwriting = redacted, replacing, overwriting
        self._files = DocumentFiles(storage.vault)
        self._folder = self._files.folder("docs", corpus)
        documents = Documents(storage.vault)
        self._most = documents.settings(corpus).max_size
        self._ledger = DocumentLedger(storage.vault, corpus)
        with storage.locked():
            recover_documents(storage, corpus)
        known = self._ledger.documents(documents.files(corpus))
        # Of a document and a person's copy of it, the one that was taken in is meant.
        known.sort(key=lambda one: is_id_of(one.id, one.head.source))
        self._by_source = {one.head.source: one for one in known if one.head.source}
        self._by_hash = {one.head.hash: one for one in known if one.head.hash and one.head.source}
        self._ids = {one.id for one in known}
        self._order: deque[_Asked | _Twin | Ingested] = deque()
        self._converting: set[str] = set()
        #: What was refused in this run, by the digest of its bytes.
        self._refused: dict[str, Ingested] = {}
        #: The change that the journal has for this run.
        self.change = new_change_id()
        self._lines = 0

    def run(
        self, sources: Sequence[Source], progress: Callable[[int, int | None], None] | None = None
    ) -> Iterator[Ingested]:
        """Take files in; what became of each, in their order. What is told as stored is durable.

        Raises:
            VaultFull, VaultReadOnly, VaultBusy: what was told before is kept.
        """
        waiting: list[_Ready | Ingested] = []
        refused: list[Refused] = []
        told, size, since = 0, 0, time.monotonic()
        looked_at: set[str] = set()
        skipped_before = {one.path for one in read_refusals(self._folder)}

        def flush() -> list[Ingested]:
            nonlocal waiting, size, since, told
            some, waiting, size, since = waiting, [], 0, time.monotonic()
            done = self._keep(some)
            for one in done:
                fine = one.outcome in FINE
                if fine and not skipped_before:
                    continue
                where = one.path if "://" in one.path else readable_name(os.path.abspath(one.path))
                if where in skipped_before:
                    looked_at.add(where)
                if not fine:
                    refused.append(Refused(where, one.outcome, one.reason, one.document))
            told += len(done)
            if progress is not None:
                progress(told, len(sources))
            return done

        try:
            for made in self._convert(self._jobs(sources)):
                waiting += self._told_before()
                asked = self._order.popleft()
                assert isinstance(asked, _Asked)
                ready = self._prepared(asked, made)
                waiting.append(ready)
                size += len(ready.new.markdown) + len(ready.new.original or b"") if isinstance(ready, _Ready) else 0
                waiting += self._told_before()
                if len(waiting) >= _TOGETHER or size >= _BYTES_TOGETHER or time.monotonic() - since > _SECONDS:
                    yield from flush()
            waiting += self._told_before()
            yield from flush()
        finally:
            if waiting:
                flush()  # interrupted: what was converted is worth keeping
            with self._storage.locked():
                if os.path.isdir(self._folder) or refused:
                    make_folder(self._folder)
                    update_refusals(self._folder, looked_at, refused)
                # What somebody has removed meanwhile is not to be known any more.
                left = self._ledger.note(Documents(self._storage.vault).files(self._corpus))
                self._ledger.keep_digests({digest for digest, one in self._by_hash.items() if one.id in left})
                self._ledger.save()

    def _told_before(self) -> list[Ingested]:
        """What is first in order and needs no converting."""
        told: list[Ingested] = []
        while self._order and not isinstance(first := self._order[0], _Asked):
            self._order.popleft()
            if isinstance(first, _Twin):
                if (refused := self._refused.get(first.digest)) is not None:
                    first = replace(refused, path=first.path, notes=())
                else:
                    first = Ingested(first.path, "unchanged", self._by_hash[first.digest].id)
            told.append(first)
        return told

    def _jobs(self, sources: Iterable[Source]) -> Iterator[tuple[bytes, str]]:
        for source in sources:
            found = self._look_at(source)
            if isinstance(found, (Ingested, _Twin)):
                self._order.append(found)
                continue
            asked, data = found
            self._order.append(asked)
            yield data, source.name or os.path.basename(source.path)

    def _look_at(self, source: Source) -> Ingested | _Twin | tuple[_Asked, bytes]:
        """What is known of a file, or that and its bytes where it is to be converted."""
        if source.fault is not None:
            return Ingested(source.path, source.fault.kind, "", str(source.fault))
        known = self._by_source.get(source.id)
        stamp, since = None, 0
        if source.data is not None:
            data = source.data
        else:
            try:
                status = os.stat(source.path)
                stamp, since = Stamp.of(status), time.time_ns()
                digest = self._ledger.digest_of(source.id, stamp)
                there = self._by_hash.get(digest) if known is None else known if known.head.hash == digest else None
                if digest and there is not None and digest not in self._converting:
                    return Ingested(source.path, "unchanged", there.id)
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
        if known is not None and known.head.hash != digest and not self._replacing:
            return Ingested(source.path, "changed", known.id, "another than what was taken in; --replace takes it in")
        there = known if known is not None and known.head.hash == digest else None
        if there is None and known is None:
            there = self._by_hash.get(digest)
        if there is not None and digest in self._converting:
            return _Twin(source.path, digest)
        if there is not None:
            return Ingested(source.path, "unchanged", there.id)
        if known is not None:
            name = known.id
            # Its bytes of before are nowhere then: who has them too is taken in.
            if self._by_hash.get(known.head.hash) is known:
                del self._by_hash[known.head.hash]
        else:
            name = id_of(source.name or os.path.basename(source.path), source.id, self._ids)
            self._ids.add(name)
            # The same bytes, or the same file, once more in this run are the same document.
            mine = KnownDocument(name, DocumentHead(source=source.id, hash=digest))
            self._by_hash[digest] = self._by_source[source.id] = mine
        self._converting.add(digest)
        return _Asked(source, digest, name, stamp, known), data

    def _prepared(self, asked: _Asked, made: Converted | NotConverted) -> _Ready | Ingested:
        """A document as it is to be put, or why it is not."""
        ready = self._made(asked, made)
        if isinstance(ready, Ingested):
            self._refused[asked.digest] = ready
            if asked.replaces is None:
                self._by_hash.pop(asked.digest, None)
                self._by_source.pop(asked.source.id, None)
        return ready

    def _made(self, asked: _Asked, made: Converted | NotConverted) -> _Ready | Ingested:
        path = asked.source.path
        if isinstance(made, NotConverted):
            return Ingested(path, made.kind, "" if asked.replaces is None else asked.replaces.id, str(made))
        original = asked.source.data
        if original is None:
            try:
                original = read_bytes(path)
            except OSError as error:
                return Ingested(path, "unreadable", "", f"could not be read ({error.strerror})")
            if sha256(original).hexdigest() != asked.digest:
                return Ingested(path, "changed", "", "it changed while it was converted; take it in again")
        markdown, secret = find_secret(made, asked.source.id, original)
        if secret and not self._redacted:
            return Ingested(path, "secret", "", f"it holds a secret {secret}")
        head = head_of(made, asked.source.id, asked.digest, self._storage)
        ending = ending_of(asked.source.name or path)
        new = NewDocument(asked.document, head.document(markdown.strip()), None if secret else original, ending)
        outcome = "stored" if asked.replaces is None else "replaced"
        return _Ready(asked, new, Ingested(path, outcome, asked.document, "", made.notes))

    def _keep(self, waiting: Sequence[_Ready | Ingested]) -> list[Ingested]:
        """Put what is ready; what is told of each. Durable when this returns."""
        ready = [one for one in waiting if isinstance(one, _Ready)]
        told = {one.new.id: one.told for one in ready}
        if ready:
            with self._storage.locked():
                ready = [wanted for one in ready if (wanted := self._wanted(one, told)) is not None]
                for action in ("ingest", "replace"):
                    some = [one for one in ready if (one.asked.replaces is None) == (action == "ingest")]
                    if some:
                        self._put(action, some, told)
        return [told[one.asked.document] if isinstance(one, _Ready) else one for one in waiting]

    def _wanted(self, one: _Ready, told: dict[str, Ingested]) -> _Ready | None:
        """A document as it may be put, with what it replaces; ``None`` where that is not what it was."""
        path, known = self._files.markdown(self._corpus, one.new.id), one.asked.replaces
        present = read_bytes(path) if os.path.isfile(path) else None
        if present is None and known is None:
            return one
        head, body = split_document("" if present is None else present.decode("utf-8", "replace"))
        if known is None:
            outcome = "unchanged" if head.hash == one.asked.digest else "changed"
            told[one.new.id] = replace(one.told, outcome=outcome, notes=())
        elif present is None or head.hash != known.head.hash:
            told[one.new.id] = replace(one.told, outcome="changed", reason="another run changed it; take it in again")
        elif content_hash(body) != head.converted_hash and not self._overwriting:
            told[one.new.id] = replace(one.told, outcome="edited", reason=_EDITED)
        else:
            return replace(one, new=replace(one.new, expected=present))
        return None

    def _put(self, action: str, ready: Sequence[_Ready], told: dict[str, Ingested]) -> None:
        self._lines += 1
        id = f"{self.change}.{self._lines}"
        digests = {one.new.id: content_hash(one.new.markdown.decode("utf-8")) for one in ready}
        with announced(self._storage, id, action, self._corpus, digests) as logged:
            if action == "replace":
                self._files.set_aside(self.change, self._corpus, digests)
            for document in self._files.put(self._corpus, [one.new for one in ready]):
                del logged[document]
                told[document] = replace(told[document], outcome="edited", reason=_EDITED)


def readable_name(path: str) -> str:
    """A path as text: bytes in it that are none are shown by their numbers."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode("utf-8")


def _too_large(size: int, most: int) -> str:
    return f"{size / 1e6:,.1f} MB; {most / 1e6:,.0f} MB are allowed (max_size of the corpus)"
