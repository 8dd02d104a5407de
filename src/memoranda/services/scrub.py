"""Taking forgotten text out of what records the past: history, journal and usage."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from memoranda.core.addresses import Address
from memoranda.core.model import JournalEntry
from memoranda.core.names import name_key
from memoranda.storage.files import writing
from memoranda.storage.history import ChangeRecord, ItemState
from memoranda.storage.jsonlines import JsonLines, Record
from memoranda.storage.store import Storage

__all__ = ["scrub_history", "scrub_journal", "scrub_usage"]

#: What stands in a journal line where a forgotten item's name stood.
FORGOTTEN = "(forgotten)"
_TELLING = 12


def _former_names(storage: Storage, items: Mapping[str, Address]) -> set[tuple[str, str]]:
    """(path, key of name) of every name that the items have had, renames followed back."""
    names: set[tuple[str, str]] = set()
    wanted = {address.key for address in items.values()}
    paths: dict[str, tuple[str, str]] = {}
    for record in storage.history.read_backwards():
        for change in record.items:
            if change.path not in paths:
                found = storage.vault.address_at(change.path)
                paths[change.path] = (found.key[0], found.key[1]) if found is not None else ("", change.path)
            scope, category = paths[change.path]
            states = [state for state in (change.before, change.after) if state is not None]
            keys = {(scope, category, name_key(state.name.removeprefix("^"))) for state in states}
            plain = {(k[0], k[1], k[2].removeprefix("^")) for k in wanted}
            if keys & plain:
                for key in keys:
                    wanted.add(key)
                    names.add((change.path, key[2]))
    return names


def scrub_history(storage: Storage, items: Mapping[str, Address], texts: Mapping[str, str]) -> int:
    """Take the items' bodies out of every record; returns how many records changed. Needs the lock.

    A record that held one cannot be undone exactly any more; what it says of
    other items stays.
    """
    names = _former_names(storage, items)
    lines = {
        line.strip()
        for text in texts.values()
        for line in text.split("\n")
        if len(line.strip().encode("utf-8")) >= _TELLING
    }
    for record in storage.history.read():
        for change in record.items:
            for state in (change.before, change.after):
                if state is not None and (change.path, name_key(state.name.removeprefix("^"))) in names:
                    lines.update(
                        line.strip()
                        for line in state.text.split("\n")
                        if len(line.strip().encode("utf-8")) >= _TELLING
                    )
    plain = {address.name or "" for address in items.values()}

    def holds(state: ItemState | None) -> bool:
        return state is not None and any(line in state.text for line in lines)

    def change_record(record: ChangeRecord) -> ChangeRecord:
        kept = tuple(
            change
            for change in record.items
            if not any(
                state is not None and (change.path, name_key(state.name.removeprefix("^"))) in names
                for state in (change.before, change.after)
            )
            and not holds(change.before)
            and not holds(change.after)
        )
        telling = any(
            any(line in side for line in lines) or any(name and name in side for name in plain)
            for file in record.files
            for edit in file.edits
            for side in (edit.old, edit.new)
        )
        if len(kept) == len(record.items) and not telling:
            return record
        return replace(
            record,
            items=kept,
            files=tuple(replace(file, edits=()) for file in record.files),
            journal=(),
            extra={},
            state="forgotten",
        )

    return storage.history.scrub(change_record)


def scrub_journal(storage: Storage, items: Mapping[str, Address]) -> int:
    """Replace the items' names and hashes in the journal, in every name they had; needs the lock."""
    wanted = {address.key for address in items.values()}
    for entry in reversed(list(storage.journal.read())):
        if entry.action == "rename" and _key(entry) in wanted and isinstance(entry.detail.get("from"), str):
            wanted.add((*_key(entry)[:2], name_key(entry.detail["from"])))
    named = {str(address) for address in items.values()} | {address.name or "" for address in items.values()}

    def change(entry: JournalEntry) -> JournalEntry:
        mine = _key(entry) in wanted
        detail = {
            key: FORGOTTEN if isinstance(value, str) and (value in named or (mine and key == "from")) else value
            for key, value in entry.detail.items()
        }
        if mine:
            return replace(entry, item=FORGOTTEN, before=None, after=None, detail=detail)
        return replace(entry, detail=detail) if detail != entry.detail else entry

    return storage.journal.scrub(change)


def _key(entry: JournalEntry) -> tuple[str, str, str]:
    return (name_key(entry.scope), name_key(entry.category or ""), name_key(entry.item or ""))


def scrub_usage(storage: Storage, addresses: Iterable[str]) -> None:
    """Drop the addresses from ``usage.jsonl``; needs the lock."""
    gone = {name_key(address) for address in addresses}
    lines = JsonLines(storage.vault.path("usage.jsonl"))

    def change(record: Record) -> Record | None:
        hits = record.get("hits")
        if not isinstance(hits, list):
            return record
        kept = [hit for hit in hits if not (isinstance(hit, str) and name_key(hit) in gone)]
        return record if len(kept) == len(hits) else {**record, "hits": kept}

    with writing(lines.path):
        lines.rewrite(change)
    with suppress(OSError):
        os.unlink(lines.torn_path)


