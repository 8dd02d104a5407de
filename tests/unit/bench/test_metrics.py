"""The metrics against values worked out by hand, against trec_eval's (by ir-measures), and their laws."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda_bench.metrics import (
    CUTOFFS,
    Scores,
    average,
    interval,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank,
    score,
)

RANKED = ["a", "x", "b", "y", "c"]


def test_recall_by_hand() -> None:
    assert recall_at(1, RANKED, {"a", "b", "c", "d"}) == 0.25
    assert recall_at(3, RANKED, {"a", "b", "c", "d"}) == 0.5
    assert recall_at(20, RANKED, {"a", "b", "c", "d"}) == 0.75
    assert recall_at(5, [], {"a"}) == 0.0


def test_reciprocal_rank_by_hand() -> None:
    assert reciprocal_rank(RANKED, {"b", "c"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, {"z"}) == 0.0


def test_ndcg_by_hand() -> None:
    # Places 1 and 3 are relevant, two relevant ones in all: (1 + 1/2) / (1 + 1/log2 3).
    assert ndcg_at(10, RANKED, {"a", "b"}) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert ndcg_at(2, RANKED, {"a", "b"}) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    # More relevant ids than places: a full list is perfect.
    assert ndcg_at(2, ["a", "b"], {"a", "b", "c"}) == 1.0


def test_ndcg_weighs_grades() -> None:
    # Gains 1 and 3 at places 1 and 3; the best order has them the other way round at 1 and 2.
    assert ndcg_at(10, RANKED, {"a": 1, "b": 3}) == pytest.approx((1 + 3 / 2) / (3 + 1 / math.log2(3)))


def test_a_repeated_id_counts_once() -> None:
    assert recall_at(2, ["x", "x", "a"], {"a"}) == 1.0
    assert reciprocal_rank(["x", "x", "a"], {"a"}) == 0.5
    assert ndcg_at(2, ["x", "x", "a"], {"a"}) == pytest.approx(1 / math.log2(3))


def test_average_counts_each_question_the_same() -> None:
    one, two = score(["a"], {"a"}), score(["x"], {"a", "b", "c"})
    assert average([one, two]) == Scores((0.5, 0.5, 0.5, 0.5), 0.5, 0.5)
    assert one.recall_at(20) == 1.0
    with pytest.raises(ValueError, match="nothing"):
        average([])


def test_interval_by_hand() -> None:
    assert interval([0.0, 1.0] * 50) == pytest.approx(1.96 * math.sqrt(0.25 * 100 / 99 / 100))
    assert interval([0.5] * 10) == 0.0
    assert interval([1.0]) == 0.0


def test_percentile_is_the_nearest_rank() -> None:
    values = [float(n) for n in range(10, 0, -1)]
    assert [percentile(values, share) for share in (0, 0.1, 0.5, 0.51, 0.99, 1)] == [1, 1, 5, 6, 10, 10]
    assert percentile([3.0], 0.5) == 3.0
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


_IDS = st.sampled_from("abcdefghij")


@given(st.lists(_IDS), st.dictionaries(_IDS, st.integers(1, 4), min_size=1))
def test_laws(ranked: list[str], relevant: dict[str, int]) -> None:
    found = score(ranked, relevant)
    assert list(found.recall) == sorted(found.recall)
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in (*found.recall, found.ndcg, found.mrr))
    assert (found.mrr == 0) == (found.recall[-1] == 0)
    best = sorted(relevant, key=lambda one: -relevant[one])
    perfect = score([*best, *ranked], relevant)
    assert perfect.ndcg == pytest.approx(1.0)
    assert perfect.mrr == 1.0
    assert score(ranked, set(relevant)).recall == found.recall


def _by_trec_eval(run: dict[str, float], relevant: dict[str, int]) -> list[float]:
    measures = pytest.importorskip("ir_measures", reason="ir-measures, the reference, is not installed")
    wanted = [*(measures.R @ cutoff for cutoff in CUTOFFS), measures.nDCG @ 10, measures.RR]
    found = measures.calc_aggregate(wanted, {"q": relevant}, {"q": run})
    return [float(found[one]) for one in wanted]


def _ours(ranked: list[str], relevant: dict[str, int]) -> list[float]:
    found = score(ranked, relevant)
    return [*found.recall, found.ndcg, found.mrr]


@pytest.mark.parametrize("seed", range(60))
def test_figures_are_those_of_trec_eval(seed: int) -> None:
    chance = random.Random(seed)
    ids = [f"d{n}" for n in range(40)]
    relevant = {one: chance.choice((1, 1, 2, 3)) for one in chance.sample(ids, chance.randint(1, 25))}
    # Few different scores: ties, which trec_eval orders by id, backwards.
    found = chance.sample(ids, chance.randint(1, 40))
    run = {one: float(chance.randint(1, 4) if seed % 2 else chance.random() * 100) for one in found}
    ranked = sorted(sorted(run, reverse=True), key=lambda one: -run[one])
    assert _ours(ranked, relevant) == pytest.approx(_by_trec_eval(run, relevant))


@pytest.mark.parametrize("seed", range(20))
def test_duplicates_are_as_if_only_the_first_had_come(seed: int) -> None:
    chance = random.Random(seed)
    ids = [f"d{n}" for n in range(15)]
    relevant = {one: chance.choice((1, 2)) for one in chance.sample(ids, 6)}
    ranked = [chance.choice(ids) for _ in range(30)]
    run: dict[str, float] = {}
    for place, one in enumerate(ranked):
        run.setdefault(one, float(-place))
    assert _ours(ranked, relevant) == pytest.approx(_by_trec_eval(run, relevant))
