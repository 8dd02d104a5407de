"""Plain sections are read as the block scanner would have it, and nothing that is not plain is taken for it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core import items, plain_sections
from memoranda.core.items import parse, serialize
from memoranda.core.names import PLAIN_NAME, is_item_name, name_key
from memoranda.core.plain_sections import plain_section, read_plain_sections
from memoranda.core.sections import Category, Naming, Section

LINES = [
    "## a", "## b", "## A", "##  c", "##\td", "## ", "##", "## e ##", "## e #", "## f \\#", "##g", "## 喜欢：海边",
    "## e\u0301", "## é", "## a|b", "## [[x]]", "## ~h", "## ^i", "## x\x00", "## x\x0by", "## two  spaces",
    "## ends ", "## straße", "## STRASSE", "## か\u3099", "## が", "# one", "# ", "#", "#tag", "### deep", "###",
    "  ## two", "    ## four", "\t## tab", "```", "``` py", "````", "``` `", "  ```", "    ```", "~~~", "~~~ x",
    "~~~~", "`c`", "- ```", "> ```", "1. ~~~", "<!-- memoranda: owner=user:lin | ts=1 -->",
    "<!-- memoranda: owner=user:lin | ts=2 -->", "<!-- wikimem: mine=x -->", "<!--memoranda: a=b-->",
    "<!-- MEMORANDA: a=b -->", "<!-- memoranda: a=b --> ", "<!-- memoranda: a=b --> x", "x <!-- memoranda: a=b -->",
    " <!-- memoranda: a=b -->", "    <!-- memoranda: a=b -->", "<!-- memoranda: -->", "<!-- memoranda: a -->",
    "<!-- memoranda: a=b | a=c -->", "<!-- memoranda: a=x>y -->", "<!-- memoranda: a=%20x -->",
    "<!-- memoranda: confidence=x -->", "<!-- memoranda: a=b", "-->", "| c=d -->", "<!-- note -->", "<!-- open",
    "<!-->", "<!--->", "<!-- memoranda: form=sections -->", "<!-- memoranda:a=b--->", "- <!-- memoranda: a=b -->",
    "<!-- memoranda: a=b --> <!-- memoranda: c=d -->", "<!-- x --> <!-- memoranda: c=d -->", "---", "===", "--",
    "=", "- - -", "***", "-", "- ", "--- x", "-=-", "  ---", "    ---", "> q", ">", "> - x", "> ## q", "- i",
    "- i ^id", "* j", "1. n", "  - nested", "    code", "   three", " one", "<div>", "</div>", "<x>", "<a@b.c>",
    "<script>", "</script>", "<?", "?>", "<!X", "< b", "<", "<!", "[a]: /u", "[a]: /u 'x", "[[x:y]] text",
    "喜欢海边。", "\u2028", "\x85", "\x0b", "\x00", "\u3000", "\ud800", "\ufeff", "\ufeff## bom", "|---|",
    "<<<<<<< HEAD", "=======", ">>>>>>> x", "___",
]  # fmt: skip
COMMON = ["## a", "## b", "## c d", "text", "more", "", "", "", "<!-- memoranda: owner=user:lin -->", "- i", "```"]


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(LINES) | st.sampled_from(COMMON), max_size=14))
    endings = st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n"] if draw(st.booleans()) else ["\n", "\n\n"])
    text = draw(st.sampled_from(["", "", "\ufeff", "---\n"])) + "".join(line + draw(endings) for line in lines)
    return text.removesuffix("\n") if draw(st.booleans()) else text


@contextmanager
def scanner_alone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (items, plain_sections):
            patch.setattr(module, "plain_section", lambda: re.compile("(?!)"))
        yield


def told(category: Category) -> tuple[object, ...]:
    return (category.sections, category.problems, category.headed, category.open_at)


@given(files())
@example("## a\n```\n## b\n~~~\n```\n## c\n\n<!-- memoranda: a=b -->\n")
@example("## a\n```\nx\n```\n<div>\n## b\n```\n\n## c\n")
@example("## a\n\nx\n\n---\n\ny\n---\n## b\n")
@example("## a\n\n<!-- x --> y\n\n<!--memoranda: a=b-->\n\n## b\n")
@example("## a\n~~~~\n~~~\n## b\n~~~~\n## c\n")
@example("## a\n~~~~\n~~~\n## b\n")
@example("## a\n````\n```\n## b\n")
@settings(max_examples=500, deadline=None)
def test_the_short_way_changes_nothing(text: str) -> None:
    found = parse(text)
    assert serialize(found) == text
    with scanner_alone():
        assert told(parse(text)) == told(found)


@given(st.text(alphabet="# \n`~<!->=ab|:\u4e2d\t[]^.", max_size=60).map(lambda text: "## a\n" + text + "\n## b\n\nx\n"))
@settings(max_examples=500, deadline=None)
def test_the_short_way_changes_nothing_on_random_lines(text: str) -> None:
    found = parse(text)
    with scanner_alone():
        assert told(parse(text)) == told(found)


def plainly(text: str) -> list[Section]:
    """The sections that are read without the scanner; all of the text must be plain."""
    sections: list[Section] = []
    assert read_plain_sections(text, 0, 1, Naming([]), sections)[0] == len(text)
    return sections


@pytest.mark.parametrize(
    "section",
    [
        "## a\n\ntext\n\n<!-- memoranda: owner=user:lin | ts=1 -->\n\n",
        "## 喜欢海边\n喜欢海边。[[x:y]]\n",
        "## a ##\n\n- one\n  - two\n\n1. x\n",
        "## a\n\n```python\n# not a heading\n## neither\n```\n\n~~~\n<div>\n~~~\n",
        "## a\n\n### deeper\n\n#tag **b** `c` < d\n\n---\n\n<!-- a note -->\n\n| a |\n|---|\n",
        "## a\n",
    ],
)
def test_most_sections_are_plain(section: str) -> None:
    two = section + section.replace("## ", "## other ", 1)
    found = plainly(two)
    assert len(found) == 2
    with scanner_alone():
        assert list(parse(two).sections) == found


def test_one_section_that_is_not_plain_leaves_the_others_to_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[int] = []
    plain = items.scan_from

    def counted(text: str, start: int, *rest: object) -> object:
        found = plain(text, start, *rest)  # type: ignore[arg-type]
        scanned.append(found[1] - start)
        return found

    monkeypatch.setattr(items, "scan_from", counted)
    odd = "## odd\n\n<div>\n\n"
    text = "## one\n\nx\n\n" * 50 + odd + "## two\n\ny\n\n" * 50
    assert len(parse(text).sections) == 101
    assert scanned == [len(odd)]


@pytest.mark.parametrize(
    "made",
    [
        "## a\n" + "\n" * 20_000,
        "## a\n" + "x\n" * 10_000 + "# b\n",
        "## a\n" + " " * 20_000 + "x\n",
        "## " + " " * 20_000 + "x",
        "## " + "a " * 10_000 + "#\n",
        "## a\n" + "-" * 20_000 + "x\n",
        "## a\n" + "`" * 20_000 + "\n" + "~" * 20_000 + "\n",
        "## a\n```\n" * 2_000,
        "## a\n<!-- memoranda: a\n" * 1_000,
        "## a\n<!-- memoranda: a -->\n" * 800,
        "## a\n<x\n" * 2_400,
        "## a\n" * 4_000,
        "## a\n```\n## b\n```\n" * 1_000,
    ],
    ids=range(13),
)
def test_the_work_grows_with_the_text_and_no_faster(made: str) -> None:
    left = 60 * len(made)

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise AssertionError("too many lines are executed")
        return count

    before = sys.gettrace()
    sys.settrace(count)  # type: ignore[arg-type]
    try:
        parse(made)
    finally:
        sys.settrace(before)


@given(st.text(max_size=12) | st.from_regex(PLAIN_NAME, fullmatch=True))
def test_a_plain_name_is_its_own_name_and_its_lower_case_the_key(name: str) -> None:
    found = plain_section().match(f"## {name}\n")
    if found is not None and found[1] == name:
        assert is_item_name(name)
        assert plainly(f"## {name}\n")[0].address_name == name
        assert plainly(f"## {name}\n")[0].key == name_key(name)
