"""The calendar that time expressions are counted in: intervals on the wall clock of one zone.

Datetimes here are naive: wall-clock time, with ``fold`` where an hour comes
twice. What lies outside the years 2 to 9998 raises :class:`ValueError` or
:class:`OverflowError`, as does a date that does not exist.

* Weeks are ISO weeks (Monday first); a weekend is Saturday 00:00 to Monday 00:00.
* Seasons are the northern meteorological ones; a winter belongs to the year of its December.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo

__all__ = [
    "Clock",
    "Interval",
    "Step",
    "about",
    "interval",
    "read_clock",
    "rolling",
    "shaped",
    "span",
    "step",
    "unit",
]


# Parts of what is longer than a month, in twelfths; those of a decade in years.
_YEAR_CUTS = {"early": (0, 4), "mid": (4, 8), "middle": (4, 8), "late": (8, 12), "begin": (0, 3), "end": (9, 12)}
_DECADE_CUTS = {"early": (0, 3), "mid": (3, 7), "middle": (3, 7), "late": (7, 10), "begin": (0, 3), "end": (7, 10)}


@dataclass(frozen=True, slots=True)
class Clock:
    """The moment a text is read at: ``now`` in UTC, and ``local``, the wall clock of ``zone`` then."""

    now: datetime
    zone: tzinfo
    local: datetime


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``begin`` to just before ``until``."""

    begin: datetime
    until: datetime
    grain: str


@dataclass(frozen=True, slots=True)
class Step:
    """A distance in time, and the grain that something so far away is remembered in."""

    months: int
    days: int
    seconds: int
    grain: str


def read_clock(now: datetime, zone: tzinfo) -> Clock:
    """The clock of an aware ``now`` in ``zone``."""
    return Clock(now.astimezone(UTC), zone, now.astimezone(zone).replace(tzinfo=None))


def interval(begin: datetime, until: datetime, grain: str) -> Interval:
    """An interval that any zone can hold."""
    if not (begin.year > 1 and until.year < 9999 and begin < until):
        raise ValueError("outside the calendar")
    return Interval(begin, until, grain)


def _months_on(year: int, month: int, months: int) -> datetime:
    years, month = divmod(year * 12 + month - 1 + months, 12)
    return datetime(years, month + 1, 1)


def span(year: int, month: int, months: int, grain: str) -> Interval:
    """``months`` whole months from a month on."""
    return interval(datetime(year, month, 1), _months_on(year, month, months), grain)


