"""JSON lines: appended whole, read from both ends, torn tails set aside."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.disk import FaultyDisk
from memoranda.storage import jsonlines
from memoranda.storage.jsonlines import JsonLines, Record, encode_line

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(), lambda inner: st.lists(inner, max_size=3)
)
records = st.dictionaries(st.text(max_size=5), values, max_size=4)
ODD = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\r\nh\0i\ud800j🐘k\u202e海"


@pytest.fixture
def lines(tmp_path: Path) -> JsonLines:
    return JsonLines(str(tmp_path / "deep" / "journal.jsonl"))


def written(lines: JsonLines, data: bytes) -> None:
    os.makedirs(os.path.dirname(lines.path), exist_ok=True)
    Path(lines.path).write_bytes(data)


def both_ways(lines: JsonLines) -> list[Record]:
    forwards = list(lines.read())
    assert list(lines.read_backwards()) == forwards[::-1]
    return forwards


def test_nothing_there(lines: JsonLines) -> None:
    assert both_ways(lines) == []
    assert (lines.size(), lines.torn(), lines.mend()) == (0, 0, 0)
    assert not lines.is_boundary(5)
    assert lines.is_boundary(0)
    lines.append([])
    assert not os.path.exists(lines.path)


def test_an_empty_file(lines: JsonLines) -> None:
    written(lines, b"")
    assert both_ways(lines) == []
    assert lines.mend() == 0
    lines.append([{"a": 1}])
    assert both_ways(lines) == [{"a": 1}]


@given(st.lists(st.lists(records, max_size=3), max_size=5), st.sampled_from([1, 2, 3, 7, 64, 65_536]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_what_is_appended_is_read_from_both_ends(tmp_path: Path, batches: list[list[Record]], block: int) -> None:
    path = tmp_path / "lines.jsonl"
    path.unlink(missing_ok=True)
    lines = JsonLines(str(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonlines, "_BLOCK", block)
        for batch in batches:
            lines.append(batch)
        everything = [record for batch in batches for record in batch]
        assert both_ways(lines) == everything
        assert lines.torn() == 0


@given(st.binary(max_size=200), st.sampled_from([1, 2, 5, 65_536]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
def test_whatever_stands_there_is_read_alike_from_both_ends(tmp_path: Path, data: bytes, block: int) -> None:
    lines = JsonLines(str(tmp_path / "lines.jsonl"))
    written(lines, data.replace(b"\x01", b"\n").replace(b"\x02", b'{"a":1}'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonlines, "_BLOCK", block)
        both_ways(lines)


def test_what_only_looks_like_a_line_end_is_none(lines: JsonLines) -> None:
    lines.append([{"text": ODD}, {"text": "next"}])
    assert both_ways(lines) == [{"text": ODD}, {"text": "next"}]
    assert Path(lines.path).read_bytes().count(b"\n") == 2
    lines.append([{"text": "a\u2028b\x85海"}])
    assert "a\u2028b\x85海" in Path(lines.path).read_text("utf-8", errors="surrogatepass")


def test_readable_in_any_language() -> None:
    assert encode_line({"t": "喜欢海边 🐘"}) == '{"t":"喜欢海边 🐘"}\n'.encode()
    assert encode_line({"t": "\ud800"}) == b'{"t":"\\ud800"}\n'


@pytest.mark.parametrize("extra", [-1, 0, 1, 65_536, 200_000])
def test_a_line_longer_than_a_block(extra: int, lines: JsonLines) -> None:
    big = {"t": "海" * ((65_536 + extra) // 3)}
    lines.append([{"n": 1}, big, {"n": 2}])
    assert both_ways(lines) == [{"n": 1}, big, {"n": 2}]
    assert next(lines.read_backwards()) == {"n": 2}


def test_only_what_is_asked_for_is_read(lines: JsonLines, monkeypatch: pytest.MonkeyPatch) -> None:
    lines.append([{"n": n, "t": "x" * 1000} for n in range(1000)])
    decoded = []
    decode = jsonlines._decode_line
    monkeypatch.setattr(jsonlines, "_decode_line", lambda line: decoded.append(1) or decode(line))
    assert next(lines.read_backwards())["n"] == 999
    assert len(decoded) == 1


LAST = '{"i":1,"t":"海边 and 🐘"}'.encode()


@pytest.mark.parametrize("cut", range(1, len(LAST) + 1))
def test_torn_anywhere(cut: int, lines: JsonLines) -> None:
    """Case D2: a line cut at any byte is set aside and counted; a whole one without its line end is kept."""
    tail = LAST[:cut]
    written(lines, b'{"i":0}\n' + tail)
    whole = cut == len(LAST)
    assert both_ways(lines) == [{"i": 0}] + ([json.loads(LAST)] if whole else [])
    lines.append([{"i": 2}])
    assert both_ways(lines) == [{"i": 0}] + ([json.loads(LAST)] if whole else []) + [{"i": 2}]
    assert lines.torn() == (0 if whole else 1)
    assert os.path.exists(lines.torn_path) == (not whole)
    if not whole:
        assert Path(lines.torn_path).read_bytes() == tail + b"\n"
        assert tail not in Path(lines.path).read_bytes().split(b"\n")
    lines.append([{"i": 3}])
    assert lines.torn() == (0 if whole else 1)


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"[1]", b"17", b'"text"', b"\xff\xfe", b"}", b"{" * 3000, b" "])
def test_a_tail_that_is_no_record_is_set_aside(tail: bytes, lines: JsonLines) -> None:
    written(lines, b'{"i":0}\n' + tail)
    assert lines.mend() == 8
    assert both_ways(lines) == [{"i": 0}]
    assert Path(lines.torn_path).read_bytes() == tail + b"\n"


def test_setting_aside_cut_short_does_not_count_twice(lines: JsonLines) -> None:
    written(lines, b'{"i":0}\n{"i":')
    Path(lines.torn_path).write_bytes(b'{"i":\n')
    lines.append([{"i": 1}])
    assert lines.torn() == 1


def test_broken_lines_in_the_middle_are_passed_over_and_counted(lines: JsonLines) -> None:
    written(lines, b'{"i":0}\n{"i\n\n\r\n[]\n\0\0\0\n{"i":1}\r\n{"n":NaN}\n')
    found = both_ways(lines)
    assert [r.get("i") for r in found] == [0, 1, None]
    assert lines.torn() == 3


def test_too_deep_is_broken_and_no_crash(lines: JsonLines) -> None:
    written(lines, b'{"a":' * 100_000 + b"\n" + b'{"i":1}\n')
    assert both_ways(lines) == [{"i": 1}]


class TestFailing:
    """On failure the file is as before."""

    BEFORE = b'{"i":0}\n'

    @pytest.mark.parametrize("step", range(1, 12))
    @pytest.mark.parametrize("before", [None, b"", BEFORE, BEFORE + b'{"i":', BEFORE + b'{"i":1}'])
    def test_at_any_call(self, step: int, before: bytes | None, lines: JsonLines) -> None:
        if before is not None:
            written(lines, before)

        def fault(number: int, call: str) -> None:
            if number == step:
                raise OSError(errno.ENOSPC, "full")

        with FaultyDisk(fault).mounted() as disk:
            failed = False
            try:
                lines.append([{"n": 1}, {"n": 2}])
            except OSError:
                failed = True
        assert failed == (step <= len(disk.calls) and disk.calls[step - 1] != "unlink")
        whole = [r for r in ({"i": 0}, {"i": 1}) if before and encode_line(r).strip() in before]
        assert both_ways(lines) == whole + ([] if failed else [{"n": 1}, {"n": 2}])
        if failed and before is None:
            assert not os.path.exists(lines.path)
        lines.append([{"n": 3}])
        assert both_ways(lines) == whole + ([] if failed else [{"n": 1}, {"n": 2}]) + [{"n": 3}]

    def test_short_writes_go_on(self, lines: JsonLines, monkeypatch: pytest.MonkeyPatch) -> None:
        write = os.write
        monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:3]))
        lines.append([{"text": "喜欢海边"}, {"text": "two"}])
        assert both_ways(lines) == [{"text": "喜欢海边"}, {"text": "two"}]

    def test_a_short_write_and_then_no_room(self, lines: JsonLines, monkeypatch: pytest.MonkeyPatch) -> None:
        written(lines, self.BEFORE)
        write, left = os.write, [5]

        def scarce(descriptor: int, data: Any) -> int:
            if not left[0]:
                raise OSError(errno.ENOSPC, "full")
            taken = write(descriptor, bytes(data)[: left[0]])
            left[0] -= taken
            return taken

        monkeypatch.setattr(os, "write", scarce)
        with pytest.raises(OSError, match="full"):
            lines.append([{"text": "喜欢海边"}])
        assert Path(lines.path).read_bytes() == self.BEFORE

    def test_interrupted_by_the_person(self, lines: JsonLines, monkeypatch: pytest.MonkeyPatch) -> None:
        written(lines, self.BEFORE)
        write = os.write

        def interrupted(descriptor: int, data: Any) -> int:
            write(descriptor, bytes(data)[:4])
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lines.append([{"text": "喜欢海边"}])
        assert Path(lines.path).read_bytes() == self.BEFORE


def test_synced_unless_told_otherwise(lines: JsonLines) -> None:
    with FaultyDisk().mounted() as disk:
        lines.append([{"n": 1}])
        fresh, disk.calls[:] = list(disk.calls), []
        lines.append([{"n": 2}, {"n": 3}])
        again, disk.calls[:] = list(disk.calls), []
        lines.append([{"n": 4}], sync=False)
    assert fresh.count("fsync") >= 2
    assert again == ["open", "write", "fsync"]
    assert disk.calls == ["open", "write"]


def test_new_files_are_private(lines: JsonLines) -> None:
    umask = os.umask(0)
    try:
        lines.append([{"n": 1}])
        with open(lines.path, "ab") as stream:
            stream.write(b"torn")
        lines.append([{"n": 2}])
    finally:
        os.umask(umask)
    for path, mode in ((lines.path, 0o600), (lines.torn_path, 0o600), (os.path.dirname(lines.path), 0o700)):
        assert os.stat(path).st_mode & 0o777 == mode


class TestCutLast:
    """Taking back the newest record, without needing room."""

    @pytest.mark.parametrize("ending", [b"\n", b""])
    def test_cuts_it(self, ending: bytes, lines: JsonLines) -> None:
        written(lines, b'{"i":0}\n{"i":1}' + ending)
        assert lines.cut_last(lambda record: record["i"] == 1)
        assert Path(lines.path).read_bytes() == b'{"i":0}\n'

    def test_to_nothing(self, lines: JsonLines) -> None:
        written(lines, b'{"i":0}\n')
        assert lines.cut_last(lambda record: True)
        assert Path(lines.path).read_bytes() == b""

    @pytest.mark.parametrize("data", [b"", b'{"i":0}\n', b'{"i":1}\n{"i":0}\n', b'{"i":1}\n{"i"', b'{"i":1}\n\n'])
    def test_only_if_it_is_the_one(self, data: bytes, lines: JsonLines) -> None:
        written(lines, data)
        assert not lines.cut_last(lambda record: record["i"] == 1)
        assert Path(lines.path).read_bytes() == data


class TestRewrite:
    """Changing records in place, for forgetting."""

    def test_changes_and_drops(self, lines: JsonLines) -> None:
        written(lines, b'{"i": 0}\n{"i":1}\n{"i":2}\n{"broken')
        changed = lines.rewrite(lambda r: None if r["i"] == 1 else {"i": 20} if r["i"] == 2 else r)
        assert changed == 2
        assert Path(lines.path).read_bytes() == b'{"i": 0}\n{"i":20}\n'

    def test_touches_nothing_without_a_change(self, lines: JsonLines) -> None:
        data = b'{"i": 0}\n\n{"broken'
        written(lines, data)
        inode = os.stat(lines.path).st_ino
        assert lines.rewrite(lambda record: record) == 0
        assert Path(lines.path).read_bytes() == data
        assert os.stat(lines.path).st_ino == inode

    def test_of_nothing(self, lines: JsonLines) -> None:
        assert lines.rewrite(lambda record: None) == 0
        assert not os.path.exists(lines.path)


def test_reading_from_a_place(lines: JsonLines) -> None:
    lines.append([{"i": 0}])
    place = lines.size()
    lines.append([{"i": 1}])
    assert list(lines.read(place)) == [{"i": 1}]
    assert lines.is_boundary(place)
    assert not lines.is_boundary(place - 1)
    assert not lines.is_boundary(place + 100)
