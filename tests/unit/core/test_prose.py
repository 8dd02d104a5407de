"""What is code and what is prose, with markdown-it as the judge."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memoranda.core.links import find_links
from memoranda.core.prose import prose

PIECES = [
    "`", "``", "```", "\n", "\n", "\n\n", "    ", "  ", "> ", "- ", "1. ", "~~~", "\\`", "\\\\", "text", "海",
    "# ", "***", "\n```\n", "\t", "\n- ", "\n> ",
]  # fmt: skip
MARK = re.compile(r"\[\[m(\d+)\]\]")

documents = st.lists(st.sampled_from(PIECES) | st.just("LINK"), max_size=24).map(
    lambda pieces: "".join(f"[[m{at}]]" if piece == "LINK" else piece for at, piece in enumerate(pieces))
)


def _shown(tokens) -> list[str]:
    found = []
    for token in tokens:
        if token.type == "inline":
            for child in token.children or []:
                if child.type == "text":
                    found += MARK.findall(child.content)
    return found


@settings(max_examples=400, deadline=None)
@given(documents)
def test_links_are_found_where_markdown_shows_text(text):
    # Left out: link syntax of markdown-it itself, and "\[[", which it unescapes to the same text.
    if re.search(r"\\\[|\][(\[:]", text):
        return
    parser = MarkdownIt("commonmark").disable(["link", "reference", "image", "autolink", "html_inline"])
    assert [link.category[1:] for link in find_links(text + "`")] == _shown(parser.parse(text + "`"))


def test_masks_code_and_comments_without_moving_anything():
    text = "a `code` b <!-- c --> d\n\n    indented\n\n<!-- e -->f\n"
    first, second = prose(text)
    assert first.masked == "a xxxxxx b " + "\n" * 10 + " d\n"
    assert first.text == "a `code` b <!-- c --> d\n"
    assert second.masked == "\n" * 10 + "f\n"
    assert text[second.outer(10)] == "f"


def test_yields_only_what_holds_the_needle():
    assert [piece.text for piece in prose("one\n\ntwo\n\n- three two\n", holding="two")] == [
        "two\n",
        "\nthree two\n"[1:],
    ]


def test_a_tab_reaches_as_far_as_it_did_outside_of_its_quote():
    assert find_links("> > \t[[a]]") == ()
    assert len(find_links("> \t[[a]]")) == len(find_links("> >\t[[a]]")) == 1
