"""The English words that times are made of, a text as a row of words, and counts such as "two and a half"."""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.records import dataclass

__all__ = ["Count", "Words", "is_date_word", "is_short", "may_hold_english", "read_count", "vocabulary", "word_set"]

# Kind of word: word=value, or word alone.
_VOCABULARY = {
    "month": "january=1 february=2 march=3 april=4 may=5 june=6 july=7 august=8 september=9 october=10 november=11"
    " december=12 jan=1 feb=2 mar=3 apr=4 jun=6 jul=7 aug=8 sep=9 sept=9 oct=10 nov=11 dec=12",
    "weekday": "monday=0 tuesday=1 wednesday=2 thursday=3 friday=4 saturday=5 sunday=6"
    " mon=0 tue=1 tues=1 wed=2 thu=3 thur=3 thurs=3 fri=4 sat=5 sun=6",
    "season": "spring=1 summer=2 autumn=3 fall=3 winter=4",
    "part": "morning=morning afternoon=afternoon evening=evening night=night",
    "unit": "second=second seconds=second sec=second secs=second minute=minute minutes=minute min=minute mins=minute"
    " moment=minute moments=minute hour=hour hours=hour hr=hour hrs=hour day=day days=day night=night nights=night"
    " week=week weeks=week weekend=weekend weekends=weekend fortnight=fortnight fortnights=fortnight month=month"
    " months=month quarter=quarter quarters=quarter year=year years=year yr=year yrs=year decade=decade decades=decade"
    " century=century centuries=century",
    "modifier": "last=last past=past previous=last this=this current=this these=these next=next coming=next"
    " upcoming=next recent=past",
    "count": "a=1 an=1 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12"
    " thirteen=13 fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40"
    " fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 hundred=100 dozen=12 half=0 couple=2 few=0 several=0",
    "ordinal": "first=1 second=2 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 ninth=9 tenth=10 eleventh=11"
    " twelfth=12 fifteenth=15 twentieth=20 thirtieth=30 last=-1 final=-1",
    "day": "today=0 yesterday=-1 tomorrow=1 tonight=0",
    "loose": "now recently lately nowadays noon midnight other",
}
# Words of these kinds, and digits, are the signs of a time; the rest only stand beside them.
_SIGNS = ("month", "weekday", "season", "part", "unit", "day", "loose")


@dataclass(frozen=True, slots=True)
class Count:
    """A number of halves, from ``low`` to ``high``; ``next`` is the word after it."""

    low: int
    high: int
    vague: bool
    next: int


class Words:
    """A text as a row of words and numbers, lower-case, and where each stands."""

    __slots__ = ("ends", "starts", "view", "words")

    def __init__(self, view: str) -> None:
        found = [(one.group().lower(), one.start(), one.end()) for one in _tokens().finditer(view)]
        self.view = view
        self.words = [word for word, _, _ in found]
        self.starts = [start for _, start, _ in found]
        self.ends = [end for _, _, end in found]

    def gap(self, at: int) -> str | None:
        """What stands between word ``at`` and the next one; None at either end."""
        if 0 <= at < len(self.words) - 1:
            return self.view[self.ends[at] : self.starts[at + 1]]
        return None

    def linked(self, at: int) -> bool:
        """Whether only a space, or a line's end, parts word ``at`` from the next."""
        gap = self.gap(at)
        return gap is not None and (gap == " " or (len(gap) < 4 and gap.isspace()))

    def after(self, at: int) -> str:
        """The word that follows after a space, else ""."""
        return self.words[at + 1] if self.linked(at) else ""

    def before(self, at: int) -> str:
        """The word that stands before a space, else ""."""
        return self.words[at - 1] if self.linked(at - 1) else ""

    def follow(self, at: int, phrase: str) -> bool:
        """Whether the words of ``phrase`` follow word ``at``."""
        for word in phrase.split():
            if self.after(at) != word:
                return False
            at += 1
        return True

    def titled(self, at: int) -> bool:
        """Whether a word is written with a capital, and is not in capitals throughout."""
        written = self.view[self.starts[at] : self.ends[at]]
        return written[0].isupper() and (written[1:].islower() or len(written) == 1)

    def free(self, at: int, last: int) -> bool:
        """Whether the words stand for themselves, and not inside a name such as ``may.txt`` or ``get_today()``."""
        start, end = self.starts[at], self.ends[last]
        before, after = self.view[start - 1 : start], self.view[end : end + 2]
        if before in tuple("_@#\\/$=&%") or (before.isascii() and before.isalnum()):
            return False
        if before == "." and self.view[max(start - 2, 0) : start - 1].isalnum():
            return False
        joined = self.words[at - 1] if at else ""
        if before == "-" and joined not in ("mid", "early", "late") and not is_date_word(joined):
            return False
        mark, behind = after[:1], after[1:]
        if mark in tuple("_@\\=") or after == "()" or (mark.isascii() and mark.isalnum()):
            return False
        if mark in tuple(".-/") and behind.isascii() and behind.isalnum():
            return mark == "-" and last + 1 < len(self.words) and is_date_word(self.words[last + 1])
        return True


