"""Markdown says what the text says, and nothing that it only looks like."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.converters.markdown_text import (
    blocks,
    code_span,
    fence,
    heading,
    item,
    marker,
    picture,
    prose,
    table,
)
from memoranda.core.markdown import scan

CELLS = st.lists(st.lists(st.text("ab|\\ \n海", max_size=6), max_size=5), max_size=6)


def kinds(text: str) -> list[str]:
    return [block.kind for block in scan(text)]


def test_lines_that_look_like_markup_are_made_none() -> None:
    text = prose("# no heading\n\n```\n\n---\n\n<!-- page 3 -->\n\nplain #1")

    assert set(kinds(text)) == {"paragraph"}
    assert "<!--" not in text


@given(st.text("ab# `~-=<>!\n", max_size=40))
def test_prose_never_holds_a_heading_a_fence_or_a_comment(text: str) -> None:
    assert not {"heading", "fence", "html"} & set(kinds(prose(text).replace("<", "&lt;")))


@given(st.text("a`\n~", max_size=40))
def test_code_stays_within_its_fence(text: str) -> None:
    assert kinds(fence(text, "python")) == ["fence"]


@given(CELLS)
def test_a_table_loses_no_cell(rows: list[list[str]]) -> None:
    written = table(rows)

    for row in rows:
        for cell in row:
            assert " ".join(cell.split()).replace("|", "\\|") in written
    assert len({line.startswith("| ") or line.startswith("| ---") for line in written.split("\n") if line}) <= 1


def test_rows_longer_than_the_head_widen_the_table() -> None:
    assert table([["a"], ["1", "2"]]) == "| a |  |\n| --- | --- |\n| 1 | 2 |"


def test_columns_and_rows_without_text_go() -> None:
    assert table([["a", "", "b"], ["", "", ""], ["1", " ", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert table([["", ""]]) == ""


def test_a_table_of_many_columns_and_many_rows_is_no_square() -> None:
    rows = [["x"] + [""] * 20_000 + ["y"], *([["1"]] * 20_000)]

    assert len(table(rows)) < 400_000


def test_small_things_are_written_as_markdown_has_them() -> None:
    assert heading(9, " a\nb ") == "###### a b"
    assert heading(1, " ") == ""
    assert code_span("a`b") == "``a`b``"
    assert item("one\ntwo", depth=1, label="2.") == "    2. one\n       two"
    assert picture("a [dog]\n") == "[picture: a (dog)]"
    assert marker("sheet", "a --> b") == "<!-- sheet a ‐‐› b -->"
    assert blocks(["", "a\n", "b"]) == "a\n\nb\n"
    assert blocks(["", " "]) == ""