def unit(moment: datetime, grain: str, offset: int = 0) -> Interval:
    """The calendar unit that holds ``moment``, or the one ``offset`` units after it."""
    if grain == "minute":
        begin = moment.replace(second=0, microsecond=0)
        return interval(begin, (begin + timedelta(minutes=1)).replace(fold=begin.fold), grain)
    if grain == "hour":
        begin = moment.replace(minute=0, second=0, microsecond=0)
        return interval(begin, begin + timedelta(hours=1), grain)
    today = datetime(moment.year, moment.month, moment.day)
    if grain == "day":
        begin = today + timedelta(days=offset)
        return interval(begin, begin + timedelta(days=1), grain)
    if grain in ("week", "weekend"):
        begin = today + timedelta(days=7 * offset - today.weekday())
        if grain == "week":
            return interval(begin, begin + timedelta(days=7), grain)
        return interval(begin + timedelta(days=5), begin + timedelta(days=7), grain)
    if grain == "month":
        begin = _months_on(moment.year, moment.month, offset)
        return span(begin.year, begin.month, 1, grain)
    if grain == "quarter":
        begin = _months_on(moment.year, (moment.month - 1) // 3 * 3 + 1, 3 * offset)
        return span(begin.year, begin.month, 3, grain)
    years = {"year": 1, "decade": 10, "century": 100}[grain]
    return span((moment.year // years + offset) * years, 1, 12 * years, grain)


def step(halves: int, grain: str) -> Step:
    """So many half units; what a half leaves over is counted in the next smaller unit."""
    whole, half = divmod(halves, 2)
    if grain in ("century", "decade", "year"):
        months = halves * {"century": 600, "decade": 60, "year": 6}[grain]
        return Step(months, 0, 0, "month" if months % 12 else "year")
    if grain == "quarter":
        return Step(3 * whole + half, 15 * half, 0, "month" if half else grain)
    if grain == "month":
        return Step(whole, 15 * half, 0, "week" if half else grain)
    if grain in ("week", "weekend"):
        return Step(0, 7 * whole + 4 * half, 0, "day" if half else grain)
    if grain == "day":
        return Step(0, whole, 43200 * half, "hour" if half else grain)
    if grain == "hour":
        return Step(0, 0, 1800 * halves, "minute" if half else grain)
    return Step(0, 0, 30 * halves if grain == "minute" else halves // 2, "minute")


def _moved(clock: Clock, far: Step, sign: int) -> datetime:
    """The wall clock after (+1) or before (-1) a distance: dates by the calendar, hours by elapsed time."""
    if not (far.months or far.days):
        return (clock.now + timedelta(seconds=sign * far.seconds)).astimezone(clock.zone).replace(tzinfo=None)
    local = clock.local
    first = _months_on(local.year, local.month, sign * far.months)
    longest = (_months_on(first.year, first.month, 1) - first).days
    date = first.replace(day=min(local.day, longest), hour=local.hour, minute=local.minute, second=local.second)
    return date + timedelta(days=sign * far.days, seconds=sign * far.seconds)


def about(clock: Clock, far: Step, sign: int) -> Interval:
    """The unit of the distance's own grain that lies so far away."""
    return unit(_moved(clock, far, sign), far.grain)


def rolling(clock: Clock, far: Step, sign: int) -> Interval:
    """All of the distance before now (-1) or after it (+1); its grain is "span"."""
    edge, local = _moved(clock, far, sign), clock.local
    begin, until = (edge, local) if sign < 0 else (local, edge)
    if begin >= until:  # an hour that comes twice: the wall clock ran back
        begin = until - timedelta(seconds=far.seconds)
    return interval(begin, until, "span")


def shaped(whole: Interval, shape: str) -> Interval:
    """A part of an interval: ``early mid late`` thirds, ``begin middle end``, or ``<unit> <n>`` (-1 is the last)."""
    if not shape:
        return whole
    begin, until, grain = whole.begin, whole.until, whole.grain
    if " " in shape:
        return _numbered(whole, *shape.split())
    days = (until - begin).days
    if grain == "month":
        first, last = {"e": (0, 10), "b": (0, 10), "m": (10, 20), "l": (20, days)}["l" if shape == "end" else shape[0]]
    elif grain == "week":
        first, last = {"e": (0, 2), "b": (0, 2), "m": (2, 4), "l": (4, 7)}["l" if shape == "end" else shape[0]]
    elif days >= 80:
        months = (until.year - begin.year) * 12 + until.month - begin.month
        cuts = _DECADE_CUTS if grain == "decade" else _YEAR_CUTS
        parts = 10 if grain == "decade" else 12
        start, stop = (months * cut // parts for cut in cuts[shape])
        return interval(
            _months_on(begin.year, begin.month, start), _months_on(begin.year, begin.month, stop), f"{grain}-part"
        )
    else:
        raise ValueError("too short to have parts")
    return interval(begin + timedelta(days=first), begin + timedelta(days=last), f"{grain}-part")


def _numbered(whole: Interval, name: str, number: str) -> Interval:
    """The n-th day, week (of seven days from the first), weekday, weekend, half or quarter of an interval."""
    begin, until, at = whole.begin, whole.until, int(number)
    if name == "days":
        length = timedelta(days=abs(at))
        first, last = (begin, begin + length) if at > 0 else (until - length, until)
    elif name.startswith("weekday"):
        early = begin + timedelta(days=(int(name[-1]) - begin.weekday()) % 7 + 7 * (at - 1))
        late = until - timedelta(days=(until.weekday() - int(name[-1]) - 1) % 7 + 1)
        first, name = (late if at < 0 else early), "day"
        last = first + timedelta(days=1)
    elif name in ("day", "week"):
        length = timedelta(days=7 if name == "week" else 1)
        first = until - length if at < 0 else begin + (at - 1) * length
        last = min(first + length, until)
    elif name == "weekend":
        first = unit(until, "weekend", -1).begin if at < 0 else unit(begin, "weekend", at - 1).begin
        last = first + timedelta(days=2)
    else:
        parts = 2 if name == "half" else 4
        at = parts if at < 0 else at
        months = (until.year - begin.year) * 12 + until.month - begin.month
        if at > parts:
            raise ValueError("more parts than there are")
        if months >= 12:
            cuts = [months * cut // parts for cut in (at - 1, at)]
            first, last = (_months_on(begin.year, begin.month, cut) for cut in cuts)
        else:
            length = timedelta(days=(until - begin).days // parts)
            first = begin + (at - 1) * length
            last = until if at == parts else first + length
    if not begin <= first < last <= until + timedelta(days=1):
        raise ValueError("not within the whole")
    return interval(first, last, name)
