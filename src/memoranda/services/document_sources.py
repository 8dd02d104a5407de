"""What there is to take in below a path: files, in a fixed order, and folders that cannot be looked into."""

from __future__ import annotations

import os

from memoranda.core.documents import NotConverted
from memoranda.services.ignoring import is_left_out, read_rules
from memoranda.services.ingest import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.services.ignoring import IgnoreRules

__all__ = ["sources_below"]

#: Folders that hold what programs made.
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def sources_below(path: str, vault: str = "") -> Iterator[Source]:
    """The files in a folder and those below it, or the one file.

    Left out are what is hidden, links (no loop has an end else), what ignore
    files name, what programs made, and the ``vault`` itself.
    """
    if os.path.isdir(path):
        yield from _below(path, os.path.realpath(path), os.path.realpath(vault) if vault else "", ())
    else:
        yield Source.file(path)


def _below(folder: str, real: str, vault: str, above: Sequence[IgnoreRules]) -> Iterator[Source]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield Source(folder, real, fault=NotConverted("unreadable", f"cannot be looked into ({error.strerror})"))
        return
    own = read_rules(folder) if any(entry.name.endswith("ignore") for entry in entries) else None
    rules = above if own is None else (*above, own)
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        is_folder = entry.is_dir()
        if rules and is_left_out(entry.path, is_folder, rules):
            continue
        if not is_folder:
            if entry.is_file():
                yield Source(entry.path, entry.path if folder == real else os.path.join(real, entry.name))
        elif entry.name not in _LEFT_OUT and (inner := os.path.join(real, entry.name)) != vault:
            yield from _below(entry.path, inner, vault, rules)
