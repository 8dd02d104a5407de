"""A vault's vectors put together from its settings: what embeds, what keeps the vectors, and who does so when."""

from __future__ import annotations

from _thread import RLock  # threading's, without the rest of threading
from contextlib import suppress
from functools import partial

from memoranda.core.errors import MemorandaError, MissingExtra, UsageError, VaultBusy
from memoranda.storage.embedding_settings import EmbeddingSettings
from memoranda.storage.settings import usable_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.core.ports import Embedder, VectorIndex
    from memoranda.index.vector_sync import Synced
    from memoranda.services.contents import Contents, Progress
    from memoranda.services.embedding import Embedding
    from memoranda.storage.store import Storage

__all__ = ["ChosenEmbedding", "embedding_for"]


def embedding_for(
    storage: Storage,
    contents: Contents,
    settings: EmbeddingSettings | None,
    embedder: Embedder | None = None,
    *,
    in_process: bool = True,
) -> Embedding:
    """The vectors of a vault; an ``embedder`` that is given takes the place of the one in the ``settings``.

    Raises:
        UsageError: the settings name an embedder or an index that does not exist.
    """
    from memoranda.adapters.vector_backends import open_vector_index

    chosen = settings or EmbeddingSettings()
    if embedder is None:
        from memoranda.adapters.embedders import load_embedder

        embedder = load_embedder(chosen)
        begin = None if in_process else partial(_begin, storage.vault.root)
        is_wanted: Callable[[], bool] = partial(_is_named, storage.vault.root, chosen)
    else:
        # No other process could get hold of what the host has made.
        begin, is_wanted = None, _always
    open_index: Callable[[str, str], VectorIndex] = partial(_open, open_vector_index, chosen)
    from memoranda.services.embedding import Embedding

    return Embedding(
        storage,
        contents,
        embedder,
        chosen.index,
        open_index,
        batch=chosen.batch,
        begin=begin,
        is_wanted=is_wanted,
    )


def _always() -> bool:
    return True


def _is_named(root: str, chosen: EmbeddingSettings) -> bool:
    """Whether the settings, as they are now, are still those that the embedder was made by."""
    try:
        return usable_settings(root)[0].embedding == chosen
    except MemorandaError:  # they cannot be read just now
        return True


def _open(
    open_index: Callable[[str, str, str, EmbeddingSettings], VectorIndex],
    settings: EmbeddingSettings,
    folder: str,
    model: str,
) -> VectorIndex:
    try:
        return open_index(settings.index, folder, model, settings)
    except MissingExtra as error:
        from memoranda.adapters.embedders import EMBEDDERS

        found = EMBEDDERS.get(settings.provider)
        if settings.index != "numpy" or found is None:
            raise
        # What embeds brings what keeps the vectors: one installation for both.
        raise MissingExtra(f'provider = "{settings.provider}"', found.extra) from error


def _begin(root: str) -> object:
    """Start a process that embeds what is not embedded."""
    from memoranda.index.build_pool import begin_in_background

    return begin_in_background("memoranda", "-C", root, "reindex", "--vectors")


class ChosenEmbedding:
    """The vectors of a vault as its host or its settings chose them, put together when they are first asked for."""

    def __init__(self, storage: Storage, contents: Contents, embedder: Embedder | None, background: str) -> None:
        """``background``: what is new is embedded by a ``"thread"`` of this process, or by a ``"process"``."""
        self._storage, self._contents = storage, contents
        self._embedder, self._in_process = embedder, background == "thread"
        self._lock = RLock()
        self._made: Embedding | None = None
        self._fault: MemorandaError | None = None

    def get(self) -> Embedding | None:
        """The vectors; ``None`` where nobody chose any. Raises UsageError, MissingExtra."""
        with self._lock:
            if self._fault is not None:
                raise self._fault
            settings = self._storage.vault.settings.embedding
            if self._made is None and (self._embedder is not None or settings):
                try:
                    self._made = embedding_for(
                        self._storage, self._contents, settings, self._embedder, in_process=self._in_process
                    )
                except MemorandaError as error:
                    self._fault = error
                    raise
            return self._made

    def note_change(self) -> None:
        """Something was written: what is new is to be embedded, in this process at once."""
        if self._in_process:
            with suppress(MemorandaError):
                if (embedding := self.get()) is not None:
                    embedding.look_after(changed=True)

    def sync(self, progress: Progress | None, *, anew: bool, patience: float) -> Synced:
        """See :meth:`memoranda.Vault.embed`."""
        if (embedding := self.get()) is None:
            faults = [fault for fault in self._storage.vault.settings_faults if "[embedding]" in fault]
            nobody = "no embedder is configured: write [embedding] with a provider into memoranda.toml"
            raise UsageError("; ".join(faults) or nobody)
        try:
            return embedding.sync(progress, anew=anew, patience=patience)
        except VaultBusy:
            raise
        except MemorandaError as error:
            embedding.fail(error)
            raise

    def close(self) -> None:
        """Stop what goes on in the background."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()
