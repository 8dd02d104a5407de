"""The command ``week``: the scripted week three times, or one sleep over a large vault; figures, report, exit code."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from memoranda_bench.conditions import conditions
from memoranda_bench.systems.interface import require
from memoranda_bench.week.measured import answer_all, live_week, take_back
from memoranda_bench.week.promises import VERDICTS, confusion, week_promises
from memoranda_bench.week.script import (
    AGENTS,
    DAYS,
    PROJECTS,
    STAGES,
    TURNS,
    Labelled,
    labelled_notes,
    planned_week,
)

__all__ = ["RUNS", "add_arguments", "broken", "measure_week", "run_command"]

#: How promotion is set in each run, and whether a model judges.
RUNS = {"rules": ("clear", False), "model": ("clear", True), "asked": ("ask", True)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--items", type=int, metavar="N", help="instead: one sleep over so many items (as 10000)")
    parser.add_argument("--stages", type=int, default=STAGES, metavar="N", help=f"of the week (default {STAGES})")
    parser.add_argument("--turns", type=int, default=TURNS, metavar="N", help=f"in all of them (default {TURNS})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", metavar="DIR", help="leave the vaults there (else a temporary folder)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")


def run_command(options: argparse.Namespace) -> int:
    """Measure and print; the exit code is 1 if a promise is not held.

    Raises:
        ValueError: so few stages, turns or items make no week, no vault.
        SystemMissing: the package openai is missing, or this system cannot say what a process took.
    """
    from memoranda_bench.week.tables import many_report, week_report

    if options.items is not None and options.items < len(PROJECTS):
        raise ValueError(f"--items: {len(PROJECTS)} at least")
    if options.stages < 1 or options.turns < 0:
        raise ValueError("a week has a stage at least, and no fewer turns than none")
    figures: dict[str, Any] = {"conditions": conditions()}
    with _folder(options.work) as folder:
        if options.items is not None:
            from memoranda_bench.week.many import measure_many

            figures["many"] = measure_many(folder, options.items, options.seed)
        else:
            figures |= measure_week(folder, options.seed, stages=options.stages, turns=options.turns)
    if options.json:
        with open(options.json, "w", encoding="utf-8", newline="\n") as stream:
            json.dump(figures, stream, ensure_ascii=False, indent=1)
    print(many_report(figures) if "many" in figures else week_report(figures))
    for line in broken(figures):
        print(f"memoranda-bench: not held: {line}", file=sys.stderr)
    return 1 if broken(figures) else 0


def measure_week(
    folder: str,
    seed: int = 0,
    *,
    stages: int = STAGES,
    turns: int = TURNS,
    notes: Sequence[Labelled] | None = None,
) -> dict[str, Any]:
    """The week under rules alone, with a model, and with a model where everything is asked; a new vault each.

    Raises:
        SystemMissing: the package openai is missing.
        ValueError: there are too few stages for the notes.
        MemorandaError: the product failed.
    """
    require("openai")
    notes = labelled_notes() if notes is None else notes
    plan = planned_week(notes, seed, stages=stages, turns=turns)
    kinds = {note.text: note.kind for note in notes}
    runs: dict[str, dict[str, Any]] = {}
    for name, (promotion, judged) in RUNS.items():
        root = os.path.join(folder, name)
        lived = live_week(root, plan, notes, promotion=promotion, kinds=kinds if judged else None)
        runs[name] = lived.figures | {"taken_back": take_back(root, lived)}
        print(f"week: {name}, {sum(lived.seconds):.1f} s of sleep", file=sys.stderr)
    runs["asked"]["answers"] = answer_all(os.path.join(folder, "asked"), kinds)
    script = {
        "agents": len(AGENTS),
        "projects": len(PROJECTS),
        "days": DAYS,
        "stages": len(plan),
        "turns": runs["rules"]["turns"],
        "notes": len(notes),
        "seed": seed,
    }
    return {
        "script": script,
        "runs": runs,
        "by_label": {name: _by_label(notes, run["outcomes"]) for name, run in runs.items()},
        "confusion": confusion(notes, runs["rules"]["outcomes"]),
        "promises": week_promises(notes, runs),
    }


def _by_label(notes: Sequence[Labelled], outcomes: Mapping[str, str]) -> dict[str, dict[str, int]]:
    return {label: dict(Counter(outcomes[note.id] for note in notes if note.verdict == label)) for label in VERDICTS}


def broken(figures: Mapping[str, Any]) -> list[str]:
    """The promises that are not held."""
    promises = figures["many"]["promises"] if "many" in figures else figures["promises"]
    return [f"{one['promise']} ({one['figure']})" for one in promises if not one["held"]]


@contextmanager
def _folder(work: str | None) -> Iterator[str]:
    """A new folder, below the one that was named (and stays), or a temporary one."""
    if work:
        os.makedirs(work, exist_ok=True)
        yield tempfile.mkdtemp(prefix="week-", dir=work)
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        yield folder
