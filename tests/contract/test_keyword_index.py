"""What every keyword index promises."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.keyword_index import NaiveKeywordIndex
from memoranda.core.ports import KeywordIndex
from memoranda.index.bm25 import Bm25Index, pack, unpack

INDEXES = [Bm25Index, NaiveKeywordIndex]

words = st.sampled_from(["sea", "beach", "海", "海边", "c++", ""])
documents = st.lists(words, max_size=6)
changes = st.lists(st.tuples(st.integers(0, 4), st.none() | documents), max_size=25)


@pytest.fixture(params=INDEXES, ids=lambda index: index.__name__)
def index(request: pytest.FixtureRequest) -> KeywordIndex:
    made: KeywordIndex = request.param()
    return made


def holders_of(index: KeywordIndex, term: str) -> dict[int, tuple[int, int]]:
    """How often the term stands in each document, and how long that is."""
    pairs = [pair for docs, codes in index.postings(term) for pair in zip(docs, codes, strict=True)]
    assert len(pairs) == len({doc for doc, _ in pairs})
    return {doc: unpack(code) for doc, code in pairs}


def test_empty(index: KeywordIndex) -> None:
    assert len(index) == 0
    assert index.total_length == 0
    assert index.document_frequency("sea") == 0
    assert holders_of(index, "sea") == {}
    assert list(index.codes("sea", [0])) == []
    assert index.bounds("sea") == (0, 0)
    assert list(index.terms()) == []


def test_counts_every_occurrence(index: KeywordIndex) -> None:
    index.put(7, ["sea", "sand", "sea"])
    index.put(3, ["sea"])
    assert holders_of(index, "sea") == {7: (2, 3), 3: (1, 1)}
    assert sorted(index.codes("sea", [3, 4])) == [(3, pack(1, 1))]
    assert index.document_frequency("sea") == 2
    assert index.total_length == 4
    assert sorted(index.terms()) == ["sand", "sea"]


def test_replacing_leaves_nothing_behind(index: KeywordIndex) -> None:
    index.put(1, ["old", "both", "both"])
    index.put(1, ["both", "new"])
    assert len(index) == 1
    assert index.document_frequency("old") == 0
    assert sorted(index.terms()) == ["both", "new"]
    assert holders_of(index, "both") == {1: (1, 2)}
    assert index.total_length == 2


def test_a_document_without_terms_is_held(index: KeywordIndex) -> None:
    index.put(1, [])
    assert len(index) == 1
    index.remove(1)
    assert len(index) == 0


def test_removing_what_is_not_held_is_nothing(index: KeywordIndex) -> None:
    index.put(1, ["sea"])
    index.remove(2)
    index.remove(1)
    index.remove(1)
    assert len(index) == 0
    assert list(index.terms()) == []
    assert index.total_length == 0


@pytest.mark.parametrize("make", INDEXES)
@given(changes=changes)
@settings(max_examples=60, deadline=None)
def test_any_order_of_changes_is_the_same_as_building_anew(
    make: Callable[[], KeywordIndex], changes: list[tuple[int, list[str] | None]]
) -> None:
    changed = make()
    held: dict[int, list[str]] = {}
    for doc, terms in changes:
        if terms is None:
            changed.remove(doc)
            held.pop(doc, None)
        else:
            changed.put(doc, terms)
            held[doc] = terms
    everything = {term for terms in held.values() for term in terms}
    assert set(changed.terms()) == everything
    assert len(changed) == len(held)
    assert changed.total_length == sum(map(len, held.values()))
    for term in everything:
        holders = {doc: (terms.count(term), len(terms)) for doc, terms in held.items() if term in terms}
        assert holders_of(changed, term) == holders
        assert changed.document_frequency(term) == len(holders)
        assert {doc: unpack(code) for doc, code in changed.codes(term, range(9))} == holders
        most, shortest = changed.bounds(term)
        assert most >= max(tf for tf, _ in holders.values())
        assert shortest <= min(length for _, length in holders.values())
