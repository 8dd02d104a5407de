"""What is made of foreign names can be written, and stays near to what it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.legal_names import FreeNames, legal_category, legal_id, legal_name, short_name
from memoranda.core.errors import BadName
from memoranda.core.names import check_category, check_item_name, is_conflict_copy, name_key


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("work/rules", "work/rules"),
        ("Notes/书：评", "Notes/书-评"),
        ("user/x", "imported-user/x"),
        ("USER/x", "imported-USER/x"),
        ("user", "user"),
        ("con/aux", "imported-con/imported-aux"),
        ("a/..", "a/unnamed"),
        (".hidden/./#", "hidden/unnamed/unnamed"),
        ("a" * 300, "a" * 200),
        ("海" * 300, "海" * 66),
        ("a\ud800b", "a-b"),
    ],
)
def test_categories(path: str, category: str) -> None:
    assert legal_category(path) == category


def test_a_conflict_copy_is_no_category() -> None:
    with pytest.raises(BadName):
        legal_category("notes (conflicted copy 2026-01-01)")


@given(st.text(max_size=250))
def test_what_comes_out_can_be_written(text: str) -> None:
    if not is_conflict_copy(f"{text}.md"):
        category = legal_category(text)
        assert check_category(category) == category
    name = legal_name(text)
    assert name is None or check_item_name(name) == name
    short = short_name(text)
    assert (short is None) == (name is None)
    assert short is None or (check_item_name(short) == short and len(short) <= 120)
    assert not set("/#\n\0") & set(legal_id(text))


def test_names() -> None:
    assert legal_name("C#|sharp [[x]]") == "C--sharp -x"
    assert legal_name("^~^") is None
    assert short_name("word " * 40) == " ".join(["word"] * 24)
    assert legal_id(" a/b#c\n") == "a-b-c"
    assert legal_id("/#") == ""


@given(st.lists(st.sampled_from(["a", "A", "a-2", "b", "a-3"]), max_size=12))
def test_no_name_is_given_twice(wanted: list[str]) -> None:
    names = FreeNames()
    given_out = [names.take(name) for name in wanted]
    assert len({name_key(name) for name in given_out}) == len(wanted)
    assert given_out[:1] == wanted[:1]


@pytest.mark.parametrize("text", ["[[" * 50_000, "#" * 100_000, "a" * 100_000, "~" * 100_000])
def test_long_texts_are_named_without_delay(text: str) -> None:
    assert 0 < len(FreeNames().take_made(text)) < 100
    legal_category(text)
    short_name(text)


def test_names_made_of_texts_are_told_apart() -> None:
    names = FreeNames()
    assert [names.take_made(t) for t in ("Likes the sea.", "Likes the sea!", "...")][:2] == [
        "likes-the-sea",
        "likes-the-sea-2",
    ]
