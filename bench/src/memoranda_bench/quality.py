"""How well turns are found: recall, nDCG and MRR of retrieval over whole conversations."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memoranda import Vault
from memoranda_bench.locomo import Conversation, Question
from memoranda_bench.metrics import CUTOFFS, Scores, average, interval, score

__all__ = ["Answered", "ask", "numbers", "report"]

ADVERSARIAL = 5
TUNED_ON = range(1, 6)


@dataclass(frozen=True, slots=True)
class Answered:
    """One question's outcome; ``conversation`` counts from 1, ``seconds`` is what retrieve took."""

    conversation: int
    question: Question
    scores: Scores
    seconds: float
    empty: bool


def numbers(text: str, last: int) -> list[int]:
    """Read ``1-5``, ``3`` or ``1-3,7``; only those up to ``last`` are given.

    Raises:
        ValueError: it is no such list, or nothing of it is there.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, end = part.strip().partition("-")
        found.update(range(int(first), int(end if dash else first) + 1))
    chosen = sorted(n for n in found if 1 <= n <= last)
    if not chosen:
        raise ValueError(f"none of 1 to {last} in {text!r}")
    return chosen


def _turn_id(address: str) -> str:
    return address.rpartition("#")[2]


def ask(conversation: Conversation, number: int, *, k: int = 10) -> Iterator[Answered]:
    """Put a conversation into a fresh vault and ask all of its questions."""
    with (
        tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder,
        Vault.open(os.path.join(folder, "v")) as vault,
    ):
        imported = vault.import_turns(conversation.turns)
        if imported.problems or imported.added != len(conversation.turns):
            raise RuntimeError(
                f"{conversation.name}: {imported.added} of {len(conversation.turns)} turns imported"
            )
        for question in conversation.questions:
            begin = time.perf_counter()
            found = vault.retrieve(question.text, k=max(CUTOFFS), levels=("resource",), deadline=None)
            seconds = time.perf_counter() - begin
            ranked = [_turn_id(str(hit.address)) for hit in found.hits]
            yield Answered(number, question, score(ranked, question.evidence, k=k), seconds, not ranked)


def _row(name: str, answered: Sequence[Answered]) -> str:
    mean = average([a.scores for a in answered])
    recall = [f"{value:.3f}" for value in mean.recall]
    half = interval([a.scores.recall[CUTOFFS.index(10)] for a in answered])
    figures = [
        *recall,
        f"{mean.ndcg:.3f}",
        f"{mean.mrr:.3f}",
        f"±{half:.3f}",
        str(sum(a.empty for a in answered)),
    ]
    return f"| {name} | {len(answered)} | " + " | ".join(figures) + " |"


def report(answered: Sequence[Answered], *, k: int = 10) -> str:
    """A table in markdown: all, what was tuned on, what was not, and LoCoMo's category 5 apart."""
    usual = [a for a in answered if a.question.category != ADVERSARIAL]
    groups = [
        ("categories 1–4, all", usual),
        ("conversations 1–5", [a for a in usual if a.conversation in TUNED_ON]),
        ("conversations 6–10", [a for a in usual if a.conversation not in TUNED_ON]),
        *(
            (f"category {c}", [a for a in answered if a.question.category == c])
            for c in range(1, ADVERSARIAL + 1)
        ),
    ]
    heads = [*(f"R@{cutoff}" for cutoff in CUTOFFS), f"nDCG@{k}", "MRR", "R@10 95 %", "empty"]
    lines = ["| questions | n | " + " | ".join(heads) + " |", "| --- " * (len(heads) + 2) + "|"]
    lines += [_row(name, group) for name, group in groups if group]
    times = sorted(a.seconds * 1000 for a in answered)
    middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
    lines += ["", f"retrieve: median {middle:.1f} ms, 95th percentile {late:.1f} ms"]
    return "\n".join(lines)
