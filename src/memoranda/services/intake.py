"""Taking in what another program remembered: its items become ours, marked with where they come from."""

from __future__ import annotations

from memoranda.core.errors import Conflict, UsageError
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Imported, Problem, Redaction
from memoranda.core.records import dataclass
from memoranda.services.remember import field_value, remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memoranda.core.metadata import Metadata
    from memoranda.services.conversations import Progress
    from memoranda.services.writer import Writer

__all__ = ["ForeignItem", "import_items"]


@dataclass(frozen=True, slots=True)
class ForeignItem:
    """An item as another program kept it; ``path`` (relative to the source) and ``line`` say where it was read."""

    category: str
    name: str | None
    text: str
    metadata: Metadata = EMPTY_METADATA
    path: str = ""
    line: int = 0


def import_items(
    writer: Writer, items: Iterable[ForeignItem | Problem], origin: str, progress: Progress | None = None
) -> Imported:
    """Remember every item that can be; the rest is listed. The same import twice changes nothing.

    All of it is one change, which one ``undo`` takes back. Raises VaultFull,
    VaultReadOnly, Conflict: nothing was written.
    """
    counts = {"added": 0, "unchanged": 0, "skipped": 0}
    problems: list[Problem] = []
    redactions: dict[str, int] = {}
    number = 0
    with writer.batch():
        for number, item in enumerate(items, 1):
            if isinstance(item, Problem):
                problems.append(item)
                counts["skipped"] += 1
                continue
            address = item.category if item.name is None else f"{item.category}:{item.name}"
            fields, faults = _fields(writer, item)
            problems += faults
            fields.setdefault("trust", "untrusted")
            fields.setdefault("actor", f"import:{origin}")
            try:
                written = remember(
                    writer, address, item.text, on_exists="rename", fields=fields, dated=False, linked=False
                )
            except (UsageError, Conflict) as error:
                problems.append(Problem(item.path, item.line, "import", str(error)))
                counts["skipped"] += 1
                continue
            counts["added" if written.status == "added" else "unchanged"] += 1
            for redaction in written.redactions:
                redactions[redaction.kind] = redactions.get(redaction.kind, 0) + redaction.count
            if progress is not None and number % 100 == 0:
                progress(number, None)
    return Imported(
        **counts,
        problems=tuple(problems),
        redactions=tuple(Redaction(kind, count) for kind, count in redactions.items()),
    )


def _fields(writer: Writer, item: ForeignItem) -> tuple[dict[str, str], list[Problem]]:
    """The item's metadata without what cannot be kept: a bad date costs the date, not the item."""
    fields: dict[str, str] = {}
    faults: list[Problem] = []
    for key, value in item.metadata.pairs:
        try:
            if value.strip():
                fields[key] = field_value(key, value.strip(), writer.storage.clock.zone())
        except UsageError as error:
            faults.append(Problem(item.path, item.line, "metadata", f"{key} is left out: {error}"))
    return fields, faults
