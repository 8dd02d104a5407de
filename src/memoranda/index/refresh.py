"""Keeping the corpus equal to the files: only what changed is read again, an edit by hand included."""

from __future__ import annotations

import time
from contextlib import suppress

from memoranda.core.errors import Conflict, VaultError, VaultUnreadable
from memoranda.core.model import Problem
from memoranda.index.accounting import Accounting
from memoranda.index.crowding import crowded
from memoranda.index.indexed_files import Holdings, IndexedFile, SourceFile
from memoranda.index.segment_keeper import SegmentKeeper
from memoranda.storage.files import Stamp
from memoranda.storage.snapshot import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from memoranda.core.model import Level
    from memoranda.index.corpus import Corpus
    from memoranda.index.library import Library
    from memoranda.storage.resources import ConversationFile, Resources
    from memoranda.storage.snapshot import FoundFile, Snapshot
    from memoranda.storage.store import Storage

__all__ = ["Refresher"]

_MEMORY: tuple[Level, ...] = ("item", "resource")

if TYPE_CHECKING:
    File = TypeVar("File", FoundFile, ConversationFile)


class Refresher:
    """Brings a corpus up to date with its vault. One a process and vault; not for several threads at once.

    What the vault's segment holds is taken from there; files that are not as it
    has them are read, and held in memory over it.
    """

    def __init__(self, storage: Storage, resources: Resources, corpus: Corpus, with_segment: bool = True) -> None:
        self._storage = storage
        self._resources = resources
        self._corpus = corpus
        self._holdings = Holdings(corpus)
        self._accounting = Accounting(storage)
        self._library: Library | None = None
        self._keeper = SegmentKeeper(storage, resources, corpus.segmentation)
        self._items: dict[str, IndexedFile] = {}
        self._turns: dict[str, IndexedFile] = {}
        self._unaccounted: set[str] = set()
        self._marks_due = False
        self._faulty: dict[str, tuple[Stamp, Problem]] = {}
        self._crowded: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._paths: set[str] = set()
        self._clean: dict[str, FoundFile] | None = None
        self._has_looked = False
        self._with_segment = with_segment
        #: Faults met in the files at the last look.
        self.problems: list[Problem] = []
        #: Levels that have been read in full at least once.
        self.loaded: set[Level] = set()

    def refresh(
        self,
        levels: Sequence[Level] = ("item",),
        seconds: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        awaited: bool = False,
    ) -> list[str]:
        """Read what changed since the last call; returns in words what could not be asked.

        ``seconds`` bounds the time; what was not read by then is read by the next
        call. While an answer is ``awaited``, much that nobody has accounted for
        yet is journalled by a process of its own.

        Raises:
            VaultUnreadable: the vault as a whole may not be read; the corpus stays as it was.
            SegmentDamaged: start anew, without the segment.
        """
        until = None if seconds is None else time.monotonic() + seconds
        if not self._has_looked:
            self._settle_first()
            self._take_segment()
        elif self._with_segment and self._keeper.has_rewritten():
            self._take_segment()
        snapshot, conversations = self._look(levels)
        if until is None and self._with_segment and self._make_segment(snapshot, conversations, progress):
            snapshot, conversations = self._look(levels)
        missing: list[str] = []
        if snapshot is not None:
            missing += self._refresh_items(snapshot, until, progress)
            self._account(snapshot, awaited)
        if conversations is not None:
            missing += self._refresh_turns(conversations, until, progress)
        if "passage" in levels:
            if self._library is None:
                from memoranda.index.library import Library  # who asks memory alone pays for no documents

                self._library = Library(self._storage, self._resources, self._corpus, self._with_segment)
            missing += self._library.refresh(until, progress)
            self.loaded.add("passage")
        return missing

    def sources(self) -> dict[str, SourceFile]:
        """Every file that has been read, as it is known, with what of it is a parent of entries."""
        found: dict[str, SourceFile] = {}
        present = self._storage.vault.last_found
        for path, file in self._items.items():
            if path in present:
                address = present[path].address
                name = address.scope.prefix + address.category
                found[path] = SourceFile("item", file.stamp, file.settled, (("item", file.scope, name),))
        stored = self._corpus.partition("resource", "shared").parents_by_file() if self._turns else {}
        for path, file in self._turns.items():
            said = file.parents if file.held is not None else stored.get(path, set())
            turns: Level = "resource"
            parents = tuple((turns, "shared", conversation) for conversation in sorted(said))
            found[path] = SourceFile(turns, file.stamp, file.settled, parents)
        if self._library is not None:
            found |= self._library.sources()
        return found

    def _look(self, levels: Sequence[Level]) -> tuple[Snapshot | None, dict[str, ConversationFile] | None]:
        """What files there are of these levels."""
        snapshot = scan(self._storage.vault) if "item" in levels else None
        files = {file.relative: file for file in self._resources.files()} if "resource" in levels else None
        return snapshot, files

    def discard_segment(self) -> None:
        """The segment is damaged: remove it, and whichever else it may have been."""
        self._keeper.discard()
        if self._library is not None:
            self._library.discard_segment()

    def _settle_first(self) -> None:
        """Before the first look: what a crash cut short is finished or taken back."""
        self._has_looked = True
        # Whoever holds the lock has seen to that already; who may not write cannot.
        with suppress(VaultError, OSError), self._storage.locked(0.0):
            pass

    def _take_segment(self) -> None:
        """Hold what the segment holds, and nothing else, until the files have been looked at."""
        segment = self._keeper.open() if self._with_segment else None
        if segment is None:
            return
        self._corpus.adopt(segment, _MEMORY)
        self._holdings = Holdings(self._corpus)
        self._items.clear()
        self._clean = None
        self._turns.clear()
        self._crowded.clear()
        self._unaccounted.clear()
        for level, path, stamp, settled, hash, scope in segment.contents["files"]:
            file = IndexedFile(level, scope, Stamp(*stamp), settled, hash)
            (self._items if level == "item" else self._turns)[path] = file
        # What is in several files is not in a segment.
        self._paths = set(self._items)
        if not self._keeper.is_accounted(segment):
            self._unaccounted.update(self._items)

    def _refresh_items(
        self, snapshot: Snapshot, until: float | None, progress: Callable[[int, int | None], None] | None
    ) -> list[str]:
        self.problems = list(snapshot.problems)
        # Files that were found as they are known, and were not touched since, need not be compared one by one.
        changed: list[FoundFile] = []
        gone: list[str] = []
        if self._clean is not snapshot.files and self._clean != snapshot.files:
            changed = _changed(self._items, snapshot.files)
            gone = [path for path in self._items if path not in snapshot.files and not snapshot.is_unknown(path)]
        self._clean = None if changed else snapshot.files
        for path in gone:
            self._holdings.drop(path, self._items.pop(path))
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
            self._look_after_segment(self._items, snapshot.files)
        if not left:
            self.loaded.add("item")
        if gone:
            self._accounting.note_absence()
        missing = [f"{p.path}: {p.message}" for p in self.problems if p.kind == "unreadable"]
        if left:
            missing.append(f"memory: {left} of {len(changed)} changed files not read in time")
        return missing

    def _make_segment(
        self,
        snapshot: Snapshot | None,
        conversations: Mapping[str, ConversationFile] | None,
        progress: Callable[[int, int | None], None] | None,
    ) -> bool:
        """Where much is to be read, let a segment be made of it; whether there is a new one."""
        unread = total = 0
        if snapshot is not None:
            unread += sum(found.stamp.size for found in _changed(self._items, snapshot.files))
            total += sum(found.stamp.size for found in snapshot.files.values())
        if conversations is not None:
            unread += sum(file.stamp.size for file in _changed(self._turns, conversations))
            total += sum(file.stamp.size for file in conversations.values())
        if not self._keeper.make_now(unread, total, progress):
            return False
        self._take_segment()
        self.loaded.difference_update(_MEMORY)
        return True

    def _look_after_segment(
        self, known: Mapping[str, IndexedFile], files: Mapping[str, FoundFile | ConversationFile]
    ) -> None:
        loose = sum(file.stamp.size for file in known.values() if file.held is not None)
        self._keeper.rewrite_later(loose, sum(file.stamp.size for file in files.values()))

    def _settle_crowded(self, snapshot: Snapshot, changed: set[str]) -> None:
        """Where several files are one category, decide anew which of them has a name that stands in two."""
        if self._paths == snapshot.files.keys() and not self._crowded:
            return
        members = crowded(snapshot)
        now = {key: tuple(found.relative for found in files) for key, files in members.items()}
        for key in {**self._crowded, **now}:
            files = members.get(key) or [f for f in snapshot.files.values() if f.address.key == key]
            if self._crowded.get(key) != now.get(key) or any(found.relative in changed for found in files):
                self._index_together(files)
        self._crowded, self._paths = now, set(snapshot.files)

    def _index_together(self, files: list[FoundFile]) -> None:
        # As writers do it: the file of exactly that name comes first.
        files = sorted(files, key=lambda f: (not f.relative.endswith(f"/{f.address.category}.md"), f.relative))
        for found in files:
            if (known := self._items.get(found.relative)) is not None:
                self._holdings.drop(found.relative, known)
        for found in files:
            known = self._items.get(found.relative)
            if known is None:
                continue
            stamp, settled, hash = known.stamp, known.settled, known.hash
            # One that changed meanwhile, or cannot be read just now, is read by the next look.
            known.settled, known.hash = False, ""
            with suppress(VaultUnreadable, Conflict):
                loaded = self._storage.reader.read(found.path)
                if loaded is not None and loaded.hash == hash:
                    made = self._holdings.put_category(found, loaded, None)
                    made.stamp, made.settled = stamp, settled
                    self._items[found.relative] = made

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
        # A change between the look and the reading, or right after, may have this very stamp.
        settled = stamp.is_settled(started) and stamp == found.stamp
        if known is not None and known.hash == loaded.hash:
            known.stamp, known.settled = stamp, settled
            return
        made = self._holdings.put_category(found, loaded, known)
        made.stamp, made.settled = stamp, settled
        self._items[found.relative] = made
        self._accounting.note(found, loaded.hash)

    def _unreadable(self, found: FoundFile, error: VaultError | Conflict, settled: bool) -> None:
        line = 0
        if isinstance(error, Conflict):
            from memoranda.storage.categories import line_of_bad_byte
            from memoranda.storage.files import read_bytes

            with suppress(OSError):
                line = line_of_bad_byte(read_bytes(found.path))
            kind, message = "encoding", "is not UTF-8; it is left as it is and not searched"
            if (known := self._items.pop(found.relative, None)) is not None:
                self._holdings.drop(found.relative, known)
        else:
            kind, message = "unreadable", str(error).removeprefix(found.path).strip()
        problem = Problem(found.relative, line, kind, message)
        self.problems.append(problem)
        if settled:
            self._faulty[found.relative] = (found.stamp, problem)

    def _account(self, snapshot: Snapshot, awaited: bool) -> None:
        self._marks_due = self._marks_due or bool(self._unaccounted)
        for path in self._unaccounted & snapshot.files.keys() & self._items.keys():
            self._accounting.note(snapshot.files[path], self._items[path].hash)
        self._unaccounted.clear()
        if self._accounting.settle(snapshot, awaited=awaited):
            if self._marks_due:
                self._keeper.mark_accounted()
                self._marks_due = False
        elif awaited and self._accounting.has_much:
            self._keeper.account_later()

    def _refresh_turns(
        self,
        files: Mapping[str, ConversationFile],
        until: float | None,
        progress: Callable[[int, int | None], None] | None,
    ) -> list[str]:
        changed = _changed(self._turns, files)
        gone = [path for path in self._turns if path not in files]
        shared = self._shared(gone) if gone else set()
        for path in gone:
            self._holdings.drop(path, self._turns.pop(path))
        for number, file in enumerate(changed):
            if until is not None and time.monotonic() > until:
                return [f"conversations: {len(changed) - number} of {len(changed)} changed files not read in time"]
            self._read_turns(file)
            if progress is not None:
                progress(number + 1, len(changed))
        if changed:
            shared |= self._shared([file.relative for file in changed])
            self._look_after_segment(self._turns, files)
        self._read_together([files[path] for path in sorted(shared & files.keys())])
        self.loaded.add("resource")
        return []

    def _shared(self, paths: Sequence[str]) -> set[str]:
        """The files that have a conversation in common with one of these, these included where any other has."""
        stored = self._corpus.partition("resource", "shared").parents_by_file()
        spoken: dict[str, set[str]] = {}
        for path, file in self._turns.items():
            for conversation in file.parents if file.held is not None else stored.get(path, ()):
                spoken.setdefault(conversation, set()).add(path)
        wanted = set(paths)
        return {path for among in spoken.values() if len(among) > 1 and among & wanted for path in among}

    def _read_together(self, files: Sequence[ConversationFile]) -> None:
        """Where several files have one conversation, hold what reading all of them anew would: the last one counts."""
        for file in files:
            if (known := self._turns.get(file.relative)) is not None:
                self._holdings.drop(file.relative, known)
        for file in files:
            known = self._turns.pop(file.relative, None)
            with suppress(VaultUnreadable):
                self._read_turns(file)
                if known is not None:
                    self._turns[file.relative].settled &= known.settled

    def _read_turns(self, file: ConversationFile) -> None:
        started = time.time_ns()
        turns = self._resources.read(file.path)
        made = self._holdings.put_turns(file.relative, turns, file.stamp, self._turns.get(file.relative))
        made.settled = file.stamp.is_settled(started)
        self._turns[file.relative] = made


def _changed(known: Mapping[str, IndexedFile], files: Mapping[str, File]) -> list[File]:
    """The files that are not, or may not be, as they are known."""
    changed = []
    for path, file in files.items():
        one = known.get(path)
        if one is None or not one.settled or one.stamp != file.stamp:
            changed.append(file)
    return changed
