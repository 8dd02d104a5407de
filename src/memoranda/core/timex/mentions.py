"""What the readers of one language find in a text, and how neighbours are put together.

"July" and "last year", "the 21st" and "上个月", "Friday" and "at nine" are found
on their own and joined here: a slot takes its place in the unit that stands
beside it.
"""

from __future__ import annotations

from memoranda.core.records import dataclass, replace
from memoranda.core.timex.calendar import unit
from memoranda.core.timex.slots import Slot, anchored, container, latest, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from memoranda.core.timex.calendar import Clock, Interval

__all__ = ["Mention", "join", "mention", "resolved"]

_LONGEST_GAP = 12
# What may stand between two parts of one expression, white space aside.
_BETWEEN = ("", "of", "in", "on", "at", "the", "of the", "in the", "on the", "at the", "at around", "around", "的")
_DATES = ("day", "days", "month-days")


@dataclass(slots=True)
class Mention:
    """A time as found at ``view[start:end]``: an interval, or a slot that has none yet.

    ``needs`` says what must stand with it: nothing (""), a neighbour to join
    ("join"), or a word that leads to a time, such as "in" ("month", "year",
    ... choose the words). ``whole`` is false for what is not a calendar unit
    and holds no slots; ``part`` is the part of the day an interval is;
    ``dated`` is one whose year is written beside it.
    """

    start: int
    end: int
    begin: datetime | None = None
    until: datetime | None = None
    grain: str = ""
    vague: bool = False
    slot: Slot | None = None
    shape: str = ""
    needs: str = ""
    part: str = ""
    whole: bool = True
    dated: bool = False


def mention(start: int, end: int, found: Interval, *, vague: bool = False, part: str = "", needs: str = "") -> Mention:
    """A mention of a known interval."""
    whole = found.grain != "span" and not vague
    return Mention(start, end, found.begin, found.until, found.grain, vague, None, "", needs, part, whole)


def resolved(one: Mention, clock: Clock) -> Mention:
    """The mention with its interval: a slot that stands alone is the most recent one."""
    if one.slot is None:
        return one
    found = latest(one.slot, clock, one.shape)
    part = one.slot.name if one.slot.kind == "part" else ""
    return replace(one, begin=found.begin, until=found.until, grain=found.grain, slot=None, shape="", part=part)


def join(view: str, found: list[Mention], clock: Clock) -> list[Mention]:
    """Neighbours put together: hours with their part of the day, then dates, then days with their hours."""
    for level in (_hours, _dates, _days):
        kept: list[Mention] = []
        for one in found:
            if kept and one.needs == "never" and kept[-1].end == one.start:
                kept[-1] = replace(kept[-1], needs="never")  # 2024年13月
            while kept and one.needs != "never" != kept[-1].needs:
                gap = _gap(view, kept[-1].end, one.start)
                if gap is None:
                    break
                try:
                    both = level(view, kept[-1], one, gap, clock)
                except (ValueError, OverflowError):
                    both = replace(one, needs="never")  # February 30 of a known year
                if both is None:
                    break
                one = replace(both, start=kept.pop().start, end=one.end)
                if gap == "(" and view.startswith(")", one.end):
                    one = replace(one, end=one.end + 1)
            kept.append(one)
        found = kept
    return found


def _gap(view: str, start: int, end: int) -> str | None:
    if not 0 <= end - start <= _LONGEST_GAP:
        return None
    gap = view[start:end]
    return None if "\n" in gap else " ".join(gap.lower().split())


def _placed(slot: Slot, unit: Mention) -> Mention:
    assert unit.begin is not None
    found = place(slot, unit.begin)
    part = slot.name if slot.kind == "part" else ""
    return mention(0, 0, found, part=part, vague=unit.vague)


def _hours(view: str, first: Mention, second: Mention, gap: str, clock: Clock) -> Mention | None:
    """ "下午" and "三点", "3" and "in the afternoon"."""
    if first.slot is None or second.slot is None or gap not in _BETWEEN:
        return None
    kinds = first.slot.kind, second.slot.kind
    if kinds == ("part", "clock"):
        return replace(first, slot=_timed(second.slot, first.slot.name), needs="")
    if kinds == ("clock", "part"):
        return replace(first, slot=_timed(first.slot, second.slot.name), needs="")
    return None


def _timed(hour: Slot, part: str) -> Slot:
    """The hour in the half of the day that the part, or its own "am" or "pm", says."""
    if hour.name == "am" and part in ("night", "midnight"):
        return replace(hour, first=hour.first % 12, name="night")
    return hour if hour.name in ("am", "pm") else replace(hour, name=part)


def _dates(view: str, first: Mention, second: Mention, gap: str, clock: Clock) -> Mention | None:
    """Months, days, weekdays, seasons with the unit they are in; a weekday beside its date says nothing new."""
    one, two = first.slot, second.slot
    if gap in ("", ",", "("):
        if one is not None and one.kind == "weekday" and _is_date(second):
            return second
        if two is not None and two.kind == "weekday" and _is_date(first):
            return first
    today = view[second.start : second.end] in ("今天", "今日") and gap in ("", "的")
    if today and first.grain == "year" and first.whole and first.begin is not None and second.begin is not None:
        return mention(0, 0, unit(second.begin.replace(year=first.begin.year), "day"))  # 去年今天
    comma = gap == "," and one is not None and second.needs == "year"
    if not comma and gap not in _BETWEEN:
        return None
    for inner, outer in ((first, second), (second, first)):
        slot = inner.slot
        if slot is None or container(slot) == "day":
            continue
        if outer.slot is None:
            early = outer is first and not gap and inner.needs == "month" and outer.needs == "year"  # in 2023 May moved
            if outer.whole and outer.grain == container(slot) and not early:
                return replace(_placed(slot, outer), dated=outer.grain == "year" or outer.dated)
        elif slot.kind == "month-days" and outer.slot.kind == "month" and not outer.shape:
            return replace(inner, slot=replace(slot, kind="days", month=outer.slot.first), needs="")
        elif slot.kind == "month-part" and outer.slot.kind == "month" and not outer.shape:
            return replace(outer, shape=slot.name, needs="")
        elif slot.kind == "month-part" and outer.slot.kind == "year-part":
            return None
    return None


def _is_date(one: Mention) -> bool:
    if one.slot is not None:
        return one.slot.kind in _DATES
    return one.grain == "day" and one.whole


def _days(view: str, first: Mention, second: Mention, gap: str, clock: Clock) -> Mention | None:
    """Parts and hours of the day with their day."""
    if gap not in _BETWEEN:
        return None
    for inner, outer in ((first, second), (second, first)):
        if inner.slot is None or container(inner.slot) != "day" or outer.needs == "never":
            continue
        if outer.slot is not None and container(outer.slot) == "day":
            continue
        if inner is first and view[first.end - 1] >= "\u2e80":
            continue  # in Chinese the day comes first
        day = resolved(outer, clock)
        if day.grain == "day" and day.whole:
            return _placed(inner.slot, day)
        if day.part and inner.slot.kind == "clock" and day.begin is not None:
            found = anchored(_timed(inner.slot, day.part), day.begin)
            return mention(0, 0, found)
    return None
