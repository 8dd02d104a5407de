"""How well documents are found: every question of a data set asked of several systems, as plain figures.

What :func:`measure` returns can be written as JSON and read back;
:mod:`memoranda_bench.quality_tables` makes markdown of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memoranda_bench.bootstrap import paired
from memoranda_bench.datasets import Collection, DataSet, Question
from memoranda_bench.datasets.locomo import ADVERSARIAL
from memoranda_bench.metrics import CUTOFFS, Scores, average, interval, percentile, score
from memoranda_bench.systems import SystemMissing, SystemUnfit, baseline_for, create

__all__ = ["Answered", "Group", "ask", "chosen", "groups", "measure", "numbers"]

_COMPARED: dict[str, Callable[[Scores], float]] = {
    "R@10": lambda scores: scores.recall_at(10),
    "MRR": lambda scores: scores.mrr,
}


@dataclass(frozen=True, slots=True)
class Answered:
    """One question's outcome; ``collection`` counts from 1, ``seconds`` is what the answer took."""

    collection: int
    question: Question
    scores: Scores
    seconds: float
    empty: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that are reported together; ``compared`` groups get a paired comparison too."""

    name: str
    holds: Callable[[Answered], bool]
    compared: bool = False


def numbers(text: str, last: int) -> list[int]:
    """Read ``1-5``, ``3`` or ``1-3,7``; only those up to ``last`` are given.

    Raises:
        ValueError: it is no such list, or nothing of it is there.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, end = part.strip().partition("-")
        found.update(range(int(first), min(int(end if dash else first), last) + 1))
    wanted = sorted(n for n in found if 1 <= n <= last)
    if not wanted:
        raise ValueError(f"none of 1 to {last} in {text!r}")
    return wanted


def chosen(data_set: DataSet, conversations: str | None) -> list[Collection]:
    """The collections to ask: all, or those that ``conversations`` names (only where there are several)."""
    if conversations is None or len(data_set.collections) == 1:
        return list(data_set.collections)
    wanted = numbers(conversations, len(data_set.collections))
    return [collection for collection in data_set.collections if collection.number in wanted]


def ask(collection: Collection, language: str, system: str, *, k: int = 10, dated: bool = True) -> Iterator[Answered]:
    """Give the documents to a fresh system and ask it every question.

    Raises:
        SystemMissing, SystemUnfit: the system cannot run here, or not on this.
        ValueError: there is no such system.
    """
    running = create(system, language, dated=dated)
    try:
        running.index(collection.documents)
        for question in collection.questions:
            begin = time.perf_counter()
            ranked = running.ask(question.text, max(*CUTOFFS, k))
            seconds = time.perf_counter() - begin
            yield Answered(collection.number, question, score(ranked, question.relevant, k=k), seconds, not ranked)
    finally:
        running.close()


def groups(data_set: DataSet, asked: Sequence[Collection]) -> list[Group]:
    """What is reported together. Of conversations: what was tuned on and what not, and each category by itself."""
    if not any(question.category for collection in asked for question in collection.questions):
        return [Group("all", lambda a: True, compared=True)]

    def usual(one: Answered) -> bool:
        return one.question.category != ADVERSARIAL

    def category(number: int) -> Callable[[Answered], bool]:
        return lambda one: one.question.category == number

    tuned = [c.number for c in asked if c.number in data_set.tuned]
    rest = [c.number for c in asked if c.number not in data_set.tuned]
    if tuned and rest:
        found = [
            Group("categories 1–4, all", usual, compared=True),
            Group(f"categories 1–4, {_span(tuned)} (tuned on)", lambda a: usual(a) and a.collection in tuned),
            Group(f"categories 1–4, {_span(rest)}", lambda a: usual(a) and a.collection in rest, compared=True),
        ]
    else:
        found = [Group(f"categories 1–4, {_span(tuned or rest)}", usual, compared=True)]
    found += [Group(f"category {number}", category(number)) for number in range(1, ADVERSARIAL)]
    found.append(Group(f"category {ADVERSARIAL} (apart)", category(ADVERSARIAL), compared=True))
    return found


def _span(numbers: Sequence[int]) -> str:
    return f"conversations {min(numbers)}–{max(numbers)}" if len(numbers) > 1 else f"conversation {numbers[0]}"


def measure(
    data_set: DataSet,
    systems: Sequence[str],
    *,
    conversations: str | None = None,
    baseline: str | None = None,
    k: int = 10,
    dated: bool = True,
    strict: bool = False,
) -> dict[str, Any]:
    """Ask every system every question; figures by group, and the paired comparison with the baseline.

    What is not installed is named in ``skipped`` (unless ``strict``), what is
    not meant for the language in ``unfit``.

    Raises:
        ValueError: there is no such system or conversation.
        SystemMissing: ``strict``, and a package is not installed.
    """
    asked = chosen(data_set, conversations)
    against = baseline or baseline_for(data_set.language)
    wanted = [*dict.fromkeys([*systems, *([baseline] if baseline else [])])]
    answers: dict[str, list[Answered]] = {}
    skipped: dict[str, str] = {}
    unfit: dict[str, str] = {}
    for system in wanted:
        begin = time.perf_counter()
        try:
            found = [a for one in asked for a in ask(one, data_set.language, system, k=k, dated=dated)]
        except SystemUnfit as error:
            unfit[system] = str(error)
            continue
        except SystemMissing as error:
            if strict:
                raise
            skipped[system] = str(error)
            continue
        answers[system] = found
        print(f"{data_set.name}: {system}, {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    reported = groups(data_set, asked)
    return {
        "set": data_set.name,
        "language": data_set.language,
        "collections": [collection.name for collection in asked],
        "dropped": sum(collection.dropped for collection in asked),
        "k": k,
        "dated": dated,
        "systems": {system: _figures(found, reported) for system, found in answers.items()},
        "skipped": skipped,
        "unfit": unfit,
        "baseline": against if against in answers else None,
        "gains": _gains(answers, against, reported) if against in answers else [],
    }


def _figures(answers: Sequence[Answered], reported: Sequence[Group]) -> dict[str, Any]:
    times = [one.seconds * 1000 for one in answers]
    by_group = {}
    for group in reported:
        if held := [one for one in answers if group.holds(one)]:
            mean = average([one.scores for one in held])
            by_group[group.name] = {
                "n": len(held),
                "recall": {str(cutoff): mean.recall_at(cutoff) for cutoff in CUTOFFS},
                "ndcg": mean.ndcg,
                "mrr": mean.mrr,
                "interval": interval([one.scores.recall_at(10) for one in held]),
                "empty": sum(one.empty for one in held),
            }
    return {"ms": {"p50": percentile(times, 0.5), "p95": percentile(times, 0.95)}, "groups": by_group}


def _gains(answers: dict[str, list[Answered]], against: str, reported: Sequence[Group]) -> list[dict[str, Any]]:
    """By group and system: mean, lower and upper end of the gain over the baseline in recall@10 and MRR."""
    found = []
    for group in (group for group in reported if group.compared):
        pairs = [place for place, one in enumerate(answers[against]) if group.holds(one)]
        for system in (system for system in answers if system != against and pairs):
            row: dict[str, Any] = {"group": group.name, "system": system, "n": len(pairs)}
            for metric, value in _COMPARED.items():
                ours, theirs = ([value(answers[name][p].scores) for p in pairs] for name in (system, against))
                gain = paired(ours, theirs)
                row[metric] = {"mean": gain.mean, "lower": gain.lower, "upper": gain.upper}
            found.append(row)
    return found
