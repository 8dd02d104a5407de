"""The block scanner against markdown-it-py: kinds, first lines, heading levels, ends of leaves.

Where the two are known to differ, the documents are made so that it does not
matter, each time for a stated reason:

* Front matter and a byte order mark are ours alone: documents here begin with neither.
* NUL becomes U+FFFD there: none is generated.
* Quotes and items are compared by where they begin: markdown-it counts blank lines behind them in.
* A paragraph inside containers goes on lazily in a line that is indented by four columns
  (CommonMark 0.31, 5.1); markdown-it measures such a line from the inner container's
  column, and ends the paragraph: not generated behind nested or wide markers.
* markdown-it takes a quote mark for one when it is indented by four columns, if the line
  before was a quote's (against 5.1): not generated.
* markdown-it lets a link reference definition end at once, so that indented code, a
  lone tag, an empty item or a list from 2 on may follow without a blank line. Here, as in
  the reference implementations, it is part of a paragraph until that ends: such lines
  are not put behind definitions, and no half definition before a setext underline.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memoranda.core.markdown import lines, scan

PARSER = MarkdownIt("commonmark").disable(["inline"])
KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "fence",
    "code_block": "indented",
    "html_block": "html",
    "blockquote_open": "quote",
    "hr": "rule",
}
CONTAINERS = ("quote", "item")

# Kind, first line, last line (0 for containers), heading level.
Shape = tuple[str, int, int, int]

INTERRUPTING = [
    "## a", "   ## b", "#", "##", "#5", "# x ##", "## 名字", "```", "``` py", "``` `", "~~~ x", "~~~",
    "````", "  ```", "<!--", "-->", "<!-- x -->", "<!-- memoranda: a=b -->", "<div>", "</p>", "<div",
    "<script>", "</script> x", "<?", "?>", "<![CDATA[", "]]>", "<!X", "<!-->", "> q", ">", ">> r",
    ">  ", "  > s", "> > q", "- i", "- i", "- j", "1. a", "01. a", "* a", "+ a", "***", "---", "===",
    "--", "- - -", "* * *", "_ _ _", "plain", "more text", "中文。", "", "", "", "  ", "\t",
    "\u3000全角", "**b** c", "*a*", "`c`", "[[x:y]]", "-5", "2026", "\x0c", "\u2028", "\x85", "- - a",
    "- > a", "> - a", "> ```", "- ```", "> # h", "- # h", "-\tx", "  -\tx", "- <!--", "> <!--",
    "- <div>", "-   x", "- * * *", "  x", "   x", " - x", "  - x", "   - x",
]  # fmt: skip
WEAK = [
    "    ## c", "\t## d", "    x", "      x", "\tx", "  \tx", "-     x", "-\t\tx", "1.\tx", "- ", "-",
    "1.", "*", "1) ", "2) b", "2. b", "10. c", "123456789. d", "1234567890. e", "<x>", "<a b='c'>",
    "</script>", "<x y", ">     x", ">\tx",
]  # fmt: skip
DEFINITIONS = [
    "[a]: /u",
    "[a]: /u 'x'",
    "[b]:\n/v",
    '[b]: <v w> "t\nu"',
    "[c]: /u\n(t)",
    "[c\nd]: /u",
    "[[e]]: f",
]


def expected(text: str) -> list[Shape]:
    shapes = []
    for token in PARSER.parse(text):
        kind = KINDS.get(token.type) if token.level == 0 else None
        if token.level == 1 and token.type == "list_item_open":
            kind = "item"
        if kind is not None and token.map is not None:
            level = int(token.tag[1]) if kind == "heading" else 0
            shapes.append((kind, token.map[0] + 1, 0 if kind in CONTAINERS else token.map[1], level))
    return shapes


def scanned(text: str) -> list[Shape]:
    starts = [start for start, _, _ in lines(text)]
    return [(b.kind, b.line, 0 if b.kind in CONTAINERS else bisect_left(starts, b.end), b.level) for b in scan(text)]


INDENTED_QUOTE_MARK = re.compile(r"^(?: {4}| {0,3}\t)[ \t]*>", re.MULTILINE)
MARKERS = re.compile(r"[ \t]*(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]+|>[ \t]?)+")


def is_lazily_indented(text: str) -> bool:
    """Whether a paragraph deep inside containers may go on in a line indented by four columns."""
    deep = False
    for line in text.split("\n"):
        column = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))
        if deep and column >= 4 and line.strip(" \t"):
            return True
        markers = MARKERS.match(line)
        prefix = markers[0].expandtabs(4) if markers else ""
        if not line.strip(" \t"):
            deep = False
        elif len(prefix) > 4 or len(prefix.split()) > 1 or prefix.count(">") > 1:
            deep = True
    return False


def documents(fragments: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(fragments), min_size=1, max_size=9).map(lambda parts: "\n".join(parts) + "\n")


@given(documents(INTERRUPTING + WEAK))
@example("- a\n\n\tb\n\n      c\n-\n\n  d\n")
@example("> - a\nb\n\n> c\n---\n")
@example("1. a\n\n  2. b\n\n    3. c\n")
@settings(max_examples=800)
def test_blocks_agree(text: str) -> None:
    assume(not text.startswith("---"))
    assume(not is_lazily_indented(text))
    assert scanned(text) == expected(text)


@given(documents(INTERRUPTING + 4 * DEFINITIONS))
@settings(max_examples=400)
def test_blocks_agree_with_definitions(text: str) -> None:
    assume(not text.startswith("---"))
    assert scanned(text) == expected(text)


@given(documents(INTERRUPTING + WEAK), st.sampled_from(["\r\n", "\r"]))
def test_line_endings_make_no_difference(text: str, ending: str) -> None:
    assert scanned(text.replace("\n", ending)) == scanned(text)


INLINE = st.text(alphabet="ab#*-_=>`~<!/[]:.) \t1\\中", max_size=12)


@given(st.lists(INLINE, min_size=1, max_size=5).map(lambda parts: "\n".join(parts) + "\n"))
@settings(max_examples=600)
def test_blocks_agree_on_random_lines(text: str) -> None:
    assume(not text.startswith("---"))
    assume(not is_lazily_indented(text))
    assume(not INDENTED_QUOTE_MARK.search(text))
    assume("]:" not in text)  # definitions: see above
    assert scanned(text) == expected(text)


@given(st.lists(INLINE.map(lambda inline: "## " + inline), min_size=1, max_size=3))
def test_heading_texts_agree(parts: list[str]) -> None:
    text = "\n".join(parts)
    tokens = [token for token in PARSER.parse(text) if token.type == "inline" and token.level == 1]
    assert [block.text for block in scan(text)] == [token.content for token in tokens]
