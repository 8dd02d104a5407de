"""From text to terms."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core import analysis, scripts, words
from memoranda.core.analysis import analyze, analyze_query
from memoranda.core.stopwords import is_stop_character, is_stop_word

any_text = st.text(st.characters() | st.sampled_from("aZ09.-_@'’&:,+# \n海边のแก่👍\u200d🏽\u0301\ud800"), max_size=60)
made_text = st.lists(
    st.sampled_from([
        *"azZ019 .-_@'&:,+#!?()\n\t\"/", *"海边的の가ก、。，：？“”…·～—’‘éßİё０Ａ．＋ﬁ⺀々㍿٣½カ👍🏽",
        "\u2010", "\u00ad", "\u0301", "\u3099", "\u200d", "❤\ufe0f", "🇵🇹", "\ud800", "\x00", "\xa0", "\u3000",
        "LLMs", "C++", "C#", ".NET", "v1.2", "U.S.", "GPT-4o", "covid19", "fooBar", "e-mails", "don't", "Caroline's",
        "running", "The", "ONE-two-22-2", "x" * 70, "12ab", "tiếng", "喜欢海边", "데이터",
    ]),
    max_size=12,
).map("".join)  # fmt: skip


def slowly(text: str) -> list[str]:
    """The terms without any short cut: the whole text in NFKC, token by token, nothing remembered."""
    terms: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_plain_term", lambda token: "")
        normal = unicodedata.normalize("NFKC", text).replace("’", "'").replace("\u2010", "-")
        for script, piece in (found for token in scripts.tokens(normal) for found in scripts.pieces(token)):
            if script == "word":
                terms += words.word_terms(piece)
            elif script == "emoji":
                terms += [term for term, _, _ in scripts.emoji_terms(piece)]
            else:
                run = list(piece) if script == "dense" else scripts.clusters(piece)
                terms += run + [first + second for first, second in pairwise(run)]
    return terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running dogs", ["run", "dog"]),
        ("DEC-0054", ["dec-0054", "dec", "0054"]),
        ("foo_bar", ["foo_bar", "foo", "bar"]),
        ("fooBar", ["foobar", "foo", "bar"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("OPENAI_API_KEY", ["openai_api_key", "openai", "api", "key"]),
        ("C++", ["c++", "c++", "c"]),
        ("C#", ["c#", "c"]),
        ("learn C++17.", ["learn", "c++17", "c++", "c", "17"]),
        (".NET", [".net", "net"]),
        ("node.js", ["node.js", "node", "js"]),
        ("v1.2", ["v1.2", "1.2", "v1", "2"]),
        ("GPT-4o", ["gpt-4o", "gpt", "4o"]),
        ("covid19", ["covid19", "covid", "19"]),
        ("h264", ["h264"]),
        ("LLMs", ["llms", "llm"]),
        ("APIs", ["api"]),
        ("a.b@c.de", ["a.b@c.de", "a", "b", "c", "de"]),
        ("2024-07-21", ["2024-07-21", "2024", "07", "21"]),
        ("10:30", ["10:30", "10", "30"]),
        ("1,000", ["1000", "1", "000"]),
        ("R&D", ["r&d", "r", "d"]),
        ("U.S.A.", ["usa"]),
        ("U.S.", ["u.s"]),
        ("e-mails", ["e-mail", "e", "mail"]),
        ("__init__ --flag", ["init", "flag"]),
        ("well\u2010known", ["well-known", "well", "known"]),
        ("well\u2011known", ["well-known", "well", "known"]),
        ("don't", ["don't"]),
        ("they've", ["they've"]),
        ("Caroline's", ["carolin"]),
        ("Caroline’s", ["carolin"]),
        ("o'clock", ["oclock", "o", "clock"]),
        ("O’Brien", ["obrien", "o", "brien"]),
        ("dogs'", ["dog"]),
        ("café", ["cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("ÅNGSTRÖM", ["angstrom"]),
        ("Straße Ørsted", ["strass", "orst"]),
        ("İstanbul", ["istanbul"]),
        ("Tiếng Việt", ["tieng", "viet"]),
        ("ＡＢＣ", ["abc"]),
        ("海", ["海"]),
        ("喜欢海边", ["喜", "欢", "海", "边", "喜欢", "欢海", "海边"]),
        ("用GPT模型", ["用", "gpt", "模", "型", "模型"]),
        ("我的C++代码", ["我", "的", "我的", "c++", "c++", "c", "代", "码", "代码"]),
        ("ｶﾞｷﾞ", ["ガ", "ギ", "ガギ"]),
        ("데이터", ["데", "이", "터", "데이", "이터"]),
        ("ไทยดี", ["ไ", "ท", "ย", "ดี", "ไท", "ทย", "ยดี"]),
        ("Привет Ёлка й", ["привет", "елка", "й"]),
        ("Ελλάς", ["ελλασ"]),
        ("שָׁלוֹם", ["שלום"]),
        ("كِتَابٌ", ["كتاب"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("👍🏽 ❤️", ["👍", "❤"]),
        ("🇵🇹", ["🇵🇹"]),
        ("👩\u200d💻", ["👩\u200d💻", "👩", "💻"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("", []),
        (" …→§ ( ) % ; \u200d \ud800 \x00", []),
        ("select * from items;", ["select", "from", "item"]),
        ('AND; "unclosed; word:word; -x; NEAR(; %', ["and", "unclos", "word", "word", "x", "near"]),
        ("𠮷野家", ["𠮷", "野", "家", "𠮷野", "野家"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms
    assert analyze(text) == terms, "the second time, from what is remembered"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("DEC-0054", "see DEC-0054 for why"),
        ("0054", "DEC-0054"),
        ('"DEC-0054"', "DEC-0054"),
        ("中文", "中文优先"),
        ("cafe", "a café in Lisbon"),
        ("CAFÉ", "cafe"),
        ("llm", "many LLMs"),
        ("llms", "many LLMs"),
        ("version 1.2", "v1.2"),
        ("well known", "a well-known song"),
        ("ai", "用AI写作"),
        ("データ", "ﾃﾞｰﾀ"),
        ("école", "ECOLE"),
        ("running", "she runs"),
        ("c++", "C++20 modules"),
        ("node", "node.js"),
        ("user", "getUserName"),
        ("usa", "the U.S.A."),
        ("gpt 4", "GPT-4"),
    ],
)
def test_a_query_meets_the_text(query: str, text: str) -> None:
    assert set(analyze(query)) & set(analyze(text))


def test_the_kinds_of_a_query_and_its_function_words() -> None:
    found = {(t.term, t.kind): t for t in analyze_query("你的海边 what about fooBar")}
    assert found["海边", "pair"].stop is False
    assert found["的海", "seam"].unit == -1
    assert found["你的", "pair"].stop is True
    assert found["海", "character"].unit == -1
    assert found["what", "word"].stop is True
    assert found["foobar", "whole"].unit == found["foo", "part"].unit == found["bar", "part"].unit
    assert found["foobar", "whole"].unit != found["海边", "pair"].unit


def test_a_single_character_is_a_word() -> None:
    (term,) = analyze_query("海")
    assert (term.kind, term.stop) == ("word", False)
    (term,) = analyze_query("的")
    assert (term.kind, term.stop) == ("word", True)


def test_function_words() -> None:
    assert all(map(is_stop_word, ["the", "who", "don't", "dont", "they've", "什么", "我们", "です"]))
    assert not any(map(is_stop_word, ["well", "shell", "cant", "were-wolf", "sea", "海边", "will-power"]))
    assert all(map(is_stop_character, "的了是在我你他她吗呢"))
    assert not any(map(is_stop_character, "海喜玩边"))


def test_a_long_token_gives_a_bounded_term() -> None:
    assert analyze("x" * 1000) == ["x" * 64]
    assert max(map(len, analyze("-".join(["word"] * 50)))) <= 64
    assert "word" in analyze("-".join(["word"] * 50))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_CACHE_LIMIT", 10)
    remembered = analysis._Terms()
    monkeypatch.setattr(analysis, "_terms", remembered)
    for number in range(100):
        analyze(f"word{chr(97 + number % 26)}{number} it's{number} 海边{number} 用GPT-{number}写 {'long' * 20}{number}")
        assert max(len(remembered), len(remembered.before), len(remembered.words)) <= 10
        assert not any(len(chunk) > 64 for chunk in (*remembered, *remembered.words))


def test_what_was_asked_for_lately_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_CACHE_LIMIT", 10)
    remembered = analysis._Terms()
    for number in range(100):
        kept = remembered["sea,"]
        assert remembered[f"{number}"] == (f"{number}",)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "word_terms", lambda word: pytest.fail(f"{word} was forgotten"))
        assert remembered["sea,"] is kept


@given(text=made_text | any_text)
@example("的++12ab").via("two pluses take digits along")
@example("_.NET (.NET 海.NET 海.5 ….NET")
@example("1，000 １，０００ 海,5 5：6 3.5小时")
@example("a-b-a ONE-One-one LLMs-x C-3PO x--y -z")
@settings(max_examples=400, deadline=None)
def test_the_short_cuts_change_nothing(text: str) -> None:
    assert analyze(text) == slowly(text)
    assert analyze(text) == slowly(text), "the second time, from what is remembered"
    assert Counter(term.term for term in analyze_query(text)) == Counter(slowly(text))


def test_dense_characters_are_letters_that_no_normal_form_changes() -> None:
    dense = [chr(point) for point in range(0x3000, 0xD800) if analysis._is_dense(chr(point))]
    assert "".join(re.findall(f"[{analysis._DENSE}]", "".join(map(chr, range(0xD800))))) == "".join(dense)
    assert all(re.fullmatch(f"[{scripts._DENSE}]", character) for character in dense)
    known = [character for character in dense if unicodedata.category(character) != "Cn"]
    assert len(known) > 38_000
    assert all(character.isalnum() and not character.isdigit() for character in known)
    assert all(unicodedata.normalize("NFKC", character) == character for character in known)
    # Nothing composes with what stands before it.
    seconds = {parts[-1] for parts in map(decomposed, map(chr, range(0x110000))) if len(parts) == 2}
    assert seconds.isdisjoint(dense)


def decomposed(character: str) -> list[str]:
    parts = unicodedata.decomposition(character).split()
    return [] if parts[:1] and parts[0].startswith("<") else [chr(int(part, 16)) for part in parts]


def test_wide_marks_separate_like_a_space() -> None:
    combining = [chr(point) for point in range(0x20000) if unicodedata.combining(chr(point))]
    for mark in analysis._WIDE_MARKS:
        assert slowly(f"a1{mark}b2{mark}海{mark}.net") == slowly("a1 b2 海 .net")
        plain = unicodedata.normalize("NFKC", mark)
        assert all(unicodedata.normalize("NFKC", mark + sign)[: len(plain)] == plain for sign in combining)


@given(text=any_text)
@example("’" * 3 + "a’")
@settings(max_examples=300, deadline=None)
def test_any_text_has_terms_that_say_something(text: str) -> None:
    terms = analyze(text)
    assert all(terms)
    assert not any(any(c.isspace() for c in term) for term in terms)
    if any(c.isalpha() and c.isascii() for c in text):
        assert terms


@given(text=any_text)
@settings(max_examples=300, deadline=None)
def test_a_query_has_the_terms_of_the_text(text: str) -> None:
    assert Counter(t.term for t in analyze_query(text)) == Counter(analyze(text))


@given(first=any_text, second=any_text)
@settings(max_examples=300, deadline=None)
def test_lines_do_not_touch_each_other(first: str, second: str) -> None:
    assert analyze(f"{first}\n{second}") == analyze(first) + analyze(second)


@given(text=any_text)
@settings(max_examples=200, deadline=None)
def test_compatibility_forms_do_not_matter(text: str) -> None:
    assert analyze(unicodedata.normalize("NFKC", text)) == analyze(text)
    assert analyze(unicodedata.normalize("NFD", text)) == analyze(unicodedata.normalize("NFC", text))
