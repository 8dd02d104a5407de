"""Whether a passage answers a question, and how passages rank the documents that they are from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["CUTOFFS", "best_passages", "hit_figures", "holds", "place_of", "squeeze"]

#: Within how many passages a hit is counted.
CUTOFFS = (1, 3, 10)

_LEFT_OUT = re.compile(r"[\s*_`|\\]+")


def squeeze(text: str) -> str:
    """Text as it is compared: NFKC, case folded, without white space and the signs of markdown in it.

    >>> squeeze("**Mcmillan** and | `Donovan`")
    'mcmillananddonovan'
    """
    return _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text).casefold())


def holds(text: str, expected: str) -> bool:
    """Whether ``expected`` stands in a text, both squeezed. Nothing is held by no text."""
    wanted = squeeze(expected)
    return bool(wanted) and wanted in squeeze(text)


def place_of(expected: str, texts: Iterable[str]) -> int:
    """The place, from 1, of the first text that holds what is expected; 0: none does."""
    return next((place for place, text in enumerate(texts, 1) if holds(text, expected)), 0)


def hit_figures(places: Sequence[int]) -> dict[str, float | int]:
    """How many questions have their answer within each of the :data:`CUTOFFS`, and the mean reciprocal rank."""
    figures: dict[str, float | int] = {"questions": len(places)}
    for cutoff in CUTOFFS:
        figures[f"hit@{cutoff}"] = sum(0 < place <= cutoff for place in places)
    figures["mrr"] = sum(1 / place for place in places if 0 < place <= CUTOFFS[-1]) / len(places) if places else 0.0
    return figures


def best_passages(found: Iterable[str], documents: Mapping[str, Sequence[str]]) -> list[str]:
    """Documents in the order of the best passage of each; passages are addresses such as ``kb/main/doc#id``.

    ``documents`` gives, by an address without its ``#id``, the ids of all that
    have this text. What it does not name is left out.
    """
    ranked: dict[str, None] = {}
    for address in found:
        for one in documents.get(address.rpartition("#")[0], ()):
            ranked.setdefault(one)
    return list(ranked)
