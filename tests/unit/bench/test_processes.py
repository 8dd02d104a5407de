"""Small real runs of the crash and the concurrency measurement, and that a loss would be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda_bench import concurrent as crowd
from memoranda_bench import crash as crashing
from memoranda_bench.__main__ import main
from memoranda_bench.processes import read_journal, table


def test_a_killed_writer_loses_nothing(tmp_path: Path) -> None:
    rows, fine = crashing.crash(str(tmp_path / "v"), writes=12, kills=2, categories=2, seed=3)
    assert fine, rows
    assert rows["writes acknowledged"] == 12
    assert rows["kills"] == 2


def test_two_processes_write_one_category(tmp_path: Path) -> None:
    rows, fine = crowd.concurrent(str(tmp_path / "v"), processes=2, writes=4)
    assert fine, rows
    assert rows["on disk"] == 8
    assert rows["acknowledged and lost"] == 0


def test_a_lost_write_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crashing, "item_text", lambda name: f"never written: {name}")
    rows, fine = crashing.crash(str(tmp_path / "v"), writes=3, kills=0)
    assert not fine
    assert rows["acknowledged and lost"] == 3
    monkeypatch.setattr(crowd, "_headings", lambda path: set())
    rows, fine = crowd.concurrent(str(tmp_path / "w"), processes=1, writes=2)
    assert not fine
    assert rows["acknowledged and lost"] == 2


def test_torn_journal_lines_are_counted(tmp_path: Path) -> None:
    assert read_journal(str(tmp_path)) == ([], 0)
    (tmp_path / "journal.jsonl").write_bytes('{"id": "1", "t": "\u2028"}\n[1]\n{"id": "2'.encode())
    assert read_journal(str(tmp_path)) == ([{"id": "1", "t": "\u2028"}], 2)


def test_table() -> None:
    assert table({"a": 1}) == "| figure | value |\n| --- | --- |\n| a | 1 |"


def test_a_wrong_call_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["quality", "--data", str(tmp_path)]) == 2
    assert "locomo10.json" in capsys.readouterr().err
