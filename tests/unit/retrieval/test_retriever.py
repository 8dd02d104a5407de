"""The read path as a whole: what it answers, refuses, and survives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.core.errors import UsageError
from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry
from memoranda.index.partition import Partition
from memoranda.retrieval import exact, expansion, packing, search, timing
from memoranda.retrieval import retriever as retriever_module
from memoranda.retrieval.context import Surroundings
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.retriever import Retriever

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]


@pytest.fixture
def asked(retriever: Make, entry: MakeEntry) -> Retriever:
    return retriever(
        [
            entry(
                "preferences:likes-the-sea",
                "喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]",
                source="turn/c#4",
                ts="2026-07-10T03:00:00Z",
                trust="high",
                citation="memory/preferences.md:7",
            ),
            entry("daily_life:beach-trip-plan", "Saturday, by train."),
            entry("decisions:dec-0054", "DEC-0054: keep the files as the only truth. Price 5€ → free."),
            entry("language:chinese-first", "中文优先"),
            entry("user/lin/secrets:door", "the sea door opens with a key"),
            entry("turn/c#4", "I would love to see the sea", speaker="Lin", ts="2026-07-10"),
        ]
    )


def addresses(found: Any) -> list[str]:
    return [hit.address for hit in found]


def test_a_hit_carries_what_its_entry_knows(asked: Retriever) -> None:
    found = asked.retrieve("想去海边玩", explain=True)
    assert found
    assert len(found) == 2
    first, linked = found
    assert first.address == "preferences:likes-the-sea"
    assert (first.level, first.scope, first.source, first.trust) == ("item", "shared", "turn/c#4", "high")
    assert (first.ts, first.citation, first.hash) == ("2026-07-10T03:00:00Z", "memory/preferences.md:7", "h")
    assert first.text.startswith("喜欢海边")
    assert linked.via == "[[daily_life:beach-trip-plan]] of preferences:likes-the-sea"
    assert first.explanation is not None
    assert sum(part.part for part in first.explanation.terms) == pytest.approx(first.score)
    assert found.no_match is False
    block = found.render()
    assert "[1] preferences:likes-the-sea | 2026-07-10 | source turn/c#4" in block
    assert json.loads(json.dumps(found.as_dict()))["hits"][0]["address"] == first.address


def test_explanations_only_when_asked_for(asked: Retriever) -> None:
    assert all(hit.explanation is None for hit in asked.retrieve("sea"))


def test_nothing_found_says_so(asked: Retriever) -> None:
    found = asked.retrieve("zebra")
    assert (found.hits, found.no_match, found.unavailable) == ([], True, [])
    assert found.render() == ""
    assert not found
    for empty in ("", "  \n", "…"):
        assert asked.retrieve(empty).no_match is True


@pytest.mark.parametrize(
    "query",
    [
        "select * from items",
        "AND",
        '"DEC-0054',
        "word:word files",
        "-truth",
        "NEAR(truth",
        "%",
        "truth OR *",
        "a:b",
    ],
)
def test_there_is_no_query_syntax(asked: Retriever, query: str) -> None:
    found = asked.retrieve(query)
    assert found.unavailable == []
    if "DEC" in query or "truth" in query or "files" in query:
        assert addresses(found) == ["decisions:dec-0054"]


@pytest.mark.parametrize("query", ["DEC-0054", '"DEC-0054"', "dec-0054", "0054"])
def test_identifiers_are_found(asked: Retriever, query: str) -> None:
    assert addresses(asked.retrieve(query))[0] == "decisions:dec-0054"


def test_part_of_a_chinese_sentence_is_found(asked: Retriever) -> None:
    assert addresses(asked.retrieve("中文")) == ["language:chinese-first"]


def test_only_function_words_still_find_something(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "who are you"), entry("a:y", "sea")])
    assert addresses(asked.retrieve("Who are you?")) == ["a:x"]


def test_scopes_are_what_may_be_seen(asked: Retriever) -> None:
    assert "user/lin/secrets:door" not in addresses(asked.retrieve("sea door key"))
    assert "user/lin/secrets:door" in addresses(asked.retrieve("sea door key", scopes=["user/lin", "shared"]))
    assert addresses(asked.retrieve("sea door key", scopes=["user/mia"])) == []
    assert addresses(asked.retrieve("sea door key", scopes=[])) == []
    assert addresses(asked.retrieve("sea door key", scopes="user/Lin")) == ["user/lin/secrets:door"]


def test_scores_do_not_depend_on_what_may_not_be_seen(retriever: Make, entry: MakeEntry) -> None:
    shared = [entry("a:x", "sea and sand"), entry("a:y", "sea")]
    private = [entry(f"user/mia/a:n{n}", "sea sand " * 5) for n in range(5)]
    alone, beside = retriever(shared), retriever(shared + private)
    assert [h.score for h in alone.retrieve("sea sand")] == [h.score for h in beside.retrieve("sea sand")]


def test_levels(asked: Retriever) -> None:
    assert addresses(asked.retrieve("sea", levels=["resource"])) == ["turn/c#4"]
    assert addresses(asked.retrieve("Lin", levels=["resource"])) == ["turn/c#4"], "the speaker is searched"
    both = asked.retrieve("sea", levels=["resource", "item", "passage"])
    assert {"turn/c#4", "preferences:likes-the-sea"} <= set(addresses(both))
    direct = [hit.score for hit in both if not hit.via]
    assert direct == sorted(direct, reverse=True)
    assert asked.retrieve("sea", levels=["passage"]).no_match is True
    assert asked.retrieve("sea", levels="resource").hits == asked.retrieve("sea", levels=("resource",)).hits


def test_k_counts_direct_hits(asked: Retriever) -> None:
    found = asked.retrieve("海边 DEC-0054 中文", k=1)
    assert sum(not hit.via for hit in found) == 1


def test_grep_finds_what_stands_there(asked: Retriever) -> None:
    found = asked.retrieve("ONLY TRUTH. price", mode="grep", explain=True)
    assert addresses(found) == ["decisions:dec-0054"]
    assert found.hits[0].score == 1.0
    assert found.hits[0].explanation is not None
    assert "exact text once" in found.hits[0].explanation.describe()
    assert addresses(asked.retrieve("ｆｉｌｅｓ", mode="grep")) == ["decisions:dec-0054"]
    assert asked.retrieve("files truth", mode="grep").no_match is True


def test_grep_puts_more_occurrences_first(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "a+b"), entry("a:y", "a+b a+b"), entry("a:z", "a+b a+b a+b")])
    found = asked.retrieve("a+b", mode="grep", k=2)
    assert [(hit.address, hit.score) for hit in found] == [("a:z", 3.0), ("a:y", 2.0)]


def test_auto_searches_exactly_what_has_no_words(asked: Retriever) -> None:
    assert addresses(asked.retrieve("€ →")) == addresses(asked.retrieve("€ →", mode="grep"))
    assert addresses(asked.retrieve("→")) == ["decisions:dec-0054"]
    assert asked.retrieve("→", mode="keyword").no_match is True


def test_grep_stops_when_time_is_up(asked: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retriever_module, "_RANKING_SECONDS", 0.0)
    monkeypatch.setattr(exact, "_CHECK_EVERY", 1)
    found = asked.retrieve("a", mode="grep", deadline=0)
    assert len(found) < len(asked.retrieve("a", mode="grep"))
    assert found.unavailable == ["ranking: out of time, not everything was looked at"]


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_vectors_that_are_not_there_are_named(asked: Retriever, mode: str) -> None:
    found = asked.retrieve("中文", mode=mode)
    assert addresses(found) == ["language:chinese-first"]
    assert found.unavailable == ["vectors: not configured; keyword answered"]


@pytest.mark.parametrize(
    "how",
    [
        {"k": 0},
        {"k": 1001},
        {"k": True},
        {"k": 1.5},
        {"budget": -1},
        {"budget": True},
        {"deadline": -0.1},
        {"deadline": float("nan")},
        {"levels": ["page"]},
        {"levels": []},
        {"mode": "magic"},
        {"scopes": ["nobody"]},
        {"scopes": ["user/"]},
        {"as_of": datetime(2026, 7, 10)},
    ],
)
def test_what_has_no_meaning_is_refused(asked: Retriever, how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        asked.retrieve("sea", **how)


def test_a_query_that_is_no_text_is_refused(asked: Retriever) -> None:
    with pytest.raises(UsageError):
        asked.retrieve(None)  # type: ignore[arg-type]


def test_a_very_long_query_is_cut_and_says_so(asked: Retriever) -> None:
    found = asked.retrieve("中文 " + "海" * 200_000)
    assert "language:chinese-first" in addresses(found)
    assert found.unavailable == ["query: only its first 100 KB of 586 were read"]
    assert len(found.query.encode()) <= 100 * 1024


def test_the_budget_drops_and_says_what(asked: Retriever) -> None:
    found = asked.retrieve("海边", budget=1)
    assert found.hits == []
    assert found.no_match is False
    assert {dropped.address for dropped in found.dropped} == {
        "preferences:likes-the-sea",
        "daily_life:beach-trip-plan",
    }
    assert found.render() == ""
    assert found.as_dict()["dropped"][0]["tokens"] == found.dropped[0].tokens
    assert asked.retrieve("海边", budget=1000).dropped == []


def test_refresh_is_told_the_time_left_and_its_notes_are_passed_on(retriever: Make, entry: MakeEntry) -> None:
    told: list[float | None] = []

    def refresh(left: float | None) -> Sequence[str]:
        told.append(left)
        return ["memory/a.md: not readable"]

    asked = retriever([entry("a:x", "sea")], refresh)
    found = asked.retrieve("sea", deadline=5.0)
    assert addresses(found) == ["a:x"]
    assert found.unavailable == ["memory/a.md: not readable"]
    asked.retrieve("sea", deadline=None)
    assert told[0] is not None
    assert 0 < told[0] <= 5.0
    assert told[1] is None


def test_a_refresh_that_fails_does_not_stop_the_answer(retriever: Make, entry: MakeEntry) -> None:
    def refresh(left: float | None) -> Sequence[str]:
        raise OSError("disk gone")

    asked = retriever([entry("a:x", "sea")], refresh)
    found = asked.retrieve("sea")
    assert addresses(found) == ["a:x"]
    assert found.unavailable == ["refresh: OSError: disk gone"]
    assert asked.retrieve("zebra").no_match is False, "unknown, not absent"


@pytest.mark.parametrize(
    ("module", "function", "note", "left"),
    [
        (search.Search, "_rows", "keyword over items", []),
        (timing, "may_name_time", "times", ["preferences:likes-the-sea", "daily_life:beach-trip-plan"]),
        (expansion, "_linked", "links", ["preferences:likes-the-sea"]),
        (packing, "estimate_tokens", "budget", []),
    ],
)
def test_a_stage_that_fails_is_named(
    asked: Retriever, monkeypatch: pytest.MonkeyPatch, module: Any, function: str, note: str, left: list[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(module, function, fail)
    found = asked.retrieve("海边", budget=1000)
    assert found.unavailable == [f"{note}: RuntimeError: broken"]
    assert addresses(found) == left


def test_one_level_that_fails_leaves_the_others(asked: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Surroundings.__init__

    def fail(self: Surroundings, partition: Partition, *rest: Any) -> None:
        if partition.level == "item":
            raise RuntimeError("broken")
        whole(self, partition, *rest)

    monkeypatch.setattr(Surroundings, "__init__", fail)
    found = asked.retrieve("sea", levels=["item", "resource"])
    assert addresses(found) == ["turn/c#4"]
    assert found.unavailable == ["keyword over items: RuntimeError: broken"]


def test_without_any_time_there_is_still_an_answer(asked: Retriever) -> None:
    assert addresses(asked.retrieve("中文", deadline=0)) == ["language:chinese-first"]


def test_out_of_time_some_words_are_left_out_and_it_says_so(asked: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retriever_module, "_RANKING_SECONDS", 0.0)
    found = asked.retrieve("truth DEC-0054", deadline=0, explain=True)
    assert addresses(found) == ["decisions:dec-0054"]
    assert found.unavailable == ["ranking: out of time, not everything was looked at"]
    assert asked.retrieve("truth DEC-0054", deadline=None).hits[0].score > found.hits[0].score


def test_a_corpus_that_is_held_by_another_is_named(entry: MakeEntry, retriever: Make) -> None:
    corpus = Corpus()
    corpus.put(entry("a:x", "sea"))
    asked = Retriever(corpus, RetrievalParameters(), retriever([])._clock)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with corpus.lock:
            held.set()
            done.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(10)
    try:
        found = asked.retrieve("sea", deadline=0.01)
    finally:
        done.set()
        other.join()
    assert (found.hits, found.no_match) == ([], False)
    assert found.unavailable == ["memory: another call was changing it for too long"]
    assert addresses(asked.retrieve("sea", deadline=0.01)) == ["a:x"]


def test_as_of_is_the_time_at_which_entries_hold(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "job", valid_to="2026-01"), entry("a:y", "job")])
    then = datetime(2025, 12, 1, tzinfo=UTC)
    assert addresses(asked.retrieve("job")) == ["a:y", "a:x"]
    past = asked.retrieve("job", as_of=then)
    assert addresses(past) == ["a:x", "a:y"]
    assert past.as_of == "2025-12-01T00:00:00+00:00"


def test_what_the_caller_hides_is_not_found(asked: Retriever) -> None:
    for mode in ("auto", "grep"):
        assert asked.retrieve("中文", mode=mode, visible=lambda one: one.category != "language").no_match is True


@given(
    query=st.text(max_size=30),
    mode=st.sampled_from(["auto", "keyword", "grep"]),
    budget=st.none() | st.integers(0, 99),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_is_answered_and_always_the_same(asked: Retriever, query: str, mode: str, budget: int | None) -> None:
    found = asked.retrieve(query, mode=mode, budget=budget, deadline=None, explain=True)
    assert found == asked.retrieve(query, mode=mode, budget=budget, deadline=None, explain=True)
    assert found.unavailable == []
    assert found.no_match is not bool(found.hits or found.dropped)
    assert len(set(addresses(found))) == len(found)
    assert (found.render() == "") is (not found.hits)
