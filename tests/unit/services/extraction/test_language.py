from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.services.extraction.language import other_language

ANOTHER = [
    ("Lin likes apples and eats one a day.", "我喜欢吃苹果，每天吃一个"),
    ("The user lives in Beijing.", "我住在北京，去年搬来的"),
    ("林喜欢苹果，每天吃一个。", "I like apples and eat one every day."),
    ("用户使用 VS Code 和 Docker Compose 开发", "I develop with VS Code and Docker Compose"),
    ("Он любит чай и кофе", "I like tea and coffee"),
    ("Lin likes tea and coffee", "Он любит чай и кофе"),
    ("他喜欢喝绿茶，也喜欢咖啡", "私は緑茶が好きです、コーヒーも"),
    ("私は緑茶が好きです", "我喜欢喝绿茶，每天都喝"),
    ("그는 녹차를 매일 마신다", "我喜欢喝绿茶"),
    ("He drinks green tea every day", "저는 매일 녹차를 마셔요"),
    ("Uses `pip install foo` daily at work", "我每天用这个命令安装东西"),
    ("Πίνει πράσινο τσάι κάθε μέρα", "I drink green tea every day"),
    ("هو يحب الشاي الأخضر", "I drink green tea every day"),
]

NOT_ANOTHER = [
    # The same language.
    ("Lin likes apples.", "I like apples and eat one every day."),
    ("林喜欢苹果", "我喜欢吃苹果，每天吃一个"),
    ("他喜歡喝綠茶", "我喜欢喝绿茶"),
    ("緑茶が好き", "私は緑茶が好きです"),
    ("緑茶愛好者、京都在住", "私は緑茶が好きです、京都に住んでいます"),
    # Latin alphabets are not told apart.
    ("Il aime le thé vert et le café", "I like green tea and coffee a lot"),
    # Names, terms, code, numbers, quotations.
    ("VS Code, Docker Compose", "我平时用这两个工具写程序"),
    ("machine learning", "我在学机器学习，每天两小时"),
    ("Python 3.12, DEC-0054, user_id", "我用的是最新的版本，编号你知道"),
    ("https://example.com/a/very/long/path/with/many/words", "我的主页是这个，你可以看看"),
    ("`git rebase --interactive main onto other branch`", "我经常用这个命令整理提交"),
    ("喜欢《Harry Potter and the Philosopher's Stone》", "我很喜欢这本书，读过三遍"),
    ("座右铭是“stay hungry and stay foolish”", "我的座右铭是一句英文的话"),
    ("[[preferences:likes-green-tea-and-coffee]]", "我喜欢喝绿茶，也喜欢咖啡"),
    ("北京大学", "I studied in China for four years"),
    # What was said itself.
    ("pull request review", "我每天都要做 pull request 的 review"),
    # Both were said.
    ("The user studies machine learning.", "我在学习。I study machine learning every day."),
    ("用户在学习机器学习", "我在学习机器学习。I study machine learning every day."),
    # Short, or unclear.
    ("I like tea very much", "好的"),
    ("我喜欢喝绿茶", "ok"),
    ("喜欢茶", "I like green tea a lot"),
    ("he said 你好世界朋友 to me and 再见世界 to her", "Он любит чай и кофе"),
    ("", "I like green tea a lot"),
    ("I like green tea", ""),
    ("42, 43, 44 !!!", "我喜欢喝绿茶，每天都喝"),
]


@pytest.mark.parametrize(("fact", "said"), ANOTHER)
def test_another_language_is_seen(fact: str, said: str) -> None:
    assert other_language(fact, said)


@pytest.mark.parametrize(("fact", "said"), NOT_ANOTHER)
def test_what_is_the_same_short_or_unclear_is_not_another(fact: str, said: str) -> None:
    assert not other_language(fact, said)


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_text_is_never_in_another_language_than_itself_and_more(fact: str, more: str) -> None:
    assert not other_language(fact, fact)
    assert not other_language(fact, f"{more} \n{fact}")


@pytest.mark.parametrize("mark", ["`", "[[", "“", '"', "a:/", "a", "a-", "字", "．", "```"])
def test_long_and_hostile_texts_end(mark: str) -> None:
    text = mark * (100_000 // len(mark))
    assert not other_language(text, text)
