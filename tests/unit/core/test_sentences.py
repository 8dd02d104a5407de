"""Where prose may be cut, in English, Chinese and Japanese, and what a reader sees of it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.sentences import (
    columns,
    last_sentences,
    masked_spans,
    reach,
    sentence_starts,
    shown_line,
    shown_text,
    whole_character,
    word_break,
)

FAMILY = "👨\u200d👩\u200d👧"
texts = st.lists(
    st.sampled_from(
        ["a", "词", "。", "e\u0301", FAMILY, "🇩🇪", "한", "한", " ", "\n", "`", "[x](y)", "…", "”", ".", "3.5"]
    )
    | st.text(max_size=3),
    max_size=30,
).map("".join)


def sentences(text: str) -> list[str]:
    begins = [0, *sentence_starts(masked_spans(text))]
    return [text[begin:end].strip() for begin, end in zip(begins, [*begins[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Mr. Smith met Dr. J. Brown of Acme Co. Ltd. in the U.S.A. in 1999.", "He left."],
        ["It is 3.5 km, e.g. by bus, i.e. not far.", "Go!"],
        ['"Why?" he asked.', '"Because."', "Then silence."],
        ["See Fig. 3, No. 5 and p. 12 of Smith et al. (2019).", "He said no.", "Then he left on Jan. 3."],
        ["Wait... and see.", "Yahoo! is a name.", "Really?!", "Yes."],
        ["**Done.**", "Next one.[^1]", "(In brackets.)", "Last."],
        ["1. First in its line.", "Second."],
        ["Visit https://a.example/b?c=1.", "Then call `x. Y` or [the. Docs](https://b.example)."],
    ],
)
def test_english_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["他说：“我们去海边玩吧。”", "然后就去了！", "真的？！", "价格是3.5元，共1,000元；", "完。"],
        ["（见附录。）", "下一句。"],
        ["「海に行きました。」", "と彼は言った。", "明日も行く！"],
        ["是的……", "好吧。"],
        ["用GPT-4.0写代码.", "然后提交!", "好。"],
        ["完成。”，他说。", "走。"],
        ["详见`a。b`和[文档。一](https://x.example/海)。", "再看。"],
    ],
)
def test_chinese_and_japanese_sentences(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


def test_a_line_ended_by_hand_ends_a_sentence_and_a_wrapped_one_does_not() -> None:
    assert sentences("one  \ntwo\\\nthree\nfour") == ["one", "two\\", "three\nfour"]


def test_masking_hides_code_links_and_addresses_and_moves_nothing() -> None:
    text = "a `b c` [d e](f) ![g](h) [[i|j k]] [l [m]](n) <b c='d'> www.o.example/p. q"
    masked = masked_spans(text)
    assert len(masked) == len(text)
    assert masked.split() == [
        "a", "xxxxx", "xxxxxxxx", "x" * 7, "x" * 9, "x" * 10, "x" * 9, "x" * 15 + ".", "q",
    ]  # fmt: skip
    assert masked_spans("no `end and [no](end") == "no `end and [no](end"


@pytest.mark.parametrize(("text", "wide"), [("abc", 3), ("海边", 4), ("ａ。", 4), ("é…“", 3), ("😀", 2), ("\r\n", 2)])
def test_columns_count_wide_characters_twice(text: str, wide: int) -> None:
    assert columns(text) == wide


@given(texts, st.integers(0, 40))
def test_reach_takes_as_much_as_fits(text: str, room: int) -> None:
    end = reach(text, 0, len(text), room)
    assert columns(text, 0, end) <= room
    assert end == len(text) or columns(text, 0, end + 1) > room


def cut_at(text: str, limit: int) -> str:
    return text[: word_break(masked_spans(text), 0, limit)]


def test_long_sentences_are_cut_behind_a_clause_else_behind_a_word() -> None:
    text = "when the tide came in, we moved the kites and the baskets up"
    assert cut_at(text, 30) == "when the tide came in, "
    assert cut_at(text, 15) == "when the tide "
    assert cut_at(text, 55) == "when the tide came in, we moved the kites and the "
    assert cut_at("x" * 90, 50) == ""
    assert cut_at("costs 1,000,000.55 in all", 12) == "costs "


def test_chinese_is_cut_between_characters_but_not_before_a_mark_that_closes() -> None:
    text = "我们今天（大家）去了海边看日出"
    for limit in range(2, len(text)):
        head = cut_at(text, limit)
        assert not text[len(head) :].startswith(("）", "，"))
        assert not head.endswith("（")
    assert cut_at("我们用GPT-4写了三段代码", 6) == "我们用"
    assert cut_at("第一段很长很长，第二段", 9) == "第一段很长很长，"


def test_links_and_code_are_words() -> None:
    assert cut_at("see [the docs here](https://a.example) now", 12) == "see "
    assert cut_at("run `pip install memoranda` now", 14) == "run "


@settings(max_examples=300)
@given(texts, st.data())
def test_characters_stay_whole(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    at = whole_character(text, 0, cut)
    assert 0 < at <= cut or at == cut
    if 0 < at < len(text) and at < cut:
        assert not unicodedata.combining(text[at])
        assert "\u200d" not in text[at - 1 : at + 1]


@pytest.mark.parametrize(
    "whole", ["e\u0301\u0302", FAMILY, "🇩🇪", "👍🏽", "한", "\r\n", "कि", "\ud83d\ude00", "❤\ufe0f"]
)
def test_no_part_of_a_character_is_cut_off(whole: str) -> None:
    text = f"ab{whole}{whole}c"
    ends = {2, 2 + len(whole), 2 + 2 * len(whole)}
    assert {whole_character(text, 0, cut) for cut in range(2, len(text))} == ends


def test_a_flood_of_marks_is_cut_all_the_same() -> None:
    assert whole_character("e" + "\u0301" * 500, 0, 300) == 300


def test_the_last_sentences_that_fit() -> None:
    text = "One is here. Two is here. Three is."
    assert text[last_sentences(text, 0, len(text), 20) :] == "Three is."
    assert text[last_sentences(text, 0, len(text), 30) :] == "Two is here. Three is."
    assert last_sentences(text, 0, len(text), 5) == len(text)


def test_text_is_shown_with_its_links_as_a_reader_sees_them() -> None:
    assert shown_text("See [the docs](https://a.example/x_(y)) and ![a map](m.png).") == "See the docs and a map."
    assert shown_text("[[trips:beach|the beach]] [[trips:sea]] [[notes]]") == "the beach trips:sea notes"
    assert shown_text("A claim[[9]](#note-9), [ref][r], [![logo](l.png)](home)") == "A claim[9], ref, logo"
    assert shown_text("`[a](b)` stays\n\n```\n[[c]]\n[d](e)\n```\n") == "`[a](b)` stays\n\n```\n[[c]]\n[d](e)\n```\n"
    assert shown_text("[ ] todo, [1] note, a[0](x y)") == "[ ] todo, [1] note, a[0](x y)"


def test_many_images_in_a_link_that_never_ends_take_no_time() -> None:
    text = "[" + "![a](b)" * 200
    assert shown_text(text) == "[" + "a" * 200


def test_a_heading_is_shown_in_one_line() -> None:
    assert (
        shown_line("The `cut` **function** of [passages](p.md)  and *more*") == "The cut function of passages and more"
    )
    assert shown_line("snake_case_name and 2 * 3 * 4") == "snake_case_name and 2 * 3 * 4"
    assert len(shown_line("x" * 5000)) == 200
    assert shown_line("x" * 5000).endswith("…")
