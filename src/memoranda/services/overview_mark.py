"""Up to which line of the journal ``MEMORY.md`` was made: kept in ``.cache/overview``, told without reading either."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.storage.standing import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.store import Storage

__all__ = ["is_current", "journal_stamp", "note", "noted"]

#: The journal's size and inode.
Stamp = tuple[int, int]


def journal_stamp(storage: Storage) -> Stamp | None:
    """Size and inode of the journal; ``None`` if it is not there."""
    try:
        found = os.stat(storage.vault.path(JOURNAL))
    except OSError:
        return None
    return found.st_size, found.st_ino


def is_current(storage: Storage) -> bool:
    """Whether nothing was written to the journal since ``MEMORY.md`` was made."""
    stamp = journal_stamp(storage)
    return stamp is None or stamp == _read(storage)[1]


def noted(storage: Storage) -> str | None:
    """The journal's last line, by its id, when ``MEMORY.md`` was made; ``None`` if that is not known."""
    return _read(storage)[0] or None


def note(storage: Storage, newest: str | None, stamp: Stamp | None) -> None:
    """Note that ``MEMORY.md`` is made up to a line of the journal, which was so large when that was its last."""
    size, inode = stamp or (0, 0)
    # Neither synced nor whole for sure: what is not a journal's id only costs making the overview anew.
    with suppress(OSError):
        descriptor = os.open(_path(storage), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as stream:
            stream.write(f"{newest or ''} {size} {inode}".encode("ascii", "replace"))


def _read(storage: Storage) -> tuple[str | None, Stamp | None]:
    with suppress(OSError, ValueError), open(_path(storage), "rb") as stream:
        newest, size, inode = stream.read(128).decode("ascii").rsplit(" ", 2)
        return newest, (int(size), int(inode))
    return None, None


def _path(storage: Storage) -> str:
    return storage.vault.path(".cache/overview")
