"""Many small made-up documents: text and markdown, English and Chinese. The same seed gives the same bytes."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

from memoranda_bench.speed.words import Drawer, chinese, english

__all__ = ["KINDS", "documents", "write"]

#: Language and ending of the documents, in turn.
KINDS = (("en", "md"), ("zh", "txt"), ("en", "txt"), ("zh", "md"))

_A_FOLDER = 500
_PARAGRAPHS = (3, 7)
_SENTENCES = (2, 6)
_WORDS = (6, 18)


def documents(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """The first ``count`` of the documents: where each lies below their folder, and its text."""
    drawers = {"en": english(seed), "zh": chinese(seed)}
    for number in range(count):
        language, ending = KINDS[number % len(KINDS)]
        chance = random.Random(f"{seed} {number}")
        text = _text(chance, drawers[language], language, marked=ending == "md")
        yield f"{number // _A_FOLDER:03}/{number:06}.{ending}", text


def write(folder: str, count: int, seed: int = 0) -> int:
    """Write the first ``count`` of the documents; how many bytes they are."""
    size = 0
    for relative, text in documents(count, seed):
        path = os.path.join(folder, *relative.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = text.encode()
        size += len(data)
        with open(path, "wb") as stream:
            stream.write(data)
    return size


def _text(chance: random.Random, drawer: Drawer, language: str, *, marked: bool) -> str:
    parts = []
    for number in range(chance.randint(*_PARAGRAPHS)):
        if marked and number % 2 == 0:
            parts.append(f"{'#' if number == 0 else '##'} {_sentence(chance, drawer, language)[:-1]}")
        sentences = [_sentence(chance, drawer, language) for _ in range(chance.randint(*_SENTENCES))]
        if marked and number % 3 == 2:
            parts.append("\n".join(f"- {sentence}" for sentence in sentences))
        else:
            parts.append(("" if language == "zh" else " ").join(sentences))
    return "\n\n".join(parts) + "\n"


def _sentence(chance: random.Random, drawer: Drawer, language: str) -> str:
    words = drawer.draw(chance, chance.randint(*_WORDS))
    return "".join(words) + "。" if language == "zh" else " ".join(words).capitalize() + "."
