"""Moments as they are written and read, and the machine's zone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.errors import UsageError
from memoranda.storage.clock import SystemClock, parse_moment, written_moment

ZONES = ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Beirut", "Pacific/Apia"]


@pytest.fixture
def machine_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Moves the machine to another zone."""

    def move(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-07-10", "2026-07-09T16:00:00Z"),
        (" 2026-07-10 ", "2026-07-09T16:00:00Z"),
        ("20260710", "2026-07-09T16:00:00Z"),
        ("2026-07-10T00:30", "2026-07-09T16:30:00Z"),
        ("2026-07-10 00:30:01", "2026-07-09T16:30:01Z"),
        ("2026-07-10T00:30:00Z", "2026-07-10T00:30:00Z"),
        ("2026-07-10T00:30:00-05:00", "2026-07-10T05:30:00Z"),
        ("2026-07-10T00:30:00.25Z", "2026-07-10T00:30:00.250000Z"),
    ],
)
def test_read_in_the_users_zone(text: str, utc: str) -> None:
    assert written_moment(parse_moment(text, ZoneInfo("Asia/Shanghai"))) == utc


@pytest.mark.parametrize("text", ["2026-07-10", "20260710", "2026-W28-5"])
def test_a_bare_date_may_mean_its_end(text: str) -> None:
    assert written_moment(parse_moment(text, UTC, end_of_day=True)) == "2026-07-10T23:59:59.999999Z"


def test_a_time_of_day_is_not_moved_to_the_end() -> None:
    assert written_moment(parse_moment("2026-07-10T09:30", UTC, end_of_day=True)) == "2026-07-10T09:30:00Z"


@pytest.mark.parametrize(
    "text", ["", " ", "yesterday", "昨天", "2026", "2026-13-01", "2026-02-30", "10.07.2026", "2026-07-10T25:00", "\0"]
)
def test_nonsense_is_a_usage_error_that_shows_how(text: str) -> None:
    with pytest.raises(UsageError, match="2026-07-10T09:30"):
        parse_moment(text, UTC)


def test_what_lies_beyond_the_calendar_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        parse_moment("0001-01-01", timezone(timedelta(hours=8)))
    with pytest.raises(UsageError):
        parse_moment("9999-12-31", timezone(timedelta(hours=-8)), end_of_day=True)


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_what_is_written_reads_back(moment: datetime) -> None:
    assert parse_moment(written_moment(moment), UTC) == moment
    assert written_moment(moment).endswith("Z")


@given(st.dates(min_value=datetime(1990, 1, 1).date(), max_value=datetime(2035, 1, 1).date()), st.sampled_from(ZONES))
def test_a_day_begins_where_the_one_before_ends(day: datetime, zone: str) -> None:
    """Also where the clock is put forward or back at midnight."""
    end = parse_moment(day.isoformat(), ZoneInfo(zone), end_of_day=True)
    following = day + timedelta(days=1)
    start = parse_moment(following.isoformat(), ZoneInfo(zone))
    if (zone, day.isoformat()) != ("Pacific/Apia", "2011-12-29"):  # the next day there never was
        assert start - end == timedelta(microseconds=1)


@pytest.mark.parametrize("zone", ZONES)
def test_the_machine_knows_its_summer_time(zone: str, machine_in: Callable[[str], None]) -> None:
    """In winter, a moment of last summer has summer's offset."""
    machine_in(zone)
    ours, theirs = SystemClock().zone(), ZoneInfo(zone)
    for month in range(1, 13):
        moment = datetime(2026, month, 15, 12, 30, tzinfo=UTC)
        local = moment.astimezone(ours)
        assert local.utcoffset() == moment.astimezone(theirs).utcoffset()
        assert local.tzname() == moment.astimezone(theirs).tzname()
        assert local.astimezone(UTC) == moment
        text = f"2026-{month:02d}-15T23:10"
        assert parse_moment(text, ours) == parse_moment(text, theirs)


def test_the_hour_that_comes_twice(machine_in: Callable[[str], None]) -> None:
    machine_in("Europe/Berlin")
    zone = SystemClock().zone()
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1))
    assert first.astimezone(zone).replace(tzinfo=None) == second.astimezone(zone).replace(tzinfo=None, fold=0)
    assert first.astimezone(zone).astimezone(UTC) == first
    assert second.astimezone(zone).astimezone(UTC) == second


def test_a_zone_without_a_moment_says_nothing() -> None:
    zone = SystemClock().zone()
    assert zone.utcoffset(None) is None
    assert zone.tzname(None) is None
    assert zone.dst(None) is None
