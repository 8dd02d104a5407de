"""The score against its formula, term by term."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isclose, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.keyword_index import NaiveKeywordIndex
from memoranda.core.ports import KeywordIndex
from memoranda.index import array_scoring, scoring
from memoranda.index.bm25 import Bm25Index, Bm25Parameters
from memoranda.index.scoring import Scoring

words = st.sampled_from(["sea", "beach", "sand", "海", "海边", "rare"])
documents = st.lists(st.lists(words, max_size=8), min_size=1, max_size=10)
queries = st.dictionaries(words | st.just("absent"), st.sampled_from([1.0, 0.5, 2.0]), max_size=4)
parameters = st.builds(Bm25Parameters, st.sampled_from([0.0, 0.9, 1.2, 2.0]), st.sampled_from([0.0, 0.4, 0.75, 1.0]))


def index_of(texts: Sequence[Sequence[str]]) -> Bm25Index:
    index = Bm25Index()
    for doc, terms in enumerate(texts):
        index.put(doc, terms)
    return index


def scores_of(indexes: Sequence[KeywordIndex], query: dict[str, float], p: Bm25Parameters) -> list[dict[int, float]]:
    """The score of every document that holds a term, for each index."""
    found: list[dict[int, float]] = [{} for _ in indexes]
    for one in Scoring(indexes, query, p).pool(10_000):
        found[one.index][one.doc] = one.score
    return found


def by_formula(texts: Sequence[Sequence[str]], query: dict[str, float], p: Bm25Parameters) -> dict[int, float]:
    average = sum(map(len, texts)) / len(texts)
    scores = {}
    for doc, terms in enumerate(texts):
        total = 0.0
        for term, weight in query.items():
            df = sum(term in other for other in texts)
            tf = terms.count(term)
            if tf:
                idf = log(1 + (len(texts) - df + 0.5) / (df + 0.5))
                total += weight * idf * tf * (p.k1 + 1) / (tf + p.k1 * (1 - p.b + p.b * len(terms) / average))
        if total:
            scores[doc] = total
    return scores


@given(texts=documents, query=queries, p=parameters)
@settings(max_examples=200, deadline=None)
def test_the_score_is_the_formula(texts: list[list[str]], query: dict[str, float], p: Bm25Parameters) -> None:
    (found,) = scores_of([index_of(texts)], query, p)
    expected = by_formula(texts, query, p)
    assert found.keys() == expected.keys()
    assert all(isclose(found[doc], expected[doc]) for doc in found)


@given(texts=documents, query=queries, p=parameters, limit=st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_ranked_as_the_formula_says(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters, limit: int
) -> None:
    found = Scoring([index_of(texts)], query, p).pool(limit)
    everything = Scoring([index_of(texts)], query, p).pool(100)
    best = sorted(everything, key=lambda one: (-one.score, one.doc))[:limit]
    assert sorted(found, key=lambda one: (-one.score, one.doc)) == best
    assert [s.score for s in everything] == sorted((s.score for s in everything), reverse=True)
    assert {s.doc for s in everything} == by_formula(texts, query, p).keys()


@given(texts=documents, query=queries, p=parameters, cut=st.integers(0, 10))
@settings(max_examples=200, deadline=None)
def test_partitions_score_as_one_index(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters, cut: int
) -> None:
    first, second = texts[:cut], texts[cut:]
    (whole,) = scores_of([index_of(texts)], query, p)
    left, right = scores_of([index_of(first), index_of(second)], query, p)
    assert left | {doc + len(first): value for doc, value in right.items()} == whole


@given(texts=documents, query=queries, p=parameters)
@settings(max_examples=100, deadline=None)
def test_the_storage_of_the_index_does_not_matter(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters
) -> None:
    naive = NaiveKeywordIndex()
    for doc, terms in enumerate(texts):
        naive.put(doc, terms)
    assert scores_of([naive], query, p) == scores_of([index_of(texts)], query, p)


@given(texts=documents, query=queries, p=parameters)
@settings(max_examples=100, deadline=None)
def test_the_parts_make_the_score(texts: list[list[str]], query: dict[str, float], p: Bm25Parameters) -> None:
    index = index_of(texts)
    (scores,) = scores_of([index], query, p)
    parts = Scoring([index], query, p).parts((0, doc) for doc in scores)
    assert parts.keys() == {(0, doc) for doc in scores}
    for doc, value in scores.items():
        assert isclose(sum(part.part for part in parts[0, doc]), value)
        for part in parts[0, doc]:
            assert part.tf == texts[doc].count(part.term)
            assert part.df == sum(part.term in other for other in texts)
            assert part.weight == query[part.term]


def test_equal_scores_go_by_the_order_given_even_at_the_last_place() -> None:
    index = index_of([["sea"]] * 9)
    names = "hgfedcbai"
    asked = Scoring([index], {"sea": 1.0}, Bm25Parameters())
    found = asked.pool(3, tie=lambda _, doc: ord(names[doc]))
    assert {names[s.doc] for s in found} == {"a", "b", "c"}
    assert [s.doc for s in asked.pool(3)] == [0, 1, 2]
    assert {s.doc for s in asked.pool(2, keep=lambda _, doc: doc > 5, tie=lambda _, doc: -doc)} == {8, 7}


def test_out_of_time_the_most_telling_term_was_taken() -> None:
    index = index_of([["common", "rare"], ["common"], ["common"]])
    found = Scoring([index], {"common": 1.0, "rare": 1.0}, Bm25Parameters()).pool(9, expired=lambda: True)
    rare = Scoring([index], {"rare": 1.0}, Bm25Parameters()).pool(9)
    assert [(s.doc, isclose(s.score, 0)) for s in found] == [(0, False)]
    # The statistics are those of the whole either way.
    assert found == rare


@pytest.mark.parametrize("indexes", [[], [Bm25Index()], [Bm25Index(), NaiveKeywordIndex()]])
def test_nothing_in_nothing(indexes: list[KeywordIndex]) -> None:
    assert Scoring(indexes, {"sea": 1.0}, Bm25Parameters()).pool(10) == []
    assert Scoring(indexes, {}, Bm25Parameters()).pool(10) == []


def test_a_pool_of_nothing_is_empty() -> None:
    assert Scoring([index_of([["sea"]])], {"sea": 1.0}, Bm25Parameters()).pool(0) == []


def test_a_term_in_every_document_still_counts() -> None:
    assert [s.doc for s in Scoring([index_of([["sea"], ["sea", "sea"]])], {"sea": 1.0}, Bm25Parameters()).pool(2)] == [
        1,
        0,
    ]


many = st.lists(st.lists(words, min_size=1, max_size=12), min_size=1, max_size=60)


@given(texts=many, query=queries, p=parameters, size=st.integers(1, 12), cut=st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_what_is_left_out_early_would_not_have_been_among_the_best(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters, size: int, cut: int
) -> None:
    indexes = [index_of(texts[:cut]), index_of(texts[cut:])]
    whole = Scoring(indexes, query, p).pool(10_000)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scoring, "_FEW_POSTINGS", 0)
        asked = Scoring(indexes, query, p)
        found = asked.pool(size)
    assert [one.score for one in found] == [one.score for one in whole[:size]]
    exact = {(one.index, one.doc): one.score for one in whole}
    assert all(exact[one.index, one.doc] == one.score for one in found)
    for number, index in enumerate(indexes):
        held = {doc: score for (at, doc), score in exact.items() if at == number}
        assert asked.of(number, range(len(index) + 3)) == held


def test_few_documents_are_looked_at_for_a_common_term_once_the_best_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "_FEW_POSTINGS", 100)

    class Watched(Bm25Index):
        whole: list[str]

        def postings(self, term: str) -> list[tuple[Collection[int], Collection[int]]]:
            self.whole.append(term)
            return super().postings(term)

    index = Watched()
    index.whole = []
    for doc in range(5000):
        index.put(doc, ["common", "rare"] if doc % 500 == 0 else ["common", "other"])
    found = Scoring([index], {"common": 1.0, "rare": 1.0}, Bm25Parameters()).pool(5)
    assert {one.doc % 500 for one in found} == {0}
    assert index.whole == ["rare"]


@given(texts=many, query=queries, p=parameters, size=st.integers(1, 12), cut=st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_sums_by_arrays_are_the_plain_ones_to_the_last_digit(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters, size: int, cut: int
) -> None:
    pytest.importorskip("numpy", reason="sums by arrays need numpy")
    indexes = [index_of(texts[:cut]), index_of(texts[cut:])]
    plain = Scoring(indexes, query, p).pool(size)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scoring, "_MANY_POSTINGS", -1)
        patched.setattr(array_scoring, "_QUESTIONS_BEFORE", 0)
        found = Scoring(indexes, query, p).pool(size)
    assert sorted(found, key=lambda one: (one.index, one.doc)) == sorted(plain, key=lambda one: (one.index, one.doc))
