"""Real texts to embed: the turns of conversations, and the sentences of passages, in English and Chinese."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from memoranda_bench import datasets
from memoranda_bench.datasets import DataMissing, DataSet
from memoranda_bench.embedded import document_texts

__all__ = ["questions", "sentences", "texts"]

_TURNS = ("locomo", "locomo-zh")
_PASSAGES = ("cmrc2018", "cranfield")
_ASKED = ("locomo", "cmrc2018")
# Characters that a sentence has at least and at most: below it says nothing by itself, above it is a table or a list.
_LENGTHS = {"en": (25, 150), "zh": (8, 50)}


def sentences(text: str, language: str) -> Iterator[str]:
    """The sentences of a text that are neither very short nor very long."""
    least, most = _LENGTHS[language]
    ends = r"(?<=[。！？；])" if language == "zh" else r"(?<=[.!?])\s+"
    for part in re.split(ends, text):
        if least <= len(sentence := part.strip()) <= most:
            yield sentence


def texts(data: str | None) -> list[str]:
    """All there are, each once: turns as memoranda embeds them, then sentences in an order that is always the same.

    Raises:
        DataMissing: no set is there.
    """
    found = [
        text
        for data_set in _present(data, _TURNS)
        for collection in data_set.collections
        for text in document_texts(collection.documents)
    ]
    cut = [
        sentence
        for data_set in _present(data, _PASSAGES)
        for collection in data_set.collections
        for document in collection.documents
        for sentence in sentences(document.text, data_set.language)
    ]
    if not found and not cut:
        raise DataMissing("real embeddings need locomo, locomo-zh, cmrc2018 or cranfield")
    cut = list(dict.fromkeys(cut))
    random.Random("sentences").shuffle(cut)
    return list(dict.fromkeys(found + cut))


def questions(data: str | None, count: int, seed: int) -> list[str]:
    """Questions of people, from every set alike, in an order that the seed gives.

    Raises:
        DataMissing: no set with questions is there.
    """
    by_set = []
    for data_set in _present(data, _ASKED):
        asked = list(dict.fromkeys(q.text for collection in data_set.collections for q in collection.questions))
        random.Random(f"questions {seed} {data_set.name}").shuffle(asked)
        by_set.append(asked)
    if not by_set:
        raise DataMissing("real questions need locomo or cmrc2018")
    found = [asked[place] for place in range(max(map(len, by_set))) for asked in by_set if place < len(asked)]
    return found[:count]


def _present(data: str | None, names: tuple[str, ...]) -> Iterator[DataSet]:
    for name in names:
        try:
            yield from datasets.load(name, data)
        except DataMissing:
            continue
