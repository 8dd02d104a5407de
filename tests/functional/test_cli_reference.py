"""The written reference is the program's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.faces.cli.main import COMMANDS
from memoranda.faces.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "python -m memoranda.faces.cli.reference > docs/cli.md"


def test_the_page_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = reference()
    monkeypatch.setenv("COLUMNS", "200")
    assert narrow == reference()


def test_every_command_and_option_is_in_it() -> None:
    from memoranda.faces.cli.main import load

    page = reference()
    for name in COMMANDS:
        assert f"\n### {name}\n" in page
        options = [name for argument in load(name)[1].arguments if argument.is_option for name in argument.names]
        assert "--vault" in options
        assert all(option in page for option in options)
