"""Two signals made one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.retrieval.fusion import FUSIONS, fuse_by_rank, fuse_weighted

FOUND = st.lists(st.floats(0.0, 30.0), min_size=1, max_size=20).map(
    lambda scores: [(score, 0, doc) for doc, score in enumerate(scores)]
)
WEIGHTS = st.floats(0.0, 0.95)


def nothing(place):
    return 0.0


@given(FOUND, WEIGHTS)
def test_where_vectors_say_nothing_the_keyword_scores_stand_to_the_last_digit(found, weight):
    assert fuse_weighted(found, nothing, weight, 12.0) == found


@given(FOUND, WEIGHTS, st.integers(0, 19))
def test_who_is_near_never_falls(found, weight, at):
    doc = found[at % len(found)][2]
    fused = {d: s for s, _, d in fuse_weighted(found, lambda place: float(place[1] == doc), weight, 12.0)}
    assert all(fused[d] == s for s, _, d in found if d != doc)
    assert fused[doc] >= found[doc][0]


@given(FOUND.filter(lambda found: max(found)[0] > 0.0), st.floats(0.1, 0.9))
def test_by_order_it_is_the_weighted_sum_of_both_signals_scaled_to_one(found, weight):
    best = max(found)[0]
    near = {doc: (doc * 37 % 11) / 10.0 for _, _, doc in found}
    fused = fuse_weighted(found, lambda place: near[place[1]], weight, best / 0.6)
    for score, _, doc in fused:
        plain = (1.0 - weight) * found[doc][0] / best + weight * near[doc]
        assert score * (1.0 - weight) / best == pytest.approx(plain)


@pytest.mark.parametrize("fuse", FUSIONS.values())
def test_the_least_keyword_hit_does_not_drop_to_zero(fuse):
    found = [(9.0, 0, 0), (5.0, 0, 1), (0.5, 0, 2)]
    fused = {doc: score for score, _, doc in fuse(found, nothing, 0.5, 12.0)}
    assert fused[2] > 0.0
    assert fused[0] > fused[1] > fused[2]


def test_with_the_whole_weight_nearness_alone_counts():
    found = [(9.0, 0, 0), (5.0, 0, 1)]
    fused = {doc: score for score, _, doc in fuse_weighted(found, lambda place: float(place[1]), 1.0, 12.0)}
    assert fused[0] == 0.0 < fused[1]


@pytest.mark.parametrize("ideal", [0.0, 12.0])
def test_where_no_word_matches_nearness_still_ranks(ideal):
    found = [(0.0, 0, 0), (0.0, 0, 1)]
    fused = {doc: score for score, _, doc in fuse_weighted(found, lambda place: 0.25 + place[1] / 2.0, 0.3, ideal)}
    assert fused[1] > fused[0] > 0.0


def test_ranks_alone_count_in_reciprocal_rank_fusion():
    found = [(100.0, 0, 0), (1.0, 0, 1), (0.9, 0, 2)]
    near = {0: 0.1, 1: 0.9, 2: 0.0}
    fused = {doc: score for score, _, doc in fuse_by_rank(found, lambda place: near[place[1]], 0.5, 12.0)}
    assert fused[0] == pytest.approx(fused[1])
    assert fused[2] == pytest.approx(60.0 / 63.0)
