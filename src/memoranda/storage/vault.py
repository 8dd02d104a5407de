"""The folder that holds everything: where each thing lies, and whether a path may be touched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memoranda.core.addresses import SHARED, Address, Scope
from memoranda.core.errors import (
    BadName,
    OutsideVault,
    VaultError,
    VaultFormat,
    VaultUnreadable,
)
from memoranda.core.names import is_category, name_key
from memoranda.storage.files import make_folder, reading, replace_file, writing
from memoranda.storage.settings import Settings, read_settings

__all__ = ["FORMAT", "MemoryRoot", "VaultFolder", "read_format"]

#: The version of the on-disk format that this program writes.
FORMAT = 1
_VAULT_FILE = "vault.json"
_SCOPE_FOLDERS = (("user", "users"), ("agent", "agents"), ("project", "projects"))
_IGNORED = ".cache/\n.lock\nusage.jsonl\n"


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
            with open(path, "rb") as stream:
                data = stream.read()
        except FileNotFoundError:
            return None
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("format"), int):
        raise VaultFormat(f"{path} does not say a vault's format; `memoranda migrate` writes it anew")
    return found


class VaultFolder:
    """Paths of one vault. Relative paths use ``/`` and are what journals and problems name."""

    def __init__(self, root: str, *, create: bool = True) -> None:
        """Open the folder, or create it.

        Raises:
            VaultUnreadable: not there (and not ``create``), not a folder, or no permission.
            VaultFormat: written by a newer program, or ``migrate`` is due.
        """
        self.root = os.path.realpath(os.path.expanduser(root))
        self.is_new = False
        if not os.path.isdir(self.root):
            if os.path.lexists(self.root):
                raise VaultUnreadable(f"{self.root} is not a folder")
            if not create:
                raise VaultUnreadable(f"there is no vault at {self.root}; `memoranda init` makes one")
        with reading(self.root):
            names = os.listdir(self.root) if os.path.isdir(self.root) else []
        found = read_format(self.root)
        if found is None:
            if not create and not any(name in names for name in ("memory", "users", "agents", "projects")):
                raise VaultUnreadable(f"there is no vault at {self.root}; `memoranda init` makes one")
            if create:
                found = self._found()
        elif found["format"] > FORMAT:
            raise VaultFormat(
                f"the vault at {self.root} has format {found['format']}; this program knows {FORMAT}: upgrade it"
            )
        elif found["format"] < FORMAT:
            raise VaultFormat(f"the vault at {self.root} has format {found['format']}: run `memoranda migrate`")
        self.id: str = str((found or {}).get("id", ""))
        self.settings: Settings = read_settings(self.root)

    def _found(self) -> dict[str, Any]:
        fresh = not os.path.isdir(self.root) or not os.listdir(self.root)
        with writing(self.root):
            make_folder(self.root)
            made = {"format": FORMAT, "id": os.urandom(8).hex()}
            replace_file(os.path.join(self.root, _VAULT_FILE), json.dumps(made).encode() + b"\n")
            make_folder(os.path.join(self.root, "memory"))
            if fresh:
                replace_file(os.path.join(self.root, ".gitignore"), _IGNORED.encode())
        self.is_new = True
        return made

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
                    return MemoryRoot(scope, f"projects/{project}/memory", os.path.join(folder, "memory"))
        name = self._existing(os.path.join(self.root, parent), scope.name) or scope.name
        return MemoryRoot(
            Scope(scope.kind, name), f"{parent}/{name}/memory", os.path.join(self.root, parent, name, "memory")
        )

    def memory_roots(self) -> Iterator[MemoryRoot]:
        """Every scope's memory folder that exists, shared memory first.

        Raises:
            VaultUnreadable: a folder of the vault itself may not be listed.
        """
        yield self.memory_root(SHARED)
        for kind, parent in _SCOPE_FOLDERS:
            folder = os.path.join(self.root, parent)
            configured = {name_key(p) for p in self.settings.projects} if kind == "project" else set()
            with reading(folder):
                names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
            for name in names:
                memory = os.path.join(folder, name, "memory")
                if not name.startswith(".") and name_key(name) not in configured and os.path.isdir(memory):
                    yield MemoryRoot(Scope(kind, name), f"{parent}/{name}/memory", memory)
        for project, folder in self.settings.projects.items():
            memory = os.path.join(folder, "memory")
            if os.path.isdir(memory):
                yield MemoryRoot(Scope("project", project), f"projects/{project}/memory", memory)

    @staticmethod
    def _existing(folder: str, name: str) -> str | None:
        """The name in ``folder`` that means ``name``: as written if there, else the first of the same key."""
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise VaultUnreadable(f"{folder} could not be read ({error.strerror})") from error
        if name in names:
            return name
        key = name_key(name)
        return min((found for found in names if name_key(found) == key), default=None)

    def category_files(self, address: Address) -> list[tuple[str, str]]:
        """The files of a category as (relative, absolute) paths: where it is, or would be created.

        There is more than one only where a file system keeps apart names that
        mean the same (``café.md`` in two Unicode forms).

        Raises:
            OutsideVault: a symbolic link leads out of the vault.
            BadName: a folder or file of that name is something else.
        """
        root = self.memory_root(address.scope)
        relative, folder = root.prefix, root.folder
        *folders, last = address.category.split("/")
        for part in folders:
            name = self._existing(folder, part) or part
            folder = os.path.join(folder, name)
            relative = f"{relative}/{name}"
            if os.path.lexists(folder) and not os.path.isdir(folder):
                raise BadName(f"{relative} is a file, so no category can lie below it")
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            names = []
        except OSError as error:
            raise VaultUnreadable(f"{relative} could not be read ({error.strerror})") from error
        wanted = f"{last}.md"
        key = name_key(wanted)
        found = sorted((n for n in names if name_key(n) == key), key=lambda n: (n != wanted, n)) or [wanted]
        files = [(f"{relative}/{name}", os.path.join(folder, name)) for name in found]
        for shown, path in files:
            self.check_inside(path, shown)
            if os.path.isdir(path):
                raise BadName(f"{shown} is a folder, so it cannot be a category")
        return files

    def check_inside(self, path: str, shown: str) -> str:
        """The real path behind ``path``.

        Raises:
            OutsideVault: it leaves the vault and every folder that the settings name.
        """
        real = os.path.realpath(path)
        for home in (self.root, *self.settings.projects.values()):
            home = os.path.realpath(home)
            if real == home or real.startswith(home.rstrip(os.sep) + os.sep):
                return real
        raise OutsideVault(f"{shown} leads out of the vault; it is neither read nor written")

    def address_of(self, root: MemoryRoot, relative: str) -> Address | None:
        """The category that a file below a memory folder holds; ``None`` if its name cannot be one."""
        category = relative.removeprefix(root.prefix + "/")
        category = category[: -len(".md")]
        cleaned = is_category(category, shared=root.scope == SHARED)
        return None if cleaned is None else Address(root.scope, cleaned)

    def address_at(self, relative: str) -> Address | None:
        """The category that a relative path names, whether or not the file is still there."""
        parts = relative.split("/")
        if parts[0] == "memory":
            root = MemoryRoot(SHARED, "memory", self.path("memory"))
            return self.address_of(root, relative)
        for kind, parent in _SCOPE_FOLDERS:
            if parts[0] == parent and len(parts) > 3:
                prefix = "/".join(parts[:3])
                return self.address_of(MemoryRoot(Scope(kind, parts[1]), prefix, self.absolute(prefix)), relative)
        return None

    def relative(self, path: str) -> str:
        """How a path is named to people: relative to the vault where it lies in it."""
        if path.startswith(self.root.rstrip(os.sep) + os.sep):
            return os.path.relpath(path, self.root).replace(os.sep, "/")
        return path

    def require_writable(self) -> None:
        """Raise VaultError early where no byte could be written."""
        if not os.access(self.root, os.W_OK):
            raise VaultError(f"the vault at {self.root} may not be written")
