"""``history/<yyyy-mm>.jsonl``: the write-ahead record of every change, and what ``undo`` reads.

A record is written and synced before any file is touched, so that a crash
leaves either no trace or everything that is needed to finish or take back.
"""

from __future__ import annotations

import os

from memoranda.core.records import dataclass, field, replace
from memoranda.storage.files import reading, writing
from memoranda.storage.jsonlines import JsonLines
from memoranda.storage.standing import HISTORY, Mark, history_files, is_month, mark_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from memoranda.storage.jsonlines import Record
    from memoranda.storage.vault import VaultFolder

__all__ = ["ChangeRecord", "FileChange", "History", "ItemChange", "ItemState", "Mark", "TextEdit"]


@dataclass(frozen=True, slots=True)
class ItemState:
    """An item as it stood: its name, its text (``\\n`` line endings) and its metadata comment."""

    name: str
    text: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item before and after; ``None`` where it was not there. ``path`` is relative."""

    path: str
    before: ItemState | None
    after: ItemState | None


@dataclass(frozen=True, slots=True)
class TextEdit:
    """``old`` at character ``at`` of the earlier text became ``new``."""

    at: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after: hashes of all its bytes (``None``: it was not there), and the edits between.

    ``corrections`` are what the change did to the file's items beyond what the
    record's ``items`` say: of two items with one name, say, the second takes the
    name over when the first goes. Each is a key, and the name and fingerprint
    that it stands for now, both empty where it is gone (see :mod:`.baselines`).
    """

    path: str
    before: str | None
    after: str | None
    edits: tuple[TextEdit, ...] = ()
    corrections: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """One change of any number of files: all of it happens, or none.

    ``journal`` holds the lines that say so once it has happened; ``state`` is
    ``forgotten`` where bodies were taken out.
    """

    id: str
    ts: str
    action: str
    files: tuple[FileChange, ...] = ()
    items: tuple[ItemChange, ...] = ()
    journal: tuple[Record, ...] = ()
    state: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


