"""``.cache/``: everything in it is derived and may be deleted at any time."""

from __future__ import annotations

import shutil

from memoranda.storage.store import Storage

__all__ = ["clear_cache"]


def clear_cache(storage: Storage) -> None:
    """Delete the cache and make again what other processes rely on. Needs the lock."""
    shutil.rmtree(storage.vault.path(".cache"), ignore_errors=True)
    storage.baselines.ensure()
