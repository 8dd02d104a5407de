"""The quality run from turns to table, and the choice of conversations."""

from __future__ import annotations

import pytest

from memoranda_bench.locomo import Conversation, Question
from memoranda_bench.metrics import score
from memoranda_bench.quality import Answered, ask, numbers, report


def _turn(number: int, text: str) -> dict[str, str]:
    return {
        "conversation": "conv-1",
        "turn": f"D1:{number}",
        "ts": "2023-05-08T13:56:00Z",
        "speaker": "Ana",
        "role": "user",
        "text": text,
    }


def test_numbers() -> None:
    assert numbers("1-3, 7,12", 10) == [1, 2, 3, 7]
    assert numbers("2", 2) == [2]
    for wrong in ("11", "x", ""):
        with pytest.raises(ValueError, match=r"."):
            numbers(wrong, 10)


def test_a_conversation_is_imported_and_asked() -> None:
    turns = (
        _turn(1, "The heron stood in the estuary."),
        _turn(2, "我昨天去了运河边跑步。"),
        _turn(3, "Fine, thanks."),
    )
    asked = (Question("Where was the heron?", ("D1:1",), 4), Question("昨天去哪里跑步", ("D1:2",), 1))
    answered = list(ask(Conversation("conv-1", turns, asked), 1))
    assert [a.question for a in answered] == list(asked)
    assert [a.scores.recall[0] for a in answered] == [1.0, 1.0]
    assert not any(a.empty for a in answered)


def test_report_keeps_category_five_apart() -> None:
    good, bad = score(["a"], {"a"}), score([], {"a"})
    answered = [
        Answered(1, Question("q", ("a",), 4), good, 0.001, False),
        Answered(6, Question("q", ("a",), 1), bad, 0.003, True),
        Answered(6, Question("q", ("a",), 5), bad, 0.002, True),
    ]
    table = [line.split("|") for line in report(answered).split("\n") if line.startswith("|")]
    rows = {cells[1].strip(): [cell.strip() for cell in cells[2:]] for cells in table}
    assert rows["categories 1–4, all"][:3] == ["2", "0.500", "0.500"]
    assert rows["conversations 1–5"][:2] == ["1", "1.000"]
    assert rows["conversations 6–10"][:2] == ["1", "0.000"]
    assert rows["category 5"][-2] == "1"
    assert "median 2.0 ms" in report(answered)
