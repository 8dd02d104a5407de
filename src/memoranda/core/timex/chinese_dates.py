"""What begins with a number in Chinese text: dates, hours, distances.

Text is in simplified characters here. Every maker takes the match of its rule
and gives a mention, or None where the rule was deceived; a mention that needs
"never" uses the characters up (``13月45日``).
"""

from __future__ import annotations

from memoranda.core.records import replace
from memoranda.core.timex.calendar import about, rolling, span, step
from memoranda.core.timex.mentions import Mention, mention
from memoranda.core.timex.slots import Slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from memoranda.core.timex.calendar import Clock

    Maker = Callable[[re.Match[str], Clock], Mention | None]

__all__ = ["NUMERALS", "date_rules", "numeral"]

NUMERALS = "〇零一二两三四五六七八九十百千万廿卅"
_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2} | {c: n for n, c in enumerate("三四五六七八九", 3)}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_UNITS = {
    "年": "year",
    "月": "month",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "天": "day",
    "日": "day",
    "小时": "hour",
    "钟头": "hour",
    "分钟": "minute",
    "秒": "second",
    "秒钟": "second",
    "季度": "quarter",
    "世纪": "century",
}

_NUMBER = rf"(?:[0-9]{{1,9}}|[{NUMERALS}]{{1,8}})"
_FREE = rf"(?<![0-9][.,:])(?<![0-9{NUMERALS}第])"
_ALONE = rf"(?:{_FREE}|(?<=[周期拜][一二三四五六]))"
_TO = r"\s?(?:-|–|—|~|至|到)\s?"
_LUNAR = "(?<!农历)(?<!阴历)(?<!旧历)(?<![闰冬腊])"
# A day of the lunar calendar behind its month: 八月十五, 九月九.
_FESTIVAL = (
    r"初[一二三四五六七八九十]|(?<=[一二三四五六七八九十]月)"
    r"(?:[十廿卅]|[二三]十|[一二三四五六七八九](?=$|[^\u3400-\u9fff]|[的这那是]))"
)
_NOT_MONTH = rf"(?![兔怀革围大刊号圆]|{_FESTIVAL}|天(?!气|[冷热])|[之以]?内)"
_COUNT = (
    rf"(?P<count>好几|十几|几十|几|数|半|{_NUMBER}(?:{_TO}{_NUMBER})?)(?P<more>多)?(?P<piece>个半|个多?)?"
    r"(?P<unit>年|月|周|星期|礼拜|天|日|小时|钟头|分钟|秒钟?|季度|世纪)(?P<half>半)?(?P<over>多)?"
)
_TAIL = "(?P<tail>[以之]?前(?![往端锋途任列沿缀后夕言面])|[以之]?后(?![端勤缀悔])|[以之]?内(?![容部心在存科涵]))"
# What may stand behind a day of the month that is one: "21号那天", not "21号线"; and before it: not "中山路21号".
_DAY_ENDS = (
    r"(?=$|[^0-9A-Za-z\u3400-\u9fff]|那[天日]|当[天日]|[的我你您他她晚早去要有在和与从到至说做开]|[上下中]午|凌晨"
    "|以?[前后]|之[前后]|起|大家|发生)"
)
_NOT_STREET = r"(?<![路街巷弄道村座栋楼房室门编号铁台型代牌账卡款A-Za-z#\-])"
_DAY_NUMBER = (
    rf"(?:([0-9]{{1,2}}|[{NUMERALS}]{{2,4}}|[{NUMERALS}](?=号(?:[那当]天|[上下]午|早|晚|[之以]?[前后])))号"
    rf"|([0-9]{{1,2}}|[十廿卅][{NUMERALS}]{{0,2}}|[二三]十[{NUMERALS}]?)日)"
)
_MINUTES = rf"(?:(半)|([一三])刻钟?|([0-9]{{1,2}}|[{NUMERALS}]{{1,3}})分?)?"
# 三点建议, 一点也不 and the like are no hours.
_NOT_HOUR = "(?![0-9点建意要内原理体感启教心儿都也不没共看优缺希注疑候间代])"


