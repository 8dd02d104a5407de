"""Two signals made one: how well the words match, and how near the meaning is.

``weighted`` adds to the keyword score, which keeps its scale, a share of what a
very good one would be: the score of a text that holds every word of the query.
By order it is the weighted sum of both signals, each scaled by what it can
reach. So vectors weigh more where no text holds much of the query, and nothing
is subtracted from keyword scores, so that the least of them still counts.

``rrf`` is reciprocal rank fusion (Cormack, Clarke and Büttcher, *Reciprocal rank
fusion outperforms Condorcet and individual rank learning methods*, 2009) with
their ``k = 60``, which looks at places alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Scored = tuple[float, int, int]
    Fusion = Callable[[Sequence[Scored], Callable[[tuple[int, int]], float], float, float], list[Scored]]

__all__ = ["FUSIONS", "fuse_by_rank", "fuse_weighted"]

_RANKS = 60.0
#: A very good keyword score beside that of a text that holds every word once, and the scale of scores without words.
_REACHED, _SCALE = 0.6, 10.0


def fuse_weighted(
    found: Sequence[Scored], nearness: Callable[[tuple[int, int]], float], weight: float, ideal: float
) -> list[Scored]:
    """The documents with fused scores.

    ``found`` are keyword scores (0 and more) with the partition's number and
    the document's, ``nearness`` (0 to 1) is what vectors say of one; their
    ``weight`` is from 0 to 1, where 1 leaves nothing but them. ``ideal`` is the
    score of a text that holds every word of the query once.
    """
    if weight >= 1.0:
        return [(nearness((number, doc)) * _SCALE, number, doc) for _, number, doc in found]
    part = (_REACHED * ideal or _SCALE) * weight / (1.0 - weight)
    return [(score + part * nearness((number, doc)), number, doc) for score, number, doc in found]


def fuse_by_rank(
    found: Sequence[Scored], nearness: Callable[[tuple[int, int]], float], weight: float, ideal: float
) -> list[Scored]:
    """The same by the places in both orders; ``weight`` is the share of the second."""
    words = sorted((one for one in found if one[0] > 0.0), key=lambda one: -one[0])
    near = sorted((one for one in found if nearness(one[1:]) > 0.0), key=lambda one: -nearness(one[1:]))
    scores = {one[1:]: 0.0 for one in found}
    for share, order in ((1.0 - weight, words), (weight, near)):
        for rank, one in enumerate(order, 1):
            scores[one[1:]] += 2.0 * share * _RANKS / (_RANKS + rank)
    return [(score, number, doc) for (number, doc), score in scores.items()]


#: By name, as settings have it.
FUSIONS: dict[str, Fusion] = {"weighted": fuse_weighted, "rrf": fuse_by_rank}
