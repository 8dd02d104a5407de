"""The public :class:`Vault`: opening and closing it, and what changes its items."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from memoranda.bootstrap.upkeep import Upkeep
from memoranda.core.errors import Conflict, MemorandaError, VaultError
from memoranda.core.records import replace
from memoranda.services.overview_mark import is_current
from memoranda.storage.clock import SystemClock
from memoranda.storage.resources import Resources
from memoranda.storage.store import Storage
from memoranda.storage.vault import VaultFolder

# What only some calls need is imported by them: the command line pays for its own command alone.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Literal

    from memoranda.adapters.chosen_embedding import ChosenEmbedding
    from memoranda.core.model import Forgotten, Written
    from memoranda.core.ports import Clock, Embedder
    from memoranda.services.embedding import Embedding
    from memoranda.services.remember import OnExists
    from memoranda.services.writer import Writer

__all__ = ["Vault", "default_vault", "migrate"]


def default_vault() -> str:
    """The vault of someone who named none: ``MEMORANDA_VAULT``, else ``~/memoranda``."""
    return os.environ.get("MEMORANDA_VAULT") or os.path.join(os.path.expanduser("~"), "memoranda")


def migrate(path: str) -> list[str]:
    """Bring the vault at ``path`` up to the present format; see :func:`memoranda.services.migrate.migrate`."""
    from memoranda.services.migrate import migrate

    return migrate(path)


class Vault(Upkeep):
    """One vault of memory: plain files, written durably and found in milliseconds.

    Use :meth:`open`, best in a ``with`` block. Every call is synchronous and
    safe from several threads and processes at once. What only reads is in
    :class:`memoranda.services.reading.Reading`, the queue of what is to be
    memorized in :class:`memoranda.services.memorizing.Memorizing`, and what
    takes care of the whole in :class:`memoranda.bootstrap.upkeep.Upkeep`.
    """

    def __init__(
        self,
        folder: VaultFolder,
        *,
        actor: str,
        clock: Clock,
        embedder: Embedder | None = None,
        background: str = "thread",
    ) -> None:
        super().__init__(Storage.at(folder, clock, actor), Resources(folder))
        self._embedder, self._background = embedder, background
        # Who has no vectors pays for none.
        self._vectors = self._choose_vectors() if embedder is not None or self.settings.embedding else None
        self._made_writer: Writer | None = None
        if self.settings.segmenter:
            self._choose_segmenter(self.settings.segmenter)

    def _choose_vectors(self) -> ChosenEmbedding:
        from memoranda.adapters.chosen_embedding import ChosenEmbedding

        return ChosenEmbedding(self._storage, self._contents, self._embedder, self._background)

    def _chosen_vectors(self) -> ChosenEmbedding:
        """The vault's vectors; where there are none, what says so. Raises UsageError."""
        return self._vectors or self._choose_vectors()

    def _choose_segmenter(self, name: str) -> None:
        """Have Chinese cut into words by a segmenter; where it is not installed that is a fault of the settings."""
        from functools import partial

        from memoranda.adapters.registry import SEGMENTER_LOADER, load_segmenter
        from memoranda.core.errors import MissingExtra
        from memoranda.index.segmenting import load_segmentation

        try:
            load_segmenter(name)
        except MissingExtra as error:
            self.settings_faults.append(f"{error}; until then Chinese is found by characters and pairs of them")
        else:
            self._contents.segmenting = partial(load_segmentation, SEGMENTER_LOADER, name)

    @property
    def _embedding(self) -> Embedding | None:
        """The vault's vectors, where an embedder was given or is set. Raises UsageError, MissingExtra."""
        return None if self._vectors is None else self._vectors.get()

    def _corpus_vectors(self) -> Mapping[str, Embedding | None]:
        from memoranda.storage.documents import Documents

        documents = Documents(self._storage.vault)
        if not any(documents.settings(corpus).embedding for corpus in documents.corpora()):
            return {}
        if self._vectors is None:
            self._vectors = self._choose_vectors()
        return self._vectors.corpora()

    def _documents_changed(self) -> None:
        with suppress(MemorandaError):
            self._corpus_vectors()
        self._has_changed()

    def _has_changed(self) -> None:
        if self._vectors is not None:
            self._vectors.note_change()

    @property
    def _writer(self) -> Writer:
        if self._made_writer is None:
            from memoranda.services.writer import Writer

            self._made_writer = Writer(self._storage, self._has_changed)
        return self._made_writer

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        actor: str = "user",
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        background: Literal["thread", "process"] = "thread",
    ) -> Vault:
        """Open the vault in a folder; it is created if absent, unless ``create`` is False.

        ``actor`` is who the journal says is writing. ``embedder`` takes the place
        of the one that the settings name. What is new is embedded in the
        ``background``: by a thread of this process, or by a process of its own
        where this one will not be there for long.

        Raises:
            VaultUnreadable: not there, not a folder, or no permission.
            VaultFormat: written by a newer program, or ``migrate`` is due.
            UsageError: its settings mean nothing.
        """
        if actor != "user":
            from memoranda.services.redaction import redact

            actor = redact(actor)[0]
        vault = cls(
            VaultFolder(os.fspath(path), create=create),
            actor=actor,
            clock=clock or SystemClock(),
            embedder=embedder,
            background=background,
        )
        if os.path.exists(vault._storage.vault.path("forgetting.json")):
            from memoranda.services.forget import resume

            # Who cannot finish it now (read-only, no room, an editor in the way) reads on; the next opening will try.
            with suppress(VaultError, Conflict):
                resume(vault._storage, vault._resources)
        return vault

    def sibling(self, actor: str) -> Vault:
        """The same vault opened once more, for another who writes; its files are all that the two share."""
        folder = VaultFolder(self.root, create=False)
        embedder, clock = self._embedder, self._storage.clock
        return Vault(folder, actor=actor, clock=clock, embedder=embedder, background=self._background)

    def _open_apart(self, root: str) -> Vault:
        folder = VaultFolder(root, create=False)
        # It lies elsewhere, and so do its projects.
        folder.settings = replace(folder.settings, projects={}, embedding=None)
        return Vault(folder, actor=self._storage.actor, clock=self._storage.clock)

    def close(self) -> None:
        """Bring ``MEMORY.md`` up to date, and stop what goes on in the background. All else is on disk already."""
        if self._vectors is not None:
            self._vectors.close()
        if not self.settings.overview:
            return
        with self._contents.mutex:
            if is_current(self._storage):
                return
            from memoranda.services.overview import refresh_changed

            # Where that fails it is made from the files at the next opportunity.
            with suppress(VaultError):
                refresh_changed(self._storage)

    def __enter__(self) -> Vault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Who interrupts does not want to wait; the overview is brought up to date at the next opportunity.
        if kind is None or issubclass(kind, Exception):
            self.close()

    def remember(
        self,
        address: str,
        text: str,
        *,
        on_exists: OnExists = "conflict",
        owner: str | None = None,
        source: str | None = None,
        ts: str | None = None,
        type: str | None = None,
        actor: str | None = None,
        trust: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        supersedes: str | None = None,
        pinned: bool | None = None,
        confidence: float | None = None,
        kind: str | None = None,
    ) -> Written:
        """Remember a text under an address; durable when this returns.

        ``"preferences:likes-the-sea"`` names the item; of ``"preferences"`` alone a
        name is made from the text. The same text twice is one item, and
        ``Written.status`` says so. A name that holds other text is a conflict
        unless ``on_exists`` says ``revise``, ``append`` or ``rename``. Secrets
        are replaced before anything is written (``Written.redactions``). With
        ``supersedes`` the older item stays and is marked.

        Raises:
            NameTaken: the name holds other text.
            BadName, BadText: the address or text cannot be written as it is.
            VaultReadOnly, VaultFull, VaultBusy: nothing was written.
        """
        fields = {
            "owner": owner,
            "source": source,
            "ts": ts,
            "type": type,
            "actor": actor,
            "trust": trust,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "supersedes": supersedes,
            "pinned": pinned,
            "confidence": confidence,
            "kind": kind,
        }
        from memoranda.services.remember import remember

        with self._contents.mutex:
            return remember(self._writer, address, text, on_exists=on_exists, fields=fields)

    def revise(
        self,
        address: str,
        text: str,
        *,
        expected_hash: str | None = None,
        keep_links: bool = True,
        **fields: str | bool | float | None,
    ) -> Written:
        """Replace an item's text. Owner, source and links stay unless told otherwise.

        ``expected_hash`` is the hash that the caller read; ``fields`` are
        metadata to change (``owner``, ``ts``, ...).

        Raises:
            NotFound: there is no such item.
            ChangedUnderneath: it is not what was read; nothing was written.
            BadText, VaultReadOnly, VaultFull, VaultBusy.
        """
        from memoranda.services.remember import revise

        with self._contents.mutex:
            return revise(
                self._writer, address, text, expected_hash=expected_hash, keep_links=keep_links, fields=fields
            )

    def rename(self, address: str, new_name: str) -> Written:
        """Rename an item and rewrite every link that points at it, as one change.

        Raises:
            NotFound, NameTaken, BadName, VaultReadOnly, VaultFull, VaultBusy.
        """
        from memoranda.services.remember import rename

        with self._contents.mutex:
            return rename(self._writer, address, new_name)

    def remove(self, address: str, *, expected_hash: str | None = None) -> Written:
        """Take an item out of its file: a change that ``undo`` takes back, unlike :meth:`forget`. Links to it stay.

        Raises:
            NotFound: there is no such item.
            ChangedUnderneath: it is not what was read; nothing was written.
            VaultReadOnly, VaultFull, VaultBusy.
        """
        from memoranda.services.remember import remove

        with self._contents.mutex:
            return remove(self._writer, address, expected_hash=expected_hash)

    def forget(
        self,
        address: str | None = None,
        *,
        source: str | None = None,
        user: str | None = None,
        derived: bool = False,
        preview: bool = False,
    ) -> Forgotten:
        """Remove an item, everything from a source, or a user, for good: files, history, caches, source turns.

        ``kb/<corpus>/<doc-id>`` is a document; of a user, the documents in the
        user's own corpora go too.

        ``derived`` also takes whatever came from the same source; ``preview``
        only tells. It cannot be undone.

        Raises:
            NotFound, UsageError, VaultReadOnly, VaultFull, VaultBusy.
        """
        from memoranda.services.document_forgetting import forget_everywhere
        from memoranda.services.forget import forget

        def memory() -> Forgotten:
            wipe = None
            with suppress(MemorandaError):
                wipe = None if (embedding := self._embedding) is None else embedding.wipe
            return forget(
                self._writer,
                self._resources,
                address,
                source=source,
                user=user,
                derived=derived,
                preview=preview,
                vectors=wipe,
            )

        with self._contents.mutex:
            return forget_everywhere(self.library, address, user, memory, preview=preview)

    def _wipe_documents(self, corpus: str, parents: list[str]) -> None:
        from memoranda.services.document_forgetting import wipe_documents

        embedding = None
        with suppress(MemorandaError):
            self._corpus_vectors()
            embedding = None if self._vectors is None else self._vectors.of_corpus(corpus)
        with self._contents.renewed():
            wipe_documents(self._storage, embedding, parents)

    def undo(self, journal_id: str | None = None) -> Written:
        """Take back a change, by default the newest; itself a change that can be undone.

        Raises:
            NotFound: the journal has no such id, or is empty.
            CannotUndo: forgotten, pruned, undone already, or changed since.
        """
        from memoranda.services.undo import undo

        with self._contents.mutex:
            # What a person changed since the last look may be the newest change.
            if not self._writer.in_batch:
                self._contents.refresh()
            return undo(self._writer, journal_id)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Gather many changes into one durable commit: all of them, or none.

        Raises (at the end):
            Conflict: a person's changes meanwhile do not go together with these.
        """
        with self._contents.mutex, self._writer.batch():
            yield
