"""``.cache/``: everything in it is derived and may be deleted at any time."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.store import Storage

__all__ = ["clear_cache"]


def clear_cache(storage: Storage, *, spare_vectors: bool = False) -> None:
    """Delete the cache and make again what other processes rely on. Needs the lock.

    Vectors may be spared: they are what it costs most to make again.
    """
    import shutil

    folder = storage.vault.path(".cache")
    with suppress(OSError), os.scandir(folder) as listing:
        for entry in list(listing):
            if spare_vectors and entry.name.split(".", 1)[0] == "vectors":
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with suppress(OSError):
                    os.unlink(entry.path)
    storage.baselines.ensure()
