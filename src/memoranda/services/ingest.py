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
from memoranda.services.document_making import ending_of, find_secret, head_of
from memoranda.services.document_sources import readable_name
from memoranda.services.source_lookup import Asked, Ingested, SourceLookup, Twin
from memoranda.storage.document_files import DocumentFiles, NewDocument, split_document
from memoranda.storage.document_ledger import DocumentLedger
from memoranda.storage.documents import Documents
from memoranda.storage.files import make_folder, read_bytes
from memoranda.storage.journal import new_change_id
from memoranda.storage.refusals import Refused, read_refusals, update_refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memoranda.core.documents import Converted
    from memoranda.services.document_sources import Source
    from memoranda.storage.store import Storage

    #: Converts documents, each its bytes and its file's name; what became of each, in their order.
    Convert = Callable[[Iterable[tuple[bytes, str]]], Iterator[Converted | NotConverted]]

__all__ = ["FINE", "Ingestion"]

#: Outcomes after which a document is there as its file has it.
FINE = frozenset({"stored", "unchanged", "replaced"})
_EDITED = "edited by hand; --force overwrites it"
#: So many documents, or bytes, are made durable together, or what came within so many seconds.
_TOGETHER, _BYTES_TOGETHER, _SECONDS = 256, 16 << 20, 0.5
#: So many results may wait for one before them that is being converted.
_MOST_WAITING = 4096


@dataclass(frozen=True, slots=True)
class _Ready:
    """A converted document that is to be put, and what is told then."""

    asked: Asked
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
        self._redacted, self._overwriting = redacted, overwriting
        self._files = DocumentFiles(storage.vault)
        self._folder = self._files.folder("docs", corpus)
        documents = Documents(storage.vault)
        self._ledger = DocumentLedger(storage.vault, corpus)
        with storage.locked():
            recover_documents(storage, corpus)
        self._ledger.note(documents.files(corpus))
        self._lookup = SourceLookup(self._ledger, documents.settings(corpus).max_size, replacing=replacing)
        self._order: deque[Asked | Twin | Ingested] = deque()
        #: What was refused in this run, by the digest of its bytes.
        self._refused: dict[str, Ingested] = {}
        #: The change that the journal has for this run.
        self.change = new_change_id()
        self._lines = 0

    def run(
        self,
        sources: Iterable[Source],
        progress: Callable[[int, int | None], None] | None = None,
        total: int | None = None,
    ) -> Iterator[Ingested]:
        """Take files in; what became of each, in their order. What is told as stored is durable.

        ``progress`` is told how many are done, of ``total`` where that is known.

        Raises:
            VaultFull, VaultReadOnly, VaultBusy: what was told before is kept.
        """
        waiting: list[_Ready | Twin | Ingested] = []
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
                progress(told, total)
            return done

        def is_due() -> bool:
            return len(waiting) >= _TOGETHER or size >= _BYTES_TOGETHER or time.monotonic() - since > _SECONDS

        left = iter(sources)

        try:
            for source in left:
                # What needs no converting is told at once; from the first on that does, as it gets ready.
                if (found := self._ordered(source)) is not None:
                    for made in self._convert(self._jobs(source, found, left)):
                        waiting += self._told_before()
                        asked = self._order.popleft()
                        assert isinstance(asked, Asked)
                        ready = self._prepared(asked, made)
                        waiting.append(ready)
                        if isinstance(ready, _Ready):
                            size += len(ready.new.markdown) + len(ready.new.original or b"")
                        waiting += self._told_before()
                        if is_due():
                            yield from flush()
                waiting += self._told_before()
                if is_due():
                    yield from flush()
            yield from flush()
        finally:
            if waiting:
                flush()  # interrupted: what was converted is worth keeping
            with self._ledger, self._storage.locked():
                if os.path.isdir(self._folder) or refused:
                    make_folder(self._folder)
                    update_refusals(self._folder, looked_at, refused)
                if self._lines:
                    self._ledger.note(Documents(self._storage.vault).files(self._corpus))
                self._ledger.drop_digests()
                self._ledger.save()

    def _told_before(self) -> list[Twin | Ingested]:
        """What is first in order and needs no converting."""
        told: list[Twin | Ingested] = []
        while self._order and not isinstance(first := self._order[0], Asked):
            self._order.popleft()
            told.append(first)
        return told

    def _ordered(self, source: Source) -> bytes | None:
        """Put in order what becomes of a file; its bytes, where it is to be converted first."""
        found = self._lookup.look_at(source)
        if isinstance(found, (Ingested, Twin)):
            self._order.append(found)
            return None
        self._order.append(found[0])
        return found[1]

    def _jobs(self, source: Source, data: bytes, left: Iterator[Source]) -> Iterator[tuple[bytes, str]]:
        """A file that is to be converted and those after it, until too much waits that needs no converting."""
        yield data, source.name or os.path.basename(source.path)
        for source in left:
            if (found := self._ordered(source)) is not None:
                yield found, source.name or os.path.basename(source.path)
            elif len(self._order) >= _MOST_WAITING:
                return

    def _prepared(self, asked: Asked, made: Converted | NotConverted) -> _Ready | Ingested:
        """A document as it is to be put, or why it is not."""
        ready = self._made(asked, made)
        if isinstance(ready, Ingested):
            self._told(asked, ready)
        return ready

    def _told(self, asked: Asked, told: Ingested) -> None:
        """A document's fate is known: its twins share it."""
        if told.outcome not in FINE:
            self._refused[asked.digest] = told
        self._lookup.told(asked, refused=told.outcome not in FINE)

    def _made(self, asked: Asked, made: Converted | NotConverted) -> _Ready | Ingested:
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

    def _keep(self, waiting: Sequence[_Ready | Twin | Ingested]) -> list[Ingested]:
        """Put what is ready; what is told of each. Durable when this returns."""
        ready = [one for one in waiting if isinstance(one, _Ready)]
        told = {one.new.id: one.told for one in ready}
        if ready:
            with self._storage.locked():
                there = self._files.present(self._corpus, told)
                wanted = [self._wanted(one, there.get(one.new.id), told) for one in ready]
                ready = [one for one in wanted if one is not None]
                for action in ("ingest", "replace"):
                    some = [one for one in ready if (one.asked.replaces is None) == (action == "ingest")]
                    if some:
                        self._put(action, some, told)
        fates: list[Ingested] = []
        for one in waiting:
            if isinstance(one, _Ready):
                fates.append(told[one.asked.document])
                self._told(one.asked, fates[-1])
            elif isinstance(one, Ingested):
                fates.append(one)
            elif (refused := self._refused.get(one.digest)) is not None:
                fates.append(replace(refused, path=one.path, notes=()))
            else:
                fates.append(Ingested(one.path, "unchanged", self._lookup.document_of(one.digest)))
        return fates

    def _wanted(self, one: _Ready, present: bytes | None, told: dict[str, Ingested]) -> _Ready | None:
        """A document as it may be put, with what is ``present`` there; ``None`` where that is not what it was."""
        known = one.asked.replaces
        if present is None and known is None:
            return one
        head, body = split_document("" if present is None else present.decode("utf-8", "replace"))
        if known is None:
            outcome = "unchanged" if head.hash == one.asked.digest else "changed"
            told[one.new.id] = replace(one.told, outcome=outcome, notes=())
        elif present is None or head.hash != known.hash:
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
