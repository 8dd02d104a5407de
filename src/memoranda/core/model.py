"""What flows between the floors: frozen values without behaviour of their own."""

from __future__ import annotations

from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from memoranda.core.addresses import Address
    from memoranda.core.links import Link
    from memoranda.core.metadata import Metadata

__all__ = [
    "Forgotten",
    "Imported",
    "Item",
    "JournalEntry",
    "Level",
    "Problem",
    "Redaction",
    "Turn",
    "Written",
]

if TYPE_CHECKING:
    Level = Literal["item", "resource", "passage"]
    Status = Literal[
        "added", "revised", "appended", "renamed", "removed", "restored", "unchanged", "duplicate", "pending"
    ]
else:
    Level = Status = str


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault in a person's file. ``line`` counts from 1; 0 means the whole file."""

    path: str
    line: int
    kind: str
    message: str
    repairable: bool = False

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Item:
    """One remembered thing: a named entry of a category file.

    ``text`` is the entry without its heading and metadata comment, with ``\\n``
    line endings; ``hash`` is :func:`memoranda.core.names.content_hash` of it;
    ``path`` is relative to the vault and ``line`` counts from 1.
    """

    address: Address
    text: str
    metadata: Metadata = EMPTY_METADATA
    links: tuple[Link, ...] = ()
    hash: str = ""
    path: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        """The item's name, or its ``~hash`` or ``^block`` stand-in."""
        return self.address.name or ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation as it was said. ``ts`` is ISO 8601 or empty."""

    conversation: str
    turn: str
    text: str
    ts: str = ""
    speaker: str = ""
    role: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret that was replaced before writing: its kind and how many times, never its text."""

    kind: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Written:
    """What a writing call did. ``journal_id`` is what ``undo`` takes; ``None`` when nothing changed."""

    address: str
    status: Status
    hash: str = ""
    journal_id: str | None = None
    redactions: tuple[Redaction, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: counts of records, and the faulty ones by line; ``queued`` exchanges are to be memorized."""

    added: int = 0
    unchanged: int = 0
    conflicts: int = 0
    skipped: int = 0
    problems: tuple[Problem, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    queued: int = 0

    @property
    def total(self) -> int:
        """How many records were looked at."""
        return self.added + self.unchanged + self.conflicts + self.skipped


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What ``forget`` removed, or (``preview``) would remove; ``choices`` are the ids of questions about it.

    ``stages`` are the stages (``stage/<project>/<stage>``) that lost what they held of it.
    """

    items: tuple[str, ...]
    turns: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    history_records: int = 0
    journal_id: str | None = None
    preview: bool = False
    warnings: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line of ``journal.jsonl``. ``before`` and ``after`` are content hashes, never bodies."""

    id: str
    ts: str
    action: str
    category: str | None = None
    item: str | None = None
    scope: str = "shared"
    actor: str = "user"
    source: str | None = None
    before: str | None = None
    after: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
