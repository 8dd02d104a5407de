"""``MEMORY.md``: one line a category with its items' names, bounded, between markers; the rest is a person's."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from memoranda.core.addresses import SHARED, Address
from memoranda.core.errors import Conflict, MemorandaError, VaultUnreadable
from memoranda.core.names import name_key
from memoranda.core.records import dataclass, replace
from memoranda.services.overview_mark import journal_stamp, note, noted
from memoranda.storage.files import read_bytes
from memoranda.storage.snapshot import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.core.items import Category
    from memoranda.core.model import JournalEntry
    from memoranda.storage.store import Storage

__all__ = ["CategorySummary", "refresh_changed", "refresh_overview", "summarize", "summary_of"]

_FILE = "MEMORY.md"
_BEGIN = "<!-- memoranda: overview -->"
_END = "<!-- memoranda: end of overview -->"
_HEAD = "# Memory\n\nWhat is remembered, by category. The list between the markers is made by memoranda.\n\n"
_BLOCK = f"(?s){_BEGIN}(.*?){_END}"
_LINE = r"- \*\*(.+?)\*\* \(\d+\)"
_MORE = " more categories (`memoranda ls`)"
#: From so many changes on, making it anew is cheaper than following them.
_MOST_CHANGES = 5000
_PATIENCE = 1.0
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


def summarize(storage: Storage, unread: list[str] | None = None) -> list[CategorySummary]:
    """Every category that can be read, shared memory first, then by path; what cannot be is put in ``unread``.

    Raises:
        VaultUnreadable: the vault as a whole may not be read.
    """
    found = []
    snapshot = scan(storage.vault)
    missing = list(snapshot.unreadable)
    for file in snapshot.files.values():
        try:
            loaded = storage.reader.read(file.path)
        except (Conflict, VaultUnreadable):
            missing.append(file.relative)
            continue
        if loaded is not None:
            address, scope = file.address, str(file.address.scope)
            found.append(summary_of(str(address), scope, address.category, file.relative, loaded.category))
    if unread is not None:
        unread += missing
    return found


def refresh_overview(storage: Storage) -> bool:
    """Bring ``MEMORY.md`` up to date with all files. Needs the lock.

    What stands outside the markers is never touched; a file without markers
    gets them at its end. Best effort: returns whether the file is as it should be.
    """
    stamp, newest = journal_stamp(storage), storage.journal.last_id()
    made = _refresh(storage, None)
    if made:
        note(storage, newest, stamp)
    return made


def refresh_changed(storage: Storage) -> bool:
    """Bring ``MEMORY.md`` up to date with what the journal tells since it was made last.

    Takes the lock if there is anything to do; returns whether the file is as it should be.

    Raises:
        VaultBusy, VaultReadOnly, VaultUnreadable.
    """
    stamp, newest = journal_stamp(storage), storage.journal.last_id()
    if newest is None or newest == noted(storage):
        note(storage, newest, stamp)
        return True
    with storage.locked(_PATIENCE):
        stamp, newest = journal_stamp(storage), storage.journal.last_id()
        made = _refresh(storage, _changed_since(storage, noted(storage)))
        if made:
            note(storage, newest, stamp)
        return made


def _changed_since(storage: Storage, since: str | None) -> list[Address] | None:
    """The categories that changed after a journal line; ``None`` if that line is not known or too far back."""
    changed: dict[tuple[str, str, str], Address] = {}
    for number, entry in enumerate(storage.journal.read_backwards()):
        if entry.id == since:
            return list(changed.values())
        if since is None or number >= _MOST_CHANGES:
            break
        for address in _changed_by(storage, entry):
            changed[address.key] = address
    return None


def _changed_by(storage: Storage, entry: JournalEntry) -> Iterator[Address]:
    """The categories of shared memory whose items a journal line tells of."""
    if entry.scope == str(SHARED) and entry.category is not None:
        yield Address(SHARED, entry.category)
    for path in entry.detail.get("paths") or ():
        found = storage.vault.address_at(path) if isinstance(path, str) else None
        if found is not None and found.scope == SHARED:
            yield found


def _refresh(storage: Storage, changed: Iterable[Address] | None) -> bool:
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
    if changed is None or data is None or re.search(_BLOCK, text) is None or _MORE in text:
        lines = _lines(s for s in summarize(storage) if s.scope == str(SHARED))
    else:
        lines = _known_lines(text)
        for address in changed:
            lines.pop(name_key(str(address)), None)
            lines |= _lines(_summaries_of(storage, address))
    result = _with_block(text, [lines[key] for key in sorted(lines)])
    encoded = result.encode("utf-8", "surrogatepass")
    if encoded == data:
        return True
    from memoranda.storage.install import ChangedMeanwhile, install

    try:
        install(os.path.realpath(path), encoded, data)
    except (OSError, MemorandaError, ChangedMeanwhile):
        return False
    return True


def _summaries_of(storage: Storage, address: Address) -> Iterator[CategorySummary]:
    with suppress(MemorandaError):
        for relative, path in storage.vault.category_files(address):
            loaded = storage.reader.read(path)
            if loaded is not None:
                yield summary_of(str(address), str(SHARED), address.category, relative, loaded.category)


def _lines(summaries: Iterable[CategorySummary]) -> dict[str, str]:
    """A line a category; the files of one category are one."""
    merged: dict[str, CategorySummary] = {}
    for summary in summaries:
        key = name_key(summary.address)
        if key in merged:
            summary = replace(merged[key], names=merged[key].names + summary.names)
        merged[key] = summary
    return {key: _line(summary) for key, summary in merged.items() if summary.items}


def _known_lines(text: str) -> dict[str, str]:
    block = re.search(_BLOCK, text)
    lines = {}
    for line in (block.group(1) if block else "").split("\n"):
        if found := re.match(_LINE, line):
            lines[name_key(found.group(1))] = line
    return lines


def _line(summary: CategorySummary) -> str:
    shown = [name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…" for name in summary.names[:MAX_NAMES]]
    shown = [name.replace("<!--", "‹!--") for name in shown if not name.startswith("~")]
    more = summary.items - len(shown)
    names = ", ".join(shown) + (f", … +{more}" if shown and more else "")
    return f"- **{summary.address}** ({summary.items}){': ' + names if shown else ''}"


def _with_block(text: str, lines: list[str]) -> str:
    shown = lines[:MAX_CATEGORIES]
    if len(lines) > MAX_CATEGORIES:
        shown.append(f"- … {len(lines) - MAX_CATEGORIES}{_MORE}")
    block = f"{_BEGIN}\n\n" + "".join(line + "\n" for line in shown) + f"\n{_END}"
    if re.search(_BLOCK, text) is not None:
        return re.sub(_BLOCK, lambda _: block, text, count=1)
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{block}\n"