def date_rules() -> list[tuple[str, str, str, Maker]]:
    """First characters, characters one of which must follow, pattern, maker; earlier rules go first."""
    number, short = "0123456789" + NUMERALS, rf"[0-9]{{1,2}}|[{NUMERALS}]{{1,3}}"
    year = "[12][0-9]{3}|[一二][〇零一二三四五六七八九]{3}"
    two, leads = "[0-9]{2}|[〇零一二三四五六七八九]{2}", "最近|过去|近|这|未来|今后|接下来|往后|前"
    date = rf"{_ALONE}{_LUNAR}({_NUMBER})月份?"
    return [
        ("公", "年世", rf"公元前{_NUMBER}(?:年代?|世纪)", _nothing),
        ("公", "年", rf"公元({_NUMBER})年", _year),
        (number, "年", rf"{_ALONE}([12][0-9]{{3}}){_TO}([12][0-9]{{3}}|[0-9]{{2}})年", _years),
        (number, "年", rf"{_ALONE}({year})年(?![级龄薪代]|的?历史|以上|左右|之久)", _year),
        (number, "年", rf"{_ALONE}({two})年(?=[0-9{NUMERALS}]{{1,3}}月)", _short_year),
        (number, "年", rf"{_ALONE}(0[0-9]|[〇零][一二三四五六七八九])年(?![级龄薪代])", _short_year),
        (number, "月", rf"{date}({_NUMBER})[日号]?{_TO}({_NUMBER})[日号]", _days),
        (number, "月", rf"{date}({_NUMBER})[日号]", _days),
        (number, "月", rf"{_ALONE}([0-9]{{1,2}})月([0-9]{{1,2}})(?![0-9.:个人天年月万千百%])", _days),
        (number, "月", rf"{_ALONE}({_NUMBER}){_TO}({_NUMBER})月份?(?![0-9{NUMERALS}])", _months),
        (number, "月", rf"{date}{_NOT_MONTH}", _months),
        (number + "好几数半", "前后内", rf"{_FREE}(?<![前头后每隔哪那某同当]){_COUNT}{_TAIL}", _distant),
        (
            "最过近这未今接往前",
            "年月周星礼天日时头钟秒季世",
            rf"(?P<lead>{leads})的?(?:这|的)?{_COUNT}(?:以来|以内|之内|[里内间来中])?",
            _recent,
        ),
        (number, "代", "(?<![0-9])([12][0-9]{2}0)年代", _decade),
        ("上二2", "代", "(?:上个?世纪|(?:20|二十)世纪)([1-9]0|[二三四五六七八九]十)年代", _decade),
        (number, "代", rf"(?<![0-9{NUMERALS}])([1-9]0|[二三四五六七八九]十)年代", _decade),
        (number + "第", "季", rf"{_FREE}(?<!前)第?([一二三四1-4])季度", _quarter),
        (number, "号日", rf"{_ALONE}({_NUMBER})[日号]?{_TO}({_NUMBER})[日号]{_DAY_ENDS}", _month_days),
        (number, "号日", rf"{_NOT_STREET}{_ALONE}{_DAY_NUMBER}{_DAY_ENDS}", _month_days),
        (number, "点时", rf"{_ALONE}({short})(?:点钟?|时(?=[0-9{NUMERALS}]+分)){_MINUTES}{_NOT_HOUR}", _hour),
        ("0123456789", "点时", rf"{_FREE}([0-9]{{1,2}})时(?![0-9候间代刻期常段光针装髦])", _hour),
    ]


