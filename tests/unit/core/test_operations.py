from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from memoranda.core.operations import ITEM_TYPES, OPERATIONS, Operation, Reading


def test_a_model_can_neither_delete_nor_overwrite() -> None:
    assert OPERATIONS == ("add", "merge", "supersede", "skip")


def test_the_six_types_are_told_apart() -> None:
    assert len(set(ITEM_TYPES)) == 6


def test_what_was_not_said_is_empty() -> None:
    one = Operation("skip")
    assert (one.category, one.name, one.text, one.target, one.type, one.about, one.reason) == ("",) * 7
    assert one.links == ()
    assert one.ephemeral is False


def test_operations_are_values() -> None:
    assert Operation("add", text="a") == Operation("add", text="a")
    assert len({Operation("add", text="a"), Operation("add", text="a"), Operation("add", text="b")}) == 2
    with pytest.raises(FrozenInstanceError):
        Operation("add").op = "skip"  # type: ignore[misc]


def test_an_unread_reply_is_not_whole() -> None:
    assert Reading() == Reading((), (), False)
