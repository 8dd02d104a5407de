"""Columns, and what is done to text before a person sees it."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.faces.cli.output import Output, visible
from memoranda.faces.cli.table import clip, columns, first_line, local_time, pad, width

_TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")))


@pytest.mark.parametrize(
    ("text", "size"),
    [("abc", 3), ("海边", 4), ("ＡＢ", 4), ("cafe\u0301", 4), ("", 0), ("ｱ", 1), ("한글", 4)],
)
def test_width(text: str, size: int) -> None:
    assert width(text) == size


@given(_TEXT, st.integers(min_value=1, max_value=30))
def test_clipped_text_fits_and_begins_like_the_whole(text: str, size: int) -> None:
    cut = clip(text, size)
    assert width(cut) <= size
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))


@given(_TEXT, st.integers(min_value=0, max_value=20))
def test_padded_text_takes_its_columns(text: str, size: int) -> None:
    assert width(pad(text, size)) == max(width(text), size)


def test_columns_align_by_what_a_terminal_shows() -> None:
    lines = columns([["海边", "1", "x"], ["sea", "20", "y"]], right=(1,))
    assert lines == ["海边   1  x", "sea   20  y"]


def test_only_the_last_column_is_cut() -> None:
    assert columns([["preferences", "a long text at the end"]], limit=24) == ["preferences  a long tex…"]
    assert columns([]) == []


def test_time_is_shown_in_the_local_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert local_time("2026-07-10T16:30:05Z") == "2026-07-11 00:30"
        assert local_time("2026-07-10T16:30:05Z", seconds=True) == "2026-07-11 00:30:05"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("odd", ["", "2026-07-10", "last summer", "2026-13-40T99:00", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_moment_is_shown_as_it_is(odd: str) -> None:
    assert local_time(odd) == odd


def test_first_line_is_the_first_that_says_something() -> None:
    assert first_line("\n  \n two \nthree") == "two"
    assert first_line("") == ""


def test_control_characters_are_written_out() -> None:
    assert visible("a\x1b[31mb\x9b\r\x00\u202e\tc\nd") == "a\\x1b[31mb\\x9b\\r\\x00\\u202e\tc\nd"
    assert visible("海边 👨‍👩‍👧 café") == "海边 👨‍👩‍👧 café"


@given(st.text())
def test_nothing_that_drives_a_terminal_gets_through(text: str) -> None:
    assert not any(c != "\n" and c != "\t" and (c < " " or "\x7f" <= c <= "\x9f") for c in visible(text))


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())))
def test_json_says_the_same_and_is_safe_to_show(value: dict[str, object]) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace")
    Output(stream, io.StringIO()).json(value)
    stream.flush()
    text = raw.getvalue().decode("utf-8")
    assert json.loads(text) == value
    assert not any("\x7f" <= c <= "\x9f" for c in text)


def test_styles_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    Output(shown, io.StringIO()).styled(("bold", "x\x1b"), "y")
    assert shown.getvalue() == "\x1b[1mx\\x1b\x1b[0my\n"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    Output(plain, io.StringIO()).styled(("bold", "x"), "y")
    assert plain.getvalue() == "xy\n"
    monkeypatch.delenv("NO_COLOR")
    piped = io.StringIO()
    Output(piped, io.StringIO()).styled(("bold", "x"), "y")
    assert piped.getvalue() == "xy\n"


def test_stored_text_is_shown_on_a_terminal_and_kept_elsewhere() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Terminal(), io.StringIO()
    Output(terminal, io.StringIO()).text("\x1b]0;x\x07\n")
    Output(pipe, io.StringIO()).text("\x1b]0;x\x07\n")
    assert (terminal.getvalue(), pipe.getvalue()) == ("\\x1b]0;x\\x07\n", "\x1b]0;x\x07\n")


def test_progress_is_silent_without_a_person() -> None:
    err = io.StringIO()
    progress = Output(io.StringIO(), err).progress("imported")
    progress(1, 2)
    progress.clear()
    assert err.getvalue() == ""


def test_progress_leaves_a_clean_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    err = Terminal()
    progress = Output(io.StringIO(), err).progress("imported")
    progress(1, 200)
    now += 0.4
    progress(50, 200)
    assert err.getvalue() == ""
    now += 0.2
    progress(60, 200)
    progress(61, 200)
    now += 0.2
    progress(70, None)
    progress.clear()
    progress.clear()
    assert err.getvalue() == "\r\x1b[Kimported: 60/200\r\x1b[Kimported: 70\r\x1b[K"
