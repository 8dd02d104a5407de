"""Times in Chinese text.

A rule is a pattern with the characters that may open it, and a maker that looks
at what stands on both sides: 以前天气 holds no 前天, 马上周末 no 上周, 加上月饼 no
上月. Text is in simplified characters here, see ``simplified``.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.timex.calendar import rolling, step, unit
from memoranda.core.timex.chinese_dates import NUMERALS, date_rules
from memoranda.core.timex.chinese_words import (
    MONTH_WORDS,
    NOT_MONTH_WORDS,
    NOT_WEEK_WORDS,
    WEEK_WORDS,
    begins,
    follows,
    follows_ru,
    follows_yi,
    is_count,
    is_cut,
    is_day_word,
    is_sky,
    is_year_word,
)
from memoranda.core.timex.mentions import Mention, mention
from memoranda.core.timex.slots import Slot, anchored, over, place, upcoming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.timex.calendar import Clock
    from memoranda.core.timex.chinese_dates import Maker

__all__ = ["may_hold_chinese", "read_chinese"]

_WINDOW = 32  # no rule looks further for the characters it needs
_SIGNS = "年月周日号天星礼季夏秋冬春旬晚早夜晨时点最近刚现此刻前期间后今昨明午"
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_SEASONS = {"春": 1, "夏": 2, "秋": 3, "冬": 4}
_OFFSETS = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
_PARTS = {
    "早上": "morning",
    "早晨": "morning",
    "清早": "morning",
    "大清早": "morning",
    "清晨": "morning",
    "上午": "morning",
    "早": "morning",
    "晨": "morning",
    "凌晨": "dawn",
    "中午": "noon",
    "正午": "noon",
    "午后": "afternoon",
    "下午": "afternoon",
    "傍晚": "dusk",
    "黄昏": "dusk",
    "晚上": "night",
    "晚间": "night",
    "夜里": "night",
    "夜间": "night",
    "夜晚": "night",
    "晚": "night",
    "夜": "night",
    "深夜": "midnight",
    "半夜": "midnight",
    "午夜": "midnight",
}
_SHAPES = {
    "初": "begin",
    "前": "begin",
    "中": "middle",
    "底": "end",
    "末": "end",
    "尾": "end",
    "后": "end",
    "上旬": "early",
    "中旬": "mid",
    "下旬": "late",
}
# Characters that end another word before 前 (以前晚, 饭前阵).
_BEFORE_AGO = "之目从年月周日天时午面眼生空向往此事会战饭课婚睡门提当"


def may_hold_chinese(text: str) -> bool:
    """Whether the text holds a character without which there is no Chinese time in it."""
    return not _signs().isdisjoint(text)


@cache
def _signs() -> frozenset[str]:
    return frozenset(_SIGNS)


def read_chinese(view: str, clock: Clock) -> list[Mention]:
    """The times named in ``view`` by Chinese words, in order."""
    openers, rules = _rules()
    found: list[Mention] = []
    end = 0
    for opener in openers.finditer(view):
        at = opener.start()
        if at < end:
            continue
        window = view[at : at + _WINDOW]
        for keys, written, make in rules[opener.group()]:
            if not any(key in window for key in keys):
                continue
            match = _pattern(written).match(view, at)
            if match is None:
                continue
            try:
                one = make(match, clock)
            except (ValueError, OverflowError):
                one = Mention(at, match.end(), needs="never")
            if one is not None:
                found.append(one)
                end = one.end
                break
    return found


@cache
def _pattern(written: str) -> re.Pattern[str]:
    return re.compile(written)


@cache
def _rules() -> tuple[re.Pattern[str], dict[str, list[tuple[str, str, Maker]]]]:
    """A pattern of all characters that open a rule, and for each of them its rules."""
    rules: dict[str, list[tuple[str, str, Maker]]] = {}
    for openers, keys, written, make in [*date_rules(), *_word_rules()]:
        for opener in openers:
            rules.setdefault(opener, []).append((keys or opener, written, make))
    return re.compile(f"[{''.join(rules)}]"), rules


def _word_rules() -> list[tuple[str, str, str, Maker]]:
    """First characters, characters one of which must follow, pattern, maker; earlier rules go first."""
    which, one = "(?P<which>上上|上|下下|下|本|这)", "(?P<one>一个|一|个)?"
    ends = r"(?=$|[^0-9A-Za-z\u3400-\u9fff]|[的我你您他她们有是就])"
    middle = r"中(?=$|[^\u3400-\u9fff]|[的时我])"
    which_of = f"{NUMERALS}0-9几每当同次翌那该多青少全历成老往常整终岁蜜腊正闰水"
    night = "晚上(?![海班课映线演网学台市])|晚间|[晚夜早晨]"
    return [
        ("上下本这", "周星礼", rf"{which}{one}(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?", _week),
        ("上下本这", "月", rf"{which}{one}月份?", _month),
        ("上下本这", "季", rf"{which}{one}季度", _quarter),
        ("上下本这", "春夏秋冬", rf"(?P<which>[上下本这]){one}(?P<season>[春夏秋冬])[天季]", _season),
        ("今去明本", "春夏秋冬", rf"(?P<which>[今去明本])(?P<season>[春夏秋冬]){ends}", _season),
        ("上下", "年", "(?P<half>[上下])半年(?![级轮])", _half),
        ("上下", "月", "(?P<half>[上下])半月", _half_month),
        ("大前昨今明后", "天", "(?P<day>大前|大后|[前昨今明后])天", _day),
        ("昨今明前", "日儿", "(?P<day>[昨今明前])(?:日|儿个?)", _day),
        ("昨今明前", "晚夜早晨", rf"(?P<day>[昨今明前])(?:儿个?)?(?P<part>{night})(?![婚年期辈])", _evening),
        ("大前去今明后本", "年", "(?P<year>大前|[前去今明后本])年", _year),
        ("周星礼", "", "(?:周|星期|礼拜)(?P<day>[一二三四五六日天])", _weekday),
        ("周", "末", "(?<![每个度双愉])周末(?!愉|快乐|版|狂欢)", _weekend),
        (
            "年月",
            "初底末中",
            rf"(?<![{which_of}])(?P<unit>[年月])(?P<shape>[初底末]|{middle})(?![步级恋衷层部日])",
            _edge,
        ),
        ("月", "旬", rf"(?<![{which_of}])(?P<unit>月)(?P<shape>[上中下]旬)", _edge),
        ("上中下", "旬", "(?<=月)(?P<shape>[上中下]旬)", _edge_of),
        ("初", "", rf"(?<=[年月代])(?P<shape>初)(?![步级恋衷期中{NUMERALS}])", _edge_of),
        ("底末中", "", rf"(?<=[年月代])(?P<shape>底(?![下层部线气])|末(?![日班期])|{middle})", _edge_of),
        ("初前中后末", "", "(?<=年代)(?P<shape>[初前中后末]期)", _edge_of),
        ("春夏秋冬", "天季", "(?P<season>[春夏秋冬])[天季]", _bare_season),
        ("春夏秋冬", "", rf"(?<=年)(?P<season>[春夏秋冬])[初末]?{ends}", _bare_season),
        (
            "大清早凌上中正午下傍黄晚夜深半",
            "早晨上午后下傍晚黄昏间里夜",
            "|".join(part for part in _PARTS if len(part) > 1),
            _part,
        ),
        ("早晚夜晨", "", r"(?<=[天日号一二三四五六末])[早晚夜晨](?![上间于了饭会点年餐期辈安婚已就些])", _part),
        ("最", "近", "最近(?!的?一[次个回条]|距离)", _recently),
        ("近", "来日期段些", "(?<![附接靠将临亲逼贴走新相最就远邻])近(?:来|日|期|段时间|些天|些日子)(?!点)", _recently),
        ("前不这", "阵段些久", "[前这](?:一?阵子?|一?段(?:时间|日子)|些天|些日子|不久)|不久前", _recently),
        ("刚", "才刚", "刚(?:才|刚(?!好(?!像)|够|合适))", _just_now),
        ("现此", "在刻", "(?<![发出实表体呈展涌再浮显重兑闪])现在|此刻", _now),
    ]


def _week(found: re.Match[str], clock: Clock) -> Mention | None:
    day, text, end = found.group("day"), found.string, found.end()
    if not found.group("one"):
        other = day is None and begins(text, end, WEEK_WORDS, NOT_WEEK_WORDS)
        if other or is_cut(found):
            return None
    if day in _WEEKDAYS and is_count(text, day, end):
        day, end = None, end - 1
    week = unit(clock.local, "week", _OFFSETS[found.group("which")])
    if day is None:
        return mention(found.start(), end, week)
    slot = Slot("weekend") if day == "末" else Slot("weekday", _WEEKDAYS[day])
    return mention(found.start(), end, place(slot, week.begin))


def _weekday(found: re.Match[str], clock: Clock) -> Mention | None:
    text, day = found.string, found.group("day")
    if follows(found, f"0123456789{NUMERALS}几半多整全满隔每数第个首") or is_count(text, day, found.end()):
        return None
    if text[found.start()] == "周" and text[found.end() : found.end() + 1] in tuple("围多鸣仙福维良帆"):
        return None  # names
    return Mention(found.start(), found.end(), slot=Slot("weekday", _WEEKDAYS[day]))


def _weekend(found: re.Match[str], clock: Clock) -> Mention | None:
    return Mention(found.start(), found.end(), slot=Slot("weekend"))


def _month(found: re.Match[str], clock: Clock) -> Mention | None:
    one = found.group("one")
    if (not one and is_cut(found)) or one == "一":
        return None
    if begins(found.string, found.end(), MONTH_WORDS, NOT_MONTH_WORDS):
        return None
    return mention(found.start(), found.end(), unit(clock.local, "month", _OFFSETS[found.group("which")]))


def _quarter(found: re.Match[str], clock: Clock) -> Mention | None:
    return mention(found.start(), found.end(), unit(clock.local, "quarter", _OFFSETS[found.group("which")]))


def _season(found: re.Match[str], clock: Clock) -> Mention | None:
    slot, which = Slot("season", _SEASONS[found.group("season")]), found.group("which")
    if which in ("去", "明"):
        year = unit(clock.local, "year", -1 if which == "去" else 1)
        return mention(found.start(), found.end(), place(slot, year.begin))
    there = over(slot, clock) if which == "上" else upcoming(slot, clock) if which == "下" else None
    return mention(found.start(), found.end(), there or anchored(slot, clock.local))


def _half(found: re.Match[str], clock: Clock) -> Mention | None:
    return Mention(found.start(), found.end(), slot=Slot("half", 1 if found.group("half") == "上" else 2))


def _half_month(found: re.Match[str], clock: Clock) -> Mention | None:
    shape = "half 1" if found.group("half") == "上" else "half 2"
    return Mention(found.start(), found.end(), slot=Slot("month-part", name=shape))


def _day(found: re.Match[str], clock: Clock) -> Mention | None:
    day, text, end = found.group("day"), found.string, found.end()
    if text[end - 1] == "日":
        if day == "前" and found.start() and not follows(found, "我你您他她们 ，。、！？,.!?\n"):
            return None
        false = is_day_word(text, end) and (day == "前" or follows(found, "如当说发文证声不"))
    elif text[end - 1] == "天":
        false = _is_false_day(found, day)
    else:
        false = False
    return None if false else mention(found.start(), end, unit(clock.local, "day", _DAYS[day]))


def _is_false_day(found: re.Match[str], day: str) -> bool:
    """Whether 天, or the character before it, belongs to another word: 以前|天气, 证明|天才, 后天性."""
    text, end = found.string, found.end()
    sky = found.start() > 0 and is_sky(text, end)
    if day in ("前", "后"):
        nurture = day == "后" and (
            "先天" in text[max(found.start() - 8, 0) : end] or text[end : end + 2] in ("培养", "努力", "因素")
        )
        return sky or nurture or text[end : end + 1] == "性" or follows(found, "目之然先午") or follows_yi(found)
    if day == "明":
        reign = text[end : end + 1] == "启"
        return reign or follows(found, "证聪清黎透照昆英贤高圣精") or (sky and follows(found, "说文光发表声神"))
    return day == "今" and sky and (follows(found, "当现古") or follows_ru(found))


def _evening(found: re.Match[str], clock: Clock) -> Mention | None:
    day, part = found.group("day"), found.group("part")
    if day == "前" and (part not in ("晚", "晚上") or follows(found, f"{_BEFORE_AGO}以")):
        return None
    if day == "明" and follows(found, "证聪清黎透照昆英贤高圣精文"):
        return None
    there = place(Slot("part", name=_PARTS[part]), unit(clock.local, "day", _DAYS[day]).begin)
    return mention(found.start(), found.end(), there, part=_PARTS[part])


def _year(found: re.Match[str], clock: Clock) -> Mention | None:
    year, text, end = found.group("year"), found.string, found.end()
    if is_year_word(text, end) or (year == "本" and follows(found, "日基根一")):
        return None
    twice = text[end : end + 1] == "年" and text[end + 1 : end + 2] not in tuple("底初末中会终度尾")
    if year in ("前", "后") and (twice or follows_yi(found) or follows(found, "之目当然最今往此其先饭课婚战")):
        return None
    return mention(found.start(), end, unit(clock.local, "year", _YEARS[year]))


def _edge(found: re.Match[str], clock: Clock) -> Mention | None:
    kind = "year-part" if found.group("unit") == "年" else "month-part"
    return Mention(found.start(), found.end(), slot=Slot(kind, name=_SHAPES[found.group("shape")]))


def _edge_of(found: re.Match[str], clock: Clock) -> Mention | None:
    """初, 底, 中旬 right behind the year, month or decade they are a part of."""
    kind = {"年": "year-part", "月": "month-part", "代": "decade-part"}[found.string[found.start() - 1]]
    shape = _SHAPES[found.group("shape").removesuffix("期")]
    return Mention(found.start(), found.end(), slot=Slot(kind, name=shape), needs="join")


def _bare_season(found: re.Match[str], clock: Clock) -> Mention | None:
    return Mention(found.start(), found.end(), slot=Slot("season", _SEASONS[found.group("season")]), needs="join")


def _part(found: re.Match[str], clock: Clock) -> Mention | None:
    return Mention(found.start(), found.end(), slot=Slot("part", name=_PARTS[found.group()]), needs="join")


def _recently(found: re.Match[str], clock: Clock) -> Mention | None:
    before = found.string[max(found.start() - 8, 0) : found.start()]
    if found.group() == "最近" and ("离" in before or "距" in before):
        return None
    if found.group()[0] == "前" and follows(found, f"{_BEFORE_AGO}以"):
        return None
    return mention(found.start(), found.end(), rolling(clock, step(60, "day"), -1), vague=True)


def _just_now(found: re.Match[str], clock: Clock) -> Mention | None:
    return mention(found.start(), found.end(), rolling(clock, step(2, "hour"), -1), vague=True)


def _now(found: re.Match[str], clock: Clock) -> Mention | None:
    return mention(found.start(), found.end(), unit(clock.local, "minute"), vague=True)
