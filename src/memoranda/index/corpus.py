"""What can be retrieved: partitions by level and scope, kept up to date entry by entry.

A partition is one level of one scope. Its statistics are its own, so that what
one asker may not see never shows in another's scores.
"""

from __future__ import annotations

from memoranda.core.analysis import analyze
from memoranda.core.names import name_key
from memoranda.index.bm25 import Bm25Index
from memoranda.index.entries import address_key, searchable_text
from memoranda.index.partition import Partition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import RLock

    from memoranda.core.model import Level
    from memoranda.core.ports import KeywordIndex
    from memoranda.index.entries import Entry, Key

__all__ = ["Corpus"]


class Corpus:
    """All partitions. ``lock`` is held by every change; hold it while reading partitions."""

    def __init__(
        self,
        analyzer: Callable[[str], Sequence[str]] = analyze,
        new_index: Callable[[], KeywordIndex] = Bm25Index,
    ) -> None:
        import threading

        self.lock: RLock = threading.RLock()
        self._analyzer = analyzer
        self._new_index = new_index
        self._partitions: dict[tuple[str, str], Partition] = {}
        self._homes: dict[Key, Partition] = {}

    def __len__(self) -> int:
        """How many entries are held."""
        return sum(len(partition.by_key) for partition in self._partitions.values())

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same address. Unchanged text costs next to nothing."""
        key = address_key(entry.address)
        home = (entry.level, name_key(entry.scope))
        with self.lock:
            before = self._homes.get(key)
            stays = before is not None and (before.level, before.scope) == home
            old = before.entries[before.by_key[key]] if before is not None else None
            # Analysed before anything changes: if that fails, the old entry stands.
            terms = None
            if not (stays and old is not None and _searched(old) == _searched(entry)):
                terms = self._analyzer(searchable_text(entry))
            if before is not None and not stays:
                before.remove(key)
            partition = self._partitions.get(home)
            if partition is None:
                partition = self._partitions[home] = Partition(entry.level, home[1], self._new_index())
            partition.put(key, entry, terms)
            self._homes[key] = partition

    def remove(self, address: str) -> None:
        """Take an entry out; an address that is not held is ignored."""
        key = address_key(address)
        with self.lock:
            if (partition := self._homes.pop(key, None)) is not None:
                partition.remove(key)

    def partitions(self, levels: Sequence[Level], scopes: Sequence[str] | None = None) -> list[Partition]:
        """The partitions of these levels and scopes (``None``: of every scope), in the order asked for."""
        with self.lock:
            if scopes is None:
                return [p for level in levels for p in self._partitions.values() if p.level == level]
            keys = [(level, name_key(scope)) for level in levels for scope in scopes]
            return [self._partitions[key] for key in dict.fromkeys(keys) if key in self._partitions]

    def find(self, category_key: str, item_key: str) -> Entry | None:
        """The entry under these keys (``user/lin/preferences`` and ``likes-the-sea``), if it is held."""
        key = (category_key, item_key.removeprefix("^"))
        with self.lock:
            partition = self._homes.get(key)
            return None if partition is None else partition.entries[partition.by_key[key]]

    def get(self, address: str) -> Entry | None:
        """The entry of this address, if it is held."""
        return self.find(*address_key(address))


def _searched(entry: Entry) -> tuple[object, ...]:
    shown = tuple(link.shown for link in entry.links)
    return (entry.hash or entry.text, entry.name, entry.speaker, entry.ts, shown)
