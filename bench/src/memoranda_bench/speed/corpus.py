"""A made-up memory of any size: short items in two languages in 200 category files, and questions about some of them.

The same seed gives the same bytes. A finished set is kept in its folder and
used again::

    items.tsv         one item a line: address, text
    memory/*.md       the same items as category files
    corpus.json       figures, and the questions with their answers
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TextIO

from memoranda_bench.speed.words import Drawer, chinese, english

__all__ = ["CATEGORIES", "Corpus", "Item", "SpeedQuestion", "items", "joined", "make"]

CATEGORIES = 200
#: To be raised with every change of what is made.
_VERSION = 1
_MOST_QUESTIONS = 1000
_DONE = "corpus.json"
_EVERY = 100_000
_BEGIN = datetime(2015, 1, 1)
_FIRST_WIDE = "\u3400"


@dataclass(frozen=True, slots=True)
class Item:
    """One item, with its words as drawn and which of them carry meaning."""

    address: str
    text: str
    ts: str
    source: str
    words: tuple[str, ...]
    content: frozenset[str]


@dataclass(frozen=True, slots=True)
class SpeedQuestion:
    """Three to eight words of one item in their order; ``content`` is the same without function words."""

    text: str
    content: str
    address: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A finished set on disk; ``folder`` holds what the module describes, ``bytes`` is the markdown's size."""

    folder: str
    items: int
    seed: int
    bytes: int
    stop_share: float
    questions: tuple[SpeedQuestion, ...]

    @property
    def memory(self) -> str:
        """The folder of category files."""
        return os.path.join(self.folder, "memory")

    def read(self) -> Iterator[tuple[str, str]]:
        """Address and text of every item, from disk."""
        with open(os.path.join(self.folder, "items.tsv"), encoding="utf-8", newline="\n") as stream:
            for line in stream:
                address, _, text = line[:-1].partition("\t")
                yield address, text


def joined(words: Sequence[str]) -> str:
    """The words as text: Chinese ones without blanks between them."""
    text = words[0]
    for before, word in pairwise(words):
        text += word if before[0] >= _FIRST_WIDE and word[0] >= _FIRST_WIDE else " " + word
    return text


def items(count: int, seed: int) -> Iterator[Item]:
    """The items: half English, four in ten Chinese, one in ten Chinese with English words behind.

    English ones have 20 to 32 words, Chinese ones some 14 characters: about 26
    tokens each.
    """
    chance = random.Random(f"items {seed} {count}")
    latin, wide = english(seed), chinese(seed)
    stop = latin.stop | wide.stop
    categories = [f"{latin.content[n]}-notes" for n in range(CATEGORIES)]
    taken: dict[str, int] = {}
    for number in range(count):
        kind = chance.random()
        if kind < 0.5:
            words = latin.draw(chance, chance.randint(20, 32))
        elif kind < 0.9:
            words = _characters(wide, chance, chance.randint(12, 16))
        else:
            words = _characters(wide, chance, chance.randint(6, 8)) + latin.draw(chance, chance.randint(11, 15))
        telling = [word for word in words if word not in stop]
        name = f"{categories[number % CATEGORIES]}:{'-'.join(telling[:2]) or 'note'}"
        taken[name] = taken.get(name, 0) + 1
        address = name if taken[name] == 1 else f"{name}-{taken[name]}"
        text = joined(words) + ("。" if words[-1][0] >= _FIRST_WIDE else ".")
        ts = (_BEGIN + timedelta(minutes=5 * number)).isoformat() + "Z"
        source = f"turn/conv_{number // 40}#{number % 40 + 1}"
        yield Item(address, text, ts, source, tuple(words), frozenset(telling))


def _characters(wide: Drawer, chance: random.Random, count: int) -> list[str]:
    """Chinese words of ``count`` characters, or one more, together."""
    drawn, length = [], 0
    for word in wide.draw(chance, count):
        drawn.append(word)
        length += len(word)
        if length >= count:
            break
    return drawn


def _question(item: Item, chance: random.Random) -> SpeedQuestion | None:
    """Words of the item, one of them with a meaning; ``None`` if it has none such."""
    if not item.content:
        return None
    while True:
        places = sorted(chance.sample(range(len(item.words)), min(chance.randint(3, 8), len(item.words))))
        words = [item.words[place] for place in places]
        if content := [word for word in words if word in item.content]:
            return SpeedQuestion(joined(words), joined(content), item.address)


def make(work: str, count: int, seed: int, progress: Callable[[int], None] | None = None) -> Corpus:
    """The set of ``count`` items below ``work``: the one that is there, or a new one.

    ``progress`` is told how many items are written.
    """
    folder = os.path.join(work, f"corpus-{_VERSION}-{seed}-{count}")
    try:
        return _read(folder)
    except (OSError, ValueError, TypeError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "memory"))
    chance = random.Random(f"questions {seed} {count}")
    asked = set(chance.sample(range(count), min(count, _MOST_QUESTIONS)))
    questions: list[SpeedQuestion] = []
    words = function_words = 0
    with ExitStack() as stack:
        flat = stack.enter_context(_open(os.path.join(folder, "items.tsv")))
        files: dict[str, TextIO] = {}
        for number, item in enumerate(items(count, seed)):
            category, _, name = item.address.partition(":")
            if category not in files:
                files[category] = stack.enter_context(_open(os.path.join(folder, "memory", f"{category}.md")))
                files[category].write(f"# {category}\n")
            comment = f"<!-- memoranda: owner=user:lin | source={item.source} | ts={item.ts} -->"
            files[category].write(f"\n## {name}\n\n{item.text}\n\n{comment}\n")
            flat.write(f"{item.address}\t{item.text}\n")
            words += len(item.words)
            function_words += sum(word not in item.content for word in item.words)
            if number in asked and (question := _question(item, chance)):
                questions.append(question)
            if progress and (number + 1) % _EVERY == 0:
                progress(number + 1)
    chance.shuffle(questions)
    size = sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "memory")))
    corpus = Corpus(folder, count, seed, size, function_words / words, tuple(questions))
    record = asdict(corpus) | {"folder": ""}
    # Written last: a folder without it was cut short and is made anew.
    with _open(os.path.join(folder, _DONE)) as stream:
        json.dump(record, stream, ensure_ascii=False, indent=0)
    return corpus


def _open(path: str) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="\n")


def _read(folder: str) -> Corpus:
    with open(os.path.join(folder, _DONE), encoding="utf-8") as stream:
        record = json.load(stream)
    questions = tuple(SpeedQuestion(**question) for question in record["questions"])
    return Corpus(**record | {"folder": folder, "questions": questions})
