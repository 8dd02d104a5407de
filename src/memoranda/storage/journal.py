"""``journal.jsonl``: what happened, one line for every change, hashes and never bodies."""

from __future__ import annotations

import os

from memoranda.core.model import JournalEntry
from memoranda.storage.files import reading, writing
from memoranda.storage.jsonlines import JsonLines
from memoranda.storage.standing import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from memoranda.storage.jsonlines import Record
    from memoranda.storage.vault import VaultFolder

__all__ = ["Journal", "change_of", "from_record", "new_change_id", "to_record"]

_FIELDS = ("id", "ts", "action", "category", "item", "scope", "actor", "source", "before", "after", "detail")


def new_change_id() -> str:
    """Ten hexadecimal digits, unrelated to the clock (which may go back)."""
    return os.urandom(5).hex()


def change_of(journal_id: str) -> str:
    """The change that a journal line belongs to: ``4f0c12aa90.3`` is the third line of ``4f0c12aa90``."""
    return journal_id.partition(".")[0]


class Journal:
    """Appends and reads the journal. Writers hold the vault's lock."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._lines = JsonLines(vault.path(JOURNAL))
        self.path = self._lines.path

    def append(self, entries: Iterable[JournalEntry]) -> None:
        """Write the entries in one durable step.

        Raises:
            VaultFull, VaultReadOnly: nothing was written.
        """
        self._vault.check_inside(self._lines.path, JOURNAL)
        with writing(self._lines.path):
            self._lines.append(to_record(entry) for entry in entries)

    def read(self) -> Iterator[JournalEntry]:
        """Every entry, oldest first."""
        with reading(self._lines.path):
            for record in self._lines.read():
                yield from_record(record)

    def read_backwards(self) -> Iterator[JournalEntry]:
        """Every entry, newest first; reads no more than is asked for."""
        with reading(self._lines.path):
            for record in self._lines.read_backwards():
                yield from_record(record)

    def last_id(self) -> str | None:
        """The id of the newest entry."""
        return next((entry.id for entry in self.read_backwards()), None)

    def lines_of(self, change: str) -> set[str]:
        """The ids of the lines that a change has in the journal; looks no further back than the newest of them."""
        found: set[str] = set()
        for entry in self.read_backwards():
            if change_of(entry.id) == change:
                found.add(entry.id)
            elif found:
                break
        return found

    def torn(self) -> int:
        """How many torn or unreadable lines there are, those set aside included."""
        with reading(self._lines.path):
            return self._lines.torn()

    def size(self) -> int:
        """The journal's size in bytes."""
        return self._lines.size()

    def scrub(self, change: Callable[[JournalEntry], JournalEntry]) -> int:
        """Rewrite entries: for ``forget`` alone. Returns how many changed."""

        def changed(record: Record) -> Record | None:
            entry = from_record(record)
            result = change(entry)
            return record if result == entry else to_record(result)

        with writing(self._lines.path):
            return self._lines.rewrite(changed)


def to_record(entry: JournalEntry) -> Record:
    """The entry as a line's JSON object."""
    return {field: getattr(entry, field) for field in _FIELDS}


def from_record(record: Record) -> JournalEntry:
    """Read one line leniently: a person may have edited it, an importer may have written less."""
    values: dict[str, Any] = {}
    for field in _FIELDS:
        value = record.get(field)
        if field == "detail":
            values[field] = value if isinstance(value, dict) else {}
        elif field in ("id", "ts", "action", "scope", "actor"):
            default = {"scope": "shared", "actor": "user"}.get(field, "")
            values[field] = value if isinstance(value, str) else default
        else:
            values[field] = value if isinstance(value, str) else None
    return JournalEntry(**values)
