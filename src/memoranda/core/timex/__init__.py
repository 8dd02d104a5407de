"""Times in a question, as intervals: "last week", "in June 2023", 去年夏天, 三天前, from A to B, since A.

What is counted how:

* "last week" and 上周 are the calendar week before this one; "the last week", "the past week" and 最近一周 the seven
  days before now. Weeks begin on Monday, a weekend is Saturday and Sunday.
* "three days ago" is that day, "three weeks ago" that week, Monday to Sunday, "three months ago" that calendar
  month, "three years ago" that calendar year, hours and minutes that hour and that minute. A half left over is
  counted in the next smaller unit.
* What names no year, month or week (June, May 7, Friday, 周三, 21号, 月底) is the most recent one that has begun, the
  running one included; "last Friday", "last June", "last summer" are over; "next Friday" is the next one to begin.
  上周三 and 下周三 are days of the calendar weeks before and after this one.
* 去年夏天 is a season of last year; a winter belongs to the year of its December, and "last winter" may still run in
  January and February. "Early", "mid", "late" and 上中下旬 are thirds; 年初 and 年底 the first and last quarter.
* A night is 18:00 to 6:00. An hour from one to six with no half of the day is the afternoon's. A clock time alone
  is today's.
* "Before" and 之前 end where the time begins, "until", "by" and 截至 where it ends; "since" and 以来 begin where it
  begins, "after" and 之后 where it ends.
* ``vague`` marks what is fit for a boost and never for a filter: recently, 最近, these days, a few days ago, now,
  "in the summer" (which may be any), and what may be a duration or belong to a story ("in two weeks", 三天后, 三天内).

Recurring times ("every Monday", 每天) are none, nor are bare durations and dates that do not exist.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from datetime import UTC, timedelta
from functools import cache

from memoranda.core.records import dataclass
from memoranda.core.timex.calendar import read_clock
from memoranda.core.timex.chinese import may_hold_chinese, read_chinese
from memoranda.core.timex.chinese_words import simplified
from memoranda.core.timex.digits import read_digits
from memoranda.core.timex.english import read_english
from memoranda.core.timex.english_words import may_hold_english
from memoranda.core.timex.mentions import join
from memoranda.core.timex.ranges import compose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from memoranda.core.timex.mentions import Mention

__all__ = ["TimeExpression", "find_times"]


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time named in a text.

    ``text`` is ``source[start:end]``. The time lasts from ``begin`` to just
    before ``until``; None leaves that side open, never both. Both are aware, in
    the zone asked for. ``grain`` is the unit it is named in: "minute", "hour",
    "part" (of a day), "day", "days", "week", "weekend", "month", "season",
    "quarter", "half", "year", "decade", "<unit>-part", or "span" for what is no
    calendar unit.
    """

    start: int
    end: int
    text: str
    begin: datetime | None
    until: datetime | None
    grain: str
    vague: bool = False

    def holds(self, moment: datetime) -> bool:
        """Whether an aware moment lies in the interval."""
        after = self.begin is None or self.begin.astimezone(UTC) <= moment
        return after and (self.until is None or moment < self.until.astimezone(UTC))


def find_times(text: str, now: datetime, zone: tzinfo) -> list[TimeExpression]:
    """The times that ``text`` names, in order, none overlapping another.

    ``now`` is aware; days are counted in ``zone``. Never raises on any text;
    what the calendar cannot hold (100000000 days ago, the year 9999) is left out.
    """
    ascii_only = text.isascii()
    english = may_hold_english(text.lower())
    places: list[int] | None = None
    view = text
    if not ascii_only:
        view, places = _compatible(text)
        english = english or (places is not None and may_hold_english(view.lower()))
        view = simplified(view)
    chinese = not ascii_only and may_hold_chinese(view)
    if not (english or chinese):
        return []
    clock = read_clock(now, zone)
    found = read_digits(view, clock) if english else []
    if chinese:
        found = _merged(found, read_chinese(view, clock))
    if english:
        found = _merged(found, read_english(view, clock))
    times: list[TimeExpression] = []
    for one in compose(view, join(view, found, clock), clock):
        start, end = (one.start, one.end) if places is None else (places[one.start], places[one.end - 1] + 1)
        begin, until = _aware(one, zone)
        if not times or times[-1].end <= start:
            times.append(TimeExpression(start, end, text[start:end], begin, until, one.grain, one.vague))
    return times


@cache
def _spaces() -> re.Pattern[str]:
    return re.compile("(?<=[0-9]) (?=[\u2e80-\u9fff])|(?<=[\u2e80-\u9fff]) (?=[0-9])")


def _compatible(text: str) -> tuple[str, list[int] | None]:
    """The text in compatibility form, without spaces between digits and Chinese characters.

    With it, for each of its characters, the place it came from, if any moved.
    """
    view, places = text, None
    if not unicodedata.is_normalized("NFKC", text):
        pieces = [character if character.isascii() else unicodedata.normalize("NFKC", character) for character in text]
        places = [at for at, piece in enumerate(pieces) for _ in piece]
        view = "".join(pieces)
    if _spaces().search(view) is None:
        return view, places
    moved = places or list(range(len(view)))
    kept: list[int] = []
    last = 0
    for space in _spaces().finditer(view):
        kept += moved[last : space.start()]
        last = space.end()
    return _spaces().sub("", view), kept + moved[last:]


def _merged(first: list[Mention], second: list[Mention]) -> list[Mention]:
    """Both lists in order of place; of what overlaps, only ``first``."""
    if not first or not second:
        return first or second
    ends = [one.end for one in first]
    free = []
    for one in second:
        at = bisect_right(ends, one.start)
        if at == len(first) or one.end <= first[at].start:
            free.append(one)
    return sorted([*first, *free], key=lambda one: one.start)


def _aware(one: Mention, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Both ends in ``zone``: a wall time that the zone skips moves on, and an hour that comes twice is not empty."""
    begin, until = (edge and _in_zone(edge, zone) for edge in (one.begin, one.until))
    if begin is not None and until is not None and one.begin is not None and one.until is not None:
        real = until.astimezone(UTC) - begin.astimezone(UTC)
        if begin >= until or real <= timedelta(0):
            until = begin + max(one.until - one.begin, real)
    return begin, until


def _in_zone(edge: datetime, zone: tzinfo) -> datetime:
    there = edge.replace(tzinfo=zone)
    back = there.astimezone(UTC).astimezone(zone)
    return there if back.replace(tzinfo=None) == edge else back
