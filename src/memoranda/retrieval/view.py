"""What one query may see: some partitions, through the caller's eyes."""

from __future__ import annotations

from memoranda.core.addresses import SHARED
from memoranda.core.names import name_key
from memoranda.index.entries import address_key, link_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memoranda.core.model import Level
    from memoranda.index.entries import Entry, Key
    from memoranda.index.partition import Partition

__all__ = ["View"]


class View:
    """The visible partitions; ``visible`` further leaves out single entries (``None``: none)."""

    def __init__(self, partitions: Sequence[Partition], visible: Callable[[Entry], bool] | None = None) -> None:
        self.partitions = tuple(partitions)
        self.visible = visible

    def level(self, level: Level) -> list[Partition]:
        """The visible partitions of one level."""
        return [partition for partition in self.partitions if partition.level == level]

    def entries(self, partitions: Iterable[Partition]) -> Iterator[tuple[Partition, int, Entry]]:
        """All visible entries of some partitions."""
        for partition in partitions:
            for doc, entry in partition.entries.items():
                if self.visible is None or self.visible(entry):
                    yield partition, doc, entry

    def sees(self, entry: Entry) -> bool:
        """Whether an entry of a visible partition is itself visible."""
        return self.visible is None or self.visible(entry)

    def find(self, keys: Iterable[Key]) -> Entry | None:
        """The first visible entry of these keys."""
        found = self.find_hidden(keys)
        return found if found is not None and self.sees(found) else None

    def find_hidden(self, keys: Iterable[Key]) -> Entry | None:
        """The first entry of these keys in the visible partitions, be it itself visible or not."""
        for key in keys:
            for partition in self.partitions:
                doc = partition.by_key.get(key)
                if doc is not None:
                    return partition.entries[doc]
        return None

    def follow(self, category: str, item: str, source: Entry) -> Entry | None:
        """Where a link written in ``source`` leads, if that is visible."""
        return self.find(link_keys(category, item, source))

    def inbound(self, target: Entry) -> int:
        """How many visible entries link to ``target``."""
        key = address_key(target.address)
        own = name_key(target.scope)
        scoped = key[0].startswith(f"{own}/") and own != str(SHARED)
        bare = (key[0].removeprefix(f"{own}/"), key[1]) if scoped else key
        count = 0
        for partition in self.partitions:
            count += partition.inbound.get(key, 0)
            if scoped and partition.scope == own:
                count += partition.inbound.get(bare, 0)
            elif not scoped and partition.scope != own:
                # An unscoped link there means that scope's own entry, where it has one.
                nearer = (f"{partition.scope}/{key[0]}", key[1])
                if partition.inbound.get(key) and self.find_hidden([nearer]) is not None:
                    count -= partition.inbound[key]
        return count
