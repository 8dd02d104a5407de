"""One change of the vault, all or nothing.

``lock → recover → read → edit → write-ahead record → install → journal``: see
:meth:`Transaction.commit`. What a person changed by hand since the last look is
accounted for first, so that every line of the journal is true.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from memoranda.core.addresses import Address
from memoranda.core.editing import CategoryEditor, CurrentItem
from memoranda.core.edits import common_start
from memoranda.core.errors import BadText, ChangedUnderneath, VaultFull
from memoranda.core.items import Category, parse
from memoranda.core.metadata import EMPTY_METADATA, Metadata, format_comment
from memoranda.core.model import JournalEntry
from memoranda.core.names import content_hash
from memoranda.storage.categories import LoadedCategory, bytes_hash
from memoranda.storage.clock import written_moment
from memoranda.storage.external import account_for, account_for_absence
from memoranda.storage.files import make_folder, write_temporary, writing
from memoranda.storage.history import ChangeRecord, FileChange, ItemChange, ItemState, TextEdit
from memoranda.storage.install import ChangedMeanwhile, install, uninstall
from memoranda.storage.journal import new_change_id, to_record
from memoranda.storage.store import Storage

__all__ = ["OpenCategory", "Transaction", "run"]

T = TypeVar("T")
_RETRIES = 20


def _comment(metadata: Metadata) -> str:
    return format_comment(metadata) if metadata else ""


def _state(item: CurrentItem) -> ItemState:
    return ItemState(item.name, item.text, _comment(item.metadata))


@dataclass(slots=True)
class OpenCategory:
    """A category file within a transaction: what was read, and what is to become of it."""

    address: Address
    loaded: LoadedCategory | None
    relative: str
    path: str
    category: Category
    editor: CategoryEditor
    changes: list[ItemChange] = field(default_factory=list)
    rebased: bool = False
    trusted: bool = False
    removed: bool = False

    @property
    def data(self) -> bytes | None:
        """The file's bytes as read; ``None`` if there was no file."""
        return None if self.loaded is None else self.loaded.data

    @property
    def hash(self) -> str | None:
        """The hash of :attr:`data`."""
        return None if self.loaded is None else self.loaded.hash

    def get(self, name: str) -> CurrentItem | None:
        """The item as it stands now, pending changes included."""
        return self.editor.get(name)

    def add(self, name: str, text: str, metadata: Metadata = EMPTY_METADATA) -> CurrentItem:
        """Add an item. Raises NameTaken, BadText, ChangedUnderneath."""
        self.editor.add(name, text, metadata)
        return self._changed(None, name)

    def replace(self, name: str, text: str, metadata: Metadata | None = None) -> CurrentItem:
        """Change an item's text, and its metadata if given. Raises BadText."""
        before = self._present(name)
        self.editor.replace(name, text, metadata)
        if self.editor.get(name) is None:
            # An item that is named by its text's hash has another name after the change.
            name = self.editor.find_text(text, (metadata or before.metadata).owner) or name
        return self._changed(before, name)

    def rename(self, name: str, new_name: str) -> CurrentItem:
        """Change an item's name. Raises NameTaken, BadText."""
        before = self._present(name)
        self.editor.rename(name, new_name)
        return self._changed(before, new_name)

    def set_metadata(self, name: str, metadata: Metadata) -> CurrentItem:
        """Change an item's metadata comment."""
        before = self._present(name)
        self.editor.set_metadata(name, metadata)
        return self._changed(before, name)

    def remove(self, name: str) -> CurrentItem:
        """Take an item out; returns it as it was."""
        before = self._present(name)
        self.editor.remove(name)
        self.changes.append(ItemChange(self.relative, _state(before), None))
        return before

    def put_text(self, text: str, changes: list[ItemChange], *, trusted: bool = False) -> None:
        """Replace the file's whole text; further changes go on from there.

        ``trusted`` text (what ``undo`` restores) is not checked for meaning what the changes say.
        """
        self.editor = CategoryEditor(parse(text), self.address.category.rpartition("/")[2])
        self.rebased = True
        self.trusted = self.trusted or trusted
        self.changes.extend(changes)

    def put_nothing(self, changes: list[ItemChange]) -> None:
        """Remove the file: for ``undo`` of the change that created it."""
        self.removed = True
        self.changes.extend(changes)

    def _present(self, name: str) -> CurrentItem:
        found = self.editor.get(name)
        if found is None:
            raise ChangedUnderneath(f"{self.address.named(name)} is not there any more")
        return found

    def _changed(self, before: CurrentItem | None, name: str) -> CurrentItem:
        after = self.editor.get(name)
        if after is None:
            raise BadText(f"{name!r} would not be found again after this change")
        self.changes.append(ItemChange(self.relative, None if before is None else _state(before), _state(after)))
        return after

    def changed_keys(self, category: Category) -> dict[str, tuple[str, str] | None] | None:
        """What the changes did to the items as ``category`` now has them; ``None`` where they do not tell."""
        if self.trusted or self.category.problems or category.problems:
            # With names that stand twice, a change of one item gives another its name.
            return None
        keys: dict[str, tuple[str, str] | None] = {}
        for change in self.changes:
            if change.before is not None:
                keys[self.category.key(change.before.name)] = None
            if change.after is not None:
                section = category.find(change.after.name)
                if section is not None:
                    keys[section.key] = (section.address_name, section.hash)
        return keys

    def text(self) -> str:
        """The file's text after the pending changes."""
        return self.editor.text()


