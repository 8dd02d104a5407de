"""Laws of time expressions: spans, zones, calendars, hostile text."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core.timex import TimeExpression, find_times

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
CAIRO = ZoneInfo("Africa/Cairo")
ZONES = [SHANGHAI, NEW_YORK, CAIRO, ZoneInfo("Pacific/Apia"), ZoneInfo("Australia/Lord_Howe"), UTC]
NOW = datetime(2024, 8, 14, 15, 30, tzinfo=SHANGHAI)  # a Wednesday

PIECES = """
today yesterday tomorrow tonight now last this next past the a an few couple of two three 3 21 2024 1990s 100000000
days day week weeks month months year years hour hours minutes ago from to and between since until before after by
in on at early mid late end first second half quarter Q3 June May march april Monday Fri weekend summer fall night
morning noon 3pm 9:30 00:30 2:30am 2024-07-21 2024-02-30 2024-W29 2024-07-21T09:30Z 1/2 July 31, 29 February every
今天 昨天 前天 大前天 明天 后天 今晚 昨晚 上午 下午 晚上 凌晨 三点 半 2点 上周 这周 下周 周三 星期天 周末
上个月 本月 下月 去年 前年 今年 年底 月初 三天前 两个月前 半年前 一个半月前 几天 最近 过去 近 三年 后 前 以前
之后 以来 从 到 至 截至 起 7月 十二月 21号 廿三日 2024年 二〇二四年 99999年 9999年 0年 13月45日 2月29日 夏天
上半年 第三季度 九十年代 的 和 之间 每 ， 。 - – ( )
"""
texts = st.text(st.characters() | st.sampled_from("一三上下周月日天年前后 0123456789-:/.aT\ud800２①㋀"), max_size=40)
phrases = st.lists(st.sampled_from([*PIECES.split(), "\n"]) | texts, max_size=12).flatmap(
    lambda parts: st.sampled_from([" ".join(parts), "".join(parts)])
)
moments = st.datetimes(datetime(1971, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))


def when(text: str, now: datetime = NOW, zone: tzinfo = SHANGHAI) -> TimeExpression:
    """The only time of a text."""
    (found,) = find_times(text, now, zone)
    return found


def local(year: int, month: int, day: int, hour: int = 0, minute: int = 0, zone: tzinfo = SHANGHAI) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=zone)


@settings(max_examples=400, deadline=None)
@given(phrases, moments, st.sampled_from(ZONES))
@example("从today", NOW, SHANGHAI)
@example("99999年前", NOW, SHANGHAI)
@example("9999-12-31", NOW, SHANGHAI)
@example("0001-01-01", NOW, NEW_YORK)
@example("year 0", NOW, SHANGHAI)
@example("100000000 days ago", NOW, SHANGHAI)
@example("999999999 centuries ago", NOW, SHANGHAI)
@example("2024年2月30日", NOW, SHANGHAI)
@example("the last 999999999 weeks", NOW, SHANGHAI)
def test_whatever_the_text_spans_and_intervals_are_sound(text: str, now: datetime, zone: tzinfo) -> None:
    end = 0
    for found in find_times(text, now, zone):
        assert end <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        end = found.end
        edges = [edge for edge in (found.begin, found.until) if edge is not None]
        assert edges
        assert all(edge.tzinfo is zone for edge in edges)
        if found.begin is not None and found.until is not None:
            assert found.begin < found.until
            assert found.begin.astimezone(UTC) < found.until.astimezone(UTC)


EXPRESSIONS = """
yesterday | last week | three days ago | in June 2023 | July 21st, 2024 | since 2020 | from May to July | 2024-07-21
the past week | 昨天下午三点 | 上周末 | 去年夏天 | 三天前 | 2024年7月21日 | 从去年3月到5月 | 2020年以来 | 最近三天
周三 | 7月底 | 上个月21号 | 半年前 | 近两年 | 10月1日 | 截至去年
"""
AROUND = ["{}?", "{}。", "，{}，", "“{}”", "（{}）", '"{}"', "[{}]", "¿{}!", "…{}…", "\n{}\n", "{}、好"]
UNITS = [
    "last ",
    "today ",
    "一",
    "1",
    "7月",
    "到",
    "1-",
    "between 1 and ",
    "from ",
    "每",
    "（",
    "1 天",
    "a ",
    "9:30",
    "周",
]


@pytest.mark.parametrize("expression", re.split(r" \| |\n", EXPRESSIONS.strip()))
@pytest.mark.parametrize("around", AROUND)
def test_punctuation_around_a_time_changes_nothing(expression: str, around: str) -> None:
    alone, found = when(expression), when(around.format(expression))
    assert (found.text, found.begin, found.until) == (alone.text, alone.begin, alone.until)


@pytest.mark.parametrize("expression", re.split(r" \| |\n", EXPRESSIONS.strip()))
def test_full_width_characters_mean_the_same(expression: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in expression)
    alone, found = when(expression), when(f"说{wide}。")
    assert (found.begin, found.until, found.grain) == (alone.begin, alone.until, alone.grain)
    assert found.end - found.start == alone.end - alone.start


def test_compatibility_characters_keep_the_place_of_the_time() -> None:
    text = "ﬁle ㋆ ２１ yesterday"
    (found,) = find_times(text, NOW, SHANGHAI)[-1:]
    assert found.text == "yesterday"
    assert when("㋆").text == "㋆"
    assert when("㋆").begin == local(2024, 7, 1)


def test_days_are_counted_in_the_zone_asked_for() -> None:
    now = datetime(2024, 8, 14, 20, 0, tzinfo=UTC)
    assert when("today", now, SHANGHAI).begin == local(2024, 8, 15)
    assert when("today", now, NEW_YORK).begin == local(2024, 8, 14, zone=NEW_YORK)


@pytest.mark.parametrize(("date", "hours"), [((2024, 3, 10), 23), ((2024, 11, 3), 25), ((2024, 8, 14), 24)])
def test_a_day_lasts_from_midnight_to_midnight_whatever_the_clock_does(date: tuple[int, int, int], hours: int) -> None:
    found = when("today", local(*date, 12, zone=NEW_YORK), NEW_YORK)
    assert found.begin is not None
    assert found.until is not None
    assert found.until.astimezone(UTC) - found.begin.astimezone(UTC) == timedelta(hours=hours)


def test_a_time_stamp_with_an_offset_is_brought_to_the_zone() -> None:
    for text in ("2024-07-21T01:30Z", "2024-07-21 01:30:00+00:00", "2024-07-20T21:30:59.5-0400"):
        assert when(text).begin == local(2024, 7, 21, 9, 30)
    assert when("2024-07-21T09:30").begin == local(2024, 7, 21, 9, 30)


def test_hours_ago_are_elapsed_hours() -> None:
    forward = when("two hours ago", datetime(2024, 3, 10, 3, 30, tzinfo=NEW_YORK), NEW_YORK)
    assert forward.begin == local(2024, 3, 10, 0, zone=NEW_YORK)
    back = when("an hour ago", datetime(2024, 11, 3, 6, 30, tzinfo=UTC), NEW_YORK)
    assert back.begin is not None
    assert back.begin.astimezone(UTC) == datetime(2024, 11, 3, 5, tzinfo=UTC)


def test_the_hour_before_now_is_not_empty_where_the_clock_runs_back() -> None:
    now = datetime(2024, 11, 3, 6, 15, tzinfo=UTC)  # 1:15 for the second time
    found = when("the last hour", now, NEW_YORK)
    assert found.holds(now - timedelta(minutes=59))
    assert found.holds(now - timedelta(minutes=1))


def test_a_time_that_the_clock_skips_is_the_moment_it_skips_to() -> None:
    found = when("at 2:59 am", local(2024, 3, 10, 12, zone=NEW_YORK), NEW_YORK)
    assert found.begin == local(2024, 3, 10, 3, 59, zone=NEW_YORK)
    midnight = when("today", datetime(2024, 4, 26, 12, tzinfo=CAIRO), CAIRO)  # begins at one o'clock
    assert midnight.begin == local(2024, 4, 26, 1, zone=CAIRO)


@pytest.mark.parametrize(
    ("text", "begin", "until"),
    [
        ("last year", (2023, 1, 1), (2024, 1, 1)),
        ("a year ago", (2023, 1, 1), (2024, 1, 1)),
        ("去年", (2023, 1, 1), (2024, 1, 1)),
        ("today", (2024, 2, 29), (2024, 3, 1)),
        ("in February", (2024, 2, 1), (2024, 3, 1)),
        ("February 29", (2024, 2, 29), (2024, 3, 1)),
        ("去年2月底", (2023, 2, 21), (2023, 3, 1)),
        ("four years ago", (2020, 1, 1), (2021, 1, 1)),
        ("a month ago", (2024, 1, 1), (2024, 2, 1)),
    ],
)
def test_the_leap_day(text: str, begin: tuple[int, int, int], until: tuple[int, int, int]) -> None:
    found = when(text, local(2024, 2, 29, 10))
    assert (found.begin, found.until) == (local(*begin), local(*until))


def test_a_leap_day_without_a_year_is_the_last_one_there_was() -> None:
    assert when("February 29", local(2027, 6, 1)).begin == local(2024, 2, 29)
    assert find_times("February 29 last year", local(2024, 2, 29), SHANGHAI) == []
    assert find_times("去年今天", local(2024, 2, 29), SHANGHAI) == []
    assert find_times("February 30", NOW, SHANGHAI) == []


@pytest.mark.parametrize(
    ("text", "begin", "until"),
    [
        ("yesterday", (2024, 12, 31), (2025, 1, 1)),
        ("昨晚", (2024, 12, 31, 18), (2025, 1, 1, 6)),
        ("this week", (2024, 12, 30), (2025, 1, 6)),
        ("last week", (2024, 12, 23), (2024, 12, 30)),
        ("上周末", (2024, 12, 28), (2024, 12, 30)),
        ("last month", (2024, 12, 1), (2025, 1, 1)),
        ("last quarter", (2024, 10, 1), (2025, 1, 1)),
        ("in December", (2024, 12, 1), (2025, 1, 1)),
        ("last winter", (2024, 12, 1), (2025, 3, 1)),
        ("this winter", (2024, 12, 1), (2025, 3, 1)),
        ("去年冬天", (2024, 12, 1), (2025, 3, 1)),
        ("next winter", (2025, 12, 1), (2026, 3, 1)),
        ("next month", (2025, 2, 1), (2025, 3, 1)),
        ("on the 31st", (2024, 12, 31), (2025, 1, 1)),
        ("from November to January", (2024, 11, 1), (2025, 2, 1)),
        ("年初", (2025, 1, 1), (2025, 4, 1)),
        ("下半年", (2024, 7, 1), (2025, 1, 1)),
        ("第四季度", (2024, 10, 1), (2025, 1, 1)),
    ],
)
def test_the_first_of_january(text: str, begin: tuple[int, ...], until: tuple[int, ...]) -> None:
    found = when(text, local(2025, 1, 1, 9))
    assert (found.begin, found.until) == (local(*begin), local(*until))


def test_a_month_back_from_its_last_day_is_in_the_month_before() -> None:
    for now, first in ((local(2024, 3, 31, 8), local(2024, 2, 1)), (local(2023, 1, 31, 8), local(2022, 12, 1))):
        assert when("a month ago", now).begin == first
        assert when("一个月前", now).begin == first
    assert when("the past month", local(2024, 3, 31, 8)).begin == local(2024, 2, 29, 8)
    assert when("最近一个月", local(2023, 3, 31, 8)).begin == local(2023, 2, 28, 8)
    assert when("the 31st of last month", local(2024, 2, 10)).begin == local(2024, 1, 31)
    assert find_times("the 31st of last month", local(2024, 3, 10), SHANGHAI) == []


def test_grains_name_the_unit() -> None:
    grains = {
        "at 9:30": "minute",
        "an hour ago": "hour",
        "last night": "part",
        "今天": "day",
        "July 3-5": "days",
        "上周": "week",
        "上周末": "weekend",
        "in June": "month",
        "去年夏天": "season",
        "第三季度": "quarter",
        "上半年": "half",
        "2024年": "year",
        "九十年代": "decade",
        "月底": "month-part",
        "年底": "year-part",
        "since 2020": "span",
        "最近三天": "span",
    }
    for text, grain in grains.items():
        assert when(text).grain == grain


def test_holds_compares_moments_and_open_sides() -> None:
    day = when("yesterday")
    assert day.holds(datetime(2024, 8, 13, 3, tzinfo=UTC))
    assert not day.holds(datetime(2024, 8, 13, 16, tzinfo=UTC))
    assert when("since 2020").holds(datetime(2090, 1, 1, tzinfo=UTC))
    assert not when("since 2020").holds(datetime(2019, 12, 31, 15, 59, tzinfo=UTC))
    assert when("before 2020").holds(datetime(2019, 12, 31, 15, 59, tzinfo=UTC))
    assert not when("before 2020").holds(datetime(2020, 1, 1, tzinfo=SHANGHAI))


def test_several_times_come_in_their_order() -> None:
    found = find_times("yesterday we spoke of 去年夏天 and of May 7, 2022, not of the 1990s", NOW, SHANGHAI)
    assert [one.text for one in found] == ["yesterday", "去年夏天", "May 7, 2022", "1990s"]


class Untouched(tzinfo):
    """A zone that nobody may ask."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        raise AssertionError("asked")


@pytest.mark.parametrize("text", ["What is Caroline's identity?", "她喜欢什么颜色", "", "naïve café, ﬁne", "ｆｕｌｌ"])
def test_a_text_without_signs_of_a_time_is_done_with_before_any_zone_is_asked(text: str) -> None:
    assert find_times(text, datetime(2024, 8, 14, tzinfo=Untouched()), Untouched()) == []


@pytest.mark.parametrize("unit", UNITS)
def test_a_hundred_kilobytes_of_anything_are_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    found = find_times(text, NOW, SHANGHAI)
    assert all(text[one.start : one.end] == one.text for one in found)


def test_no_pattern_is_compiled_at_import() -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("memoranda.core.timex")]
    assert len(modules) > 10
    assert not any(isinstance(value, re.Pattern) for module in modules for value in vars(module).values())
