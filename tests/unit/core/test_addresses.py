"""Addresses: one text for one thing, in every scope."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.addresses import (
    SHARED,
    Address,
    Scope,
    TurnAddress,
    parse_address,
    parse_scope,
    parse_turn,
)
from memoranda.core.errors import BadName
from memoranda.core.names import is_item_name


@pytest.mark.parametrize(
    ("text", "scope", "category", "name"),
    [
        ("preferences:likes-the-sea", SHARED, "preferences", "likes-the-sea"),
        ("work/rules:no tabs", SHARED, "work/rules", "no tabs"),
        ("preferences：喜欢海", SHARED, "preferences", "喜欢海"),
        ("a:b:c", SHARED, "a", "b:c"),
        ("shared/preferences:x", SHARED, "preferences", "x"),
        ("user/lin/preferences:x", Scope("user", "lin"), "preferences", "x"),
        ("Agent/scout/modes:x", Scope("agent", "scout"), "modes", "x"),
        ("project/apollo/decisions/api:x", Scope("project", "apollo"), "decisions/api", "x"),
        ("preferences", SHARED, "preferences", None),
        ("user", SHARED, "user", None),
        ("notes:~0123456789", SHARED, "notes", "~0123456789"),
        ("notes:^b1", SHARED, "notes", "^b1"),
    ],
)
def test_addresses_are_read(text: str, scope: Scope, category: str, name: str | None) -> None:
    assert parse_address(text) == Address(scope, category, name)


def test_an_address_is_written_as_it_is_read() -> None:
    for text in ("a:b", "user/lin/a/b:c", "project/x/y"):
        assert str(parse_address(text)) == text
    assert parse_address("a:b").named("c") == parse_address("a:c")
    assert parse_address("Work:Café").key == parse_address("work:cafe\u0301").key


@given(st.text(min_size=1, max_size=20).filter(is_item_name))
def test_every_name_that_may_be_written_can_be_addressed(name: str) -> None:
    address = parse_address(f"category:{name}", writing=True)
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text", ["", ":x", "a:", "a: ", "../x:y", "a/../../b:c", "/etc/x:y", "user/x:y", "user//p:y", "CON:x", "a#b:c"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadName):
        parse_address(text)


@pytest.mark.parametrize("text", ["notes:~0123456789", "notes:^b1"])
def test_hash_and_block_addresses_cannot_be_written_to_by_name(text: str) -> None:
    with pytest.raises(BadName):
        parse_address(text, writing=True)


def test_scopes() -> None:
    assert parse_scope("shared") == SHARED
    assert str(parse_scope("user/lin")) == "user/lin"
    assert SHARED.prefix == ""
    assert Scope("agent", "scout").prefix == "agent/scout/"
    for text in ("", "user", "user/", "team/x", "shared/x", "user/../x", "project/a/b"):
        with pytest.raises(BadName):
            parse_scope(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("turn/conv_1#4", TurnAddress("conv_1", "4")),
        ("conv_1#D1:3", TurnAddress("conv_1", "D1:3")),
        ("conv_1", TurnAddress("conv_1")),
        ("turn/对话", TurnAddress("对话")),
        ("", None),
        ("turn/", None),
        ("#4", None),
        ("conv#", None),
        ("a/b#4", None),
    ],
)
def test_turns(text: str, expected: TurnAddress | None) -> None:
    assert parse_turn(text) == expected
    if expected is not None:
        assert parse_turn(str(expected)) == expected