def is_short(word: str) -> bool:
    """Whether a word is the short form of a month or weekday; many of these are other words too."""
    known = vocabulary()
    if word in known["weekday"]:
        return not word.endswith("day")
    return word in known["month"] and len(word) < 5 and word not in ("may", "june", "july")


def is_date_word(word: str) -> bool:
    """Whether a word may be the other end of a range that is written with a hyphen."""
    known = vocabulary()
    return word.isdigit() or word in known["month"] or word in known["weekday"] or word in known["season"]


@cache
def _tokens() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z\u00c0-\u1fff]+|[0-9]+")


@cache
def vocabulary() -> dict[str, dict[str, str]]:
    """Kind of word -> word -> value."""
    table: dict[str, dict[str, str]] = {}
    for kind, words in _VOCABULARY.items():
        pairs = (word.partition("=") for word in words.split())
        table[kind] = {word: value or word for word, _, value in pairs}
    return table


@cache
def word_set(listed: str) -> frozenset[str]:
    """The words of a list written with spaces."""
    return frozenset(listed.split())


@cache
def _signs() -> frozenset[str]:
    listed = {word for kind in _SIGNS for word in vocabulary()[kind]}
    return frozenset(listed - {"second", "sec", "other"} | set("0123456789"))


@cache
def _sight() -> re.Pattern[str]:
    return re.compile("[a-z]+|[0-9]")


def may_hold_english(lowered: str) -> bool:
    """Whether a lower-case text holds a word or digit without which there is no time in it."""
    return not _signs().isdisjoint(_sight().findall(lowered))


def read_count(row: Words, at: int) -> Count | None:
    """The count that begins at a word: ``3``, ``2.5``, ``two or three``, ``a couple of``, ``half a``."""
    word = row.words[at]
    if word in ("couple", "few", "several") or (word in ("a", "another") and row.after(at) in ("couple", "few")):
        at += word in ("a", "another")
        word = row.words[at]
        if word == "couple":
            return Count(4, 4, True, at + 1 + row.follow(at, "of"))
        return Count(4, 14, True, at + 1)
    if word == "half" or (word == "a" and row.after(at) == "half"):
        at += word == "a"
        return Count(1, 1, False, at + 1 + (row.after(at) in ("a", "an")))
    first = _integer(row, at)
    if first is None:
        return None
    value, following = first
    if row.follow(following - 1, "and a half"):
        return Count(2 * value + 1, 2 * value + 1, False, following + 3)
    if word.isdigit() and row.gap(at) == "." and following == at + 1:
        if row.words[following] != "5":
            return None
        return Count(2 * value + 1, 2 * value + 1, False, following + 1)
    second = following
    if row.after(following - 1) in ("or", "to"):
        second = following + 1
    elif row.gap(following - 1) not in ("-", "–", " - "):
        return Count(2 * value, 2 * value, False, following)
    if second < len(row.words) and (second == following or row.linked(second - 1)):
        last = _integer(row, second)
        if last is not None and value < last[0]:
            return Count(2 * value, 2 * last[0], True, last[1])
    return Count(2 * value, 2 * value, False, following)


def _integer(row: Words, at: int) -> tuple[int, int] | None:
    """A whole number and the word after it."""
    word = row.words[at]
    if word.isdigit():
        value, following = int(word[:10]), at + 1
        if row.gap(at) == "," and len(row.words[at + 1]) == 3 and row.words[at + 1].isdigit():
            return value * 1000 + int(row.words[at + 1]), at + 2
        return (value, following) if len(word) < 10 else None
    known = vocabulary()["count"]
    if word not in known or known[word] == "0":
        return None
    value = int(known[word])
    joined = row.after(at) if row.gap(at) != "-" else row.words[at + 1]
    if word in ("a", "an", "one") and joined in ("hundred", "dozen"):
        return int(known[joined]), at + 2 + (row.follow(at + 1, "of"))
    if 20 <= value <= 90 and joined in known and 1 <= int(known[joined]) <= 9 and joined not in ("a", "an", "couple"):
        return value + int(known[joined]), at + 2
    return value, at + 1
