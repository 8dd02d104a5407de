"""Names: what can be one, when two are the same, and what is made where none was given."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.errors import BadName
from memoranda.core.names import (
    check_category,
    check_identifier,
    check_item_name,
    clean_name,
    content_hash,
    hash_name,
    is_category,
    is_item_name,
    made_name,
    name_key,
    normalize_newlines,
)


@pytest.mark.parametrize(
    "name", ["likes-the-sea", "手冲咖啡", "a:b", "C++ 与 Python", "🐘", "x" * 300, "[one bracket]"]
)
def test_names_of_any_language_are_kept_as_written(name: str) -> None:
    assert check_item_name(name) == name
    assert is_item_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "   ", "a|b", "a#b", "[[a", "a]]", "a\nb", "a\x00b", "a\x85b", "a\u2028b", "~hash", "^block", "\ud800"],
)
def test_what_cannot_be_linked_to_is_refused(name: str) -> None:
    assert not is_item_name(name)
    with pytest.raises(BadName):
        check_item_name(name)


def test_names_are_compared_after_unicode_form_case_and_spaces() -> None:
    assert name_key("Café") == name_key(unicodedata.normalize("NFD", "cafÉ"))
    assert name_key("STRASSE") == name_key("straße")
    assert name_key("two  words ") == name_key("Two words")
    assert name_key("海边") != name_key("海")


@given(st.text(max_size=30))
def test_a_key_is_the_key_of_itself(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)
    assert name_key(clean_name(name)) == name_key(name)


@pytest.mark.parametrize(
    "category",
    [
        "",
        "/etc/x",
        "../escape",
        "a/../../b",
        "a//b",
        "a/",
        ".git/hooks/x",
        "CON",
        "aux.md",
        "work/Lpt1",
        "a\\b",
        "C:x",
        "a：b",
        "a*b",
        "a?b",
        "a<b",
        'a"b',
        "a|b",
        "a#b",
        "a[b",
        "a\x00b",
        "ends.",
        "x" * 300,
        "海" * 67,
    ],
)
def test_a_category_is_a_file_name_on_every_system(category: str) -> None:
    assert is_category(category) is None
    with pytest.raises(BadName):
        check_category(category)


@pytest.mark.parametrize("first", ["user", "Agent", "project", "shared", "turn", "kb"])
def test_a_shared_category_does_not_begin_like_another_address(first: str) -> None:
    with pytest.raises(BadName, match="may not begin"):
        check_category(f"{first}/x")
    assert check_category(f"{first}/x", shared=False) == f"{first}/x"
    assert check_category(first) == first


def test_a_category_is_stored_in_one_form() -> None:
    assert check_category("  work / Cafe\u0301 rules ") == "work/Café rules"
    assert check_identifier("lin", "a user") == "lin"
    with pytest.raises(BadName, match="a user"):
        check_identifier("../lin", "a user")


def test_line_endings_do_not_change_a_hash() -> None:
    assert normalize_newlines("a\r\nb\rc\n") == "a\nb\nc\n"
    assert content_hash("a\r\nb") == content_hash("a\nb") == content_hash("a\rb")
    assert content_hash("a") != content_hash("b")
    assert len(content_hash("\ud800")) == 16
    assert hash_name(" a\u0301 ") == hash_name("á")
    assert hash_name("a").startswith("~")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Only drinks hand-brewed coffee, never with sugar. And tea.", "only-drinks-hand-brewed-coffee-never-with"),
        ("喜欢海边，提到过想去海边玩。", "喜欢海边提到过想去海边玩"),
        ("用 Python 写代码", "用Python写代码"),
        ("  \n\nSecond line counts", "second-line-counts"),
        ("[[a:b]] links say nothing", "links-say-nothing"),
    ],
)
def test_a_name_is_made_from_the_first_clause(text: str, name: str) -> None:
    assert made_name(text) == name


@given(st.text(max_size=80))
def test_a_made_name_is_a_name_and_always_the_same(text: str) -> None:
    name = made_name(text)
    assert is_item_name(name), name
    assert name == made_name(text)
    assert len(name) <= 60


def test_a_text_without_words_is_named_by_its_hash() -> None:
    assert made_name("!!! …").startswith("item-")
    assert made_name("[[a:b]]").startswith("item-")
    assert made_name("supercalifragilistic" * 10) == ("supercalifragilistic" * 10)[:60]
