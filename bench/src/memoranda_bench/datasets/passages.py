"""Sets of isolated passages: CMRC 2018 (Chinese, one passage a question) and Cranfield (English, graded)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

from memoranda_bench.datasets.model import Collection, DataSet, Document, Question, find_file

__all__ = ["CMRC2018", "CRANFIELD", "load_cmrc2018", "load_cranfield"]

CMRC2018 = ("cmrc2018/cmrc2018_dev.json",)
CRANFIELD = ("cranfield/cran.all.1400.xml", "cranfield/cran.qry.xml", "cranfield/cranqrel.trec.txt")


def load_cmrc2018(data: str | None) -> DataSet:
    """The development part of CMRC 2018; the passage that a question was written for is the relevant one.

    Raises:
        DataMissing: it is not there.
    """
    with open(find_file(data, *CMRC2018), encoding="utf-8") as stream:
        articles = json.load(stream)["data"]
    documents: list[Document] = []
    questions: list[Question] = []
    for article in articles:
        for passage in article["paragraphs"]:
            documents.append(Document(passage["id"], _line(passage["context"]), order=len(documents)))
            questions += [Question(qa["question"], {passage["id"]: 1}) for qa in passage["qas"]]
    return DataSet("cmrc2018", "zh", (Collection("cmrc2018", 1, tuple(documents), tuple(questions)),))


def load_cranfield(data: str | None) -> DataSet:
    """The Cranfield collection; the qrels number the queries by their position in the file.

    Abstracts without text (there are two) take no part; questions without a
    judged document are dropped.

    Raises:
        DataMissing: it is not there.
    """
    abstracts, queries, qrels = (_read(data, relative) for relative in CRANFIELD)
    documents: list[Document] = []
    for record in re.findall(r"<doc>(.*?)</doc>", abstracts, re.DOTALL):
        # The text begins with the title.
        text = _line(_element(record, "text"))
        if text:
            documents.append(Document(_line(_element(record, "docno")), text, order=len(documents)))
    known = {document.id for document in documents}
    judged: dict[int, dict[str, int]] = {}
    for query, document, grade in _judgements(qrels):
        if grade > 0 and document in known:
            judged.setdefault(query, {})[document] = grade
    texts = [_line(_element(record, "title")) for record in re.findall(r"<top>(.*?)</top>", queries, re.DOTALL)]
    questions = tuple(Question(text, judged[n]) for n, text in enumerate(texts, 1) if n in judged)
    found = Collection("cranfield", 1, tuple(documents), questions, len(texts) - len(questions))
    return DataSet("cranfield", "en", (found,))


def _read(data: str | None, relative: str) -> str:
    with open(find_file(data, relative), encoding="utf-8") as stream:
        return stream.read()


def _element(record: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", record, re.DOTALL)
    return unescape(found[1]) if found else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _judgements(qrels: str) -> Iterator[tuple[int, str, int]]:
    """Query, document and grade of each line of TREC qrels."""
    for line in qrels.split("\n"):
        fields = line.split()
        if len(fields) == 4:
            yield int(fields[0]), fields[2], int(fields[3])
