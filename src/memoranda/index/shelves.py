"""What documents there are, by stat alone: one that is as it is known costs one call, and no look at its name.

The same documents as :meth:`memoranda.storage.documents.Documents.files` gives,
which asks of each anew whether its name can be one and whether it leads out.
"""

from __future__ import annotations

import os

from memoranda.core.errors import BadName, OutsideVault
from memoranda.core.names import check_identifier, is_conflict_copy
from memoranda.core.records import dataclass, field
from memoranda.storage.documents import DocumentFile
from memoranda.storage.files import Stamp, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memoranda.storage.vault import VaultFolder

__all__ = ["Look", "Shelf", "look"]

_FOLDER, _ENDING = "docs", ".md"


@dataclass(slots=True)
class Shelf:
    """What is known of a corpus: by what size and overlap it is cut, and a row for each document's file.

    A row is its stamp, and 1 if that alone can be trusted, else 0. Lists of
    numbers, as a segment has them: ten thousand of them are compared in a moment.
    """

    cut: list[int] = field(default_factory=list)
    rows: dict[str, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Look:
    """One look: the documents that may not be as they are known, by corpus and name; what is gone; bytes of all."""

    changed: list[DocumentFile] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    total: int = 0


def look(vault: VaultFolder, shelves: Mapping[str, Shelf]) -> Look:
    """Look at the documents of these corpora. Raises VaultUnreadable: what cannot be looked at is not gone."""
    found = Look()
    for corpus in sorted(shelves):
        folder = os.path.join(vault.path(_FOLDER), corpus)
        if _is_inside(vault, folder, f"{_FOLDER}/{corpus}"):
            _look_at(vault, corpus, folder, shelves[corpus], found)
        else:
            found.gone += [(corpus, name) for name in shelves[corpus].rows]
    found.changed.sort(key=lambda file: (file.corpus, os.path.basename(file.path)))
    return found


def _look_at(vault: VaultFolder, corpus: str, folder: str, shelf: Shelf, found: Look) -> None:
    rows, total = shelf.rows, 0
    seen: set[str] = set()
    with reading(folder), os.scandir(folder) as listing:
        for entry in listing:
            name = entry.name
            row = rows.get(name)
            if row is None and not _can_be(name):
                continue
            if entry.is_symlink() and not _is_inside(vault, entry.path, f"{_FOLDER}/{corpus}/{name}"):
                continue
            try:
                if not entry.is_file():
                    continue
                status = entry.stat()
            except OSError:  # gone meanwhile, or a link to nothing
                continue
            seen.add(name)
            total += status.st_size
            if [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, 1] != row:
                relative, document = f"{_FOLDER}/{corpus}/{name}", name.removesuffix(_ENDING)
                found.changed.append(DocumentFile(relative, entry.path, corpus, document, Stamp.of(status)))
    found.total += total
    if len(seen) < len(rows) or not seen.issuperset(rows):
        found.gone += [(corpus, name) for name in rows if name not in seen]


def _is_inside(vault: VaultFolder, path: str, shown: str) -> bool:
    try:
        vault.check_inside(path, shown)
        return True
    except (OutsideVault, OSError):
        return False


def _can_be(name: str) -> bool:
    """Whether a file of this name is a document, and an address can name it."""
    document = name.removesuffix(_ENDING)
    if document == name or document.startswith(".") or "#" in document or is_conflict_copy(name):
        return False
    try:
        return check_identifier(document, "a document") == document
    except BadName:
        return False
