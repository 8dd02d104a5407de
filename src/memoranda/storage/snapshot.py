"""What category files there are, by stat alone; contents are read only where a stamp changed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from memoranda.core.addresses import Address
from memoranda.core.errors import OutsideVault, VaultUnreadable
from memoranda.core.model import Problem
from memoranda.storage.files import Stamp
from memoranda.storage.vault import MemoryRoot, VaultFolder

__all__ = ["FoundFile", "Snapshot", "scan"]

# Dropbox, Syncthing, Nextcloud, OneDrive and our own set-aside copies.
_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-|\(.*conflicted copy.*\)|\(冲突副本.*\)|_conflict-\d|\.conflict-[0-9a-f]{8}", re.IGNORECASE
)
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A category file: where it is, what it holds by name, and its stamp."""

    relative: str
    path: str
    address: Address
    stamp: Stamp


@dataclass(slots=True)
class Snapshot:
    """One look at the vault.

    ``unreadable`` holds relative folders that could not be listed: what is
    below them is unknown, which is not the same as gone.
    """

    files: dict[str, FoundFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def is_unknown(self, relative: str) -> bool:
        """Whether a file that was not found may still be there."""
        return any(relative == folder or relative.startswith(folder + "/") for folder in self.unreadable)


def scan(vault: VaultFolder) -> Snapshot:
    """Look at every memory folder of the vault.

    Raises:
        VaultUnreadable: the vault itself or its shared memory may not be listed:
            an unreadable vault is never taken for an empty one.
    """
    snapshot = Snapshot()
    if not os.path.isdir(vault.root):
        raise VaultUnreadable(f"there is no vault at {vault.root} any more")
    for root in vault.memory_roots():
        for entry, relative in _walk(vault, root, snapshot):
            _take(vault, root, entry, relative, snapshot)
    return snapshot


def _walk(vault: VaultFolder, root: MemoryRoot, snapshot: Snapshot) -> Iterator[tuple[os.DirEntry[str], str]]:
    waiting: list[tuple[str, str, tuple[str, ...]]] = [(root.folder, root.prefix, ())]
    while waiting:
        folder, relative, above = waiting.pop()
        try:
            real = vault.check_inside(folder, relative)
        except OutsideVault as error:
            snapshot.problems.append(Problem(relative, 0, "outside", str(error)))
            continue
        if real in above or len(above) > _MAX_DEPTH:
            snapshot.problems.append(Problem(relative, 0, "loop", "a symbolic link leads back to its own folder"))
            continue
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda e: e.name)
        except FileNotFoundError:
            if relative == root.prefix:
                continue
            raise
        except OSError as error:
            if relative == root.prefix and root.prefix == "memory":
                raise VaultUnreadable(f"{folder} could not be read ({error.strerror})") from error
            snapshot.unreadable.append(relative)
            snapshot.problems.append(Problem(relative, 0, "unreadable", f"could not be read ({error.strerror})"))
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                is_folder = entry.is_dir()
            except OSError:
                is_folder = False
            if is_folder:
                waiting.append((entry.path, f"{relative}/{entry.name}", (*above, real)))
            elif entry.name.lower().endswith(".md"):
                yield entry, f"{relative}/{entry.name}"


def _take(
    vault: VaultFolder, root: MemoryRoot, entry: os.DirEntry[str], relative: str, snapshot: Snapshot
) -> None:
    def problem(kind: str, message: str) -> None:
        snapshot.problems.append(Problem(relative, 0, kind, message))

    try:
        if entry.is_symlink():
            vault.check_inside(entry.path, relative)
        status = entry.stat()
    except OutsideVault as error:
        problem("outside", str(error))
        return
    except FileNotFoundError:
        if entry.is_symlink():
            problem("dangling", "a symbolic link to nothing")
        return
    except OSError as error:
        problem("unreadable", f"could not be read ({error.strerror})")
        snapshot.unreadable.append(relative)
        return
    if not stat.S_ISREG(status.st_mode):
        problem("not-a-file", "is not a regular file")
        return
    if _CONFLICT_COPY.search(entry.name):
        problem("sync-conflict", "a sync program's or an interrupted save's second copy; merge it by hand")
        return
    address = vault.address_of(root, relative)
    if address is None:
        problem("name", "this name cannot be a category's; rename the file")
        return
    try:
        entry.name.encode("utf-8")
    except UnicodeEncodeError:
        problem("name", "this file's name is not UTF-8; rename the file")
        return
    snapshot.files[relative] = FoundFile(relative, entry.path, address, Stamp.of(status))
