"""Tables, JSON and notebooks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.structured import (
    convert_csv,
    convert_json,
    convert_json_lines,
    convert_notebook,
)
from memoranda.core.documents import NotConverted

LIMITS = Limits()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


def csv(text: str, encoding: str = "utf-8") -> str:
    return convert_csv(text.encode(encoding), "csv", "a.csv", LIMITS).markdown


def refusal(convert: object, data: bytes) -> str:
    with pytest.raises(NotConverted) as caught:
        convert(data, "x", "a", LIMITS)  # type: ignore[operator]
    return caught.value.kind


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_whatever_parts_the_cells_the_table_is_the_same(mark: str) -> None:
    assert csv(f"姓名{mark}备注\n王芳{mark}爱喝普洱\n") == "| 姓名 | 备注 |\n| --- | --- |\n| 王芳 | 爱喝普洱 |\n"


def test_quoted_cells_may_hold_commas_bars_and_line_ends() -> None:
    assert csv('a;b\n"x;y|z\n2";"1,5"\n') == "| a | b |\n| --- | --- |\n| x;y\\|z 2 | 1,5 |\n"


def test_rows_of_different_lengths_lose_no_column_and_are_said() -> None:
    made = convert_csv(b"1,2\na,b,c\nd\n", "csv", "a.csv", LIMITS)

    assert made.markdown == "| 1 | 2 |  |\n| --- | --- | --- |\n| a | b | c |\n| d |\n"
    assert made.notes == ("its rows are of different lengths",)


def test_a_table_in_any_encoding_is_read() -> None:
    assert "髙橋淳" in csv("名前,年齢\n佐藤太郎,30\n髙橋淳,35\n", "cp932")
    assert "普洱" in csv("姓名,备注\n王芳,爱喝普洱\n", "gbk")


@given(JSON)
def test_json_keeps_its_value(value: object) -> None:
    made = convert_json(json.dumps(value).encode(), "json", "a.json", LIMITS).markdown

    assert json.loads(made.split("\n", 1)[1].rsplit("\n```", 1)[0].rstrip("`")) == value


def test_json_is_laid_out_with_its_characters_and_numbers_as_they_are() -> None:
    made = convert_json(rb'{"a":[1.50,{}],"b":"\u6d77\n"}', "json", "a.json", LIMITS).markdown

    assert made == '```json\n{\n  "a": [\n    1.50,\n    {}\n  ],\n  "b": "海\\n"\n}\n```\n'


def test_broken_json_is_corrupt_and_deep_json_unsafe() -> None:
    assert refusal(convert_json, b'{"a": [1, 2') == "corrupt"
    assert refusal(convert_json, b"[" * 100_000) == "unsafe"
    assert refusal(convert_json, b" ") == "empty"
    assert refusal(convert_notebook, b'{"cells": [') == "corrupt"
    assert refusal(convert_notebook, b'{"a": 1}') == "corrupt"
    assert refusal(convert_notebook, b'{"cells": []}') == "empty"


def test_lines_of_json_are_kept_even_where_one_is_broken() -> None:
    made = convert_json_lines(b'{"a":1}\n\nbroken\n', "jsonl", "a.jsonl", LIMITS)

    assert made.markdown == '```json\n{"a":1}\nbroken\n```\n'
    assert made.notes == ("1 lines are no JSON",)
    assert refusal(convert_json_lines, b"a\nb\n") == "corrupt"


def test_a_notebook_gives_text_code_and_what_was_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# 笔记\n", "text"]},
        {
            "cell_type": "code",
            "source": "print(42)",
            "outputs": [
                {"output_type": "stream", "text": ["42\n"]},
                {"output_type": "display_data", "data": {"image/png": "xxx", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'a'"},
            ],
        },
        {"cell_type": "code", "source": ""},
    ]
    book = {"metadata": {"kernelspec": {"language": "R`\n"}}, "cells": cells}
    made = convert_notebook(json.dumps(book).encode(), "ipynb", "a.ipynb", LIMITS)

    assert made.title == "笔记"
    assert made.markdown == (
        "# 笔记\ntext\n\n```r\nprint(42)\n```\n\n```\n42\n```\n\n```\n<Figure>\n```\n\n```\nKeyError: 'a'\n```\n"
    )


def test_a_notebook_from_before_version_4_is_read() -> None:
    book = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1"], "outputs": []}]}]}

    assert "a = 1" in convert_notebook(json.dumps(book).encode(), "ipynb", "a.ipynb", LIMITS).markdown