def run(storage: Storage, action: str, plan: Callable[[Transaction], T]) -> T:
    """Carry out ``plan`` and commit it; once more with fresh files if somebody saved meanwhile.

    Raises:
        ChangedUnderneath: the files did not stop changing.
        MemorandaError: whatever ``plan`` or the disk raised; nothing was written.
    """
    for _ in range(_RETRIES):
        with storage.locked():
            transaction = Transaction(storage, action)
            outcome = plan(transaction)
            try:
                transaction.commit()
            except ChangedMeanwhile:
                continue
            return outcome
    raise ChangedUnderneath("the files did not stop changing; nothing was written")


class Transaction:
    """Gathers changes to any number of files, then makes them one durable change.

    Only :meth:`commit` needs the vault's lock. Who opened files without it asks :meth:`is_current` first.
    """

    def __init__(self, storage: Storage, action: str, change: str | None = None) -> None:
        self._storage = storage
        self.action = action
        self.id = change or new_change_id()
        self.ts = written_moment(storage.clock.now())
        self._open: dict[str, OpenCategory] = {}
        self._lines: list[JournalEntry] = []
        self._extra: dict[str, Any] = {}

    def open(self, address: Address, name: str | None = None) -> OpenCategory:
        """The category of an address: of several files that mean the same, the one that holds ``name``.

        Raises:
            Conflict: the file is not UTF-8.
            OutsideVault, BadName, VaultUnreadable.
        """
        files = self._storage.vault.category_files(address)
        opened = [self._open_file(address, relative, path) for relative, path in files]
        if name is not None:
            return next((category for category in opened if category.get(name) is not None), opened[0])
        return opened[0]

    def open_path(self, address: Address, relative: str, path: str) -> OpenCategory:
        """The category in one certain file."""
        return self._open_file(address, relative, path)

    def _open_file(self, address: Address, relative: str, path: str) -> OpenCategory:
        if (known := self._open.get(relative)) is not None:
            return known
        storage = self._storage
        real = storage.vault.check_inside(path, relative)
        loaded = storage.reader.read(real)
        category = parse("") if loaded is None else loaded.category
        opened = OpenCategory(
            address=Address(address.scope, address.category),
            loaded=loaded,
            relative=relative,
            path=real,
            category=category,
            editor=CategoryEditor(category, address.category.rpartition("/")[2]),
        )
        self._open[relative] = opened
        return opened

    def log(
        self,
        action: str,
        address: Address | None = None,
        *,
        before: str | None = None,
        after: str | None = None,
        source: str | None = None,
        detail: dict[str, Any] | None = None,
    ) -> None:
        """Add a line to the journal for this change; ``before`` and ``after`` are item hashes."""
        self._lines.append(
            JournalEntry(
                id=self.id,
                ts=self.ts,
                action=action,
                category=None if address is None else address.category,
                item=None if address is None else address.name,
                scope="shared" if address is None else str(address.scope),
                actor=self._storage.actor,
                source=source,
                before=before,
                after=after,
                detail=detail or {},
            )
        )

    def note(self, **extra: Any) -> None:
        """Add something to the write-ahead record that ``undo`` or recovery will need."""
        self._extra.update(extra)

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self._lines) or any(opened.changes for opened in self._open.values())

    def commit(self) -> None:
        """Make the change durable. Afterwards, and only then, it has happened.

        Raises:
            ChangedMeanwhile: a file changed before anything was put in place; nothing was.
            Conflict: somebody changed the same lines; theirs stand, ours are nowhere.
            VaultFull, VaultReadOnly: nothing was changed.
        """
        touched = [opened for opened in self._open.values() if opened.changes]
        if not touched and not self._lines:
            return
        self._account(touched)
        staged = [self._stage(opened) for opened in touched]
        lines = self._numbered_lines()
        record = ChangeRecord(
            id=self.id,
            ts=self.ts,
            action=self.action,
            files=tuple(change for change, _ in staged),
            items=tuple(change for opened in touched for change in opened.changes),
            journal=tuple(to_record(entry) for entry in lines),
            extra=self._extra,
        )
        storage = self._storage
        storage.history.append(record)
        try:
            self._install_all(touched, [data for _, data in staged])
        except BaseException:
            self._abort(record)
            raise
        storage.journal.append(lines)
        storage.settle()
        for opened, (change, data) in zip(touched, staged, strict=True):
            if data is None or change.after is None:
                storage.baselines.drop(opened.relative)
            else:
                category = storage.reader.remember(opened.path, data).category
                hashes = (opened.hash, change.after)
                storage.baselines.update(opened.relative, hashes, opened.changed_keys(category), category)

    def is_current(self) -> bool:
        """Whether every file that is to be changed still holds what was read."""
        for opened in self._open.values():
            current = self._storage.reader.read(opened.path) if opened.changes else opened.loaded
            if (None if current is None else current.hash) != opened.hash:
                return False
        return True

    def _account(self, touched: list[OpenCategory]) -> None:
        """Journal what a person changed in these files before we do."""
        storage = self._storage
        for opened in touched:
            if storage.baselines.hash_of(opened.relative) == opened.hash:
                continue
            baseline = storage.baselines.get(opened.relative)
            if opened.loaded is not None:
                account_for(storage, opened.address, opened.relative, opened.loaded, baseline)
            elif baseline is not None:
                account_for_absence(storage, opened.address, baseline)

    def _numbered_lines(self) -> list[JournalEntry]:
        if len(self._lines) == 1:
            return self._lines
        return [replace(entry, id=f"{self.id}.{n}") for n, entry in enumerate(self._lines, 1)]

    def _stage(self, opened: OpenCategory) -> tuple[FileChange, bytes | None]:
        old = opened.category.text if opened.data is not None else ""
        if opened.removed:
            return FileChange(opened.relative, opened.hash, None, (TextEdit(0, old, ""),)), None
        text = opened.text()
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadText("the text holds half a character (a lone surrogate); it cannot be written") from error
        _verify(opened, text, self._storage.reader.remember(opened.path, data).category)
        if not opened.rebased:
            edits = tuple(TextEdit(e.start, old[e.start : e.end], e.new) for e in opened.editor.edits())
        else:
            edits = _difference(old, text)
        return FileChange(opened.relative, opened.hash, bytes_hash(data), edits), data

    def _install_all(self, touched: list[OpenCategory], contents: list[bytes | None]) -> None:
        # All temporaries are written first: a full disk is met before any file has changed.
        temporaries: list[str | None] = []
        done: list[tuple[OpenCategory, bytes | None]] = []
        try:
            for opened, data in zip(touched, contents, strict=True):
                with writing(opened.path):
                    folder = os.path.dirname(opened.path)
                    make_folder(folder)
                    temporaries.append(None if data is None else write_temporary(folder, data, like=opened.path))
            for opened, data, temporary in zip(touched, contents, temporaries, strict=True):
                with writing(opened.path):
                    if data is None:
                        uninstall(opened.path, opened.data or b"")
                        done.append((opened, None))
                    else:
                        done.append((opened, install(opened.path, data, opened.data, temporary)))
        except BaseException:
            for opened, placed in reversed(done):
                _take_back(opened, placed)
            raise
        finally:
            for temporary in temporaries:
                if temporary is not None and os.path.lexists(temporary):
                    os.unlink(temporary)

    def _abort(self, record: ChangeRecord) -> None:
        try:
            self._storage.history.append(
                ChangeRecord(id=record.id, ts=record.ts, action=record.action, state="aborted")
            )
        except VaultFull:
            # The next holder of the lock finds the record without its effects and gives it up itself.
            self._storage.settled = None


