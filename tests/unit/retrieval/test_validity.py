"""When something no longer holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry
from memoranda.retrieval.validity import moment_after, outdated, reference_keys
from memoranda.retrieval.view import View

EAST = timezone(timedelta(hours=8))
NOON = datetime(2026, 7, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-10", datetime(2026, 7, 11, tzinfo=EAST)),
        ("2026-7-9", datetime(2026, 7, 10, tzinfo=EAST)),
        ("2026-12", datetime(2027, 1, 1, tzinfo=EAST)),
        ("2026-01", datetime(2026, 2, 1, tzinfo=EAST)),
        ("2026", datetime(2027, 1, 1, tzinfo=EAST)),
        ("2026-07-10T03:00:00Z", datetime(2026, 7, 10, 3, tzinfo=UTC)),
        ("2026-07-10T03:00", datetime(2026, 7, 10, 3, tzinfo=EAST)),
        ("soon", None),
        ("2026-02-30", None),
        ("9999", None),
        ("", None),
    ],
)
def test_the_moment_after_a_date(text: str, expected: datetime | None) -> None:
    assert moment_after(text, EAST) == expected


@pytest.mark.parametrize(
    ("valid_to", "gone"),
    [
        ("2026-07-09", True),
        ("2026-07-10", False),  # in the east the tenth ends at 16:00 UTC
        ("2026-07-10T11:59:59Z", True),
        ("2026-07-10T12:00:00Z", True),
        ("2026-07-10T12:00:01Z", False),
        ("whenever", False),
    ],
)
def test_expiry(entry: Callable[..., Entry], valid_to: str, gone: bool) -> None:
    found = outdated(entry("a:x", valid_to=valid_to), View([]), NOON, EAST)
    assert (found is not None) is gone
    if found is not None:
        assert found.reasons == (f"valid until {valid_to}",)


@pytest.mark.parametrize("reference", ["a:new", "new", "[[a:new]]", "[[a#new|the new one]]", "A：New", "^new"])
def test_a_successor_however_it_is_named(entry: Callable[..., Entry], reference: str) -> None:
    corpus = Corpus()
    new = entry("a:new")
    corpus.put(new)
    found = outdated(entry("a:old", superseded_by=reference), View(corpus.partitions(["item"])), NOON, EAST)
    assert found is not None
    assert found.successor is new
    assert found.reasons == ("superseded by a:new",)


def test_a_successor_that_is_not_found_has_taken_its_place_all_the_same(entry: Callable[..., Entry]) -> None:
    found = outdated(entry("a:old", superseded_by="b:gone"), View([]), NOON, EAST)
    assert found is not None
    assert (found.successor, found.reasons) == (None, ("superseded by b:gone",))


def test_a_successor_that_is_not_there_yet_has_not(entry: Callable[..., Entry]) -> None:
    corpus = Corpus()
    corpus.put(entry("a:new", ts="2026-08"))
    view = View(corpus.partitions(["item"]), lambda one: one.ts < "2026-08")
    assert outdated(entry("a:old", superseded_by="a:new"), view, NOON, EAST) is None


def test_nothing_supersedes_itself(entry: Callable[..., Entry]) -> None:
    corpus = Corpus()
    old = entry("a:old", superseded_by="a:old")
    corpus.put(old)
    found = outdated(old, View(corpus.partitions(["item"])), NOON, EAST)
    assert found is not None
    assert found.successor is None


def test_a_reference_in_a_scope_means_that_scope_first(entry: Callable[..., Entry]) -> None:
    old = entry("user/lin/a:old")
    assert list(reference_keys("b:new", old)) == [("user/lin/b", "new"), ("b", "new")]
    assert list(reference_keys("new", old)) == [("user/lin/a", "new")]
