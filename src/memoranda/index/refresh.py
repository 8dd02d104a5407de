"""Keeping the corpus equal to the files: only what changed is read again, an edit by hand included."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from memoranda.core.errors import Conflict, VaultError, VaultUnreadable
from memoranda.core.model import Problem
from memoranda.core.names import hash_name, name_key
from memoranda.core.records import dataclass
from memoranda.index.entries import address_key, item_entry, turn_entry
from memoranda.storage.categories import line_of_bad_byte
from memoranda.storage.files import read_bytes
from memoranda.storage.snapshot import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.core.addresses import Address
    from memoranda.core.items import Section
    from memoranda.core.model import Level
    from memoranda.index.corpus import Corpus
    from memoranda.index.entries import Entry
    from memoranda.storage.baselines import Baseline
    from memoranda.storage.categories import LoadedCategory
    from memoranda.storage.files import Stamp
    from memoranda.storage.resources import ConversationFile, Resources
    from memoranda.storage.snapshot import FoundFile, Snapshot
    from memoranda.storage.store import Storage

__all__ = ["Refresher"]

Progress = Callable[[int, "int | None"], None]
_JOURNAL_PATIENCE = 0.05
_FOUND_AT_ONCE = 2000


@dataclass(slots=True)
class _Indexed:
    """A file as it stands in the corpus; ``settled`` tells whether its stamp alone can be trusted.

    ``entries`` are what it holds, by the key that each has within the file.
    """

    stamp: Stamp
    settled: bool
    hash: str
    entries: dict[str, Entry]


class Refresher:
    """Brings a corpus up to date with its vault. One a process and vault; not for several threads at once."""

    def __init__(self, storage: Storage, resources: Resources, corpus: Corpus) -> None:
        self._storage = storage
        self._resources = resources
        self._corpus = corpus
        self._items: dict[str, _Indexed] = {}
        self._turns: dict[str, _Indexed] = {}
        self._holders: dict[str, str] = {}
        self._faulty: dict[str, tuple[Stamp, Problem]] = {}
        self._crowded: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._unaccounted: dict[str, FoundFile] = {}
        self._has_looked = False
        self._may_be_gone = True
        #: Faults met in the files at the last look.
        self.problems: list[Problem] = []
        #: Levels that have been read in full at least once.
        self.loaded: set[Level] = set()

    def refresh(
        self,
        levels: Sequence[Level] = ("item",),
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> list[str]:
        """Read what changed since the last call; returns in words what could not be asked.

        ``seconds`` bounds the time; what was not read by then is read by the next call.

        Raises:
            VaultUnreadable: the vault as a whole may not be read; the corpus stays as it was.
        """
        until = None if seconds is None else time.monotonic() + seconds
        missing: list[str] = []
        if "item" in levels:
            missing += self._refresh_items(until, progress)
        if "resource" in levels:
            missing += self._refresh_turns(until, progress)
        return missing

    def _refresh_items(self, until: float | None, progress: Progress | None) -> list[str]:
        self._settle_first()
        snapshot = scan(self._storage.vault)
        self.problems = list(snapshot.problems)
        gone = [path for path in self._items if path not in snapshot.files and not snapshot.is_unknown(path)]
        for path in gone:
            self._drop(self._items.pop(path))
        changed = [f for f in snapshot.files.values() if not self._is_current(self._items.get(f.relative), f.stamp)]
        left = 0
        for number, found in enumerate(changed):
            if until is not None and time.monotonic() > until:
                left = len(changed) - number
                break
            self._read_items(found)
            if progress is not None:
                progress(number + 1, len(changed))
        if changed or gone:
            self._settle_crowded(snapshot, {found.relative for found in changed})
        if not left:
            self.loaded.add("item")
        self._may_be_gone = self._may_be_gone or bool(gone)
        self._account(snapshot)
        missing = [f"{p.path}: {p.message}" for p in self.problems if p.kind == "unreadable"]
        if left:
            missing.append(f"memory: {left} of {len(changed)} changed files not read in time")
        return missing

    def _settle_first(self) -> None:
        """Before the first look: what a crash cut short is finished or taken back."""
        if not self._has_looked:
            self._has_looked = True
            # Whoever holds the lock has seen to that already; who may not write cannot.
            with suppress(VaultError, OSError), self._storage.locked(0.0):
                pass

    def _settle_crowded(self, snapshot: Snapshot, changed: set[str]) -> None:
        """Where several files are one category, decide anew which of them has a name that stands in two."""
        members: dict[tuple[str, str, str], list[FoundFile]] = {}
        for found in snapshot.files.values():
            members.setdefault(found.address.key, []).append(found)
        crowded = {key: tuple(f.relative for f in files) for key, files in members.items() if len(files) > 1}
        for key in {**self._crowded, **crowded}:
            files = members.get(key, [])
            if self._crowded.get(key) != crowded.get(key) or any(found.relative in changed for found in files):
                self._index_together(files)
        self._crowded = crowded

    def _index_together(self, files: list[FoundFile]) -> None:
        # As writers do it: the file of exactly that name comes first.
        files = sorted(files, key=lambda f: (not f.relative.endswith(f"/{f.address.category}.md"), f.relative))
        for found in files:
            if (known := self._items.get(found.relative)) is not None:
                self._drop(known)
        for found in files:
            known = self._items.get(found.relative)
            with suppress(VaultUnreadable, Conflict):
                loaded = self._storage.reader.read(found.path)
                if known is not None and loaded is not None and loaded.hash == known.hash:
                    known.entries = self._index(found, loaded, None)
                elif known is not None:
                    # It changed meanwhile, and is read by the next look.
                    known.settled, known.hash, known.entries = False, "", {}

    @staticmethod
    def _is_current(known: _Indexed | None, stamp: Stamp) -> bool:
        return known is not None and known.settled and known.stamp == stamp

    def _read_items(self, found: FoundFile) -> None:
        fault = self._faulty.pop(found.relative, None)
        if fault is not None and fault[0] == found.stamp:
            self._faulty[found.relative] = fault
            self.problems.append(fault[1])
            return
        started = time.time_ns()
        known = self._items.get(found.relative)
        try:
            loaded = self._storage.reader.read(found.path)
        except (VaultUnreadable, Conflict) as error:
            self._unreadable(found, error, found.stamp.is_settled(started))
            return
        if loaded is None:
            return
        stamp = self._storage.reader.stamp(found.path) or found.stamp
        settled = stamp.is_settled(started)
        if known is not None and known.hash == loaded.hash:
            known.stamp, known.settled = stamp, settled
            return
        entries = self._index(found, loaded, known)
        self._items[found.relative] = _Indexed(stamp, settled, loaded.hash, entries)
        self._unaccounted[found.relative] = found

    def _unreadable(self, found: FoundFile, error: VaultError | Conflict, settled: bool) -> None:
        line = 0
        if isinstance(error, Conflict):
            with suppress(OSError):
                line = line_of_bad_byte(read_bytes(found.path))
            kind, message = "encoding", "is not UTF-8; it is left as it is and not searched"
            if (known := self._items.pop(found.relative, None)) is not None:
                self._drop(known)
        else:
            kind, message = "unreadable", str(error).removeprefix(found.path).strip()
        problem = Problem(found.relative, line, kind, message)
        self.problems.append(problem)
        if settled:
            self._faulty[found.relative] = (found.stamp, problem)

    def _index(self, found: FoundFile, loaded: LoadedCategory, known: _Indexed | None) -> dict[str, Entry]:
        before = dict(known.entries) if known is not None else {}
        entries: dict[str, Entry] = {}
        for section in loaded.category.sections:
            old = before.pop(section.key, None)
            if old is not None and _is_same(old, section):
                entries[section.key] = old
                continue
            address = found.address.named(section.address_name)
            if self._holders.get(_key(address), found.relative) != found.relative:
                # Another file of the same category already has an item of this name.
                address = found.address.named(hash_name(f"{section.name}\n{section.text}"))
            entry = item_entry(address, section, found.relative)
            # By key: a name whose case a person changed is the same item, put once and not taken out again.
            if old is not None and address_key(old.address) != address_key(entry.address):
                self._remove(old.address)
            self._corpus.put(entry)
            self._holders[_key(address)] = found.relative
            entries[section.key] = entry
        for gone in before.values():
            self._remove(gone.address)
        return entries

    def _drop(self, known: _Indexed) -> None:
        for entry in known.entries.values():
            self._remove(entry.address)

    def _remove(self, address: str) -> None:
        self._corpus.remove(address)
        self._holders.pop(name_key(address), None)

    def _account(self, snapshot: Snapshot) -> None:
        """Journal what a person changed. Never in the way: a busy or read-only vault is asked again next time."""
        storage = self._storage
        if not (self._unaccounted or self._may_be_gone):
            return
        todo = [found for found in self._unaccounted.values() if self._differs(found)]
        if todo or self._may_be_gone:
            try:
                with storage.locked(_JOURNAL_PATIENCE if todo else 0.0):
                    self._account_for(todo)
                    for baseline in storage.baselines.vanished(snapshot.files):
                        if not snapshot.is_unknown(baseline.path):
                            self._account_for_absence(baseline)
            except (VaultError, OSError):
                return
        self._unaccounted.clear()
        self._may_be_gone = False

    def _differs(self, found: FoundFile) -> bool:
        indexed = self._items.get(found.relative)
        return indexed is None or self._storage.baselines.hash_of(found.relative) != indexed.hash

    def _account_for(self, todo: Sequence[FoundFile]) -> None:
        from memoranda.storage.external import account_for, account_for_found
        from memoranda.storage.files import is_being_written

        storage = self._storage
        new: list[tuple[Address, str, LoadedCategory]] = []
        for found in todo:
            with suppress(Conflict, VaultUnreadable):
                loaded = storage.reader.read(found.path)
                baseline = storage.baselines.get_or_rebuild(found.relative)
                if loaded is None or (baseline is not None and baseline.hash == loaded.hash):
                    continue
                if baseline is not None:
                    account_for(storage, found.address, found.relative, loaded, baseline)
                elif not is_being_written(found.path):
                    new.append((found.address, found.relative, loaded))
        # A vault that was filled by hand, or comes from elsewhere, is taken in by thousands of files at once.
        for start in range(0, len(new), _FOUND_AT_ONCE):
            account_for_found(storage, new[start : start + _FOUND_AT_ONCE])

    def _account_for_absence(self, baseline: Baseline) -> None:
        from memoranda.storage.external import account_for_absence

        storage = self._storage
        path = storage.vault.absolute(baseline.path)
        if storage.reader.stamp(path) is None:
            address = storage.vault.address_at(baseline.path)
            if address is not None:
                account_for_absence(storage, address, baseline)

    def _refresh_turns(self, until: float | None, progress: Progress | None) -> list[str]:
        files = {file.relative: file for file in self._resources.files()}
        for path in [path for path in self._turns if path not in files]:
            for address in self._turns.pop(path).entries:
                self._corpus.remove(address)
        changed = [f for f in files.values() if not self._is_current(self._turns.get(f.relative), f.stamp)]
        for number, file in enumerate(changed):
            if until is not None and time.monotonic() > until:
                return [f"conversations: {len(changed) - number} of {len(changed)} changed files not read in time"]
            self._read_turns(file)
            if progress is not None:
                progress(number + 1, len(changed))
        self.loaded.add("resource")
        return []

    def _read_turns(self, file: ConversationFile) -> None:
        started = time.time_ns()
        known = self._turns.get(file.relative)
        before = set(known.entries) if known is not None else set()
        entries: dict[str, Entry] = {}
        for order, turn in enumerate(self._resources.read(file.path)):
            if turn.forgotten:
                continue
            entry = turn_entry(turn, order)
            self._corpus.put(entry)
            before.discard(entry.address)
            entries[entry.address] = entry
        for address in before:
            self._corpus.remove(address)
        self._turns[file.relative] = _Indexed(file.stamp, file.stamp.is_settled(started), "", entries)


def _key(address: Address) -> str:
    return name_key(str(address))


def _is_same(entry: Entry, section: Section) -> bool:
    """Whether an item is to the letter and line what was indexed: most are, whatever else in the file changed."""
    return (
        entry.order == section.line
        and entry.text == section.text
        and entry.name == section.address_name
        and entry.metadata == section.metadata
    )
