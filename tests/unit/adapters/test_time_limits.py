"""Calls that are given up on."""

from __future__ import annotations

import threading

import pytest

from memoranda.adapters.time_limits import OutOfTime, TimeLimit


def test_what_is_returned_or_raised_comes_through() -> None:
    limit = TimeLimit()
    assert limit.call(20, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        limit.call(20, lambda: 1 // 0)


def test_no_more_than_so_many_hang_and_those_that_end_make_room() -> None:
    go_on = threading.Event()
    made: list[int] = []
    limit = TimeLimit(most=2)

    def hang() -> None:
        made.append(1)
        go_on.wait(20)

    for _ in range(5):
        with pytest.raises(OutOfTime):
            limit.call(0.02, hang)
    assert len(made) == 2
    go_on.set()
    assert limit.call(20, lambda: 7) == 7


def test_without_time_nothing_is_answered() -> None:
    go_on = threading.Event()
    with pytest.raises(OutOfTime):
        TimeLimit().call(0, lambda: go_on.wait(20))
    go_on.set()
