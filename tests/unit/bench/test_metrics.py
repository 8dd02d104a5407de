"""The metrics against values worked out by hand, and their laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda_bench.metrics import Scores, average, interval, ndcg_at, recall_at, reciprocal_rank, score

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


def test_a_repeated_id_counts_once() -> None:
    assert recall_at(2, ["x", "x", "a"], {"a"}) == 1.0
    assert reciprocal_rank(["x", "x", "a"], {"a"}) == 0.5


def test_average_counts_each_question_the_same() -> None:
    one, two = score(["a"], {"a"}), score(["x"], {"a", "b", "c"})
    assert average([one, two]) == Scores((0.5, 0.5, 0.5, 0.5), 0.5, 0.5)
    with pytest.raises(ValueError, match="nothing"):
        average([])


def test_interval_by_hand() -> None:
    assert interval([0.0, 1.0] * 50) == pytest.approx(1.96 * math.sqrt(0.25 * 100 / 99 / 100))
    assert interval([0.5] * 10) == 0.0
    assert interval([1.0]) == 0.0


_IDS = st.sampled_from("abcdefghij")


@given(st.lists(_IDS), st.sets(_IDS, min_size=1))
def test_laws(ranked: list[str], relevant: set[str]) -> None:
    found = score(ranked, relevant)
    assert list(found.recall) == sorted(found.recall)
    assert all(0.0 <= value <= 1.0 for value in (*found.recall, found.ndcg, found.mrr))
    assert (found.mrr == 0) == (found.recall[-1] == 0)
    perfect = score([*sorted(relevant), *ranked], relevant)
    assert perfect.ndcg == pytest.approx(1.0)
    assert perfect.mrr == 1.0
