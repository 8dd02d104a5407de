"""How far history and journal have come, told from names and sizes alone: who has nothing to do reads neither."""

from __future__ import annotations

import os

from memoranda.storage.files import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.vault import VaultFolder

__all__ = ["HISTORY", "JOURNAL", "Mark", "Standing", "history_files", "is_month", "journal_size", "mark_of", "standing"]

HISTORY = "history"
JOURNAL = "journal.jsonl"
#: Name, size and inode of the history's newest file.
Mark = tuple[str, int, int]
#: The history's mark, and the journal's size.
Standing = tuple[Mark, int]


def is_month(name: str) -> bool:
    """Whether a name is a month's: ``2026-07``."""
    return len(name) == 7 and name.isascii() and name[4] == "-" and f"{name[:4]}{name[5:]}".isdecimal()


def history_files(folder: str) -> list[str]:
    """The history's files, oldest month first. Raises VaultUnreadable."""
    with reading(folder):
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return []
    # A sync program's copy of a month is not a month.
    return [os.path.join(folder, name) for name in sorted(names) if name.endswith(".jsonl") and is_month(name[:-6])]


def mark_of(folder: str) -> Mark:
    """The mark of the history in a folder: unchanged means that nobody has written since. Raises VaultUnreadable."""
    files = history_files(folder)
    with reading(folder):
        if not files:
            return "", 0, 0
        found = os.stat(files[-1])
    return os.path.basename(files[-1]), found.st_size, found.st_ino


def journal_size(vault: VaultFolder) -> int:
    """The journal's size in bytes; 0 if it is not there."""
    try:
        return os.path.getsize(vault.path(JOURNAL))
    except FileNotFoundError:
        return 0


def standing(vault: VaultFolder) -> Standing:
    """How far both have come. Raises VaultUnreadable."""
    return mark_of(vault.path(HISTORY)), journal_size(vault)
