"""The numbers retrieval turns on, in one place; their defaults come from the bench."""

from __future__ import annotations

from memoranda.core.records import dataclass, field, replace
from memoranda.index.bm25 import Bm25Parameters
from memoranda.retrieval.context import Context
from memoranda.retrieval.query import QueryWeights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.model import Level

__all__ = ["RetrievalParameters"]


def _turns() -> Context:
    return Context(near=0.3, far=0.15, answer=0.7, sitting=0.1, spread=True, asking=0.9, meaning=(0.5, 0.25))


def _items() -> Context:
    return Context(near=0.1, answer=0.1, pool=20)


@dataclass(frozen=True, slots=True)
class RetrievalParameters:
    """Settings of the whole pipeline.

    ``turns``, ``items`` and ``pieces`` (of documents) say what is lent among
    neighbours on each level. What one speaker says who alone is named in the
    query counts ``named`` times, what is dated inside a time that the query
    names ``dated`` times (``loosely_dated`` if that time is long or vague).

    A hit is weak if it holds less than ``floor`` times the square root of
    what is asked for, in words; a query whose hits all are has none, unless
    it asks for no more than ``few_words``. In small vaults less is enough:
    nothing is asked of one with ``small_vault`` documents, all of it of one
    with ``large_vault``. A ``floor`` of 0 keeps everything. Of passages no more
    than ``passage_floor`` is asked: who asks documents seldom uses their words.

    A linked entry has ``link_share`` of its hit's score before hub damping;
    one hit brings ``links_per_hit`` at most. What is superseded or expired
    keeps ``outdated_share`` of its score.

    Where there are vectors, ``fusion`` says how both signals are made one
    (:mod:`memoranda.retrieval.fusion`) with a share of ``dense_weight`` for
    vectors (``passage_weight`` among passages); the ``dense_pool`` nearest are looked at. What is ``near`` standard
    deviations nearer than unrelated texts are is an answer, whatever words it
    holds (``passage_near`` among passages); in a small vault ``near_among_few``. ``surely_near`` more, and it is
    not weak.
    """

    memory: Bm25Parameters = field(default_factory=Bm25Parameters)
    passages: Bm25Parameters = field(default_factory=lambda: Bm25Parameters(k1=1.5, b=0.75))
    weights: QueryWeights = field(default_factory=QueryWeights)
    turns: Context = field(default_factory=_turns)
    items: Context = field(default_factory=_items)
    pieces: Context = field(default_factory=lambda: Context(near=0.15))
    named: float = 1.2
    dated: float = 2.0
    loosely_dated: float = 1.2
    floor: float = 0.88
    passage_floor: float = 0.4
    few_words: float = 2.5
    small_vault: int = 20
    large_vault: int = 500
    link_share: float = 0.5
    links_per_hit: int = 5
    outdated_share: float = 0.5
    fusion: str = "weighted"
    dense_weight: float = 0.3
    passage_weight: float = 0.55
    dense_pool: int = 64
    near: float = 7.0
    passage_near: float = 4.0
    near_among_few: float = 2.5
    surely_near: float = 1.5

    def on(self, level: Level) -> RetrievalParameters:
        """The same, with what is particular to a level in the place of what holds in general."""
        if level != "passage":
            return self
        return replace(
            self,
            floor=min(self.floor, self.passage_floor),
            near=min(self.near, self.passage_near),
            dense_weight=self.passage_weight,
        )

    def bm25(self, level: Level) -> Bm25Parameters:
        """The keyword parameters of a level: passages are longer than what is remembered."""
        return self.passages if level == "passage" else self.memory

    def context(self, level: Level) -> Context:
        """What is lent among neighbours on a level."""
        return self.turns if level == "resource" else self.items if level == "item" else self.pieces
