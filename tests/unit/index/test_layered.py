"""A segment with changes over it is as exact as an index of what there is now."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.index.bm25 import Bm25Index
from memoranda.index.entries import Entry
from memoranda.index.layered import LayeredIndex
from segments import make_segment

words = st.sampled_from(["sea", "beach", "海", "海边", "c++", "", "a" * 64])
documents = st.lists(st.lists(words, max_size=9), min_size=1, max_size=12)
changes = st.lists(st.tuples(st.integers(0, 18), st.none() | st.lists(words, max_size=6)), max_size=20)


def entry(number: int, words: list[str], category: str) -> Entry:
    text = " ".join(words)
    return Entry(f"{category}:{number}", "item", "shared", category, str(number), text, "", parent=category)


def held(index: Bm25Index | LayeredIndex) -> dict[str, dict[int, int]]:
    """Every posting."""
    return {
        term: {doc: code for docs, codes in index.postings(term) for doc, code in zip(docs, codes, strict=True)}
        for term in index.terms()
    }


@given(texts=documents, cut=st.integers(0, 12), steps=changes)
@settings(max_examples=150, deadline=None)
def test_changes_over_a_segment_are_as_changes_in_memory(
    texts: list[list[str]], cut: int, steps: list[tuple[int, list[str] | None]]
) -> None:
    entries = [entry(number, terms, "c" if number < cut else "d") for number, terms in enumerate(texts)]
    terms_of = dict(zip((e.address for e in entries), texts, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        parts = [part for part in (entries[:cut], entries[cut:]) if part]
        segment = make_segment(Path(folder) / "s", parts, lambda e: terms_of[e.address])
        base = segment.partition("item", "shared")
        layered, plain = LayeredIndex(base, lambda doc: texts[doc]), Bm25Index()
        for doc, terms in enumerate(texts):
            plain.put(doc, terms)
        for doc, terms_or_none in steps:
            if terms_or_none is None:
                layered.remove(doc)
                plain.remove(doc)
            elif doc >= len(texts):
                layered.put(doc, terms_or_none)
                plain.put(doc, terms_or_none)
        assert held(layered) == held(plain)
        assert (len(layered), layered.total_length) == (len(plain), plain.total_length)
        for term in ["sea", "海边", "absent"]:
            assert layered.document_frequency(term) == plain.document_frequency(term)
            for asked in (range(20), [0, 3]):
                assert sorted(layered.codes(term, asked)) == sorted(plain.codes(term, asked))
            most, shortest = layered.bounds(term)
            exact = plain.bounds(term)
            assert not plain.document_frequency(term) or (most >= exact[0] and shortest <= exact[1])
        segment.close()


def test_a_number_of_the_segment_is_not_given_away(tmp_path: Path) -> None:
    segment = make_segment(tmp_path / "s", [[entry(0, ["sea"], "c")]])
    with pytest.raises(ValueError, match="document 0"):
        LayeredIndex(segment.partition("item", "shared"), lambda doc: ["sea"]).put(0, ["x"])
