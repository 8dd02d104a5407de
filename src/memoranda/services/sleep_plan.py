"""What one sleep will do, worked out before anything is changed, interruptible between any two steps.

A plan is made anew by every sleep that goes on where another was interrupted:
it depends on nothing but what the vault holds, and on what a model has said,
which is kept.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC

from memoranda.core.addresses import parse_address
from memoranda.core.errors import BadName, MemorandaError, UsageError
from memoranda.core.kinds import MATRIX, Judgement
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Item
from memoranda.core.names import check_identifier, is_item_name, made_name, name_key
from memoranda.core.records import dataclass, field
from memoranda.core.tokens import estimate_tokens
from memoranda.services.item_value import read_usage, value_of
from memoranda.services.near_duplicates import near_duplicates
from memoranda.services.promotion import (
    HASH,
    ORIGIN,
    Candidate,
    category_of_kind,
    copied_name,
    copied_text,
    is_present,
    judge,
)
from memoranda.services.stage_digest import SUMMARIES, digest_of
from memoranda.storage.clock import parse_moment, written_moment
from memoranda.storage.sleep_settings import SleepSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from memoranda.core.choices import Choice
    from memoranda.core.kinds import Kind
    from memoranda.core.stages import StageArchive
    from memoranda.storage.stage_files import StageSummary

    #: What a model says of candidates, in their order; asked once for all that are open.
    Judges = Callable[[Sequence[Candidate]], Sequence[Judgement | None]]

__all__ = ["NewItem", "SleepPlan", "Sleeper", "Superseding"]

#: The category of an agent's memory that says what was set aside.
ASIDE = "set-aside"
_PER_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item that a project's memory gets of a stage."""

    address: str
    text: str
    source: str
    ts: str
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Superseding:
    """An item of long-term memory whose place another takes; ``why`` is ``duplicate`` or ``cap``."""

    older: str
    successor: str
    why: str
    #: Of the older one's text.
    hash: str


@dataclass(slots=True)
class SleepPlan:
    """All that a sleep will do, in the order in which it is done."""

    #: The project, the name and the end of each stage that is taken in: another one may come to have its name.
    stages: list[tuple[str, str, str]] = field(default_factory=list)
    added: list[NewItem] = field(default_factory=list)
    #: What goes to long-term memory, and the address that it gets there.
    promoted: list[tuple[Candidate, Judgement, str]] = field(default_factory=list)
    asked: list[tuple[Candidate, Judgement]] = field(default_factory=list)
    #: How many candidates more there are than may be asked about at once.
    postponed: int = 0
    kept: int = 0
    superseded: list[Superseding] = field(default_factory=list)
    #: The address and text of what says which items were set aside, an agent each.
    aside: list[tuple[str, str]] = field(default_factory=list)
    archives: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.stages or self.added or self.promoted or self.asked or self.superseded or self.archives)


