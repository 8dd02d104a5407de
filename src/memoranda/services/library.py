"""The corpora of documents of one vault: made, filled, listed, converted again, and emptied."""

from __future__ import annotations

import json
import os
from collections import deque
from hashlib import sha256

from memoranda.core.documents import NotConverted
from memoranda.core.errors import Conflict, NotFound, UsageError
from memoranda.core.names import check_identifier, content_hash, name_key
from memoranda.core.records import dataclass
from memoranda.services.document_log import announced, log_documents, recover_documents
from memoranda.services.document_making import head_of
from memoranda.services.document_sources import Source
from memoranda.services.ingest import Ingestion
from memoranda.services.redaction import redact
from memoranda.services.source_lookup import Ingested
from memoranda.storage.document_files import DocumentFiles, NewDocument, split_document
from memoranda.storage.document_ledger import DocumentLedger, KnownDocument
from memoranda.storage.documents import Documents, check_settings
from memoranda.storage.files import make_folder, read_bytes, replace_file, writing
from memoranda.storage.journal import change_of, new_change_id
from memoranda.storage.refusals import Refused, read_refusals, update_refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memoranda.core.documents import Converted
    from memoranda.services.ingest import Convert
    from memoranda.storage.documents import CorpusSettings
    from memoranda.storage.store import Storage

__all__ = ["CorpusStatus", "Library"]


@dataclass(frozen=True, slots=True)
class CorpusStatus:
    """One corpus: its documents, the files that were skipped and why, and what a person changed or took away."""

    corpus: str
    settings: CorpusSettings
    documents: tuple[KnownDocument, ...]
    skipped: tuple[Refused, ...]
    edited: tuple[str, ...]
    without_original: tuple[str, ...]


