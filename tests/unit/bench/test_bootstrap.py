"""The paired bootstrap: its seed, its width, its two generators."""

from __future__ import annotations

import importlib.util
import random

import pytest

from memoranda_bench.bootstrap import paired

_HAS_NUMPY = importlib.util.find_spec("numpy") is not None
_GENERATORS = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(not _HAS_NUMPY, reason="numpy is not installed")),
]


@pytest.mark.parametrize("numpy", _GENERATORS)
def test_the_interval_is_that_of_the_mean(numpy: bool) -> None:
    chance = random.Random(1)
    theirs = [chance.random() for _ in range(400)]
    ours = [value + chance.gauss(0.1, 0.5) for value in theirs]
    gain = paired(ours, theirs, resamples=4000, numpy=numpy)
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    mean = sum(differences) / 400
    half = 1.96 * (sum((d - mean) ** 2 for d in differences) / 399 / 400) ** 0.5
    assert gain.mean == pytest.approx(mean)
    assert gain.lower == pytest.approx(mean - half, abs=0.1 * half)
    assert gain.upper == pytest.approx(mean + half, abs=0.1 * half)


@pytest.mark.parametrize("numpy", _GENERATORS)
def test_the_same_seed_gives_the_same_figures(numpy: bool) -> None:
    ours, theirs = [0.0, 1.0, 1.0, 0.5] * 20, [0.0, 0.5, 1.0, 1.0] * 20
    first, again, other = (paired(ours, theirs, resamples=500, seed=seed, numpy=numpy) for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize("numpy", _GENERATORS)
def test_pairs_are_kept_together(numpy: bool) -> None:
    # Each question is better by the same amount, however much the questions differ.
    theirs = [n / 100 for n in range(100)]
    gain = paired([value + 0.25 for value in theirs], theirs, resamples=200, numpy=numpy)
    assert (gain.lower, gain.mean, gain.upper) == pytest.approx((0.25, 0.25, 0.25))


def test_many_questions_are_drawn_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")
    monkeypatch.setattr("memoranda_bench.bootstrap._AT_ONCE", 250)
    gain = paired([1.0] * 60 + [0.0] * 40, [0.0] * 100, resamples=1001, numpy=True)
    assert 0.45 < gain.lower < gain.mean < gain.upper < 0.75


def test_what_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="pairs"):
        paired([], [])
    with pytest.raises(ValueError, match="2 and 1"):
        paired([1.0, 2.0], [1.0])
