"""memU by its command: what is told to it, and what is made of whatever it prints."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.adapters.backends import memu
from memoranda.adapters.backends.commands import Output
from memoranda.adapters.backends.interface import Committed, Retrieved
from memoranda.adapters.backends.memu import MemU

TURN = {"conversation": "c1", "turn": "1", "speaker": "Lin", "text": "I like\nthe sea."}
#: As memU 0.10 prints.
FOUND = {
    "segments": [
        {"id": "s1", "recall_file_id": "f1", "track": "memory", "text": "Lin: I like the sea.", "score": 0.9},
        {"id": "s2", "recall_file_id": "f2", "track": "memory", "text": "An older note.", "score": 0.5},
    ],
    "files": [
        {"id": "f1", "name": "c1#1", "track": "memory", "content": "Lin: I like the sea.", "score": 0.9},
        {"id": "f2", "name": "profile", "track": "memory", "content": "An older note.", "score": 0.5},
    ],
    "resources": [{"id": "r1", "url": "/a.png", "caption": "A photograph of the sea.", "score": 0.7}],
}


class Command:
    """In the place of the command: what it was run with, and what it prints."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.runs: list[tuple[list[str], dict[str, str], str, float]] = []

    def __call__(self, command: list[str], environment: dict[str, str], given: str, seconds: float) -> Output:
        self.runs.append((command, environment, given, seconds))
        return self.outputs.pop(0)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    made = Command()
    monkeypatch.setattr(memu, "run_command", made)
    return made


def printed(answer: Any, code: int = 0, err: str = "") -> Output:
    return Output(code, answer if isinstance(answer, str) else json.dumps(answer, indent=2), err)


def test_what_was_found_comes_best_first_with_the_turns_that_it_came_from(command: Command) -> None:
    command.outputs = [printed(FOUND), printed(FOUND)]
    assert MemU().retrieve("sea", 5) == Retrieved(
        ("Lin: I like the sea.", "A photograph of the sea.", "An older note."), ("c1#1", "", "")
    )
    assert MemU().retrieve("sea", 1).texts == ("Lin: I like the sea.",)


def test_the_query_is_no_option_and_what_cannot_be_an_argument_is_not_handed_over(command: Command) -> None:
    command.outputs = [printed(FOUND), printed(FOUND)]
    MemU("/opt/memu", timeout=7).retrieve("--json\0\ud800", 5)
    MemU().retrieve("海" * 100_000, 5)
    assert command.runs[0][0] == ["/opt/memu", "retrieve", "--json", "--", "--json ?"]
    assert command.runs[0][3] == 7
    assert len(os.fsencode(command.runs[1][0][-1])) < 128 * 1024


@pytest.mark.parametrize(("query", "k"), [("", 5), (" \n", 5), ("\0", 5), ("sea", 0)])
def test_nothing_is_run_for_nothing(command: Command, query: str, k: int) -> None:
    assert MemU().retrieve(query, k) == Retrieved()
    assert MemU().commit([]) == Committed()
    assert command.runs == []


