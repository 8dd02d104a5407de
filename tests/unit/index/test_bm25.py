"""The score against its formula, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.keyword_index import NaiveKeywordIndex
from memoranda.core.ports import KeywordIndex
from memoranda.index.bm25 import Bm25Index, Bm25Parameters, Scored, best, explain, rank, score

words = st.sampled_from(["sea", "beach", "sand", "海", "海边", "rare"])
documents = st.lists(st.lists(words, max_size=8), min_size=1, max_size=10)
queries = st.dictionaries(words | st.just("absent"), st.sampled_from([1.0, 0.5, 2.0]), max_size=4)
parameters = st.builds(
    Bm25Parameters, st.sampled_from([0.0, 0.9, 1.2, 2.0]), st.sampled_from([0.0, 0.4, 0.75, 1.0])
)


def index_of(texts: Sequence[Sequence[str]]) -> Bm25Index:
    index = Bm25Index()
    for doc, terms in enumerate(texts):
        index.put(doc, terms)
    return index


def by_formula(
    texts: Sequence[Sequence[str]], query: dict[str, float], p: Bm25Parameters
) -> dict[int, float]:
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
    (found,) = score([index_of(texts)], query, p)
    expected = by_formula(texts, query, p)
    assert found.keys() == expected.keys()
    assert all(isclose(found[doc], expected[doc]) for doc in found)


@given(texts=documents, query=queries, p=parameters, limit=st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_ranked_as_the_formula_says(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters, limit: int
) -> None:
    found = rank([index_of(texts)], query, p, limit)
    everything = rank([index_of(texts)], query, p, 100)
    assert found == everything[:limit]
    assert [s.score for s in everything] == sorted((s.score for s in everything), reverse=True)
    assert {s.doc for s in everything} == by_formula(texts, query, p).keys()


@given(texts=documents, query=queries, p=parameters, cut=st.integers(0, 10))
@settings(max_examples=200, deadline=None)
def test_partitions_score_as_one_index(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters, cut: int
) -> None:
    first, second = texts[:cut], texts[cut:]
    (whole,) = score([index_of(texts)], query, p)
    left, right = score([index_of(first), index_of(second)], query, p)
    assert left | {doc + len(first): value for doc, value in right.items()} == whole


@given(texts=documents, query=queries, p=parameters)
@settings(max_examples=100, deadline=None)
def test_the_storage_of_the_index_does_not_matter(
    texts: list[list[str]], query: dict[str, float], p: Bm25Parameters
) -> None:
    naive = NaiveKeywordIndex()
    for doc, terms in enumerate(texts):
        naive.put(doc, terms)
    assert score([naive], query, p) == score([index_of(texts)], query, p)


@given(texts=documents, query=queries, p=parameters)
@settings(max_examples=100, deadline=None)
def test_the_parts_make_the_score(texts: list[list[str]], query: dict[str, float], p: Bm25Parameters) -> None:
    index = index_of(texts)
    (scores,) = score([index], query, p)
    parts = explain([index], [(0, doc) for doc in scores], query, p)
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
    found = rank([index], {"sea": 1.0}, Bm25Parameters(), 3, lambda _, doc: names[doc])
    assert [names[s.doc] for s in found] == ["a", "b", "c"]
    assert [s.doc for s in rank([index], {"sea": 1.0}, Bm25Parameters(), 3)] == [0, 1, 2]


def test_only_documents_that_hold_a_term_are_touched() -> None:
    class Watched(Bm25Index):
        asked: set[int]

        def length(self, doc: int) -> int:
            self.asked.add(doc)
            return super().length(doc)

    index = Watched()
    index.asked = set()
    for doc in range(100):
        index.put(doc, ["sea" if doc % 50 == 0 else "land"])
    rank([index], {"sea": 1.0, "absent": 1.0}, Bm25Parameters(), 10)
    assert index.asked == {0, 50}


def test_out_of_time_the_most_telling_term_was_taken() -> None:
    index = index_of([["common", "rare"], ["common"], ["common"]])
    (found,) = score([index], {"common": 1.0, "rare": 1.0}, Bm25Parameters(), lambda: True)
    (rare,) = score([index], {"rare": 1.0}, Bm25Parameters())
    assert found == rare
    assert found.keys() == {0}


@pytest.mark.parametrize("indexes", [[], [Bm25Index()], [Bm25Index(), NaiveKeywordIndex()]])
def test_nothing_in_nothing(indexes: list[KeywordIndex]) -> None:
    assert rank(indexes, {"sea": 1.0}, Bm25Parameters(), 10) == []
    assert rank(indexes, {}, Bm25Parameters(), 10) == []


def test_best_takes_no_score_of_zero_and_nothing_below_one() -> None:
    assert best([{1: 0.0, 2: 1.0}], 5) == [Scored(0, 2, 1.0)]
    assert best([{1: 1.0}], 0) == []


def test_a_term_in_every_document_still_counts() -> None:
    assert [
        s.doc for s in rank([index_of([["sea"], ["sea", "sea"]])], {"sea": 1.0}, Bm25Parameters(), 2)
    ] == [1, 0]
