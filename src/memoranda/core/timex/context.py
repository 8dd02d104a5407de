"""What stands before a time: words that lead to it, narrow it, or say that it comes again and again."""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.records import replace
from memoranda.core.timex.calendar import Interval, shaped
from memoranda.core.timex.english_words import vocabulary
from memoranda.core.timex.mentions import Mention
from memoranda.core.timex.slots import container

__all__ = ["WordsBefore", "is_led", "link", "narrowed", "recurs", "words_before"]

#: Lower-case words and where they begin, nearest first.
WordsBefore = list[tuple[str, int]]

_LEADS = "in during since until till before after by through throughout around"
# What may lead to a time that is a name, a number or a verb as well.
_LEADS_TO = {
    "month": f"{_LEADS} of",
    "year": f"{_LEADS} circa year",
    "date": "on since until till before after by through around",
    "season": "in during over since until till before after through throughout",
    "fall": "in during over since until till throughout",
    "quarter": f"{_LEADS} over of",
    "weekday": "on since until till before after by",
    "weekend": "the over during on since until before after by at",
    "clock": "at by before after around until till since from",
}
# What has parts such as "early" and "the first week of".
_HAS_PARTS = ("month", "year", "season", "decade", "century", "week", "quarter", "half")
_EDGES = {"end": "end", "beginning": "begin", "start": "begin", "middle": "middle"}


def words_before(view: str, start: int) -> WordsBefore:
    """The words before a place and where they begin, nearest first; white space or hyphens part them."""
    words: WordsBefore = []
    while len(words) < 6:
        end = start
        while end and start - end < 3 and view[end - 1] in " \t\n-":
            end -= 1
        first = end
        while first and end - first < 12 and view[first - 1].isascii() and view[first - 1].isalnum():
            first -= 1
        if first == end or end == start:
            break
        words.append((view[first:end].lower(), first))
        start = first
    return words


def link(view: str, end: int, start: int) -> str:
    """What stands between two mentions, lower-case, if it is short; else ""."""
    return " ".join(view[end:start].lower().split()) if 0 < start - end < 10 else ""


@cache
def _recurring() -> re.Pattern[str]:
    unit = "(?:年|月|周|天|日|星期|礼拜)"
    return re.compile(f"(?:[每逢][一二三四五六七八九十0-9两]?个?{unit}?[的到逢在]{{0,2}}|每[隔逢到])$")


@cache
def _elsewhere() -> re.Pattern[str]:
    return re.compile("年[)）]?[的,，]?$")


def recurs(view: str, one: Mention, words: WordsBefore) -> bool:
    """Whether a mention comes again and again, or is in a year that only the text knows: 每周三, 同年七月."""
    if words:
        return words[0][0] in ("every", "each", "any", "other", "per")
    before = view[max(one.start - 6, 0) : one.start]
    if one.slot is not None and container(one.slot) == "year" and _elsewhere().search(before):
        return True
    return _recurring().search(before) is not None


def narrowed(one: Mention, words: WordsBefore) -> tuple[Mention, WordsBefore]:
    """Early June, the end of last year, the first week of May; the words that are left."""
    kind = one.slot.kind if one.slot is not None else one.grain
    if not words or one.shape or kind not in _HAS_PARTS or not one.whole:
        return one, words
    shape, used = _shape([word for word, _ in words] + [""] * 6)
    if not shape:
        return one, words
    if used < len(words) and words[used][0] == "the":
        used += 1
    one = replace(one, start=words[used - 1][1], needs="")
    if one.slot is not None:
        return replace(one, shape=shape), words[used:]
    assert one.begin is not None
    assert one.until is not None
    try:
        part = shaped(Interval(one.begin, one.until, one.grain), shape)
    except (ValueError, OverflowError):
        return replace(one, needs="never"), words[used:]
    return replace(one, begin=part.begin, until=part.until, grain=part.grain), words[used:]


def _shape(names: list[str]) -> tuple[str, int]:
    """The part that the words before a time take of it, nearest word first, and how many words say so."""
    if names[0] in ("early", "mid", "late"):
        return names[0], 1
    if names[0] == "in" and names[1] in ("early", "late"):
        return names[1], 2
    at = 1 if names[0] == "the" else 0
    if names[at] != "of":
        return "", 0
    noun, number, known = names[at + 1], names[at + 2], vocabulary()
    if noun in _EDGES:
        return _EDGES[noun], at + 2
    if number in known["ordinal"]:
        if noun in ("day", "week", "weekend", "half", "quarter"):
            return f"{noun} {known['ordinal'][number]}", at + 3
        if noun in known["weekday"]:
            return f"weekday{known['weekday'][noun]} {known['ordinal'][number]}", at + 3
    if noun in ("days", "weeks") and names[at + 3] in ("first", "last", "final"):
        days = int(number if number.isdigit() else known["count"].get(number, "0")) * (7 if noun == "weeks" else 1)
        return f"days {days if names[at + 3] == 'first' else -days}", at + 4
    return "", 0


def is_led(one: Mention, words: WordsBefore) -> bool:
    """Whether what a doubtful mention needs stands before it."""
    if not one.needs:
        return True
    leads = _LEADS_TO.get(one.needs, "").split()
    if one.needs == "year" and one.begin is not None and not 1900 <= one.begin.year < 2100:
        leads = ["in", "year"]
    names = [word for word, _ in words]
    if names[:1] == ["the"] and one.needs != "weekend":
        names = names[1:]
    return bool(names) and (names[0] in leads or names[:2] == ["of", "as"])
