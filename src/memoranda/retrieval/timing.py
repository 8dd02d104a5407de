"""Times that a query names: what they are, what they leave of the query, and what is dated inside them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import inf

from memoranda.core.analysis import analyze_query
from memoranda.core.records import dataclass, replace
from memoranda.core.stopwords import is_stop_character
from memoranda.index.entries import when
from memoranda.index.partition import moment_of
from memoranda.retrieval.query import read_query
from memoranda.retrieval.validity import moment_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    from memoranda.core.analysis import QueryTerm
    from memoranda.core.timex import TimeExpression
    from memoranda.index.entries import Entry
    from memoranda.index.partition import Partition
    from memoranda.index.scoring import Scoring
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.query import Query, QueryWeights
    from memoranda.retrieval.validity import Outdated

__all__ = ["Dates", "NamedTime", "TimedQuery", "may_name_time", "read_timed_query"]

#: A longer text is no question about a time.
_LONGEST_TIMED = 1000
#: How the words begin of which one stands in any time that is named in English, and the characters for Chinese.
_TIME_STEMS = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    *("mon", "tue", "wed", "thu", "fri", "sat", "sun", "day", "week", "fortnight", "month", "quarter", "year", "yr"),
    *("decade", "centur", "spring", "summer", "autumn", "fall", "winter", "moment", "min", "sec", "hour", "hr"),
    *("morning", "noon", "afternoon", "evening", "night", "midnight"),
    *("now", "today", "tonight", "tomorrow", "yesterday", "lately", "recent"),
)
_TIME_CHARACTERS = frozenset("年月周週日号號天星礼禮季夏秋冬春旬晚早夜晨时時点點最近刚剛现現此刻前期间間后後今昨明午")
#: A longer time tells little: most of what is remembered may lie in it.
_LONG = timedelta(days=100)
#: A date without a year is looked for so many years back.
_YEARS_BACK = 20
#: So many documents of a time are looked at, the newest first, and so many of these are let in.
_MOST_DATED = 512
_MOST_LET_IN = 64
#: What the words of a date count beside other words, where anything is dated then.
_DATE_WORD = 0.5
#: A date has the name of its month, or a year; what is counted from now has neither, or such a word.
_MONTH = r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|月"
_YEAR = r"\d{4}|[〇零一二三四五六七八九]{4}|年"
_FROM_NOW = r"(?i)\b(?:last|this|next|past|previous|coming|ago|since)\b|[上下本这這今昨去明前后後]"
#: What a question about a time alone is made of, beside function words.
_EMPTY_WORDS = ("happen", "event", "thing", "stuff", "new")
_EMPTY_CHARACTERS = "做幹干去有说說聊谈談发發生事情忙玩"


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a query names: from ``begin`` to just before ``until``, in seconds since 1970.

    ``is_close`` tells a day, a week, a month or a season from what is longer,
    open or vague; ``is_listed``, a time that is not vague, may be all that is
    asked for; ``yearless`` is a date without a year.
    """

    text: str
    begin: float
    until: float
    is_close: bool
    is_listed: bool
    yearless: bool
    shown: str


@dataclass(frozen=True, slots=True)
class TimedQuery:
    """A query as it stands, and as it is read if anything is dated in the ``times`` that it names.

    The words of "last week" are not asked for in ``resolved``; those of "June
    2023" are, for they may stand in a text, but nothing has to hold them.
    ``only_times``: it asks for nothing else.
    """

    plain: Query
    times: tuple[NamedTime, ...] = ()
    resolved: Query | None = None
    only_times: bool = False

    def __bool__(self) -> bool:
        """Whether there is any term to ask for."""
        return bool(self.plain)


