"""A stage: what is said, done and thought in one stretch of work, and what is kept of it once that has ended."""

from __future__ import annotations

from memoranda.core.errors import BadName
from memoranda.core.names import check_identifier
from memoranda.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "STAGE_KINDS",
    "StageArchive",
    "StageRecord",
    "archive_from_record",
    "header_of",
    "parse_stage",
    "record_from_json",
    "record_to_json",
    "stage_source",
    "texts_of",
]

STAGE_KINDS = ("dialogue", "tool", "note", "reasoning")

#: Of the records in ``projects/<project>/stages/``.
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One thing that happened in a stage.

    ``role`` and ``speaker`` are of dialogue; ``tool``, ``arguments`` (a JSON
    value) and ``result`` of a call. ``ts`` is ISO 8601 or empty. Of a
    ``forgotten`` one only its kind and its moment are left.
    """

    kind: str
    ts: str = ""
    role: str = ""
    speaker: str = ""
    text: str = ""
    tool: str = ""
    arguments: Any = None
    result: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    forgotten: bool = False

    def blanked(self) -> StageRecord:
        """The same without anything that it said."""
        return StageRecord(self.kind, self.ts, forgotten=True)


@dataclass(frozen=True, slots=True)
class StageArchive:
    """A stage as a whole. ``ended`` is empty while it goes on; ``extra`` is what others wrote beside our own keys."""

    stage: str
    project: str
    agent: str = ""
    begun: str = ""
    ended: str = ""
    records: tuple[StageRecord, ...] = ()
    summary: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """How memories made of it name where they come from."""
        return stage_source(self.project, self.stage)


_TEXTS = ("kind", "ts", "role", "speaker", "text", "tool", "result")
_OWN = frozenset({*_TEXTS, "arguments", "forgotten"})
_HEAD = ("stage", "project", "agent", "begun", "ended", "summary")
_OWN_HEAD = frozenset({*_HEAD, "format", "records"})


def record_to_json(record: StageRecord) -> dict[str, Any]:
    """The record as a JSON object, without what it does not say."""
    values = {name: value for name in _TEXTS if (value := getattr(record, name))}
    if record.arguments is not None:
        values["arguments"] = record.arguments
    if record.forgotten:
        values["forgotten"] = True
    return {**values, **record.extra}


def record_from_json(value: object) -> StageRecord:
    """The record in a JSON object. Raises ValueError: it holds none; the message says why."""
    if not isinstance(value, dict):
        raise ValueError(f"a record is a JSON object, not {_shown(value)}")
    for name in _TEXTS:
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f"{name} is a text, not {_shown(value[name])}")
    if value.get("kind") not in STAGE_KINDS:
        raise ValueError(f"kind is one of {', '.join(STAGE_KINDS)}, not {_shown(value.get('kind'))}")
    return StageRecord(
        **{name: value.get(name, "") for name in _TEXTS},
        arguments=value.get("arguments"),
        extra={key: one for key, one in value.items() if key not in _OWN},
        forgotten=value.get("forgotten") is True,
    )


def header_of(archive: StageArchive) -> dict[str, Any]:
    """All of a stage but its records, as a JSON object."""
    values = {name: value for name in _HEAD if (value := getattr(archive, name))}
    return {"format": _FORMAT, **values, **archive.extra}


def archive_from_record(value: object) -> StageArchive:
    """The stage in a JSON object; one without records is the header of one that goes on.

    Raises:
        ValueError: it holds none, or one that a newer program wrote; the message says which part is wrong.
    """
    if not isinstance(value, dict):
        raise ValueError(f"a stage is a JSON object, not {_shown(value)}")
    known = value.get("format", _FORMAT)
    if known != _FORMAT:
        raise ValueError(f"its format is {_shown(known)}; this program knows {_FORMAT}")
    for name in _HEAD:
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f"{name} is a text, not {_shown(value[name])}")
    for name in ("stage", "project"):
        if not value.get(name):
            raise ValueError(f"it does not say which {name} it is")
    rows = value.get("records", [])
    if not isinstance(rows, list):
        raise ValueError(f"records is a list, not {_shown(rows)}")
    records = []
    for number, row in enumerate(rows, 1):
        try:
            records.append(record_from_json(row))
        except ValueError as error:
            raise ValueError(f"record {number}: {error}") from None
    return StageArchive(
        **{name: value.get(name, "") for name in _HEAD},
        records=tuple(records),
        extra={key: one for key, one in value.items() if key not in _OWN_HEAD},
    )


def stage_source(project: str, stage: str) -> str:
    """The source of what was made of a stage: ``stage/<project>/<stage>``."""
    return f"stage/{project}/{stage}"


def parse_stage(text: str) -> tuple[str, str] | None:
    """The project and the stage in ``stage/<project>/<stage>``, also in that of one record (``#4``).

    ``None`` if it is no such source.
    """
    head, *names = text.strip().partition("#")[0].split("/")
    if head != "stage" or len(names) != 2:
        return None
    try:
        return check_identifier(names[0], "a project's id"), check_identifier(names[1], "a stage")
    except BadName:
        return None


def texts_of(record: StageRecord) -> Iterator[str]:
    """Every text that a record holds, those within its arguments too."""
    yield from filter(None, (record.text, record.result, record.speaker, record.role, record.tool))
    waiting: list[Any] = [record.arguments, record.extra]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"
