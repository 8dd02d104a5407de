from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.services.extraction.sameness import says_the_same

THE_SAME = """
Lin likes tea. | lin likes tea
LIN LIKES TEA | Lin likes tea
The user likes tea | User likes tea
Lin likes the sea | Lin likes sea.
Lin has a cat and a dog | Lin has the cat and dog
He doesn't like tea | He does not like tea.
He doesn’t like tea | he doesn't like tea
Lin can't swim | Lin cannot swim
I'm allergic to nuts | I am allergic to nuts
Ｌｉｎ likes　tea | Lin likes tea
Lin   likes\ttea | Lin likes tea
Tea,coffee and milk | tea, coffee and milk
Lin lives in Rome; works in Milan | Lin lives in Rome, works in Milan.
Lin (the baker) likes tea | Lin, the baker, likes tea
She said "yes" to him | She said “yes” to him
Lin currently lives in Rome | Currently, Lin lives in Rome.
DEC-0054 was accepted | dec-0054 was accepted.
Uses C++ daily! | uses C++ daily
喜欢喝绿茶。 | 喜欢喝绿茶
喜欢 喝绿茶 | 喜欢喝绿茶
用 Python 写代码 | 用Python写代码
用ＰＹＴＨＯＮ写代码 | 用Python写代码
喜欢猫，也喜欢狗 | 喜欢猫也喜欢狗。
他说“你好” | 他说「你好」
我的妈妈是医生 | 我妈妈是医生
用户现在住在北京 | 现在用户住在北京
今天下雨啊 | 今天下雨
每天跑步（五公里） | 每天跑步五公里
住在北京！ | 住在北京
有3个孩子 | 有 3 个孩子
"""

NOT_THE_SAME = """
Lin likes Ana | Ana likes Lin
Lin likes tea | Lin likes green tea
Lin likes tea | Lin dislikes tea
Lin likes tea | Lin does not like tea
Lin likes tea | Ana likes tea
Lin likes tea | Lin no longer likes tea
Lin eats meat | Lin never eats meat
Lin likes green tea and coffee | Lin likes green coffee and tea
uses vim | used vim
has a few friends | has few friends
eats fish once a week | eats fish once week
goes to Rome from Paris | goes to Paris from Rome
more than 5 cups | less than 5 cups
lives in room 101 | lives in room 110
paid $5 | paid 5
paid 5% | paid 5
10² is a hundred | 102 is a hundred
1½ cups | 11/2 cups
born on 2024-07-21 | born on 2024-07-12
wakes up at 3.5 | wakes up at 35
wakes up at 10:30 | wakes up at 1030
costs 3,5 | costs 35
-5 degrees | 5 degrees
5-10 cups | 510 cups
a 5" nail | a 5 nail
code 12 34 | code 1234
uses C | uses C++
uses C# | uses C
uses .NET | uses NET
DEC-0054 | DEC-0045
user_id is the key | user id is the key
a != b | a = b
Lin likes tea? | Lin likes tea.
Lin works for US | Lin works for us
blood type A positive | blood type positive
vitamin a deficiency | vitamin deficiency
likes The Who | likes who
no tea. coffee | no tea coffee
Lin often says Ana sings | Lin says Ana often sings
not always happy | always not happy
résumé | resume
likes tea 👍 | likes tea 👎
likes tea [[drinks:green]] | likes tea
喜欢茶 | 不喜欢茶
不，喜欢茶 | 不喜欢茶
喜欢绿茶 | 不再喜欢绿茶
有猫 | 没有猫
喝过茶 | 没喝过茶
住在北京 | 住在上海
小林喜欢小安 | 小安喜欢小林
去过北京 | 去北京
吃了饭 | 吃饭
三个孩子 | 3个孩子
他是卖花的 | 他是卖花
妈妈喜欢的颜色 | 妈妈喜欢颜色
喜欢小明的人 | 喜欢小明人
喜欢《活着》 | 喜欢活着
苹果、汁 | 苹果汁
喜欢绿茶和咖啡 | 喜欢绿咖啡和茶
从北京去上海 | 从上海去北京
2024年7月21日 | 2024年7月12日
林说昨天去了北京 | 昨天林说去了北京
喜欢茶吗 | 喜欢茶
아버지가 방에 | 아버지 가방에
. |
... | !!!
"""


def pairs(table: str) -> list[tuple[str, str]]:
    rows = (line.split("|") for line in table.strip("\n").split("\n"))
    return [(one.strip(" "), other.strip(" ")) for one, other in rows]


def test_there_are_enough_pairs_of_both_kinds() -> None:
    assert len(pairs(THE_SAME)) >= 25
    assert len(pairs(NOT_THE_SAME)) >= 55


@pytest.mark.parametrize(("one", "other"), pairs(THE_SAME))
def test_what_differs_in_nothing_that_matters_is_the_same(one: str, other: str) -> None:
    assert one != other
    assert says_the_same(one, other)
    assert says_the_same(other, one)


@pytest.mark.parametrize(("one", "other"), pairs(NOT_THE_SAME))
def test_what_could_be_another_fact_is_not_the_same(one: str, other: str) -> None:
    assert not says_the_same(one, other)
    assert not says_the_same(other, one)


SOME = """Lin Ana likes tea not a the 5 -3 喜欢 不 的 茶 C++ US us now , . ? 《 》 ² a's"""
words = st.lists(st.sampled_from(SOME.split()))
texts = st.one_of(st.text(), words.map(" ".join), words.map("".join))


@settings(deadline=None)
@given(texts)
def test_a_text_says_the_same_as_itself(text: str) -> None:
    assert says_the_same(text, text)


@settings(deadline=None)
@given(texts, texts)
def test_order_plays_no_part(one: str, other: str) -> None:
    assert says_the_same(one, other) == says_the_same(other, one)


@settings(deadline=None)
@given(st.text(alphabet=string.ascii_letters + " .,", min_size=1))
def test_case_plays_no_part(text: str) -> None:
    assert says_the_same(text, text.upper()) or not any(letter.isalpha() for letter in text)


@settings(deadline=None)
@given(st.lists(st.sampled_from("0123456789.,-:/年月日 "), min_size=1).map("".join), st.integers(0, 9), st.data())
def test_another_digit_is_another_fact(number: str, digit: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(number)))
    with_digit = f"born {number[:at]}{digit}{number[at:]}"
    assert not says_the_same(f"born {number}", with_digit)


@settings(deadline=None)
@given(words, st.sampled_from(["not", "never", "no", "不", "没有"]), st.data())
def test_a_negation_more_is_another_fact(said: list[str], negation: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(said)))
    assert not says_the_same(" ".join(said), " ".join([*said[:at], negation, *said[at:]]))


@pytest.mark.parametrize("piece", ["a", "a.", "'", "n't", "茶", "²", "5,", "- ", "不，", "the ", "\u0301", "‘"])
def test_long_texts_are_compared_too(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert says_the_same(text, text)
    assert not says_the_same(text, f"{text} tea")
