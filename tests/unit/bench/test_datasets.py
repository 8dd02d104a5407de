"""Reading the data sets: dates, malformed evidence, graded judgements, questions that nothing answers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memoranda_bench import datasets
from memoranda_bench.datasets import DataMissing, Options, Question, SetSkipped
from memoranda_bench.datasets.locomo import parse_date, repair_evidence
from memoranda_bench.datasets.unanswerable import without_names

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


def _sample(name: str = "conv-7", speakers: tuple[str, str] = ("Ana", "Bob")) -> dict[str, Any]:
    first, second = speakers
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": first,
            "session_10_date_time": "1:00 pm on 2 May, 2023",
            "session_10": [{"speaker": first, "dia_id": "D10:1", "text": "later"}],
            "session_2_date_time": "1:00 pm on 1 May, 2023",
            "session_2": [{"speaker": second, "dia_id": "D2:1", "text": "look", "blip_caption": "a cat"}],
            "session_11_date_time": "1:00 pm on 3 May, 2023",
        },
        "qa": [
            {"question": f"What is {first}'s dog called?", "evidence": ["D2:01"], "category": 4},
            {"question": "Who?", "evidence": ["D2:9"], "category": 1},
        ],
    }


def _locomo(folder: Path, *samples: dict[str, Any]) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "locomo10.json").write_text(json.dumps(samples or [_sample()]))
    return str(folder)


@pytest.mark.parametrize("below", ["locomo", "data/locomo", "."])
def test_turns_in_order_and_usable_questions(tmp_path: Path, below: str) -> None:
    _locomo(tmp_path / below)
    [data_set] = datasets.load("locomo", str(tmp_path))
    [conversation] = data_set.collections
    assert [d.as_turn() for d in conversation.documents] == [
        {
            "conversation": "conv-7",
            "turn": "D2:1",
            "ts": "2023-05-01T13:00:00Z",
            "speaker": "Bob",
            "role": "user",
            "text": "look",
        },
        {
            "conversation": "conv-7",
            "turn": "D10:1",
            "ts": "2023-05-02T13:00:00Z",
            "speaker": "Ana",
            "role": "user",
            "text": "later",
        },
    ]
    assert conversation.documents[0].shown() == "[1:00 pm on 1 May, 2023] Bob: look"
    assert conversation.documents[0].shown(dated=False) == "Bob: look"
    assert [d.order for d in conversation.documents] == [0, 1]
    assert conversation.questions == (Question("What is Ana's dog called?", {"D2:1": 1}, 4),)
    assert conversation.dropped == 1
    [with_captions] = datasets.load("locomo", str(tmp_path), Options(captions=True))
    assert with_captions.collections[0].documents[0].text == "look [photo: a cat]"


def test_audited_citations(tmp_path: Path) -> None:
    data = _locomo(tmp_path)
    audit = [
        {"question_id": "locomo_0_qa0", "error_type": "WRONG_CITATION", "correct_evidence": ["D10:1"]},
        {"question_id": "locomo_0_qa1", "error_type": "HALLUCINATION", "correct_evidence": ["D10:1"]},
    ]
    (tmp_path / "audit-corrections.json").write_text(json.dumps(audit))
    [data_set] = datasets.load("locomo", data, Options(corrected=True))
    assert [dict(q.relevant) for q in data_set.collections[0].questions] == [{"D10:1": 1}]


def test_missing_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORANDA_BENCH_DATA", raising=False)
    with pytest.raises(DataMissing, match="--data"):
        datasets.load("locomo", None)
    with pytest.raises(DataMissing, match="--data"):
        datasets.present(None)
    with pytest.raises(DataMissing, match="locomo10"):
        datasets.load("unanswerable", str(tmp_path))
    with pytest.raises(DataMissing, match="locomo10"):
        datasets.present(str(tmp_path))
    with pytest.raises(DataMissing, match="there are"):
        datasets.load("trec", str(tmp_path))
    monkeypatch.setenv("MEMORANDA_BENCH_DATA", str(tmp_path))
    with pytest.raises(DataMissing, match="cmrc2018"):
        datasets.load("cmrc2018", None)


def test_cranfield_queries_are_numbered_by_position(tmp_path: Path) -> None:
    (tmp_path / "cran.all.1400.xml").write_text(
        "<doc>\n<docno>1</docno>\n<title>a\n.</title><text>a\n. wings &amp; tails</text></doc>\n"
        "<doc><docno>2</docno><title>none</title><text>\n</text></doc>\n"
        "<doc><docno>3</docno><title>b</title><text>b flow</text></doc>\n"
    )
    (tmp_path / "cran.qry.xml").write_text(
        "<xml><top><num> 7</num><title>\nwhat\nwings .\n</title></top>"
        "<top><num> 9</num><title>which flow</title></top><top><num>11</num><title>nothing</title></top></xml>"
    )
    (tmp_path / "cranqrel.trec.txt").write_text("1 0 1 3\n1 0 3 1\n2 0 3 2\n2 0 1 0\n2 0 2 1\n3 0 2 1\n")
    [data_set] = datasets.load("cranfield", str(tmp_path))
    [collection] = data_set.collections
    assert [(d.id, d.text) for d in collection.documents] == [("1", "a . wings & tails"), ("3", "b flow")]
    assert collection.questions == (
        Question("what wings .", {"1": 3, "3": 1}),
        Question("which flow", {"3": 2}),
    )
    assert collection.dropped == 1
    assert not collection.documents[0].is_turn


def test_cmrc2018_asks_for_the_passage(tmp_path: Path) -> None:
    passage = {"id": "DEV_0", "context": "运河\n很长。", "qas": [{"question": "什么很长？", "id": "q", "answers": []}]}
    (tmp_path / "cmrc2018_dev.json").write_text(json.dumps({"data": [{"paragraphs": [passage]}]}))
    [data_set] = datasets.load("cmrc2018", str(tmp_path))
    [collection] = data_set.collections
    assert [(d.id, d.text) for d in collection.documents] == [("DEV_0", "运河 很长。")]
    assert collection.questions == (Question("什么很长？", {"DEV_0": 1}),)


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("What is Ana's dog called?", "What is dog called?"),
        ("Does ANA like Bob’s boat?", "Does like boat?"),
        ("Ana什么时候去的？", "什么时候去的？"),
        ("Ana的狗和Bob的船", "狗和 船"),
        ("Analysis by James' brother, James.", "Analysis by brother,."),
        ("Is it Ana?", "Is it?"),
    ],
)
def test_names_are_taken_out(question: str, bare: str) -> None:
    assert without_names(question, {"Ana", "Bob", "James"}) == bare


def test_unanswerable_questions_come_from_another_conversation(tmp_path: Path) -> None:
    data = _locomo(tmp_path, _sample("one", ("Ana", "Bob")), _sample("two", ("Cid", "Bob")))
    [data_set] = datasets.load("unanswerable", data)
    assert datasets.present(data) == ["locomo", "unanswerable"]
    assert [[(q.text, dict(q.relevant)) for q in c.questions] for c in data_set.collections] == [
        [("What is Ana's dog called?", {"D2:1": 1}), ("What is dog called?", {})],
        [("What is Cid's dog called?", {"D2:1": 1}), ("What is dog called?", {})],
    ]


def test_one_conversation_has_no_other_to_take_questions_from(tmp_path: Path) -> None:
    with pytest.raises(SetSkipped, match="one conversation"):
        datasets.load("unanswerable", _locomo(tmp_path))


def test_documents_say_why_they_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "questions.jsonl").write_text('{"id": "q1"}\n\n{"id": "q2"}\n')
    assert datasets.present(str(tmp_path)) == ["docs"]
    with pytest.raises(SetSkipped, match="2 questions"):
        datasets.load("docs", str(tmp_path))


@pytest.mark.skipif("MEMORANDA_BENCH_DATA" not in os.environ, reason="MEMORANDA_BENCH_DATA names no data")
@pytest.mark.parametrize(
    ("name", "collections", "documents", "questions"),
    [
        ("locomo", 10, 5882, 1982),
        ("locomo-zh", 2, 788, 302),
        ("locomo-zh-en", 2, 788, 302),
        ("cmrc2018", 1, 848, 3219),
        ("cranfield", 1, 1398, 225),
    ],
)
def test_the_real_sets_are_whole(name: str, collections: int, documents: int, questions: int) -> None:
    try:
        [data_set] = datasets.load(name, None)
    except DataMissing as error:
        pytest.skip(str(error))
    assert len(data_set.collections) == collections
    assert sum(len(c.documents) for c in data_set.collections) == documents
    assert sum(len(c.questions) for c in data_set.collections) == questions
