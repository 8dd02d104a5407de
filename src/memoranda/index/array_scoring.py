"""Scores of hundreds of thousands of postings at once, by numpy where it is installed; the same to the last digit."""

from __future__ import annotations

import sys
from array import array

from memoranda.index.bm25 import LENGTH_BITS, LENGTH_MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from memoranda.core.ports import KeywordIndex

    ArrayScores = Callable[
        [Sequence[KeywordIndex], Sequence[tuple[str, float]], tuple[float, float], int], list[dict[int, float]]
    ]

__all__ = ["array_scores"]

#: A process that asks less often than this has no time to load numpy.
_QUESTIONS_BEFORE = 2

_asked = 0
_absent = False


def array_scores() -> ArrayScores | None:
    """The function that sums by arrays; ``None`` without numpy, or before it is known to be worth its loading."""
    global _asked, _absent
    _asked += 1
    if _absent or (_asked <= _QUESTIONS_BEFORE and "numpy" not in sys.modules):
        return None
    try:
        import numpy  # noqa: F401
    except ImportError:
        _absent = True
        return None
    return _scores


def _scores(
    indexes: Sequence[KeywordIndex], factors: Sequence[tuple[str, float]], norm: tuple[float, float], size: int
) -> list[dict[int, float]]:
    """Of each index the scores of the documents that may be among the ``size`` best.

    ``factors`` are the terms in the order in which they are summed, ``norm`` is
    what a document's length is put into (:func:`memoranda.index.bm25.length_norm`).
    """
    import numpy as np

    found = [_summed(np, index, factors, norm) for index in indexes]
    values = np.concatenate([values for _, _, values in found])
    # A document stands there once for each of its terms: so far down the best of them all are there.
    most = size * max(1, len(factors))
    floor = np.partition(values, -most)[-most] if len(values) > most else 0.0
    scores = []
    for sums, docs, values in found:
        best = np.unique(docs[values >= floor])
        scores.append(dict(zip(best.tolist(), sums[best].tolist(), strict=True)))
    return scores


def _summed(
    np: Any, index: KeywordIndex, factors: Sequence[tuple[str, float]], norm: tuple[float, float]
) -> tuple[Any, Any, Any]:
    """The sums by document, and for each posting its document and that document's sum."""
    base, slope = norm
    columns = [
        (factor, _numbers(np, docs), _numbers(np, codes))
        for term, factor in factors
        for docs, codes in index.postings(term)
    ]
    sums = np.zeros(max((int(docs.max()) + 1 for _, docs, _ in columns), default=0))
    for factor, docs, codes in columns:
        times = (codes >> LENGTH_BITS).astype(np.float64)
        # In the order of the plain sum, so that every digit is the same.
        divisor = times + base
        divisor += slope * (codes & LENGTH_MASK)
        times /= divisor
        times *= factor
        sums[docs] += times
    every = np.concatenate([docs for _, docs, _ in columns]) if columns else np.zeros(0, dtype=np.uint32)
    return sums, every, sums[every]


def _numbers(np: Any, column: Collection[int]) -> Any:
    if isinstance(column, array):
        return np.frombuffer(column, dtype=np.uint32)
    return np.fromiter(column, dtype=np.uint32, count=len(column))
