"""Whom a query names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memoranda.index.entries import Entry
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.query import read_query
from memoranda.retrieval.retriever import Retriever
from memoranda.retrieval.speakers import named_speaker

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]


def named(query: str, *speakers: str) -> str:
    return named_speaker(query.casefold(), set(read_query(query).shown.values()), speakers)


@pytest.mark.parametrize(
    ("query", "speakers", "who"),
    [
        ("What does Caroline paint?", ("caroline", "melanie"), "caroline"),
        ("What does CAROLINE paint?", ("caroline", "melanie"), "caroline"),
        ("Caroline's dog", ("caroline",), "caroline"),
        ("What do Caroline and Melanie paint?", ("caroline", "melanie"), ""),
        ("What do they paint?", ("caroline", "melanie"), ""),
        ("the carolines", ("caroline",), ""),
        ("Ana in the bananas", ("ana", "nan"), "ana"),
        ("What does Alex think?", ("alex kim", "bo chen"), "alex kim"),
        ("What does Alex think?", ("alex kim", "alex chen"), ""),
        ("What does Alex Kim think?", ("alex kim", "alex chen"), "alex kim"),
        ("Где живёт Анна?", ("анна", "иван"), "анна"),
        ("Where is José?", ("josé",), "josé"),
        ("Where is Jose?", ("josé",), "josé"),
        ("Caroline什么时候去的？", ("caroline", "melanie"), "caroline"),
        ("小明什么时候去的？", ("小明", "小红"), "小明"),
        ("晓明喜欢什么", ("王晓明", "李红"), "王晓明"),
        ("王晓明喜欢什么", ("王晓明", "李晓明"), "王晓明"),
        ("小明和小红", ("小明", "小红"), ""),
        ("海边", ("海",), ""),
        ("the user interface of the assistant", ("user", "assistant"), ""),
        ("用户喜欢什么", ("用户",), ""),
        ("anything", (), ""),
    ],
)
def test_who_is_named(query: str, speakers: tuple[str, ...], who: str) -> None:
    assert named(query, *speakers) == who


def test_what_the_named_one_says_counts_more(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("turn/c#1", "Melanie paints a lake", speaker="Caroline"),
            entry("turn/d#1", "Caroline paints a lake", speaker="Melanie"),
        ]
    )
    for who, address in (("Caroline", "turn/c#1"), ("Melanie", "turn/d#1")):
        first, second = asked.retrieve(f"When did {who} paint the lake?", levels=["resource"], explain=True)
        assert first.address == address
        assert first.score == pytest.approx(1.2 * second.score)
        assert first.explanation is not None
        assert f"said by {who}, who is named: x1.2" in first.explanation.describe()
        assert second.explanation is not None
        assert second.explanation.factors == ()
    both = asked.retrieve("When did Caroline and Melanie paint the lake?", levels=["resource"])
    assert both.hits[0].score == both.hits[1].score


def test_the_named_one_may_come_up_from_below(retriever: Make, entry: MakeEntry) -> None:
    others = [entry(f"turn/d{n:02}#1", "Caroline, the lake", speaker="Melanie") for n in range(40)]
    asked = retriever([*others, entry("turn/z#1", "a lake and, far away, hills", speaker="Caroline")])
    plain = RetrievalParameters(named=1.0)
    query = "Caroline lake"
    ranked = [h.address for h in asked.retrieve(query, k=1, levels=["resource"])]
    assert ranked == ["turn/z#1"]
    asked = retriever([*others, entry("turn/z#1", "a lake and, far away, hills", speaker="Caroline")], parameters=plain)
    assert [h.address for h in asked.retrieve(query, k=1, levels=["resource"])] != ["turn/z#1"]