def numeral(written: str) -> int | None:
    """The number that digits or Chinese numerals mean; digits in a row (二〇二四) are read one by one."""
    if written.isdigit() and written.isascii():
        return int(written)
    if all(c in _DIGITS for c in written):
        return int("".join(str(_DIGITS[c]) for c in written))
    total = group = 0
    digit: int | None = None
    for c in written.replace("廿", "二十").replace("卅", "三十"):
        if c in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[c]
        elif c == "万":
            total, group, digit = (total + group + (digit or 0)) * 10000, 0, None
        else:
            if digit is None and group:
                return None
            group, digit = group + (1 if digit is None else digit) * _POWERS[c], None
    return total + group + (digit or 0)


def _pair(written: str) -> tuple[int, int] | None:
    """Two digits that mean a few: 两三, 三四, 三五."""
    if len(written) == 2 and all(c in _DIGITS and _DIGITS[c] for c in written):
        first, second = _DIGITS[written[0]], _DIGITS[written[1]]
        return (first, second) if first < second <= first + 2 else None
    return None


def _number(written: str) -> int:
    value = numeral(written)
    if value is None:
        raise ValueError(written)
    return value


def _nothing(found: re.Match[str], clock: Clock) -> Mention | None:
    return Mention(found.start(), found.end(), needs="never")


def _year(found: re.Match[str], clock: Clock) -> Mention | None:
    year = _number(found.group(1))
    after = found.string[found.end() : found.end() + 2]
    distance = year < 1900 and year % 100 == 0 and not found.group().startswith("公")
    if distance and (after[:1] in ("前", "后") or after in ("多前", "以前", "之前", "以后", "之后")):
        return None  # a thousand years ago
    return mention(found.start(), found.end(), span(year, 1, 12, "year"))


def _years(found: re.Match[str], clock: Clock) -> Mention | None:
    first, last = int(found.group(1)), int(found.group(2))
    if last < 100:
        last += first // 100 * 100
    return mention(found.start(), found.end(), span(first, 1, 12 * (last - first + 1), "span"))


def _short_year(found: re.Match[str], clock: Clock) -> Mention | None:
    before = found.string[max(found.start() - 2, 0) : found.start()]
    named = "\u3400" <= before[-1:] <= "\u9fff" and before[-1:] not in "在于从自到至是的我你他她们和及与了说"
    if named or before == "昭和":
        return None  # 昭和57年, 民国98年
    year = 2000 + _number(found.group(1))
    if year > clock.local.year + 1:
        year -= 100
    return mention(found.start(), found.end(), span(year, 1, 12, "year"))


def _days(found: re.Match[str], clock: Clock) -> Mention | None:
    month, day, *rest = (numeral(part) or 99 for part in found.groups())
    last = rest[0] if rest else 0
    if not (1 <= month <= 12 and 1 <= day <= 31 and (not last or day < last <= 31)):
        return Mention(found.start(), found.end(), needs="never")
    return Mention(found.start(), found.end(), slot=Slot("days", day, last, month))


def _months(found: re.Match[str], clock: Clock) -> Mention | None:
    several = _pair(found.group(1)) if found.re.groups == 1 else None
    first, last = several or (numeral(found.group(1)) or 99, numeral(found.group(found.re.groups)) or 99)
    if not (1 <= first <= 12 and 1 <= last <= 12):
        return Mention(found.start(), found.end(), needs="never")
    return Mention(found.start(), found.end(), slot=Slot("month", first, last if last != first else 0))


def _measured(found: re.Match[str]) -> tuple[int, int, str, bool] | None:
    """Lowest and highest number of halves, the unit, whether it is vague."""
    count, unit = found.group("count"), _UNITS[found.group("unit")]
    piece, half = found.group("piece"), bool(found.group("half"))
    if found.group("unit") == "月" and not piece and count not in ("数", "好几"):
        return None  # 三月 is a month of the year
    if unit == "century" and not piece and count != "半":
        return None  # 13世纪前 is before the 13th century
    if piece and found.group("unit") in ("年", "天", "日", "周", "分钟"):
        return None
    if count == "半":
        return None if half or piece == "个半" or unit in ("day", "week", "minute") else (1, 1, unit, False)
    more = half + (piece == "个半")
    if count in ("几", "数", "好几"):
        return 4, 14, unit, True
    if count in ("十几", "几十"):
        return (22, 38, unit, True) if count == "十几" else (40, 180, unit, True)
    ends = [part for part in _split(count) if part]
    several = _pair(ends[0]) if len(ends) == 1 else None
    low, high = several or (_number(ends[0]), _number(ends[-1]))
    vague = bool(several or low != high or piece == "个多" or found.group("more") or found.group("over"))
    return (2 * low + more, 2 * high + more, unit, vague) if low <= high else None


