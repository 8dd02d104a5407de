"""Dates and hours in English text: "July 21st", "the 21st of July", "3-5 July", "2024", "the 1990s", "at 3 pm"."""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.timex.calendar import span
from memoranda.core.timex.english_words import Words, is_date_word, is_short, vocabulary, word_set
from memoranda.core.timex.mentions import Mention, mention
from memoranda.core.timex.slots import Slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.timex.calendar import Clock

    Read = tuple[int, Mention] | None

__all__ = ["read_hour", "read_month", "read_number"]

# Months that are names, verbs and adjectives too.
_NAMES = "april may june august march"
# What is counted by a number that only looks like a year, or like the day after "may" or "march".
_COUNTED = """
    words people persons men women kids children students users items pieces lines tokens characters pages copies
    times days hours minutes seconds weeks months years percent dollars euros yuan bucks meters metres miles km
    kilometers kilometres feet steps blocks calories ways cities countries tries more less
"""
_DASHES = ("-", "–", "—", " - ", " – ")
_LEADS = "on by since until before after between from of to"
_DAY_FOLLOWERS = "at in when and to we i he she they you what who where which did was were is of last this"


@cache
def _half_of_day() -> re.Pattern[str]:
    return re.compile(r"\s?(?:([ap])\.?\s?m\b\.?|o['’]clock\b)", re.IGNORECASE)


def read_hour(row: Words, at: int, clock: Clock) -> Read:
    """Nine o'clock, 3pm, at 3."""
    word = row.words[at]
    value = word if word.isdigit() else vocabulary()["count"].get(word, "0")
    if not (len(value) < 3 and 0 < int(value) <= 24) or word in ("a", "an", "couple", "dozen"):
        return None
    said = _half_of_day().match(row.view, row.ends[at])
    slot = Slot("clock", int(value), -1, name=f"{said.group(1).lower()}m" if said and said.group(1) else "")
    if said and slot.first <= 12:
        following = at + 1
        while following < len(row.words) and row.starts[following] < said.end():
            following += 1
        end = said.end() - (row.view[said.end() - 1] == "." and "." not in said.group()[:-1])
        return following, Mention(row.starts[at], end, slot=slot, needs="" if slot.name else "clock")
    if row.before(at) == "at" and row.gap(at) not in (":", "-", ".", "/", ","):
        return at + 1, Mention(row.starts[at], row.ends[at], slot=slot, needs="join")
    return None


def read_number(row: Words, at: int, clock: Clock) -> Read:
    """A day before its month, a year, a decade, a day of the month, an hour, a distance."""
    word, view = row.words[at], row.view
    start, end = row.starts[at], row.ends[at]
    if len(word) == 4:
        return _year(row, at)
    if len(word) <= 2:
        dated = _day_of_month(row, at)
        if dated is not None:
            return dated
        if word in ("50", "60", "70", "80", "90") and view.startswith("s", end) and row.words[at + 1] == "s":
            the = row.before(at) == "the"
            return (at + 2, mention(start, end + 1, span(1900 + int(word), 1, 120, "decade"))) if the else None
    return None


def _year(row: Words, at: int) -> Read:
    """2024, the 1990s."""
    word, start, end = row.words[at], row.starts[at], row.ends[at]
    year, mark, behind = int(word), row.view[end : end + 1], row.view[end + 1 : end + 2]
    if not 1000 <= year < 3000:
        return None
    if mark == "s" and year % 10 == 0 and row.words[at + 1] == "s":
        months = 1200 if year % 100 == 0 and year < 2000 else 120
        return at + 2, mention(start, end + 1, span(year, 1, months, "decade"))
    if mark in ("%", "°", "€", "£") or row.after(at) in word_set(_COUNTED):
        return None
    if mark in ("-", ".", ",", ":", "/") and behind.isalnum() and not (mark == "-" and is_date_word(row.words[at + 1])):
        return None
    return at + 1, mention(start, end, span(year, 1, 12, "year"), needs="year")