class Sleeper:
    """Works a plan out.

    ``checkpoint`` is called between any two steps, and raises where the sleep
    is to stop; ``progress`` is told how many steps are done, of how many.
    """

    def __init__(
        self,
        items: Sequence[Item],
        stages: Iterable[StageSummary],
        read_stage: Callable[[str, str], StageArchive],
        choices: Iterable[Choice],
        consolidated: frozenset[tuple[str, str, str]],
        *,
        settings: SleepSettings,
        matrix: Mapping[str, Kind] | None,
        usage_path: str,
        now: datetime,
        judges: Judges | None = None,
        checkpoint: Callable[[], None] = lambda: None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self._items, self._stages, self._read_stage = (
            items,
            sorted(stages, key=lambda s: (s.project, s.stage)),
            read_stage,
        )
        self._choices, self._consolidated = list(choices), consolidated
        self._settings, self._matrix, self._now = settings, matrix or MATRIX, now
        self._usage_path, self._judges = usage_path, judges
        self._checkpoint, self._progress = checkpoint, progress
        self._done, self._total = 0, 0
        scopes = {one.address.scope.name for one in items if one.address.scope.kind == "agent"}
        agents = sorted(scopes | {one.agent for one in self._stages if _is_agent(one.agent)})
        self._agents = {name_key(name): name for name in agents}
        self._only_agent = agents[0] if len(agents) == 1 else ""
        self._taken = {name_key(str(one.address)) for one in items}
        self._numbers: dict[str, int] = {}
        # What has been superseded, or has run out, does not say what holds now: it may be said again.
        moment = written_moment(now)
        present = [one for one in items if is_present(one, moment)]
        self._texts = {(name_key(f"{a.scope.prefix}{a.category}"), one.text) for one in present for a in [one.address]}

    def plan(self) -> SleepPlan:
        """Everything, step by step. Raises what ``checkpoint`` raises."""
        plan = SleepPlan()
        projects = [one for one in self._items if one.address.scope.kind == "project"]
        self._total = len(self._stages) + 2 * len(projects)
        new = self._from_stages(plan)
        candidates = self._candidates(projects, new)
        self._total += len(candidates) - 2 * len(projects) + len(self._items)
        self._judge(plan, candidates)
        self._long_term(plan)
        return plan

    def _step(self, count: int = 1) -> None:
        self._checkpoint()
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)

    # 1. Finished stages go into their project's memory.
    def _from_stages(self, plan: SleepPlan) -> list[Candidate]:
        new: list[Candidate] = []
        for one in self._stages:
            self._step()
            if not one.ended or one.problem:
                continue
            where = (one.project, one.stage)
            if (*where, one.ended) not in self._consolidated:
                try:
                    archive = self._read_stage(*where)
                except MemorandaError:
                    continue  # its records are damaged: it stays as it is until somebody mends it
                self._digest(plan, archive, new)
                plan.stages.append((*where, one.ended))
            if self._is_old(one.ended):
                plan.archives.append(where)
        return new

    def _digest(self, plan: SleepPlan, archive: StageArchive, new: list[Candidate]) -> None:
        found, home = digest_of(archive), f"project/{archive.project}"
        actor = archive.agent if _is_agent(archive.agent) else ""
        source = archive.source if _is_whole(archive.source) else ""
        for kept in found.kept:
            address = self._free(f"{home}/{kept.category}", made_name(kept.text), kept.text)
            if not address:
                continue
            plan.added.append(NewItem(address, kept.text, source, _moment_in(kept.ts, archive.ended), actor))
            agent = self._agent_of(archive.agent)
            new.append(Candidate(address, kept.text, kept.category, archive.project, agent))
        name = archive.stage if source and is_item_name(archive.stage) else made_name(found.summary)
        if found.summary and (address := self._free(f"{home}/{SUMMARIES}", name, found.summary)):
            plan.added.append(NewItem(address, found.summary, source, _moment_in(archive.ended), actor))

    def _free(self, category: str, name: str, text: str) -> str:
        """An address for a new item; nothing where the category says this already."""
        if (said := (name_key(category), text)) in self._texts:
            return ""
        address = wanted = f"{category}:{name}"
        number = self._numbers.get(name_key(wanted), 1)
        while name_key(address) in self._taken:
            number += 1
            address = f"{wanted}-{number}"
        self._numbers[name_key(wanted)] = number
        self._taken.add(name_key(address))
        self._texts.add(said)
        return address

    def _is_old(self, ended: str) -> bool:
        try:
            age = self._now - parse_moment(ended, UTC)
        except UsageError:
            return False  # somebody wrote there what is no moment
        return age.total_seconds() >= self._settings.archive_days * _PER_DAY

    # 2. Project memory goes into long-term memory, by the matrix.
    def _candidates(self, projects: Sequence[Item], new: Iterable[Candidate]) -> list[Candidate]:
        """What has not been promoted, and of which nobody has been asked or has said what is to become of it."""
        now = written_moment(self._now)
        copied = {(m.get(ORIGIN), m.get(HASH)) for m in (one.metadata for one in self._items)}
        asked = {(one.subject, str(one.effect.get("hash", ""))) for one in self._choices}
        found = [
            Candidate(
                str(one.address),
                one.text,
                one.address.category,
                one.address.scope.name,
                self._agent_of(one.metadata.actor or ""),
                one.metadata.get("kind") or "",
                one.metadata.owner or "",
            )
            for one in projects
            if is_present(one, now) and one.address.category != SUMMARIES
        ]
        return [
            one
            for one in (*found, *new)
            if one.agent and (one.address, one.hash) not in copied and (one.address, one.hash) not in asked
        ]

    def _agent_of(self, actor: str) -> str:
        """Whose long-term memory takes what this one wrote: its own, the one set, or that of the only agent."""
        name = name_key(actor.removeprefix("agent:").removeprefix("agent/"))
        return self._agents.get(name) or self._settings.agent or self._only_agent

    def _judge(self, plan: SleepPlan, candidates: Sequence[Candidate]) -> None:
        judged: list[tuple[Candidate, Judgement]] = []
        names = {one.project for one in candidates}
        said = self._said(candidates)
        for one in candidates:
            self._step()
            judged.append((one, judge(one, self._matrix, names, said.get(one.address))))
        clear = [pair for pair in judged if pair[1].verdict == "yes"]
        open_ones = [pair for pair in judged if pair[1].verdict == "ask"]
        plan.kept = len(judged) - len(clear) - len(open_ones)
        promotion = self._settings.promotion
        # Whoever wants no question gets what is clear, and what is not stays where it is.
        for one, judgement in clear if promotion in ("clear", "auto") else ():
            home = f"agent/{one.agent}/{category_of_kind(judgement.kind)}"
            if address := self._free(home, copied_name(one), copied_text(one.text)):
                plan.promoted.append((one, judgement, address))
        questions = {"ask": [*clear, *open_ones], "clear": open_ones, "auto": []}[promotion]
        waiting = sum(1 for choice in self._choices if choice.is_open)
        most = max(self._settings.most_questions - waiting, 0)
        plan.asked, plan.postponed = questions[:most], len(questions[most:])

    def _said(self, candidates: Sequence[Candidate]) -> dict[str, Judgement]:
        unsure = [one for one in candidates if not one.kind]
        if self._judges is None or not unsure:
            return {}
        said = self._judges(unsure)
        return {one.address: found for one, found in zip(unsure, said, strict=True) if found is not None}

    # 3. Long-term memory: duplicates are merged, and what is over the cap is set aside.
    def _long_term(self, plan: SleepPlan) -> None:
        now = written_moment(self._now)
        value = value_of(read_usage(self._usage_path, self._now))
        agents: dict[str, list[Item]] = {}
        copies = [
            Item(
                parse_address(address),
                copied_text(one.text),
                EMPTY_METADATA.with_values(ts=now, owner=one.owner or None),
            )
            for one, _, address in plan.promoted
        ]
        for one in (*self._items, *copies):
            if one.address.scope.kind == "agent" and is_present(one, now) and one.address.category != ASIDE:
                agents.setdefault(one.address.scope.name, []).append(one)
        for agent in sorted(agents):
            left = self._merged(plan, sorted(agents[agent], key=value, reverse=True))
            self._capped(plan, agent, left)

    def _merged(self, plan: SleepPlan, items: list[Item]) -> list[Item]:
        """What is left of an agent's items, the most valuable first, once of near duplicates that one alone stands."""
        gone: set[int] = set()
        owners = [one.metadata.owner or "" for one in items]
        for at, other in near_duplicates([one.text for one in items], owners, self._step):
            older = items[at]
            if not older.metadata.pinned:
                gone.add(at)
                plan.superseded.append(
                    Superseding(str(older.address), str(items[other].address), "duplicate", older.hash)
                )
        return [one for at, one in enumerate(items) if at not in gone]

    def _capped(self, plan: SleepPlan, agent: str, items: list[Item]) -> None:
        """Set aside the least valuable of what is more than the cap; what is pinned stays."""
        sizes = [estimate_tokens(f"{one.name}\n{one.text}") for one in items]
        total = sum(sizes)
        out: list[Item] = []
        while total > self._settings.cap and items and not items[-1].metadata.pinned:
            out.append(items.pop())
            total -= sizes.pop()
        if out:
            day = self._now.astimezone().date().isoformat()
            address = f"agent/{agent}/{ASIDE}:{day}"
            names = ", ".join(f"{one.address.category}:{one.name}" for one in out)
            plan.aside.append((address, f"Set aside on {day}, {self._settings.cap} tokens being the most: {names}."))
            plan.superseded += [Superseding(str(one.address), address, "cap", one.hash) for one in out]


def _is_agent(name: str) -> bool:
    """Whether somebody of that name could have a memory: a stage's file may say anything."""
    try:
        return bool(name and check_identifier(name, "an agent")) and _is_whole(name)
    except BadName:
        return False


def _is_whole(text: str) -> bool:
    """Whether it can be written: a name of bytes that are no UTF-8 cannot."""
    try:
        return bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _moment_in(*texts: str) -> str:
    """The first that is a moment; nothing where none is."""
    for text in texts:
        with suppress(UsageError):
            parse_moment(text, UTC)
            return text
    return ""
