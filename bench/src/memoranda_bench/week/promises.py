"""What the week is held to: each promise with its figure, and whether it is held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda_bench.week.script import Labelled

__all__ = ["LEAST_DECIDED", "VERDICTS", "confusion", "expected_outcome", "week_promises"]

VERDICTS = ("yes", "no", "ask")
#: The least share of the notes that rules have to decide.
LEAST_DECIDED = 0.6
#: What rules say, by what a sleep does where they alone judge.
_RULED = {"promoted": "yes", "kept": "no", "asked": "ask"}


def confusion(notes: Sequence[Labelled], outcomes: Mapping[str, str]) -> dict[str, dict[str, dict[str, int]]]:
    """By language and label, how often rules said what; ``lost`` where there was nothing to judge."""
    counted = Counter((note.language, note.verdict, _RULED.get(outcomes[note.id], "lost")) for note in notes)
    return {
        language: {label: {said: counted[language, label, said] for said in (*VERDICTS, "lost")} for label in VERDICTS}
        for language in sorted({note.language for note in notes})
    }


def expected_outcome(label: str, ruled: str) -> str:
    """What a sleep under ``clear`` has to make of a note that a model judges as labelled, and rules as ``ruled``.

    What rules leave open the model tells; where it is not sure, or the two do
    not agree, a person is asked.
    """
    if label == "ask" or (label, ruled) in (("yes", "no"), ("no", "yes")):
        return "asked"
    return "promoted" if label == "yes" else "kept"


def week_promises(notes: Sequence[Labelled], runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The promises of a whole run: ``rules``, ``model`` and ``asked``, each with its figures."""
    rules, model, asked = runs["rules"], runs["model"], runs["asked"]
    return [*_of_rules(notes, rules), *_of_model(notes, rules, model), *_of_asking(notes, model, asked), *_of_all(runs)]


def _of_rules(notes: Sequence[Labelled], rules: Mapping[str, Any]) -> list[dict[str, Any]]:
    outcomes = rules["outcomes"]
    decided = sum(outcomes[note.id] in ("promoted", "kept") for note in notes)
    return [
        _none("rules alone: nothing labelled no is promoted", _promoted(notes, outcomes, "no")),
        _promise(
            f"rules alone: {LEAST_DECIDED:.0%} of the notes at least are decided",
            f"{decided} of {len(notes)} ({decided / len(notes):.1%})",
            decided >= LEAST_DECIDED * len(notes),
        ),
    ]


def _of_model(notes: Sequence[Labelled], rules: Mapping[str, Any], model: Mapping[str, Any]) -> list[dict[str, Any]]:
    outcomes = model["outcomes"]
    expected = {
        note.id: expected_outcome(note.verdict, _RULED.get(rules["outcomes"][note.id], "ask")) for note in notes
    }
    uncertain = [note for note in notes if expected[note.id] == "asked"]
    questions = sum(outcomes[note.id] == "asked" for note in uncertain)
    settled = sum(outcomes[note.id] == expected[note.id] for note in notes)
    lost = [note.id for note in notes if outcomes[note.id] == "lost"]
    most = max(model["calls"], default=0)
    asked_about, once = model["asked_about"], model["asked_about_once"]
    return [
        _none("model: every note is decided or is a question", lost),
        _promise(
            "model: every uncertain note is a question",
            f"{questions} of {len(uncertain)}",
            questions == len(uncertain) and not model["postponed"],
        ),
        _promise(
            "model: every other note goes where its label says",
            f"{settled - questions} of {len(notes) - len(uncertain)}",
            settled == len(notes),
        ),
        _none("model: nothing labelled no is promoted", _promoted(notes, outcomes, "no")),
        _none("model: nothing is promoted that is no note", model["others"].get("promoted", 0)),
        _promise(
            "model: one call a sleep at most, and one that answered",
            f"{' '.join(map(str, model['calls']))}",
            most == 1,
        ),
        _promise(
            "model: it is asked about nothing twice",
            f"{asked_about} texts, {once} different",
            len(notes) <= asked_about == once,
        ),
    ]


def _of_asking(notes: Sequence[Labelled], model: Mapping[str, Any], asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    outcomes, answers = asked["outcomes"], asked["answers"]
    wanted = [note.id for note in notes if model["outcomes"][note.id] in ("promoted", "asked")]
    questions = sum(outcomes[id] == "asked" for id in wanted)
    promoted = asked["counts"].get("promoted", 0) + asked["others"].get("promoted", 0)
    return [
        _none("asking: nothing is promoted without an answer", promoted),
        _promise(
            "asking: what would be promoted or is uncertain is a question",
            f"{questions} of {len(wanted)}",
            questions == len(wanted) and not asked["postponed"],
        ),
        _promise(
            "asking: what is answered by save_long is in long-term memory, once each",
            f"{answers['answered']} answered, {answers['kept']} kept of {answers['origins']} items",
            answers["answered"] == answers["kept"] == answers["origins"] > 0,
        ),
        _none("asking: the next sleep asks nothing again", answers["again"]),
    ]


def _of_all(runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    undone, exact = (sum(run["taken_back"][name] for run in runs.values()) for name in ("undone", "exact"))
    faults = [f"{name}, {fault}" for name, run in runs.items() for fault in run["taken_back"]["faults"]]
    return [
        _promise(
            "undo of every sleep, newest first: the files are as before it, byte for byte",
            "; ".join([f"{exact} of {undone}", *faults]),
            0 < undone == exact,
        )
    ]


def _promoted(notes: Sequence[Labelled], outcomes: Mapping[str, str], label: str) -> list[str]:
    return [note.id for note in notes if note.verdict == label and outcomes[note.id] == "promoted"]


def _none(promise: str, found: Sequence[str] | int) -> dict[str, Any]:
    """A promise that there is none: how many there are, and which where they have names."""
    count = found if isinstance(found, int) else len(found)
    named = "" if isinstance(found, int) or not found else f": {', '.join(found)}"
    return _promise(promise, f"{count}{named}", count == 0)


def _promise(promise: str, figure: str, held: bool) -> dict[str, Any]:
    return {"promise": promise, "figure": figure, "held": held}
