"""Text, markdown and code are kept as they are."""

from __future__ import annotations

import pytest

from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.plain import convert_plain, convert_source
from memoranda.core.documents import NotConverted

LIMITS = Limits()


def test_markdown_is_kept_byte_for_byte_but_for_its_mark() -> None:
    text = "---\ntitle: x\n---\r\n# 海边 #\r\n\r\n- a\t\n"
    made = convert_plain(b"\xef\xbb\xbf" + text.encode(), "markdown", "a.md", LIMITS)

    assert (made.markdown, made.title, made.encoding) == (text, "海边", "utf-8-sig")


def test_text_loses_control_characters_alone() -> None:
    made = convert_plain("一线城市\r\n每晚\x00\x1b六百元\n".encode("utf-16"), "text", "a.txt", LIMITS)

    assert made.markdown == "一线城市\n每晚六百元\n"


def test_code_stands_in_a_fence_of_its_language() -> None:
    made = convert_source(b"x = '```'\n", "source", "lib/a.PY", LIMITS)

    assert made.markdown == "````python\nx = '```'\n````\n"


@pytest.mark.parametrize("convert", [convert_plain, convert_source])
def test_nothing_but_white_space_is_empty(convert: object) -> None:
    with pytest.raises(NotConverted) as caught:
        convert(b"\xef\xbb\xbf \n\x00", "text", "a.txt", LIMITS)  # type: ignore[operator]
    assert caught.value.kind == "empty"


def test_what_could_not_be_read_is_said() -> None:
    made = convert_plain("海边的小城很美。".encode() * 9 + b"\xff", "text", "a.txt", LIMITS)

    assert made.notes == ("1 places could not be read as utf-8",)
