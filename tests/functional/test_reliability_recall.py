"""Cases of questions: whole sentences, syntax, scripts, identifiers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoranda.bootstrap import Vault
from observing import write

ITEMS = {
    "work:DEC-0054": "We chose PostgreSQL for the billing service.",
    "work:style": "代码注释用中文优先，英文其次。",
    "life:sea": "喜欢海边，提到过想去海边玩。",
    "life:long": "去年夏天我们全家一起去了青岛的海边度假村住了一个星期",
    "life:cafe": "Meets Ana in the café by the river.",
    "life:russian": "Она любит читать книги о море.",
    "life:korean": "바다를 좋아하고 여름마다 부산에 갑니다.",
    "life:japanese": "海が好きで、毎年沖縄に行きます。",
    "life:wide": "The plan is called ＡＢＣ　Ｐｒｏｊｅｃｔ.",
    "life:allergic to peanuts": "Important.",
    "life:words": "select a word like items or near",
    "life:percent": "Gets 20 % off in the bookshop.",
    "tools:cpp": "Writes C++ and C#, version v1.2 of the tool.",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    root = tmp_path_factory.mktemp("recall")
    with Vault.open(root) as opened:
        for address, text in ITEMS.items():
            opened.remember(address, text)
        write(root, "memory/list.md", "- 喜欢爬山\n- plays the cello ^cello\n")
        yield opened


def found(vault: Vault, query: str, **more: object) -> list[str]:
    return [hit.address for hit in vault.retrieve(query, deadline=60, **more).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["DEC-0054", '"DEC-0054"', "dec-0054", "DEC 0054", "what was DEC-0054?"])
def test_identifiers(vault: Vault, query: str) -> None:
    """Case D9: a decision's number is found, quoted or not."""
    assert found(vault, query)[0] == "work:DEC-0054"


def test_chinese_within_a_line(vault: Vault) -> None:
    """Case D9: 中文 is found in a line with 中文优先."""
    assert found(vault, "中文") == ["work:style"]
    assert found(vault, "爬山")[0].startswith("list:")


def test_a_fact_that_stands_only_in_a_name(vault: Vault) -> None:
    """Case D29: a heading is searched like text."""
    assert found(vault, "peanuts") == ["life:allergic to peanuts"]
    assert found(vault, "cello") == ["list:^cello"]


@pytest.mark.parametrize(
    ("question", "address"),
    [
        ("Could you please remind me which database the billing team decided on?", "work:DEC-0054"),
        ("What was it again that I am not supposed to eat because of peanuts?", "life:allergic to peanuts"),
        ("你还记得我之前说过我们夏天去哪里度假了吗？", "life:long"),
        ("Does she have any instrument like a cello that she would play for us tonight?", "list:^cello"),
        ("请问一下我平时喜欢去什么样的地方玩，海边还是山里？", "life:sea"),
    ],
)
def test_whole_sentences(vault: Vault, question: str, address: str) -> None:
    """Case D34: a whole question of which one content word matches has a hit."""
    assert address in found(vault, question)


SYNTAX = ["select * from items; drop table items", "AND", '"unclosed items', "word:word", "-items", "NEAR(items", "%"]
SIGNS = ["items OR", "items*", "(items", "it'ems", "\\items", "^items$", "items ~1", "\x00items"]


@pytest.mark.parametrize("query", [*SYNTAX, *SIGNS])
def test_query_syntax_is_words(vault: Vault, query: str) -> None:
    """Case D35: nothing in a query is an operator, and nothing in it fails."""
    result = vault.retrieve(query, deadline=60)
    assert result.unavailable == []
    if "item" in query:
        assert "life:words" in [hit.address for hit in result.hits]


def test_a_query_of_signs_is_looked_for_as_it_is(vault: Vault) -> None:
    """Case D35: what analysis would drop is found by its characters."""
    assert found(vault, "%") == ["life:percent"]
    assert found(vault, "C++")[0] == "tools:cpp"
    assert found(vault, "v1.2")[0] == "tools:cpp"
    assert found(vault, "!!!") == []


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("海边", "life:long"),
        ("海", "life:sea"),
        ("cafe", "life:cafe"),
        ("CAFÉ", "life:cafe"),
        ("cafe\u0301", "life:cafe"),
        ("книги", "life:russian"),
        ("МОРЕ", "life:russian"),
        ("바다", "life:korean"),
        ("부산", "life:korean"),
        ("沖縄", "life:japanese"),
        ("ABC", "life:wide"),
        ("abc project", "life:wide"),
        ("ＣＡＦＥ", "life:cafe"),
    ],
)
def test_scripts(vault: Vault, query: str, address: str) -> None:
    """Case D36: parts of longer runs, accents, Cyrillic, Hangul, full width."""
    assert address in found(vault, query)


def test_nothing_to_say(vault: Vault) -> None:
    for query in ("", "   ", "zxqv", "量子色动力学"):
        result = vault.retrieve(query, deadline=60)
        assert result.hits == []
        assert result.no_match
        assert result.render() == ""
