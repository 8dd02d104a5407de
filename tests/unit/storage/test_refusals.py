"""What could not be taken in is still known later, and no longer than it is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.core.errors import OutsideVault
from memoranda.storage.documents import check_settings
from memoranda.storage.refusals import Refused, read_refusals, update_refusals


def test_what_was_looked_at_anew_is_as_it_is_now(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    a, b, url = str(tmp_path / "a"), str(tmp_path / "b"), "https://example.org/x"
    update_refusals(str(tmp_path), (), [Refused(b, "corrupt", "cut off"), Refused(a, "secret"), Refused(url, "unsafe")])
    assert [one.path for one in read_refusals(str(tmp_path))] == sorted([a, b, url])
    update_refusals(str(tmp_path), {a}, [])
    assert [one.path for one in read_refusals(str(tmp_path))] == sorted([b, url])
    Path(b).unlink()
    update_refusals(str(tmp_path), (), [])
    assert [one.path for one in read_refusals(str(tmp_path))] == [url]
    update_refusals(str(tmp_path), {url}, [])
    assert not (tmp_path / "skipped.jsonl").exists()
    assert read_refusals(str(tmp_path / "none")) == []


def test_lines_that_mean_nothing_are_left_out_and_links_not_written(tmp_path: Path) -> None:
    (tmp_path / "skipped.jsonl").write_text('{"path": "/a", "outcome": "empty"}\n{\n[]\n3\n{"path": ""}\n')
    assert read_refusals(str(tmp_path)) == [Refused("/a", "empty")]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "skipped.jsonl").symlink_to(tmp_path / "skipped.jsonl")
    with pytest.raises(OutsideVault):
        update_refusals(str(tmp_path / "other"), (), [Refused("/b", "empty")])


def test_settings_that_mean_nothing_are_named_and_the_defaults_hold() -> None:
    fine = check_settings({"scope": "user/lin", "size": 80, "overlap": 40, "converters": {"docx": "pandoc"}})
    assert (fine.scope, fine.size, fine.overlap, fine.faults) == ("user/lin", 80, 40, ())
    bad = check_settings(
        {"scope": "who", "size": 3, "overlap": -1, "max_size": 0, "converters": 3, "embedding": {"x": 1}, "odd": 1}
    )
    assert (bad.scope, bad.size, bad.overlap, bad.converters, bad.embedding) == ("", 1000, 0, (), None)
    assert len(bad.faults) == 7
    assert check_settings({"embedding": {"provider": "none"}}).embedding is not None
