"""demo."""

from __future__ import annotations

from pathlib import Path

from functional.driving import Cli
from memoranda.demo import QUERIES


def test_demo_answers_and_leaves_nothing_behind(cli: Cli, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    ran = cli("demo", env={"TMPDIR": str(room), "TEMP": str(room), "TMP": str(room)})
    assert (ran.code, ran.err) == (0, "")
    assert str(room) in ran.out
    for query in QUERIES[:3]:
        assert query in ran.out
    assert ran.out.count("\n1. ") == 3
    assert "   · score " in ran.out
    assert list(room.iterdir()) == []
    assert not cli.vault.exists()
    assert list(cli.home.iterdir()) == []


def test_demo_that_is_kept_is_a_vault(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ran = cli("demo", "--keep", str(kept))
    assert ran.code == 0
    assert f"memoranda -C {kept} ls" in ran.out
    assert cli("-C", str(kept), "ls").out.count("\n") > 3
    assert cli("-C", str(kept), "check", "--json").json() == []
    again = cli("demo", "--keep", str(kept))
    assert (again.code, again.out) == (2, "")
    assert "not empty" in again.err
    assert cli("-C", str(kept), "demo").code == 2