def read_timed_query(
    text: str,
    now: datetime,
    zone: tzinfo,
    weights: QueryWeights | None = None,
    analysis: Callable[[str], list[QueryTerm]] = analyze_query,
) -> TimedQuery:
    """Analyse a query and the times in it; ``now`` is aware, days are those of ``zone``."""
    plain = read_query(text, weights, analysis)
    if len(text) > _LONGEST_TIMED or not may_name_time(text):
        return TimedQuery(plain)
    from memoranda.core.timex import find_times

    found = find_times(text, now, zone)
    if not found:
        return TimedQuery(plain)
    times = tuple(_named(one) for one in found)
    fixed, bare = text, text
    for one, named in zip(reversed(found), reversed(times), strict=True):
        if named.is_listed:
            bare = f"{bare[: one.start]} , {bare[one.end :]}"
            if named.is_close and not _is_fixed(one.text):
                fixed = f"{fixed[: one.start]} , {fixed[one.end :]}"
    words = {term.term for term in analysis(bare) if not term.stop}
    query = read_query(fixed, weights, analysis)
    asked = {term: count for term, count in query.evidence.items() if term in words}
    # Who writes "July 2023" means the time more than the words.
    weighed = {term: weight if term in words else weight * _DATE_WORD for term, weight in query.weights.items()}
    only_times = any(named.is_listed for named in times) and all(map(_says_nothing, words))
    return TimedQuery(plain, times, replace(query, text=text, weights=weighed, evidence=asked), only_times)


def may_name_time(text: str) -> bool:
    """Whether there is any word or digit in a text without which it names no time: most questions have none.

    What follows is not loaded for those.
    """
    if any(map(str.isdecimal, text)) or not _TIME_CHARACTERS.isdisjoint(text):
        return True
    letters = "".join(letter if letter.isalpha() else " " for letter in text.lower())
    return any(word.startswith(_TIME_STEMS) for word in letters.split())


class Dates:
    """What is dated inside the times of a query, in some partitions."""

    def __init__(
        self, times: Sequence[NamedTime], partitions: Sequence[Partition], parameters: RetrievalParameters, zone: tzinfo
    ) -> None:
        self._zone, self._parameters = zone, parameters
        self._times = [self._placed(one, partitions) for one in times]
        self._known: dict[tuple[int, int], NamedTime | None] = {}
        #: Whether anything is dated in a close time; if not, its words are words like others.
        self.are_met = any(next(self.inside(partition), None) is not None for partition in partitions)

    def let_in(
        self,
        partitions: Sequence[Partition],
        scoring: Scoring,
        own: dict[int, dict[int, float]],
        keep: Callable[[int, int], bool] | None,
    ) -> None:
        """Add to ``own`` the best of what is dated inside a close time and holds a term."""
        for number, partition in enumerate(partitions):
            held = own.get(number, {})
            dated = [doc for doc in self.inside(partition) if doc not in held]
            scores = scoring.of(number, dated) if dated else {}
            best = sorted(scores.items(), key=lambda pair: (-pair[1], partition.tie(pair[0])))
            for doc, score in best[:_MOST_LET_IN]:
                if keep is None or keep(number, doc):
                    own.setdefault(number, {})[doc] = score

    def inside(self, partition: Partition, *, long: bool = False) -> Iterator[int]:
        """The documents that are dated inside a close time, or a ``long`` one, the newest first, a bounded number."""
        seen: set[int] = set()
        for one in self._times:
            if one.is_close or (long and one.is_listed):
                margin = self._margin(one)
                for looked, doc in enumerate(partition.dated(one.begin - margin, one.until + margin)):
                    if looked >= _MOST_DATED:
                        break
                    if doc not in seen and self.of(partition, doc) is not None:
                        seen.add(doc)
                        yield doc

    def of(self, partition: Partition, doc: int) -> NamedTime | None:
        """The time of the query that a document is dated in, a close one first."""
        place = (id(partition), doc)
        if place not in self._known:
            moment = partition.moment(doc)
            holding = [] if moment is None else [t for t in self._times if self._holds(t, partition, doc, moment)]
            self._known[place] = min(holding, key=lambda one: not one.is_close, default=None)
        return self._known[place]

    def factor(self, partition: Partition, doc: int) -> float:
        """What the document's score is multiplied by for its date."""
        named = self.of(partition, doc)
        if named is None:
            return 1.0
        return self._parameters.dated if named.is_close else self._parameters.loosely_dated

    def held_then(self, entry: Entry, gone: Outdated) -> NamedTime | None:
        """The past time of the query in which an entry held that does not hold any more."""
        until = None if gone.successor is None else moment_of(when(gone.successor))
        if entry.metadata.valid_to:
            end = moment_after(entry.metadata.valid_to, self._zone)
            until = until if end is None else end.timestamp()
        begin = moment_of(when(entry))
        for one in self._times:
            if one.is_listed and until is not None and one.begin < until and (begin is None or begin < one.until):
                return one
        return None

    def reason(self, partition: Partition, doc: int) -> str:
        """The same in words; empty where there is none."""
        named = self.of(partition, doc)
        if named is None:
            return ""
        day = datetime.fromtimestamp(partition.moment(doc) or 0.0, UTC).astimezone(self._zone).date()
        written = when(partition.entries[doc])
        shown = written if len(written) <= 10 else day.isoformat()
        return f"dated {shown}, which is in “{named.text}” ({named.shown})"

    def _placed(self, one: NamedTime, partitions: Sequence[Partition]) -> NamedTime:
        """A date without a year in the latest year that anything is dated in then."""
        if not one.yearless:
            return one
        for back in range(_YEARS_BACK):
            moved = _years_earlier(one, back, self._zone)
            if moved is not None and any(
                next(iter(partition.dated(moved.begin, moved.until)), None) is not None for partition in partitions
            ):
                return moved
        return one

    def _holds(self, one: NamedTime, partition: Partition, doc: int, moment: float) -> bool:
        margin = self._margin(one)
        if -margin <= moment - one.begin < margin or -margin <= moment - one.until < margin:
            # At the edge it matters what zone is meant: a time without one is the user's.
            moment = _moment_in(when(partition.entries[doc]), self._zone, moment)
        return one.begin <= moment < one.until

    def _margin(self, one: NamedTime) -> float:
        """By how much a time that was taken for UTC may be off, in seconds."""
        edge = one.begin if one.begin != -inf else one.until
        offset = datetime.fromtimestamp(edge, UTC).astimezone(self._zone).utcoffset()
        return abs(offset.total_seconds()) if offset else 0.0


