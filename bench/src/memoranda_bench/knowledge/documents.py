"""Real documents of every format: what became of each beside its label, and questions that passages must answer."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda import Vault
from memoranda_bench.datasets import DataMissing
from memoranda_bench.knowledge.matching import hit_figures, holds, place_of
from memoranda_bench.knowledge.outcomes import Label, compare, outcome_figures, read_labels, read_lines
from memoranda_bench.knowledge.taking_in import FINE, Told, markdown_of, memoranda, take_in
from memoranda_bench.metrics import percentile

__all__ = ["ask", "measure_documents"]

_ASKED_FOR = 10
#: What a question must be answered within at the latest to count as answered well.
_WITHIN = 3
_DEADLINE = 10.0
#: The longest piece of what came first that is shown.
_SHOWN = 90


def measure_documents(docs: str, labels: str, folder: str, embedder: str | None = None) -> dict[str, Any]:
    """Take the documents of a folder in, embed their passages if an embedder is named, and ask.

    Raises:
        DataMissing: there are no documents or labels.
    """
    outcomes, questions = (os.path.join(labels, name) for name in ("outcomes.jsonl", "questions.jsonl"))
    for path in (docs, outcomes, questions):
        if not os.path.exists(path):
            raise DataMissing(f"there is no {path}")
    vault = os.path.join(folder, "documents")
    os.makedirs(vault)
    if embedder:
        with open(os.path.join(vault, "memoranda.toml"), "w", encoding="utf-8") as stream:
            stream.write(f'[embedding]\nprovider = "{embedder}"\n')
    taken, told, _, _ = take_in(vault, [docs])
    labelled = read_labels(read_lines(outcomes))
    rows, unlabelled = compare(labelled, told, docs)
    figures: dict[str, Any] = {"files": len(told), "taking_in": taken} | outcome_figures(rows, unlabelled)
    figures["texts"] = _texts(vault, docs, labelled, told)
    if embedder:
        figures["embedder"] = embedder
        figures["embedding"], _, errors = memoranda(vault, "reindex", "--vectors")
        if figures["embedding"]["code"]:
            raise RuntimeError(f"the passages were not embedded: {errors.strip()}")
    asked = read_lines(questions)
    modes = ("keyword", "auto", "vector") if embedder else ("keyword",)
    figures["modes"] = {}
    with Vault.open(vault, create=False) as opened:
        opened.warm(("passage",))
        for mode in modes:
            figures["modes"][mode] = ask(opened, asked, mode)
            print(f"documents: asked in mode {mode}", file=sys.stderr)
    return figures


def ask(vault: Vault, questions: Sequence[Mapping[str, Any]], mode: str) -> dict[str, Any]:
    """Every question at level ``passage``; a hit is a passage that holds what is expected, of whichever document."""
    places: list[int] = []
    times: list[float] = []
    missed: list[dict[str, Any]] = []
    unavailable: set[str] = set()
    for one in questions:
        begin = time.perf_counter()
        found = vault.retrieve(one["question"], k=_ASKED_FOR, levels=("passage",), mode=mode, deadline=_DEADLINE)
        times.append((time.perf_counter() - begin) * 1000)
        unavailable.update(found.unavailable)
        places.append(place_of(one["expect"], (hit.text for hit in found.hits)))
        if not 0 < places[-1] <= _WITHIN:
            first = found.hits[0] if found.hits else None
            missed.append(
                {
                    "id": one["id"],
                    "question": one["question"],
                    "expect": one["expect"],
                    "document": one["document"],
                    "place": places[-1],
                    "first": "" if first is None else first.citation or first.address,
                    "first_text": "" if first is None else " ".join(first.text.split())[:_SHOWN],
                }
            )
    return hit_figures(places) | {
        "missed": missed,
        "unavailable": sorted(unavailable),
        "ms": {"p50": percentile(times, 0.5), "p95": percentile(times, 0.95)},
    }


def _texts(vault: str, docs: str, labels: Sequence[Label], told: Sequence[Told]) -> dict[str, Any]:
    """Of the documents whose label says what must stand in their markdown: how many, and those where it does not."""
    stored = {os.path.relpath(one.path, docs).replace(os.sep, "/"): one for one in told if one.outcome in FINE}
    checked, without = 0, []
    for label in labels:
        one = stored.get(label.document)
        if one is not None and label.expected:
            checked += 1
            if not holds(markdown_of(vault, one.document), label.expected):
                without.append({"document": label.document, "expected": label.expected})
    return {"checked": checked, "without": without}
