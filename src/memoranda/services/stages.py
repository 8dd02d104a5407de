"""A stage of work as it goes on: what is said, called, noted and thought is on disk once the call returns."""

from __future__ import annotations

from memoranda.core.errors import BadName, BadText, UsageError
from memoranda.core.names import check_identifier, normalize_newlines
from memoranda.core.records import replace
from memoranda.core.stages import StageRecord, stage_source
from memoranda.retrieval.rendering import strip_injected
from memoranda.services.cleaning import merged, without_secrets
from memoranda.services.extraction.json_pieces import joined_halves
from memoranda.services.redaction import redact
from memoranda.storage.clock import written_moment
from memoranda.storage.stage_files import StageFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from memoranda.core.model import Redaction
    from memoranda.core.ports import Clock
    from memoranda.core.stages import StageArchive
    from memoranda.storage.open_stages import OpenStage
    from memoranda.storage.store import Storage

__all__ = ["Stage", "open_stage"]


def open_stage(storage: Storage, name: str, project: str, agent: str = "") -> Stage:
    """Begin a stage or go on with it; see :meth:`memoranda.Vault.stage`."""
    if agent:
        agent = check_identifier(agent, "an agent")
    if redact(f"{project} {name} {agent}")[1]:
        raise BadName("a project, a stage or an agent may not be called by a secret; nothing was written")
    begun = written_moment(storage.clock.now())
    return Stage(StageFiles(storage.vault).open(project, name, agent=agent, begun=begun), storage.clock)


class Stage:
    """One stage of work, in memory and on disk; made by :meth:`memoranda.Vault.stage`.

    In a ``with`` block it ends with the block, unless an exception leaves that:
    then it stays open on disk, to be gone on with. Secrets and recalled blocks
    are taken out before anything is written; every call says which secrets.
    """

    def __init__(self, opened: OpenStage, clock: Clock) -> None:
        self._opened = opened
        self._clock = clock
        self._redactions: tuple[Redaction, ...] = ()

    @property
    def name(self) -> str:
        """The stage's name, as its file is called."""
        return self._opened.head.stage

    @property
    def project(self) -> str:
        """The id of the project whose stage it is."""
        return self._opened.head.project

    @property
    def agent(self) -> str:
        """Who began it; empty where nobody said so."""
        return self._opened.head.agent

    @property
    def begun(self) -> str:
        """When it was begun, in ISO 8601."""
        return self._opened.head.begun

    @property
    def source(self) -> str:
        """How an item made of it names it as its ``source``."""
        return stage_source(self.project, self.name)

    @property
    def records(self) -> tuple[StageRecord, ...]:
        """What happened so far, also before this process opened it; from memory. Raises VaultUnreadable."""
        return self._opened.records

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """All that was replaced since it was opened."""
        return self._redactions

    def say(self, text: str, *, role: str = "user", speaker: str = "") -> tuple[Redaction, ...]:
        """Keep what somebody said; durable when this returns.

        Raises:
            BadText: nothing is left of the text.
            Conflict: the stage is closed.
            VaultFull, VaultReadOnly: it was not kept.
        """
        return self._add(StageRecord("dialogue", role=role, speaker=speaker, text=text))

    def tool(self, name: str, arguments: Any = None, result: str = "") -> tuple[Redaction, ...]:
        """Keep a call of a tool, with its arguments (what JSON can hold) and what it gave; raises as :meth:`say`.

        Raises:
            UsageError: the tool has no name, or JSON cannot hold the arguments.
        """
        return self._add(StageRecord("tool", tool=name, arguments=_as_json(arguments), result=result))

    def note(self, text: str) -> tuple[Redaction, ...]:
        """Keep a note; raises as :meth:`say`."""
        return self._add(StageRecord("note", text=text))

    def reason(self, text: str) -> tuple[Redaction, ...]:
        """Keep a piece of reasoning; raises as :meth:`say`."""
        return self._add(StageRecord("reasoning", text=text))

    def _add(self, record: StageRecord) -> tuple[Redaction, ...]:
        given = {name: getattr(record, name) for name in ("role", "speaker", "text", "tool", "arguments", "result")}
        kept, found = _cleaned(given)
        if record.kind == "tool":
            if not kept["tool"].strip():
                raise UsageError("a tool has a name")
        elif not kept["text"].strip():
            recalled = "the text is only a recalled block; there is nothing new to keep"
            raise BadText(recalled if record.text.strip() else "the text is empty")
        self._opened.append(replace(record, ts=written_moment(self._clock.now()), **kept))
        self._redactions = merged(self._redactions, found)
        return found

    def end(self, summary: str = "") -> StageArchive:
        """End the stage: all of it is in one readable file then, and nothing can be added.

        Raises:
            Conflict: it is closed.
            VaultFull, VaultReadOnly: it goes on.
        """
        kept, found = _cleaned({"summary": summary})
        archive = self._opened.finish(written_moment(self._clock.now()), kept["summary"].strip())
        self._redactions = merged(self._redactions, found)
        return archive

    def close(self) -> None:
        """Leave it open on disk, for whoever opens it next. Does nothing for one that is closed or has ended."""
        self._opened.close()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._opened.is_closed:
            self.end()
        else:
            self.close()


def _cleaned(values: dict[str, Any]) -> tuple[dict[str, Any], tuple[Redaction, ...]]:
    """The values as they may be written, by name, and what was replaced in them."""
    found: list[Redaction] = []
    kept = {}
    for name, value in values.items():
        if name != "arguments" and not isinstance(value, str):
            raise UsageError(f"{name} is a text, not {type(value).__name__}")
        kept[name] = without_secrets(value, found, lambda text: strip_injected(normalize_newlines(joined_halves(text))))
    return kept, merged((), tuple(found))


def _as_json(value: Any) -> Any:
    """The value as it will be read again. Raises UsageError: JSON cannot hold it."""
    import json

    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a tool's arguments are what JSON can hold: {error}") from None
