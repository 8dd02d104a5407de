"""Times that a query names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.timex import find_times
from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.result import Retrieval
from memoranda.retrieval.retriever import Retriever
from memoranda.retrieval.timing import TimedQuery, may_name_time, read_timed_query

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]

NOON = datetime(2026, 7, 10, 12, tzinfo=UTC)  # a Friday; the asker's zone is eight hours ahead


def read(text: str) -> TimedQuery:
    return read_timed_query(text, NOON, UTC)


def addresses(found: Retrieval) -> list[str]:
    return [hit.address for hit in found]


@pytest.fixture
def week(retriever: Make, entry: MakeEntry) -> Retriever:
    """An item a day from 29 June to 10 July 2026, all of a picnic, and one without a date."""
    days = [f"2026-06-{day}" for day in (29, 30)] + [f"2026-07-{day:02}" for day in range(1, 11)]
    dated = [entry(f"daily:d{day[5:]}", "picnic by the river", ts=f"{day}T04:00:00Z") for day in days]
    return retriever([*dated, entry("daily:undated", "picnic by the river, the very best picnic")])


TIMES = [
    "what happened last week?",
    "in June 2023",
    "in may",
    "3 days ago",
    "on Friday",
    "this morning",
    "a couple of hours ago",
    "half a year ago",
    "last summer",
    "the 1990s",
    "the day before yesterday",
    "recently",
    "a decade ago",
    "２０２６年７月",
    "昨天我做了什么",
    "上週末去哪了",
    "上个月",
    "三个月前",
    "去年夏天",
    "前天",
    "最近",
    "这周",
    "今晚",
    "下午三点",
    "二〇二四年七月",
    "7月21号",
    "2026-07-01",
    "since 2021",
]


@pytest.mark.parametrize("text", TIMES)
def test_no_time_is_overlooked_for_want_of_a_look(text: str) -> None:
    assert find_times(text, NOON, UTC)
    assert may_name_time(text)


@pytest.mark.parametrize(
    "text", ["", "When did Caroline paint a lake?", "where does Lin live", "海边", "他喜欢什么", "…"]
)
def test_most_questions_name_none(text: str) -> None:
    assert not may_name_time(text)
    assert read(text).times == ()


@given(st.lists(st.sampled_from([word for text in TIMES for word in text.split()]), max_size=5).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_what_is_not_looked_at_names_none(text: str) -> None:
    if not may_name_time(text):
        assert find_times(text, NOON, UTC) == []


def test_a_long_text_is_no_question_about_a_time() -> None:
    assert read("last week " * 200).times == ()


def test_words_of_a_time_are_left_out_and_those_of_a_date_need_not_be_there() -> None:
    asked = read("What picnic was there last week?")
    assert asked.plain.weights.keys() == {"picnic", "last", "week"}
    assert asked.resolved is not None
    assert asked.resolved.weights.keys() == {"picnic"}
    asked = read("What picnic was there in June 2025?")
    assert asked.resolved is not None
    assert asked.resolved.weights.keys() == {"picnic", "june", "2025"}
    assert asked.resolved.evidence.keys() == {"picnic"}
    asked = read("上周的野餐")
    assert asked.resolved is not None
    assert "上周" not in asked.resolved.weights
    assert "野餐" in asked.resolved.weights


@pytest.mark.parametrize(
    "text", ["last week", "What happened last week?", "What did I do yesterday?", "昨天我做了什么", "上周发生了什么事"]
)
def test_a_question_for_a_time_alone(text: str) -> None:
    assert read(text).only_times


@pytest.mark.parametrize("text", ["picnic last week", "昨天吃了什么", "上周的野餐"])
def test_a_question_for_something_in_a_time(text: str) -> None:
    assert not read(text).only_times


def test_what_is_dated_inside_comes_first(week: Retriever) -> None:
    found = week.retrieve("picnic last week", explain=True)
    assert set(addresses(found)[:7]) == {
        f"daily:d{day}" for day in ("06-29", "06-30", *(f"07-0{n}" for n in range(1, 6)))
    }
    first = found.hits[0].explanation
    assert first is not None
    assert "which is in “last week” (2026-06-29 – 2026-07-05): x2" in first.describe()
    assert len(found) == 10, "a boost, no filter"


@pytest.mark.parametrize("query", ["What happened last week?", "上周发生了什么？", "last week"])
def test_a_time_alone_is_answered_by_what_is_dated_in_it_the_newest_first(week: Retriever, query: str) -> None:
    found = week.retrieve(query, explain=True)
    assert addresses(found) == [
        f"daily:d{day}" for day in ("07-05", "07-04", "07-03", "07-02", "07-01", "06-30", "06-29")
    ]
    assert not any(hit.weak for hit in found)
    said = found.hits[0].explanation
    assert said is not None
    assert any(line.startswith("dated 2026-07-05, which is in “") for line in said.describe().split("\n"))


def test_a_day_is_one_of_the_askers_zone(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:late", "picnic", ts="2026-07-09T15:59:59Z"),
            entry("a:next", "picnic", ts="2026-07-09T16:00:00Z"),
            entry("a:first", "picnic", ts="2026-07-08T16:00:00Z"),
            entry("a:date", "picnic", ts="2026-07-09"),
            entry("a:before", "picnic", ts="2026-07-08"),
            entry("a:there", "picnic", ts="2026-07-09T23:59:00"),
        ]
    )
    assert set(addresses(asked.retrieve("yesterday"))) == {"a:late", "a:first", "a:date", "a:there"}


def test_a_zone_behind_utc(entry: MakeEntry) -> None:
    class Clock:
        def now(self) -> datetime:
            return NOON

        def zone(self) -> ZoneInfo:
            return ZoneInfo("America/New_York")

    corpus = Corpus()
    for day in (8, 9, 10):
        corpus.put(entry(f"a:d{day}", "picnic", ts=f"2026-07-{day:02}"))
        corpus.put(entry(f"a:e{day}", "picnic", ts=f"2026-07-{day:02}T03:00:00Z"))
    asked = Retriever(corpus, RetrievalParameters(), Clock())
    assert set(addresses(asked.retrieve("yesterday"))) == {"a:d9", "a:e10"}


def test_where_nothing_is_dated_its_words_are_words(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "what we said last week", ts="2020-01-01"), entry("a:y", "a picnic")])
    assert addresses(asked.retrieve("picnic last week")) == ["a:x", "a:y"]
    assert addresses(asked.retrieve("last week")) == ["a:x"]


def test_a_date_without_a_year_is_the_latest_that_is_known(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [entry(f"a:y{year}", "picnic by the river", ts=f"{year}-12-24T10:00:00Z") for year in (2019, 2022, 2021)]
    )
    found = asked.retrieve("picnic in December", explain=True)
    assert addresses(found)[0] == "a:y2022"
    assert addresses(asked.retrieve("December"))[0] == "a:y2022"


def test_what_holds_too_little_by_its_words_is_let_in_by_its_date(retriever: Make, entry: MakeEntry) -> None:
    others = [entry(f"b:n{n:03}", "picnic picnic", ts="2026-01-01") for n in range(200)]
    asked = retriever([*others, entry("a:x", "a picnic by the river", ts="2026-07-09T03:00:00Z")])
    assert addresses(asked.retrieve("picnic yesterday", k=1)) == ["a:x"]


def test_few_words_that_are_not_there_are_answered_by_the_time(week: Retriever) -> None:
    found = week.retrieve("What did we discuss yesterday?")
    assert addresses(found) == ["daily:d07-09"]
    assert found.hits[0].weak is True
    assert week.retrieve("Which orchestra did the painter hear in the support group yesterday?").no_match


def test_a_long_or_vague_time_counts_a_little(week: Retriever) -> None:
    for query in ("picnic recently", "picnic this year", "picnic since 2 July 2026"):
        found = week.retrieve(query, k=20, explain=True)
        factors = {hit.address: hit.explanation.factors for hit in found if hit.explanation is not None}
        assert [factor.times for factor in factors["daily:d07-09"]] == [1.2], query
        assert factors["daily:undated"] == ()


def test_what_may_not_be_seen_is_not_listed(week: Retriever) -> None:
    found = week.retrieve("yesterday", visible=lambda one: one.address != "daily:d07-09")
    assert found.no_match


def test_what_no_longer_holds_says_so(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:old", "job at the mill", ts="2026-07-09T08:00:00Z", valid_to="2026-07-09"),
            entry("a:new", "job at the port", ts="2026-07-09T03:00:00Z"),
        ]
    )
    found = asked.retrieve("yesterday")
    assert addresses(found) == ["a:old", "a:new"] or addresses(found) == ["a:new", "a:old"]
    (old,) = [hit for hit in found if hit.address == "a:old"]
    assert old.effects == ("valid until 2026-07-09",)
    assert addresses(found)[0] == "a:new"


def test_a_time_on_turns_goes_with_their_context(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("turn/c#1", "Where did you pick the agency?", ts="2026-01-01T00:00:00Z"),
            entry("turn/c#2", "By the river.", ts="2026-01-01T00:00:00Z"),
            entry("turn/d#1", "Where did you pick the agency?", ts="2026-07-09T03:00:00Z"),
            entry("turn/d#2", "On the hill.", ts="2026-07-09T03:00:00Z"),
        ]
    )
    found = asked.retrieve("agency picked yesterday", levels=["resource"])
    assert addresses(found)[:2] == ["turn/d#1", "turn/d#2"]


def test_times_are_those_of_as_of(week: Retriever) -> None:
    then = datetime(2026, 7, 3, 2, tzinfo=UTC)
    assert addresses(week.retrieve("yesterday", as_of=then)) == ["daily:d07-02"]


def test_what_held_then_comes_before_what_holds_now(retriever: Make, entry: MakeEntry) -> None:
    old = entry("addr:old", "the office is in Baker Street", valid_from="2024-01-01", valid_to="2025-12-31")
    new = entry("addr:new", "the office is in Elm Street", valid_from="2026-01-01", ts="2026-01-01")
    asked = retriever([old, new])
    assert addresses(asked.retrieve("where is the office"))[0] == "addr:new"
    then = asked.retrieve("where was the office in March 2025")
    assert addresses(then)[0] == "addr:old"
    assert then.hits[0].effects == ()
    assert addresses(asked.retrieve("where was the office in 2025"))[0] == "addr:old"


def test_what_holds_from_a_day_on_is_dated_by_it(retriever: Make, entry: MakeEntry) -> None:
    signed = entry("gym:contract", "gym contract signed", valid_from="2026-06-10", ts="2026-07-10T01:00:00Z")
    asked = retriever([signed, entry("gym:other", "gym is loud", ts="2026-05-01")])
    assert addresses(asked.retrieve("what happened in June 2026?")) == ["gym:contract"]
    assert addresses(asked.retrieve("what happened today?")) == []


@pytest.mark.parametrize("question", ["what happened last year?", "去年发生了什么", "in 2025", "before 2026"])
def test_a_whole_year_can_be_all_that_is_asked_for(retriever: Make, entry: MakeEntry, question: str) -> None:
    entries = [entry(f"log:{day}", "rain", ts=day) for day in ("2025-03-01", "2025-11-30", "2026-02-01")]
    assert addresses(retriever(entries).retrieve(question)) == ["log:2025-11-30", "log:2025-03-01"]


def test_of_one_moment_turns_come_in_the_order_in_which_they_were_said(retriever: Make, entry: MakeEntry) -> None:
    turns = [entry(f"turn/talk#{n}", f"word {n}", ts="2026-07-09T10:00:00Z") for n in range(12)]
    found = retriever(turns).retrieve("what happened yesterday?", levels=["resource"])
    assert addresses(found) == [f"turn/talk#{n}" for n in range(10)]


def test_the_day_that_is_shown_is_the_day_of_the_asker(retriever: Make, entry: MakeEntry) -> None:
    late = entry("log:late", "rain", ts="2026-07-08T20:00:00Z")
    (hit,) = retriever([late]).retrieve("昨天", explain=True)
    assert hit.explanation is not None
    assert "dated 2026-07-09" in hit.explanation.describe()
