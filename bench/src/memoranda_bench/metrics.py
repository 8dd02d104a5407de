"""Ranking metrics over ids: what was found in which order, against what should have been.

All take ``ranked`` (ids, best first) and ``relevant``: each relevant id with its
grade, or just the ids (then each has grade 1). It must not be empty. Every
figure is from 0 to 1. An id that comes twice counts at its first place only.
Definitions are those of trec_eval (``recall``, ``recip_rank``, ``ndcg_cut``).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "CUTOFFS",
    "Scores",
    "average",
    "interval",
    "ndcg_at",
    "percentile",
    "recall_at",
    "reciprocal_rank",
    "score",
]

#: Where recall is cut off.
CUTOFFS = (1, 5, 10, 20)


def _distinct(ranked: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def recall_at(k: int, ranked: Iterable[str], relevant: Collection[str]) -> float:
    """The share of the relevant ids that stand among the first ``k``."""
    wanted = set(relevant)
    return len(wanted.intersection(_distinct(ranked)[:k])) / len(wanted)


def reciprocal_rank(ranked: Iterable[str], relevant: Collection[str]) -> float:
    """One divided by the place (from 1) of the first relevant id; 0 if there is none."""
    return next((1 / place for place, found in enumerate(_distinct(ranked), 1) if found in relevant), 0.0)


def ndcg_at(k: int, ranked: Iterable[str], relevant: Collection[str]) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002): gain is the grade, discount log2."""
    grades = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
    gained = _discounted(grades.get(found, 0) for found in _distinct(ranked)[:k])
    return gained / _discounted(sorted(grades.values(), reverse=True)[:k])


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


@dataclass(frozen=True, slots=True)
class Scores:
    """One question's figures (or their average): recall by :data:`CUTOFFS`, nDCG and MRR."""

    recall: tuple[float, ...]
    ndcg: float
    mrr: float

    def recall_at(self, k: int) -> float:
        """Recall at one of the :data:`CUTOFFS`."""
        return self.recall[CUTOFFS.index(k)]


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


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest of the values that at least ``share`` (0 to 1) of them do not exceed (nearest rank).

    Raises:
        ValueError: there are no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("there is nothing to take a percentile of")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
