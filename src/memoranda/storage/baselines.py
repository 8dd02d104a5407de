"""What each category file held when it was last accounted for: how a person's edit is told from our own.

Kept in ``.cache/seen``, brought up to date from the history after every change
of whichever process, and made again from all of it when it is lost or damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress

from memoranda.core.errors import MemorandaError
from memoranda.core.items import parse
from memoranda.core.records import dataclass
from memoranda.storage.accounts import Baseline, deltas_of, file_hash_after, items_after, items_of, replay
from memoranda.storage.baseline_files import (
    DAMAGE,
    append_delta,
    checksum,
    read_baseline,
    read_hash,
    replace_unsynced,
    write_baseline,
)
from memoranda.storage.categories import bytes_hash
from memoranda.storage.files import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.storage.accounts import Delta
    from memoranda.storage.history import ChangeRecord, FileChange, History, Mark
    from memoranda.storage.vault import VaultFolder

__all__ = ["Baseline", "Baselines"]

_VERSION = 4
_ENDING = ".seen"
_STATE = "state"
#: From this size on, and this much for each item, a file of changes is written whole again.
_WHOLE_BYTES = 65_536
_BYTES_AN_ITEM = 256


@dataclass(frozen=True, slots=True)
class _State:
    """How far the history is accounted for, and which files say so: their number, names and sizes, summed up."""

    mark: Mark
    count: int = 0
    total: int = 0

    def with_file(self, name: str, before: int | None, after: int | None) -> _State:
        """A file of one size became one of another, or none; exclusive or takes out what it put in."""
        count = self.count + (after is not None) - (before is not None)
        return _State(self.mark, count, self.total ^ _number(name, before) ^ _number(name, after))


class Baselines:
    """One small file a category (see :mod:`.baseline_files`), and one that says how far all of them go.

    Writers hold the vault's lock; all of it may be deleted at any time.
    """

    def __init__(self, vault: VaultFolder, history: History) -> None:
        self._vault = vault
        self._history = history
        self._cache = os.path.join(vault.root, ".cache")
        self._folder = os.path.join(self._cache, "seen")
        self._state: _State | None = None
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
            os.unlink(os.path.join(self._folder, _STATE))

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

    def vanished(self, present: Iterable[str]) -> list[Baseline]:
        """What was accounted for and is no longer among the ``present`` paths."""
        known = set(present)
        if self._memory is not None:
            return [b for path, b in sorted(self._memory.items()) if path not in known]
        there = {self._name(path) for path in known}
        for attempt in range(2):
            try:
                names = sorted(self._sizes().keys() - there)
                gone = [read_baseline(os.path.join(self._folder, name)) for name in names]
                if self._is_complete():
                    return gone
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
        self._state = self._load_state()
        if self._state is not None and self._state.mark == now:
            return
        missed = None if self._state is None else self._history.since(self._state.mark)
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
            name = self._name(file.path)
            target = os.path.join(self._folder, name)
            if file.before is not None and self.hash_of(file.path) == file.before:
                before = os.path.getsize(target)
                if before <= limit and append_delta(target, delta, after):
                    self._note(name, before, os.path.getsize(target))
                    return True
        known = self.get(file.path)
        if known is None and file.before is not None:
            # It should be there: what the change did not touch can only come from the history.
            return False
        return self._write(Baseline(file.path, after, items_after({} if known is None else known.items, delta)))

    def _write(self, baseline: Baseline) -> bool:
        name = self._name(baseline.path)
        target = os.path.join(self._folder, name)
        try:
            self._make_folder()
            before = os.path.getsize(target) if os.path.exists(target) else None
            write_baseline(target, baseline)
            self._note(name, before, os.path.getsize(target))
        except (OSError, MemorandaError):
            return False
        return True

    def _remove(self, path: str) -> bool:
        name = self._name(path)
        target = os.path.join(self._folder, name)
        try:
            before = os.path.getsize(target)
            os.unlink(target)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        self._note(name, before, None)
        return True

    def _note(self, name: str, before: int | None, after: int | None) -> None:
        if self._state is not None:
            self._state = self._state.with_file(name, before, after)

    def _rebuild(self, now: Mark) -> None:
        """Replay the whole history."""
        import shutil

        shutil.rmtree(self._folder, ignore_errors=True)
        known = self._replayed()
        self._memory, self._state = None, _State(now)
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
                return {entry.name: entry.stat().st_size for entry in listing if entry.name.endswith(_ENDING)}
        except FileNotFoundError:
            return {}

    def _load_state(self) -> _State | None:
        try:
            with open(os.path.join(self._folder, _STATE), "rb") as stream:
                body, check = stream.read().split(b"\t")
            row = json.loads(body)
            if checksum(body) != check or (row["version"], row["vault"]) != (_VERSION, self._vault.id):
                return None
            name, size, inode = row["mark"]
            return _State((str(name), int(size), int(inode)), int(row["count"]), int(row["total"]))
        except DAMAGE:
            return None

    def _save_state(self, mark: Mark | None = None) -> bool:
        if self._state is None:
            return False
        if mark is not None:
            self._state = _State(mark, self._state.count, self._state.total)
        row = {"version": _VERSION, "vault": self._vault.id, "mark": self._state.mark}
        row |= {"count": self._state.count, "total": self._state.total}
        body = json.dumps(row, separators=(",", ":")).encode("ascii")
        try:
            self._make_folder()
            replace_unsynced(os.path.join(self._folder, _STATE), b"\t".join((body, checksum(body))))
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
        return os.path.join(self._folder, self._name(path))

    @staticmethod
    def _name(path: str) -> str:
        return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:24] + _ENDING


def _number(name: str, size: int | None) -> int:
    if size is None:
        return 0
    return int.from_bytes(hashlib.sha256(f"{name} {size}".encode("utf-8", "surrogatepass")).digest()[:8])
