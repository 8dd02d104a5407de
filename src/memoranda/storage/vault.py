"""The folder that holds everything: where each thing lies, and whether a path may be touched."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from memoranda.core.addresses import SHARED, Address, Scope
from memoranda.core.errors import BadName, OutsideVault, UsageError, VaultFormat, VaultUnreadable
from memoranda.core.names import is_category, name_key
from memoranda.core.records import dataclass
from memoranda.storage.files import (
    create_only,
    make_folder,
    read_bytes,
    reading,
    replace_file,
    sync_folder,
    write_temporary,
    writing,
)
from memoranda.storage.settings import VAULT_FOLDERS, is_below, usable_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from memoranda.storage.settings import Settings
    from memoranda.storage.snapshot import FoundFile

__all__ = ["FORMAT", "MemoryRoot", "VaultFolder", "read_format"]

#: The version of the on-disk format that this program writes.
FORMAT = 1
_VAULT_FILE = "vault.json"
_SCOPE_FOLDERS = (("user", "users"), ("agent", "agents"), ("project", "projects"))
_SHARED = "memory"
_IGNORED = ".cache/\n.lock*\n.memoranda-*.tmp\nusage.jsonl\n"


@dataclass(frozen=True, slots=True)
class MemoryRoot:
    """One scope's memory folder: ``prefix`` is its path in words relative to the vault."""

    scope: Scope
    prefix: str
    folder: str


def read_format(root: str) -> dict[str, Any] | None:
    """What ``vault.json`` says; ``None`` if there is none.

    Raises:
        VaultUnreadable: the file may not be read.
        VaultFormat: it holds something else than a vault's description.
    """
    path = os.path.join(root, _VAULT_FILE)
    with reading(path):
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            return None
    found = _as_written(data)
    if found is None:
        import json  # a person has been at it, or another program

        with suppress(ValueError, RecursionError):
            found = json.loads(data)
    if not isinstance(found, dict) or type(found.get("format")) is not int:
        raise VaultFormat(f"{path} does not say a vault's format; `memoranda migrate` writes it anew")
    return found


def _description(vault_id: str) -> bytes:
    """What ``vault.json`` holds."""
    return f'{{"format": {FORMAT}, "id": "{vault_id}"}}\n'.encode("ascii")


def _as_written(data: bytes) -> dict[str, Any] | None:
    """What a file says that is to the letter what this program writes; ``None`` for any other."""
    vault_id = data[-19:-3]
    if vault_id.isalnum() and data == _description(vault_id.decode("ascii")):
        return {"format": FORMAT, "id": vault_id.decode("ascii")}
    return None


