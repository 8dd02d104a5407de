"""The front matter of notes, as far as notes make use of YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.properties import first_of, read_properties, texts_of


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("a: 1", {"a": "1"}),
        ("Date Created: 2022-06-20 10:00", {"date created": "2022-06-20 10:00"}),
        ('a: "x: \\"y\\"" # c', {"a": 'x: "y"'}),
        ("a: 'it''s' # c", {"a": "it's"}),
        ("a: b # c", {"a": "b"}),
        ("a:\n- x\n- 'y, z'\nb: 2", {"a": ["x", "y, z"], "b": "2"}),
        ('a:\n  - "[[X]]"\n  -\n  - y', {"a": ["[[X]]", "y"]}),
        ('a: [x, "y, z", [[w]]]', {"a": ["x", "y, z", "[[w]]"]}),
        ("a: [x,\n  y]\nb: 2", {"a": ["x", "y"], "b": "2"}),
        ("a: |\n  one\n  two\nb: >\n  three\n  four", {"a": "one\ntwo", "b": "three four"}),
        ("m:\n  type: project\n  more:\n    deep: 1", {"m.type": "project", "m.more": [], "m": []}),
        ("a:\nb: []\nc: null", {"a": [], "b": [], "c": ""}),
        ("# a: 1\n\nb: 2", {"b": "2"}),
        ("标签: 甲", {"标签": "甲"}),
        ("url: http://x.y/z", {"url": "http://x.y/z"}),
        ("a: [x", {"a": ["x"]}),
        ("nonsense\na: 1", {"a": "1"}),
    ],
)  # fmt: skip
def test_values(rows: str, expected: dict[str, object]) -> None:
    for newline in ("\n", "\r\n"):
        text = f"---\n{rows}\n---\nbody\n".replace("\n", newline)
        properties, end = read_properties(text)
        assert properties == expected
        assert text[end:] == f"body{newline}"


def test_a_note_without_front_matter_has_no_properties() -> None:
    for text in ("", "a: 1", "---\na: 1\n", "text\n---\na: 1\n---\n"):
        assert read_properties(text) == ({}, 0)


def test_looking_up() -> None:
    properties, _ = read_properties("---\ntags: a, b\nalias: [b, c]\nempty:\n---\n")
    assert texts_of(properties, "tags", "alias") == ["a", "b", "c"]
    assert first_of(properties, "empty", "alias") == "b"
    assert first_of(properties, "none") == ""


@given(st.lists(st.sampled_from([*":-[]\"'#|> \nab,\\", "\n  ", "\n- "]), max_size=80))
def test_nothing_raises(rows: list[str]) -> None:
    properties, end = read_properties(f"---\n{''.join(rows)}\n---\n")
    assert end >= 0
    for value in properties.values():
        assert isinstance(value, str) or all(isinstance(one, str) and one for one in value)


@pytest.mark.parametrize(
    "row", ["a" + " " * 50_000 + "b", "a: [" + "'" * 50_000, "a: '" + "''" * 25_000, "- " * 25_000]
)
def test_long_rows_are_read_in_linear_time(row: str) -> None:
    read_properties(f"---\n{row}\n---\n")
