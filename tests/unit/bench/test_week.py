"""The week from its script to its report: counts, the endpoint, what is promised, undo, the large vault."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memoranda import Vault
from memoranda_bench.__main__ import main
from memoranda_bench.conditions import conditions
from memoranda_bench.week import command, tables
from memoranda_bench.week.command import broken, measure_week
from memoranda_bench.week.endpoint import OTHERWISE, JudgingEndpoint, judged_reply
from memoranda_bench.week.many import many_promises, measure_many, write_many
from memoranda_bench.week.measured import live_week
from memoranda_bench.week.promises import confusion, expected_outcome, week_promises
from memoranda_bench.week.script import Labelled, PlannedStage, Turn, labelled_notes, planned_week
from memoranda_bench.week.taking_back import Night, differing, expected_trees, read_tree

RULE = Labelled("yes-1", "en", "yes", "common_pitfall", "shop", "developer", "Never log a token, not even at debug.")
DETAIL = Labelled("no-1", "en", "no", "project_detail", "shop", "developer", "The checkout listens on port 8081.")
OPEN = Labelled("ask-1", "zh", "ask", "unknown", "shop", "developer", "队列大概小一点好。")
NOTES = [RULE, DETAIL, OPEN]


def test_the_labelled_notes_are_packaged_and_balanced() -> None:
    notes = labelled_notes()
    assert Counter((note.language, note.verdict) for note in notes) == {
        (language, verdict): 16 for language in ("en", "zh") for verdict in ("yes", "no", "ask")
    }
    assert len({note.text for note in notes}) == len({note.id for note in notes}) == 96


def test_the_script_counts_and_the_same_seed_is_the_same_week() -> None:
    notes = labelled_notes()
    week = planned_week(notes, 3)
    assert len(week) == 40
    assert sorted(Counter(stage.day for stage in week).values()) == [5, 5, 6, 6, 6, 6, 6]
    actions = Counter(turn.action for stage in week for turn in stage.turns)
    assert (actions["note"], actions["say"] + actions["tool"]) == (96, 400)
    assert min(actions.values()) > 90
    placed = {
        (turn.text, stage.project, stage.agent) for stage in week for turn in stage.turns if turn.action == "note"
    }
    assert placed == {(note.text, note.project, note.agent) for note in notes}
    assert week == planned_week(notes, 3)
    assert week != planned_week(notes, 4)
    with pytest.raises(ValueError, match="too few"):
        planned_week(notes, 0, stages=2)


def test_the_endpoint_answers_as_labelled() -> None:
    asked = "\n".join(
        json.dumps({"n": number, "project": "shop", "category": "notes", "note": text})
        for number, text in enumerate((RULE.text, "Something else."), 1)
    )
    reply, notes = judged_reply(asked, {RULE.text: RULE.kind})
    assert [row["kind"] for row in json.loads(reply)["notes"]] == [RULE.kind, OTHERWISE]
    assert notes == [("shop", RULE.text), ("shop", "Something else.")]
    endpoint = JudgingEndpoint({})
    with endpoint:
        assert endpoint.answer({"messages": [{"role": "user", "content": "no notes"}]})[0] == 400
        assert (endpoint.calls, endpoint.notes) == (1, ())


@pytest.mark.parametrize(
    ("label", "ruled", "outcome"),
    [
        ("yes", "yes", "promoted"),
        ("yes", "ask", "promoted"),
        ("yes", "no", "asked"),
        ("no", "no", "kept"),
        ("no", "ask", "kept"),
        ("no", "yes", "asked"),
        ("ask", "yes", "asked"),
        ("ask", "no", "asked"),
        ("ask", "ask", "asked"),
    ],
)
def test_what_a_sleep_has_to_do(label: str, ruled: str, outcome: str) -> None:
    assert expected_outcome(label, ruled) == outcome


def test_files_that_an_undo_does_not_bring_back_are_found(tmp_path: Path) -> None:
    nights = [
        Night("a", {"stage-1": b"1"}, {"stage-1": b"1", "notes": b"x"}),
        Night("b", {"stage-1": b"1", "notes": b"x", "stage-2": b"2"}, {"notes": b"xy", "stage-2": b"2"}),
    ]
    assert expected_trees(nights) == [{"stage-1": b"1", "stage-2": b"2"}, nights[1].before]
    assert differing({"stage-1": b"1", "left": b""}, {"stage-1": b"2"}) == ["left", "stage-1"]
    with Vault.open(tmp_path / "v") as vault:
        vault.remember("notes:a", "text")
    assert "memory/notes.md" in read_tree(str(tmp_path / "v"))
    assert not {"journal.jsonl", "MEMORY.md"} & read_tree(str(tmp_path / "v")).keys()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The figures of a small week, lived."""
    pytest.importorskip("openai")
    return measure_week(str(tmp_path_factory.mktemp("week")), 1, stages=14, turns=28, notes=NOTES)


