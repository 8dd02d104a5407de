"""Whether one system is better than another: the paired bootstrap (Efron and Tibshirani 1993, ch. 16)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

__all__ = ["RESAMPLES", "Gain", "paired"]

RESAMPLES = 10_000
#: So many indices are drawn at once with numpy: memory stays small.
_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class Gain:
    """The mean of the differences, with the 2.5 % and 97.5 % percentiles of its resampled distribution."""

    mean: float
    lower: float
    upper: float


def paired(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    numpy: bool | None = None,
) -> Gain:
    """How much ``ours`` gains over ``theirs``, question by question (the same questions in the same order).

    Questions are drawn with replacement, not stratified. With numpy (``None``:
    where it can be imported) the generator is another one than without, so the
    last digit may differ; with the same generator the same seed gives the same
    figures.

    Raises:
        ValueError: there is nothing to compare, or the lengths differ.
    """
    if not ours or len(ours) != len(theirs):
        raise ValueError(f"a paired comparison needs pairs, not {len(ours)} and {len(theirs)} values")
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    means = None if numpy is False else _means_numpy(differences, resamples, seed, required=numpy is True)
    if means is None:
        means = _means(differences, resamples, seed)
    means.sort()
    return Gain(
        sum(differences) / len(differences),
        means[int(0.025 * (resamples - 1))],
        means[-1 - int(0.025 * (resamples - 1))],
    )


def _means(differences: list[float], resamples: int, seed: int) -> list[float]:
    count = len(differences)
    choices = random.Random(seed).choices
    return [sum(choices(differences, k=count)) / count for _ in range(resamples)]


def _means_numpy(differences: list[float], resamples: int, seed: int, *, required: bool) -> list[float] | None:
    try:
        numpy = import_module("numpy")
    except ImportError:
        if required:
            raise
        return None
    values = numpy.asarray(differences)
    generator = numpy.random.default_rng(seed)
    means: list[float] = []
    while len(means) < resamples:
        rows = min(resamples - len(means), max(1, _AT_ONCE // len(values)))
        drawn = generator.integers(0, len(values), (rows, len(values)))
        means += values[drawn].mean(axis=1).tolist()
    return means
