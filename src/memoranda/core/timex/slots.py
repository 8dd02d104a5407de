"""Places in time that are named without saying in what: "June", "Friday", "the 21st", "at nine".

A slot becomes an interval in its container: June in a year, Friday in a week,
nine o'clock in a day. Where nothing names the container, it is the most recent
one in which the slot has begun, because a memory is about the past.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memoranda.core.records import dataclass
from memoranda.core.timex.calendar import interval, shaped, span, unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.timex.calendar import Clock, Interval

__all__ = ["Slot", "anchored", "container", "following", "latest", "over", "place", "preceding", "upcoming"]

# Name, first hour, hours.
_PARTS = {
    "dawn": (0, 6),
    "morning": (5, 7),
    "noon": (11, 3),
    "afternoon": (12, 6),
    "dusk": (17, 3),
    "evening": (17, 7),
    "night": (18, 12),
    "midnight": (22, 8),
}
# What each kind of slot is counted in.
_CONTAINERS = {
    "month": "year",
    "days": "year",
    "season": "year",
    "quarter": "year",
    "half": "year",
    "year-part": "year",
    "decade-part": "decade",
    "month-days": "month",
    "month-part": "month",
    "weekday": "week",
    "weekend": "week",
    "part": "day",
    "clock": "day",
}
_FURTHEST = 10  # containers searched: February 29 is at most eight years away, a 31st one month


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a larger unit that is not yet known: "June", "Friday", "at nine".

    ``first`` and ``last`` number months, days of the month, hour and minute, or
    what ``kind`` counts; ``name`` is a part of the day, of a month or of a
    year, or the half of the day that a clock time belongs to.
    """

    kind: str
    first: int = 0
    last: int = 0
    month: int = 0
    name: str = ""


def container(slot: Slot) -> str:
    """The unit that a slot is a place in."""
    return _CONTAINERS[slot.kind]


def place(slot: Slot, within: datetime) -> Interval:
    """The slot in the container that begins at ``within``."""
    kind, first = slot.kind, slot.first
    if kind == "month":
        last = slot.last or first
        return span(within.year, first, (last - first) % 12 + 1, kind)
    if kind in ("days", "month-days"):
        begin = datetime(within.year, slot.month or within.month, first)
        until = begin.replace(day=slot.last or first) + timedelta(days=1)
        return interval(begin, until, "day" if slot.last in (0, first) else "days")
    if kind == "weekday":
        return unit(within + timedelta(days=first), "day")
    if kind == "weekend":
        return unit(within, "weekend")
    if kind == "season":
        return span(within.year, 3 * first, 3, kind)
    if kind == "quarter":
        return span(within.year, 3 * first - 2, 3, kind)
    if kind == "half":
        return span(within.year, 6 * first - 5, 6, kind)
    if kind in ("year-part", "month-part", "decade-part"):
        return shaped(unit(within, kind[:-5]), slot.name)
    day = datetime(within.year, within.month, within.day)
    if kind == "part":
        hour, hours = _PARTS[slot.name]
        begin = day + timedelta(hours=hour)
        return interval(begin, begin + timedelta(hours=hours), kind)
    begin = day + timedelta(hours=_hour(first, slot.name), minutes=max(slot.last, 0))
    return unit(begin, "hour" if slot.last < 0 else "minute")


def _hour(hour: int, half: str) -> int:
    """The hour of a 24-hour day, above 24 for the small hours of a night; one to six alone are the afternoon's."""
    if half in ("night", "midnight"):
        return hour + 24 if hour < 6 else 24 if hour == 12 else hour + 12 if hour < 12 else hour
    if half in ("am", "dawn", "morning"):
        return 0 if hour == 12 and half != "morning" else hour
    if half == "noon":
        return hour + 12 if hour < 4 else hour
    if half in ("pm", "afternoon", "dusk", "evening"):
        return hour + 12 if hour < 12 else hour if hour > 12 or half in ("pm", "afternoon") else 24
    return hour + 12 if 1 <= hour <= 6 and half != "written" else hour


def _search(slot: Slot, start: datetime, direction: int) -> Iterator[Interval]:
    """The slot in the containers from ``start`` on or back, those that have no such date left out."""
    for offset in range(_FURTHEST):
        try:
            yield place(slot, unit(start, container(slot), direction * offset).begin)
        except (ValueError, OverflowError):
            continue


def _first(found: Iterator[Interval]) -> Interval:
    one = next(found, None)
    if one is None:
        raise ValueError("no such date")
    return one


def anchored(slot: Slot, moment: datetime, shape: str = "") -> Interval:
    """The slot in the container that holds ``moment``; a winter that runs then is this one."""
    here = place(slot, unit(moment, container(slot)).begin)
    if slot.kind == "season" and here.begin > moment:
        before = place(slot, unit(moment, "year", -1).begin)
        here = before if before.until > moment else here
    return shaped(here, shape)


def latest(slot: Slot, clock: Clock, shape: str = "") -> Interval:
    """The most recent one that has begun; a part or hour of the day is today's."""
    if container(slot) == "day":
        return anchored(slot, clock.local, shape)
    found = (shaped(one, shape) for one in _search(slot, clock.local, -1))
    return _first(one for one in found if one.begin <= clock.local)


def over(slot: Slot, clock: Clock) -> Interval:
    """The most recent one that is over; a winter that began last year counts."""
    year = clock.local.year if slot.kind == "season" else 0
    found = _search(slot, clock.local, -1)
    return _first(one for one in found if one.until <= clock.local or one.begin.year < year)


def upcoming(slot: Slot, clock: Clock) -> Interval:
    """The next one to begin."""
    return _first(one for one in _search(slot, clock.local, 1) if one.begin > clock.local)


def following(slot: Slot, start: datetime) -> Interval:
    """The first one that begins at ``start`` or later; an hour may be one of the afternoon."""
    later = Slot("clock", slot.first + 12, slot.last, name="written")
    found = [_first(one for one in _search(slot, start, 1) if one.begin >= start)]
    if slot.kind == "clock" and not slot.name and slot.first < 12:
        found.append(_first(one for one in _search(later, start, 1) if one.begin >= start))
    return min(found, key=lambda one: one.begin)


def preceding(slot: Slot, end: datetime) -> Interval:
    """The last one that begins at ``end`` or before."""
    return _first(one for one in _search(slot, end, -1) if one.begin <= end)
