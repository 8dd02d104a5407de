"""A vault's vectors put together from its settings: what embeds, what keeps the vectors, and who does so when."""

from __future__ import annotations

from functools import partial

from memoranda.core.errors import MemorandaError, MissingExtra
from memoranda.storage.documents import Documents
from memoranda.storage.embedding_settings import EmbeddingSettings
from memoranda.storage.settings import usable_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.core.ports import Embedder, VectorIndex
    from memoranda.services.contents import Contents
    from memoranda.services.embedded_part import EmbeddedPart
    from memoranda.services.embedding import Embedding
    from memoranda.storage.store import Storage
    from memoranda.storage.vault import VaultFolder

__all__ = ["embedding_for"]


def embedding_for(
    storage: Storage,
    contents: Contents,
    settings: EmbeddingSettings | None,
    embedder: Embedder | None = None,
    *,
    in_process: bool = True,
    part: EmbeddedPart | None = None,
) -> Embedding:
    """The vectors of a vault, or of a ``part`` of it.

    An ``embedder`` that is given takes the place of the one in the ``settings``.

    Raises:
        UsageError: the settings name an embedder or an index that does not exist.
    """
    from memoranda.adapters.vector_backends import open_vector_index

    chosen = settings or EmbeddingSettings()
    if embedder is None:
        from memoranda.adapters.embedders import load_embedder

        embedder = load_embedder(chosen)
        begin = None if in_process else partial(_begin, storage.vault.root)
        is_wanted: Callable[[], bool] = partial(_is_named, storage.vault, chosen, "" if part is None else part.corpus)
    else:
        # No other process could get hold of what the host has made.
        begin, is_wanted = None, _always
    open_index: Callable[[str, str], VectorIndex] = partial(_open, open_vector_index, chosen)
    from memoranda.services.embedded_part import EmbeddedPart
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
        part=part or EmbeddedPart(),
    )


def _always() -> bool:
    return True


def _is_named(vault: VaultFolder, chosen: EmbeddingSettings, corpus: str) -> bool:
    """Whether the settings, as they are now, are still those that the embedder was made by."""
    try:
        if corpus:
            return Documents(vault).settings(corpus).embedding == chosen
        return usable_settings(vault.root)[0].embedding == chosen
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
