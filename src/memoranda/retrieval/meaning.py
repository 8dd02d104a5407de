"""What a question's vector adds to a search by words: documents to look at, parts of scores, answers of its own."""

from __future__ import annotations

import heapq

from memoranda.retrieval.dense import Dense
from memoranda.retrieval.evidence import scale
from memoranda.retrieval.fusion import FUSIONS
from memoranda.retrieval.ranking import Nearness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memoranda.index.partition import Partition
    from memoranda.index.scoring import Scoring
    from memoranda.retrieval.context import Context
    from memoranda.retrieval.dense import QueryVector
    from memoranda.retrieval.fusion import Scored
    from memoranda.retrieval.parameters import RetrievalParameters

__all__ = ["Meaning"]


class Meaning:
    """One question's vector beside its words, on one level.

    Raises, when it is made: whatever the index of vectors does.
    """

    def __init__(
        self,
        vector: QueryVector,
        partitions: Sequence[Partition],
        scoring: Scoring,
        context: Context,
        parameters: RetrievalParameters,
        keep: Callable[[int, int], bool] | None,
        *,
        words: bool,
    ) -> None:
        """Find what is near; without ``words`` nothing else counts."""
        self._scoring, self._parameters = scoring, parameters
        self._partitions = partitions
        self._weight = parameters.dense_weight if words else 1.0
        self._dense = Dense(vector, partitions, parameters.dense_pool, keep, context.meaning)
        self._added: dict[tuple[int, int], float] = {}
        #: The document that the words alone would put first.
        self.first_by_words: tuple[int, int] | None = None

    def let_in(self, own: dict[int, dict[int, float]]) -> None:
        """What is near is looked at too, with what its own words are worth (``own``: by partition and document)."""
        for number in range(len(self._partitions)):
            known = own.get(number, {})
            missing = [doc for at, doc in self._dense.places() if at == number and doc not in known]
            if missing:
                words = self._scoring.of(number, missing)
                own[number] = known | {doc: words.get(doc, 0.0) for doc in missing}

    def fuse(self, found: Sequence[Scored]) -> list[Scored]:
        """The documents with what both signals say of them together."""
        self._dense.settle(one[1:] for one in heapq.nlargest(self._parameters.dense_pool, found))
        fused = FUSIONS[self._parameters.fusion](found, self._dense.share, self._weight, self._scoring.ideal())
        words = {one[1:]: one[0] for one in found}
        self.first_by_words = max(words, key=lambda place: words[place], default=None)
        self._added = {one[1:]: one[0] - words[one[1:]] for one in fused}
        return [one for one in fused if one[0] > 0.0]

    def is_near(self, place: tuple[int, int]) -> bool:
        """Whether a document is so near that it is an answer whatever words it holds."""
        return self._dense.surprise(place) >= self._enough()

    def is_surely_near(self, place: tuple[int, int]) -> bool:
        """Whether it is so much nearer than that that it is no weak one."""
        return self._dense.surprise(place) >= self._enough() + self._parameters.surely_near

    def nearness(self, place: tuple[int, int]) -> Nearness | None:
        """How near a document is and what that was worth; ``None`` where there is no vector of it."""
        cosine = self._dense.cosine(place)
        if cosine is None:
            return None
        return Nearness(cosine, self._dense.surprise(place), self._added.get(place, 0.0))

    def describe_nearest(self) -> str:
        """What is nearest, and how near that is, in words; empty where there is nothing."""
        place = max(self._dense.places(), key=self._dense.surprise, default=None)
        if place is None:
            return ""
        address = self._partitions[place[0]].entries[place[1]].address
        return (
            f"nearest in meaning was {address}: {self._dense.surprise(place):.1f} standard deviations above what is "
            f"unrelated, {self._enough():.1f} are needed"
        )

    def _enough(self) -> float:
        """How near is an answer: among many texts one is farther above what is unrelated by chance than among few."""
        parameters = self._parameters
        size = scale(self._scoring.documents, parameters.small_vault, parameters.large_vault)
        return parameters.near_among_few + size * (parameters.near - parameters.near_among_few)
