"""What an item is worth, and which items say nearly the same."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoranda.core.addresses import parse_address
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Item
from memoranda.services.item_value import read_usage, value_of
from memoranda.services.near_duplicates import near_duplicates

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def item(name: str, **metadata: str) -> Item:
    return Item(parse_address(f"agent/a/lessons:{name}"), "text", EMPTY_METADATA.with_values(**metadata))


def test_a_recall_counts_half_after_a_month(tmp_path: Path) -> None:
    path = tmp_path / "usage.jsonl"
    path.write_text(
        '{"ts":"2026-07-01T00:00:00Z","hits":["a","b"]}\n'
        "no JSON\n[]\n"
        '{"ts":"2026-06-01T00:00:00Z","hits":["a"]}\n'
        '{"ts":"2027-01-01T00:00:00Z","hits":["c"]}\n'
        '{"ts":"never","hits":["a"]}\n'
        '{"ts":"2026-06-01T00:00:00Z"}\n'
    )
    assert read_usage(str(path), NOW) == {"a": 1.5, "b": 1.0, "c": 1.0}
    assert read_usage(str(tmp_path / "none"), NOW) == {}


def test_recalled_rated_and_pinned_items_are_worth_more() -> None:
    usage = {"agent/a/lessons:used": 1.0}
    items = [
        item("pinned", pinned="true"),
        item("used"),
        item("good", rating="5"),
        item("bad", rating="1"),
        item("odd", rating="many"),
        item("young", ts="2026-06-01T00:00:00Z"),
    ]
    ranked = sorted(items, key=value_of(usage), reverse=True)
    assert [one.name for one in ranked] == ["pinned", "good", "used", "young", "odd", "bad"]


def test_what_says_the_same_in_other_forms_is_found() -> None:
    texts = [
        "Never log a token, not even at the debug level.",
        "Never log tokens, not even at debug levels!",
        "Log a token, even at the debug level.",
        "重试之前先等一会儿，再看日志里有没有报错。",
        "重试之前先等一会儿，再看日志里有没有报错",
        "",
        "of the",
        "of the",
        "Never log the token, not even at the debug level.",
    ]
    assert list(near_duplicates(texts)) == [(1, 0), (4, 3), (8, 0)]
    assert list(near_duplicates(texts, ["a", "b", *"aaaaaaa"])) == [(4, 3), (8, 0)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Wait 30 seconds before a retry of the whole request.",
            "Wait 60 seconds before a retry of the whole request.",
        ),
        ("Lin prefers answers that are short, in Chinese.", "Mei prefers answers that are short, in Chinese."),
        ("Lin prefers answers that are short, in Chinese.", "Lin prefers answers that are long, in Chinese."),
        ("Use spaces, never tabs, in Go.", "Use tabs, never spaces, in Go."),
        ("小林喜欢简短的回答。", "小梅喜欢简短的回答。"),
        ("先测试再提交。", "先提交再测试。"),
        ("The cache is safe.", "Is the cache safe?"),
        ("Version 1.2 is out.", "Version 12 is out."),
        ("It works for us.", "IT works for US."),
    ],
)
def test_what_differs_in_what_it_says_is_not_the_same(one: str, other: str) -> None:
    assert list(near_duplicates([one, other])) == []
