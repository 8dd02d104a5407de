"""The week: who works when on which project, what is said and called there, and which labelled notes are taken."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from importlib import resources
from itertools import product
from typing import Any

from memoranda import Vault
from memoranda_bench.week.filler import call, dialogue

__all__ = [
    "AGENTS",
    "DAYS",
    "PROJECTS",
    "STAGES",
    "TURNS",
    "Labelled",
    "PlannedStage",
    "Turn",
    "WeekClock",
    "labelled_notes",
    "live",
    "planned_week",
]

AGENTS, PROJECTS = ("developer", "reviewer"), ("shop", "atlas", "lantern")
DAYS, STAGES, TURNS = 7, 40, 400
_MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
_WORK_BEGINS, _NIGHT = timedelta(hours=9), timedelta(hours=23, minutes=30)
#: Of so many turns one is a call of a tool, on average.
_TOOL_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Labelled:
    """A note, and what a person says of it: whether it may leave its project (``yes``, ``no``, ``ask``), its kind."""

    id: str
    language: str
    verdict: str
    kind: str
    project: str
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that happens in a stage: ``say``, ``tool`` or ``note``."""

    action: str
    text: str = ""
    role: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage of the week; ``day`` counts from 0."""

    day: int
    name: str
    project: str
    agent: str
    turns: tuple[Turn, ...]


class WeekClock:
    """A clock that stands still until it is moved on, in UTC."""

    def __init__(self) -> None:
        self._now = _MONDAY

    def now(self) -> datetime:
        """The moment that it was moved to."""
        return self._now

    def zone(self) -> tzinfo:
        """UTC: the week is the same wherever it is run."""
        return UTC

    def move_on(self, span: timedelta) -> None:
        """Later by ``span``."""
        self._now += span

    def begin_work(self, day: int) -> None:
        """The morning of a day of the week."""
        self._now = max(self._now, _MONDAY + timedelta(days=day) + _WORK_BEGINS)

    def go_to_bed(self, day: int) -> None:
        """The night after it."""
        self._now = max(self._now, _MONDAY + timedelta(days=day) + _NIGHT)


def labelled_notes() -> list[Labelled]:
    """The notes, in the order of their file."""
    text = (resources.files("memoranda_bench.week") / "labelled.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    names = tuple(Labelled.__dataclass_fields__)
    return [Labelled(**{name: row[name] for name in names}) for row in rows]


def planned_week(
    notes: Sequence[Labelled], seed: int = 0, *, stages: int = STAGES, turns: int = TURNS
) -> list[PlannedStage]:
    """The stages in their order; ``turns`` counts what is said and called, the notes come beside that.

    Raises:
        ValueError: there are too few stages for the notes of some agent in some project.
    """
    chance = random.Random(f"week {seed}")
    pairs = list(product(PROJECTS, AGENTS))
    owners = [pairs[number % len(pairs)] for number in range(stages)]
    taken: list[list[Labelled]] = [[] for _ in owners]
    for pair in pairs:
        own = [note for note in notes if (note.project, note.agent) == pair]
        where = [number for number, owner in enumerate(owners) if owner == pair]
        if own and not where:
            raise ValueError(f"{stages} stages are too few: none is {pair[1]}'s in {pair[0]}")
        chance.shuffle(own)
        for at, note in enumerate(own):
            taken[where[at % len(where)]].append(note)
    made = []
    for number, (project, agent) in enumerate(owners):
        count = turns // stages + (number < turns % stages)
        made.append(
            PlannedStage(
                number * DAYS // stages,
                f"stage-{number + 1:02}",
                project,
                agent,
                tuple(_turns(chance, count, [note.text for note in taken[number]])),
            )
        )
    return made


def _turns(chance: random.Random, count: int, notes: Sequence[str]) -> list[Turn]:
    language, role = chance.choice(("en", "zh")), "user"
    made: list[Turn] = []
    for _ in range(count):
        if chance.random() < _TOOL_SHARE:
            tool, arguments, result = call(chance)
            made.append(Turn("tool", tool=tool, arguments=arguments, result=result))
            continue
        made.append(Turn("say", dialogue(chance, language, role), role))
        role = "assistant" if role == "user" else "user"
    for note in notes:
        made.insert(chance.randint(0, len(made)), Turn("note", note))
    return made


def live(vault: Vault, clock: WeekClock, stages: Sequence[PlannedStage]) -> None:
    """Work through stages of one day. Raises what :meth:`memoranda.Vault.stage` does."""
    for planned in stages:
        clock.begin_work(planned.day)
        with vault.stage(planned.name, project=planned.project, agent=planned.agent) as stage:
            for turn in planned.turns:
                clock.move_on(timedelta(minutes=2))
                if turn.action == "note":
                    stage.note(turn.text)
                elif turn.action == "tool":
                    stage.tool(turn.tool, dict(turn.arguments), turn.result)
                else:
                    stage.say(turn.text, role=turn.role)
        clock.move_on(timedelta(minutes=10))
