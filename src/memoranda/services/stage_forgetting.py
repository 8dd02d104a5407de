"""Stages lose what is forgotten: records that hold a forgotten item's text, that a person said, or all of a stage."""

from __future__ import annotations

from memoranda.core.names import name_key
from memoranda.core.records import replace
from memoranda.core.stages import StageRecord, texts_of
from memoranda.storage.open_stages import UNREADABLE
from memoranda.storage.stage_files import StageFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set
    from typing import Any

    from memoranda.core.stages import StageArchive
    from memoranda.services.scrub import Traces
    from memoranda.storage.store import Storage

__all__ = ["blank_stages", "stage_key", "stages_about"]


def stage_key(project: str, stage: str) -> tuple[str, str]:
    """What two ways of writing one stage have in common."""
    return name_key(project), name_key(stage)


def blank_stages(storage: Storage, stages: Set[tuple[str, str]], user: str | None, traces: Traces) -> tuple[str, ...]:
    """Blank what is forgotten in every stage, open, ended or put away; which stages these were. Needs the lock.

    ``stages`` (by :func:`stage_key`) lose everything, of all others goes what
    ``user`` said and what holds a text of ``traces``.

    Raises:
        VaultReadOnly, VaultFull, VaultBusy.
    """
    blanked: list[str] = []

    def change(archive: StageArchive) -> StageArchive:
        after = _without(archive, stages, user, traces)
        if after != archive:
            blanked.append(archive.source)
        return after

    StageFiles(storage.vault).blank(change)
    return tuple(dict.fromkeys(blanked))


def stages_about(
    storage: Storage, stages: Set[tuple[str, str]], user: str | None, traces: Traces | None = None
) -> tuple[str, ...]:
    """Which stages :func:`blank_stages` would change. Raises VaultUnreadable."""
    found = StageFiles(storage.vault).readable()
    return tuple(one.source for one in found if _without(one, stages, user, traces) != one)


def _without(
    archive: StageArchive, stages: Set[tuple[str, str]], user: str | None, traces: Traces | None
) -> StageArchive:
    whole = stage_key(archive.project, archive.stage) in stages
    key = None if user is None else name_key(user)

    def goes(record: StageRecord) -> bool:
        if whole or (key is not None and bool(record.speaker) and name_key(record.speaker) == key):
            return True
        return traces is not None and any(map(traces.stands_in, texts_of(record)))

    def told(value: Any) -> bool:
        return goes(StageRecord("note", arguments=value))

    records = tuple(one.blanked() if not one.forgotten and goes(one) else one for one in archive.records)
    summary = "" if archive.summary and told(archive.summary) else archive.summary
    extra = {name: value for name, value in archive.extra.items() if not told({name: value})}
    if (records, summary, extra) == (archive.records, archive.summary, archive.extra):
        return archive
    # What lines that cannot be read hold is not to be told.
    extra.pop(UNREADABLE, None)
    return replace(archive, records=records, summary=summary, extra=extra)