class Library:
    """The corpora of one vault, for who puts documents in and takes them out; ``changed`` is called afterwards."""

    def __init__(
        self,
        storage: Storage,
        changed: Callable[[], object] = lambda: None,
        wipe: Callable[[str, list[str]], object] = lambda corpus, parents: None,
    ) -> None:
        """``wipe`` removes what is derived of documents of a corpus, which are named ``kb/<corpus>/<document>``."""
        self._storage, self._changed, self._wipe = storage, changed, wipe
        self._files = DocumentFiles(storage.vault)
        self._documents = Documents(storage.vault)

    def create(self, corpus: str, settings: dict[str, object]) -> bool:
        """Make a corpus with these settings (:class:`~memoranda.storage.documents.CorpusSettings`); False: it is there.

        Raises:
            BadName, UsageError: it cannot be one's name, or a setting means nothing.
            VaultFull, VaultReadOnly: it was not made.
        """
        folder = self._files.folder("docs", corpus)
        if os.path.exists(os.path.join(folder, "corpus.json")):
            return False
        self.configure(corpus, settings)
        return True

    def configure(self, corpus: str, settings: dict[str, object]) -> None:
        """Change settings of a corpus, made if there is none; ``None`` takes one back to its default.

        Raises:
            BadName, UsageError: it cannot be one's name, or a setting means nothing.
            VaultFull, VaultReadOnly: nothing was changed.
        """
        folder = self._files.folder("docs", corpus)
        self._check_case(corpus)
        path = os.path.join(folder, "corpus.json")
        self._storage.vault.check_inside(path, f"docs/{corpus}/corpus.json")
        with self._storage.locked(), writing(folder):
            table: dict[str, object] = {}
            if os.path.exists(path):
                try:
                    found = json.loads(read_bytes(path))
                except ValueError as error:
                    raise Conflict(f"docs/{corpus}/corpus.json cannot be read ({error}); mend it first") from error
                table = found if isinstance(found, dict) else {}
            table = {key: value for key, value in {**table, **settings}.items() if value is not None}
            if faults := check_settings(table).faults:
                raise UsageError("; ".join(faults))
            make_folder(folder)
            replace_file(path, (json.dumps(table, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))
        self._changed()

    def corpora(self) -> list[str]:
        """The names of all corpora. Raises VaultUnreadable."""
        return self._documents.corpora()

    def settings(self, corpus: str) -> CorpusSettings:
        """What a corpus is set to. Never raises."""
        return self._documents.settings(corpus)

    def known(self, corpus: str) -> list[KnownDocument]:
        """The documents of a corpus, by id. Raises VaultUnreadable."""
        with DocumentLedger(self._storage.vault, corpus) as ledger:
            known = list(ledger.documents(self._documents.files(corpus)))
            ledger.save()
        return known

    def text(self, corpus: str, document: str) -> str:
        """A document's file, with its front matter. Raises NotFound."""
        return self._files.read(corpus, document)

    def status(self, corpus: str) -> CorpusStatus:
        """One corpus as it is now; every document is read. Raises NotFound, VaultUnreadable."""
        if corpus not in self.corpora():
            raise NotFound(f"there is no corpus {corpus}")
        known = self.known(corpus)
        edited, without = [], []
        originals = self._originals(corpus)
        for one in known:
            if one.head.converted_hash:
                _, body = split_document(self._files.read(corpus, one.id))
                if content_hash(body) != one.head.converted_hash:
                    edited.append(one.id)
            if one.head.hash and one.id not in originals:
                without.append(one.id)
        skipped = read_refusals(self._files.folder("docs", corpus))
        return CorpusStatus(corpus, self.settings(corpus), tuple(known), tuple(skipped), tuple(edited), tuple(without))

    def add(
        self,
        corpus: str,
        sources: Iterable[str | Source],
        convert: Convert,
        *,
        redacted: bool = False,
        replacing: bool = False,
        overwriting: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
        total: int | None = None,
    ) -> Iterator[Ingested]:
        """Take files in; see :class:`memoranda.services.ingest.Ingestion`.

        Raises:
            BadName, UsageError: there can be no such corpus.
            VaultFull, VaultReadOnly, VaultBusy: what was told before is kept.
        """
        self._check_case(corpus)
        run = Ingestion(self._storage, corpus, convert, redacted=redacted, replacing=replacing, overwriting=overwriting)
        wanted = (Source.file(one) if isinstance(one, str) else one for one in sources)
        try:
            yield from run.run(wanted, progress, total)
        finally:
            self._changed()

    def reconvert(
        self, corpus: str, documents: Sequence[str], convert: Convert, *, overwriting: bool = False
    ) -> Iterator[Ingested]:
        """Make documents anew from their originals (none named: all); what was there goes into history.

        ``edited`` is the outcome of one that a person has edited, which stays as
        it is unless ``overwriting``; ``unchanged`` of one that comes out the same.

        Raises:
            NotFound: there is no such document.
            VaultFull, VaultReadOnly, VaultBusy: what was told before is kept.
        """
        known = {one.id: one for one in self.known(corpus)}
        for document in documents:
            if document not in known:
                raise NotFound(f"there is no document {document} in {corpus}")
        order: deque[Ingested | tuple[KnownDocument, str, str, bytes]] = deque()

        def jobs() -> Iterator[tuple[bytes, str]]:
            for document in documents or sorted(known):
                found = self._convertible(corpus, known[document], overwriting)
                order.append(found)
                if not isinstance(found, Ingested):
                    # The name that it had, not the one that it has here, may say what it is.
                    yield found[3], os.path.basename(found[0].head.source) or os.path.basename(found[2])

        change, lines = new_change_id(), 0
        with self._storage.locked():
            recover_documents(self._storage, corpus)
        for made in convert(jobs()):
            while isinstance(first := order.popleft(), Ingested):
                yield first
            told = self._reconverted(corpus, *first, made, f"{change}.{lines + 1}")
            lines += told.outcome == "converted"
            yield told
        yield from (one for one in order if isinstance(one, Ingested))
        self._changed()

    def _convertible(
        self, corpus: str, one: KnownDocument, overwriting: bool
    ) -> Ingested | tuple[KnownDocument, str, str, bytes]:
        """A document's text, the path of its original and that's bytes; or why it is not to be converted."""
        original = self._files.original(corpus, one.id)
        if not one.head.hash:
            return Ingested(one.id, "own", one.id, "a person wrote it; there is nothing to convert")
        if original is None:
            return Ingested(one.id, "no_original", one.id, "its original is not in raw/")
        text = self._files.read(corpus, one.id)
        if not overwriting and content_hash(split_document(text)[1]) != one.head.converted_hash:
            return Ingested(one.id, "edited", one.id, "edited by hand; --force overwrites it")
        return one, text, original, read_bytes(original)

    def _reconverted(
        self, corpus: str, one: KnownDocument, text: str, original: str, data: bytes, made: Converted | NotConverted,
        id: str,
    ) -> Ingested:  # fmt: skip
        """Put a document that was converted again; what became of it."""
        if isinstance(made, NotConverted):
            return Ingested(one.id, made.kind, one.id, str(made))
        body = redact(made.markdown)[0].strip()
        if body == split_document(text)[1]:
            return Ingested(one.id, "unchanged", one.id)
        new = head_of(made, one.head.source, sha256(data).hexdigest(), self._storage).document(body)
        with self._storage.locked():
            present = read_bytes(self._files.markdown(corpus, one.id))
            if present.decode("utf-8", "replace") != text:
                return Ingested(one.id, "edited", one.id, "it changed meanwhile; try again")
            document = NewDocument(one.id, new, data, os.path.splitext(original)[1], present)
            with announced(
                self._storage, id, "reconvert", corpus, {one.id: content_hash(new.decode("utf-8"))}
            ) as logged:
                self._files.set_aside(change_of(id), corpus, [one.id])
                if self._files.put(corpus, [document]):
                    logged.clear()
                    return Ingested(one.id, "edited", one.id, "it changed meanwhile; try again")
        return Ingested(one.id, "converted", one.id, "", made.notes)

    def remove(self, corpus: str, documents: Sequence[str]) -> str:
        """Remove documents for good: originals, earlier versions and what is derived go too; the change's id.

        Raises:
            NotFound: there is no such document; nothing was removed.
            VaultReadOnly, VaultBusy.
        """
        documents = [check_identifier(document, "a document") for document in documents]
        left = self._files.documents_left(corpus)
        for document in documents:
            if document not in left:
                raise NotFound(f"there is no document {document} in {corpus}")
        parents = [f"kb/{corpus}/{document}" for document in documents]
        with self._storage.locked():
            recover_documents(self._storage, corpus)
            sources = {one.head.source for one in self.known(corpus) if one.id in documents}
            # Before the documents, so that who is killed in between is told of them still; and after them, since
            # somebody may have looked at them meanwhile.
            self._wipe(corpus, parents)
            for document in documents:
                self._files.erase(corpus, document)
            self._wipe(corpus, parents)
            with DocumentLedger(self._storage.vault, corpus) as ledger:
                ledger.note(self._documents.files(corpus))
                ledger.drop_digests()
                ledger.save()
            folder = self._files.folder("docs", corpus)
            gone = [
                one.path
                for one in read_refusals(folder)
                if os.path.realpath(one.path) in sources or one.document in documents
            ]
            update_refusals(folder, gone, ())
            change = new_change_id()
            log_documents(self._storage, change, "withdraw", corpus, {}, {"forgotten": len(documents)})
        self._changed()
        return change

    def of_user(self, user: str) -> dict[str, list[str]]:
        """What is left of documents that belong to one person, by corpus. Raises VaultUnreadable."""
        scope = name_key(f"user/{user}")
        mine = [corpus for corpus in self.corpora() if self.settings(corpus).scope == scope]
        found = {corpus: sorted(self._files.documents_left(corpus)) for corpus in mine}
        return {corpus: left for corpus, left in found.items() if left}

    def _check_case(self, corpus: str) -> None:
        """Raises UsageError: there is one of that name but for upper and lower case, which not every system tells."""
        for other in self.corpora():
            if other != corpus and name_key(other) == name_key(corpus):
                raise UsageError(f"there is a corpus {other!r} already; {corpus!r} differs by case alone")

    def _originals(self, corpus: str) -> set[str]:
        try:
            names = os.listdir(self._files.folder("raw", corpus))
        except OSError:
            return set()
        return {stem for name in names for stem in (name, os.path.splitext(name)[0])}
