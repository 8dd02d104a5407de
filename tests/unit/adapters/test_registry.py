"""The table of import formats: every row loads, an unknown name lists them."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from memoranda.adapters.registry import IMPORT_FORMATS, import_format, read_foreign
from memoranda.core.errors import NotFound, UsageError


def test_every_format_loads_and_is_keyed_by_its_name() -> None:
    for name, entry in IMPORT_FORMATS.items():
        assert entry.name == name
        assert entry.yields in {"turns", "items"}
        assert callable(entry.load())
        assert import_format(f" {name.upper()}") is entry


def test_an_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"'csv'.*turns.*wikimem"):
        import_format("csv")


def test_records_are_read_as_they_are_taken(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_text('{"conversation": "c", "turn": 1, "text": "x"}\n')
    kind, records = read_foreign("turns", str(tmp_path / "turns.jsonl"), UTC)
    assert kind == "turns"
    assert [turn.text for turn in records] == ["x"]
    (tmp_path / "a.md").write_text("## b\n\ny\n")
    kind, records = read_foreign("wikimem", str(tmp_path), UTC)
    assert kind == "items"
    assert [(item.category, item.name) for item in records] == [("a", "b")]


@pytest.mark.parametrize("name", sorted(IMPORT_FORMATS))
def test_nothing_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(read_foreign(name, str(tmp_path / "nowhere"), UTC)[1])
