"""Notes are cut without loss, and what is made of them can stand as an item's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.note_text import parts_of, settled, without_empty_headings
from memoranda.core.bodies import check_body

_PIECES = [*"#=-`~>* \n\t1.ab[]|", "```", "## ", "\n\n", "<!--", "-->", "<!-- memoranda: a=b -->", "\r"]
_PIECES += ["<pre>", "</PRE>", "<script", "<Style>", "<textarea>", "<?", "?>", "<!X", "<![CDATA[", "]]>", "<div>"]
_MARKDOWN = st.lists(st.sampled_from(_PIECES), max_size=60).map("".join)


def test_a_note_is_cut_at_its_headings() -> None:
    text = "intro\n\n# A\nx\n\n## B\ny\n### C\nz\n```\n## no\n```\n\nD\n---\nw\n"
    assert [(p.heading, p.level, p.text, (p.line, p.text_line), p.within) for p in parts_of(text)] == [
        (None, 0, "intro", (1, 1), ()),
        ("A", 1, "x", (3, 4), ()),
        ("B", 2, "y\n### C\nz\n```\n## no\n```", (6, 7), ("C",)),
        ("D", 2, "w", (14, 16), ()),
    ]
    (rule,) = parts_of("---\n\na\n")
    assert rule.text == "---\n\na"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\nb", "### A\nb"),
        ("#### A\nb", "#### A\nb"),
        ("A\nB\n===\nc", "### A B\nc"),
        ("#\nb", "b"),
        ("a\n\n```py\n## b", "a\n\n```py\n## b\n```"),
        ("~~~~\nb", "~~~~\nb\n~~~~"),
        ("a\n\n<!-- memoranda: trust=high -->\n\nb", "a\n\n\n\nb"),
        ("a\r\n## b\rc", "a\n### b\nc"),
        ("a\n\n  <!-- b", "a\n\n  <!-- b\n-->"),
        ("<PRE>\nx\n\ny", "<PRE>\nx\n\ny\n</pre>"),
        ("<?x\n", "<?x\n?>"),
    ],
)
def test_settled(text: str, expected: str) -> None:
    assert settled(text) == expected
    check_body(expected)


@given(_MARKDOWN)
def test_a_settled_text_can_stand_as_an_item(text: str) -> None:
    once = settled(text)
    if once.strip():
        check_body(once)


def test_empty_headings_go() -> None:
    text = "# Note\n\n## Observations\n\n## Relations\n\n- x\n\n### deep\n\n#### deeper\n"
    assert without_empty_headings(text, "note") == "## Relations\n\n- x"
    assert without_empty_headings("# Other\n\nx", "note") == "# Other\n\nx"
    assert without_empty_headings("# A\n## B\n", "note") == ""
    assert without_empty_headings("## A\n### B\nx\n## C\n# D\ny", "") == "## A\n### B\nx\n# D\ny"
