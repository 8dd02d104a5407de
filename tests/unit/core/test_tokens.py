from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core.tokens import estimate_tokens

ENGLISH = (
    "Caroline told me that she wants to paint more often this summer, because it calms her down after work. "
    "She bought a small easel in June and keeps it beside the kitchen window, where the light is best. "
    "Last week she finished a picture of the harbour; her brother liked it so much "
    "that he hung it up in his office."
)
CHINESE = (
    "她说今年夏天想多画画，因为下班以后画画能让她平静下来。六月她买了一个小画架，放在厨房的窗边，那里的光线最好。"
    "上个星期她画完了一幅港口的画，弟弟非常喜欢，把它挂在了自己的办公室里。"
)
JAPANESE = "彼女は今年の夏、もっと絵を描きたいと言っていました。仕事のあとに描くと落ち着くからです。"
KOREAN = "그녀는 올여름에 그림을 더 많이 그리고 싶다고 말했습니다. 퇴근 후에 그림을 그리면 마음이 편해지기 때문입니다."
RUSSIAN = "Она сказала, что этим летом хочет рисовать чаще, потому что после работы это её успокаивает."
PROGRAM = (
    "def total(prices: list[float], tax: float = 0.2) -> float:\n"
    '    """The sum of the prices with tax."""\n'
    "    result = 0.0\n"
    "    for price in prices:\n"
    "        result += price * (1 + tax)\n"
    "    return round(result, 2)\n"
)
ADDRESS = "https://example.org/wiki/Ocean_view/4711?ref=home&utm_source=newsletter#section-3"
METADATA = "<!-- memoranda: owner=user:lin | source=conv_20260710#4 | ts=2026-07-10T03:00:00Z | type=profile -->"


# The counts of two public vocabularies of 200,000 and 129,000 entries, the smaller and the larger.
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        (ENGLISH, 70, 70),
        (CHINESE, 55, 69),
        (JAPANESE, 30, 32),
        (KOREAN, 36, 38),
        (RUSSIAN, 21, 27),
        (PROGRAM, 63, 63),
        (ADDRESS, 24, 25),
        (METADATA, 39, 40),
    ],
    ids=["english", "chinese", "japanese", "korean", "russian", "program", "address", "metadata"],
)
def test_estimates_are_near_what_tokenizers_count(text: str, least: int, most: int) -> None:
    assert 0.9 * least <= estimate_tokens(text) <= 1.25 * most


def test_empty_text_takes_none() -> None:
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(
    "text", ["a", "I", "海", "カ", "바", "ж", "7", "é", "，", "!", "\n", "🎉", "\x00", "\ud800", "ת", "ก"]
)
def test_one_character_takes_one_or_two(text: str) -> None:
    assert estimate_tokens(text) in (1, 2)


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        ("the beach in summer", "thebeachinsummerisnice" * 2),
        ("some words of text", "7741 9053 2268 1147"),
        ("abcdefgh", "天地玄黄宇宙洪荒"),
        ("        x", "+-*/%<>=x"),
        ("海边海边", "🏖🎉🐬🌊"),
        ("lowercaseword", "aBcDeFgHiJkLm"),
    ],
)
def test_what_costs_more(cheap: str, dear: str) -> None:
    assert estimate_tokens(cheap) < estimate_tokens(dear)


MIXED = st.text(
    alphabet=st.one_of(st.sampled_from("aBcXYz019 \t\n\r.,-<é海カ바жא，🎉\u200d\x00\ud800"), st.characters()),
    max_size=30,
)


@given(MIXED, MIXED)
@settings(max_examples=500)
@example("A", "Bc")
@example("ABC", "d")
@example(" ", " ")
@example("\t", " ")
@example("\r", "\n")
def test_joining_texts(a: str, b: str) -> None:
    whole, parts = estimate_tokens(a + b), (estimate_tokens(a), estimate_tokens(b))
    assert max(parts) <= whole <= sum(parts) + 1
