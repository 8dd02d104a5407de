"""What can be retrieved, held in memory: partitions by level and scope.

A partition is one level of one scope. Its statistics are its own, so that what
one asker may not see never shows in another's scores.
"""

from __future__ import annotations

import re

from memoranda.core.analysis import analyze
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.names import name_key
from memoranda.core.records import dataclass, field
from memoranda.index.bm25 import Bm25Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import RLock

    from memoranda.core.links import Link
    from memoranda.core.metadata import Metadata
    from memoranda.core.model import Level
    from memoranda.core.ports import KeywordIndex

__all__ = ["Corpus", "Entry", "Key", "Partition", "address_key", "fold_exact", "link_keys", "searchable_text"]

#: What two addresses of the same thing have in common: category with its scope, and name.
Key = tuple[str, str]

_SCOPED = ("user/", "agent/", "project/")
_ORDERED = ("turn/", "kb/")
_COLON = re.compile("[:：]")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is ranked: an item, a turn or a passage.

    ``citation`` says where a person finds it (``memory/preferences.md:7``);
    ``order`` and ``parent`` place what belongs to a sequence.
    """

    address: str
    level: Level
    scope: str
    category: str
    name: str
    text: str
    hash: str
    metadata: Metadata = EMPTY_METADATA
    links: tuple[Link, ...] = ()
    citation: str = ""
    speaker: str = ""
    ts: str = ""
    order: int = 0
    parent: str = ""


@dataclass(slots=True)
class Partition:
    """One level of one scope.

    ``inbound`` counts, for every key that is linked to, the entries that link
    to it; ``limited`` are the documents that may be superseded or expired.
    """

    level: Level
    scope: str
    index: KeywordIndex
    entries: dict[int, Entry] = field(default_factory=dict)
    by_key: dict[Key, int] = field(default_factory=dict)
    inbound: dict[Key, int] = field(default_factory=dict)
    limited: set[int] = field(default_factory=set)
    next_doc: int = 0
    _folded: dict[int, str] = field(default_factory=dict)

    def folded(self, doc: int) -> str:
        """Name, speaker and text of a document for exact search: NFKC, case folded; made once."""
        known = self._folded.get(doc)
        if known is None:
            known = self._folded[doc] = fold_exact(searchable_text(self.entries[doc]))
        return known

    def forget_folded(self, doc: int) -> None:
        """Drop what :meth:`folded` made of a document's older text."""
        self._folded.pop(doc, None)


