"""Entries by level and scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.analysis import analyze
from memoranda.core.links import find_links
from memoranda.core.metadata import Metadata
from memoranda.core.model import Level
from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry, address_key, fold_exact, link_keys, searchable_text


def item(address: str, text: str = "text", scope: str = "shared", level: Level = "item", **more: Any) -> Entry:
    category, _, name = address.partition(":")
    return Entry(address, level, scope, category, name, text, hash=text, links=find_links(text), **more)


class CountingAnalyzer:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> Sequence[str]:
        if "cannot be read" in text:
            raise ValueError(text)
        self.texts.append(text)
        return analyze(text)


def test_put_find_remove() -> None:
    corpus = Corpus()
    corpus.put(item("Preferences:Likes the Sea", "喜欢海边"))
    assert len(corpus) == 1
    found = corpus.find("preferences", "likes the sea")
    assert found is not None
    assert found.text == "喜欢海边"
    assert corpus.get("preferences:LIKES  the sea") == found
    assert corpus.get("preferences：likes the sea") == found
    corpus.remove("preferences:likes the sea")
    corpus.remove("preferences:likes the sea")
    assert len(corpus) == 0
    assert corpus.get("preferences:likes the sea") is None
    (partition,) = corpus.partitions(["item"])
    assert (len(partition.index), len(partition.entries)) == (0, 0)
    assert partition.by_key.get(("preferences", "likes the sea")) is None


def test_replacing_keeps_one() -> None:
    corpus = Corpus()
    corpus.put(item("a:x", "sea"))
    corpus.put(item("a:x", "mountain"))
    (partition,) = corpus.partitions(["item"])
    assert len(corpus) == len(partition.index) == 1
    assert partition.index.document_frequency("sea") == 0
    assert partition.index.document_frequency("mountain") == 1


def test_what_did_not_change_is_not_analysed_again() -> None:
    analyzer = CountingAnalyzer()
    corpus = Corpus(analyzer)
    corpus.put(item("a:x", "sea"))
    corpus.put(item("a:x", "sea", citation="memory/a.md:9", metadata=Metadata((("valid_to", "2020"),))))
    assert len(analyzer.texts) == 1
    moved = corpus.get("a:x")
    assert moved is not None
    assert moved.citation == "memory/a.md:9"
    (partition,) = corpus.partitions(["item"])
    assert partition.limited == set(partition.entries)
    corpus.put(item("a:x", "sea"))
    assert partition.limited == set()
    corpus.put(item("a:X", "sea"))
    assert len(analyzer.texts) == 2, "the name is searched too"
    assert len(corpus) == 1


def test_an_entry_that_cannot_be_analysed_leaves_the_old_one() -> None:
    corpus = Corpus(CountingAnalyzer())
    corpus.put(item("a:x", "sea"))
    with pytest.raises(ValueError, match="cannot be read"):
        corpus.put(item("a:x", "cannot be read"))
    with pytest.raises(ValueError, match="cannot be read"):
        corpus.put(item("a:y", "cannot be read"))
    kept = corpus.get("a:x")
    assert kept is not None
    assert kept.text == "sea"
    assert len(corpus) == 1


def test_partitions_are_asked_for_by_level_and_scope() -> None:
    corpus = Corpus()
    corpus.put(item("a:x"))
    corpus.put(item("user/lin/a:x", scope="user/lin"))
    corpus.put(item("project/p/a:x", scope="project/p"))
    corpus.put(item("turn/c#1", level="resource"))
    assert [
        (p.level, p.scope) for p in corpus.partitions(["item"], ["User/Lin", "shared", "shared", "agent/none"])
    ] == [
        ("item", "user/lin"),
        ("item", "shared"),
    ]
    assert [p.scope for p in corpus.partitions(["resource", "passage"], ["shared"])] == ["shared"]
    assert len(corpus.partitions(["item"])) == 3
    assert len(corpus) == 4


def test_an_entry_that_moves_to_another_scope_is_held_once() -> None:
    corpus = Corpus()
    corpus.put(item("turn/c#1", "sea", level="resource"))
    corpus.put(item("turn/c#1", "sea", level="resource", scope="user/lin"))
    sizes = {p.scope: len(p.index) for p in corpus.partitions(["resource"])}
    assert sizes == {"shared": 0, "user/lin": 1}
    assert len(corpus) == 1


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("Preferences:Likes", ("preferences", "likes")),
        ("shared/preferences:likes", ("preferences", "likes")),
        ("user/Lin/Preferences:a:b", ("user/lin/preferences", "a:b")),
        ("a：b：c", ("a", "b：c")),
        ("a:^block", ("a", "block")),
        ("a:~0123456789", ("a", "~0123456789")),
        ("turn/Conv#x#4", ("turn/Conv#x", "4")),
        ("kb/corpus/doc#3", ("kb/corpus/doc", "3")),
        ("a", ("a", "")),
    ],
)
def test_keys_of_addresses(address: str, key: tuple[str, str]) -> None:
    assert address_key(address) == key


def test_turns_of_unlike_conversations_stay_apart() -> None:
    corpus = Corpus()
    corpus.put(item("turn/conv-A#1", level="resource"))
    corpus.put(item("turn/conv-a#1", level="resource"))
    assert len(corpus) == 2


@pytest.mark.parametrize(
    ("category", "name", "source", "keys"),
    [
        ("Plans", "Trip", "a:x", [("plans", "trip")]),
        ("", "^y", "a:x", [("a", "y")]),
        ("", "y", "user/lin/a:x", [("user/lin/a", "y")]),
        ("plans", "trip", "user/lin/a:x", [("user/lin/plans", "trip"), ("plans", "trip")]),
        ("shared/plans", "trip", "user/lin/a:x", [("plans", "trip")]),
        ("user/mia/plans", "trip", "user/lin/a:x", [("user/mia/plans", "trip")]),
        ("work/rules", "one", "user/lin/a:x", [("user/lin/work/rules", "one"), ("work/rules", "one")]),
        ("turn/C", "4", "a:x", [("turn/C", "4")]),
    ],
)
def test_where_links_may_lead(category: str, name: str, source: str, keys: list[tuple[str, str]]) -> None:
    scope = "user/lin" if source.startswith("user/lin") else "shared"
    assert list(link_keys(category, name, item(source, scope=scope))) == keys


def test_what_is_searched() -> None:
    assert searchable_text(item("a:likes-the-sea", "He swims.")) == "likes-the-sea\nHe swims."
    assert searchable_text(item("a:~0123456789", "He swims.")) == "He swims."
    assert searchable_text(item("a:^sea", "He swims.")) == "sea\nHe swims."
    assert searchable_text(item("turn/c#4", "Hi", level="resource", speaker="Lin")) == "Lin: Hi"
    assert searchable_text(item("turn/c#4", "Hi", level="resource")) == "Hi"
    text = "See [[plans:trip|the trip]] and [[plans:other]], `[[plans:code|x]]`."
    assert searchable_text(item("a:~0", text)) == "See the trip and [[plans:other]], `[[plans:code|x]]`."
    stale = replace(item("a:~0", "See [[p:t|the trip]]."), text="shorter")
    assert searchable_text(stale) == "shorter"


def test_text_for_exact_search_is_made_once_and_anew_after_a_change() -> None:
    corpus = Corpus()
    corpus.put(item("a:x", "ＡＢＣ Straße"))
    (partition,) = corpus.partitions(["item"])
    (doc,) = partition.entries
    assert partition.folded(doc) == "x\nabc strasse"
    assert partition.folded(doc) is partition.folded(doc)
    corpus.put(item("a:x", "New"))
    assert partition.folded(doc) == "x\nnew"


@given(st.text(max_size=30))
@settings(deadline=None)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_exact(fold_exact(text)) == fold_exact(text)


def counts_of(corpus: Corpus, key: tuple[str, str]) -> dict[str, int]:
    """How many entries of each scope link to a key."""
    counts = {p.scope: p.inbound.get(key) for p in corpus.partitions(["item"])}
    return {scope: count for scope, count in counts.items() if count}


NAMES = ["a:x", "a:y", "user/lin/a:x"]
LINKS = ["", "[[a:x]]", "[[a:x]] [[a:x|again]] [[:y]]", "[[user/lin/a:x]] [[gone:z]]", "[[a]]"]


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(LINKS)), max_size=20))
@settings(max_examples=100, deadline=None)
def test_links_are_counted_as_if_counted_anew(changes: list[tuple[str, str | None]]) -> None:
    corpus, held = Corpus(), {}
    for address, text in changes:
        scope = "user/lin" if address.startswith("user/") else "shared"
        if text is None:
            corpus.remove(address)
            held.pop(address, None)
        else:
            held[address] = item(address, text, scope)
            corpus.put(held[address])
    anew = Corpus()
    for entry in held.values():
        anew.put(entry)
    keys = {link_keys(link.category, link.item, one)[-1] for one in held.values() for link in one.links if link.item}
    for key in {*keys, ("a", "x"), ("a", "y"), ("gone", "z")}:
        assert counts_of(corpus, key) == counts_of(anew, key)
    assert len(corpus) == len(held)


def test_an_entry_that_links_twice_counts_once() -> None:
    corpus = Corpus()
    corpus.put(item("a:x", "[[a:y]] and [[:y]] and [[a]]"))
    (partition,) = corpus.partitions(["item"])
    assert partition.inbound.get(("a", "y")) == 1
