"""Command lines on vaults of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from functional.driving import DAILY_LIFE, PREFERENCES, TURNS, Cli, Inside, write_turns


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A command line whose vault is not there yet."""
    home = tmp_path / "home"
    home.mkdir()
    return Cli(home, tmp_path / "vault")


@pytest.fixture(scope="session")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A command line on a vault with a little of everything; tests only read it."""
    folder = tmp_path_factory.mktemp("stocked")
    home = folder / "home"
    home.mkdir()
    cli = Cli(home, folder / "vault")
    assert cli("import", "turns", str(write_turns(folder / "turns.jsonl", TURNS))).code == 0
    files = {
        "memory/preferences.md": PREFERENCES,
        "memory/daily_life.md": DAILY_LIFE,
        "memory/work/rules.md": "# rules\n\n## review\n\nReview every change.\n",
        "users/lin/memory/home.md": "# home\n\n## address\n\nLives in 成都.\n",
    }
    for name, text in files.items():
        path = cli.vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return cli


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Inside:
    """Runs the command line in this process: for what needs no process of its own."""
    return Inside(monkeypatch, capfd)
