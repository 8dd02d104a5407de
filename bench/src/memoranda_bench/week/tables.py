"""The figures of a week, or of a large vault's sleep, as markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda_bench.conditions import condition_rows
from memoranda_bench.markdown import table
from memoranda_bench.week.measured import OUTCOMES
from memoranda_bench.week.promises import VERDICTS

__all__ = ["many_report", "week_report"]

_Figures = Mapping[str, Any]

_RUNS = {
    "rules": 'rules alone, promotion = "clear"',
    "model": 'with a model, promotion = "clear"',
    "asked": 'with a model, promotion = "ask"',
}
_LANGUAGES = {"en": "English", "zh": "Chinese"}


def week_report(figures: _Figures) -> str:
    """What became of the notes in each run, what rules made of them, what the sleeps took, and the promises."""
    script, runs = figures["script"], figures["runs"]
    answers = runs["asked"]["answers"]
    return "\n\n".join(
        [
            "# A week",
            table(["", ""], condition_rows(figures["conditions"])),
            f"{script['agents']} agents, {script['projects']} projects, {script['stages']} stages over "
            f"{script['days']} days, a sleep after each day; {script['turns']} turns of dialogue and tool calls that "
            f"hold nothing worth keeping, and {script['notes']} labelled notes (seed {script['seed']}). Notes were "
            "labelled apart from the rules: *yes* may leave its project, *no* may not, *ask* cannot be told. The model "
            "is an endpoint on loopback that answers as labelled.",
            "## What became of the notes",
            _outcomes(figures),
            "## What rules alone make of them",
            "Rows are labels. *no* of rules leaves a note in its project and asks nobody.",
            _confusion(figures["confusion"]),
            _decided(figures["confusion"]),
            "## What the sleeps took",
            _sleeps(runs),
            f"Answered by `save_long` after the last run: {answers['answered']} questions; in long-term memory then: "
            f"{answers['kept']} items.",
            "## Promises",
            _promises(figures["promises"]),
        ]
    )


def _outcomes(figures: _Figures) -> str:
    rows: list[list[object]] = []
    for name, run in figures["runs"].items():
        for label in VERDICTS:
            counts = figures["by_label"][name][label]
            rows.append([_RUNS[name], label, *(counts.get(outcome, 0) for outcome in OUTCOMES)])
        rows.append([_RUNS[name], "(no note)", *(run["others"].get(outcome, 0) for outcome in OUTCOMES)])
    return table(["run", "label", "promoted", "a question", "stays", "lost"], rows)


def _confusion(languages: _Figures) -> str:
    rows = [
        [_LANGUAGES.get(language, language), label, *(counts[said] for said in (*VERDICTS, "lost"))]
        for language, labels in languages.items()
        for label, counts in labels.items()
    ]
    return table(["language", "label", "rules: yes", "rules: no", "rules: ask", "lost"], rows)


def _decided(languages: _Figures) -> str:
    """What the share of decided notes does not show: how many decisions are those of the label."""

    def count(label: str, *said: str) -> int:
        return sum(labels[label][one] for labels in languages.values() for one in said)

    labelled = sum(count(label, *VERDICTS, "lost") for label in ("yes", "no"))
    decided = sum(count(label, "yes", "no") for label in ("yes", "no"))
    right = count("yes", "yes") + count("no", "no")
    return (
        f"Of {labelled} notes labelled yes or no they decide {decided}, {right} of these as labelled; of those "
        f"labelled ask they promote {count('ask', 'yes')} and leave {count('ask', 'no')} where they are."
    )


def _sleeps(runs: _Figures) -> str:
    rows = [
        [
            _RUNS[name],
            f"{sum(run['seconds']):.2f}",
            f"{max(run['seconds']):.2f}",
            " ".join(map(str, run["calls"])),
            run["asked_about"],
            run["put_aside"],
            f"{run['taken_back']['exact']} of {run['taken_back']['undone']}",
        ]
        for name, run in runs.items()
    ]
    head = ["run", "all sleeps, s", "the longest, s", "calls", "texts judged", "stages put aside", "undone exactly"]
    return table(head, rows)


def many_report(figures: _Figures) -> str:
    """What one sleep over a large vault took, and the promises."""
    many = figures["many"]
    slept, recall = many["slept"], many["recall"]
    rows = [
        [
            what,
            f"{took['seconds']:.2f}",
            f"{took['cpu_seconds']:.2f}",
            f"{took['peak'] / 1e6:,.0f}",
        ]
        for what, took in (("`sleep`", many["sleep"]), ("`sleep --dry-run`", many["dry_run"]))
    ]
    lost = [f"- lost: {line}" for line in recall["lost"]]
    return "\n\n".join(
        [
            "# Sleep over a large vault",
            table(["", ""], condition_rows(figures["conditions"])),
            f"{many['items']:,} made-up items of project memory (seed {many['seed']}; three projects, two agents with "
            'experience of their own), promotion = "clear", no model. Each is a process, its start included; '
            "`--dry-run` works on a copy whose index is made anew.",
            table(["", "wall s", "user + system s", "peak MB"], rows),
            f"{slept['promoted']:,} promoted, {slept['asked']:,} asked, {slept['postponed']:,} left for another time, "
            f"{slept['kept']:,} stay; {slept['superseded']:,} superseded. Long-term memory then: "
            f"{many['after']['long_term']:,} items that hold.",
            f"A fixed piece of work took {many['spin_ms'][0]:.1f} ms before and {many['spin_ms'][1]:.1f} ms after.",
            *(["\n".join(lost)] if lost else []),
            "## Promises",
            _promises(many["promises"]),
        ]
    )


def _promises(promises: Sequence[_Figures]) -> str:
    rows = [[one["promise"], one["figure"].replace("|", "\\|"), "yes" if one["held"] else "**no**"] for one in promises]
    return table(["promise", "figure", "held"], rows)
