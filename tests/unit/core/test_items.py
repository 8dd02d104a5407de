from __future__ import annotations

import pytest

from memoranda.core.items import EMPTY_CATEGORY, parse, serialize
from memoranda.core.names import content_hash, hash_name

DOCUMENT = """\
# preferences

Anything a person writes here stays exactly as it is.

## likes-the-sea

喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]

<!-- memoranda: owner=user:lin | source=conv_20260710#4 | ts=2026-07-10T03:00:00Z | type=profile -->

## Tea or Coffee ##

### deeper

```
## no heading
```
"""


def names(text):
    return [section.address_name for section in parse(text).sections]


def problems(text):
    return [(line, kind) for line, kind, _ in parse(text).problems]


def test_reads_a_category_file():
    category = parse(DOCUMENT)
    sea, tea = category.sections
    assert (sea.name, sea.address_name, sea.key, sea.line, sea.form) == (
        "likes-the-sea",
        "likes-the-sea",
        "likes-the-sea",
        5,
        "section",
    )
    assert sea.text == "喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]"
    assert sea.hash == content_hash(sea.text)
    assert sea.metadata.owner == "user:lin"
    assert DOCUMENT[slice(*sea.comment)].startswith("<!-- memoranda: owner")
    assert DOCUMENT[sea.body_start : sea.body_end] == sea.text
    assert DOCUMENT[sea.start : sea.end].startswith("## likes-the-sea\n")
    assert sea.end == tea.start
    assert tea.name == "Tea or Coffee"
    assert tea.text == "### deeper\n\n```\n## no heading\n```"
    assert (category.headed, category.newline, category.open_at, category.problems) == (True, "\n", None, ())
    assert serialize(category) == DOCUMENT
    assert "".join(category.slices()) == DOCUMENT
    assert next(category.slices()).endswith("as it is.\n\n")


def test_finds_by_any_writing_of_the_name():
    category = parse("## Café  Noir\n\nx\n")
    assert category.find("cafe\u0301 noir") is category.sections[0]
    assert category.sections[0].address_name == "Café Noir"
    assert category.find("Cafe Noir") is None


def test_sections_end_at_headings_of_level_1_and_2():
    text = "## a\n\none\n\n# other\n\nnobody's\n\nSet\next\n---\ntwo\n### three\nfour"
    first, second = parse(text).sections
    assert (first.text, first.name) == ("one", "a")
    assert (second.name, second.text) == ("Set ext", "two\n### three\nfour")
    assert text[second.content :].startswith("Set\next")
    assert serialize(parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "```\n## a\n```\n## b\n",
        "<!--\n## a\n-->\n## b\n",
        "> ## a\n\n## b\n",
        "- x\n\n  ## a\n\n## b\n",
        "    ## a\n## b\n",
        "---\nx: |\n  ## a\n---\n## b\n",
        "\ufeff## b\n",
        "##\tb\r\n",
    ],
)
def test_only_top_level_headings_count(text):
    assert names(text) == ["b"]


def test_texts_have_plain_line_ends():
    category = parse("\ufeff## a\r\n\r\none\r\ntwo\u2028\x85\r\n\r\n## b\rx\ry")
    assert [section.text for section in category.sections] == ["one\ntwo\u2028\x85", "x\ny"]
    assert category.newline == "\r\n"


def test_indented_code_at_the_beginning_stays_code():
    assert parse("## a\n\n    code\n    more\n").sections[0].text == "    code\n    more"
    assert parse("## a\n\n   text\n").sections[0].text == "text"


def test_duplicates_are_addressed_by_hash_and_reported():
    text = "## A\n\none\n\n## b\n\n## a\n\ntwo\n\n## a\n\ntwo\n"
    category = parse(text)
    hashed = hash_name("a\ntwo")
    assert [s.address_name for s in category.sections] == ["A", "b", hashed, hashed + "-2"]
    assert problems(text) == [(7, "duplicate-name"), (11, "duplicate-name")]
    assert "line 1" in category.problems[0][2]
    assert category.find("a") is category.sections[0]
    assert category.find(hashed + "-2") is category.sections[3]


