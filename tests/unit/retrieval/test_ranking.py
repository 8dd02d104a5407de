"""Keyword candidates: order, weak ones, outdated ones."""

from __future__ import annotations

from collections.abc import Callable

from memoranda.index.entries import Entry
from memoranda.retrieval.retriever import Retriever

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]


def addresses(retriever: Retriever, query: str, **how: object) -> list[str]:
    return [hit.address for hit in retriever.retrieve(query, **how)]  # type: ignore[arg-type]


def test_more_of_the_query_is_better(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:one", "beach"), entry("a:two", "beach picnic"), entry("a:none", "office")])
    assert addresses(asked, "picnic on the beach") == ["a:two", "a:one"]


def test_equal_scores_go_by_address(retriever: Make, entry: MakeEntry) -> None:
    entries = [entry(f"a:~{n:010d}", "beach") for n in (3, 1, 2)]
    assert addresses(retriever(entries), "beach", k=2) == ["a:~0000000001", "a:~0000000002"]
    assert addresses(retriever(entries[::-1]), "beach", k=2) == ["a:~0000000001", "a:~0000000002"]


def test_sharing_one_common_word_is_weak(retriever: Make, entry: MakeEntry) -> None:
    others = [entry(f"b:n{n}", "melanie works") for n in range(20)]
    asked = retriever([entry("a:sunrise", "Melanie painted a lake at sunrise"), *others])
    hits = {hit.address: hit for hit in asked.retrieve("When did Melanie paint a sunrise?", k=30)}
    assert hits["a:sunrise"].weak is False
    assert hits["b:n0"].weak is True


def test_what_is_rare_counts_more(retriever: Make, entry: MakeEntry) -> None:
    others = [entry(f"b:n{n}", "melanie saw a sunrise") for n in range(20)]
    asked = retriever([entry("a:kayak", "melanie on a kayak tour"), *others])
    query = "melanie kayak glacier quantum theory pudding"
    assert {hit.weak for hit in asked.retrieve(query, k=30) if hit.address != "a:kayak"} == {True}
    (hit,) = [hit for hit in asked.retrieve(query, k=30) if hit.address == "a:kayak"]
    assert hit.weak is False


def test_of_a_short_query_half_is_weak_and_all_is_not(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "beach"), *(entry(f"b:n{n}", "office") for n in range(9))])
    assert all(hit.weak for hit in asked.retrieve("beach office", k=20) if hit.address != "a:x")
    assert not any(hit.weak for hit in asked.retrieve("office", k=20))
    assert asked.retrieve("beach office").hits[0].address == "a:x"


def test_chinese_weak_and_not(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:beach", "喜欢海边，提到过想去海边玩。"),
            entry("a:picnic", "周末带孩子去公园野餐"),
            *(entry(f"b:n{n}", "孩子的作业") for n in range(9)),
        ]
    )
    hits = {hit.address: hit for hit in asked.retrieve("周末孩子公园野餐计划", k=20)}
    assert hits["a:picnic"].weak is False
    assert hits["b:n0"].weak is True
    (first, *_) = asked.retrieve("想去海边玩")
    assert (first.address, first.weak) == ("a:beach", False)


def test_the_whole_identifier_wins(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [entry("a:p", "0054 and DEC, DEC, 0054"), entry("a:q", "as DEC-0054 says"), entry("a:r", "DEC-0055")]
    )
    assert addresses(asked, "DEC-0054")[0] == "a:q"
    assert addresses(asked, '"dec-0054"')[0] == "a:q"


def test_superseded_ranks_below_its_successor(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:old-home", "home home home: lives in Berlin", superseded_by="a:new-home"),
            entry("a:new-home", "moved house; the home is in Munich, a long story that takes many words to tell"),
            entry("a:other", "home"),
        ]
    )
    found = asked.retrieve("home", explain=True)
    order = [hit.address for hit in found]
    assert order.index("a:old-home") > order.index("a:new-home")
    (old,) = [hit for hit in found if hit.address == "a:old-home"]
    assert old.effects == ("superseded by a:new-home",)
    assert old.explanation is not None
    assert "superseded by a:new-home" in old.explanation.describe()
    assert old.explanation.keyword > old.score
    scores = [hit.score for hit in found if not hit.via]
    assert scores == sorted(scores, reverse=True)


def test_superseded_is_known_from_the_newer_one_too(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [entry("a:old", "home home Berlin"), entry("a:new", "home in Munich these days", supersedes="a:old")]
    )
    found = asked.retrieve("home")
    assert [hit.address for hit in found] == ["a:new", "a:old"]
    assert found.hits[1].effects == ("superseded by a:new",)


def test_a_chain_of_successors_stands_newest_first(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:v1", "home home home", superseded_by="v2"),
            entry("a:v2", "home home", superseded_by="v3"),
            entry("a:v3", "home and more to dilute it with words"),
        ]
    )
    assert addresses(asked, "home") == ["a:v3", "a:v2", "a:v1"]


def test_a_ring_of_successors_is_answered(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "home", superseded_by="y"), entry("a:y", "home", superseded_by="x")])
    assert sorted(addresses(asked, "home")) == ["a:x", "a:y"]


def test_expired_ranks_lower_and_says_so(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [entry("a:a", "job", valid_to="2026-01"), entry("a:b", "job"), entry("a:c", "job", valid_to="2027")]
    )
    found = asked.retrieve("job")
    assert [hit.address for hit in found] == ["a:b", "a:c", "a:a"]
    assert [hit.effects for hit in found] == [(), (), ("valid until 2026-01",)]


def test_what_is_outdated_does_not_keep_others_out(retriever: Make, entry: MakeEntry) -> None:
    old = [entry(f"a:a{n}", "job job", valid_to="2020") for n in range(5)]
    assert addresses(retriever([*old, entry("a:z", "job")]), "job", k=1) == ["a:z"]
