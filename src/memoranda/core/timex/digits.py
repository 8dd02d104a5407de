"""Dates and hours written in digits, the same in every language: ``2024-07-21T09:30Z``, ``2024/7/21``, ``9:30``."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from functools import cache

from memoranda.core.timex.calendar import span, unit
from memoranda.core.timex.mentions import Mention, mention
from memoranda.core.timex.slots import Slot, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.timex.calendar import Clock

__all__ = ["read_digits"]

# Numbers with dots after such a word are of a program, not of a day.
_VERSIONED = r"(?:version|versions|ver|v|release|releases|build|tag|rev|revision|update|pip|calver|版本|版)\W{0,3}$"


@cache
def _shapes() -> re.Pattern[str]:
    free = r"(?<![\w/@#$=+~^-])(?<![\w][.,:])"
    closed = r"(?![\w@=]|[-./:,]\w)"
    stamp = (
        r"(?P<sy>\d{4})-(?P<sm>\d\d)-(?P<sd>\d\d)[Tt ](?P<sH>\d\d):(?P<sM>\d\d)(?::(?P<sS>\d\d)(?:[.,]\d{1,9})?)?"
        r"(?P<zone>[Zz]|[+-]\d\d:?\d\d)?"
    )
    day = r"(?P<y>\d{4})(?P<mark>[-/.])(?P<m>\d{1,2})(?P=mark)(?P<d>\d{1,2})(?:T(?=\W|$))?"
    week = r"(?P<wy>\d{4})-?W(?P<w>\d\d)(?:-(?P<wd>[1-7]))?"
    month = r"(?P<my>[12]\d{3})-(?P<mm>0[1-9]|1[0-2])(?!\s?(?:season|school|academic|赛季|学年|年))"
    local = r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<ly>[12]\d{3})"
    named = r"(?P<nd>\d{1,2})-(?P<nm>[A-Za-z]{3})-(?P<ny>[12]\d{3})"
    hour = r"(?P<H>[01]?\d|2[0-4]):(?P<M>[0-5]\d)(?::[0-5]\d)?(?:\s?(?P<half>[AaPp])\.?[Mm]\b)?"
    # Chinese characters are letters to ``\w``; they may stand on either side.
    free = free.replace(r"\w", r"A-Za-z0-9_\u00c0-\u1fff")
    closed = closed.replace(r"\w", r"A-Za-z0-9_\u00c0-\u1fff", 1).replace(r"\w", "[A-Za-z0-9_]")
    return re.compile(f"{free}(?:{stamp}|{day}|{week}|{month}|{local}|{named}|{hour}){closed}", re.ASCII)


@cache
def _versioned() -> re.Pattern[str]:
    return re.compile(_VERSIONED, re.IGNORECASE)


def read_digits(view: str, clock: Clock) -> list[Mention]:
    """The dates and hours of ``view`` that are written in digits, in order."""
    found: list[Mention] = []
    for match in _shapes().finditer(view):
        try:
            one = _read(match, view, clock)
        except (ValueError, OverflowError):
            one = Mention(match.start(), match.end(), needs="never")
        if one is not None:
            found.append(one)
    return found


def _read(match: re.Match[str], view: str, clock: Clock) -> Mention | None:
    start, end, part = match.start(), match.end(), match.group
    if part("sy"):
        return mention(start, end, unit(_moment(match, clock), "minute"))
    if part("y"):
        if part("mark") == "." and _versioned().search(view[max(start - 12, 0) : start]):
            return None
        return mention(start, end, unit(datetime(int(part("y")), int(part("m")), int(part("d"))), "day"))
    if part("wy"):
        named = date.fromisocalendar(int(part("wy")), int(part("w")), int(part("wd") or 1))
        return mention(start, end, unit(datetime(named.year, named.month, named.day), "day" if part("wd") else "week"))
    if part("my"):
        return mention(start, end, span(int(part("my")), int(part("mm")), 1, "month"))
    if part("ly"):
        first, second = int(part("a")), int(part("b"))
        if first <= 12 and second <= 12 and first != second:
            return None  # the order of day and month is anyone's guess
        inverted = first > 12
        moment = datetime(int(part("ly")), second if inverted else first, first if inverted else second)
        return mention(start, end, unit(moment, "day"))
    if part("nd"):
        month = "janfebmaraprmayjunjulaugsepoctnovdec".find(part("nm").lower())
        if month < 0 or month % 3:
            return None
        return mention(start, end, unit(datetime(int(part("ny")), month // 3 + 1, int(part("nd"))), "day"))
    half = f"{part('half').lower()}m" if part("half") else "written" if part("H").startswith("0") else ""
    slot = Slot("clock", int(part("H")), int(part("M")), name=half)
    if half in ("am", "pm") and not 1 <= slot.first <= 12:
        return None
    place(slot, clock.local)
    return Mention(start, end, slot=slot, needs="" if half in ("am", "pm") else "clock")


def _moment(match: re.Match[str], clock: Clock) -> datetime:
    """The wall clock of a time stamp; one without an offset is local already."""
    parts = [int(match.group(name) or 0) for name in ("sy", "sm", "sd", "sH", "sM", "sS")]
    moment = datetime(parts[0], parts[1], parts[2], parts[3], parts[4], min(parts[5], 59))
    zone = match.group("zone")
    if not zone:
        return moment
    offset = timedelta()
    if zone not in "Zz":
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        if hours > 23 or minutes > 59:
            raise ValueError(zone)
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)
    return moment.replace(tzinfo=timezone(offset)).astimezone(clock.zone).replace(tzinfo=None)