def test_what_is_named_is_told_by_variables_and_what_is_not_is_left_to_memu(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MEMU_KEY", "made-up-key-0123456789")
    command.outputs = [printed(FOUND)] * 3
    MemU().retrieve("sea", 5)
    MemU(database="/d/memu.sqlite3", base_url="http://127.0.0.1:1/v1", model="e5").retrieve("sea", 5)
    MemU(key="env:TEST_MEMU_KEY", base_url="https://example.org/v1").retrieve("sea", 5)
    bare, local, keyed = (environment for _, environment, _, _ in command.runs)
    assert bare == {"MEMU_TELEMETRY": "0", "MEMU_EVENTS_BASE_URL": "", "PYTHONIOENCODING": "utf-8"}
    assert local == bare | {
        "MEMU_DB": "/d/memu.sqlite3",
        "MEMU_MEMORY_MODE": "local",
        "MEMU_BASE_URL": "http://127.0.0.1:1/v1",
        "MEMU_EMBED_PROVIDER": "openai",
        "MEMU_EMBED_MODEL": "e5",
        "MEMU_API_KEY": "none",
    }
    assert keyed["MEMU_API_KEY"] == "made-up-key-0123456789"
    assert not any("made-up-key" in word for arguments, *_ in command.runs for word in arguments)


def test_a_turn_is_committed_as_one_file_of_one_line(command: Command) -> None:
    command.outputs = [printed({"recall_files": [{"name": "c1#1"}], "resources": []})]
    assert MemU().commit([TURN]) == Committed(1)
    arguments, _, given_, _ = command.runs[0]
    assert arguments == ["memu", "commit", "--json", "-"]
    file = {"name": "c1#1", "track": "memory", "description": "", "content": "Lin: I like the sea."}
    assert json.loads(given_) == {"recall_files": [file], "resource": []}


def test_many_turns_are_committed_in_parts_up_to_the_first_that_fails(command: Command) -> None:
    turns = [TURN | {"turn": str(number)} for number in range(150)]
    command.outputs = [printed({"recall_files": [{}] * 64}), printed("", 1, "Traceback\nerror: disk full\n")]
    assert MemU().commit(turns) == Committed(64, "memU failed (1): disk full")
    command.outputs = [printed({"recall_files": [{}] * 64})] * 2 + [printed({"recall_files": [{}] * 22})]
    assert MemU().commit(turns) == Committed(150)


@pytest.mark.parametrize(
    ("answer", "held"),
    [({"recall_files": []}, 0), ({}, 0), ({"recall_files": "all"}, 0), ({"recall_files": [1, 2]}, 2)],
)
def test_a_commit_that_did_not_keep_all_says_so(command: Command, answer: Any, held: int) -> None:
    command.outputs = [printed(answer)]
    assert MemU().commit([TURN]) == Committed(0, f"memU kept {held} of 1 turns")


@pytest.mark.parametrize("turn", [{}, {"conversation": "c", "turn": "1"}, {"text": "a"}, None])
def test_what_is_no_turn_is_refused_before_anything_is_run(command: Command, turn: Any) -> None:
    committed = MemU().commit([TURN, turn])
    assert committed.count == 0
    assert "conversation, turn and text are needed" in committed.fault
    assert command.runs == []


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (printed("", 1, "error: Connection error.\n\n"), r"memU failed \(1\): Connection error\."),
        (printed("", -9), r"memU failed \(-9\)$"),
        (printed("", 1, "error: Error code: 401 - wrong key made-up-ke***\n"), "does not accept the key"),
        (printed(""), "no JSON"),
        (printed("nothing to see"), "no JSON"),
        (printed('{"segments": ['), "no JSON"),
        (printed("[" * 100_000), "no JSON"),
        (printed("{\n" * 100_000), "no JSON"),
    ],
)
def test_what_went_wrong_is_said_and_not_raised(command: Command, output: Output, why: str) -> None:
    command.outputs = [output, output]
    found = MemU().retrieve("sea", 5)
    assert found.texts == ()
    committed = MemU().commit([TURN])
    assert committed.count == 0
    for said in (found.unavailable, committed.fault):
        assert re.search(why, said)
        assert "made-up" not in said


def test_what_is_printed_around_the_answer_is_passed_over(command: Command) -> None:
    command.outputs = [printed("WARNING {deprecated}\n{half\n" + json.dumps(FOUND) + "\nbye\n")]
    assert len(MemU().retrieve("sea", 5).texts) == 3


@pytest.mark.parametrize("score", ["9" * 400, "NaN", "Infinity", '"high"', "null", "true"])
def test_a_score_that_is_none_does_not_cost_the_text(command: Command, score: str) -> None:
    command.outputs = [printed(json.dumps(FOUND).replace("0.9", score))]
    assert sorted(MemU().retrieve("sea", 5).texts)[2] == "Lin: I like the sea."


def test_whatever_else_happens_is_said_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> Output:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(memu, "run_command", fail)
    assert MemU().retrieve("sea", 5).unavailable == "memU cannot be asked (RuntimeError)"
    assert MemU().commit([TURN]) == Committed(0, "memU cannot be asked (RuntimeError)")


def test_a_missing_command_says_what_to_install() -> None:
    assert MemU("no-such-command-here").retrieve("sea", 5).unavailable.endswith("pip install memu-cli")
    assert MemU("no-such-command-here").commit([TURN]).fault.endswith("pip install memu-cli")


def test_a_key_that_is_not_there_is_named(command: Command) -> None:
    assert "NO_SUCH_KEY_HERE" in MemU(key="env:NO_SUCH_KEY_HERE").retrieve("sea", 5).unavailable
    assert command.runs == []


@pytest.mark.skipif(os.name == "nt", reason="the script begins with #!")
def test_a_command_that_hangs_is_given_up_on(tmp_path: Path) -> None:
    script = tmp_path / "memu"
    script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    script.chmod(0o700)
    made = MemU(str(script), timeout=0.5)
    assert made.retrieve("sea", 5).unavailable == "memU: memu was not done in 0.5 s"
    assert made.commit([TURN]).fault == "memU: memu was not done in 0.5 s"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
HITS = st.fixed_dictionaries(
    {}, optional={"text": VALUES, "caption": VALUES, "score": VALUES, "id": VALUES, "recall_file_id": VALUES}
)
LAYERS = st.lists(HITS | VALUES, max_size=3) | VALUES
ANSWERS = st.fixed_dictionaries({}, optional={"segments": LAYERS, "files": LAYERS, "resources": LAYERS})


@given(out=st.text(max_size=40) | (ANSWERS | VALUES).map(json.dumps), k=st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_printed_is_texts_or_a_reason(command: Command, out: str, k: int) -> None:
    command.outputs = [printed(out)]
    found = MemU().retrieve("sea", k)
    assert len(found.texts) == len(found.sources) <= k
    assert all(isinstance(text, str) and text.strip() for text in found.texts)
    assert not (found.texts and found.unavailable)
