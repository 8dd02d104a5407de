"""Reading LoCoMo: dates, malformed evidence, and what becomes a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memoranda_bench.locomo import DataMissing, Question, load, parse_date, repair_evidence

IDS = {"D1:1", "D4:4", "D8:6", "D9:1", "D9:17", "D11:26", "D30:5"}


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z"),
        ("12:30 pm on 29 February, 2024", "2024-02-29T12:30:00Z"),
        ("9:05 AM on 4 january 2024", "2024-01-04T09:05:00Z"),
    ],
)
def test_session_dates(text: str, iso: str) -> None:
    assert parse_date(text) == iso


@pytest.mark.parametrize(
    "text",
    ["", "8 May, 2023", "1:56 pm on 8 Mai, 2023", "13:56 pm on 8 May, 2023", "1:56 pm on 31 June, 2023"],
)
def test_what_is_no_session_date(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_date(text)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["D1:1"], ("D1:1",)),
        (["D8:6; D9:17"], ("D8:6", "D9:17")),
        (["D9:1 D4:4 D4:4"], ("D9:1", "D4:4")),
        (["D:11:26"], ("D11:26",)),
        (["D30:05"], ("D30:5",)),
        (["D"], ()),
        (["D10:19", "D1:1", "D1:1"], ("D1:1",)),
        ([], ()),
    ],
)
def test_evidence_is_repaired(written: list[str], meant: tuple[str, ...]) -> None:
    assert repair_evidence(written, IDS) == meant


def _sample() -> dict[str, Any]:
    return {
        "sample_id": "conv-7",
        "conversation": {
            "speaker_a": "A",
            "session_10_date_time": "1:00 pm on 2 May, 2023",
            "session_10": [{"speaker": "A", "dia_id": "D10:1", "text": "later"}],
            "session_2_date_time": "1:00 pm on 1 May, 2023",
            "session_2": [{"speaker": "B", "dia_id": "D2:1", "text": "look", "blip_caption": "a cat"}],
            "session_11_date_time": "1:00 pm on 3 May, 2023",
        },
        "qa": [
            {"question": "What?", "evidence": ["D2:01"], "category": 4},
            {"question": "Who?", "evidence": ["D2:9"], "category": 1},
        ],
    }


@pytest.mark.parametrize("below", ["locomo", "data/locomo", "."])
def test_turns_in_order_and_usable_questions(tmp_path: Path, below: str) -> None:
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    (tmp_path / below / "locomo10.json").write_text(json.dumps([_sample()]))
    [conversation] = load(str(tmp_path))
    assert [(t["turn"], t["ts"], t["speaker"], t["text"]) for t in conversation.turns] == [
        ("D2:1", "2023-05-01T13:00:00Z", "B", "look"),
        ("D10:1", "2023-05-02T13:00:00Z", "A", "later"),
    ]
    assert conversation.questions == (Question("What?", ("D2:1",), 4),)
    assert conversation.dropped == 1
    assert load(str(tmp_path), captions=True)[0].turns[0]["text"] == "look [photo: a cat]"


def test_audited_citations(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text(json.dumps([_sample()]))
    audit = [
        {"question_id": "locomo_0_qa0", "error_type": "WRONG_CITATION", "correct_evidence": ["D10:1"]},
        {"question_id": "locomo_0_qa1", "error_type": "HALLUCINATION", "correct_evidence": ["D10:1"]},
    ]
    (tmp_path / "audit-corrections.json").write_text(json.dumps(audit))
    assert load(str(tmp_path), corrected=True)[0].questions == (Question("What?", ("D10:1",), 4),)


def test_missing_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORANDA_BENCH_DATA", raising=False)
    with pytest.raises(DataMissing, match="--data"):
        load(None)
    with pytest.raises(DataMissing, match="locomo10"):
        load(str(tmp_path))
    with pytest.raises(DataMissing, match="there are"):
        load(str(tmp_path), "trec")
    monkeypatch.setenv("MEMORANDA_BENCH_DATA", str(tmp_path))
    with pytest.raises(DataMissing, match="locomo10"):
        load(None)
