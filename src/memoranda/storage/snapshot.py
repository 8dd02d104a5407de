"""What category files there are, by stat alone; contents are read only where a stamp changed."""

from __future__ import annotations

import os
import stat
from operator import attrgetter

from memoranda.core.errors import BadName, OutsideVault, VaultUnreadable
from memoranda.core.model import Problem
from memoranda.core.names import check_identifier, is_conflict_copy
from memoranda.core.records import dataclass, field
from memoranda.storage.files import Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.addresses import Address
    from memoranda.storage.vault import MemoryRoot, VaultFolder

__all__ = ["FoundFile", "Snapshot", "scan"]


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

    ``unreadable`` holds relative paths that could not be looked at, or may not
    be: what is there or below is unknown, which is not the same as gone.
    """

    files: dict[str, FoundFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def is_unknown(self, relative: str) -> bool:
        """Whether a file that was not found may still be there."""
        return any(relative == folder or relative.startswith(folder + "/") for folder in self.unreadable)


def scan(vault: VaultFolder) -> Snapshot:
    """Look at every memory folder of the vault.

    What a symbolic link leads to counts once: under its own name where that is
    in a memory folder too.

    Raises:
        VaultUnreadable: the vault itself or its shared memory may not be listed:
            an unreadable vault is never taken for an empty one.
    """
    vault.require_present()
    scanner = _Scanner(vault, vault.last_found)
    scanner.scan()
    vault.last_found = scanner.snapshot.files
    return scanner.snapshot


class _Scanner:
    """One look: first everything that lies where it is named, then what links lead to."""

    def __init__(self, vault: VaultFolder, before: dict[str, FoundFile]) -> None:
        self.snapshot = Snapshot()
        self._vault = vault
        self._before = before
        self._same = 0  # how many files are as they were
        self._seen: set[str] = set()  # the real folders that were listed
        self._links: list[tuple[MemoryRoot, os.DirEntry[str], str, bool]] = []

    def scan(self) -> None:
        for root in self._vault.memory_roots(self._unreadable):
            if root.scope.name and not _is_identifier(root.scope.name):
                folder = root.prefix.rpartition("/")[0]
                self._problem(folder, "name", "no address can hold this name; rename the folder")
                continue
            try:
                real = self._vault.check_own(root.folder, root.prefix, root.scope)
            except OutsideVault as error:
                self._outside(root.prefix, error)
                continue
            self._walk(root, root.folder, root.prefix, real)
        for root, entry, relative, is_folder in self._links:
            self._follow(root, entry, relative, is_folder)
        if self._same == len(self._before) == len(self.snapshot.files):
            # The very mapping of the last look tells at once that nothing has changed.
            self.snapshot.files = self._before

    def _walk(self, root: MemoryRoot, folder: str, relative: str, real: str) -> None:
        waiting = [(folder, relative, real)]
        while waiting:
            folder, relative, real = waiting.pop()
            if real in self._seen:
                self._problem(relative, "loop", "a symbolic link to a folder that is looked at under its own name")
                continue
            self._seen.add(real)
            for entry in self._list(root, folder, relative):
                name = entry.name
                known = self._before.get(f"{relative}/{name}")
                if known is not None and known.path == entry.path and _is_file(entry):
                    self._take(root, entry, known.relative, known)
                    continue
                is_folder = _is_folder(entry)
                if not is_folder and not name.lower().endswith(".md"):
                    continue
                below = f"{relative}/{name}"
                if entry.is_symlink():
                    self._links.append((root, entry, below, is_folder))
                elif is_folder:
                    waiting.append((entry.path, below, os.path.join(real, name)))
                else:
                    self._take(root, entry, below)

    def _list(self, root: MemoryRoot, folder: str, relative: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as listing:
                return sorted([e for e in listing if e.name[0] != "."], key=attrgetter("name"))
        except FileNotFoundError:
            return []
        except OSError as error:
            if relative == root.prefix == "memory":
                raise VaultUnreadable(f"{folder} could not be read ({error.strerror})") from error
            self._unreadable(relative, error)
            return []

    def _follow(self, root: MemoryRoot, entry: os.DirEntry[str], relative: str, is_folder: bool) -> None:
        try:
            real = self._vault.check_own(entry.path, relative, root.scope)
        except OutsideVault as error:
            self._outside(relative, error)
            return
        if is_folder:
            # Links within a linked folder come to the end of the list that is being gone through.
            self._walk(root, entry.path, relative, real)
        elif os.path.dirname(real) in self._seen and real.lower().endswith(".md") and os.path.exists(real):
            self._problem(relative, "alias", "a symbolic link to another category; that one counts")
        else:
            known = self._before.get(relative)
            self._take(root, entry, relative, known if known is not None and known.path == entry.path else None)

    def _take(self, root: MemoryRoot, entry: os.DirEntry[str], relative: str, known: FoundFile | None = None) -> None:
        """Note a file; what its name tells is not asked again of one that was ``known`` at the last look."""
        try:
            status = entry.stat()
        except FileNotFoundError:
            if entry.is_symlink():
                self._problem(relative, "dangling", "a symbolic link to nothing")
            return
        except OSError as error:
            self._unreadable(relative, error)
            return
        if not stat.S_ISREG(status.st_mode):
            self._problem(relative, "not-a-file", "is not a regular file")
            return
        stamp = Stamp.of(status)
        if known is not None:
            if known.stamp == stamp:
                self._same += 1
            else:
                known = FoundFile(relative, known.path, known.address, stamp)
            self.snapshot.files[relative] = known
            return
        if is_conflict_copy(entry.name):
            self._problem(
                relative, "sync-conflict", "a sync program's or an interrupted save's second copy; merge it by hand"
            )
            return
        address = self._vault.address_of(root, relative)
        if address is None:
            what = "is not UTF-8" if _is_broken(relative) else "cannot be a category's"
            self._problem(relative, "name", f"this name {what}; rename the file")
            return
        self.snapshot.files[relative] = FoundFile(relative, entry.path, address, stamp)

    def _unreadable(self, relative: str, error: OSError) -> None:
        self.snapshot.unreadable.append(relative)
        self._problem(relative, "unreadable", f"could not be read ({error.strerror})")

    def _outside(self, relative: str, error: OutsideVault) -> None:
        self.snapshot.unreadable.append(relative)
        self._problem(relative, "outside", str(error))

    def _problem(self, relative: str, kind: str, message: str) -> None:
        # A name that is not UTF-8 is shown as the bytes that it has.
        shown = os.fsencode(relative).decode("utf-8", "backslashreplace")
        self.snapshot.problems.append(Problem(shown, 0, kind, message))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file itself, and no link to one."""
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _is_broken(name: str) -> bool:
    """Whether a name is not UTF-8: bytes that are none stand in it as lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _is_identifier(name: str) -> bool:
    try:
        check_identifier(name, "a folder")
    except BadName:
        return False
    return True
