from __future__ import annotations

import pytest

from memoranda.core.bodies import check_body, indented, read_body, with_block_id
from memoranda.core.errors import BadText


@pytest.mark.parametrize(
    "text",
    [
        "plain", "### deeper", "```\n## code\n```", "    ## code", "> ## quoted", "- x\n\n  ## nested",
        "a\n\n---\n\nb", "---\nrule\n\n---", "<!-- a comment -->", "<div>",
        "inline <!-- memoranda: a=b -->", "```\n<!-- memoranda: a=b -->\n```",
        "<<<<<<< one marker\n", "#hashtag", "\u2028## no line\x85## none", "-",
    ],
)  # fmt: skip
def test_what_may_stand_in_an_item(text):
    assert check_body(text).text == text.rstrip("\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text is empty"),
        (" \n\t\n", "the text is empty"),
        ("a\n\n## b", "line 3 of the text is a heading of level 2: use ### or deeper"),
        ("# b", "line 1 of the text is a heading of level 1"),
        ("\n\n  ## b", "line 3 of the text"),
        ("a\rb\n---", "line 1 of the text is a heading, for a line of = or - stands under it"),
        ("a\n===", "use ### or deeper"),
        ("a\n\n```\nb", "the fence that begins in line 3 of the text is not closed"),
        ("<!-- a", "the HTML block or comment that begins in line 1"),
        ("a\n<!-- memoranda: a=b -->", "line 2 of the text reads as an item's metadata"),
        ("  <!-- WIKIMEM: -->", "line 1 of the text reads as an item's metadata"),
        ("- a\n<<<<<<< x\n\n- b\n\n=======\n>>>>>>> y", "line 2 of the text begins a set of merge markers"),
    ],
)
def test_what_may_not(text, message):
    with pytest.raises(BadText) as caught:
        check_body(text)
    assert message in str(caught.value)


def test_empty_text_on_request():
    assert check_body("\n", allow_empty=True).text == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tea", "tea ^x"),
        ("tea\nmore", "tea\nmore ^x"),
        ("tea\n\nmore\n", "tea\n\nmore ^x"),
        ("tea\n\n- nested", "tea ^x\n\n- nested"),
        ("- nested", None),
        ("```\ncode\n```", None),
        ("### heading", None),
        ("tea\n\n> quote", None),
    ],
)
def test_where_a_block_id_goes(text, expected):
    assert with_block_id(read_body(text), "x") == expected


@pytest.mark.parametrize("name", ["two words", "a[b", "a^b", ""])
def test_names_that_are_no_block_id(name):
    assert with_block_id(read_body("tea"), name) is None


def test_indentation():
    assert indented("a\n\nb\n  c", 2, "\r\n") == "a\r\n\r\n  b\r\n    c"
    assert indented("  a\nb", 2, "\n") == "\n    a\n  b"
    assert indented("---", 2, "\n") == "\n  ---"
    assert indented("    code", 2, "\n") == "    code"
    assert indented("  a\nb", 0, "\n") == "  a\nb"
