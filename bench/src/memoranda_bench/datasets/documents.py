"""Documents of many formats (PDF, DOCX, HTML, mail, ...) with questions and the text that an answer must contain."""

from __future__ import annotations

import json

from memoranda_bench.datasets.model import DataSet, SetSkipped, find_file

__all__ = ["FILES", "load"]

FILES = ("labels/questions.jsonl",)


def load(data: str | None) -> DataSet:
    """The set ``docs``. It measures conversion and passages, so a subset of plain texts would say nothing.

    Raises:
        DataMissing: it is not there.
        SetSkipped: always; ``knowledge documents`` takes the files in and asks.
    """
    with open(find_file(data, *FILES), encoding="utf-8") as stream:
        questions = [json.loads(line) for line in stream if line.strip()]
    raise SetSkipped(
        f"docs: {len(questions)} questions over documents of every format; `memoranda-bench knowledge documents` "
        "takes these in and asks"
    )
