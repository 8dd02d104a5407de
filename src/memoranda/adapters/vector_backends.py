"""What can keep vectors, by name: a table that is read before anything is imported."""

from __future__ import annotations

import os

from memoranda.core.errors import MissingExtra, UsageError, VaultError, VaultReadOnly
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memoranda.core.ports import VectorIndex
    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["VECTOR_INDEXES", "VectorBackend", "open_vector_index"]


@dataclass(frozen=True, slots=True)
class VectorBackend:
    """One index of vectors: the value of the setting ``index``; ``extra`` is what of memoranda to install for it."""

    name: str
    module: str
    function: str
    extra: str
    about: str
    takes_settings: bool = True

    def load(self) -> Callable[..., VectorIndex]:
        """What opens it: takes the folder, the model's name, and the settings if it ``takes_settings``."""
        from importlib import import_module

        try:
            found: Callable[..., Any] = getattr(import_module(self.module), self.function)
        except ImportError as error:
            raise self.missing(error) from error
        return found

    def missing(self, error: ImportError) -> Exception:
        """What to say where a package cannot be imported; a part of memoranda itself is no package to install."""
        if (error.name or "").partition(".")[0] == "memoranda":
            return error
        return MissingExtra(f'index = "{self.name}" ({error})', self.extra)


#: Vector indexes by name.
VECTOR_INDEXES = {
    entry.name: entry
    for entry in (
        VectorBackend(
            "numpy",
            "memoranda.index.vectors.store",
            "VectorStore",
            "embed",
            "plain files, looked at in whole or by signature; the default",
            takes_settings=False,
        ),
        VectorBackend(
            "sqlite-vec",
            "memoranda.adapters.vector_indexes.sqlite_vec",
            "open_index",
            "sqlite-vec",
            "one file of SQLite; every vector is looked at",
        ),
        VectorBackend(
            "chroma",
            "memoranda.adapters.vector_indexes.chroma",
            "open_index",
            "chroma",
            "Chroma in the same process, a collection a scope; approximate",
        ),
        VectorBackend(
            "qdrant",
            "memoranda.adapters.vector_indexes.qdrant",
            "open_index",
            "qdrant",
            "a server of Qdrant at url, approximate; without url a folder, of one process at a time",
        ),
    )
}


def open_vector_index(name: str, folder: str, model: str, settings: EmbeddingSettings) -> VectorIndex:
    """The index of that name in ``folder``, which is made; opened with another ``model``, it holds nothing.

    Raises:
        UsageError: there is none of that name.
        MissingExtra: its package is not installed.
        VaultError: the folder cannot be made.
    """
    entry = VECTOR_INDEXES.get(name)
    if entry is None:
        raise UsageError(f"there is no vector index {name!r}; there are: {', '.join(VECTOR_INDEXES)}")
    opened = entry.load()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except PermissionError as error:
        raise VaultReadOnly(f"{folder}: {error.strerror}") from error
    except OSError as error:
        kind = VaultReadOnly if error.errno == _read_only() else VaultError
        raise kind(f"{folder}: {error.strerror}") from error
    try:
        return opened(folder, model, settings) if entry.takes_settings else opened(folder, model)
    except ImportError as error:
        raise entry.missing(error) from error


def _read_only() -> int:
    import errno

    return errno.EROFS
