"""The encoding of a text is found from a few characters."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.converters.encodings import decode, known_encoding, looks_binary

SHORT = {
    "gbk": [
        "你好，世界",
        "我们明天去海边玩",
        "姓名,部门,生日",
        "张伟",
        "联通",
        "报销制度",
        "请在十个工作日内提交报销单",
    ],
    "gb18030": ["𠮷野家、㐂、䶮", "生僻字：𠮷"],
    "cp950": ["你好，世界", "我們明天去海邊玩", "姓名,部門,生日", "臺灣繁體中文", "會議記錄", "請在十個工作天內提交"],
    "cp932": ["こんにちは世界", "佐藤太郎,30,東京", "髙橋淳,35,名古屋", "日本語のテキスト", "会議の記録", "ﾃｽﾄ データ"],
    "cp949": ["안녕하세요 세계", "회의 기록", "김철수, 서울", "한국어 텍스트입니다", "이름,나이"],
    "euc_jp": ["こんにちは世界", "日本語のテキスト"],
    "windows-1252": ["café", "résumé naïve", "Straße in München", "“quoted” – dash", "price: 5 €", "Ärger", "über"],
    "utf-16-le": ["Hello world", "你好，世界，我们明天去海边", "안녕하세요 세계", "日本語のテキストです"],
    "utf-16-be": ["Hello world", "你好，世界，我们明天去海边"],
    "utf-8": ["plain", "你好", "café", "Привет", "é", "שלום", "γεια σου", "über München", "🙂"],
}


@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in SHORT.items() for text in texts])
def test_a_few_characters_tell_the_encoding(encoding: str, text: str) -> None:
    found = decode(text.encode(encoding))

    assert found.text == text
    assert found.encoding == encoding
    assert not found.unreadable
    assert not looks_binary(text.encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_says_it_and_is_not_kept(encoding: str) -> None:
    found = decode("报销制度 café".encode(encoding))

    assert (found.text, found.encoding) == ("报销制度 café", encoding)


def test_what_is_declared_is_honoured_where_it_decodes() -> None:
    assert decode("Łódź".encode("cp1250"), "windows-1250").text == "Łódź"
    assert decode("报销".encode("gb18030"), "gb2312").encoding == "gb18030"
    assert decode("日本".encode("cp932"), "Shift_JIS").encoding == "cp932"


def test_what_is_declared_wrongly_is_found_out() -> None:
    assert decode("报销制度".encode(), "gbk").text == "报销制度"
    assert decode("报销制度".encode(), "iso-8859-1").text == "报销制度"
    assert decode("报销制度".encode("gbk"), "utf-8").text == "报销制度"
    assert decode("报销制度".encode("gbk"), "no-such-encoding").text == "报销制度"


def test_codecs_that_are_no_encodings_of_text_are_not_known() -> None:
    assert [known_encoding(name) for name in ("zlib", "hex", "rot13", "idna", "unicode_escape", "utf-7", "x")].count(
        ""
    ) >= 6


def test_a_broken_byte_costs_its_place_and_not_the_text() -> None:
    found = decode("海边的报销制度，".encode() * 20 + b"\xff" + "完".encode())

    assert found.encoding == "utf-8"
    assert found.unreadable == 1
    assert found.text.endswith("\ufffd完")


def test_a_long_text_cut_within_a_character_of_the_sample_is_read() -> None:
    text = "a" + "请在十个工作日内提交。" * 4000

    assert decode(text.encode("gbk")).text == text
    assert not looks_binary(text.encode())
    assert not looks_binary(text.encode("gbk"))


@given(st.text())
def test_utf_8_is_read_as_it_is(text: str) -> None:
    raw = text.encode()
    if not raw.isascii() and len(text) > 12 and not any(ord(one) < 32 or 0x7F <= ord(one) < 0xA0 for one in text):
        assert decode("说明：".encode() + raw).text.removeprefix("说明：") == text


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "gbk", "utf-16", "big5"]))
def test_any_bytes_give_a_text(data: bytes, declared: str) -> None:
    assert isinstance(decode(data, declared).text, str)
    assert looks_binary(data) in (True, False)


def test_random_bytes_are_no_text() -> None:
    made = [random.Random(seed).randbytes(size) for seed in range(60) for size in (300, 4096)]

    assert sum(map(looks_binary, made)) == len(made)