class VaultFolder:
    """Paths of one vault. Relative paths use ``/`` and are what journals and problems name."""

    def __init__(self, root: str, *, create: bool = True) -> None:
        """Open the folder, or create it.

        Raises:
            VaultUnreadable: not there (and not ``create``), not a folder, or no permission.
            VaultFormat: written by a newer program, or ``migrate`` is due.
            VaultFull, VaultReadOnly: it could not be created.
            UsageError: the path is none, or the settings mean nothing.
        """
        if not root.strip() or "\0" in root:
            raise UsageError(f"a vault is a folder, not {root!r}")
        self.root = os.path.realpath(os.path.expanduser(root))
        self.is_new = False
        #: The category files of the last look, by relative path (see :mod:`.snapshot`).
        self.last_found: dict[str, FoundFile] = {}
        names = self._names_in_root()
        found = None if names is None else read_format(self.root)
        if found is None and create:
            found = self._found()
        elif found is None and not {"memory", "users", "agents", "projects"} & set(names or ()):
            raise VaultUnreadable(f"there is no vault at {self.root}; `memoranda init` makes one")
        if found is not None and found["format"] > FORMAT:
            raise VaultFormat(
                f"the vault at {self.root} has format {found['format']}; this program knows {FORMAT}: upgrade it"
            )
        if found is not None and found["format"] < FORMAT:
            raise VaultFormat(f"the vault at {self.root} has format {found['format']}: run `memoranda migrate`")
        self._described = found is not None
        self.id: str = str((found or {}).get("id", ""))
        self.settings: Settings
        #: What in the settings file means nothing and is left out.
        self.settings_faults: list[str]
        self.settings, self.settings_faults = usable_settings(self.root)

    def _names_in_root(self) -> list[str] | None:
        """What lies in the folder; ``None`` if it is not there."""
        try:
            return os.listdir(self.root)
        except FileNotFoundError:
            return None
        except NotADirectoryError as error:
            raise VaultUnreadable(f"{self.root} is not a folder") from error
        except OSError as error:
            raise VaultUnreadable(f"{self.root} could not be read ({error.strerror})") from error

    def _found(self) -> dict[str, Any] | None:
        names = self._names_in_root() or []
        fresh = not names
        path = os.path.join(self.root, _VAULT_FILE)
        with writing(self.root):
            make_folder(self.root)
            vault_id = os.urandom(8).hex()
            temporary = write_temporary(self.root, _description(vault_id))
            try:
                create_only(temporary, path)
            except FileExistsError:
                # Somebody else made it at the same time: there is one vault, and it has one id.
                os.unlink(temporary)
                return read_format(self.root)
            sync_folder(self.root)
            make_folder(os.path.join(self.root, "memory"))
            if (fresh or ".git" in names) and ".gitignore" not in names:
                replace_file(os.path.join(self.root, ".gitignore"), _IGNORED.encode())
        self.is_new = True
        return {"format": FORMAT, "id": vault_id}

    def require_present(self) -> None:
        """See that the vault is still there: an unmounted disk leaves an empty folder behind.

        Raises:
            VaultUnreadable: it is not.
        """
        marker = os.path.join(self.root, _VAULT_FILE) if self._described else self.root
        try:
            os.stat(marker)
        except FileNotFoundError as error:
            raise VaultUnreadable(f"there is no vault at {self.root} any more") from error
        except OSError as error:
            raise VaultUnreadable(f"{self.root} could not be read ({error.strerror})") from error

    def path(self, relative: str) -> str:
        """The absolute path of a file that lies directly in the vault, such as ``journal.jsonl``."""
        return os.path.join(self.root, *relative.split("/"))

    def absolute(self, relative: str) -> str:
        """The absolute path of a category file's relative one; the folder of a configured project is its own."""
        parts = relative.split("/")
        if len(parts) > 2 and parts[0] == "projects" and (folder := self.settings.projects.get(parts[1])):
            return os.path.join(folder, *parts[2:])
        return self.path(relative)

    def memory_root(self, scope: Scope) -> MemoryRoot:
        """Where a scope's categories lie (whether or not anything is there yet)."""
        if scope == SHARED:
            return MemoryRoot(scope, "memory", os.path.join(self.root, "memory"))
        parent = dict(_SCOPE_FOLDERS)[scope.kind]
        if scope.kind == "project":
            for project, folder in self.settings.projects.items():
                if name_key(project) == name_key(scope.name):
                    found = Scope("project", project)
                    return MemoryRoot(found, f"projects/{project}/memory", os.path.join(folder, "memory"))
        name = next(iter(self._existing(os.path.join(self.root, parent), scope.name)), scope.name)
        return MemoryRoot(
            Scope(scope.kind, name), f"{parent}/{name}/memory", os.path.join(self.root, parent, name, "memory")
        )

    def memory_roots(self, unreadable: Callable[[str, OSError], None]) -> Iterator[MemoryRoot]:
        """Every scope's memory folder that exists, shared memory first.

        ``unreadable`` is told which folder (relative) could not be looked into:
        what is below it is unknown.
        """
        yield self.memory_root(SHARED)
        for kind, parent in _SCOPE_FOLDERS:
            folder = os.path.join(self.root, parent)
            configured = {name_key(p) for p in self.settings.projects} if kind == "project" else set()
            try:
                names = sorted(os.listdir(folder))
            except FileNotFoundError:
                continue
            except OSError as error:
                unreadable(parent, error)
                continue
            for name in names:
                memory = os.path.join(folder, name, "memory")
                if name.startswith(".") or name_key(name) in configured:
                    continue
                try:
                    if _is_folder(memory):
                        yield MemoryRoot(Scope(kind, name), f"{parent}/{name}/memory", memory)
                except OSError as error:
                    unreadable(f"{parent}/{name}", error)
        for project, folder in self.settings.projects.items():
            memory = os.path.join(folder, "memory")
            try:
                # A folder that is not there is a disk that is not mounted, or another machine's:
                # that is not a project whose memory was removed.
                os.stat(folder)
                if _is_folder(memory):
                    yield MemoryRoot(Scope("project", project), f"projects/{project}/memory", memory)
            except OSError as error:
                unreadable(f"projects/{project}", error)

    @staticmethod
    def _existing(folder: str, name: str) -> list[str]:
        """The names in ``folder`` that mean ``name``, as written first."""
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise VaultUnreadable(f"{folder} could not be read ({error.strerror})") from error
        key = name_key(name)
        return sorted((found for found in names if name_key(found) == key), key=lambda found: (found != name, found))

    def category_files(self, address: Address) -> list[tuple[str, str]]:
        """The files of a category as (relative, absolute) paths: where it is, or would be created.

        There is more than one only where a file system keeps apart names that
        mean the same (``café.md`` in two Unicode forms).

        Raises:
            OutsideVault: a symbolic link leads out of the vault, or to what is not this scope's.
            BadName: a folder or file of that name is something else.
        """
        folders = self._scope_folders(address.scope)
        *parts, last = address.category.split("/")
        for part in parts:
            folders = self._below(folders, part)
            for shown, folder in folders:
                if os.path.lexists(folder) and not os.path.isdir(folder):
                    raise BadName(f"{shown} is a file, so no category can lie below it")
        files = self._below(folders, f"{last}.md")
        for shown, path in files:
            real = self.check_own(path, shown, address.scope)
            if os.path.isdir(real):
                raise BadName(f"{shown} is a folder, so it cannot be a category")
            self._check_alias(shown, path, real)
        return files

    def _scope_folders(self, scope: Scope) -> list[tuple[str, str]]:
        root = self.memory_root(scope)
        if scope.kind in ("user", "agent", "project") and root.folder.startswith(self.root + os.sep):
            parent = dict(_SCOPE_FOLDERS)[scope.kind]
            names = self._existing(os.path.join(self.root, parent), scope.name)
            if len(names) > 1:
                return [(f"{parent}/{n}/memory", os.path.join(self.root, parent, n, "memory")) for n in names]
        return [(root.prefix, root.folder)]

    def _below(self, folders: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
        """What means ``name`` in any of the folders; where it would be created if nothing does."""
        found = [
            (f"{shown}/{there}", os.path.join(folder, there))
            for shown, folder in folders
            for there in self._existing(folder, name)
        ]
        shown, folder = next(((s, f) for s, f in folders if os.path.isdir(f)), folders[0])
        return found or [(f"{shown}/{name}", os.path.join(folder, name))]

    @staticmethod
    def _check_alias(shown: str, path: str, real: str) -> None:
        """See that a file is not reached by a link to another category: it would have two names."""
        parts = shown.split("/")
        below = parts[1:] if parts[0] == "memory" else parts[3:]
        home = path
        for _ in below:
            home = os.path.dirname(home)
        home = os.path.realpath(home)
        if real.startswith(home + os.sep) and real != os.path.join(home, *below):
            other = os.path.relpath(real, home).replace(os.sep, "/")
            raise BadName(f"{shown} is a link to {other}, which is a category of its own: use that one")

    def check_inside(self, path: str, shown: str) -> str:
        """The real path behind ``path``.

        Raises:
            OutsideVault: it leaves the vault and every folder that the settings name.
        """
        real = os.path.realpath(path)
        for home in (self.root, *self.settings.projects.values()):
            home = os.path.realpath(home)
            if is_below(real, home):
                return real
        raise OutsideVault(f"{shown} leads out of the vault; it is neither read nor written")

    def check_own(self, path: str, shown: str, scope: Scope) -> str:
        """The real path behind a path of one scope's memory.

        Raises:
            OutsideVault: it leaves the vault, leads to another scope's memory, or out of this one's to what the
                program keeps there of everybody.
        """
        real = self.check_inside(path, shown)
        whose = self._owner_of(real)
        if whose is None and scope != SHARED:
            first, *below = os.path.relpath(real, self.root).split(os.sep)
            if (first.casefold() in VAULT_FOLDERS and first != _SHARED) or not below:
                raise OutsideVault(f"{shown} leads to what is not of {scope}; it is neither read nor written")
        if whose is not None and name_key(str(whose)) != name_key(str(scope)):
            raise OutsideVault(f"{shown} leads to what is of {whose}; it is neither read nor written")
        return real

    def _owner_of(self, real: str) -> Scope | None:
        """Whose folder a real path lies in, of several within each other the innermost's; ``None``: nobody's."""
        homes = [(os.path.realpath(folder), Scope("project", p)) for p, folder in self.settings.projects.items()]
        if real.startswith(self.root.rstrip(os.sep) + os.sep):
            parent, *names = os.path.relpath(real, self.root).split(os.sep)
            kind = next((kind for kind, folder in _SCOPE_FOLDERS if folder == parent.casefold()), None)
            if kind is not None and names:
                homes.append((os.path.join(self.root, parent, names[0]), Scope(kind, names[0])))
        held = [one for one in homes if is_below(real, one[0])]
        return max(held, key=lambda one: len(one[0]))[1] if held else None

    def address_of(self, root: MemoryRoot, relative: str) -> Address | None:
        """The category that a file below a memory folder holds; ``None`` if its name cannot be one."""
        category = relative.removeprefix(root.prefix + "/")[: -len(".md")]
        if not _is_plain(category):
            cleaned = is_category(category, shared=root.scope == SHARED)
            if cleaned is None:
                return None
            category = cleaned
        return Address(root.scope, category)

    def address_at(self, relative: str) -> Address | None:
        """The category that a relative path names, whether or not the file is still there."""
        if not relative.lower().endswith(".md"):
            return None
        parts = relative.split("/")
        if parts[0] == "memory":
            root = MemoryRoot(SHARED, "memory", self.path("memory"))
            return self.address_of(root, relative)
        for kind, parent in _SCOPE_FOLDERS:
            if parts[0] == parent and len(parts) > 3 and parts[2] == "memory":
                prefix = "/".join(parts[:3])
                return self.address_of(MemoryRoot(Scope(kind, parts[1]), prefix, self.absolute(prefix)), relative)
        return None

    def relative(self, path: str) -> str:
        """How a path is named to people: relative to the vault where it lies in it."""
        if path.startswith(self.root.rstrip(os.sep) + os.sep):
            return os.path.relpath(path, self.root).replace(os.sep, "/")
        return path


def _is_plain(name: str) -> bool:
    """Whether a file's name is so plain that nothing in the rules for names is about it: most are."""
    # Names that Windows keeps for itself are shorter, conflict copies have the word in them.
    if not 5 <= len(name) <= 100 or not name.isascii() or "onflict" in name or "ONFLICT" in name:
        return False
    return name.replace("-", "").replace("_", "").isalnum()


def _is_folder(path: str) -> bool:
    """Whether a folder is there. Raises OSError where that cannot be told."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