@pytest.mark.parametrize("heading", ["a|b", "a#b", "[[a]]", "", "~x", "^x", "a\x7fb", "\ud800"])
def test_names_that_cannot_be_are_addressed_by_hash(heading):
    text = f"## {heading}\n\ntext\n"
    category = parse(text)
    (section,) = category.sections
    assert section.name == heading
    assert section.address_name == hash_name(f"{heading}\ntext")
    assert problems(text) == [(1, "bad-name")]
    assert category.find(section.address_name) is section


def test_a_comment_in_the_middle_is_not_part_of_the_text():
    text = "## a\n\none\n\n<!-- memoranda: ts=1 -->\n\ntwo\n"
    (section,) = parse(text).sections
    assert section.text == "one\n\ntwo"
    assert section.metadata.ts == "1"
    assert not section.is_whole
    (first,) = parse("## a\n<!-- memoranda: ts=1 -->\ntwo\n").sections
    assert (first.text, first.metadata.ts, first.is_whole) == ("two", "1", True)


def test_the_last_of_several_comments_counts():
    text = "## a\n\n<!-- memoranda: ts=1 -->\n\ntext\n\n<!-- wikimem: ts=2 -->\n"
    (section,) = parse(text).sections
    assert section.metadata.ts == "2"
    assert section.text == "<!-- memoranda: ts=1 -->\n\ntext"
    assert problems(text) == [(1, "metadata")]


@pytest.mark.parametrize(
    "text",
    [
        "## a\n\n```\n<!-- memoranda: ts=1 -->\n```\n",
        "## a\n\ntext <!-- memoranda: ts=1 -->\n",
        "## a\n\n<!-- memoranda: ts=1 --> text\n",
        "## a\n\n    <!-- memoranda: ts=1 -->\n",
        "## a\n\n> <!-- memoranda: ts=1 -->\n",
        "## a\n\n# b\n\n<!-- memoranda: ts=1 -->\n",
    ],
)
def test_comments_elsewhere_are_not_metadata(text):
    assert parse(text).sections[0].metadata.pairs == ()


def test_reports_broken_metadata():
    assert problems("x\n\n## a\n\n<!-- memoranda: owner | ts=1 -->\n") == [(5, "metadata")]


@pytest.mark.parametrize(
    ("text", "line"),
    [("## a\n\n```\nx\n", 3), ("## a\n<!-- x\n\n## b\n", 2), ("~~~", 1), ("x\n<script>\n", 2)],
)
def test_reports_what_is_never_closed(text, line):
    category = parse(text)
    assert problems(text) == [(line, "unclosed")]
    assert category.text[category.open_at :].startswith(("```", "<!--", "~~~", "<script"))


def test_an_html_block_that_a_blank_line_ends_is_not_open():
    assert parse("## a\n\n<div>\n").open_at is None


def test_reports_full_sets_of_merge_markers_only():
    conflict = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n"
    assert problems(f"## a\n\n{conflict}") == [(3, "merge-marker")]
    assert problems(f"## a\r\n\r\n{conflict}".replace("\n", "\r\n").replace("\r\r", "\r")) == [(3, "merge-marker")]
    assert problems(f"## a\n\n```\n{conflict}```\n") == []
    assert problems("## a\n\n<<<<<<< HEAD\n\n>>>>>>> branch\n") == []
    assert problems("## a\n\n x<<<<<<< HEAD\n=======\n>>>>>>> branch\n") == []


def test_reports_broken_front_matter():
    assert problems('---\nx: "a" b\n---\n## a\n') == [(2, "front-matter")]


def test_a_file_may_say_that_it_waits_for_sections():
    text = "# title\n\nintro\n\n<!-- memoranda: form=sections -->\n"
    category = parse(text)
    assert (category.headed, category.sections) == (True, ())
    assert serialize(category) == text
    assert len(parse(text.replace("sections", "other")).sections) == 1


def test_the_empty_file():
    assert EMPTY_CATEGORY.sections == ()
    assert serialize(parse("")) == ""
    assert parse("").newline == "\n"
