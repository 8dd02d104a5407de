"""Bringing a vault of an older format up to the present one, one step a format."""

from __future__ import annotations

import json
import os

from memoranda.core.errors import VaultFormat, VaultUnreadable
from memoranda.storage.files import make_folder, replace_file, writing
from memoranda.storage.vault import FORMAT, read_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["migrate"]


def migrate(path: str) -> list[str]:
    """Migrate the vault at ``path``; returns in words what was done, nothing where nothing was due.

    Raises:
        VaultUnreadable: there is no folder.
        VaultFormat: the vault is newer than this program.
        VaultReadOnly, VaultFull: nothing was changed.
    """
    root = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(root):
        raise VaultUnreadable(f"there is no vault at {root}; `memoranda init` makes one")
    done: list[str] = []
    try:
        found = read_format(root)
    except VaultFormat:
        found = None
        broken = os.path.join(root, "vault.json")
        aside = f"{broken}.broken"
        with writing(root):
            os.replace(broken, aside)
        done.append(f"set the unreadable vault.json aside as {os.path.basename(aside)}")
    version = int(found["format"]) if found is not None else 0
    if version > FORMAT:
        raise VaultFormat(f"the vault at {root} has format {version}; this program knows {FORMAT}: upgrade it")
    if version < 0:
        raise VaultFormat(f"the vault at {root} says that it has format {version}; there is no such format")
    while version < FORMAT:
        done += _STEPS[version](root)
        version += 1
    return done


def _from_bare_folder(root: str) -> list[str]:
    """Format 0 is a folder of markdown without ``vault.json``: it only lacks its description."""
    with writing(root):
        make_folder(os.path.join(root, "memory"))
        data = json.dumps({"format": 1, "id": os.urandom(8).hex()}).encode() + b"\n"
        replace_file(os.path.join(root, "vault.json"), data)
    return ["wrote vault.json (format 1)"]


_STEPS: dict[int, Callable[[str], list[str]]] = {0: _from_bare_folder}
