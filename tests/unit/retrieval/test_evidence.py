"""Knowing when there is nothing, and when there is little."""

from __future__ import annotations

from collections.abc import Callable
from math import isclose, sqrt

import pytest

from memoranda.index.entries import Entry
from memoranda.retrieval.evidence import Standard
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.query import read_query
from memoranda.retrieval.retriever import Retriever

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]

QUESTION = "Which support group did the painter from the orchestra visit?"


def standard(query: str, documents: int, **frequencies: int) -> Standard:
    return Standard(read_query(query).evidence, frequencies, documents, RetrievalParameters())


@pytest.fixture
def large(retriever: Make, entry: MakeEntry) -> Retriever:
    """Seven hundred items, fifty of them of a group, one of a kayak."""
    groups = [entry(f"a:group-{n}", "a group of people") for n in range(50)]
    kayak = entry("a:kayak", "went by kayak")
    return retriever([*groups, kayak, *(entry(f"b:n{n}", "other things") for n in range(649))])


def test_of_more_that_is_asked_for_more_must_be_there() -> None:
    needed = [standard(" ".join(f"word{n}x" for n in range(count)), 1000).needed for count in (1, 4, 9)]
    assert needed == pytest.approx([0.88 * sqrt(count) for count in (1, 4, 9)])
    assert isclose(standard(" ".join(f"word{n}x" for n in range(90)), 1000).needed, 0.88 * sqrt(12))


def test_in_a_small_vault_less_is_enough() -> None:
    bars = [standard(QUESTION, documents).bar for documents in (1, 20, 50, 100, 500, 10_000)]
    assert bars[:2] == [0.0, 0.0]
    assert bars == sorted(bars)
    assert bars[4] == bars[5] == standard(QUESTION, 500).needed


def test_what_counts() -> None:
    asked = standard("kayak lake red", 5000, kayak=1, lake=900)
    own = asked.weigh([("kayak", True, 1.0), ("lake", True, 1.0)])
    assert (own.words, own.own) == (2.5, True), "what is rare counts half as much again"
    lent = asked.weigh([("lake", False, 0.25)])
    assert (lent.words, lent.own) == (0.25, False)
    assert asked.asked == 3.0


def test_a_word_of_two_characters_counts_about_as_one() -> None:
    assert standard("海边", 1000).asked == pytest.approx(1.2)
    assert standard("DEC-0054", 1000).asked == pytest.approx(2.0)


def test_a_question_of_which_one_common_word_is_there_has_no_answer(large: Retriever) -> None:
    found = large.retrieve(QUESTION)
    assert (found.hits, found.no_match, found.unavailable, found.nearest) == ([], True, [], None)


def test_what_came_nearest_is_told_when_asked_for(large: Retriever) -> None:
    found = large.retrieve(QUESTION, explain=True)
    assert found.no_match
    assert found.nearest is not None
    assert found.nearest.held == ("group",)
    assert found.nearest.missing == ("support", "painter", "orchestra", "visit")
    assert found.nearest.describe() == (
        f"nearest was {found.nearest.address}: holds “group”, "
        "does not hold “support”, “painter”, “orchestra”, “visit”; "
        "that counts as 1.0 of 5.0 words, 2.0 are needed"
    )
    assert found.as_dict()["nearest"]["held"] == ["group"]


def test_a_word_or_two_always_have_their_hit(large: Retriever) -> None:
    (one,) = large.retrieve("kayak", k=1)
    assert (one.address, one.weak) == ("a:kayak", False)
    (two,) = large.retrieve("kayak orchestra", k=1)
    assert two.address == "a:kayak"
    found = large.retrieve("a group of painters")
    assert len(found) == 10
    assert all(hit.weak for hit in found)


@pytest.mark.parametrize("size", [1, 3, 15])
def test_a_small_vault_answers_what_little_it_can(retriever: Make, entry: MakeEntry, size: int) -> None:
    others = [entry(f"b:n{n}", f"item number {n}") for n in range(size - 1)]
    asked = retriever([entry("a:group", "a group of people"), *others])
    (hit,) = asked.retrieve(QUESTION)
    assert (hit.address, hit.weak) == ("a:group", True)
    asked = retriever([entry("a:lin", "Lin lives in Hangzhou"), *others])
    (hit,) = asked.retrieve("where does Lin live?")
    assert (hit.address, hit.weak) == ("a:lin", False)


