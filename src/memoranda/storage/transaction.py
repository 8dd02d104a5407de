"""One change of the vault, all or nothing.

``lock → recover → read → edit → write-ahead record → install → journal``: see
:meth:`Transaction.commit`. What a person changed by hand since the last look is
accounted for first, so that every line of the journal is true.
"""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.addresses import Address
from memoranda.core.editing import CategoryEditor
from memoranda.core.edits import common_start
from memoranda.core.errors import BadText, ChangedUnderneath, MemorandaError, VaultError, VaultFull
from memoranda.core.items import parse
from memoranda.core.model import JournalEntry
from memoranda.core.names import content_hash
from memoranda.core.records import dataclass, replace
from memoranda.storage.accounts import corrections, deltas_of, items_after, items_of
from memoranda.storage.categories import bytes_hash
from memoranda.storage.clock import written_moment
from memoranda.storage.external import account_for, account_for_absence
from memoranda.storage.files import make_folder, wait_for_writer, write_temporary, writing
from memoranda.storage.history import ChangeRecord, FileChange, TextEdit
from memoranda.storage.install import WRITER_PATIENCE, ChangedMeanwhile, displace, place
from memoranda.storage.journal import new_change_id, to_record
from memoranda.storage.opened import OpenCategory
from memoranda.storage.recovery import is_placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from memoranda.core.items import Category
    from memoranda.storage.history import ItemState
    from memoranda.storage.install import Placed
    from memoranda.storage.store import Storage

__all__ = ["OpenCategory", "Transaction", "run"]

if TYPE_CHECKING:
    T = TypeVar("T")
_RETRIES = 20


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
        real = storage.vault.check_own(path, relative, address.scope)
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
        if not self._lines:
            self.log(self.action)
        self._account(touched)
        staged = [self._stage(opened) for opened in touched]
        lines = self._numbered_lines()
        record = ChangeRecord(
            id=self.id,
            ts=self.ts,
            action=self.action,
            files=tuple(one.change for one in staged),
            items=tuple(change for opened in touched for change in opened.changes),
            journal=tuple(to_record(entry) for entry in lines),
            extra=self._extra,
        )
        storage = self._storage
        storage.history.append(record)
        placed: list[Placed] = []
        try:
            _place_all(touched, staged, placed)
            storage.journal.append(lines)
        except BaseException as error:
            self._give_up(record, placed, error)
            raise
        tidy = [one.keep() for one in placed]
        storage.baselines.advance(record, {one.change.path: one.items for one in staged})
        storage.settle()
        if not all(tidy):
            storage.baselines.doubt()

    def _give_up(self, record: ChangeRecord, placed: list[Placed], error: BaseException) -> None:
        """Take everything back; where that fails the change stands, and the next holder of the lock completes it."""
        storage = self._storage
        storage.settled = None
        storage.baselines.doubt()
        with suppress(MemorandaError, OSError):
            if not storage.journal.lines_of(self.id):
                for one in reversed(placed):
                    with suppress(OSError):
                        one.take_back()
                if not any(is_placed(storage.vault, record, file) for file in record.files):
                    storage.history.take_back(record.id)
                    return
            for one in placed:
                one.keep()
        if isinstance(error, (MemorandaError, ChangedMeanwhile)):
            kind = VaultFull if isinstance(error, VaultFull) else VaultError
            raise kind(f"the change was cut short; the next write completes it ({error})") from error

    def is_current(self) -> bool:
        """Whether every file that is to be changed still holds what was read."""
        for opened in self._open.values():
            current = self._storage.reader.read(opened.path) if opened.changes else opened.loaded
            if (None if current is None else current.hash) != opened.hash:
                return False
        return True

    def _account(self, touched: list[OpenCategory]) -> None:
        """Journal what a person changed in these files before we do."""
        baselines = self._storage.baselines
        for opened in touched:
            if opened.loaded is None:
                baseline = baselines.get_or_rebuild(opened.relative)
                if baseline is not None:
                    account_for_absence(self._storage, opened.address, baseline)
                continue
            if baselines.hash_of(opened.relative) == opened.hash:
                continue
            baseline = baselines.get_or_rebuild(opened.relative)
            if not wait_for_writer(opened.path, WRITER_PATIENCE):
                raise ChangedUnderneath(f"{opened.relative} is open for writing elsewhere; nothing was written")
            account_for(self._storage, opened.address, opened.relative, opened.loaded, baseline)
            if baselines.hash_of(opened.relative) != opened.hash:
                raise ChangedMeanwhile(opened.path)

    def _numbered_lines(self) -> list[JournalEntry]:
        if len(self._lines) == 1:
            return self._lines
        return [replace(entry, id=f"{self.id}.{n}") for n, entry in enumerate(self._lines, 1)]

    def _stage(self, opened: OpenCategory) -> _Staged:
        old = opened.category.text if opened.data is not None else ""
        if opened.removed:
            return _Staged(FileChange(opened.relative, opened.hash, None, (TextEdit(0, old, ""),)), None)
        text = opened.text()
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadText("the text holds half a character (a lone surrogate); it cannot be written") from error
        category = self._storage.reader.remember(opened.path, data).category
        _verify(opened, text, category)
        if not opened.rebased:
            edits = tuple(TextEdit(e.start, old[e.start : e.end], e.new) for e in opened.editor.edits())
        else:
            edits = _difference(old, text)
        change = FileChange(opened.relative, opened.hash, bytes_hash(data), edits)
        if not opened.tells_all(category):
            known = self._storage.baselines.get_or_rebuild(opened.relative)
            delta = deltas_of(ChangeRecord("", "", "", (change,), tuple(opened.changes)))[change.path]
            told = items_after({} if known is None else known.items, delta)
            change = replace(change, corrections=corrections(told, items_of(category.sections)))
        return _Staged(change, data, len(category.sections))


@dataclass(frozen=True, slots=True)
class _Staged:
    """What is to become of one file: ``data`` is ``None`` where it goes, ``items`` how many it has then."""

    change: FileChange
    data: bytes | None
    items: int = 0


def _place_all(touched: list[OpenCategory], staged: list[_Staged], placed: list[Placed]) -> None:
    # All temporaries are written first: a full disk is met before any file has changed.
    temporaries: list[str | None] = []
    try:
        for opened, one in zip(touched, staged, strict=True):
            with writing(opened.path):
                folder = os.path.dirname(opened.path)
                make_folder(folder)
                temporaries.append(None if one.data is None else write_temporary(folder, one.data, like=opened.path))
        for opened, one in zip(touched, staged, strict=True):
            temporary = temporaries.pop(0)
            with writing(opened.path):
                if one.data is None:
                    placed.append(displace(opened.path, opened.data or b""))
                else:
                    placed.append(place(opened.path, one.data, opened.data, temporary))
    finally:
        for temporary in temporaries:
            if temporary is not None:
                with suppress(OSError):
                    os.unlink(temporary)


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
