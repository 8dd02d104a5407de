"""Sleep and what goes with it, as :class:`memoranda.Vault` offers it; loaded by who sleeps or makes a prompt."""

from __future__ import annotations

import threading
import time

from memoranda.core.addresses import parse_scope
from memoranda.core.records import dataclass
from memoranda.services.context import make_context
from memoranda.services.idle import activity
from memoranda.services.kind_judging import ModelJudge
from memoranda.services.recall import recall
from memoranda.services.sleep import Interrupted, Sleep
from memoranda.services.sleep_preview import Probe, check_recall, copied, differences, made_probes
from memoranda.storage.stage_files import StageFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memoranda.bootstrap.upkeep import Upkeep
    from memoranda.core.ports import LanguageModel
    from memoranda.services.contents import Progress
    from memoranda.services.context import PromptContext
    from memoranda.services.sleep import Slept
    from memoranda.services.sleep_preview import RecallCheck

__all__ = ["IdleSleep", "SleepPreview", "context", "preview", "sleep"]

#: Seconds between two looks at whether somebody works.
_LOOK = 0.25


@dataclass(frozen=True, slots=True)
class SleepPreview:
    """What a sleep would do: the same as :class:`memoranda.services.sleep.Slept`, its lines as a diff, the recall."""

    slept: Slept
    diff: tuple[str, ...]
    recall: RecallCheck


def sleep(
    vault: Upkeep, model: LanguageModel | None, interrupt: Callable[[], bool], progress: Progress | None
) -> Slept:
    """See :meth:`memoranda.Vault.sleep`."""
    storage = vault._storage
    began, looked = activity(storage), time.monotonic()
    judges = ModelJudge(storage, model, vault.settings.kinds)

    def checkpoint() -> None:
        nonlocal looked
        works = interrupt()
        if not works and time.monotonic() - looked > _LOOK:
            works, looked = activity(storage) != began, time.monotonic()
        if works:
            raise Interrupted("somebody works; sleep goes on another time")

    return Sleep(
        vault._writer,
        vault.choices,
        StageFiles(storage.vault),
        vault.items,
        judges=judges,
        checkpoint=checkpoint,
        progress=progress,
    ).run()


def preview(
    vault: Upkeep, probes: Sequence[Probe], model: LanguageModel | None, progress: Progress | None
) -> SleepPreview:
    """See :meth:`memoranda.Vault.preview_sleep`."""
    wanted = list(probes) or made_probes(vault.items())
    projects = vault.settings.projects
    with copied(vault.root, projects) as root, vault._open_apart(root) as copy:
        slept = copy.sleep(model=model, progress=progress)
        successors = {old: new for old, new, _ in slept.superseded}
        checked = check_recall(
            wanted, lambda probe: _found(vault, probe), lambda probe: _found(copy, probe), successors
        )
        return SleepPreview(slept, tuple(differences(vault.root, root, projects)), checked)


def _found(vault: Upkeep, probe: Probe) -> list[str]:
    """The addresses that a question finds, which counts as no use of them."""
    found = recall(
        vault._storage,
        vault._contents,
        probe.question,
        k=10,
        budget=None,
        levels=("item",),
        scopes=probe.scopes or None,
        mode="keyword",
        as_of=None,
        explain=False,
        deadline=float("inf"),
        noted=False,
    )
    return [hit.address for hit in found.hits]


def context(vault: Upkeep, project: str, agent: str, stage: str, query: str, budget: int) -> PromptContext:
    """See :meth:`memoranda.Vault.context`."""
    scopes = [f"{kind}/{name}" for kind, name in (("project", project), ("agent", agent)) if name]
    items = [item for scope in scopes for item in vault.items(scope=str(parse_scope(scope)))]
    return make_context(
        items,
        project=project,
        agent=agent,
        stage=vault.stage_archive(project, stage) if stage else None,
        budget=budget,
        usage_path=vault._storage.vault.path("usage.jsonl"),
        now=vault.clock.now(),
        zone=vault.clock.zone(),
        found=(lambda scope: _found(vault, Probe(query, scopes=(scope,)))) if query else None,
    )


class IdleSleep:
    """A thread that lets a vault sleep while nobody works. Faults are kept in ``fault``; it goes on."""

    def __init__(self, vault: Upkeep, model: LanguageModel | None, every: float) -> None:
        self._vault, self._model, self._every = vault, model, every
        self._stopped = threading.Event()
        self._looked = 0.0
        #: What the newest sleep did, and what went wrong last, in words.
        self.slept: Slept | None = None
        self.fault = ""
        self._thread = threading.Thread(target=self._run, name="memoranda-sleep", daemon=True)
        self._thread.start()

    def __enter__(self) -> IdleSleep:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Interrupt a sleep that is under way, and end."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._every):
            try:
                if not self._vault.why_not_sleep():
                    self.slept = self._vault.sleep(model=self._model, interrupt=self._interrupted)
                    self.fault = ""
            except Interrupted:
                continue
            except Exception as error:  # whatever it is, another time may go better
                self.fault = str(error) or type(error).__name__

    def _interrupted(self) -> bool:
        if self._stopped.is_set():
            return True
        if time.monotonic() - self._looked < _LOOK:
            return False
        works = bool(self._vault.why_not_sleep())
        self._looked = time.monotonic()
        return works
