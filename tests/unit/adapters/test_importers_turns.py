"""Turns from JSON lines: what is read, what is reported, and that the rest goes on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.turns import check_record, read_turns
from memoranda.core.errors import NotFound, UsageError
from memoranda.core.model import Problem, Turn

GOOD = {"conversation": "c1", "turn": "1", "text": "hello"}


def _read(tmp_path: Path, data: bytes) -> list[Turn | Problem]:
    file = tmp_path / "turns.jsonl"
    file.write_bytes(data)
    return list(read_turns(str(file)))


def _problem(record: object) -> Problem:
    found = check_record(record, "x.jsonl", 7)
    assert isinstance(found, Problem)
    assert (found.path, found.line) == ("x.jsonl", 7)
    return found


def test_a_whole_record(tmp_path: Path) -> None:
    record = GOOD | {"ts": "2026-07-10T03:00:00Z", "speaker": "林", "role": "user", "mood": ["calm"], "n": 1}
    assert _read(tmp_path, json.dumps(record).encode()) == [
        Turn("c1", "1", "hello", "2026-07-10T03:00:00Z", "林", "user", {"mood": ["calm"], "n": 1})
    ]


def test_number_as_turn_null_and_empty_text() -> None:
    record = {"conversation": "c1", "turn": 12, "text": "", "ts": None, "speaker": None}
    assert check_record(record, "", 1) == Turn("c1", "12", "")


def test_bom_crlf_blank_lines_and_a_missing_last_newline(tmp_path: Path) -> None:
    line = json.dumps(GOOD).encode()
    found = _read(tmp_path, b"\xef\xbb\xbf" + line + b"\r\n\r\n \t\n" + line + b"\n" + line)
    assert found == [Turn("c1", "1", "hello")] * 3


def test_only_a_newline_ends_a_record(tmp_path: Path) -> None:
    text = "one\u2028two\u2029three\x85four\x0bfive"
    line = json.dumps(GOOD | {"text": text}, ensure_ascii=False, separators=(",", ":"))
    line = line.replace("\\u000b", "\x0b")
    [turn] = _read(tmp_path, line.replace("\x0b", "\\u000b").encode() + b"\n")
    assert isinstance(turn, Turn)
    assert turn.text == text


def test_a_bad_line_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = json.dumps(GOOD).encode() + b"\n"
    bad = [
        b'{"conversation": "c1",\n',
        b"[1]\n",
        b'{"text":"\xff\xfe"}\n',
        b"[" * 200_000 + b"\n",
        b"nul\x00\n",
    ]
    found = _read(tmp_path, good + good.join([*bad, b""]))
    problems = [p for p in found if isinstance(p, Problem)]
    assert [(p.line, p.kind) for p in problems] == [
        (2, "json"),
        (4, "record"),
        (6, "encoding"),
        (8, "json"),
        (10, "json"),
    ]
    assert sum(isinstance(t, Turn) for t in found) == 6


def test_utf16_is_one_problem(tmp_path: Path) -> None:
    found = _read(tmp_path, (json.dumps(GOOD) + "\n").encode("utf-16") * 3)
    assert [(type(p), getattr(p, "kind", "")) for p in found] == [(Problem, "encoding")]


@pytest.mark.parametrize(
    ("change", "kind", "word"),
    [
        ({"conversation": None}, "record", "missing"),
        ({"conversation": " "}, "record", "empty"),
        ({"conversation": 3}, "record", "a number"),
        ({"conversation": "a/b"}, "id", "'/'"),
        ({"conversation": "a#b"}, "id", "'#'"),
        ({"conversation": "a\nb"}, "id", "control"),
        ({"conversation": "a\ud800"}, "id", "control"),
        ({"turn": ""}, "record", "empty"),
        ({"turn": True}, "record", "true or false"),
        ({"turn": 1.5}, "record", "a number"),
        ({"turn": "a#b"}, "id", "'#'"),
        ({"turn": "../x"}, "id", "'/'"),
        ({"text": None}, "record", "missing"),
        ({"text": ["a"]}, "record", "a list"),
        ({"ts": 1690000000}, "record", "a number"),
        ({"ts": "yesterday"}, "ts", "yesterday"),
        ({"ts": "2026-13-01"}, "ts", "2026-13-01"),
        ({"speaker": {}}, "record", "an object"),
        ({"role": 1}, "record", "a number"),
    ],
)
def test_what_is_no_turn(change: dict[str, Any], kind: str, word: str) -> None:
    problem = _problem(GOOD | change)
    assert problem.kind == kind
    assert word in problem.message


@pytest.mark.parametrize("ts", ["2026-07-10", "2026-07-10T03:00:00+08:00", "2026-07-10 03:00", "20260710T030000Z"])
def test_iso_times(ts: str) -> None:
    found = check_record(GOOD | {"ts": ts}, "", 1)
    assert isinstance(found, Turn)
    assert found.ts == ts


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: (
            st.dictionaries(st.sampled_from(["conversation", "turn", "text", "ts", "speaker", "role", "x"]), x)
            | st.lists(x)
        ),
    )
)
def test_any_json_is_a_turn_or_a_problem(value: object) -> None:
    assert isinstance(check_record(value, "", 1), Turn | Problem)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(json.dumps(GOOD).encode() + b"\n{\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    turn, problem = read_turns("-")
    assert turn == Turn("c1", "1", "hello")
    assert isinstance(problem, Problem)
    assert str(problem).startswith("standard input:2: ")


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        list(read_turns(str(tmp_path / "nowhere.jsonl")))
    with pytest.raises(UsageError):
        list(read_turns(str(tmp_path)))
