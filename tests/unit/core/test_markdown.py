"""The block scanner, rule by rule; ``test_markdown_oracle`` compares it with another parser."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core import markdown
from memoranda.core.markdown import Block, lines, scan


def kinds(text: str) -> list[str]:
    return [block.kind for block in scan(text)]


def slices(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in scan(text)]


def headings(text: str) -> list[tuple[int, int, str]]:
    return [(block.line, block.level, block.text) for block in scan(text) if block.kind == "heading"]


class TestLines:
    def test_only_three_line_endings_count(self) -> None:
        text = "a\u2028b\nc\u0085d\r\ne\x0bf\x0cg\rh\u2029i\x1cj\n"
        assert [text[start:stop] for start, stop, _ in lines(text)] == [
            "a\u2028b",
            "c\u0085d",
            "e\x0bf\x0cg",
            "h\u2029i\x1cj",
        ]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            ("a", [(0, 1, 1)]),
            ("a\n", [(0, 1, 2)]),
            ("\n\r\n\r\r", [(0, 0, 1), (1, 1, 3), (3, 3, 4), (4, 4, 5)]),
            ("a\r\nb", [(0, 1, 3), (3, 4, 4)]),
        ],
    )
    def test_offsets(self, text: str, expected: list[tuple[int, int, int]]) -> None:
        assert list(lines(text)) == expected

    def test_a_part_of_the_text(self) -> None:
        assert list(lines("one\ntwo\nthree", 4, 10)) == [(4, 7, 8), (8, 10, 10)]
        assert list(lines("one", 0, 99)) == [(0, 3, 3)]

    @given(st.text(alphabet="ab\r\n\u2028\x85"))
    def test_they_tile_the_text(self, text: str) -> None:
        found = list(lines(text))
        assert "".join(text[start:end] for start, _, end in found) == text
        assert all(text[stop:end] in ("\n", "\r\n", "\r") for _, stop, end in found[:-1])


class TestHeadings:
    @pytest.mark.parametrize(
        ("line", "level", "text"),
        [
            ("# a", 1, "a"),
            ("###### a", 6, "a"),
            ("   ## b", 2, "b"),
            ("## b ##", 2, "b"),
            ("## b #######  ", 2, "b"),
            ("## b#", 2, "b#"),
            ("## b \\#", 2, "b \\#"),
            ("##\tb\t", 2, "b"),
            ("##", 2, ""),
            ("## ##", 2, ""),
            ("## 喜欢 海边", 2, "喜欢 海边"),
            ("## *raw* `text`", 2, "*raw* `text`"),
            ("## \u3000x\u3000", 2, "\u3000x\u3000"),
        ],
    )
    def test_atx(self, line: str, level: int, text: str) -> None:
        assert headings(line) == headings(line + "\n") == [(1, level, text)]

    @pytest.mark.parametrize("line", ["####### a", "#a", "\\# a", "    # a", "\t# a", "#\u00a0a", "\u3000# a"])
    def test_not_atx(self, line: str) -> None:
        assert headings(line) == []

    def test_content_is_where_the_text_begins(self) -> None:
        for text in ("##   name\n", "p\n\n ## name ##", "name\n---", "> q\n\n  name\n===\n"):
            (heading,) = [block for block in scan(text) if block.kind == "heading"]
            assert text.startswith("name", heading.content)

    def test_setext(self) -> None:
        assert headings("a\n===\n\nb\nc\n  ---  \n") == [(1, 1, "a"), (4, 2, "b c")]
        assert slices("a\n===\nb") == [("heading", "a\n===\n"), ("paragraph", "b")]

    def test_an_underline_without_a_paragraph_is_none(self) -> None:
        assert kinds("===\n\n---\n") == ["paragraph", "rule"]
        assert kinds("> a\n===\n") == ["quote"]
        assert kinds("> a\n---\n") == ["quote", "rule"]
        assert kinds("a\n\n===\n") == ["paragraph", "paragraph"]

    def test_definitions_make_no_heading(self) -> None:
        assert slices("[a]: /u\n---\n") == [("rule", "---\n")]
        assert slices('[a]: /u\n[b]: <v w> "t\nu"\n===\n') == [("paragraph", "===\n")]
        assert headings("[a]: /u\nreal\n---\n") == [(2, 2, "real")]
        assert headings("[a]: /u v w\n---\n") == [(1, 2, "[a]: /u v w")]
        assert headings("[[a]]: /u\n---\n") == [(1, 2, "[[a]]: /u")]
        assert headings("[ ]: /u\n---\n") == [(1, 2, "[ ]: /u")]
        assert headings("[a]: u)\n---\n") == [(1, 2, "[a]: u)")]
        assert headings("[a]: (u\n---\n") == [(1, 2, "[a]: (u")]

    @pytest.mark.parametrize(
        "text",
        [
            "```\n## no\n```\n",
            "~~~~ x\n```\n## no\n~~~\n~~~~\n",
            "<!-- x\n\n## no\n-->\n",
            "<script>\n\n## no\n</script>\n",
            "<div>\n## no\n\n",
            "<?php\n\n## no ?>",
            "<![CDATA[\n\n## no\n]]>",
            "> ## no\n",
            "- ## no\n",
            "- a\n\n  ## no\n",
            "1. a\n\n   ## no\n",
            "    ## no\n",
            "\t## no\n",
            "> ```\n> ## no\n> ```",
            "- ```\n  ## no\n\n  ## no\n  ```",
            "- <!--\n  ## no\n\n  ## no\n  -->",
        ],
    )
    def test_headings_inside_other_blocks_are_text(self, text: str) -> None:
        assert headings(text) == []
        assert headings(text + "\n\n## yes\n")[-1:] == [(text.count("\n") + 3, 2, "yes")]

    def test_a_heading_closes_what_cannot_hold_it(self) -> None:
        assert headings("> a\n## b\n- c\n## d\n- ```\n## e\n> <!--\n## f") == [
            (2, 2, "b"),
            (4, 2, "d"),
            (6, 2, "e"),
            (8, 2, "f"),
        ]


class TestFrontMatter:
    @pytest.mark.parametrize(
        "text",
        [
            "---\na: 1\n---\n",
            "---  \na: 1\n...\n",
            "---\n---\n",
            "\ufeff---\r\na: |\r\n  x\r\n\r\n  y\r\n---\r\n",
        ],
    )
    def test_is_one_block(self, text: str) -> None:
        (matter, heading) = scan(text + "# x\n")
        assert matter.kind == "front-matter"
        assert text[matter.start : matter.end] == text.removeprefix("\ufeff")
        assert (heading.level, heading.start) == (1, len(text))
        assert scan(text.rstrip("\r\n"))[0].kind == "front-matter"

    @pytest.mark.parametrize("text", ["---\na: 1\n", "---\na\n --- \n", "\n---\na\n---\n", "----\na\n---\n"])
    def test_other_rules_are_rules(self, text: str) -> None:
        assert "front-matter" not in kinds(text)

    def test_unclosed_is_ordinary_markdown(self) -> None:
        assert kinds("---\n# a\n\nb\n") == ["rule", "heading", "paragraph"]


class TestItems:
    def test_each_comes_alone(self) -> None:
        text = "- a\n- b\n  more\n\n  still\n* c\n1. d\n10) e\n"
        assert slices(text) == [
            ("item", "- a\n"),
            ("item", "- b\n  more\n\n  still\n"),
            ("item", "* c\n"),
            ("item", "1. d\n"),
            ("item", "10) e\n"),
        ]

    @pytest.mark.parametrize(
        ("text", "content"),
        [
            ("- a\n", "a\n"),
            ("-    a\n", "a\n"),
            ("-     a\n", "    a\n"),
            ("  12.  a\n", "a\n"),
            ("- [ ] a\n", "[ ] a\n"),
            ("-\ta\n", "a\n"),
            ("- - a\n", "- a\n"),
            ("-\n", "\n"),
            ("-  \n  a\n", "\n  a\n"),
            ("- a", "a"),
        ],
    )
    def test_content(self, text: str, content: str) -> None:
        (item,) = scan(text)
        assert text[item.content :] == content

    def test_blank_lines_behind_do_not_belong(self) -> None:
        assert slices("- a\n\n\n  b\n\n\nc\n") == [("item", "- a\n\n\n  b\n"), ("paragraph", "c\n")]
        assert slices("- a\n\n\n- b\n\n\n") == [("item", "- a\n"), ("item", "- b\n")]

    def test_lazy_lines_belong(self) -> None:
        assert slices("- a\nb\n\nc\n") == [("item", "- a\nb\n"), ("paragraph", "c\n")]
        assert slices("> - a\nb\n    c\n\nd\n") == [("quote", "> - a\nb\n    c\n"), ("paragraph", "d\n")]

    def test_an_item_begins_with_one_blank_line_at_most(self) -> None:
        assert slices("-\n  a\n") == [("item", "-\n  a\n")]
        assert slices("-\n\n  a\n") == [("item", "-\n"), ("paragraph", "  a\n")]

    def test_when_a_list_interrupts_a_paragraph(self) -> None:
        assert kinds("a\n- b\n") == ["paragraph", "item"]
        assert kinds("a\n1. b\n") == ["paragraph", "item"]
        assert kinds("a\n2. b\n") == ["paragraph"]
        assert kinds("a\n*\n") == ["paragraph"]
        assert kinds("a\n1.\n") == ["paragraph"]
        assert kinds("- a\n2. b\n") == ["item", "item"]

    def test_not_markers(self) -> None:
        assert kinds("-a\n\n1.a\n\n1234567890. a\n\n\u0661. a\n") == ["paragraph"] * 4

    def test_a_rule_wins(self) -> None:
        assert kinds("- - -\n* * *\n_ _ _\n***\n  ---\n") == ["rule"] * 5
        assert kinds("- a\n***\n- b\n") == ["item", "rule", "item"]
        assert kinds("- * * *\n") == ["item"]

    def test_tabs_count_as_columns(self) -> None:
        assert slices("-\ta\n\n    b\n") == [("item", "-\ta\n\n    b\n")]
        assert slices("- a\n\n\tb\n") == [("item", "- a\n\n\tb\n")]
        assert slices(">\t\ta\nb\n") == [("quote", ">\t\ta\n"), ("paragraph", "b\n")]


class TestOtherBlocks:
    def test_paragraphs(self) -> None:
        text = "a\n b\n      c\n\n\u3000\u3000d\n2026 was good\n**e** f\n"
        assert slices(text) == [
            ("paragraph", "a\n b\n      c\n"),
            ("paragraph", "\u3000\u3000d\n2026 was good\n**e** f\n"),
        ]
        assert all(block.content == block.start for block in scan(text))

    @pytest.mark.parametrize("text", ["a\u2028## b", "a\x0c## b", "a\u0085## b", "a\x00b"])
    def test_other_separators_end_no_line(self, text: str) -> None:
        assert slices(text) == [("paragraph", text)]

    def test_fences(self) -> None:
        assert slices("```\n a\n```` \nb\n") == [("fence", "```\n a\n```` \n"), ("paragraph", "b\n")]
        assert slices("~~~ ```\n~~~\n") == [("fence", "~~~ ```\n~~~\n")]
        assert kinds("``` `\n") == ["paragraph"]
        assert kinds("``\n") == ["paragraph"]
        assert slices("```\n    ```\n``` x\n```\n") == [("fence", "```\n    ```\n``` x\n```\n")]

    @pytest.mark.parametrize(
        "text", ["```\na\n\n", "~~~", "<!-- a\n\nb\n", "<script>\n", "<?a\n", "<!A\n", "<![CDATA[ ]]"]
    )
    def test_what_the_end_cuts_short_is_not_closed(self, text: str) -> None:
        assert scan("p\n\n" + text)[-1] == Block(scan(text)[0].kind, 3, 3 + len(text), 3, content=3, closed=False)

    @pytest.mark.parametrize(
        "text",
        [
            "```\n```",
            "<!-- a -->",
            "<!-->",
            "<script></script>",
            "<div>\n",
            "<x>\n",
            "> ```\n",
            "- <!--\n",
            "a",
        ],
    )
    def test_all_else_is_closed(self, text: str) -> None:
        assert [block.closed for block in scan(text)] == [True]

    def test_html(self) -> None:
        assert slices("<!-- a\n\nb --> c\nd\n") == [("html", "<!-- a\n\nb --> c\n"), ("paragraph", "d\n")]
        assert slices("<div>\na\n\nb\n") == [("html", "<div>\na\n"), ("paragraph", "b\n")]
        assert slices("<PRE\n\na\n</Style>\nb") == [("html", "<PRE\n\na\n</Style>\n"), ("paragraph", "b")]
        assert kinds("a\n<div>\n") == kinds("a\n<!-- b -->\n") == ["paragraph", "html"]
        assert kinds("a\n<x>\n") == kinds("<x> a\n") == kinds("<x y=>\n") == ["paragraph"]
        assert kinds("<x y='1' z=2 :w/>\n") == kinds("</x >\n") == ["html"]
        assert kinds("<!-- memoranda: a=b -->\ntext\n") == ["html", "paragraph"]

    def test_indented(self) -> None:
        assert slices("    a\n\n     b\n\nc\n    d\n") == [
            ("indented", "    a\n\n     b\n"),
            ("paragraph", "c\n    d\n"),
        ]

    def test_quotes(self) -> None:
        text = "> a\nlazy\n>\n> b\n>\n\nc\n"
        assert slices(text) == [("quote", "> a\nlazy\n>\n> b\n>\n"), ("paragraph", "c\n")]
        assert kinds("> a\n\n> b\n") == ["quote", "quote"]
        assert kinds("> ```\na\n") == ["quote", "paragraph"]

    def test_definitions_are_no_block(self) -> None:
        assert slices("[a]: /u\n\n[b]: /v 'x'\ntext\n") == [("paragraph", "text\n")]
        assert scan("[a]: /u\ntext\n")[0].line == 2


class TestWholeTexts:
    def test_nothing(self) -> None:
        assert scan("") == scan("\n \r\n\t\r") == scan("\ufeff") == []

    def test_a_byte_order_mark_is_skipped(self) -> None:
        assert scan("\ufeff## a\n") == [Block("heading", 1, 6, 1, 2, "a", 4)]
        assert kinds("\ufeff- a\n") == ["item"]
        assert kinds("a\n\ufeff## b\n") == ["paragraph"]

    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    def test_line_numbers(self, ending: str) -> None:
        text = "# a\n\n\nb\nc\n\n- d\n\n  e\n- f\n```\n\n```\n> g\n".replace("\n", ending)
        assert [(block.kind, block.line) for block in scan(text)] == [
            ("heading", 1),
            ("paragraph", 4),
            ("item", 7),
            ("item", 10),
            ("fence", 11),
            ("quote", 14),
        ]

    def test_line_numbers_with_mixed_endings(self) -> None:
        assert [block.line for block in scan("# a\r# b\n# c\r\n# d\r\r\n# e")] == [1, 2, 3, 4, 6]

    def test_a_category_file(self) -> None:
        text = "# t\n\nfree\n\n## n\n\nbody\n\n<!-- memoranda: a=b -->\n"
        assert slices(text) == [
            ("heading", "# t\n"),
            ("paragraph", "free\n"),
            ("heading", "## n\n"),
            ("paragraph", "body\n"),
            ("html", "<!-- memoranda: a=b -->\n"),
        ]

    def test_deep_nesting_is_survived(self) -> None:
        depth = 20_000
        assert kinds("- " * depth + "a\n" + "\n" * depth + "b\n") == ["item", "paragraph"]
        assert kinds("> " * depth + "a\n" + ">\n" * depth) == ["quote"]
        assert kinds("* " * depth + "a\n") == ["item"]
        assert kinds("[" * depth) == kinds("<a " * depth) == ["paragraph"]


FRAGMENTS = st.sampled_from([
    "# a", "## b ##", "p", "- i", "-", "  c", "    d", "\tt", "> q", ">", "1. o", "2) o", "```", "~~~",
    "<!--", "-->", "<div>", "<x>", "---", "===", "***", "", "", " ", "[a]: /u", "\u2028", "\x00",
    "\ud800", "中", "<!-- m -->", "\r",
])  # fmt: skip
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(FRAGMENTS, ENDINGS), max_size=12))
    text = "".join(fragment + ending for fragment, ending in parts)
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.one_of(st.just(""), FRAGMENTS))


@given(st.one_of(documents(), st.text()))
@settings(max_examples=400)
def test_blocks_are_whole_lines_in_order(text: str) -> None:
    starts = {start: number for number, (start, _, _) in enumerate(lines(text), 1)}
    ends = {end for _, _, end in lines(text)}
    if text.startswith("\ufeff"):
        starts[1] = 1
    reached = 0
    for block in scan(text):
        assert reached <= block.start <= block.content <= block.end
        assert block.end > block.start
        assert starts[block.start] == block.line
        assert block.end in ends
        assert text[block.start : block.end].strip(" \t\r\n")
        reached = block.end


@given(documents())
def test_what_lies_between_blocks_is_blank_or_a_definition(text: str) -> None:
    reached = 0
    for start, end in [(block.start, block.end) for block in scan(text)] + [(len(text), len(text))]:
        assert re.fullmatch(r"\ufeff?(?:[ \t\r\n]|\[a\]: /u)*", text[reached:start])
        reached = end


@given(documents())
@settings(max_examples=400)
def test_the_short_cut_changes_nothing(text: str) -> None:
    quick = scan(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "simple_block", lambda: re.compile("(?!)"))
        assert scan(text) == quick
