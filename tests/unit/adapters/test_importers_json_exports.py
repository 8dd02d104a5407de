"""JSON in every wrapping: what is sound arrives, what is broken is named with its line, nothing raises."""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers import json_exports
from memoranda.adapters.importers.json_exports import read_export
from memoranda.core.errors import NotFound, UsageError
from sources import lay_down, told_apart


def _is_json(name: str) -> bool:
    return name.endswith(".json")


def _read(root: Path, content: str | bytes) -> tuple[list[tuple[object, int]], list[tuple[int, str]]]:
    lay_down(root, {"x.json": content})
    records, problems = told_apart(read_export(str(root / "x.json"), _is_json))
    return [(r.value, r.line) for r in records], [(p.line, p.kind) for p in problems]


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ('[{"a": 1},\n\n {"b": 2}]', [({"a": 1}, 1), ({"b": 2}, 3)]),
        ("\ufeff[]", []),
        ("", []),
        (" \n ", []),
        ('\n{"a":\n 1}\n', [({"a": 1}, 2)]),
        ('{"a": 1}\n{"b": "\u2028"}\r\n\n{"c": 3}', [({"a": 1}, 1), ({"b": "\u2028"}, 2), ({"c": 3}, 4)]),
        ("[1, [2], null]", [(1, 1), ([2], 1), (None, 1)]),
    ],
)
def test_shapes(tmp_path: Path, content: str, records: list[tuple[object, int]]) -> None:
    assert _read(tmp_path, content) == (records, [])


@pytest.mark.parametrize(
    ("content", "sound", "problems"),
    [
        (b"\xff\xfe[\x00]\x00", 0, [(1, "encoding")]),
        (b'[1,\n"caf\xe9"]', 0, [(2, "encoding")]),
        ('[1,\n2,\n{"a": }]', 2, [(3, "json")]),
        ("[1\n2]", 1, [(2, "json")]),
        ("[1", 1, [(1, "json")]),
        ("[1] x", 1, [(1, "json")]),
        ('{"a": 1}\nbroken\n{"b": 2}\n', 2, [(2, "json")]),
        ('broken\n{"b": 2}\n', 1, [(1, "json")]),
        ('{"a":\n1,\n', 0, [(3, "json")]),
        ("nonsense", 0, [(1, "json")]),
        ("[" * 100_000, 0, [(1, "json")]),
        ('{"a":' * 100_000, 0, [(1, "json")]),
        ("[" + "9" * 5000 + "]", 0, [(1, "json")]),
    ],
)
def test_what_is_broken(tmp_path: Path, content: str | bytes, sound: int, problems: list[tuple[int, str]]) -> None:
    found, faults = _read(tmp_path, content)
    assert (len(found), faults) == (sound, problems)


@given(st.text(alphabet='[]{}",: \n1a\\', max_size=60))
def test_nothing_raises(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    _read(tmp_path_factory.mktemp("any"), content)


def test_an_archive_and_a_folder(tmp_path: Path) -> None:
    lay_down(tmp_path / "f", {"b.json": "[2]", "a.json": "[1]", "c.txt": "[3]", "deep/d.json": "[4]"})
    records, _ = told_apart(read_export(str(tmp_path / "f"), _is_json))
    assert [(r.value, r.path) for r in records] == [(1, "a.json"), (2, "b.json")]
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("deep/d.json", "[4]")
        archive.writestr("c.txt", "[3]")
    records, _ = told_apart(read_export(str(tmp_path / "x.zip"), _is_json))
    assert [(r.value, r.path) for r in records] == [(4, "deep/d.json")]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "x.zip"]


def test_hostile_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_exports, "MOST_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.json", json.dumps(["a" * 100_000]))
        archive.writestr("small.json", "[1]")
    records, problems = told_apart(read_export(str(tmp_path / "bomb.zip"), _is_json))
    assert [r.value for r in records] == [1]
    assert [(p.path, p.kind) for p in problems] == [("big.json", "size")]
    with zipfile.ZipFile(tmp_path / "odd.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.json", "[1]")
    _, problems = told_apart(read_export(str(tmp_path / "odd.zip"), _is_json))
    assert [p.kind for p in problems] == ["unreadable"]
    data = bytearray((tmp_path / "bomb.zip").read_bytes())
    for at in range(0, len(data), 7):
        (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04" + bytes(data[4:at]))
        with pytest.raises(UsageError):
            list(read_export(str(tmp_path / "cut.zip"), _is_json))
        damaged = bytearray(data)
        damaged[max(at, 4)] ^= 0xFF
        (tmp_path / "hit.zip").write_bytes(bytes(damaged))
        with suppress(UsageError):
            told_apart(read_export(str(tmp_path / "hit.zip"), _is_json))


def test_nothing_of_the_kind(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(read_export(str(tmp_path / "none"), _is_json))
    with pytest.raises(UsageError, match="holds no file"):
        list(read_export(str(tmp_path), _is_json))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    lay_down(tmp_path, {"secret/s.json": "[1]", "in/a.json": "[2]"})
    (tmp_path / "in/b.json").symlink_to(tmp_path / "secret/s.json")
    records, problems = told_apart(read_export(str(tmp_path / "in"), _is_json))
    assert [r.value for r in records] == [2]
    assert [(p.path, p.kind) for p in problems] == [("b.json", "symlink")]
