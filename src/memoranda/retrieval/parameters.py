"""The numbers retrieval turns on, in one place; their defaults come from the bench."""

from __future__ import annotations

from memoranda.core.records import dataclass, field
from memoranda.index.bm25 import Bm25Parameters
from memoranda.retrieval.query import QueryWeights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.model import Level

__all__ = ["RetrievalParameters"]


@dataclass(frozen=True, slots=True)
class RetrievalParameters:
    """Settings of the whole pipeline.

    A hit is weak if the query has ``weak_words`` words or more, the hit holds
    one of them, and that one carries less than ``weak_share`` of the query's
    idf. A linked entry has ``link_share`` of its hit's score before hub
    damping; one hit brings ``links_per_hit`` at most. What is superseded or
    expired keeps ``outdated_share`` of its score.
    """

    memory: Bm25Parameters = field(default_factory=Bm25Parameters)
    passages: Bm25Parameters = field(default_factory=lambda: Bm25Parameters(b=0.75))
    weights: QueryWeights = field(default_factory=QueryWeights)
    weak_words: int = 3
    weak_share: float = 0.35
    link_share: float = 0.5
    links_per_hit: int = 5
    outdated_share: float = 0.5

    def bm25(self, level: Level) -> Bm25Parameters:
        """The keyword parameters of a level: passages are longer than what is remembered."""
        return self.passages if level == "passage" else self.memory
