from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.frontmatter import check_front_matter

ORDINARY = """\
---
# a comment
title: A plain title, with:no-space colons and "quotes" inside
"quoted key": 'it''s fine'
url: https://example.org/a:b?c=d#e   # comment
date: 2026-07-10T03:00:00Z
empty:
tags: [a, "b, c", 'd: e', [nested]]
tags2:
- x
- "y": z
  more: 1
-
  - nested
aliases:
  - "[[A link|shown]]"
  - plain: "value" # comment
    list:
      - 1
map: {a: 1, b: "two"}
multi: [
  a,
  b
]
text: |
  anything: "goes
  \ttab too is text here
folded: >-
  # no comment

  more
quoted: "goes on
  in the next line"
long: plain text that
  goes on here
anchor: &a value
alias: *a
related: [[link]]
"":
? complex
: value
海: 边
date2: {{date}}
...
## body "with" : anything
"""


def test_ordinary_front_matter_is_fine():
    assert check_front_matter(ORDINARY) == []
    assert check_front_matter("\ufeff" + ORDINARY.replace("\n", "\r\n")) == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('description: "abc "def" ghi"', 'text behind the closing "'),
        ("description: 'abc' def", "text behind the closing '"),
        ('- "a" b', "text behind the closing"),
        ('title: "open', "is not closed"),
        ("title: 'it''s", "is not closed"),
        ("\ttitle: x", "tabs"),
        ("just words", "neither 'key: value' nor a list entry"),
        ("key:value", "neither"),
        ("links: [[a]], [[b]]", "text behind the closing bracket"),
        ("tags: [a, b", "a bracket is not closed"),
        ("title: one: two", "needs quotes"),
    ],
)
def test_faults(row, message):
    ((line, found),) = check_front_matter(f"---\nfine: 1\n{row}\n---\n")
    assert line == 3
    assert message in found


def test_goes_on_behind_a_fault():
    text = '---\na: "open\nb: "x" y\nwords\nc: 1\n---\n'
    assert [line for line, _ in check_front_matter(text)] == [2, 3, 4]


@pytest.mark.parametrize(
    "text",
    ["", "x", "---", "---\nwords\n", "--- x\nwords\n---\n", " ---\nwords\n---\n", "----\nwords\n---\n"],
)
def test_no_front_matter_no_fault(text):
    assert check_front_matter(text) == []


@given(
    st.lists(
        st.sampled_from(["a: ", "- ", '"', "'", "[", "{", "]", "|", "\n", "\n  ", "\t", "x", ": ", "#", "? "])
    ).map("".join)
)
def test_never_raises_and_names_a_line_within(body):
    text = f"---\n{body}\n---\n"
    assert all(1 < line <= text.count("\n") for line, _ in check_front_matter(text))