class Corpus:
    """All partitions, kept up to date entry by entry.

    ``lock`` is held by every change; hold it while reading partitions.
    """

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
        self._places: dict[Key, tuple[Partition, int]] = {}

    def __len__(self) -> int:
        """How many entries are held."""
        return len(self._places)

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same address. Unchanged text costs next to nothing."""
        key = address_key(entry.address)
        with self.lock:
            place = self._places.get(key)
            old = None if place is None else place[0].entries[place[1]]
            stays = old is not None and _home(old) == _home(entry)
            # Analysed before anything changes: if that fails, the old entry stands.
            terms = None
            if not (stays and old is not None and _searched(old) == _searched(entry)):
                terms = self._analyzer(searchable_text(entry))
            if place is not None and not stays:
                self._take_out(key, *place)
                place = None
            partition, doc = place or self._new_place(key, entry)
            if place is not None:
                _count_links(partition, partition.entries[doc], -1)
            partition.entries[doc] = entry
            _count_links(partition, entry, 1)
            if entry.metadata.superseded_by or entry.metadata.valid_to:
                partition.limited.add(doc)
            else:
                partition.limited.discard(doc)
            if terms is not None:
                partition.forget_folded(doc)
                partition.index.put(doc, terms)

    def remove(self, address: str) -> None:
        """Take an entry out; an address that is not held is ignored."""
        key = address_key(address)
        with self.lock:
            if (place := self._places.get(key)) is not None:
                self._take_out(key, *place)

    def partitions(self, levels: Sequence[Level], scopes: Sequence[str] | None = None) -> list[Partition]:
        """The partitions of these levels and scopes (``None``: of every scope), in the order asked for."""
        with self.lock:
            if scopes is None:
                return [p for level in levels for p in self._partitions.values() if p.level == level]
            keys = [(level, name_key(scope)) for level in levels for scope in scopes]
            return [self._partitions[key] for key in dict.fromkeys(keys) if key in self._partitions]

    def find(self, category_key: str, item_key: str) -> Entry | None:
        """The entry under these keys (``user/lin/preferences`` and ``likes-the-sea``), if it is held."""
        with self.lock:
            place = self._places.get((category_key, item_key.removeprefix("^")))
            return None if place is None else place[0].entries[place[1]]

    def get(self, address: str) -> Entry | None:
        """The entry of this address, if it is held."""
        return self.find(*address_key(address))

    def _new_place(self, key: Key, entry: Entry) -> tuple[Partition, int]:
        home = _home(entry)
        partition = self._partitions.get(home)
        if partition is None:
            partition = self._partitions[home] = Partition(entry.level, home[1], self._new_index())
        doc = partition.next_doc
        partition.next_doc += 1
        partition.by_key[key] = doc
        self._places[key] = (partition, doc)
        return partition, doc

    def _take_out(self, key: Key, partition: Partition, doc: int) -> None:
        _count_links(partition, partition.entries.pop(doc), -1)
        partition.index.remove(doc)
        partition.limited.discard(doc)
        partition.forget_folded(doc)
        del partition.by_key[key]
        del self._places[key]


def address_key(address: str) -> Key:
    """The key of an address: of an item, a turn (``turn/c#4``) or a passage (``kb/c/doc#3``)."""
    if address.startswith(_ORDERED):
        category, _, name = address.rpartition("#")
        return (category, name)  # ids compare as written
    category, *rest = _COLON.split(address, maxsplit=1)
    name = rest[0] if rest else ""
    return (name_key(category).removeprefix("shared/"), name_key(name).removeprefix("^"))


def link_keys(category: str, item: str, source: Entry) -> tuple[Key, ...]:
    """Where a link written in ``source`` may lead, first choice first; the last one is as written.

    Without a scope it means the source's own scope, then shared memory; without
    a category, the source's own category.
    """
    if category.startswith(_ORDERED):
        return ((category, item),)
    name = name_key(item).removeprefix("^")
    path = name_key(category)
    if not path:
        return ((address_key(source.address)[0], name),)
    if path.startswith("shared/"):
        return ((path.removeprefix("shared/"), name),)
    own = name_key(source.scope)
    if own == "shared" or (path.startswith(_SCOPED) and path.count("/") > 1):
        return ((path, name),)
    return ((f"{own}/{path}", name), (path, name))


def searchable_text(entry: Entry) -> str:
    """What is searched of an entry: its name or speaker, then its text with links as they are shown."""
    text = entry.text
    for link in reversed(entry.links):
        if link.shown and text.startswith("[[", link.start):
            text = f"{text[: link.start]}{link.shown}{text[link.end :]}"
    if entry.speaker:
        return f"{entry.speaker}: {text}"
    # A name made of a hash, and the number of a turn or passage, say nothing.
    named = entry.level == "item" and not entry.name.startswith("~")
    return f"{entry.name.removeprefix('^')}\n{text}" if named else text


def fold_exact(text: str) -> str:
    """Text as exact search compares it: NFKC, case folded."""
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _home(entry: Entry) -> tuple[str, str]:
    return (entry.level, name_key(entry.scope))


def _searched(entry: Entry) -> tuple[object, ...]:
    shown = tuple(link.shown for link in entry.links)
    return (entry.hash or entry.text, entry.name, entry.speaker, shown)


def _count_links(partition: Partition, entry: Entry, by: int) -> None:
    for key in {link_keys(link.category, link.item, entry) for link in entry.links if link.item}:
        # Counted under the last choice, the one without a scope: who asks decides where it leads.
        target = key[-1]
        count = partition.inbound.get(target, 0) + by
        if count > 0:
            partition.inbound[target] = count
        else:
            partition.inbound.pop(target, None)
