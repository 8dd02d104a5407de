"""Times in English text, read word by word.

Every reader takes the row of words and the place of the word that may open an
expression, and gives the mention with the place of the word after it, or None.
"""

from __future__ import annotations

from functools import cache

from memoranda.core.records import replace
from memoranda.core.timex.calendar import about, rolling, step, unit
from memoranda.core.timex.english_dates import read_hour, read_month, read_number
from memoranda.core.timex.english_modified import named_slot, read_modified
from memoranda.core.timex.english_words import Words, read_count, vocabulary, word_set
from memoranda.core.timex.mentions import Mention, mention
from memoranda.core.timex.slots import Slot, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.core.timex.calendar import Clock

    Read = tuple[int, Mention] | None

__all__ = ["read_english"]

_WEEKDAY_NAMES = "black good ash palm cyber super ruby sheffield casual girl freaky bloody easter"


def read_english(view: str, clock: Clock) -> list[Mention]:
    """The times named in ``view`` by English words, in order."""
    row = Words(view)
    readers = _readers()
    found: list[Mention] = []
    at, length = 0, len(row.words)
    while at < length:
        word = row.words[at]
        reader = readers.get(word) or (_number if word.isdigit() else None)
        read = None
        if reader is not None:
            try:
                read = reader(row, at, clock)
            except (ValueError, OverflowError):
                read = None
        if read is None:
            at += 1
            continue
        following, one = read
        at = max(following, at + 1)
        first = _word_at(row, one.start, at)
        if row.free(first, at - 1):
            found.append(one)
    return found


def _word_at(row: Words, start: int, at: int) -> int:
    while at and row.starts[at - 1] >= start:
        at -= 1
    return at


@cache
def _readers() -> dict[str, Callable[[Words, int, Clock], Read]]:
    table: dict[str, Callable[[Words, int, Clock], Read]] = {}
    for kind, reader in (
        ("part", _part),
        ("unit", _bare_unit),
        ("count", _counted),
        ("ordinal", _ordinal),
        ("month", read_month),
        ("weekday", _weekday),
        ("season", _season),
        ("modifier", read_modified),
        ("day", _day),
        ("loose", _loose),
    ):
        for word in vocabulary()[kind]:
            table.setdefault(word, reader)
    table["night"] = _night
    table["last"] = read_modified
    table["second"] = _ordinal
    table["q"] = _quarter
    return table


def _day(row: Words, at: int, clock: Clock) -> Read:
    """Today, yesterday, the day before yesterday, tonight."""
    word = row.words[at]
    offset, start = int(vocabulary()["day"][word]), row.starts[at]
    if offset and row.before(at) == ("before" if offset < 0 else "after") and row.before(at - 1) == "day":
        offset *= 2
        start = row.starts[at - 3 if row.before(at - 2) == "the" else at - 2]
    elif offset < 0 and row.before(at) == "before" and row.before(at - 1) == "night":
        start = row.starts[at - 3 if row.before(at - 2) == "the" else at - 2]
        night = place(Slot("part", name="night"), unit(clock.local, "day", -2).begin)
        return at + 1, mention(start, row.ends[at], night, part="night")
    elif offset == 0 and row.before(at) in ("earlier", "later"):
        start = row.starts[at - 1]
    day = unit(clock.local, "day", offset)
    if word == "tonight":
        return at + 1, mention(start, row.ends[at], place(Slot("part", name="night"), day.begin), part="night")
    return at + 1, mention(start, row.ends[at], day)


def _loose(row: Words, at: int, clock: Clock) -> Read:
    """Now, just now, recently, the other day, noon."""
    word, start, end = row.words[at], row.starts[at], row.ends[at]
    if word == "now":
        if row.before(at) == "just":
            return at + 1, mention(row.starts[at - 1], end, rolling(clock, step(2, "hour"), -1), vague=True)
        filler = row.view[end : end + 1] == "," and row.before(at) == ""
        if filler or row.after(at) in ("that", "and", "then"):
            return None
        start = row.starts[at - 1] if row.before(at) == "right" else start
        return at + 1, mention(start, end, unit(clock.local, "minute"), vague=True)
    if word in ("noon", "midnight"):
        name, hour = ("pm", 12) if word == "noon" else ("night", 12)
        return at + 1, Mention(start, end, slot=Slot("clock", hour, -1, name=name), needs="join")
    if word == "other":
        if row.before(at) != "the" or row.after(at) not in ("day", "night", "week"):
            return None
        far = step(2 * 60, "day") if row.after(at) == "week" else step(2 * 14, "day")
        return at + 2, mention(row.starts[at - 1], row.ends[at + 1], rolling(clock, far, -1), vague=True)
    return at + 1, mention(start, end, rolling(clock, step(60, "day"), -1), vague=True)


def _number(row: Words, at: int, clock: Clock) -> Read:
    """What digits open; those inside a price, a decimal or a name open nothing."""
    start = row.starts[at]
    before, two = row.view[start - 1 : start], row.view[max(start - 2, 0) : start]
    if before in tuple("/$#@_\\+€£¥"):
        return None
    if before in tuple(".:,") and two[:1].isalnum() and (before != "," or len(row.words[at]) != 4):
        return None
    return read_number(row, at, clock) or _counted(row, at, clock)