def test_a_small_week_holds_what_is_promised(small: dict[str, Any]) -> None:
    assert broken(small) == []
    script = {name: small["script"][name] for name in ("stages", "turns", "notes", "seed")}
    assert script == {"stages": 14, "turns": 28, "notes": 3, "seed": 1}
    runs = small["runs"]
    assert runs["model"]["outcomes"] == {"yes-1": "promoted", "no-1": "kept", "ask-1": "asked"}
    assert runs["asked"]["outcomes"] == {"yes-1": "asked", "no-1": "kept", "ask-1": "asked"}
    assert runs["asked"]["answers"] == {"answered": 2, "kept": 2, "origins": 2, "again": 0}
    assert small["confusion"]["zh"]["ask"]["ask"] == 1
    assert all(run["taken_back"]["undone"] == 7 and run["put_aside"] for run in runs.values())


def test_a_small_week_is_reported(small: dict[str, Any]) -> None:
    report = tables.week_report({"conditions": conditions(), **small})
    assert "14 stages over 7 days" in report
    assert "| Chinese | ask | 0 | 0 | 1 | 0 |" in report
    assert "they decide 2, 2 of these as labelled" in report
    assert "**no**" not in report


def test_what_is_not_held_is_told(small: dict[str, Any]) -> None:
    runs = json.loads(json.dumps(small["runs"]))
    runs["rules"]["outcomes"]["no-1"] = "promoted"
    runs["model"]["outcomes"]["ask-1"] = "lost"
    runs["model"]["calls"][0] = 2
    runs["asked"]["answers"]["kept"] = 1
    runs["asked"]["taken_back"] |= {"exact": 6, "faults": ["night 3: memory/notes.md"]}
    promises = week_promises(NOTES, runs)
    told = {one["promise"]: one["figure"] for one in promises if not one["held"]}
    assert told["rules alone: nothing labelled no is promoted"] == "1: no-1"
    assert told["model: every note is decided or is a question"] == "1: ask-1"
    assert told["model: every uncertain note is a question"] == "0 of 2"
    assert told["undo of every sleep, newest first: the files are as before it, byte for byte"] == (
        "20 of 21; asked, night 3: memory/notes.md"
    )
    assert any("one call a sleep" in promise for promise in told)
    assert any("in long-term memory" in promise for promise in told)
    figures = {"conditions": conditions(), **small, "promises": promises}
    assert "| **no** |" in tables.week_report(figures)
    assert broken(figures)[0] == "rules alone: nothing labelled no is promoted (1: no-1)"


def test_too_few_decided_notes_are_told(tmp_path: Path) -> None:
    notes = [DETAIL, OPEN]
    stage = PlannedStage(0, "one", "shop", "developer", tuple(Turn("note", note.text) for note in notes))
    lived = live_week(str(tmp_path / "v"), [stage], notes, promotion="clear").figures
    assert lived["counts"] == {"kept": 1, "asked": 1}
    assert confusion(notes, lived["outcomes"])["en"]["no"] == {"yes": 0, "no": 1, "ask": 0, "lost": 0}
    run = lived | {"taken_back": {"undone": 1, "exact": 1, "faults": []}, "answers": dict.fromkeys(
        ("answered", "kept", "origins", "again"), 0
    )}  # fmt: skip
    promises = week_promises(notes, {"rules": run, "model": run, "asked": run})
    assert {one["promise"]: one["figure"] for one in promises if not one["held"]}[
        "rules alone: 60% of the notes at least are decided"
    ] == "1 of 2 (50.0%)"


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not say what a process took")
def test_a_sleep_over_many_items(tmp_path: Path) -> None:
    figures = measure_many(str(tmp_path), 90, 2)
    assert broken({"many": figures}) == []
    assert figures["after"]["project"] == 90
    report = tables.many_report({"conditions": conditions(), "many": figures})
    assert "90 made-up items" in report
    slow = {**figures, "sleep": {**figures["sleep"], "seconds": 21.0}, "recall": {"asked": 2, "kept": 1, "lost": ["q"]}}
    assert [one["figure"] for one in many_promises(slow) if not one["held"]] == ["21.0 s", "1 of 2"]


def test_the_same_seed_writes_the_same_vault(tmp_path: Path) -> None:
    trees = []
    for name in ("one", "other"):
        write_many(str(tmp_path / name), 30, 5)
        trees.append({path: data for path, data in read_tree(str(tmp_path / name)).items() if path.endswith(".md")})
    assert trees[0] == trees[1]
    assert sum(data.count(b"\n## ") for path, data in trees[0].items() if path.startswith("projects/")) == 30


def test_the_command_tells_by_its_exit_code(
    tmp_path: Path, small: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {}

    def measured(folder: str, seed: int, **more: int) -> dict[str, Any]:
        given.update(more, seed=seed)
        return figures

    monkeypatch.setattr(command, "measure_week", measured)
    figures = dict(small)
    file = tmp_path / "figures.json"
    assert main(["week", "--seed", "4", "--stages", "7", "--turns", "9", "--json", str(file)]) == 0
    assert given == {"seed": 4, "stages": 7, "turns": 9}
    assert json.loads(file.read_text())["script"] == small["script"]
    figures = {**small, "promises": [{"promise": "nothing is lost", "figure": "2", "held": False}]}
    assert main(["week", "--work", str(tmp_path / "work")]) == 1
    assert "not held: nothing is lost (2)" in capsys.readouterr().err
    assert main(["week", "--items", "1"]) == 2
    assert main(["week", "--stages", "0"]) == 2
