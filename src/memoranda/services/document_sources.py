"""What there is to take in below a path: files, in a fixed order, and folders that cannot be looked into."""

from __future__ import annotations

import os

from memoranda.core.documents import NotConverted
from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass
from memoranda.services.ignoring import IGNORE_FILES, is_left_out, read_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.services.ignoring import IgnoreRules

__all__ = ["Source", "readable_name", "sources_below"]

#: Folders that hold what programs made.
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True, slots=True)
class Source:
    """Something to take in: a file, or (``data``) what was read from elsewhere already.

    ``id`` is what its document is known by: its real path, or its address.
    ``fault`` says why it cannot be taken in, where that is known before.
    """

    path: str
    id: str
    data: bytes | None = None
    name: str = ""
    fault: NotConverted | None = None

    @classmethod
    def file(cls, path: str) -> Source:
        """A file, which may be a link."""
        return cls(path, readable_name(os.path.realpath(path)))


def sources_below(path: str, vault: str = "") -> Iterator[Source]:
    """The files in a folder and those below it, or the one file.

    Left out are what is hidden, links (no loop has an end else), what ignore
    files name, what programs made, and the ``vault`` itself.

    Raises:
        UsageError: the path is the vault, or in it.
    """
    if not os.path.isdir(path):
        yield Source.file(path)
        return
    real, home = os.path.realpath(path), os.path.realpath(vault) if vault else ""
    if home and (real == home or real.startswith(home + os.sep)):
        raise UsageError(f"{path} is in the vault itself: what is there is taken in already")
    # Not by recursion: how deep a tree is, is for its owner to decide.
    open_folders = [_entries(path, real, ())]
    while open_folders:
        found = next(open_folders[-1], None)
        if found is None:
            open_folders.pop()
        elif isinstance(found, Source):
            yield found
        elif found[1] != home:
            open_folders.append(_entries(*found))


def _entries(
    folder: str, real: str, above: tuple[IgnoreRules, ...]
) -> Iterator[Source | tuple[str, str, tuple[IgnoreRules, ...]]]:
    """The files of a folder, and the folders in it with the rules that hold there, by name."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield Source(folder, real, fault=NotConverted("unreadable", f"cannot be looked into ({error.strerror})"))
        return
    own = read_rules(folder) if any(entry.name in IGNORE_FILES for entry in entries) else None
    rules = above if own is None else (*above, own)
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        is_folder = entry.is_dir()
        if rules and is_left_out(entry.path, is_folder, rules):
            continue
        inner = readable_name(entry.path if folder == real else os.path.join(real, entry.name))
        if not is_folder:
            if entry.is_file():
                yield Source(entry.path, inner)
        elif entry.name not in _LEFT_OUT:
            yield entry.path, inner, rules


def readable_name(path: str) -> str:
    """A path as text: bytes in it that are none are shown by their numbers."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode("utf-8")
