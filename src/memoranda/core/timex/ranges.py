"""Times as edges: from A to B, since A, before A, A以来; and lists whose members share a year."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import cache

from memoranda.core.records import replace
from memoranda.core.timex.calendar import Interval, about, shaped, step, unit
from memoranda.core.timex.context import WordsBefore, is_led, link, narrowed, recurs, words_before
from memoranda.core.timex.english_words import vocabulary
from memoranda.core.timex.mentions import Mention, mention, resolved
from memoranda.core.timex.slots import Slot, anchored, following, latest, preceding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.timex.calendar import Clock

__all__ = ["compose"]

_TO = ("to", "until", "till", "through", "thru", "up to", "-", "–", "—", "——", "~", "到", "至", "直到", "一直到")
_AND = ("and", "和", "与", "跟")
_OR = ("and", "or", "&", "and in", "or in", "和", "与", "或", "、")
_LISTED = ("month", "days", "month-days", "season", "quarter")
# Words before a time, nearest first, and what they make of it.
_ENGLISH_BEFORE = {
    "ever since": "since",
    "since": "since",
    "starting from": "since",
    "starting on": "since",
    "starting in": "since",
    "starting": "since",
    "up to": "until",
    "as of": "until",
    "until": "until",
    "till": "until",
    "by": "until",
    "prior to": "before",
    "before": "before",
    "after": "after",
    "between": "between",
    "from": "from",
    "of": "of",
}
_CHINESE_BEFORE = {
    "一直到": "until",
    "截止到": "until",
    "截至到": "until",
    "截至": "until",
    "截止": "until",
    "直到": "until",
    "到": "to",
    "自从": "since",
    "自": "since",
    "打从": "from",
    "从": "from",
    "由": "from",
}
_AFTER = {
    "以来": "since",
    "至今": "since",
    "起": "since",
    "开始": "since",
    "之前": "before",
    "以前": "before",
    "前": "before",
    "之后": "after",
    "以后": "after",
    "后": "after",
    "为止": "until",
}
# What may stand in front of a time that one of these stands behind: 自去年以来, 从周五后, 到去年为止.
_OPENS = {"since": ("from", "since"), "after": ("from",), "until": ("until", "to"), "before": ()}
# The words of ``_AFTER``; 前, 后 and 起 not where they begin another word (前往, 后来, 起床).
_CHINESE_AFTER = (
    "以来|至今|开始|起(?![床来飞火诉源码初点步伏因草名身跳夜航])|为止|[之以][前后]"
    "|前(?![天年往后任端夕台面途列辈锋所景提来去一二三两四五六七八九十几半0-9]|进(?!入))"
    "|后(?![来面天年续果悔台期端备代者勤院门半卫辈裔背顾一二三两四五六七八九十几0-9])"
)


def compose(view: str, found: list[Mention], clock: Clock) -> list[Mention]:
    """The mentions that are times, each with its interval, ranges as one."""
    kept: list[Mention] = []
    repeated = -1  # where a time that comes again and again ended
    at = 0
    while at < len(found):
        one, at = found[at], at + 1
        if one.needs == "never":
            continue
        words = words_before(view, one.start)
        if recurs(view, one, words) or (repeated >= 0 and link(view, repeated, one.start) in (*_TO, *_OR)):
            repeated = one.end
            continue
        repeated = -1
        one = _listed(view, kept, one, found[at] if at < len(found) else None, clock)
        one, words = narrowed(one, words)
        while kept and kept[-1].start >= one.start:
            kept.pop()  # the Friday of "the first Friday of June"
        operator, start = _before(view, one, words)
        led = is_led(one, words) or (operator == "from" and bool(_onwards(view, one.end)))
        led = led or (bool(kept) and one.needs != "join" and link(view, kept[-1].end, one.start) in _OR)
        try:
            if at < len(found) and found[at].needs != "never":
                between = link(view, one.end, found[at].start)
                both = operator == "between" or view.startswith("之间", found[at].end)
                if between in _TO or (between in _AND and both):
                    whole = _range(view, one, found[at], operator, led, clock)
                    if whole is not None:
                        opened = start if operator in ("between", "from") else one.start
                        _add(kept, replace(whole, start=opened))
                        at += 1
                        continue
            if not led:
                continue
            beside = _beside(one, operator, words, clock)
            if beside is not None:
                while kept and beside.start <= kept[-1].start:
                    kept.pop()  # the Friday of "the Friday before June 9"
                _add(kept, beside)
            else:
                _add(kept, _edge(view, one, operator, start, words, clock))
        except (ValueError, OverflowError):
            continue  # a date that does not exist
    return kept


def _add(kept: list[Mention], one: Mention) -> None:
    if not kept or kept[-1].end <= one.start:
        kept.append(one)


def _listed(view: str, kept: list[Mention], one: Mention, after: Mention | None, clock: Clock) -> Mention:
    """A member of a list takes the year, or the month, of its neighbour: 2023年3月和5月, September and October 1951."""
    slot = one.slot
    if slot is None or slot.kind not in _LISTED or one.shape:
        return one
    last = kept[-1] if kept and link(view, kept[-1].end, one.start) in _OR else None
    try:
        if last is not None and last.begin is not None and (last.dated or slot.kind == "month-days"):
            found = following(slot, last.begin)
        elif after is not None and after.dated and after.begin is not None and link(view, one.end, after.start) in _OR:
            found = preceding(slot, after.begin)
        else:
            return one
    except (ValueError, OverflowError):
        return one
    return replace(mention(one.start, one.end, found, needs=one.needs), dated=True)


def _before(view: str, one: Mention, words: WordsBefore) -> tuple[str, int]:
    """The operator in front of a mention, and where the whole then begins."""
    if not words:
        for written, name in _CHINESE_BEFORE.items():
            if one.start >= len(written) and view.startswith(written, one.start - len(written)):
                return name, one.start - len(written)
        return "", one.start
    rest = words[1:] if words[0][0] in ("the", "about", "around") and len(words) > 1 else words
    if len(rest) > 1 and (name := _ENGLISH_BEFORE.get(f"{rest[1][0]} {rest[0][0]}", "")):
        return name, rest[1][1]
    name = _ENGLISH_BEFORE.get(rest[0][0], "")
    return name, rest[0][1] if name else one.start


def _edge(view: str, one: Mention, operator: str, start: int, words: WordsBefore, clock: Clock) -> Mention:
    """A single mention, or what lies before, after, or since it."""
    slot = one.slot
    if slot is not None and slot.kind == "weekend" and [word for word, _ in words[:2]] == ["the", "for"]:
        found = anchored(slot, clock.local)  # plans for the weekend
        return replace(one, begin=found.begin, until=found.until, grain=found.grain, slot=None)
    one = resolved(one, clock)
    if slot is not None and slot.kind == "season":
        one = replace(one, vague=True)  # "in the summer" may be any summer
    end = one.end
    if suffix := _after(view, end):
        name = _AFTER[suffix]
        if suffix == "开始" and operator not in _OPENS[name]:
            return one
        start = start if operator in _OPENS[name] else one.start
        operator, end = name, end + len(suffix)
    elif operator == "from" and (onwards := _onwards(view, end)):
        operator, end = "since", end + onwards
    if (one.vague and operator in ("until", "before")) or (one.grain == "span" and operator == "since"):
        return replace(one, end=end) if suffix == "以来" else one
    if operator == "since":
        return replace(one, start=start, end=end, until=None, grain="span")
    if operator == "after":
        return replace(one, start=start, end=end, begin=one.until, until=None, grain="span")
    if operator == "before":
        return replace(one, start=start, end=end, begin=None, until=one.begin, grain="span")
    if operator == "until":
        return replace(one, start=start, end=end, begin=None, grain="span")
    return one


@cache
def _onward() -> re.Pattern[str]:
    return re.compile(r"\s(?:on|onwards?|forward)\b")


def _onwards(view: str, end: int) -> int:
    """The length of what makes of "from A" a time without end; 0 if nothing does."""
    found = _onward().match(view, end)
    return found.end() - end if found else 0


@cache
def _suffixes() -> re.Pattern[str]:
    return re.compile(_CHINESE_AFTER)


def _after(view: str, end: int) -> str:
    """The word behind a mention that makes an edge of it, else ""."""
    found = _suffixes().match(view, end)
    return found.group() if found else ""


def _beside(one: Mention, operator: str, words: WordsBefore, clock: Clock) -> Mention | None:
    """The week before June 9, the Friday before it, two days after it, the week of June 9."""
    if not words or operator not in ("before", "after", "of", "from"):
        return None
    one = resolved(one, clock)
    if one.grain != "day" or one.begin is None or one.until is None:
        return None
    at = 1 + (words[0][0] == "the")
    names = [word for word, _ in words] + [""] * 4
    known, noun = vocabulary(), names[at]
    named, definite = known["unit"].get(noun), names[at + 1] in ("the", "last")
    start = words[at + 1 if definite else at][1] if at < len(words) else one.start
    if operator == "of":
        return mention(start, one.end, unit(one.begin, named)) if named in ("week", "weekend") and definite else None
    slot = Slot("weekend") if noun == "weekend" else None
    if noun in known["weekday"]:
        slot = Slot("weekday", int(known["weekday"][noun]))
    if slot is not None and operator != "from":
        found = following(slot, one.until) if operator == "after" else preceding(slot, one.begin - timedelta(days=1))
        return mention(start, one.end, found)
    if named not in ("day", "week", "month", "year"):
        return None
    number = "one" if definite and operator != "from" else names[at + 1]
    count = int(number) if number.isdigit() else int(known["count"].get(number, "0"))
    if not 0 < count < 100:
        return None
    sign = -1 if operator == "before" else 1
    there = replace(clock, local=one.begin)
    return mention(words[at + 1][1], one.end, about(there, step(2 * count, named), sign))


def _range(view: str, first: Mention, second: Mention, operator: str, led: bool, clock: Clock) -> Mention | None:
    """From one to the other, inclusive; what one leaves out is taken from the other."""
    opened = operator in ("between", "from", "since")
    alike = first.needs == second.needs == "month" and first.slot is not None and second.slot is not None
    if not (led or (opened and first.needs != "join") or alike or not second.needs):
        return None
    if second.needs == "join" and not led:
        return None
    begins, ends = _ends(first, second, clock)
    if not begins.begin < ends.until:
        return None
    end = second.end
    for closing in ("之间", "期间"):
        if view.startswith(closing, end):
            end += len(closing)
    return Mention(first.start, end, begins.begin, ends.until, "span", first.vague or second.vague, whole=False)


def _ends(first: Mention, second: Mention, clock: Clock) -> tuple[Interval, Interval]:
    if first.slot is None and second.slot is None:
        return _interval(first), _interval(second)
    if second.slot is None:
        last = _interval(second)
        assert first.slot is not None
        return shaped(preceding(first.slot, last.begin), first.shape), last
    begins = _interval(first) if first.slot is None else latest(first.slot, clock, first.shape)
    return begins, shaped(following(second.slot, begins.begin), second.shape)


def _interval(one: Mention) -> Interval:
    assert one.begin is not None
    assert one.until is not None
    return Interval(one.begin, one.until, one.grain)