def _split(count: str) -> list[str]:
    for mark in "-–—~至到":
        count = count.replace(mark, " ")
    return count.split()


def _distant(found: re.Match[str], clock: Clock) -> Mention | None:
    """三天前, 两年半后, 三天内; what is to come may belong to a story, and is vague."""
    measured = _measured(found)
    if measured is None:
        return None
    low, high, unit, vague = measured
    if "内" in found.group("tail"):
        return mention(found.start(), found.end(), rolling(clock, step(high, unit), -1), vague=True)
    sign = -1 if "前" in found.group("tail") else 1
    near, far = about(clock, step(low, unit), sign), about(clock, step(high, unit), sign)
    first, last = (far, near) if sign < 0 else (near, far)
    return mention(found.start(), found.end(), replace(first, until=last.until), vague=vague or sign > 0)


def _recent(found: re.Match[str], clock: Clock) -> Mention | None:
    """最近三天, 近两年, 这几天, 未来一周, 前几天."""
    lead, count, unit = found.group("lead"), found.group("count"), found.group("unit")
    left = found.string[found.start() - 1 : found.start()]
    if lead == "近" and left in tuple("附接靠将临亲逼贴走新相最就远邻") and left:
        return None
    if lead in ("这", "前") and count == "一" and not found.group("piece"):
        return None
    if lead == "前" and (count not in ("几", "两") or left in tuple("以之目从年月周日天时")):
        return None
    measured = _measured(found)
    if measured is None:
        return None
    _, high, named, vague = measured
    if count == "两" and lead in ("这", "前"):
        high, vague = high + 2, True
    sign = 1 if lead in ("未来", "今后", "接下来", "往后") else -1
    vague = vague or lead == "这" or (lead == "前")
    return mention(found.start(), found.end(), rolling(clock, step(high, named), sign), vague=vague or unit == "世纪")


def _decade(found: re.Match[str], clock: Clock) -> Mention | None:
    first = _number(found.group(1))
    if first < 100:
        named = found.group().startswith(("上", "20世", "二十世"))
        if first < 30 and not named:
            return None
        first += 1900
    return mention(found.start(), found.end(), span(first, 1, 120, "decade"))


def _quarter(found: re.Match[str], clock: Clock) -> Mention | None:
    return Mention(found.start(), found.end(), slot=Slot("quarter", _number(found.group(1))))


def _month_days(found: re.Match[str], clock: Clock) -> Mention | None:
    numbers = [_number(part) for part in found.groups() if part]
    if not all(1 <= number <= 31 for number in numbers) or (len(numbers) > 1 and numbers[0] >= numbers[1]):
        return Mention(found.start(), found.end(), needs="never")
    last = numbers[1] if len(numbers) > 1 else 0
    return Mention(found.start(), found.end(), slot=Slot("month-days", numbers[0], last))


def _hour(found: re.Match[str], clock: Clock) -> Mention | None:
    hour, *rest = found.groups()
    half, quarter, minutes = rest if rest else (None, None, None)
    minute = 30 if half else {"一": 15, "三": 45}[quarter] if quarter else _number(minutes) if minutes else -1
    value = _number(hour)
    if not (0 <= value <= 24 and minute < 60):
        return None
    name = "written" if len(hour) == 2 and hour.startswith("0") else ""
    return Mention(found.start(), found.end(), slot=Slot("clock", value, minute, name=name), needs="join")
