"""``MEMORY.md``: one line a category with its items' names, bounded, between markers; the rest is a person's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from memoranda.core.addresses import SHARED, Address
from memoranda.core.errors import Conflict, MemorandaError, VaultUnreadable
from memoranda.core.items import Category, parse
from memoranda.core.names import name_key
from memoranda.storage.files import read_bytes
from memoranda.storage.install import ChangedMeanwhile, install
from memoranda.storage.snapshot import scan
from memoranda.storage.store import Storage

__all__ = ["CategorySummary", "refresh_overview", "refresh_touched", "summarize", "summary_of"]

_FILE = "MEMORY.md"
_BEGIN = "<!-- memoranda: overview -->"
_END = "<!-- memoranda: end of overview -->"
_HEAD = "# Memory\n\nWhat is remembered, by category. The list between the markers is made by memoranda.\n\n"
_BLOCK = re.compile(re.escape(_BEGIN) + r"(.*?)" + re.escape(_END), re.DOTALL)
_LINE = re.compile(r"- \*\*(.+?)\*\* \(\d+\)")
_MORE = " more categories (`memoranda ls`)"
MAX_CATEGORIES = 200
MAX_NAMES = 20
MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class CategorySummary:
    """One category: its address, where its file is, and the names of its items in file order."""

    address: str
    scope: str
    category: str
    path: str
    names: tuple[str, ...]

    @property
    def items(self) -> int:
        """How many items it has."""
        return len(self.names)


def summary_of(address: str, scope: str, category: str, path: str, parsed: Category) -> CategorySummary:
    """The summary of a parsed file."""
    return CategorySummary(address, scope, category, path, tuple(s.address_name for s in parsed.sections))


def summarize(storage: Storage) -> list[CategorySummary]:
    """Every category that can be read, shared memory first, then by path. Raises VaultUnreadable."""
    found = []
    for file in scan(storage.vault).files.values():
        with suppress(Conflict, VaultUnreadable):
            loaded = storage.reader.read(file.path)
            if loaded is not None:
                address, scope = file.address, str(file.address.scope)
                found.append(summary_of(str(address), scope, address.category, file.relative, loaded.category))
    return found


def refresh_overview(storage: Storage, changed: Iterable[CategorySummary] | None = None) -> bool:
    """Bring ``MEMORY.md`` up to date: the lines of the ``changed`` categories, or all of it. Needs the lock.

    What stands outside the markers is never touched; a file without markers
    gets them at its end. Best effort: returns whether the file is as it should be.
    """
    path = os.path.join(storage.vault.root, _FILE)
    try:
        data: bytes | None = read_bytes(storage.vault.check_inside(path, _FILE))
    except FileNotFoundError:
        data = None
    except (OSError, MemorandaError):
        return False
    try:
        text = _HEAD + f"{_BEGIN}\n{_END}\n" if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if changed is None or data is None or _BLOCK.search(text) is None or _MORE in text:
        lines = {name_key(s.address): _line(s) for s in summarize(storage) if s.scope == str(SHARED) and s.items}
    else:
        lines = _known_lines(text)
        for summary in changed:
            if summary.scope == str(SHARED):
                lines.pop(name_key(summary.address), None)
                if summary.items:
                    lines[name_key(summary.address)] = _line(summary)
    result = _with_block(text, [lines[key] for key in sorted(lines)])
    encoded = result.encode("utf-8")
    if encoded == data:
        return True
    try:
        install(os.path.realpath(path), encoded, data)
    except (OSError, MemorandaError, ChangedMeanwhile):
        return False
    return True


def refresh_touched(storage: Storage, addresses: Iterable[Address]) -> bool:
    """Bring the lines of some categories up to date. Needs the lock."""
    changed = []
    for address in addresses:
        category = Address(address.scope, address.category)
        with suppress(MemorandaError):
            for relative, path in storage.vault.category_files(category):
                loaded = storage.reader.read(path)
                parsed = parse("") if loaded is None else loaded.category
                changed.append(summary_of(str(category), str(address.scope), address.category, relative, parsed))
    return refresh_overview(storage, changed)


def _known_lines(text: str) -> dict[str, str]:
    block = _BLOCK.search(text)
    lines = {}
    for line in (block.group(1) if block else "").split("\n"):
        if found := _LINE.match(line):
            lines[name_key(found.group(1))] = line
    return lines


def _line(summary: CategorySummary) -> str:
    shown = [name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…" for name in summary.names[:MAX_NAMES]]
    shown = [name for name in shown if not name.startswith("~")]
    more = summary.items - len(shown)
    names = ", ".join(shown) + (f", … +{more}" if shown and more else "")
    return f"- **{summary.address}** ({summary.items}){': ' + names if shown else ''}"


def _with_block(text: str, lines: list[str]) -> str:
    shown = lines[:MAX_CATEGORIES]
    if len(lines) > MAX_CATEGORIES:
        shown.append(f"- … {len(lines) - MAX_CATEGORIES}{_MORE}")
    block = f"{_BEGIN}\n\n" + "".join(line + "\n" for line in shown) + f"\n{_END}"
    if _BLOCK.search(text) is not None:
        return _BLOCK.sub(lambda _: block, text, count=1)
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{block}\n"