class History:
    """The records of all months. Writers hold the vault's lock."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._folder = vault.path(HISTORY)

    def append(self, record: ChangeRecord) -> None:
        """Write one record durably.

        Raises:
            VaultFull, VaultReadOnly: nothing was written.
        """
        name = f"{record.ts[:7]}.jsonl" if is_month(record.ts[:7]) else "0000-00.jsonl"
        newest = next(iter(reversed(self._files())), None)
        path = os.path.join(self._folder, name)
        # Records stay in the order in which things happened even when the clock goes back a month.
        if newest is not None and path < newest:
            path = newest
        self._vault.check_inside(path, "history")
        with writing(path):
            JsonLines(path).append([_to_record(record)])

    def take_back(self, change: str) -> bool:
        """Take the newest record off again if it is of this change: it was given up. Needs no room on the disk.

        Raises:
            VaultReadOnly, VaultError.
        """
        for path in reversed(self._files()):
            if os.path.getsize(path):
                with writing(path):
                    return JsonLines(path).cut_last(lambda record: record.get("id") == change)
        return False

    def read(self) -> Iterator[ChangeRecord]:
        """Every record, oldest first."""
        for path in self._files():
            with reading(path):
                for record in JsonLines(path).read():
                    yield _from_record(record)

    def read_backwards(self) -> Iterator[ChangeRecord]:
        """Every record, newest first; reads no more than is asked for."""
        for path in reversed(self._files()):
            with reading(path):
                for record in JsonLines(path).read_backwards():
                    yield _from_record(record)

    def find(self, change: str) -> ChangeRecord | None:
        """The newest record of a change; ``None`` if it was pruned or never was."""
        return next((record for record in self.read_backwards() if record.id == change), None)

    def last(self) -> ChangeRecord | None:
        """The newest record."""
        return next(self.read_backwards(), None)

    def torn(self) -> int:
        """How many torn or unreadable lines there are, those set aside included."""
        total = 0
        for path in self._files():
            with reading(path):
                total += JsonLines(path).torn()
        return total

    def mark(self) -> Mark:
        """Name, size and inode of the newest file: unchanged means that nobody has written since."""
        return mark_of(self._folder)

    def since(self, mark: Mark) -> list[ChangeRecord] | None:
        """The records written after a mark was taken; ``None`` where that cannot be told: files were rewritten."""
        files = self._files()
        if mark == ("", 0, 0):
            start = 0
        else:
            path = os.path.join(self._folder, mark[0])
            if path not in files:
                return None
            now = os.stat(path)
            if now.st_ino != mark[2] or now.st_size < mark[1] or not JsonLines(path).is_boundary(mark[1]):
                return None
            files = files[files.index(path) :]
            start = mark[1]
        found: list[ChangeRecord] = []
        for path in files:
            with reading(path):
                found += map(_from_record, JsonLines(path).read(start))
            start = 0
        return found

    def scrub(self, change: Callable[[ChangeRecord], ChangeRecord]) -> int:
        """Rewrite records: for ``forget`` alone. Returns how many changed."""

        def changed(record: Record) -> Record | None:
            found = _from_record(record)
            result = change(found)
            if result is found:
                return record
            if result.state == "forgotten":
                # The names in them may be what is to be forgotten.
                result = replace(result, files=tuple(replace(file, corrections=()) for file in result.files))
            return _to_record(result)

        total = 0
        for path in self._files():
            with writing(path):
                total += JsonLines(path).rewrite(changed)
                torn = JsonLines(path).torn_path
                if os.path.exists(torn):
                    os.unlink(torn)
        return total

    def _files(self) -> list[str]:
        return history_files(self._folder)


def _to_record(record: ChangeRecord) -> Record:
    def state(item: ItemState | None) -> Record | None:
        if item is None:
            return None
        return {"name": item.name, "text": item.text, **({"comment": item.comment} if item.comment else {})}

    row: Record = {"id": record.id, "ts": record.ts, "action": record.action}
    if record.state:
        row["state"] = record.state
    row["files"] = [
        {
            "path": file.path,
            "before": file.before,
            "after": file.after,
            "edits": [{"at": edit.at, "old": edit.old, "new": edit.new} for edit in file.edits],
            **({"corrections": [list(one) for one in file.corrections]} if file.corrections else {}),
        }
        for file in record.files
    ]
    row["items"] = [
        {"path": item.path, "before": state(item.before), "after": state(item.after)} for item in record.items
    ]
    row["journal"] = list(record.journal)
    if record.extra:
        row["extra"] = record.extra
    return row


def _from_record(row: Record) -> ChangeRecord:
    """Read a record leniently: what a person broke by hand reads as empty, not as an error."""

    def text(value: Any) -> str:
        return value if isinstance(value, str) else ""

    def rows(value: Any) -> list[Record]:
        return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []

    def state(value: Any) -> ItemState | None:
        if not isinstance(value, dict):
            return None
        return ItemState(text(value.get("name")), text(value.get("text")), text(value.get("comment")))

    def edit(value: Record) -> TextEdit:
        at = value.get("at")
        return TextEdit(at if isinstance(at, int) else 0, text(value.get("old")), text(value.get("new")))

    def correction(value: Any) -> tuple[str, str, str]:
        parts = [text(part) for part in value] if isinstance(value, list) else []
        return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")

    return ChangeRecord(
        id=text(row.get("id")),
        ts=text(row.get("ts")),
        action=text(row.get("action")),
        files=tuple(
            FileChange(
                text(file.get("path")),
                text(file.get("before")) or None,
                text(file.get("after")) or None,
                tuple(edit(e) for e in rows(file.get("edits"))),
                tuple(correction(c) for c in file["corrections"]) if isinstance(file.get("corrections"), list) else (),
            )
            for file in rows(row.get("files"))
        ),
        items=tuple(
            ItemChange(text(item.get("path")), state(item.get("before")), state(item.get("after")))
            for item in rows(row.get("items"))
        ),
        journal=tuple(rows(row.get("journal"))),
        state=text(row.get("state")),
        extra=row["extra"] if isinstance(row.get("extra"), dict) else {},
    )
