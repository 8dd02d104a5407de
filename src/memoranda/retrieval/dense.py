"""What lies near a question by meaning, whatever words they share: one signal beside the keywords."""

from __future__ import annotations

from memoranda.core.records import dataclass
from memoranda.index.embedded import digest_of, embedded_text, home_of
from memoranda.index.entries import address_key
from memoranda.index.reference_texts import reference_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
    """A question's vector, the index of the same space, and how far cosines of unrelated texts vary in it."""

    text: str
    numbers: Sequence[float]
    index: VectorIndex
    spread: float = 0.0
    #: What is missing, in words.
    note: str = ""


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
        lending: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Find the ``count`` nearest. What ``keep`` refuses (by number of its partition, and its own) does not count.

        ``lending`` are the shares of its nearness that a neighbour lends, one place away and two.

        Raises:
            ServiceFailed, UsageError, VaultError: see :class:`memoranda.core.ports.VectorIndex`.
        """
        self._query, self._partitions, self._keep = query, partitions, keep
        self._steps = [(step, share) for share, by in zip(lending, (1, 2), strict=True) if share for step in (-by, by)]
        self._numbers = {home_of(partition.level, partition.scope): at for at, partition in enumerate(partitions)}
        self._known: dict[tuple[int, int], float] = {}
        self._settled: set[tuple[int, int]] = set()
        for near in query.index.search(query.numbers, count, self._numbers):
            self._take(near)
        #: What is near by chance: sentences about nothing, and what the index holds, where that is enough to tell.
        self._unrelated = _median([near.cosine for near in self._unrelated_sentences()])
        sample = query.index.sample(query.numbers, _SAMPLE, self._numbers)
        self._middle = _median(sample) if len(sample) >= _ENOUGH_ROWS else self._unrelated
        #: The cosine of the nearest.
        self.top = max(self._known.values(), default=0.0)

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self._known)

    def places(self) -> Iterable[tuple[int, int]]:
        """What was found, each by the number of its partition and its own."""
        return self._known.keys()

    def settle(self, places: Iterable[tuple[int, int]]) -> None:
        """Find out how near these are too, and those around them that lend to them."""
        wanted: dict[str, tuple[int, int]] = {}
        for place in self._with_neighbours([*places, *self._known]):
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
        """How near one is, and what stands around it: 1 for what is as near as the nearest, and stands alone."""
        number = place[0]
        lent = [share * self._own((number, other)) for other, share in self._neighbours(place)]
        return self._own(place) + sum(lent)

    def _own(self, place: tuple[int, int]) -> float:
        """How near one is itself: 1 as near as the nearest, 0 no nearer than chance."""
        cosine, width = self._known.get(place), self.top - self._middle
        return 0.0 if cosine is None or width <= 0.0 else max(0.0, (cosine - self._middle) / width)

    def surprise(self, place: tuple[int, int]) -> float:
        """By how many standard deviations of the model one is nearer than what has nothing to do with the question."""
        cosine, spread = self._known.get(place), self._query.spread
        return 0.0 if cosine is None or spread <= 0.0 else (cosine - self._unrelated) / spread

    def _neighbours(self, place: tuple[int, int]) -> Iterator[tuple[int, float]]:
        """Who lends to one, by its number, and what share."""
        if not self._steps:
            return
        run, at = self._partitions[place[0]].run(place[1])
        for step, share in self._steps:
            if 0 <= at + step < len(run):
                yield run[at + step], share

    def _with_neighbours(self, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], None]:
        found = dict.fromkeys(places)
        for place in places:
            found.update(((place[0], other), None) for other, _ in self._neighbours(place))
        return found

    def _unrelated_sentences(self) -> Sequence[Near]:
        return self._query.index.search(self._query.numbers, _SAMPLE, [reference_home(self._query.text)])

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


def _median(numbers: Sequence[float]) -> float:
    if not numbers:
        return 0.0
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(numbers) % 2 else (ordered[half - 1] + ordered[half]) / 2.0
