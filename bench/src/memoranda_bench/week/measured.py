"""One week lived in a vault, with a sleep after each day: what became of each note, and what the sleeps took."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from memoranda import Vault
from memoranda.core.ports import LanguageModel
from memoranda.services.promotion import ORIGIN
from memoranda_bench.week.endpoint import JudgingEndpoint
from memoranda_bench.week.script import DAYS, Labelled, PlannedStage, WeekClock, live
from memoranda_bench.week.taking_back import Night, read_tree, undo_nights

__all__ = ["OUTCOMES", "Lived", "answer_all", "live_week", "outcomes_of", "take_back"]

#: What can become of a note: it goes to long-term memory, a person is asked, it stays, or it is nowhere.
OUTCOMES = ("promoted", "asked", "kept", "lost")
#: The category of a project that summaries go to.
_SUMMARIES = "stages"
#: Stages are put aside within the week, so that this is taken back as well.
_ARCHIVE_DAYS = 3
_MOST_QUESTIONS = 1000
_WHO = "lin"


@dataclass(frozen=True, slots=True)
class Lived:
    """A week that is over. ``outcomes`` by the id of the note; ``others`` counts those of all other texts."""

    outcomes: Mapping[str, str]
    others: Mapping[str, int]
    nights: Sequence[Night]
    seconds: Sequence[float]
    calls: Sequence[int]
    asked_about: Sequence[tuple[str, str]]
    turns: int
    postponed: int

    @property
    def figures(self) -> dict[str, Any]:
        """As JSON holds it; what each night left is no figure."""
        return {
            "turns": self.turns,
            "counts": dict(Counter(self.outcomes.values())),
            "others": dict(self.others),
            "outcomes": dict(self.outcomes),
            "seconds": list(self.seconds),
            "calls": list(self.calls),
            "asked_about": len(self.asked_about),
            "asked_about_once": len(set(self.asked_about)),
            "postponed": self.postponed,
            "put_aside": sum(night.put_aside for night in self.nights),
        }


def live_week(
    root: str,
    stages: Sequence[PlannedStage],
    notes: Sequence[Labelled],
    *,
    promotion: str,
    kinds: Mapping[str, str] | None = None,
) -> Lived:
    """Live the week in a new vault at ``root``; with ``kinds`` a model judges, which says these.

    Raises:
        MemorandaError: something of it could not be done.
    """
    clock = WeekClock()
    nights: list[Night] = []
    seconds: list[float] = []
    calls: list[int] = []
    postponed = 0
    with _settled(root, promotion, kinds) as endpoint, Vault.open(root, clock=clock) as vault:
        model = _model(vault)
        for day in range(DAYS):
            live(vault, clock, [one for one in stages if one.day == day])
            clock.go_to_bed(day)
            before, called = read_tree(root), endpoint.calls if endpoint is not None else 0
            begin = time.perf_counter()
            slept = vault.sleep(model=model)
            seconds.append(time.perf_counter() - begin)
            calls.append(endpoint.calls - called if endpoint is not None else 0)
            postponed += slept.postponed
            nights.append(Night(slept.change, before, read_tree(root), len(slept.archives)))
        outcomes, others = outcomes_of(vault, notes)
        asked_about = endpoint.notes if endpoint is not None else ()
    turns = sum(turn.action != "note" for one in stages for turn in one.turns)
    return Lived(outcomes, others, nights, seconds, calls, asked_about, turns, postponed)


@contextmanager
def _settled(root: str, promotion: str, kinds: Mapping[str, str] | None) -> Iterator[JudgingEndpoint | None]:
    """The settings of a vault, and the endpoint that they name while this is entered; none without ``kinds``."""
    with JudgingEndpoint(kinds) if kinds is not None else nullcontext() as endpoint:
        os.makedirs(root, exist_ok=True)
        lines = [
            "[sleep]",
            f'promotion = "{promotion}"',
            f"most_questions = {_MOST_QUESTIONS}",
            f"archive_days = {_ARCHIVE_DAYS}",
            "",
            endpoint.settings if endpoint is not None else "",
        ]
        with open(os.path.join(root, "memoranda.toml"), "w", encoding="utf-8", newline="\n") as stream:
            stream.write("\n".join(lines))
        yield endpoint


def _model(vault: Vault) -> LanguageModel | None:
    """The model that the vault's settings name, as the command line makes it; ``None`` where they name none."""
    if not vault.settings.model:
        return None
    from memoranda.adapters.language_models import language_model_for
    from memoranda.services.kind_judging import reply_schema

    return language_model_for(vault.settings.model, reply_schema(vault.settings.kinds))


def outcomes_of(vault: Vault, notes: Sequence[Labelled]) -> tuple[dict[str, str], dict[str, int]]:
    """What became of each note, by its id, and of what is neither a note nor a summary, counted."""
    copied = {item.metadata.get(ORIGIN) for item in vault.items() if item.address.scope.kind == "agent"}
    asked = {choice.subject for choice in vault.choices.all()}
    ids = {(note.project, note.text): note.id for note in notes}
    found: dict[str, str] = {note.id: "lost" for note in notes}
    others: Counter[str] = Counter()
    for item in vault.items():
        scope, address = item.address.scope, str(item.address)
        if scope.kind != "project" or item.address.category == _SUMMARIES:
            continue
        outcome = "promoted" if address in copied else "asked" if address in asked else "kept"
        if (note := ids.get((scope.name, item.text))) is not None:
            found[note] = outcome
        else:
            others[outcome] += 1
    return found, dict(others)


def answer_all(root: str, kinds: Mapping[str, str]) -> dict[str, int]:
    """Answer every open question of a vault by ``save_long``, and sleep once more, with the same model.

    ``answered`` questions, ``kept`` copies in long-term memory, of ``origins``
    different items; and how many questions the sleep asks ``again``.
    """
    clock = WeekClock()
    clock.go_to_bed(DAYS)
    with _settled(root, "ask", kinds), Vault.open(root, clock=clock) as vault:
        waiting = vault.choices.open()
        for choice in waiting:
            vault.choices.answer(choice.id, ["save_long"], by=_WHO, channel="host")
        slept = vault.sleep(model=_model(vault))
        copies = [item for item in vault.items() if item.address.scope.kind == "agent"]
        return {
            "answered": len(waiting),
            "kept": sum(not item.metadata.superseded_by for item in copies),
            "origins": len({item.metadata.get(ORIGIN) for item in copies} - {None}),
            "again": len(slept.asked) + len(slept.promoted),
        }


def take_back(root: str, lived: Lived) -> dict[str, Any]:
    """Undo the sleeps of a week, the newest first, in a copy of its vault; see :func:`.undo_nights`."""
    clock, copy = WeekClock(), f"{root}-taken-back"
    clock.go_to_bed(DAYS)
    shutil.copytree(root, copy)
    with Vault.open(copy, clock=clock) as vault:
        return undo_nights(vault, copy, lived.nights)
