"""Real documents, good and bad, that are not part of this repository."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from memoranda.adapters.converters.pool import ConverterPool, Job, Result

DATA = Path(os.environ.get("MEMORANDA_BENCH_DATA", "."))

pytestmark = [
    pytest.mark.skipif(
        "MEMORANDA_BENCH_DATA" not in os.environ or not (DATA / "docs").is_dir(),
        reason="MEMORANDA_BENCH_DATA names no documents",
    ),
    pytest.mark.skipif(
        find_spec("pypdfium2") is None or find_spec("xlrd") is None, reason="the extra kb is not installed"
    ),
]


def labels(name: str) -> list[dict[str, Any]]:
    path = DATA / "labels" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line] if path.is_file() else []


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Result]]:
    names = [one["document"] for one in labels("outcomes")]
    with ConverterPool() as pool:
        yield dict(zip(names, pool.convert_many(Job(DATA / "docs" / one) for one in names), strict=True))


@pytest.mark.parametrize("label", labels("outcomes"), ids=lambda label: label["document"])
def test_a_document_is_stored_or_refused_for_the_right_reason(
    label: dict[str, Any], results: dict[str, Result]
) -> None:
    found = results[label["document"]]

    assert (found.refused.kind if found.refused else "stored") == label["outcome"], found.refused
    expected = re.search(r"expect=([^;]*)", label["note"])
    if expected and found.converted is not None:
        assert squeezed(expected[1]) in squeezed(found.converted.markdown)
    encoding = re.search(r"encoding=([\w-]+)", label["note"])
    if encoding and found.converted is not None:
        assert found.converted.encoding == encoding[1]
    if found.refused is not None:
        assert "\n" not in str(found.refused)


@pytest.mark.parametrize("label", labels("questions"), ids=lambda label: label["id"])
def test_what_answers_a_question_stands_in_the_markdown(label: dict[str, Any], results: dict[str, Result]) -> None:
    found = results[label["document"]].converted

    assert found is not None
    assert squeezed(label["expect"]) in squeezed(found.markdown)