def _named(one: TimeExpression) -> NamedTime:
    begin = -inf if one.begin is None else one.begin.timestamp()
    until = inf if one.until is None else one.until.timestamp()
    is_close = not one.vague and until - begin <= _LONG.total_seconds()
    return NamedTime(one.text, begin, until, is_close, not one.vague, _is_yearless(one), _span(one.begin, one.until))


def _span(begin: datetime | None, until: datetime | None) -> str:
    """The interval by its first and last day."""
    first = "" if begin is None else begin.date().isoformat()
    last = "" if until is None else (until - timedelta(microseconds=1)).date().isoformat()
    return first if first == last else f"{first} – {last}"


def _says_nothing(term: str) -> bool:
    """Whether a term belongs to the question about a time, and not to what is looked for in it."""
    return term in _EMPTY_WORDS or all(one in _EMPTY_CHARACTERS or is_stop_character(one) for one in term)


def _is_fixed(text: str) -> bool:
    """Whether a time has words that may stand in a text, and mean the same there."""
    return (_has(_MONTH, text) or _has(_YEAR, text)) and not _has(_FROM_NOW, text)


def _is_yearless(one: TimeExpression) -> bool:
    if one.vague or not one.grain.startswith(("day", "month")):
        return False
    return _has(_MONTH, one.text) and not _has(_YEAR, one.text) and not _has(_FROM_NOW, one.text)


def _has(pattern: str, text: str) -> bool:
    import re

    return re.search(pattern, text) is not None


def _years_earlier(one: NamedTime, years: int, zone: tzinfo) -> NamedTime | None:
    if not years:
        return one
    try:
        begin, until = (datetime.fromtimestamp(edge, UTC).astimezone(zone) for edge in (one.begin, one.until))
        begin, until = begin.replace(year=begin.year - years), until.replace(year=until.year - years)
    except ValueError:  # there is no 29 February then
        return None
    return replace(one, begin=begin.timestamp(), until=until.timestamp(), shown=_span(begin, until))


def _moment_in(ts: str, zone: tzinfo, otherwise: float) -> float:
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        return otherwise
    return otherwise if moment.tzinfo is not None else moment.replace(tzinfo=zone).timestamp()
