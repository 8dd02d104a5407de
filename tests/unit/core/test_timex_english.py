"""Times in English text, with exact intervals, in two zones."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from memoranda.core.timex import find_times

ZONES = [ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York")]
NOW = datetime(2024, 8, 14, 15, 30)  # a Wednesday

# text | expression | begin | until (local wall clock; - leaves the side open; ~ is vague)
POSITIVE = """
what did I do today? | today | 2024-08-14 | 2024-08-15
what did we say yesterday | yesterday | 2024-08-13 | 2024-08-14
Yesterday's lunch | Yesterday | 2024-08-13 | 2024-08-14
plans for tomorrow | tomorrow | 2024-08-15 | 2024-08-16
the day before yesterday we met | the day before yesterday | 2024-08-12 | 2024-08-13
day after tomorrow | day after tomorrow | 2024-08-16 | 2024-08-17
what happened tonight | tonight | 2024-08-14 18:00 | 2024-08-15 06:00
where was I last night? | last night | 2024-08-13 18:00 | 2024-08-14 06:00
the night before last | the night before last | 2024-08-12 18:00 | 2024-08-13 06:00
what did he say this morning | this morning | 2024-08-14 05:00 | 2024-08-14 12:00
this afternoon | this afternoon | 2024-08-14 12:00 | 2024-08-14 18:00
this evening | this evening | 2024-08-14 17:00 | 2024-08-15
yesterday evening | yesterday evening | 2024-08-13 17:00 | 2024-08-14
tomorrow morning | tomorrow morning | 2024-08-15 05:00 | 2024-08-15 12:00
the call on Monday morning | Monday morning | 2024-08-12 05:00 | 2024-08-12 12:00
earlier today she called | earlier today | 2024-08-14 | 2024-08-15
what did we decide last week? | last week | 2024-08-05 | 2024-08-12
last week's meeting | last week | 2024-08-05 | 2024-08-12
this week | this week | 2024-08-12 | 2024-08-19
next week | next week | 2024-08-19 | 2024-08-26
the week before last | the week before last | 2024-07-29 | 2024-08-05
the last week | the last week | 2024-08-07 15:30 | 2024-08-14 15:30
over the past week | the past week | 2024-08-07 15:30 | 2024-08-14 15:30
this past week | this past week | 2024-08-07 15:30 | 2024-08-14 15:30
the previous week | the previous week | 2024-08-05 | 2024-08-12
last month | last month | 2024-07-01 | 2024-08-01
this month | this month | 2024-08-01 | 2024-09-01
next month | next month | 2024-09-01 | 2024-10-01
the past month | the past month | 2024-07-14 15:30 | 2024-08-14 15:30
the month before last | the month before last | 2024-06-01 | 2024-07-01
last quarter | last quarter | 2024-04-01 | 2024-07-01
this quarter's numbers | this quarter | 2024-07-01 | 2024-10-01
last year | last year | 2023-01-01 | 2024-01-01
this year | this year | 2024-01-01 | 2025-01-01
next year | next year | 2025-01-01 | 2026-01-01
this time last year | last year | 2023-01-01 | 2024-01-01
the last year | the last year | 2023-08-14 15:30 | 2024-08-14 15:30
last decade | last decade | 2010-01-01 | 2020-01-01
last weekend | last weekend | 2024-08-10 | 2024-08-12
this weekend | this weekend | 2024-08-17 | 2024-08-19
next weekend | next weekend | 2024-08-24 | 2024-08-26
over the weekend | weekend | 2024-08-10 | 2024-08-12
the weekend before last | the weekend before last | 2024-08-03 | 2024-08-05
last summer | last summer | 2023-06-01 | 2023-09-01
this summer | this summer | 2024-06-01 | 2024-09-01
next summer | next summer | 2025-06-01 | 2025-09-01
last spring | last spring | 2024-03-01 | 2024-06-01
last winter | last winter | 2023-12-01 | 2024-03-01
last fall | last fall | 2023-09-01 | 2023-12-01
in the fall we moved | fall | 2023-09-01 | 2023-12-01 ~
during the summer | summer | 2024-06-01 | 2024-09-01 ~
in the winter of 2022 | winter of 2022 | 2022-12-01 | 2023-03-01
summer 2023 | summer 2023 | 2023-06-01 | 2023-09-01
last Tuesday | last Tuesday | 2024-08-13 | 2024-08-14
last Wednesday | last Wednesday | 2024-08-07 | 2024-08-08
on Friday | Friday | 2024-08-09 | 2024-08-10
on Wednesday | Wednesday | 2024-08-14 | 2024-08-15
what happened Monday | Monday | 2024-08-12 | 2024-08-13
this Friday | this Friday | 2024-08-16 | 2024-08-17
next Friday | next Friday | 2024-08-16 | 2024-08-17
this past Sunday | this past Sunday | 2024-08-11 | 2024-08-12
this coming Monday | this coming Monday | 2024-08-19 | 2024-08-20
Tuesday last week | Tuesday last week | 2024-08-06 | 2024-08-07
on Tuesday of last week | Tuesday of last week | 2024-08-06 | 2024-08-07
last week on Thursday | last week on Thursday | 2024-08-08 | 2024-08-09
Friday night | Friday night | 2024-08-09 18:00 | 2024-08-10 06:00
on Sat we met | Sat | 2024-08-10 | 2024-08-11
Fri, 9 Aug 2024 | Fri, 9 Aug 2024 | 2024-08-09 | 2024-08-10
three days ago | three days ago | 2024-08-11 | 2024-08-12
3 days ago | 3 days ago | 2024-08-11 | 2024-08-12
a week ago | a week ago | 2024-08-05 | 2024-08-12
two weeks ago | two weeks ago | 2024-07-29 | 2024-08-05
three weeks ago | three weeks ago | 2024-07-22 | 2024-07-29
a fortnight ago | a fortnight ago | 2024-07-29 | 2024-08-05
two months ago | two months ago | 2024-06-01 | 2024-07-01
a year ago | a year ago | 2023-01-01 | 2024-01-01
ten years ago | ten years ago | 2014-01-01 | 2015-01-01
twenty-one days ago | twenty-one days ago | 2024-07-24 | 2024-07-25
a hundred years ago | a hundred years ago | 1924-01-01 | 1925-01-01
1,000 days ago | 1,000 days ago | 2021-11-18 | 2021-11-19
half a year ago | half a year ago | 2024-02-01 | 2024-03-01
a year and a half ago | a year and a half ago | 2023-02-01 | 2023-03-01
two and a half years ago | two and a half years ago | 2022-02-01 | 2022-03-01
1.5 years ago | 1.5 years ago | 2023-02-01 | 2023-03-01
two hours ago | two hours ago | 2024-08-14 13:00 | 2024-08-14 14:00
half an hour ago | half an hour ago | 2024-08-14 15:00 | 2024-08-14 15:01
20 minutes ago | 20 minutes ago | 2024-08-14 15:10 | 2024-08-14 15:11
two nights ago | two nights ago | 2024-08-12 18:00 | 2024-08-13 06:00
two weekends ago | two weekends ago | 2024-08-03 | 2024-08-05
a couple of weeks ago | a couple of weeks ago | 2024-07-29 | 2024-08-05 ~
a few days ago | a few days ago | 2024-08-07 | 2024-08-13 ~
two or three days ago | two or three days ago | 2024-08-11 | 2024-08-13 ~
2-3 weeks ago | 2-3 weeks ago | 2024-07-22 | 2024-08-05 ~
a few weeks back | a few weeks back | 2024-06-24 | 2024-08-05 ~
in two days | in two days | 2024-08-16 | 2024-08-17 ~
in 3 weeks | in 3 weeks | 2024-09-02 | 2024-09-09 ~
two days from now | two days from now | 2024-08-16 | 2024-08-17
within the last 3 months | the last 3 months | 2024-05-14 15:30 | 2024-08-14 15:30
in the last 7 days | the last 7 days | 2024-08-07 15:30 | 2024-08-14 15:30
last two weeks | last two weeks | 2024-07-31 15:30 | 2024-08-14 15:30
past 24 hours | past 24 hours | 2024-08-13 15:30 | 2024-08-14 15:30
the past few days | the past few days | 2024-08-07 15:30 | 2024-08-14 15:30 ~
the last couple of months | the last couple of months | 2024-06-14 15:30 | 2024-08-14 15:30 ~
the next two weeks | the next two weeks | 2024-08-14 15:30 | 2024-08-28 15:30
in recent weeks | recent weeks | 2024-06-26 15:30 | 2024-08-14 15:30 ~
what have I read recently | recently | 2024-07-15 15:30 | 2024-08-14 15:30 ~
how is she these days | these days | 2024-07-15 15:30 | 2024-08-14 15:30 ~
the other day | the other day | 2024-07-31 15:30 | 2024-08-14 15:30 ~
what did I just now say | just now | 2024-08-14 14:30 | 2024-08-14 15:30 ~
where is she right now | right now | 2024-08-14 15:30 | 2024-08-14 15:31 ~
on 2024-07-21 | 2024-07-21 | 2024-07-21 | 2024-07-22
2024/7/21 | 2024/7/21 | 2024-07-21 | 2024-07-22
2024.7.21 | 2024.7.21 | 2024-07-21 | 2024-07-22
7/21/2024 | 7/21/2024 | 2024-07-21 | 2024-07-22
21/7/2024 | 21/7/2024 | 2024-07-21 | 2024-07-22
21-Jul-2024 | 21-Jul-2024 | 2024-07-21 | 2024-07-22
in 2024-07 | 2024-07 | 2024-07-01 | 2024-08-01
2024-W29 | 2024-W29 | 2024-07-15 | 2024-07-22
2024-W29-3 | 2024-W29-3 | 2024-07-17 | 2024-07-18
2024-07-21T09:30 | 2024-07-21T09:30 | 2024-07-21 09:30 | 2024-07-21 09:31
2024-07-21 at 9:30 | 2024-07-21 at 9:30 | 2024-07-21 09:30 | 2024-07-21 09:31
21 July 2024 | 21 July 2024 | 2024-07-21 | 2024-07-22
July 21st, 2024 | July 21st, 2024 | 2024-07-21 | 2024-07-22
July 21, 2024 | July 21, 2024 | 2024-07-21 | 2024-07-22
on 8 May, 2023 | 8 May, 2023 | 2023-05-08 | 2023-05-09
the 21st of July | the 21st of July | 2024-07-21 | 2024-07-22
Jul 21 | Jul 21 | 2024-07-21 | 2024-07-22
Sept. 5 | Sept. 5 | 2023-09-05 | 2023-09-06
7 May | 7 May | 2024-05-07 | 2024-05-08
May 7 | May 7 | 2024-05-07 | 2024-05-08
on may 5 | may 5 | 2024-05-05 | 2024-05-06
a week from today | a week from today | 2024-08-19 | 2024-08-26
two days from Friday | two days from Friday | 2024-08-11 | 2024-08-12
two days before yesterday | two days before yesterday | 2024-08-11 | 2024-08-12
on December 25 | December 25 | 2023-12-25 | 2023-12-26
on the 3rd we met | the 3rd | 2024-08-03 | 2024-08-04
on the 21st | the 21st | 2024-07-21 | 2024-07-22
the 21st of last month | the 21st of last month | 2024-07-21 | 2024-07-22
July 3-5 | July 3-5 | 2024-07-03 | 2024-07-06
3-5 July 2023 | 3-5 July 2023 | 2023-07-03 | 2023-07-06
Friday, July 19, 2024 | Friday, July 19, 2024 | 2024-07-19 | 2024-07-20
In June 2023, what did Caroline do? | June 2023 | 2023-06-01 | 2023-07-01
in June | June | 2024-06-01 | 2024-07-01
in August | August | 2024-08-01 | 2024-09-01
in may | may | 2024-05-01 | 2024-06-01
in September | September | 2023-09-01 | 2023-10-01
what about February? | February | 2024-02-01 | 2024-03-01
last June | last June | 2024-06-01 | 2024-07-01
last August | last August | 2023-08-01 | 2023-09-01
next June | next June | 2025-06-01 | 2025-07-01
this May | this May | 2024-05-01 | 2024-06-01
June last year | June last year | 2023-06-01 | 2023-07-01
last year in June | last year in June | 2023-06-01 | 2023-07-01
in 2022 | 2022 | 2022-01-01 | 2023-01-01
the year 2020 | 2020 | 2020-01-01 | 2021-01-01
by early 2023 | by early 2023 | - | 2023-05-01
early June | early June | 2024-06-01 | 2024-06-11
mid-June | mid-June | 2024-06-11 | 2024-06-21
late June 2023 | late June 2023 | 2023-06-21 | 2023-07-01
late last year | late last year | 2023-09-01 | 2024-01-01
late August | late August | 2023-08-21 | 2023-09-01
early in 2023 | early in 2023 | 2023-01-01 | 2023-05-01
at the end of 2023 | the end of 2023 | 2023-10-01 | 2024-01-01
beginning of last month | beginning of last month | 2024-07-01 | 2024-07-11
the end of the year | the end of the year | 2023-10-01 | 2024-01-01
the end of May | the end of May | 2024-05-21 | 2024-06-01
the first week of May 2024 | the first week of May 2024 | 2024-05-01 | 2024-05-08
the last week of May | the last week of May | 2024-05-25 | 2024-06-01
second weekend of July | second weekend of July | 2024-07-13 | 2024-07-15
the last Sunday of October | the last Sunday of October | 2023-10-29 | 2023-10-30
first Friday of June 2024 | first Friday of June 2024 | 2024-06-07 | 2024-06-08
the third Thursday of last month | the third Thursday of last month | 2024-07-18 | 2024-07-19
the fourth of July | the fourth of July | 2024-07-04 | 2024-07-05
first half of 2023 | first half of 2023 | 2023-01-01 | 2023-07-01
the second half of last year | second half of last year | 2023-07-01 | 2024-01-01
the 1990s | 1990s | 1990-01-01 | 2000-01-01
music of the 80s | 80s | 1980-01-01 | 1990-01-01
Q3 2023 | Q3 2023 | 2023-07-01 | 2023-10-01
2023 Q3 | 2023 Q3 | 2023-07-01 | 2023-10-01
in Q2 | Q2 | 2024-04-01 | 2024-07-01
third quarter of 2023 | third quarter of 2023 | 2023-07-01 | 2023-10-01
between May and July | between May and July | 2024-05-01 | 2024-08-01
between 2020 and 2022 | between 2020 and 2022 | 2020-01-01 | 2023-01-01
from May to July | from May to July | 2024-05-01 | 2024-08-01
from November to February | from November to February | 2023-11-01 | 2024-03-01
from May 5 to June 7, 2023 | from May 5 to June 7, 2023 | 2023-05-05 | 2023-06-08
between 3 and 5 July | between 3 and 5 July | 2024-07-03 | 2024-07-06
from Monday to Wednesday | from Monday to Wednesday | 2024-08-12 | 2024-08-15
March 2023 - June 2023 | March 2023 - June 2023 | 2023-03-01 | 2023-07-01
2024-07-01 to 2024-07-05 | 2024-07-01 to 2024-07-05 | 2024-07-01 | 2024-07-06
from last week until yesterday | from last week until yesterday | 2024-08-05 | 2024-08-14
between 9am and 11am yesterday | between 9am and 11am yesterday | 2024-08-13 09:00 | 2024-08-13 12:00
since 2020 | since 2020 | 2020-01-01 | -
since last week | since last week | 2024-08-05 | -
ever since June | ever since June | 2024-06-01 | -
since three days ago | since three days ago | 2024-08-11 | -
from 2020 onwards | from 2020 onwards | 2020-01-01 | -
until June | until June | - | 2024-07-01
before 2020 | before 2020 | - | 2020-01-01
before last Friday | before last Friday | - | 2024-08-09
prior to July 21 | prior to July 21 | - | 2024-07-21
by Friday | by Friday | - | 2024-08-10
as of 2023 | as of 2023 | - | 2024-01-01
after July 21 | after July 21 | 2024-07-22 | -
after last week | after last week | 2024-08-12 | -
the week before June 9, 2023 | the week before June 9, 2023 | 2023-05-29 | 2023-06-05
two days after July 21 | two days after July 21 | 2024-07-23 | 2024-07-24
the Monday before July 24, 2023 | the Monday before July 24, 2023 | 2023-07-17 | 2023-07-18
the weekend before 4th October, 2023 | the weekend before 4th October, 2023 | 2023-09-30 | 2023-10-02
the Saturday after October 28, 2023 | the Saturday after October 28, 2023 | 2023-11-04 | 2023-11-05
last week before 23 January, 2023 | last week before 23 January, 2023 | 2023-01-16 | 2023-01-23
the last two weeks of August 2023 | the last two weeks of August 2023 | 2023-08-18 | 2023-09-01
on December 1,2023 | December 1,2023 | 2023-12-01 | 2023-12-02
may 15, 1958 | may 15, 1958 | 1958-05-15 | 1958-05-16
plans for the weekend | weekend | 2024-08-17 | 2024-08-19
a recent weekend | recent weekend | 2024-08-10 | 2024-08-12 ~
what have you been up to lately | lately | 2024-07-15 15:30 | 2024-08-14 15:30 ~
first half of September 2022 | first half of September 2022 | 2022-09-01 | 2022-09-16
the last quarter of 2023 | the last quarter of 2023 | 2023-10-01 | 2024-01-01
the second day of last month | the second day of last month | 2024-07-02 | 2024-07-03
the night before yesterday | the night before yesterday | 2024-08-12 18:00 | 2024-08-13 06:00
early last week | early last week | 2024-08-05 | 2024-08-07
in the coming weeks | the coming weeks | 2024-08-14 15:30 | 2024-10-02 15:30 ~
the upcoming week | the upcoming week | 2024-08-14 15:30 | 2024-08-21 15:30
a century ago | a century ago | 1924-01-01 | 1925-01-01
two quarters ago | two quarters ago | 2024-01-01 | 2024-04-01
30 seconds ago | 30 seconds ago | 2024-08-14 15:29 | 2024-08-14 15:30
years ago we met | years ago | 2017-01-01 | 2023-01-01 ~
the early 1990s | the early 1990s | 1990-01-01 | 1993-01-01
the week of July 3 | the week of July 3 | 2024-07-01 | 2024-07-08
at 9:30 | 9:30 | 2024-08-14 09:30 | 2024-08-14 09:31
at 9:30 yesterday | 9:30 yesterday | 2024-08-13 09:30 | 2024-08-13 09:31
yesterday at 3 | yesterday at 3 | 2024-08-13 15:00 | 2024-08-13 16:00
yesterday at 3pm | yesterday at 3pm | 2024-08-13 15:00 | 2024-08-13 16:00
at 3 in the afternoon yesterday | 3 in the afternoon yesterday | 2024-08-13 15:00 | 2024-08-13 16:00
at 11 last night | 11 last night | 2024-08-13 23:00 | 2024-08-14
2am last night | 2am last night | 2024-08-14 02:00 | 2024-08-14 03:00
nine o'clock yesterday | nine o'clock yesterday | 2024-08-13 09:00 | 2024-08-13 10:00
noon on Monday | noon on Monday | 2024-08-12 12:00 | 2024-08-12 13:00
1:56 pm on 8 May, 2023 | 1:56 pm on 8 May, 2023 | 2023-05-08 13:56 | 2023-05-08 13:57
on the morning of July 21 | morning of July 21 | 2024-07-21 05:00 | 2024-07-21 12:00
the fall of 2022 | fall of 2022 | 2022-09-01 | 2022-12-01
我last week去哪了 | last week | 2024-08-05 | 2024-08-12
"""

NEGATIVE = """
May I come in?
You may leave
this may be wrong
may 5 people join?
the troops march on
we march 10 miles
March with me
a second chance
on second thought
fall down the stairs
she will fall asleep
eat spring rolls
a spring in his step
the spring framework
Sun Microsystems
the sun rises
he sat down
mon cher ami
an august person
what is her last name
last but not least
the last time we spoke
her last day of school
next door
the next day he left
this is it
to this day
version 2024.7.1
v1.2.3
v2024.7.1
192.168.1.1
3.14
10-12 people
1/2 cup of sugar
room 2024
2024 people
by 2000 people
24/7
COVID-19
ISO 8601
7-11
DEC-0054
ADR-2024
April said hello
June likes tea
August is my brother
May and June are sisters
every Monday
the 2007-08 season
second Tuesday of the month
the last Friday of work
inspired by autumn
the flow past a quarter plate
each Friday night
every last week of the month
weekly report
daily standup
every day
she stayed two days
for three weeks
a three-day trip
her 18th birthday
the 21st century
on the 3rd floor
in a minute
in a second
in the morning
good morning
good evening
Black Friday
Good Friday
Sunday school
Thursdays
may.txt
today.com
get_today()
at 16 he left home
John 3:16
a score of 3:2
now that he is gone
now and then
quarter past nine
a quarter of the people
the first half of the match
a day in the life
one day
some day
day by day
year after year
how many years
13/45/2024
2024-02-30
Feb 30 2024
0000-00-00
9999-12-31
no time at all
what is Caroline's identity?
"""


def stamp(written: str, zone: ZoneInfo) -> datetime | None:
    return None if written == "-" else datetime.fromisoformat(written).replace(tzinfo=zone)


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


@pytest.mark.parametrize("zone", ZONES, ids=str)
@pytest.mark.parametrize(("text", "expression", "begin", "until"), rows(POSITIVE))
def test_an_english_time_is_found_with_its_interval(
    text: str, expression: str, begin: str, until: str, zone: ZoneInfo
) -> None:
    vague = until.endswith("~")
    found = find_times(text, NOW.replace(tzinfo=zone), zone)
    assert [(one.text, one.begin, one.until, one.vague) for one in found] == [
        (expression, stamp(begin, zone), stamp(until.removesuffix("~").strip(), zone), vague)
    ]


@pytest.mark.parametrize("text", NEGATIVE.strip().splitlines())
def test_what_only_looks_like_an_english_time_is_none(text: str) -> None:
    assert find_times(text, NOW.replace(tzinfo=ZONES[0]), ZONES[0]) == []