def test_an_answer_is_enough_whatever_stands_below_it(retriever: Make, entry: MakeEntry) -> None:
    groups = [entry(f"a:group-{n}", "a group of people") for n in range(600)]
    asked = retriever([*groups, entry("a:answer", "the painter joined a support group")])
    found = asked.retrieve(QUESTION)
    assert found.hits[0].address == "a:answer"
    assert found.hits[0].weak is False
    assert all(hit.weak for hit in found.hits[1:])


def test_the_number_of_hits_asked_for_does_not_decide(large: Retriever) -> None:
    for k in (1, 2, 50):
        assert large.retrieve(QUESTION, k=k).no_match
        assert not large.retrieve("kayak", k=k).no_match


def test_the_floor_can_be_switched_off(retriever: Make, entry: MakeEntry) -> None:
    entries = [entry(f"a:group-{n}", "a group of people") for n in range(700)]
    (hit, *_) = retriever(entries, parameters=RetrievalParameters(floor=0.0)).retrieve(QUESTION)
    assert hit.weak is False


def test_each_level_decides_for_itself(retriever: Make, entry: MakeEntry) -> None:
    entries = [entry(f"a:group-{n}", "a group of people") for n in range(700)]
    asked = retriever([*entries, entry("turn/c#1", "The painter visited the support group.")])
    found = asked.retrieve(QUESTION, levels=["item", "resource"])
    assert [hit.address for hit in found] == ["turn/c#1"]


def test_what_only_neighbours_hold_counts_in_part(retriever: Make, entry: MakeEntry) -> None:
    filler = [entry(f"turn/d{n}#1", "other things") for n in range(600)]
    asked = retriever(
        [
            *filler,
            entry("turn/c#1", "Which support group did you visit?"),
            entry("turn/c#2", "The one by the river."),
        ]
    )
    hits = {hit.address: hit for hit in asked.retrieve("support group visit", levels=["resource"])}
    assert hits["turn/c#1"].weak is False
    assert "turn/c#2" in hits


def test_chinese(retriever: Make, entry: MakeEntry) -> None:
    filler = [entry(f"b:n{n}", "今天天气很好") for n in range(600)]
    asked = retriever([*filler, *(entry(f"a:n{n}", "参加活动") for n in range(9)), entry("a:x", "报名陶艺课")])
    assert [hit.address for hit in asked.retrieve("什么时候报名陶艺课的")] == ["a:x"]
    assert asked.retrieve("她为无家可归者收容所组织的慈善晚宴活动筹集了多少").no_match
    assert asked.retrieve("陶艺").hits[0].weak is False


def test_a_question_in_another_language_is_met_by_its_names(retriever: Make, entry: MakeEntry) -> None:
    filler = [entry(f"turn/d{n}#1", "other things") for n in range(600)]
    asked = retriever([*filler, entry("turn/c#1", "I paint.", speaker="Caroline")])
    (hit,) = asked.retrieve("Caroline什么时候参加了支持小组", levels=["resource"])
    assert (hit.address, hit.weak) == ("turn/c#1", True)
    assert asked.retrieve("什么时候参加了支持小组", levels=["resource"]).no_match


def test_an_identifier_is_enough_in_a_long_question(retriever: Make, entry: MakeEntry) -> None:
    entries = [entry(f"c:n{n}", f"note {n} about the garden and the harbour") for n in range(600)]
    entries.append(entry("c:decided", "DEC-0054: ship on Mondays"))
    asked = "what did the customers in Lisbon finally decide about DEC-0054 before the summer holidays"
    found = retriever(entries).retrieve(asked)
    assert found.hits[0].address == "c:decided"
    assert retriever(entries).retrieve(asked.replace("DEC-0054", "the rollout")).no_match


def test_an_identifier_that_is_nowhere_is_not_met_by_its_parts(retriever: Make, entry: MakeEntry) -> None:
    entries = [entry(f"c:n{n}", f"TCK-{n:05} is about the harbour") for n in range(100)]
    assert retriever(entries).retrieve("TCK-99999").no_match
    assert addresses_of(retriever(entries), "TCK-00007")[0] == "c:n7"


def addresses_of(asked: Retriever, query: str) -> list[str]:
    return [hit.address for hit in asked.retrieve(query)]