def _counted(row: Words, at: int, clock: Clock) -> Read:
    """Three days ago, half an hour ago, two years from now, in a week."""
    count = read_count(row, at)
    if count is None or count.next >= len(row.words) or row.view[row.ends[count.next - 1]] in ",;:.":
        return read_hour(row, at, clock)
    noun = count.next
    named = vocabulary()["unit"].get(row.words[noun])
    if named is None or not (row.linked(noun - 1) or row.gap(noun - 1) in ("", "-")):
        return read_hour(row, at, clock)
    low, high, vague = count.low, count.high, count.vague
    last = noun
    if row.follow(noun, "and a half"):
        low, high, last = low + 1, high + 1, noun + 3
    start = row.starts[at]
    tail = row.after(last)
    if tail in ("ago", "back"):
        return last + 2, _distant(clock, named, low, high, vague, -1, start, row.ends[last + 1])
    if row.follow(last, "from now"):
        return last + 3, _distant(clock, named, low, high, vague, 1, start, row.ends[last + 2])
    if row.before(at) == "in" and _is_deadline(row, at, last, named):
        return last + 1, _distant(clock, named, low, high, True, 1, row.starts[at - 1], row.ends[last])
    return None


def _is_deadline(row: Words, at: int, last: int, named: str) -> bool:
    """Whether "in two weeks" may be a time to come; "in a minute" and "twice in a week" are not."""
    if named in ("second", "minute", "night") or row.before(at - 1) in ("once", "twice", "times", "time", "all"):
        return False
    one_day = named == "day" and row.words[at] in ("a", "one")
    return not one_day and row.after(last) not in ("of", "when", "that", "which")


def _distant(clock: Clock, named: str, low: int, high: int, vague: bool, sign: int, start: int, end: int) -> Mention:
    if named == "night":
        evening = place(Slot("part", name="night"), about(clock, step(low, "day"), sign).begin)
        return mention(start, end, evening, vague=vague, part="night")
    if named == "fortnight":
        named, low, high = "week", 2 * low, 2 * high
    near, far = about(clock, step(low, named), sign), about(clock, step(high, named), sign)
    first, last = (far, near) if sign < 0 else (near, far)
    return mention(start, end, replace(first, until=last.until), vague=vague)


def _bare_unit(row: Words, at: int, clock: Clock) -> Read:
    """The week before last, years ago, the end of the month, the weekend."""
    word, named, start, end = row.words[at], vocabulary()["unit"][row.words[at]], row.starts[at], row.ends[at]
    if row.follow(at, "before last") and named in ("week", "weekend", "month", "quarter", "year"):
        start = row.starts[at - 1] if row.before(at) == "the" else start
        return at + 3, mention(start, row.ends[at + 2], unit(clock.local, named, -2))
    numbered = row.before(at).isdigit() or row.before(at) in vocabulary()["count"]
    short = named in ("second", "minute", "night", "weekend")
    if row.after(at) == "ago" and word.endswith("s") and not (numbered or short):
        return at + 2, _distant(clock, named, 4, 14, True, -1, start, row.ends[at + 1])
    if word in ("month", "year") and row.before(at) == "the" and row.before(at - 1) == "of":
        shape = {"end": "end", "beginning": "begin", "start": "begin", "middle": "middle"}.get(row.before(at - 2))
        if shape is not None:
            opened = at - 4 if row.before(at - 3) == "the" else at - 3
            return at + 1, Mention(row.starts[opened], end, slot=Slot(f"{word}-part", name=shape))
    if word == "weekend":
        return at + 1, Mention(start, end, slot=Slot("weekend"), needs="weekend")
    return None


def _ordinal(row: Words, at: int, clock: Clock) -> Read:
    """The third quarter, the first half, the fourth of July."""
    number, noun = int(vocabulary()["ordinal"][row.words[at]]), row.after(at)
    if number > 0 and noun == "of" and row.after(at + 1) in vocabulary()["month"]:
        start = row.starts[at - 1] if row.before(at) == "the" else row.starts[at]
        slot = Slot("days", number, 0, int(vocabulary()["month"][row.words[at + 2]]))
        return at + 3, Mention(start, row.ends[at + 2], slot=slot)
    if not 1 <= number <= {"quarter": 4, "half": 2}.get(noun, 0):
        return None
    needs = "quarter" if noun == "quarter" else "join"
    return at + 2, Mention(row.starts[at], row.ends[at + 1], slot=Slot(noun, number), needs=needs)


def _quarter(row: Words, at: int, clock: Clock) -> Read:
    """Q3."""
    if row.gap(at) != "" or row.words[at + 1] not in ("1", "2", "3", "4"):
        return None
    slot = Slot("quarter", int(row.words[at + 1]))
    return at + 2, Mention(row.starts[at], row.ends[at + 1], slot=slot, needs="quarter")


def _weekday(row: Words, at: int, clock: Clock) -> Read:
    slot = named_slot(row, at)
    if slot is None or row.before(at) in word_set(_WEEKDAY_NAMES) or row.after(at) in ("school", "times", "roast"):
        return None
    counted = row.before(at) in vocabulary()["ordinal"] and row.after(at) == "of"
    needs = "join" if counted else "" if row.words[at].endswith("day") else "weekday"
    return at + 1, Mention(row.starts[at], row.ends[at], slot=slot, needs=needs)


def _season(row: Words, at: int, clock: Clock) -> Read:
    slot = named_slot(row, at)
    if slot is None:
        return None
    needs = "fall" if row.words[at] == "fall" else "season"
    return at + 1, Mention(row.starts[at], row.ends[at], slot=slot, needs=needs)


def _part(row: Words, at: int, clock: Clock) -> Read:
    name = vocabulary()["part"][row.words[at]]
    return at + 1, Mention(row.starts[at], row.ends[at], slot=Slot("part", name=name), needs="join")


def _night(row: Words, at: int, clock: Clock) -> Read:
    if not row.follow(at, "before last"):
        return _part(row, at, clock)
    start = row.starts[at - 1] if row.before(at) == "the" else row.starts[at]
    night = place(Slot("part", name="night"), unit(clock.local, "day", -2).begin)
    return at + 3, mention(start, row.ends[at + 2], night, part="night")