def _day_of_month(row: Words, at: int) -> Read:
    """21 July, the 21st of July, 3-5 July, the 21st."""
    first = int(row.words[at])
    following, ordinal = _past_ordinal(row, at)
    last, beyond, start = _last_day(row, at, following)
    if last:
        following, ordinal = _past_ordinal(row, beyond)
    elif row.before(at) == "the":
        start = row.starts[at - 1]
    month = following
    if row.after(following - 1) == "of" and row.linked(following):
        month, ordinal = following + 1, True
    name = row.words[month] if month < len(row.words) and row.linked(month - 1) else ""
    if name in vocabulary()["month"]:
        verb = name in ("may", "march") and not ordinal and not row.view[row.starts[month]].isupper()
        if not verb:
            if not 1 <= first <= 31 or (last and not first < last <= 31):
                return None
            slot = Slot("days", first, last, int(vocabulary()["month"][name]))
            return month + 1, Mention(start, row.ends[month], slot=slot)
    after = row.after(following - 1)
    free = not after or after in word_set(_DAY_FOLLOWERS)
    if ordinal and not last and 1 <= first <= 31 and row.before(at) == "the" and free:
        return following, Mention(start, row.ends[following - 1], slot=Slot("month-days", first), needs="date")
    return None


def _last_day(row: Words, at: int, following: int) -> tuple[int, int, int]:
    """The other day of "3-5" and "between 3 and 5", its place, and where the whole begins; 0 if there is none."""
    start, length = row.starts[at], len(row.words)
    if row.gap(following - 1) in _DASHES:
        other = following
    elif following < length and row.linked(following - 1) and row.linked(following):
        word, before = row.words[following], row.before(at)
        if word not in ("to", "through", "till") and not (word == "and" and before == "between"):
            return 0, at, start
        other = following + 1
        start = row.starts[at - 1] if before in ("between", "from") else start
    else:
        return 0, at, start
    if other < length and row.words[other].isdigit() and len(row.words[other]) <= 2:
        return int(row.words[other]), other, start
    return 0, at, row.starts[at]


def _past_ordinal(row: Words, at: int) -> tuple[int, bool]:
    ordinal = row.gap(at) == "" and row.words[at + 1] in ("st", "nd", "rd", "th")
    return at + 1 + ordinal, ordinal


def read_month(row: Words, at: int, clock: Clock) -> Read:
    """July, July 21st, July 3-5."""
    word, start, end = row.words[at], row.starts[at], row.ends[at]
    number, short = int(vocabulary()["month"][word]), is_short(word)
    gap = row.gap(at)
    if gap is not None and gap.strip(" ") in ("", ".") and 0 < len(gap) < 4:
        day = at + 1 + (row.words[at + 1] == "the" and row.linked(at + 1))
        value = row.words[day]
        if value.isdigit() and len(value) <= 2 and 1 <= int(value) <= 31 and _is_day(row, at, day):
            return _days_from(row, start, number, int(value), _past_ordinal(row, day)[0])
    if short and not row.view[start].isupper():
        return None
    needs = "month" if short or word in word_set(_NAMES) else ""
    return at + 1, Mention(start, end, slot=Slot("month", number), needs=needs)


def _is_day(row: Words, month: int, day: int) -> bool:
    """Whether the number behind a month is its day, not an hour (June 5:30), and not a count (may 5 people)."""
    following, ordinal = _past_ordinal(row, day)
    end = row.ends[following - 1]
    minutes = row.view[end : end + 1] == ":" and row.view[end + 1 : end + 2].isdigit()
    if minutes or _half_of_day().match(row.view, end):
        return False
    word = row.words[month]
    if ordinal or word not in word_set(_NAMES):
        return True
    if row.after(following - 1) in word_set(_COUNTED):
        return False
    noun = row.titled(month) or _before_year(row, following) or row.before(month) in word_set(_LEADS)
    return noun or word not in ("may", "march")


def _before_year(row: Words, at: int) -> bool:
    if at >= len(row.words) or row.gap(at - 1) not in (" ", ", "):
        return False
    return len(row.words[at]) == 4 and row.words[at].isdigit()


def _days_from(row: Words, start: int, month: int, first: int, following: int) -> Read:
    """The days of a month from ``first`` on, if another number is linked to it."""
    other = len(row.words)
    if row.after(following - 1) in ("to", "through") and row.linked(following):
        other = following + 1
    elif row.gap(following - 1) in _DASHES:
        other = following
    last = 0
    if other < len(row.words) and row.words[other].isdigit() and first < int(row.words[other][:3]) <= 31:
        beyond, _ = _past_ordinal(row, other)
        if row.after(beyond - 1) not in vocabulary()["month"]:
            last, following = int(row.words[other]), beyond
    return following, Mention(start, row.ends[following - 1], slot=Slot("days", first, last, month))
