"""What can be retrieved: partitions by level and scope, kept up to date entry by entry.

A partition is one level of one scope. Its statistics are its own, so that what
one asker may not see never shows in another's scores.
"""

from __future__ import annotations

from memoranda.core.analysis import analyze
from memoranda.core.names import name_key
from memoranda.index.entries import address_key, indexed_terms, library_of
from memoranda.index.partition import Partition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from threading import RLock

    from memoranda.core.model import Level
    from memoranda.index.entries import Entry, Key
    from memoranda.index.segment import Segment
    from memoranda.index.segmenting import Segmentation

__all__ = ["Corpus"]


class Corpus:
    """All partitions. ``lock`` is held by every change; hold it while reading partitions.

    With a ``segmentation`` texts are analysed by that, and questions have to be.
    """

    def __init__(
        self, analyzer: Callable[[str], Sequence[str]] = analyze, segmentation: Segmentation | None = None
    ) -> None:
        import threading

        self.lock: RLock = threading.RLock()
        self.segmentation = segmentation
        self._analyzer = analyzer if segmentation is None else segmentation.terms
        #: Which segment holds a partition: what is read with documents has one of its own.
        self._stored: dict[tuple[Level, str], Segment] = {}
        self._partitions: dict[tuple[Level, str], Partition] = {}
        #: Whose knowledge each corpus is, by the scope of its partition; as its settings say, never from a segment.
        self.libraries: dict[str, str] = {}
        #: Where the entries in memory are; those of a segment are found by their address.
        self._homes: dict[Key, Partition] = {}

    def __len__(self) -> int:
        """How many entries are held."""
        with self.lock:
            return sum(len(partition.entries) for partition in self._all())

    @property
    def is_stored(self) -> bool:
        """Whether some of it is in a segment."""
        return bool(self._stored)

    def adopt(self, segment: Segment, levels: Collection[Level]) -> None:
        """Hold of these levels what a segment holds, and nothing else. Every later reading may raise SegmentDamaged."""
        with self.lock:
            self._homes = {key: held for key, held in self._homes.items() if held.level not in levels}
            self._partitions = {home: held for home, held in self._partitions.items() if home[0] not in levels}
            self._stored = {home: one for home, one in self._stored.items() if home[0] not in levels}
            self._stored |= {home: segment for home in segment.homes if home[0] in levels}

    def put(self, entry: Entry) -> int:
        """Add an entry, or replace the one of the same address; its number in its partition.

        Unchanged text costs next to nothing.
        """
        key = address_key(entry.address)
        with self.lock:
            before = self._home_of(key)
            partition = self.partition(entry.level, name_key(entry.scope))
            old = before.entries[before.by_key[key]] if before is partition else None
            doc = partition.put(key, entry, same_text=old is not None and _searched(old) == _searched(entry))
            if before is not None and before is not partition:
                before.remove(key)
            self._homes[key] = partition
            return doc

    def remove(self, address: str) -> None:
        """Take an entry out; an address that is not held is ignored."""
        key = address_key(address)
        with self.lock:
            if (partition := self._home_of(key)) is not None:
                self._homes.pop(key, None)
                partition.remove(key)

    def partition(self, level: Level, scope: str) -> Partition:
        """The partition of a level and scope, made if there is none."""
        home = (level, scope)
        partition = self._partitions.get(home)
        if partition is None:
            segment = self._stored.get(home)
            base = None if segment is None else segment.partition(level, scope)
            partition = self._partitions[home] = Partition(level, scope, self._terms_of, base)
        return partition

    def partitions(
        self, levels: Sequence[Level], scopes: Sequence[str] | None = None, corpora: Sequence[str] | None = None
    ) -> list[Partition]:
        """The partitions of these levels and scopes (``None``: of every scope), in the order asked for.

        Of documents only those of the named ``corpora`` (``None``: of all that the scopes allow).
        """
        with self.lock:
            if scopes is None:
                return [p for level in levels for p in self._all() if p.level == level]
            named = [name_key(scope) for scope in scopes]
            meant = None if corpora is None else {library_of(corpus) for corpus in corpora}
            libraries = [
                library
                for scope in named
                for library, whose in self.libraries.items()
                if whose == scope and (meant is None or library in meant)
            ]
            keys = dict.fromkeys(
                (level, scope) for level in levels for scope in (libraries if level == "passage" else named)
            )
            return [self.partition(*key) for key in keys if self._has(*key)]

    def find(self, category_key: str, item_key: str) -> Entry | None:
        """The entry under these keys (``user/lin/preferences`` and ``likes-the-sea``), if it is held."""
        key = (category_key, item_key.removeprefix("^"))
        with self.lock:
            partition = self._home_of(key)
            return None if partition is None else partition.entries[partition.by_key[key]]

    def get(self, address: str) -> Entry | None:
        """The entry of this address, if it is held."""
        return self.find(*address_key(address))

    def _has(self, level: Level, scope: str) -> bool:
        return (level, scope) in self._partitions or (level, scope) in self._stored

    def _all(self) -> list[Partition]:
        stored = [self.partition(*home) for home in self._stored]
        return stored + [partition for home, partition in self._partitions.items() if home not in self._stored]

    def _home_of(self, key: Key) -> Partition | None:
        partition = self._homes.get(key)
        if partition is None and self._stored:
            home = _stored_home(key)
            if home in self._stored and key in (stored := self.partition(*home)).by_key:
                return stored
        return partition

    def _terms_of(self, entry: Entry) -> Sequence[str]:
        return indexed_terms(entry, self._analyzer)


def _stored_home(key: Key) -> tuple[Level, str]:
    """The level and scope of what has this address."""
    category = key[0]
    if category.startswith("turn/"):
        return "resource", "shared"
    if category.startswith("kb/"):
        return "passage", name_key("/".join(category.split("/")[:2]))
    kind, _, rest = category.partition("/")
    if rest and kind in ("user", "agent", "project"):
        return "item", f"{kind}/{rest.partition('/')[0]}"
    return "item", "shared"


def _searched(entry: Entry) -> tuple[object, ...]:
    shown = tuple(link.shown for link in entry.links)
    return (entry.hash or entry.text, entry.name, entry.speaker, entry.ts, shown)
