"""Laws of cutting: all text once and in order, bounded, the same each time, ids that stay; hostile texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.lines import lines
from memoranda.core.markdown import scan
from memoranda.core.passages import cut, searched_text
from memoranda.core.sentences import columns

PIECES = [
    "# a", "## b", "### c", "# \n", "text", "海边。", "我们去“海”了。", "Mr. X said 3.5. Then ", "word " * 30, "x" * 90,
    "海" * 60, "\n", "\n", "\n\n", "\n\n", "- ", "  - ", "    ", "1. ", "> ", "```", "~~~", "```py\n", "```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n", "| x | y |\n", "<!-- page 3 -->\n", "\n<!-- page 4 -->\n",
    "\n<!-- slide 2 -->\n",
    "\n<!-- sheet Aé -->\n", "<div>", "</div>", "<!--", "-->", "`a b`", "[a b](c)", "[[x|y z]]", "---\n", "===\n", "\t",
    "\r\n", "\r", "e\u0301\u0301", "👨\u200d👩\u200d👧", "🇩🇪🇫🇷", "\u3000", "\u2028", "\x0c", "[r]: /u\n", "\ud800",
    "[^1]: note text. More.\n", "\\", "*", "---\ntitle: t\n---\n", "\ufeff",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)
sizes = st.sampled_from([40, 60, 100, 300, 1000])
PLACE = re.compile(r"[ \t]*<!--[ \t]*(page|slide|sheet)[ \t]+[^\r\n]{1,200}?[ \t]*-->[ \t]*")


@settings(max_examples=400, deadline=None)
@given(documents, sizes, st.sampled_from([0, 4, 2]))
def test_passages_are_bounded_distinct_and_the_same_each_time(text: str, size: int, part: int) -> None:
    overlap = size // part if part else 0
    found = cut(text, size=size, overlap=overlap)
    assert found == cut(text, size=size, overlap=overlap)
    assert len({passage.id for passage in found}) == len(found)
    for order, passage in enumerate(found, 1):
        assert columns(passage.text) <= size
        assert passage.text.strip()
        assert "\r" not in passage.text
        assert passage.order == order
        assert 0 <= passage.start < passage.end <= len(text)
        assert 1 <= passage.first_line <= passage.last_line
        assert 0 <= passage.body <= len(passage.text)
        assert searched_text(passage) or not passage.text[passage.body :].strip()


@settings(max_examples=400, deadline=None)
@given(documents, sizes)
def test_every_text_of_the_body_is_in_one_passage_in_order(text: str, size: int) -> None:
    found = cut(text, size=size)
    covered = bytearray(len(text))
    end = 0
    for passage in found:
        assert passage.start >= end
        end = passage.end
        covered[passage.start : end] = b"x" * (end - passage.start)
    blocks = scan(text)
    front = blocks[0].end if blocks and blocks[0].kind == "front-matter" else 0
    for start, stop, _ in lines(text, front):
        if PLACE.fullmatch(text[start:stop].rstrip()):
            continue
        # The marks of a quote, and a byte order mark, are no text.
        bare = [
            at
            for at in range(start, stop)
            if not text[at].isspace() and text[at] != ">" and (at or text[0] != "\ufeff")
        ]
        assert all(covered[at] for at in bare)


WORDS = ["boat", "ferry", "engine", "海边日出", "潮水涨了", "harbour. The", "rope", "net, and"]
paragraphs = st.lists(st.sampled_from(WORDS), min_size=4, max_size=30).map(" ".join)
sections = st.lists(paragraphs, min_size=1, max_size=4).map("\n\n".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(sections, min_size=1, max_size=6), st.sampled_from([100, 300, 1000]), st.data())
def test_an_edit_of_one_passage_changes_no_others_id(parts: list[str], size: int, data: st.DataObject) -> None:
    # Numbered, so that no two passages are equal; a digit for a digit keeps every size.
    text = "".join(f"{'#' * (1 + at % 3)} Part {at}\n\n{part}\n\n" for at, part in enumerate(parts))
    count = iter(range(1000, 10000))
    text = re.sub(r"boat|ferry|rope", lambda found: f"{found[0]}{next(count)}", text)
    before = cut(text, size=size)
    places = [found.end() - 1 for found in re.finditer(r"(?:boat|ferry|rope)\d{4}", text)]
    if not places:
        return
    at = data.draw(st.sampled_from(places))
    after = cut(text[:at] + ("5" if text[at] != "5" else "6") + text[at + 1 :], size=size)
    changed = [old.order for old, new in zip(before, after, strict=True) if old.id != new.id]
    assert changed == [passage.order for passage in before if passage.start <= at < passage.end]


def test_a_new_section_changes_no_others_id() -> None:
    long = "Something is said here at some length. " * 8
    text = f"# Book\n\n## One\n\n{long}\n\n## Two\n\n{long}two\n"
    before = {passage.id for passage in cut(text, size=200)}
    for new in (text.replace("## One", f"## Zero\n\n{long}zero\n\n## One"), text + f"\n## Three\n\n{long}three\n"):
        assert before < {passage.id for passage in cut(new, size=200)}


def test_equal_passages_are_told_apart_by_a_count() -> None:
    text = "# A\n\n" + "\n\n".join(["Same words again and again, as long as it takes."] * 3)
    first, *others = [passage.id for passage in cut(text, size=60)]
    assert others == [f"{first}-2", f"{first}-3"]


def test_an_id_does_not_depend_on_line_ends_or_places() -> None:
    text = "# A\n\nFirst words.\n\nLast words.\n"
    one = [passage.id for passage in cut(text)]
    assert [passage.id for passage in cut(text.replace("\n", "\r\n"))] == one
    assert [passage.id for passage in cut(f"<!-- page 7 -->\n{text}")] == one
    assert [passage.id for passage in cut(text.replace("\n\nLast", "\n\n<!-- page 2 -->\n\nLast"))] == one


def flood(piece: str, size: int = 60_000) -> str:
    return piece * (size // len(piece))


# Each would take minutes if a step looked at the whole text for every line, mark or level.
HOSTILE = {
    "no line end": flood("x"),
    "no space": flood("海"),
    "white space": "a" + flood(" ") + "b",
    "short sentences": flood("Ab. "),
    "stops": flood("."),
    "wide stops": flood("。”，"),
    "headings": flood("# a\n"),
    "one heading": "# " + flood("x y "),
    "fences": flood("```\n"),
    "one fence": "```\n" + flood("code\n") + "```",
    "a line of code": "```py\n" + flood("code "),
    "fence mark": flood("`") + "\n" + flood("code\n"),
    "items": flood("- a\n"),
    "deep items": "\n".join("  " * depth + "- a" for depth in range(240)),
    "items in one line": flood("- ", 20_000) + "x",
    "quotes in one line": flood("> ", 20_000) + "x",
    "quotes in items": flood("- > ", 20_000),
    "empty lines of a quote": "> a\n" + flood(">\n") + "> b",
    "a row": "| a | b |\n|---|---|\n| " + flood("x") + " | y |\n",
    "cells": "| a | b |\n|---|---|\n" + flood("| x "),
    "rows": "| a | b |\n|---|---|\n" + flood("| 1 | 2 |\n"),
    "a header": flood("| x ") + "|\n" + flood("|---") + "|\n| 1 |\n",
    "backticks": flood("` `` "),
    "brackets": flood("["),
    "half links": flood("[a](b"),
    "images in links": flood("[![a](b)"),
    "tags": flood("<a "),
    "addresses": flood("http://"),
    "comments": flood("<!-- a\n"),
    "places": flood("word\n<!-- page 3 -->\n"),
    "marks on a letter": "e" + flood("\u0301"),
    "joined emoji": flood("👨\u200d"),
    "flags": flood("🇩"),
    "carriage returns": flood("a\r"),
    "definitions": flood("[a]: /u\n\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_cut_like_any_other(name: str) -> None:
    text = HOSTILE[name]
    found = cut(text, size=1000)
    assert found
    assert all(columns(passage.text) <= 1000 for passage in found)
    assert len({passage.id for passage in found}) == len(found)
    assert len(text.rstrip()) - found[-1].end < 20  # nothing but a place's line is left over
