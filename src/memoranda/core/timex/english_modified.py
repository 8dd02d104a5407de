"""Times behind "last", "this", "next" and their like in English text.

"Last week" is the week before this one, "the last week" the seven days before
now; "last Friday" and "last June" are over, "next Friday" is the next to begin.
"""

from __future__ import annotations

from memoranda.core.timex.calendar import rolling, step, unit
from memoranda.core.timex.english_words import Words, is_short, read_count, vocabulary, word_set
from memoranda.core.timex.mentions import Mention, mention
from memoranda.core.timex.slots import Slot, anchored, over, place, upcoming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.timex.calendar import Clock
    from memoranda.core.timex.english_words import Count

    Read = tuple[int, Mention] | None

__all__ = ["named_slot", "read_modified"]

# Nouns and particles that make of the season before them something else.
_SEASON_NOUNS = """
    roll rolls water waters onion onions boot framework mattress cleaning camp camps school house palace coat coats
    clothes olympics line lines apart asleep down off out over through behind short back
"""


def read_modified(row: Words, at: int, clock: Clock) -> Read:
    """Last week, this June, next Friday, the past three days, this coming weekend."""
    start, word = row.starts[at], row.words[at]
    which, definite = vocabulary()["modifier"][word], row.before(at) == "the"
    if word in ("this", "these") and row.after(at) in ("past", "last", "coming"):
        at, definite = at + 1, True
        which = vocabulary()["modifier"][row.words[at]]
    elif definite:
        start = row.starts[at - 1]
    if not row.linked(at):
        return None
    noun = at + 1
    name, table = row.words[noun], vocabulary()
    if name in table["unit"] and not name.endswith("s"):
        return _modified_unit(row, noun, start, which, definite, clock)
    count = None if name in ("a", "an") else read_count(row, noun)
    if count is not None and count.next < len(row.words) and row.linked(count.next - 1):
        return _modified_count(row, count, start, which, clock)
    if name in table["unit"]:
        return _modified_units(row, noun, start, word, clock)
    if which == "past" and not definite:
        return None  # a walk past Sunday's market
    slot = named_slot(row, noun)
    if slot is None or (which == "this" and name in ("may", "march") and not row.titled(noun)):
        return None
    end = row.ends[noun]
    if slot.kind == "weekday" and row.after(noun) == "of":
        return None  # the last Friday of June
    if slot.kind == "part":
        if which not in ("this", "last") or (which == "last" and slot.name not in ("evening", "night")) or definite:
            return None
        day = unit(clock.local, "day", -1 if which == "last" else 0)
        return noun + 1, mention(start, end, place(slot, day.begin), part=slot.name)
    if which in ("last", "past"):
        return noun + 1, mention(start, end, over(slot, clock), vague=word == "recent")
    if which == "next":
        return noun + 1, mention(start, end, upcoming(slot, clock))
    return (noun + 1, mention(start, end, anchored(slot, clock.local))) if which == "this" else None


def named_slot(row: Words, at: int) -> Slot | None:
    """What "last" and "next" may stand before, by its name."""
    name, table = row.words[at], vocabulary()
    if is_short(name) and not row.view[row.starts[at]].isupper():
        return None
    if name in table["month"]:
        return Slot("month", int(table["month"][name]))
    if name in table["weekday"]:
        return Slot("weekday", int(table["weekday"][name]))
    if name in table["season"] and row.after(at) not in word_set(_SEASON_NOUNS):
        return Slot("season", int(table["season"][name]))
    return Slot("part", name=table["part"][name]) if name in table["part"] else None


def _modified_unit(row: Words, noun: int, start: int, which: str, definite: bool, clock: Clock) -> Read:
    """Last week is the week before this one; the last week is the seven days before now."""
    named, end = vocabulary()["unit"][row.words[noun]], row.ends[noun]
    if row.after(noun) in ("of", "before") or named in ("second", "minute", "fortnight"):
        return None
    if named in ("night", "day", "hour"):
        if named == "night" and not definite and which in ("last", "this"):
            night = place(Slot("part", name="night"), unit(clock.local, "day", -1 if which == "last" else 0).begin)
            return noun + 1, mention(start, end, night, part="night")
        if which == "past" or (named == "hour" and which == "last"):
            return noun + 1, mention(start, end, rolling(clock, step(2, named), -1))
        return None
    if named == "weekend":
        slot = Slot("weekend")
        past = which in ("last", "past")
        found = over(slot, clock) if past else unit(clock.local, "weekend", which == "next")
        return noun + 1, mention(start, end, found, vague=row.words[noun - 1] == "recent")
    if which == "past" or (definite and which == "last" and row.words[noun - 1] != "previous"):
        return noun + 1, mention(start, end, rolling(clock, step(2, named), -1))
    if definite and which == "next":
        return noun + 1, mention(start, end, rolling(clock, step(2, named), 1))
    return noun + 1, mention(start, end, unit(clock.local, named, {"last": -1, "this": 0, "next": 1}[which]))


def _modified_count(row: Words, count: Count, start: int, which: str, clock: Clock) -> Read:
    """The last three days, the next two weeks, these past few months."""
    named = vocabulary()["unit"].get(row.words[count.next])
    if named in (None, "second", "night", "weekend") or row.after(count.next) in ("of", "before"):
        return None
    halves = count.high
    if named == "fortnight":
        named, halves = "week", 2 * halves
    end = row.ends[count.next]
    sign = 1 if which == "next" else -1
    vague = count.vague or which in ("this", "these")
    return count.next + 1, mention(start, end, rolling(clock, step(halves, named), sign), vague=vague)


def _modified_units(row: Words, noun: int, start: int, word: str, clock: Clock) -> Read:
    """These days, in recent weeks, coming months: always vague."""
    named, end = vocabulary()["unit"][row.words[noun]], row.ends[noun]
    if named in ("second", "minute", "night", "weekend", "fortnight") or row.after(noun) == "of":
        return None
    if word == "these":
        far, sign = step(60, "day"), -1
        if named != "day":
            return None
    elif word in ("past", "recent", "coming", "upcoming"):
        far, sign = step(60 if named == "day" else 14, named), 1 if word in ("coming", "upcoming") else -1
    else:
        return None
    return noun + 1, mention(start, end, rolling(clock, far, sign), vague=True)
