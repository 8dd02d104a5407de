"""What every clock promises."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from fakes.clock import FakeClock
from memoranda.core.ports import Clock
from memoranda.storage.clock import SystemClock

CLOCKS: list[Callable[[], Clock]] = [SystemClock, FakeClock, lambda: FakeClock(zone=ZoneInfo("Asia/Shanghai"))]


@pytest.fixture(params=CLOCKS, ids=["system", "fake", "fake-in-shanghai"])
def clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


def test_now_is_aware_and_in_utc(clock: Clock) -> None:
    assert clock.now().utcoffset() == timedelta(0)


def test_the_zone_turns_moments_into_days_and_back(clock: Clock) -> None:
    for moment in (clock.now(), datetime(2026, 1, 15, 12, tzinfo=UTC), datetime(2026, 7, 15, 12, tzinfo=UTC)):
        local = moment.astimezone(clock.zone())
        assert local.utcoffset() is not None
        assert local == moment
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        assert midnight.astimezone(UTC) <= moment < midnight.astimezone(UTC) + timedelta(days=1, hours=2)


def test_the_system_clock_goes_with_the_time() -> None:
    before = datetime.now(UTC)
    assert before <= SystemClock().now() <= datetime.now(UTC)


def test_the_fake_goes_where_it_is_told() -> None:
    clock = FakeClock()
    start = clock.now()
    clock.advance(hours=-3)
    assert clock.now() == start - timedelta(hours=3)
    clock.set(start)
    assert clock.now() == start
