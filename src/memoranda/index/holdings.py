"""What a partition holds, whether a segment has it or memory: entries, addresses, and how often each is linked to."""

from __future__ import annotations

from memoranda.index.entries import encode_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator

    from memoranda.index.entries import Entry, Key
    from memoranda.index.segment import SegmentPartition

__all__ = ["Counts", "Entries", "Keys"]

_ENTRIES_HELD = 2048


class Entries:
    """Entries by document. Those of a segment are read when asked for; the last of them are kept."""

    def __init__(self, base: SegmentPartition | None, gone: set[int], orders: dict[int, int]) -> None:
        self._base, self._gone, self._orders = base, gone, orders
        self._stored = 0 if base is None else base.documents
        self._own: dict[int, Entry] = {}
        self._read: dict[int, Entry] = {}

    def __getitem__(self, doc: int) -> Entry:
        if self._base is None or doc >= self._stored:
            return self._own[doc]
        if doc in self._gone:
            raise KeyError(doc)
        entry = self._read.get(doc)
        order = self._orders.get(doc)
        if entry is None or (order is not None and entry.order != order):
            entry = self._base.entry(doc, order)
            if len(self._read) >= _ENTRIES_HELD:
                self._read.clear()
            self._read[doc] = entry
        return entry

    def __contains__(self, doc: int) -> bool:
        return doc in self._own or (0 <= doc < self._stored and doc not in self._gone)

    def __len__(self) -> int:
        return self._stored - len(self._gone) + len(self._own)

    def __iter__(self) -> Iterator[int]:
        for doc in range(self._stored):
            if doc not in self._gone:
                yield doc
        yield from self._own

    def items(self) -> Iterator[tuple[int, Entry]]:
        """Every document with its entry."""
        for doc in self:
            yield doc, self[doc]

    def values(self) -> Iterator[Entry]:
        """Every entry."""
        for doc in self:
            yield self[doc]

    def own(self) -> ItemsView[int, Entry]:
        """Those that are in memory."""
        return self._own.items()

    def put(self, doc: int, entry: Entry) -> None:
        """Keep an entry in memory."""
        self._own[doc] = entry

    def remove(self, doc: int) -> Entry:
        """Take an entry out of memory."""
        return self._own.pop(doc)


class Keys:
    """Documents by the key of their address."""

    def __init__(self, base: SegmentPartition | None, gone: set[int]) -> None:
        self._base, self._gone = base, gone
        self._own: dict[Key, int] = {}

    def get(self, key: Key) -> int | None:
        """The document under a key."""
        doc = self._own.get(key)
        if doc is None and self._base is not None:
            doc = self._base.find(encode_key(key))
            if doc in self._gone:
                return None
        return doc

    def __getitem__(self, key: Key) -> int:
        doc = self.get(key)
        if doc is None:
            raise KeyError(key)
        return doc

    def __contains__(self, key: Key) -> bool:
        return self.get(key) is not None

    def put(self, key: Key, doc: int) -> None:
        """Note a document in memory."""
        self._own[key] = doc

    def remove(self, key: Key) -> None:
        """Forget a document in memory."""
        del self._own[key]


class Counts:
    """How many entries link to a key."""

    def __init__(self, base: SegmentPartition | None) -> None:
        self._base = base
        self._changes: dict[Key, int] = {}

    def get(self, key: Key, otherwise: int = 0) -> int:
        """The count of a key, or ``otherwise`` where that is nought."""
        count = self._changes.get(key, 0)
        if self._base is not None:
            count += self._base.inbound(encode_key(key))
        return count or otherwise

    def __getitem__(self, key: Key) -> int:
        return self.get(key)

    def add(self, key: Key, by: int) -> None:
        """Change a count."""
        count = self._changes.get(key, 0) + by
        if count:
            self._changes[key] = count
        else:
            self._changes.pop(key, None)
