"""What every segmenter promises."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.segmenter import ListSegmenter
from memoranda.adapters.registry import load_segmenter
from memoranda.core.ports import Segmenter

HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=30)
COMMON = ["我们", "喜欢", "海边", "的", "清华大学", "咖啡", "去", "人工智能"]
WORDS = st.lists(st.sampled_from(COMMON), max_size=9).map("".join)


def packaged(name: str) -> Callable[[], Segmenter]:
    def made() -> Segmenter:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
        return load_segmenter(name)

    return made


@pytest.fixture(
    params=[lambda: ListSegmenter("清华大学", "喜欢"), packaged("rjieba"), packaged("jieba")],
    ids=["fake", "rjieba", "jieba"],
    scope="module",
)
def segmenter(request: pytest.FixtureRequest) -> Segmenter:
    made: Segmenter = request.param()
    return made


def test_the_name_has_a_version(segmenter: Segmenter) -> None:
    package, space, version = segmenter.name.partition(" ")
    assert package
    assert space
    assert version[0].isdigit()
    assert segmenter.name == segmenter.name


@given(text=HAN | WORDS)
@settings(max_examples=60, deadline=None)
def test_the_words_are_the_text_in_order_and_the_same_every_time(segmenter: Segmenter, text: str) -> None:
    words = list(segmenter.cut(text))
    assert "".join(words) == text
    assert all(words)
    assert list(segmenter.cut(text)) == words


def test_common_words_stay_whole(segmenter: Segmenter) -> None:
    assert "清华大学" in list(segmenter.cut("我喜欢清华大学"))


def test_nothing_has_no_words(segmenter: Segmenter) -> None:
    assert list(segmenter.cut("")) == []
