"""Files without level-2 headings."""

from __future__ import annotations

import pytest

from memoranda.core.items import parse, serialize
from memoranda.core.names import hash_name


def read(text):
    category = parse(text)
    assert serialize(category) == text
    assert not category.headed
    return [(section.address_name, section.text) for section in category.sections]


def test_list_items_and_paragraphs_are_items():
    text = (
        "# title\n\nA paragraph\nof two lines.\n\n- one\n- two\n  more\n\n  even more\n\n"
        "1. three\n> quote\n\n***\n\n```\nx\n```\n"
    )
    assert read(text) == [
        (hash_name(body), body) for body in ["A paragraph\nof two lines.", "one", "two\nmore\n\neven more", "three"]
    ]


@pytest.mark.parametrize(
    ("text", "address", "body"),
    [
        ("I like tea ^tea\n", "^tea", "I like tea"),
        ("I like tea\nand coffee ^tea  \n", "^tea", "I like tea\nand coffee"),
        ("I like tea\n^tea\n", "^tea", "I like tea"),
        ("- I like tea ^tea\n", "^tea", "I like tea"),
        ("- [ ] buy tea ^喝茶", "^喝茶", "[ ] buy tea"),
        ("- tea ^tea\n  - green ^green\n", "^tea", "tea\n- green ^green"),
        ("- tea ^tea\r\n\t- green ^green\r\n", "^tea", "tea\n- green ^green"),
        ("- tea\n\n  more ^tea\n", "^tea", "tea\n\nmore"),
        ("* tea\nlazy ^tea\n", "^tea", "tea\nlazy"),
        ("1) tea ^tea\n", "^tea", "tea"),
        ("tea\n<!-- memoranda: name=my tea -->\n", "my tea", "tea"),
        ("tea\n\n<!-- memoranda: name=my tea -->\n", "my tea", "tea"),
        ("- tea\n  <!-- memoranda: name=my tea -->\n", "my tea", "tea"),
        ("- tea\n<!-- wikimem: name=my tea -->\n", "my tea", "tea"),
        ("- tea\n  - nested\n\n  <!-- memoranda: name=my tea -->\n", "my tea", "tea\n- nested"),
        ("- tea ^id\n  <!-- memoranda: name=other -->\n", "^id", "tea"),
        ("- <!-- memoranda: name=my tea -->\n  tea\n", "my tea", "tea"),
        ("-\n  tea ^tea\n", "^tea", "tea"),
    ],
)
def test_names(text, address, body):
    assert read(text) == [(address, body)]
    category = parse(text)
    assert category.find(address) is category.sections[0]
    assert category.find(address.removeprefix("^")) is category.sections[0]


@pytest.mark.parametrize(
    "text",
    [
        "x^2 and y^2\n",
        "a footnote ^[note]\n",
        "^alone\n",
        "- ^alone\n",
        "text ^id more\n",
        "- a\n  - b ^id\n",
        "- a\n  ```\n  x ^id\n  ```\n",
        "- tea\n  ```\n  <!-- memoranda: name=x -->\n  ```\n",
        "- a\n  - b\n    <!-- memoranda: name=x -->\n",
    ],
)
def test_what_is_no_name(text):
    (section,) = parse(text).sections
    assert section.name == ""
    assert section.address_name == hash_name(section.text)


def test_the_slices_of_an_item():
    text = "# t\n\n- tea ^tea\n  <!-- memoranda: ts=1 -->\n\n\n> quote\n"
    (section,) = parse(text).sections
    assert text[section.start : section.end] == "- tea ^tea\n  <!-- memoranda: ts=1 -->\n\n\n"
    assert text[section.body_start : section.body_end] == "tea"
    assert text[slice(*section.block_id)] == " ^tea"
    assert text[slice(*section.comment)] == "<!-- memoranda: ts=1 -->"
    assert (section.form, section.line, section.metadata.ts) == ("list", 3, "1")


def test_link_definitions_are_nobodys_items():
    text = "tea ^tea\n\n[a]: /url\n\n- b\n"
    first, second = parse(text).sections
    assert text[first.start : first.end] == "tea ^tea\n\n"
    assert second.text == "b"


def test_duplicates_and_bad_names():
    text = "- a ^x\n- b ^X\n- c\n  <!-- memoranda: name=a|b -->\n- d\n- d\n"
    category = parse(text)
    hashed = hash_name("d")
    assert [s.address_name for s in category.sections] == ["^x", hash_name("b"), "a", hashed, hashed + "-2"]
    assert [(line, kind) for line, kind, _ in category.problems] == [(2, "duplicate-name"), (4, "metadata")]


def test_two_comments_are_reported():
    text = "- a\n  <!-- memoranda: ts=1 -->\n<!-- memoranda: ts=2 -->\n"
    category = parse(text)
    assert category.sections[0].metadata.ts == "2"
    assert [(line, kind) for line, kind, _ in category.problems] == [(1, "metadata")]