def _take_back(opened: OpenCategory, placed: bytes | None) -> None:
    with writing(opened.path):
        if placed is None:
            install(opened.path, opened.data or b"", None)
        elif opened.data is None:
            uninstall(opened.path, placed)
        else:
            install(opened.path, opened.data, placed)


def _verify(opened: OpenCategory, text: str, category: Category) -> None:
    """See that the new text means what was meant, before it is written."""
    if opened.trusted or not opened.rebased:
        # The editor has seen to its own edits already.
        return
    last: dict[str, ItemState] = {}
    gone: set[str] = set()
    for change in opened.changes:
        if change.before is not None:
            last.pop(change.before.name, None)
            gone.add(change.before.name)
        if change.after is not None:
            last[change.after.name] = change.after
            gone.discard(change.after.name)
    for name, state in last.items():
        section = category.find(name)
        if section is None or section.hash != content_hash(state.text):
            raise BadText(f"{opened.address.named(name)} would not read back as written; nothing was changed")
    added = sum(1 for c in opened.changes if c.before is None) - sum(1 for c in opened.changes if c.after is None)
    if len(category.sections) != len(opened.category.sections) + added:
        raise BadText(f"the text would change other items of {opened.address}; nothing was changed")


def _difference(old: str, new: str) -> tuple[TextEdit, ...]:
    """One edit between two texts: what lies between their common start and end."""
    start = common_start(old, new)
    rest = min(len(old), len(new)) - start
    end = min(rest, common_start(old[::-1], new[::-1]))
    return (TextEdit(start, old[start : len(old) - end], new[start : len(new) - end]),)

