"""What lies near a question by meaning, whatever words they share: one signal beside the keywords."""

from __future__ import annotations

from math import sqrt

from memoranda.core.records import dataclass
from memoranda.index.embedded import digest_of, embedded_text, home_of
from memoranda.index.entries import address_key
from memoranda.index.reference_texts import reference_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memoranda.core.ports import VectorIndex
    from memoranda.core.vectors import Near
    from memoranda.index.partition import Partition

__all__ = ["Dense", "QueryVector"]

#: So many rows from all over the index tell what is near by chance.
_SAMPLE = 256
#: Fewer rows than this are no measure of chance: much of a small vault may be about one thing.
_ENOUGH_ROWS = 200


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question's vector, and the index of the same space."""

    text: str
    numbers: Sequence[float]
    index: VectorIndex


class Dense:
    """One question against the vectors of some partitions.

    A row counts only as long as what was embedded is what the entry says now:
    a vector that lags behind its text is as good as none.
    """

    def __init__(
        self,
        query: QueryVector,
        partitions: Sequence[Partition],
        count: int,
        keep: Callable[[int, int], bool] | None = None,
    ) -> None:
        """Find the ``count`` nearest. What ``keep`` refuses (by number of its partition, and its own) does not count.

        Raises:
            ServiceFailed, UsageError, VaultError: see :class:`memoranda.core.ports.VectorIndex`.
        """
        self._query, self._partitions, self._keep = query, partitions, keep
        self._numbers = {home_of(partition.level, partition.scope): at for at, partition in enumerate(partitions)}
        self._known: dict[tuple[int, int], float] = {}
        self._settled: set[tuple[int, int]] = set()
        for near in query.index.search(query.numbers, count, self._numbers):
            self._take(near)
        self.mean, self.deviation = _chance(self._by_chance())
        #: The cosine of the nearest.
        self.top = max(self._known.values(), default=0.0)

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self._known)

    def places(self) -> Iterable[tuple[int, int]]:
        """What was found, each by the number of its partition and its own."""
        return self._known.keys()

    def settle(self, places: Iterable[tuple[int, int]]) -> None:
        """Find out how near these are too."""
        wanted: dict[str, tuple[int, int]] = {}
        for place in places:
            if place not in self._known and place not in self._settled:
                self._settled.add(place)
                wanted[self._partitions[place[0]].entries[place[1]].address] = place
        if not wanted:
            return
        try:
            found = self._query.index.cosines(self._query.numbers, wanted).values()
        except Exception:  # the nearest are known; how near the others are is worth no failure
            return
        for near in found:
            self._take(near, wanted.get(near.address))

    def cosine(self, place: tuple[int, int]) -> float | None:
        """How near one is, as far as that is known."""
        return self._known.get(place)

    def share(self, place: tuple[int, int]) -> float:
        """How near one is: 1 as near as the nearest, 0 no nearer than chance."""
        cosine, width = self._known.get(place), self.top - self.mean
        return 0.0 if cosine is None or width <= 0.0 else max(0.0, (cosine - self.mean) / width)

    def surprise(self, place: tuple[int, int]) -> float:
        """By how many standard deviations one is nearer than chance; 0 where nothing can be said."""
        cosine = self._known.get(place)
        return 0.0 if cosine is None or self.deviation <= 0.0 else (cosine - self.mean) / self.deviation

    def _by_chance(self) -> Sequence[float]:
        """Cosines of what has nothing to do with the question: of the index's own, where there are enough."""
        found = self._query.index.sample(self._query.numbers, _SAMPLE)
        if len(found) >= _ENOUGH_ROWS:
            return found
        homes = [reference_home(self._query.text)]
        return [near.cosine for near in self._query.index.search(self._query.numbers, _SAMPLE, homes)]

    def _take(self, near: Near, place: tuple[int, int] | None = None) -> None:
        place = place or self._find(near.address)
        if place is None or (self._keep is not None and not self._keep(*place)):
            return
        entry = self._partitions[place[0]].entries[place[1]]
        if entry.address == near.address and digest_of(embedded_text(entry)) == near.digest:
            self._known[place] = near.cosine

    def _find(self, address: str) -> tuple[int, int] | None:
        key = address_key(address)
        for number, partition in enumerate(self._partitions):
            if (doc := partition.by_key.get(key)) is not None:
                return number, doc
        return None


def _chance(cosines: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of what is near by chance."""
    count = len(cosines)
    if not count:
        return 0.0, 0.0
    mean = sum(cosines) / count
    return mean, sqrt(sum((cosine - mean) ** 2 for cosine in cosines) / count)
