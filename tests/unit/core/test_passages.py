"""What becomes a passage: sections, tables, code, lists, places; English and Chinese documents."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memoranda.core.passages import Passage, cut, searched_text
from memoranda.core.sentences import columns

MANUAL = """---
title: Ferry manual
tags: [boats]
---
# Ferry manual

How the ferry is run.

## Engine

Start it slowly.

```text
# no heading
start --slow
```

Fuel
----

Use [diesel](https://fuel.example/d) only. See [[notes:tanks|the tanks]].

<!--
## no heading either
-->

> ## nor this

### Empty tank

Walk.
"""

HANDBOOK = """# 员工手册

<!-- page 1 -->

## 考勤

上班时间是上午九点，下班时间是下午六点。迟到三次算缺勤一天；请假要提前两天提出，由部门主管批准，特殊情况可以在

<!-- page 2 -->

当天用电话说明，事后补交假条。“加班另计。”加班费按月结算。

## 报销

| 项目 | 上限 | 备注 |
| --- | --- | --- |
| 出租车 | 100元 | 夜间 |
| 住宿 | 500元 | 每晚 |
| 餐费 | 80元 | 每餐 |
"""


def texts(markdown: str, size: int = 1000, overlap: int = 0) -> list[str]:
    return [passage.text for passage in cut(markdown, size=size, overlap=overlap)]


def by_path(passages: list[Passage]) -> dict[tuple[str, ...], Passage]:
    return {passage.path: passage for passage in passages}


def test_a_document_is_cut_at_its_headings() -> None:
    found = cut(MANUAL, size=100)
    assert [passage.path for passage in found] == [
        ("Ferry manual",),
        ("Ferry manual", "Engine"),
        ("Ferry manual", "Fuel"),
        ("Ferry manual", "Fuel"),
        ("Ferry manual", "Fuel", "Empty tank"),
    ]
    assert found[3].text == "<!--\n## no heading either\n-->\n\n> ## nor this"
    assert "# no heading" in by_path(found)[("Ferry manual", "Engine")].text
    assert [passage.order for passage in found] == list(range(1, len(found) + 1))


def test_front_matter_is_no_passage_but_names_the_document() -> None:
    assert cut("---\ntitle: Tides\n---\n") == []
    (only,) = cut("---\ntitle: 'Tides'\n---\nHigh at noon.\n")
    assert only.path == ("Tides",)
    assert (only.text, only.start, only.first_line) == ("High at noon.", 23, 4)
    (named,) = cut("High at noon.", title="Tide table")
    assert named.path == ("Tide table",)
    (both,) = cut("# tide Table\n\nHigh at noon.", title="Tide table")
    assert both.path == ("tide Table",)


def test_offsets_and_lines_are_those_of_the_file() -> None:
    text = "\ufeff# A\r\n\r\nfirst\r\n\r\n# B\r\n" + "second line. " * 20 + "\r\n"
    one, two = cut(text, size=400)
    assert text[one.start : one.end] == "# A\r\n\r\nfirst"
    assert one.text == "# A\n\nfirst"
    assert (one.first_line, one.last_line, two.first_line, two.last_line) == (1, 3, 5, 6)


@pytest.mark.parametrize(
    "text", ["", " \n\t\n", "\ufeff", "---\na: b\n---\n\n", "<!-- page 1 -->\n\n<!-- page 2 -->\n", "\u3000"]
)
def test_what_holds_no_text_has_no_passages(text: str) -> None:
    assert cut(text) == []


def test_the_text_holds_its_headings_and_body_says_where_they_end() -> None:
    (only,) = cut("# Boats\n\n## Ferry\n\nIt runs hourly.")
    assert only.path == ("Boats", "Ferry")
    assert only.text == "# Boats\n\n## Ferry\n\nIt runs hourly."
    assert only.text[only.body :].strip() == "It runs hourly."
    assert searched_text(only) == "Boats › Ferry\nIt runs hourly."


def test_searched_text_has_the_path_once_and_links_as_shown() -> None:
    found = by_path(cut(MANUAL, size=180))
    fuel = searched_text(found[("Ferry manual", "Fuel")])
    assert fuel.startswith("Ferry manual › Fuel\nUse diesel only. See the tanks.")
    assert fuel.count("Fuel") == 1


def test_small_neighbours_under_one_heading_are_joined_and_keep_their_headings() -> None:
    text = "# Questions\n\n## Where?\n\nHere.\n\n## When?\n\nNow.\n\n# Other\n\n" + "Long text here. " * 20
    first, second = cut(text, size=400)
    assert first.path == ("Questions",)
    assert first.text.endswith("## Where?\n\nHere.\n\n## When?\n\nNow.")
    assert searched_text(first) == "Questions\n## Where?\n\nHere.\n\n## When?\n\nNow."
    assert second.path == ("Other",)


def test_sections_that_are_not_small_stay_apart() -> None:
    part = "A sentence of some length stands here. " * 3
    assert len(cut(f"# A\n\n{part}\n\n# B\n\n{part}", size=500)) == 2


def test_headings_without_text_are_one_passage_and_none_is_lost() -> None:
    (only,) = cut("# Plan\n\n## Boats\n\n## Crew\n\n## Fuel\n")
    assert only.path == ("Plan",)
    assert [word in only.text for word in ("Boats", "Crew", "Fuel")] == [True] * 3


def test_a_heading_as_long_as_a_book_is_bounded_in_text_and_path() -> None:
    found = cut("# " + "word " * 2000 + "\n\ntext", size=200)
    assert all(columns(passage.text) <= 200 for passage in found)
    assert len(found[-1].path[0]) <= 200
    assert len({passage.id for passage in found}) == len(found)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = 'Mr. Li owns 3.5 boats. He sails e.g. on Sundays. He asked: "Why not?" Then he left.'
    assert texts(text, 50) == ["Mr. Li owns 3.5 boats. He sails e.g. on Sundays.", 'He asked: "Why not?" Then he left.']


def test_a_chinese_paragraph_is_cut_behind_its_quotes() -> None:
    text = "他说：“明天我们一起去海边看日出吧。”她想了想，点了点头！然后两个人就出发了；天还没有亮。"
    assert texts(text, 50) == [
        "他说：“明天我们一起去海边看日出吧。”",
        "她想了想，点了点头！然后两个人就出发了；",
        "天还没有亮。",
    ]


def test_a_sentence_without_an_end_is_cut_behind_commas_and_between_words() -> None:
    assert texts("one two three four, five six seven eight nine ten eleven twelve " * 3, 60) == [
        "one two three four, five six seven eight nine ten eleven",
        "twelve one two three four, five six seven eight nine ten",
        "eleven twelve one two three four,",
        "five six seven eight nine ten eleven twelve",
    ]


def test_code_links_and_numbers_stay_whole() -> None:
    whole = [
        "`pip install memoranda`",
        "[the long docs](https://docs.example/a_b)",
        "1,234,567.89",
        "https://a.example/b?c=d",
    ]
    text = " and ".join(whole * 6)
    for size in range(60, 90):
        found = texts(text, size)
        assert sum(one.count(piece) for one in found for piece in whole) == 24


def test_a_table_is_cut_between_rows_under_its_header() -> None:
    rows = [f"| boat {at} | {at * 10} seats |" for at in range(30)]
    text = "Our boats:\n\n" + "\n".join(["| name | size |", "|---|---:|", *rows])
    found = cut(text, size=200)
    assert len(found) > 3
    assert all(passage.text.startswith("| name | size |\n|---|---:|\n| boat") for passage in found[1:])
    assert [row for passage in found for row in passage.text.split("\n") if row.startswith("| boat")] == rows


def test_a_wide_header_is_repeated_without_its_padding() -> None:
    header = "| name" + " " * 80 + "| size" + " " * 80 + "|"
    text = "\n".join([header, "|" + "-" * 86 + "|" + "-" * 86 + "|", *(f"| boat {at} | {at} |" for at in range(60))])
    assert all(one.startswith("|name|size|\n|---|---|\n| boat") for one in texts(text, 400)[1:])


def test_one_cell_of_21000_characters_is_bounded_under_its_header() -> None:
    found = cut("# T\n\n| key | value |\n|---|---|\n| a | " + "x" * 21000 + " |\n| b | last |\n")
    assert all(columns(passage.text) <= 1000 for passage in found)
    assert sum(passage.text.count("x") for passage in found) == 21000
    assert all(passage.path == ("T",) for passage in found)
    assert found[-1].text.startswith("| key | value |\n|---|---|\n")
    assert found[-1].text.endswith("| b | last |")


def test_a_fence_that_fits_is_never_cut() -> None:
    code = "```python\n" + "\n\n".join(f"def f{at}():\n    return {at}" for at in range(10)) + "\n```"
    found = texts(f"# Code\n\n{'Some words. ' * 20}\n\n{code}\n\nMore words.", 400)
    assert sum(code in one for one in found) == 1


def test_a_longer_fence_is_cut_between_lines_and_opened_again() -> None:
    lines = [f"step_{at}(now)" for at in range(40)]
    found = texts("~~~~ py\n" + "\n".join(lines) + "\n~~~~\n\nAfter.", 150)
    assert len(found) > 3
    for one in found[:-1]:
        assert one.startswith("~~~~ py\nstep_")
        assert one.endswith("\n~~~~")
    assert found[-1].endswith("\n~~~~\n\nAfter.")
    assert [line for one in found for line in one.split("\n") if line.startswith("step")] == lines


def test_items_are_cut_apart_and_nested_ones_keep_the_items_above() -> None:
    text = (
        "- Packing list\n" + "".join(f"  - thing number {at}\n    - detail of {at}\n" for at in range(8)) + "- Second\n"
    )
    found = texts(text, 120)
    assert len(found) > 2
    assert all(one.startswith("- Packing list\n") for one in found)
    assert found[-1].endswith("- Second")
    assert sum(one.count("detail of") for one in found) == 8
    assert texts("1. one thing here\n2. another thing\n3. and a third one\n", 40) == [
        "1. one thing here\n2. another thing",
        "3. and a third one",
    ]


def test_of_a_long_item_the_beginning_is_repeated() -> None:
    found = texts("- An item that says a good deal before its parts come\n" + "  - part of it\n" * 20, 120)
    assert len(found) > 2
    assert all(one.startswith("- An item that says a good …\n  - part of it") for one in found[1:])


def test_items_too_deep_are_cut_between_lines_and_keep_the_nearest_above() -> None:
    text = "".join("  " * depth + f"- level {depth} of the list\n" for depth in range(12))
    text += "  " * 12 + "words " * 100
    found = texts(text, 200)
    assert all(columns(one) <= 200 for one in found)
    assert sum(one.count("words") for one in found) == 100
    above = "".join("  " * depth + f"- level {depth} of the list\n" for depth in (3, 4, 5))
    assert found[-1].startswith(f"{above}words")


def test_an_item_that_holds_no_blocks_is_cut_between_lines() -> None:
    found = texts("- [a]: /u\n" + "  [b]: /v\n" * 30, 100)
    assert "\n".join(found).count("[b]: /v") == 30


def test_code_in_a_quote_is_opened_again_with_its_marks() -> None:
    found = texts("> ```py\n" + "> step(now)\n" * 30 + "> ```\n", 120)
    assert len(found) > 3
    assert all(one.startswith("> ```py\n> step(now)") and one.endswith("> step(now)\n> ```") for one in found)


def test_code_behind_a_fence_too_long_to_repeat_is_cut_between_lines() -> None:
    found = texts("`" * 30 + "\n" + "code here\n" * 30, 60)
    assert found[0].startswith("`" * 30)
    assert "\n".join(found).count("code here") == 30


def test_a_quote_is_cut_with_its_marks() -> None:
    text = "> " + "\n> ".join(f"Sentence number {at} is\n> quoted here." for at in range(8))
    found = texts(text, 120)
    assert len(found) > 2
    assert all(line.startswith(">") for one in found for line in one.split("\n"))


def test_html_is_cut_behind_tags_and_lines() -> None:
    found = texts("<table>\n" + "<tr><td>cell</td></tr>" * 40 + "\n</table>\n", 100)
    assert all(columns(one) <= 100 for one in found)
    assert "".join("".join(found).split()) == "<table>" + "<tr><td>cell</td></tr>" * 40 + "</table>"


def test_notes_and_definitions_stay_text() -> None:
    (only,) = cut("Claim.[^1]\n\n[^1]: A note.\n\n[ref]: https://a.example\n")
    assert only.text == "Claim.[^1]\n\n[^1]: A note.\n\n[ref]: https://a.example"
    (alone,) = cut("[ref]: https://a.example 'Title'\n")
    assert alone.text.startswith("[ref]")


def test_places_are_known_and_their_lines_are_no_text() -> None:
    found = cut(HANDBOOK, size=120)
    assert all("<!--" not in passage.text for passage in found)
    assert found[0].place == "page 1"
    assert found[-1].place == "page 2"
    running = next(passage for passage in found if "当天用电话说明" in passage.text)
    assert "特殊情况可以在\n当天用电话说明" in running.text
    assert running.place == "page 1–2"
    (whole,) = cut(
        "Start.\n\n<!-- page 1 -->\n\nOne.\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\nTwo.\n\n<!-- page 4 -->\n"
    )
    assert (whole.place, whole.text) == ("page 1–3", "Start.\n\nOne.\n\nTwo.")


def test_a_paragraph_that_ends_at_the_end_of_a_page_stays_one() -> None:
    (only,) = cut("It ended.\n\n<!-- page 2 -->\n\nnew text.")
    assert only.text == "It ended.\n\nnew text."
    (title,) = cut("A short title\n\n<!-- page 2 -->\n\nNew text.")
    assert title.text == "A short title\n\nNew text."


def test_slides_and_sheets_are_passages_of_their_own() -> None:
    deck = "<!-- slide 1 -->\n# Deck\n<!-- slide 2 -->\n## Plan\nGo.\n<!-- slide 3 -->\nNo title.\n"
    deck += "<!-- sheet Prices -->\n|a|\n|-|\n"
    found = cut(deck)
    assert [(passage.place, passage.path) for passage in found] == [
        ("slide 1", ("Deck",)),
        ("slide 2", ("Deck", "Plan")),
        ("slide 3", ("Deck",)),
        ("sheet Prices", ("Deck",)),
    ]
    assert [
        passage.path for passage in cut("<!-- slide 1 -->\n# A\na\n<!-- slide 2 -->\n# B\nb\n<!-- slide 3 -->\nc\n")
    ] == [
        ("A",),
        ("B",),
        (),
    ]


def test_a_place_named_in_code_is_code() -> None:
    (only,) = cut("```\n<!-- page 3 -->\n```\n")
    assert only.place == ""
    assert "page 3" in only.text


def test_overlap_repeats_whole_sentences_of_the_same_section() -> None:
    text = (
        "# A\n\n"
        + " ".join(f"Sentence number {at:02} is here." for at in range(12))
        + "\n\n# B\n\nEnd of it all, said at length."
    )
    found = cut(text, size=120, overlap=40)
    assert all(columns(passage.text) <= 120 for passage in found)
    for before, after in pairwise(found[:-1]):
        repeated = text[after.start : before.end]
        assert repeated.startswith("Sentence")
        assert before.text.endswith(repeated)
    assert found[-1].text.startswith("# B")
    assert {passage.id for passage in cut(text, size=80)} == {passage.id for passage in found}


@pytest.mark.parametrize(("size", "overlap"), [(39, 0), (100, 51), (100, -1)])
def test_sizes_that_make_no_sense_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="columns"):
        cut("text", size=size, overlap=overlap)
