"""Whose vectors a vault has: those that its host or its settings chose, and those of corpora that chose another."""

from __future__ import annotations

import os
import shutil
from _thread import RLock  # threading's, without the rest of threading
from contextlib import suppress

from memoranda.adapters.embedding import embedding_for
from memoranda.core.errors import MemorandaError, UsageError, VaultBusy
from memoranda.index.entries import library_of
from memoranda.services.embedded_part import EmbeddedPart
from memoranda.storage.documents import Documents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.ports import Embedder
    from memoranda.index.vector_sync import Synced
    from memoranda.services.contents import Contents, Progress
    from memoranda.services.embedding import Embedding
    from memoranda.storage.embedding_settings import EmbeddingSettings
    from memoranda.storage.store import Storage

__all__ = ["ChosenEmbedding"]

#: The provider of who wants none for a corpus.
_NONE = "none"


class ChosenEmbedding:
    """The vectors of a vault, put together when they are first asked for."""

    def __init__(self, storage: Storage, contents: Contents, embedder: Embedder | None, background: str) -> None:
        """``background``: what is new is embedded by a ``"thread"`` of this process, or by a ``"process"``."""
        self._storage, self._contents = storage, contents
        self._embedder, self._in_process = embedder, background == "thread"
        self._documents = Documents(storage.vault)
        self._lock = RLock()
        self._made: Embedding | None = None
        self._fault: MemorandaError | None = None
        self._parts: dict[str, tuple[EmbeddingSettings, Embedding]] = {}

    def get(self) -> Embedding | None:
        """The vectors of all that has none of its own; ``None``: nobody chose any. Raises UsageError, MissingExtra."""
        with self._lock:
            if self._fault is not None:
                raise self._fault
            settings = self._storage.vault.settings.embedding
            if self._made is None and (self._embedder is not None or settings):
                part = EmbeddedPart(apart=lambda: [library_of(corpus) for corpus in self._apart()])
                try:
                    self._made = self._make(settings, part, self._embedder)
                except MemorandaError as error:
                    self._fault = error
                    raise
            return self._made

    def corpora(self) -> dict[str, Embedding | None]:
        """The corpora that have vectors of their own, and these; ``None``: that it wants none.

        Raises UsageError, MissingExtra: one of them names what there is not.
        """
        with self._lock:
            named = self._apart()
            for corpus in [one for one, (settings, _) in self._parts.items() if named.get(one) != settings]:
                self._parts.pop(corpus)[1].close()
            found: dict[str, Embedding | None] = {}
            for corpus, settings in named.items():
                if settings.provider == _NONE:
                    found[corpus] = None
                    continue
                if corpus not in self._parts:
                    part = EmbeddedPart(corpus, library_of(corpus))
                    self._parts[corpus] = (settings, self._make(settings, part, None))
                found[corpus] = self._parts[corpus][1]
            return found

    def of_corpus(self, corpus: str) -> Embedding | None:
        """The vectors that a corpus's documents are in, if any. Raises UsageError, MissingExtra."""
        own = self.corpora()
        return own[corpus] if corpus in own else self.get()

    def note_change(self) -> None:
        """Something was written: what is new is to be embedded, in this process at once."""
        if self._in_process:
            with suppress(MemorandaError):
                if (embedding := self.get()) is not None:
                    embedding.look_after(changed=True)
            with suppress(MemorandaError):
                for own in self.corpora().values():
                    if own is not None:
                        own.look_after(changed=True)

    def sync(self, progress: Progress | None, *, anew: bool, patience: float) -> Synced:
        """See :meth:`memoranda.Vault.embed`."""
        from memoranda.index.vector_sync import Synced

        embedding, own = self.get(), self.corpora()
        wanted = [one for one in (embedding, *own.values()) if one is not None]
        self._clear_up(own)
        if not wanted:
            faults = [fault for fault in self._storage.vault.settings_faults if "[embedding]" in fault]
            nobody = "no embedder is configured: write [embedding] with a provider into memoranda.toml"
            raise UsageError("; ".join(faults) or nobody)
        done = Synced()
        for one in wanted:
            try:
                more = one.sync(progress, anew=anew, patience=patience)
            except VaultBusy:
                raise
            except MemorandaError as error:
                one.fail(error)
                raise
            done = Synced(done.embedded + more.embedded, done.removed + more.removed, done.unchanged + more.unchanged)
        return done

    def close(self) -> None:
        """Stop what goes on in the background."""
        with self._lock:
            made = [self._made, *(embedding for _, embedding in self._parts.values())]
            self._made, self._parts = None, {}
        for one in made:
            if one is not None:
                one.close()

    def _make(self, settings: EmbeddingSettings | None, part: EmbeddedPart, embedder: Embedder | None) -> Embedding:
        return embedding_for(self._storage, self._contents, settings, embedder, in_process=self._in_process, part=part)

    def _apart(self) -> dict[str, EmbeddingSettings]:
        """The corpora whose settings name an embedder of their own."""
        found: dict[str, EmbeddingSettings] = {}
        with suppress(MemorandaError):
            for corpus in self._documents.corpora():
                if settings := self._documents.settings(corpus).embedding:
                    found[corpus] = settings
        return found

    def _clear_up(self, own: dict[str, Embedding | None]) -> None:
        """Throw away vectors of corpora that have none of their own any more."""
        folder = os.path.dirname(EmbeddedPart("x").cache(self._storage.vault))
        with suppress(OSError):
            for name in os.listdir(folder):
                if own.get(name) is None:
                    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
