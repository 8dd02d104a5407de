"""Reasons, in words and as plain values."""

from __future__ import annotations

import json

from memoranda.retrieval.explanation import Explanation, Factor, LentPart, TermPart

FULL = Explanation(
    score=1.5,
    scope="user/lin",
    terms=(TermPart("paint", "painting", 1.0, 2, 1, 3.25, 2.5), TermPart("海", "海", 0.5, 1, 4, 1.0, 0.5)),
    lent=(
        LentPart("turn/c#4", "the question before it", ("painting", "sunrise"), 0.75),
        LentPart("", "the rest of its sitting", ("kids",), 0.0625),
    ),
    factors=(
        Factor("said by Lin, who is named", 1.2),
        Factor("dated 2026-07-10, which is in “today” (2026-07-10)", 1.0),
    ),
    keyword=3.0,
    effects=("superseded by a:new",),
    missing=("sunrise",),
    stop_words=("when", "did"),
    weak=True,
)


def test_described() -> None:
    assert FULL.describe().split("\n") == [
        "score 1.500 in user/lin memory",
        "“painting” (as “paint”) 2 times: +2.500 (1 entry holds it, idf 3.25)",
        "“海” once: +0.500 (4 entries hold it, idf 1.00 x weight 0.5)",
        "turn/c#4, the question before it, lends “painting”, “sunrise”: +0.750",
        "the rest of its sitting lends “kids”: +0.062",
        "said by Lin, who is named: x1.2",
        "dated 2026-07-10, which is in “today” (2026-07-10)",
        "does not hold: sunrise",
        "not asked for, too common: when, did",
        "superseded by a:new",
        "without that the score would be 3.000",
        "weak: holds too little of the query",
    ]


def test_described_when_a_link_or_exact_search_brought_it() -> None:
    assert Explanation(0.5, links=("[[a:y]] of a:x",)).describe() == (
        "score 0.500 in shared memory\nbrought along by [[a:y]] of a:x"
    )
    assert "holds the exact text 3 times" in Explanation(3.0, occurrences=3).describe()
    assert "holds the exact text once" in Explanation(1.0, occurrences=1).describe()


def test_plain_values_survive_json() -> None:
    plain = FULL.as_dict()
    assert json.loads(json.dumps(plain, ensure_ascii=False)) == plain
    assert plain["terms"][0]["shown"] == "painting"
    assert plain["effects"] == ["superseded by a:new"]
    assert plain["lent"][0]["words"] == ["painting", "sunrise"]
    assert plain["factors"][0] == {"reason": "said by Lin, who is named", "times": 1.2}
