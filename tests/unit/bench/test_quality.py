"""The quality run from documents to table: choice of conversations, groups, comparison, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoranda_bench import quality, quality_tables
from memoranda_bench.__main__ import main
from memoranda_bench.datasets import Collection, DataSet, Document, Question
from memoranda_bench.quality import Answered, ask, chosen, groups, measure, numbers
from memoranda_bench.systems import SystemMissing


def _turn(number: int, text: str, conversation: str = "conv-1") -> Document:
    return Document(f"D1:{number}", text, "Ana", "2023-05-08T13:56:00Z", "8 May", number, conversation)


def _conversation(number: int, *questions: Question) -> Collection:
    name = f"conv-{number}"
    said = ("The heron stood in the estuary.", "我昨天去了运河边跑步。", "Fine, thanks.")
    return Collection(name, number, tuple(_turn(n, text, name) for n, text in enumerate(said, 1)), questions, 1)


HERON = Question("Where was the heron?", {"D1:1": 1}, 4)
CANAL = Question("昨天去哪里跑步", {"D1:2": 1}, 1)
WRONG = Question("Which zeppelin?", {"D1:3": 1}, 5)


def test_numbers() -> None:
    assert numbers("1-3, 7,12", 10) == [1, 2, 3, 7]
    assert numbers("2", 2) == [2]
    assert numbers("1-999999999999", 3) == [1, 2, 3]
    for wrong in ("11", "x", ""):
        with pytest.raises(ValueError, match=r"."):
            numbers(wrong, 10)


def test_conversations_are_chosen_where_there_are_several() -> None:
    two = DataSet("locomo", "en", (_conversation(1), _conversation(2)))
    assert [c.number for c in chosen(two, "2-9")] == [2]
    assert [c.number for c in chosen(two, None)] == [1, 2]
    one = DataSet("cranfield", "en", (_conversation(1),))
    assert [c.number for c in chosen(one, "6-10")] == [1]


def test_a_conversation_is_asked() -> None:
    answered = list(ask(_conversation(1, HERON, CANAL, WRONG), "en", "ours"))
    assert [a.question for a in answered] == [HERON, CANAL, WRONG]
    assert [a.scores.recall[0] for a in answered] == [1.0, 1.0, 0.0]
    assert [a.empty for a in answered] == [False, False, True]


def _group_names(tuned: tuple[int, ...], conversations: str | None) -> list[str]:
    collections = tuple(_conversation(n, HERON, WRONG) for n in (1, 2, 3))
    data_set = DataSet("locomo", "en", collections, tuned)
    return [group.name for group in groups(data_set, chosen(data_set, conversations))]


def test_what_was_tuned_on_is_reported_apart() -> None:
    categories = ["category 1", "category 2", "category 3", "category 4", "category 5 (apart)"]
    both = [
        "categories 1–4, all",
        "categories 1–4, conversations 1–2 (tuned on)",
        "categories 1–4, conversation 3",
    ]
    assert _group_names((1, 2), None) == both + categories
    assert _group_names((1, 2), "3") == ["categories 1–4, conversation 3", *categories]
    assert _group_names((), None) == ["categories 1–4, conversations 1–3", *categories]
    passages = DataSet("cranfield", "en", (Collection("cranfield", 1, (), (Question("q", {"1": 1}),)),))
    assert [group.name for group in groups(passages, passages.collections)] == ["all"]


def test_category_five_is_no_part_of_the_others() -> None:
    data_set = DataSet("locomo", "en", (_conversation(1, HERON, CANAL, WRONG), _conversation(2, WRONG)), (1,))
    result = measure(data_set, ["ours", "grep"], baseline="grep")
    by_group = result["systems"]["ours"]["groups"]
    assert {name: (g["n"], g["recall"]["1"], g["empty"]) for name, g in by_group.items()} == {
        "categories 1–4, all": (2, 1.0, 0),
        "categories 1–4, conversation 1 (tuned on)": (2, 1.0, 0),
        "category 1": (1, 1.0, 0),
        "category 4": (1, 1.0, 0),
        "category 5 (apart)": (2, 0.0, 2),
    }
    assert result["dropped"] == 2
    # grep knows no Chinese word boundaries in an English set: one question of two.
    gains = {(g["group"], g["system"]): g["R@10"]["mean"] for g in result["gains"]}
    assert gains == {("categories 1–4, all", "ours"): 0.5, ("category 5 (apart)", "ours"): 0.0}
    text = quality_tables.set_report(result)
    assert "| category 5 (apart) | ours | 2 | 0.000 |" in text
    assert "| category 5 (apart) | ours | 2 | +0.000 [+0.000, +0.000] |" in text
    assert "100.0%" in text


def test_a_gain_is_that_of_the_same_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = {"ours": ["D1:1"], "grep": ["D1:9", "D1:1"]}

    def answer(collection: Collection, language: str, system: str, **_: object) -> list[Answered]:
        return [Answered(1, q, quality.score(ranks[system], q.relevant), 0.002, False) for q in collection.questions]

    monkeypatch.setattr(quality, "ask", answer)
    data_set = DataSet("x", "en", (_conversation(1, HERON, HERON),))
    [gain] = measure(data_set, ["ours"], baseline="grep")["gains"]
    assert gain["MRR"] == {"mean": 0.5, "lower": 0.5, "upper": 0.5}
    assert gain["R@10"]["mean"] == 0.0


def test_what_is_not_installed_is_left_out_unless_it_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(name: str, language: str, **_: object) -> None:
        raise SystemMissing("x is not installed: pip install x")

    monkeypatch.setattr(quality, "create", create)
    data_set = DataSet("x", "en", (_conversation(1, HERON),))
    result = measure(data_set, ["bm25s"])
    assert result["skipped"] == {"bm25s": "x is not installed: pip install x"}
    assert result["baseline"] is None
    assert "left out" in quality_tables.set_report(result)
    with pytest.raises(SystemMissing):
        measure(data_set, ["bm25s"], strict=True)


def _data(folder: Path) -> str:
    samples = [
        {
            "sample_id": f"conv-{number}",
            "conversation": {
                "session_1_date_time": "1:00 pm on 1 May, 2023",
                "session_1": [
                    {"speaker": "Ana", "dia_id": "D1:1", "text": f"The {bird} stood in the estuary."},
                    {"speaker": "Bob", "dia_id": "D1:2", "text": "Fine, thanks."},
                ],
            },
            "qa": [{"question": f"Where did Ana's {bird} stand?", "evidence": ["D1:1"], "category": 4}],
        }
        for number, bird in ((1, "heron"), (2, "stork"))
    ]
    (folder / "locomo10.json").write_text(json.dumps(samples))
    return str(folder)


def test_the_command_prints_tables_and_writes_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "q.json"
    call = ["quality", "--data", _data(tmp_path), "--system", "ours", "--system", "grep", "--json", str(figures)]
    assert main([*call, "--baseline", "grep"]) == 0
    out = capsys.readouterr().out
    assert "## locomo" in out
    assert "## unanswerable (en)" in out
    assert [one["set"] for one in json.loads(figures.read_text())] == ["locomo", "unanswerable"]


def test_wrong_calls_end_with_one_line_and_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = _data(tmp_path)
    for call in (
        ["--data", str(tmp_path / "nowhere")],
        ["--data", data, "--set", "cmrc2018"],
        ["--data", data, "--system", "oracle"],
        ["--data", data, "--set", "locomo", "--conversations", "x"],
    ):
        assert main(["quality", *call]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("memoranda-bench: ")
        assert err.count("\n") == 1


def test_turns_are_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "locomo", "--data", _data(tmp_path), "--out", "-"]) == 0
    first, second, third, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["conversation"], first["turn"], first["ts"]) == ("conv-1", "D1:1", "2023-05-01T13:00:00Z")
    assert (second["speaker"], second["role"], second["text"]) == ("Bob", "user", "Fine, thanks.")
    assert (third["conversation"], third["turn"]) == ("conv-2", "D1:1")
