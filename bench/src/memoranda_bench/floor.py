"""Knowing when there is nothing: what the product's floor of evidence keeps silent about, and what it costs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoranda_bench.datasets import Collection, DataSet, Question
from memoranda_bench.datasets.unanswerable import speakers, without_names
from memoranda_bench.quality import chosen
from memoranda_bench.systems import create
from memoranda_bench.systems.ours import Ours, without_floor

__all__ = ["Decision", "count", "measure_floor"]

_TOP = 10


@dataclass(frozen=True, slots=True)
class Decision:
    """One question's answer with the floor, and how many relevant hits there are with and without it.

    ``bare`` hits are those of the question with the speakers' names taken out,
    as they are out of every unanswerable one.
    """

    collection: int
    question: Question
    nothing: bool
    no_match: bool
    weak_only: bool
    hits: int
    hits_without: int
    bare_hits: int = 0
    bare_hits_without: int = 0


def _decide(collection: Collection, system: Ours, floor_off: Any) -> Iterator[Decision]:
    names = speakers(collection)

    def hits(text: str, question: Question) -> tuple[int, int]:
        """How many relevant hits there are with the floor and without."""
        held = _relevant(system, system.retrieve(text, _TOP), question)
        if floor_off is None:
            return held, held
        return held, _relevant(system, system.retrieve(text, _TOP, floor_off), question)

    for question in collection.questions:
        found = system.retrieve(question.text, _TOP)
        answered = Decision(
            collection.number,
            question,
            nothing=not found.hits,
            no_match=found.no_match,
            weak_only=all(hit.weak for hit in found.hits),
            hits=0,
            hits_without=0,
        )
        if question.relevant:
            held, without = hits(question.text, question)
            bare, bare_without = hits(without_names(question.text, names), question)
            answered = replace(
                answered, hits=held, hits_without=without, bare_hits=bare, bare_hits_without=bare_without
            )
        yield answered


def _relevant(system: Ours, found: Any, question: Question) -> int:
    return len(set(question.relevant).intersection(system.ids(found)[:_TOP]))


def count(decisions: Sequence[Decision]) -> dict[str, int]:
    """The decisions added up, unanswerable and answerable questions apart."""
    strange = [d for d in decisions if not d.question.relevant]
    own = [d for d in decisions if d.question.relevant]
    return {
        "unanswerable": len(strange),
        "nothing": sum(d.nothing for d in strange),
        "no_match": sum(d.no_match for d in strange),
        "weak_only": sum(d.weak_only for d in strange),
        "answerable": len(own),
        "silenced": sum(d.nothing for d in own),
        "hits": sum(d.hits for d in own),
        "hits_without": sum(d.hits_without for d in own),
        "bare_hits": sum(d.bare_hits for d in own),
        "bare_hits_without": sum(d.bare_hits_without for d in own),
    }


def measure_floor(data_set: DataSet, systems: Sequence[str], *, conversations: str | None = None) -> dict[str, Any]:
    """Ask ours (and its variations among ``systems``) what can and what cannot be answered.

    Raises:
        ValueError: there is no such conversation or setting.
    """
    asked = chosen(data_set, conversations)
    floor_off = without_floor()
    found: dict[str, dict[str, dict[str, int]]] = {}
    for name in systems:
        if name.partition(":")[0] != "ours":
            continue
        begin = time.perf_counter()
        decisions: list[Decision] = []
        for collection in asked:
            system = create(name, data_set.language)
            assert isinstance(system, Ours)
            try:
                system.index(collection.documents)
                decisions += _decide(collection, system, floor_off)
            finally:
                system.close()
        print(f"unanswerable: {data_set.language}, {name}, {time.perf_counter() - begin:.1f} s", file=sys.stderr)
        counted = ((group, [d for d in decisions if holds(d)]) for group, holds in _groups(data_set))
        found[name] = {group: count(held) for group, held in counted if held}
    return {
        "set": "unanswerable",
        "language": data_set.language,
        "collections": [collection.name for collection in asked],
        "has_floor": floor_off is not None,
        "systems": found,
    }


def _groups(data_set: DataSet) -> list[tuple[str, Callable[[Decision], bool]]]:
    found: list[tuple[str, Callable[[Decision], bool]]] = [("all", lambda d: True)]
    if tuned := data_set.tuned:
        rest = [c.number for c in data_set.collections if c.number not in tuned]
        found.append((f"conversations {min(tuned)}–{max(tuned)} (tuned on)", lambda d: d.collection in tuned))
        if rest:
            found.append((f"conversations {min(rest)}–{max(rest)}", lambda d: d.collection not in tuned))
    found.append(("categories 1–4", lambda d: d.question.category in range(1, 5)))
    return found
