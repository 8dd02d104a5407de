"""Ranking metrics over ids: what was found in which order, against what should have been.

All take ``ranked`` (ids, best first) and ``relevant`` (a non-empty set of ids;
each counts the same) and give a number from 0 to 1. An id that comes twice
counts at its first place only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Scores", "average", "interval", "ndcg_at", "recall_at", "reciprocal_rank", "score"]

CUTOFFS = (1, 5, 10, 20)


def _distinct(ranked: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def recall_at(k: int, ranked: Iterable[str], relevant: Collection[str]) -> float:
    """The share of the relevant ids that stand among the first ``k``."""
    wanted = set(relevant)
    return len(wanted.intersection(_distinct(ranked)[:k])) / len(wanted)


def reciprocal_rank(ranked: Iterable[str], relevant: Collection[str]) -> float:
    """One divided by the place (from 1) of the first relevant id; 0 if there is none."""
    wanted = set(relevant)
    return next((1 / place for place, found in enumerate(_distinct(ranked), 1) if found in wanted), 0.0)


def ndcg_at(k: int, ranked: Iterable[str], relevant: Collection[str]) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1 (Järvelin and Kekäläinen 2002, log2)."""
    wanted = set(relevant)
    gained = sum(
        1 / math.log2(place + 1) for place, found in enumerate(_distinct(ranked)[:k], 1) if found in wanted
    )
    return gained / sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), k) + 1))


@dataclass(frozen=True, slots=True)
class Scores:
    """One question's figures (or their average): recall by :data:`CUTOFFS`, nDCG and MRR."""

    recall: tuple[float, ...]
    ndcg: float
    mrr: float


def score(ranked: Sequence[str], relevant: Collection[str], *, k: int = 10) -> Scores:
    """All figures of one question; ``k`` is where nDCG is cut off."""
    return Scores(
        tuple(recall_at(cutoff, ranked, relevant) for cutoff in CUTOFFS),
        ndcg_at(k, ranked, relevant),
        reciprocal_rank(ranked, relevant),
    )


def average(scores: Sequence[Scores]) -> Scores:
    """The macro average: each question counts the same.

    Raises:
        ValueError: there are no questions.
    """
    if not scores:
        raise ValueError("there is nothing to average")
    count = len(scores)
    return Scores(
        tuple(sum(s.recall[i] for s in scores) / count for i in range(len(CUTOFFS))),
        sum(s.ndcg for s in scores) / count,
        sum(s.mrr for s in scores) / count,
    )


def interval(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of the values' mean (normal approximation); 0 below two values."""
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return 1.96 * math.sqrt(variance / len(values))
