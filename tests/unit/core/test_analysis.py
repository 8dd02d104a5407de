"""From text to terms."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core import analysis
from memoranda.core.analysis import analyze, analyze_query
from memoranda.core.stopwords import is_stop_character, is_stop_word

any_text = st.text(
    st.characters() | st.sampled_from("aZ09.-_@'’&:,+# \n海边のแก่👍\u200d🏽\u0301\ud800"), max_size=60
)


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
    analyze(" ".join(f"word{chr(97 + n % 26)}{n}" for n in range(100)))
    assert len(analysis._cache) <= 10


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
