"""What each category file held when it was last accounted for: how a person's edit is told from our own.

Kept in ``.cache/seen``, brought up to date from the history after every change
of whichever process, and made again from all of it when it is lost or damaged.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from memoranda.core.errors import MemorandaError
from memoranda.core.items import parse
from memoranda.storage.accounts import Baseline, deltas_of, file_hash_after, items_after, items_of, replay
from memoranda.storage.baseline_files import (
    DAMAGE,
    ENDING,
    append_delta,
    baseline_name,
    read_baseline,
    read_hash,
    replace_unsynced,
    write_baseline,
)
from memoranda.storage.categories import bytes_hash
from memoranda.storage.files import read_bytes
from memoranda.storage.seen import SeenState, path_number, read_state, seen_folder, state_file
from memoranda.storage.standing import journal_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.storage.accounts import Delta
    from memoranda.storage.history import ChangeRecord, FileChange, History
    from memoranda.storage.standing import Mark
    from memoranda.storage.vault import VaultFolder

__all__ = ["Baseline", "Baselines"]

#: From this size on, and this much for each item, a file of changes is written whole again.
_WHOLE_BYTES = 65_536
_BYTES_AN_ITEM = 256


class Baselines:
    """One small file a category (see :mod:`.baseline_files`), and one that sums them up (see :mod:`.seen`).

    Writers hold the vault's lock; all of it may be deleted at any time.
    """

    def __init__(self, vault: VaultFolder, history: History) -> None:
        self._vault = vault
        self._history = history
        self._cache = os.path.join(vault.root, ".cache")
        self._folder = seen_folder(vault.root)
        self._state = self._load_state()
        self._verified = False
        self._inside = False
        # Stands in for the files where the cache cannot be written.
        self._memory: dict[str, Baseline] | None = None
        self._memory_mark: Mark | None = None

    def hash_of(self, path: str) -> str | None:
        """The hash of a file as last accounted for, without reading what it held; ``None`` if it never was."""
        if self._memory is not None:
            known = self._memory.get(path)
            return None if known is None else known.hash
        for attempt in range(2):
            try:
                return read_hash(self._file(path))
            except FileNotFoundError:
                return None
            except (OSError, ValueError):
                self._damaged(attempt)
        return None

    def get(self, path: str) -> Baseline | None:
        """What is known of a file; ``None`` if it was never accounted for."""
        if self._memory is not None:
            return self._memory.get(path)
        for attempt in range(2):
            with suppress(*DAMAGE):
                found = read_baseline(self._file(path)) if os.path.exists(self._file(path)) else None
                if (found is None or found.path == path) and self._is_complete():
                    return found
            self._damaged(attempt)
        return None

    def get_or_rebuild(self, path: str) -> Baseline | None:
        """What is known of a file, also if it was lost just now. Needs the lock."""
        if self._state is None:
            self.ensure()
        found = self.get(path)
        if found is None and self._state is None:
            self.ensure()
            found = self.get(path)
        return found

    def _damaged(self, attempt: int) -> None:
        if attempt == 0:
            # Perhaps somebody is writing that very line.
            import time

            time.sleep(0.002)
            return
        # The next holder of the lock makes all of them again.
        self._state = None
        with suppress(OSError):
            os.unlink(state_file(self._vault.root))

    def put(self, baseline: Baseline) -> None:
        """Remember a file as accounted for. Needs the lock."""
        if self._memory is None and not self._write(baseline):
            self._rebuild(self._history.mark())
        if self._memory is not None:
            self._memory[baseline.path] = baseline
        else:
            self._save_state()

    def advance(self, record: ChangeRecord, sizes: Mapping[str, int] | None = None) -> None:
        """Take in the newest record of the history, whose change has happened. Needs the lock.

        ``sizes`` may say how many items the files have; what it costs then is
        as much as the change, not as the files.
        """
        now = self._history.mark()
        if self._memory is not None:
            replay([record], self._memory)
            self._memory_mark = now
        elif self._apply(record, sizes or {}):
            self._save_state(now)
        else:
            self._rebuild(now)

    def doubt(self) -> None:
        """Note that not everything may be complete: the next process that takes the lock looks. Needs the lock."""
        if self._memory is None and not self._save_state(doubtful=True):
            self._damaged(1)

    def vanished(self, present: Iterable[str]) -> list[Baseline]:
        """What was accounted for and is no longer among the ``present`` paths."""
        known = set(present)
        if self._memory is not None:
            return [b for path, b in sorted(self._memory.items()) if path not in known]
        there = {baseline_name(path) for path in known}
        for attempt in range(2):
            try:
                names = self._sizes().keys() - there
                gone = [read_baseline(os.path.join(self._folder, name)) for name in names]
                if self._is_complete():
                    return sorted(gone, key=lambda baseline: baseline.path)
            except DAMAGE:
                pass
            self._damaged(attempt)
        return [b for path, b in sorted(self._replayed().items()) if path not in known]

    def ensure(self) -> None:
        """Bring the baselines up to the history, or make them again: missing, damaged or of another version.

        Needs the lock, and a history without an unfinished change.
        """
        now = self._history.mark()
        self._verified = False
        if self._memory is not None:
            if self._memory_mark != now:
                self._rebuild(now)
            return
        state = self._state = self._load_state()
        if state is not None and state.standing == (now, journal_size(self._vault)):
            return
        missed = None if state is None else self._history.since(state.standing[0])
        if missed is not None and not any(record.files for record in missed):
            self._save_state(now)
        else:
            self._rebuild(now)

    def _apply(self, record: ChangeRecord, sizes: Mapping[str, int]) -> bool:
        deltas = deltas_of(record)
        for file in record.files:
            if file.after is None:
                done = self._remove(file.path)
            else:
                done = self._change(file, deltas[file.path], sizes.get(file.path, 0))
            if not done:
                return False
        return True

    def _change(self, file: FileChange, delta: Delta, items: int) -> bool:
        after = file_hash_after(file)
        limit = _WHOLE_BYTES + _BYTES_AN_ITEM * items
        with suppress(OSError):
            target = self._file(file.path)
            if file.before is not None and self.hash_of(file.path) == file.before:
                before = os.path.getsize(target)
                if before <= limit and append_delta(target, delta, after):
                    self._note(file.path, before, os.path.getsize(target))
                    return True
        known = self.get(file.path)
        if known is None and file.before is not None:
            # It should be there: what the change did not touch can only come from the history.
            return False
        return self._write(Baseline(file.path, after, items_after({} if known is None else known.items, delta)))

    def _write(self, baseline: Baseline) -> bool:
        target = self._file(baseline.path)
        try:
            self._make_folder()
            before = os.path.getsize(target) if os.path.exists(target) else None
            write_baseline(target, baseline)
            self._note(baseline.path, before, os.path.getsize(target))
        except (OSError, MemorandaError):
            return False
        return True

    def _remove(self, path: str) -> bool:
        target = self._file(path)
        try:
            before = os.path.getsize(target)
            os.unlink(target)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        self._note(path, before, None)
        return True

    def _note(self, path: str, before: int | None, after: int | None) -> None:
        """A category's file of one size became one of another, or none; exclusive or takes out what it put in."""
        if (state := self._state) is not None:
            name, more = baseline_name(path), (after is not None) - (before is not None)
            total = state.total ^ _number(name, before) ^ _number(name, after)
            paths = state.paths + more * path_number(path)
            self._state = SeenState(state.standing, state.count + more, total, paths)

    def _rebuild(self, now: Mark) -> None:
        """Replay the whole history."""
        import shutil

        shutil.rmtree(self._folder, ignore_errors=True)
        known = self._replayed()
        self._memory, self._state = None, SeenState((now, journal_size(self._vault)))
        if not (all(map(self._write, known.values())) and self._save_state()):
            self._memory, self._memory_mark = known, now

    def _replayed(self) -> dict[str, Baseline]:
        known: dict[str, Baseline] = {}
        partial = replay(self._history.read(), known)
        for path in partial & known.keys():
            # What the history does not tell is in the file itself, if that is as it was.
            with suppress(OSError, ValueError):
                data = read_bytes(self._vault.absolute(path))
                if bytes_hash(data) == known[path].hash:
                    known[path] = Baseline(path, known[path].hash, items_of(parse(data.decode("utf-8")).sections))
        return known

    def _is_complete(self) -> bool:
        """Whether the files are those that the state counts; without a state there may be none."""
        if not self._verified:
            state = self._load_state()
            count = total = 0
            for name, size in self._sizes().items():
                count, total = count + 1, total ^ _number(name, size)
            self._verified = (count, total) == ((0, 0) if state is None else (state.count, state.total))
        return self._verified

    def _sizes(self) -> dict[str, int]:
        try:
            with os.scandir(self._folder) as listing:
                return {entry.name: entry.stat().st_size for entry in listing if entry.name.endswith(ENDING)}
        except FileNotFoundError:
            return {}

    def _load_state(self) -> SeenState | None:
        return read_state(self._vault.root, self._vault.id)

    def _save_state(self, mark: Mark | None = None, *, doubtful: bool = False) -> bool:
        """Write the state down; with a mark, as of now: the history stands there, and every change has happened."""
        state = self._state
        if state is None:
            return False
        if mark is not None or doubtful:
            # No journal has a size below 0: there is something to look for.
            now = (mark or state.standing[0], -1 if doubtful else journal_size(self._vault))
            state = self._state = SeenState(now, state.count, state.total, state.paths)
        try:
            self._make_folder()
            replace_unsynced(state_file(self._vault.root), state.line(self._vault.id))
        except (OSError, MemorandaError):
            # An older state only means that some records are taken in once more.
            return False
        return True

    def _make_folder(self) -> None:
        if not self._inside:
            self._vault.check_inside(self._folder, ".cache")
            self._inside = True
        if os.path.isdir(self._folder):
            return
        fresh = not os.path.isdir(self._cache)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        if fresh:
            os.chmod(self._cache, 0o700)
            descriptor = os.open(os.path.join(self._cache, "CACHEDIR.TAG"), os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(descriptor, b"Signature: 8a477f597d28d172789f06886806bc55\n")
            os.close(descriptor)

    def _file(self, path: str) -> str:
        return os.path.join(self._folder, baseline_name(path))


def _number(name: str, size: int | None) -> int:
    if size is None:
        return 0
    return int.from_bytes(hashlib.sha256(f"{name} {size}".encode("utf-8", "surrogatepass")).digest()[:8])
