"""Sleep: what was worked out in idle time becomes one change of the vault, which can be undone.

Until the change is committed nothing has happened, and an interrupted sleep
leaves nothing; what follows the commit (questions to a person, old stages put
aside) is written down before, and done by the next sleep where this one was
cut short. One process sleeps at a time.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from memoranda.core.errors import BadName, Conflict, NotFound, UsageError, VaultBusy
from memoranda.core.records import dataclass
from memoranda.services.promotion import OPTIONS, effect_of, promote
from memoranda.services.remember import mark_superseded, remember
from memoranda.services.sleep_plan import Sleeper, SleepPlan
from memoranda.storage.files import make_folder, read_bytes, remove_file, replace_file, writing
from memoranda.storage.journal import change_of, new_change_id
from memoranda.storage.locks import VaultLock
from memoranda.storage.sleep_settings import SleepSettings
from memoranda.storage.stage_history import bring_stage_back, set_stage_aside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from memoranda.core.kinds import Judgement
    from memoranda.core.model import Item, Written
    from memoranda.services.choices import ChoiceBox
    from memoranda.services.promotion import Candidate
    from memoranda.services.sleep_plan import Judges
    from memoranda.services.writer import Writer
    from memoranda.storage.stage_files import StageFiles
    from memoranda.storage.store import Storage
    from memoranda.storage.transaction import Transaction

__all__ = ["ACTOR", "Interrupted", "Sleep", "Slept", "consolidated_stages", "take_back_sleep"]

#: Who the journal says has written, and who asks.
ACTOR = "sleep"
_FOLDER = "sleep"
_PENDING = "pending.json"
_LOCK = ".lock.sleep"
_SHOWN = 600


class Interrupted(Exception):
    """Somebody works: sleep stops, and goes on another time."""


@dataclass(frozen=True, slots=True)
class Slept:
    """What a sleep did. ``change`` is what ``undo`` takes; ``None`` where there was nothing to do."""

    change: str | None = None
    stages: tuple[str, ...] = ()
    added: int = 0
    promoted: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    postponed: int = 0
    kept: int = 0
    superseded: tuple[tuple[str, str, str], ...] = ()
    archives: tuple[str, ...] = ()


class Sleep:
    """One vault's sleep.

    ``items`` gives everything that is remembered now. ``checkpoint`` is called
    between any two steps and raises :class:`Interrupted` where somebody works.
    """

    def __init__(
        self,
        writer: Writer,
        box: ChoiceBox,
        stages: StageFiles,
        items: Callable[[], Sequence[Item]],
        *,
        judges: Judges | None = None,
        checkpoint: Callable[[], None] = lambda: None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self._writer, self._storage, self._box, self._stages, self._items = writer, writer.storage, box, stages, items
        self._judges, self._checkpoint, self._progress = judges, checkpoint, progress
        self._settings = self._storage.vault.settings.sleep or SleepSettings()
        self._folder = self._storage.vault.path(_FOLDER)

    def run(self) -> Slept:
        """Sleep once.

        Raises:
            Interrupted: somebody works; what was not done is done another time.
            VaultBusy: another process is asleep.
            VaultFull, VaultReadOnly, Conflict: nothing was changed.
        """
        lock = VaultLock(self._storage.vault.path(_LOCK))
        try:
            lock.acquire(0.0)
        except VaultBusy as error:
            raise VaultBusy("another process sleeps for this vault just now") from error
        try:
            asked = self._finish()
            plan = self.plan()
            return self._carry_out(plan) if plan else Slept(asked=tuple(asked), kept=plan.kept)
        finally:
            lock.release()

    def plan(self) -> SleepPlan:
        """What a sleep would do now."""
        vault = self._storage.vault
        return Sleeper(
            self._items(),
            list(self._stages.summaries()),
            self._stages.read,
            self._box.all(),
            consolidated_stages(self._storage),
            settings=self._settings,
            matrix=vault.settings.kinds,
            usage_path=vault.path("usage.jsonl"),
            now=self._storage.clock.now(),
            judges=self._judges,
            checkpoint=self._checkpoint,
            progress=self._progress,
        ).plan()

    def _carry_out(self, plan: SleepPlan) -> Slept:
        change = new_change_id()
        questions = [self._question(change, *pair) for pair in plan.asked]
        archives = [f"{project}/{stage}" for project, stage in plan.archives]
        self._checkpoint()
        self._note({"change": change, "questions": questions, "archives": archives})
        promoted: list[str] = []
        stands = self._stands(plan)
        with self._writer.batch("sleep", change):
            for new in plan.added:
                fields = {"source": new.source, "ts": new.ts or None, "actor": new.actor or ACTOR}
                self._done(remember, new.address, new.text, on_exists="rename", fields=fields)
            for candidate, judgement, address in plan.promoted:
                if not stands(candidate.address, candidate.hash):
                    continue
                effect = effect_of(candidate, judgement, address)
                copy = self._done(promote, effect, candidate.text, owner=candidate.owner, actor=candidate.agent)
                promoted += [copy.address] if copy is not None and copy.journal_id else []
            for address, text in plan.aside:
                self._done(remember, address, text, on_exists="append", fields={"actor": ACTOR})
            for one in plan.superseded:
                if stands(one.older, one.hash):
                    self._done(mark_superseded, one.older, one.successor)
            self._writer.run("sleep", lambda transaction: _log(transaction, plan))
        asked = self._finish()
        return Slept(
            change,
            tuple(f"{project}/{stage}" for project, stage, _ in plan.stages),
            len(plan.added),
            tuple(promoted),
            tuple(asked),
            plan.postponed,
            plan.kept,
            tuple((one.older, one.successor, one.why) for one in plan.superseded),
            tuple(archives),
        )

    def _stands(self, plan: SleepPlan) -> Callable[[str, str], bool]:
        """Tells of an address whether it holds what the plan was made of: a person may have been at it meanwhile."""
        made = {new.address for new in plan.added} | {address for _, _, address in plan.promoted}
        now = {str(one.address): one.hash for one in self._items()}
        return lambda address, hash: now[address] == hash if address in now else address in made

    def _done(self, write: Callable[..., Written], *given: Any, **more: Any) -> Written | None:
        """Do one thing; what cannot be written as it is (a name, a text that was only recalled) stays where it is."""
        try:
            return write(self._writer, *given, **more)
        except (UsageError, Conflict, NotFound):
            return None

    def _question(self, change: str, candidate: Candidate, judgement: Judgement) -> dict[str, Any]:
        shown = candidate.text if len(candidate.text) <= _SHOWN else candidate.text[:_SHOWN] + "…"
        return {
            "question": f"Keep this beyond the project {candidate.project}, as {candidate.agent}'s?\n{shown}",
            "context": f"{candidate.address}: {judgement.kind} ({judgement.by}: {judgement.because})",
            "subject": candidate.address,
            "agent": candidate.agent,
            "effect": {**effect_of(candidate, judgement), "sleep": change, "owner": candidate.owner},
        }

    def _note(self, what: Mapping[str, Any]) -> None:
        """Write down what is to follow the change, so that it does whatever happens after the commit."""
        path = os.path.join(self._folder, _PENDING)
        self._storage.vault.check_inside(path, f"{_FOLDER}/{_PENDING}")
        with writing(path):
            make_folder(self._folder)
            replace_file(path, (json.dumps(what, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass"))

    def _finish(self) -> list[str]:
        """Do what follows a change that was committed; nothing where none was. The ids of the choices."""
        path = os.path.join(self._folder, _PENDING)
        try:
            noted = json.loads(read_bytes(path))
            change, questions, archives = str(noted["change"]), list(noted["questions"]), list(noted["archives"])
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            change, questions, archives = "", [], []
        asked: list[str] = []
        with self._storage.locked():
            done = bool(change and self._storage.journal.lines_of(change)) and not _is_undone(self._storage, change)
        if done:
            for one in filter(_is_question, questions):
                asked.append(self._ask(one))
            for one in archives:
                project, _, stage = str(one).partition("/")
                with self._storage.locked(), suppress(BadName):
                    set_stage_aside(self._storage.vault, change, project, stage)
        with self._storage.locked():
            if done and _is_undone(self._storage, change):
                # Somebody took the change back while this was under way, which knew only of what was done by then.
                take_back_sleep(self._storage, change, [str(one).split("/", 1) for one in archives])
            with writing(path):
                remove_file(path)
        return asked

    def _ask(self, one: Mapping[str, Any]) -> str:
        effect, subject = one["effect"], str(one["subject"])
        for choice in self._box.all():
            if choice.subject == subject and choice.effect.get("action") == effect["action"]:
                if choice.effect.get("hash") == effect["hash"]:
                    return choice.id
                if choice.is_open:
                    self._box.cancel(choice.id, by=ACTOR, reason="the text has changed; it is asked anew")
        made = self._box.ask(
            str(one["question"]),
            OPTIONS,
            context=str(one["context"]),
            agent=str(one["agent"]),
            subject=subject,
            effect=effect,
        )
        return made.id


def _is_question(noted: object) -> bool:
    """Whether this is a question as it was noted; what a person or a fault has made of it may be anything."""
    if not isinstance(noted, dict) or not isinstance(noted.get("effect"), dict):
        return False
    texts = [noted.get(key) for key in ("question", "context", "subject", "agent")]
    return (
        bool(noted.get("question"))
        and all(isinstance(t, str) for t in texts)
        and {"action", "hash"} <= noted["effect"].keys()
    )


def _log(transaction: Transaction, plan: SleepPlan) -> None:
    detail = {
        "stages": [list(one) for one in plan.stages],
        "added": len(plan.added),
        "promoted": len(plan.promoted),
        "asked": len(plan.asked),
        "superseded": len(plan.superseded),
        "archives": [list(one) for one in plan.archives],
    }
    transaction.note(sleep={"archives": detail["archives"]})
    transaction.log("sleep", detail=detail)


def consolidated_stages(storage: Storage) -> frozenset[tuple[str, str, str]]:
    """The stages that sleeps which stand have taken in: project, name, and when they ended."""
    undone: set[str] = set()
    found: set[tuple[str, str, str]] = set()
    for entry in storage.journal.read_backwards():
        undoes = entry.detail.get("undoes")
        if entry.action == "restore" and isinstance(undoes, str) and change_of(entry.id) not in undone:
            undone.add(change_of(undoes))
        elif entry.action == "sleep" and change_of(entry.id) not in undone:
            with suppress(TypeError, ValueError):
                found |= {
                    (str(project), str(stage), str(ended)) for project, stage, ended in entry.detail.get("stages", ())
                }
    return frozenset(found)


def _is_undone(storage: Storage, change: str) -> bool:
    undone: set[str] = set()
    for entry in storage.journal.read_backwards():
        if entry.action == "restore" and change_of(entry.id) not in undone:
            undone.add(change_of(str(entry.detail.get("undoes", ""))))
        if change_of(entry.id) == change:
            break
    return change in undone


def take_back_sleep(storage: Storage, change: str, archives: Sequence[Sequence[str]]) -> list[str]:
    """Withdraw the open questions of a sleep and bring its old stages back; what was done, in words. Needs the lock."""
    from memoranda.core.choices import Choice
    from memoranda.storage.choice_files import ChoiceFiles

    notes: list[str] = []
    files = ChoiceFiles(storage.vault)
    for choice in files.all():
        if isinstance(choice, Choice) and choice.effect.get("sleep") == change and choice.is_open:
            files.remove(choice.id)
            notes.append(f"withdrew the question {choice.id}")
    for project, stage in archives:
        if bring_stage_back(storage.vault, change, str(project), str(stage)):
            notes.append(f"brought back the stage {project}/{stage}")
    # A stage that held nothing to be kept leaves no file changed, and is taken back like any other.
    return notes or ["the next sleep takes in anew what this one took in"]
