"""What has been accounted for, as far as that is told by one small file: most looks at a vault need no more.

``.cache/seen/state`` says how far history and journal had come when every file
was accounted for, and which files these were, summed up. Who needs to know what
a file held asks :class:`.Baselines`, which is loaded for that.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress

from memoranda.core.records import dataclass
from memoranda.storage.files import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from memoranda.storage.accounts import Baseline
    from memoranda.storage.baselines import Baselines
    from memoranda.storage.history import ChangeRecord
    from memoranda.storage.standing import Standing
    from memoranda.storage.store import Storage

__all__ = ["Seen", "SeenState", "path_number", "read_state", "seen_folder", "state_file"]

_VERSION = 5


def path_number(path: str) -> int:
    """What a path adds to the sum of all paths: CRC-32 of its bytes."""
    return zlib.crc32(path.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class SeenState:
    """How far history and journal are accounted for, and the files that say so.

    ``count`` is the number of those files and of the category files that they
    tell of; ``total`` sums up their own names and sizes, ``paths`` the category
    files' paths (:func:`path_number`).
    """

    standing: Standing
    count: int = 0
    total: int = 0
    paths: int = 0

    def tells_of(self, present: Collection[str]) -> bool:
        """Whether these paths, and no others, are accounted for."""
        return len(present) == self.count and sum(map(path_number, present)) == self.paths

    def line(self, vault: str) -> bytes:
        """The state of the vault with this id as it is written down: one line, with a checksum at its end."""
        (name, size, inode), journal = self.standing
        fields = (_VERSION, name, size, inode, journal, self.count, self.total, self.paths, ascii(vault))
        body = "\t".join(map(str, fields)).encode("ascii")
        return b"%b\t%08x\n" % (body, zlib.crc32(body))


def seen_folder(root: str) -> str:
    """Where the vault in a folder keeps what it has accounted for."""
    return os.path.join(root, ".cache", "seen")


def state_file(root: str) -> str:
    """Where that is summed up."""
    return os.path.join(seen_folder(root), "state")


def read_state(root: str, vault: str) -> SeenState | None:
    """The state last written; ``None`` where it is missing, damaged, of another version or of another vault."""
    try:
        line = read_bytes(state_file(root))
        name, *numbers = line.decode("ascii").split("\t")[1:-2]
        size, inode, journal, count, total, paths = map(int, numbers)
    except (OSError, ValueError):
        return None
    found = SeenState(((name, size, inode), journal), count, total, paths)
    # Whatever is not to the letter what would be written is not ours, or is damaged.
    return found if found.line(vault) == line else None


class Seen:
    """Stands before the baselines of a vault; its calls are theirs (see :class:`.Baselines`)."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._made: Baselines | None = None

    def _baselines(self) -> Baselines:
        if self._made is None:
            # Only a look that finds something changed comes here.
            from memoranda.storage.baselines import Baselines

            self._made = Baselines(self._storage.vault, self._storage.history)
        return self._made

    def _state(self) -> SeenState | None:
        vault = self._storage.vault
        return read_state(vault.root, vault.id)

    def is_complete(self, standing: Standing) -> bool:
        """Whether everything was settled and accounted for when history and journal stood so. Needs the lock."""
        state = self._state()
        return state is not None and state.standing == standing

    def ensure(self) -> None:
        """Bring the baselines up to the history. Needs the lock, and a history without an unfinished change."""
        if self._made is not None or not self.is_complete(self._storage.standing()):
            self._baselines().ensure()

    def doubt(self) -> None:
        """Have the next process that takes the lock look for what a change may have left behind. Needs the lock."""
        self._baselines().doubt()

    def vanished(self, present: Collection[str]) -> list[Baseline]:
        """What was accounted for and is no longer among the ``present`` paths."""
        state = self._state()
        if state is not None and state.standing == self._storage.standing() and state.tells_of(present):
            return []
        return self._baselines().vanished(present)

    def hash_of(self, path: str) -> str | None:
        """The hash of a file as last accounted for; ``None`` if it never was."""
        if self._made is None:
            from memoranda.storage.baseline_files import baseline_name, read_hash

            with suppress(OSError, ValueError):
                return read_hash(os.path.join(seen_folder(self._storage.vault.root), baseline_name(path)))
        return self._baselines().hash_of(path)

    def get(self, path: str) -> Baseline | None:
        """What is known of a file; ``None`` if it was never accounted for."""
        return self._baselines().get(path)

    def get_or_rebuild(self, path: str) -> Baseline | None:
        """What is known of a file, also if it was lost just now. Needs the lock."""
        return self._baselines().get_or_rebuild(path)

    def put(self, baseline: Baseline) -> None:
        """Remember a file as accounted for. Needs the lock."""
        self._baselines().put(baseline)

    def advance(self, record: ChangeRecord, sizes: Mapping[str, int] | None = None) -> None:
        """Take in the newest record of the history, whose change has happened. Needs the lock."""
        self._baselines().advance(record, sizes)
