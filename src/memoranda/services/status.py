"""What a vault holds, in numbers, and everything in it as plain records."""

from __future__ import annotations

from memoranda.core.records import asdict, dataclass
from memoranda.storage.vault import FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memoranda.index.entries import Entry
    from memoranda.services.overview import CategorySummary
    from memoranda.storage.inbox import Inbox
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage

__all__ = [
    "ConversationSummary",
    "QueueStatus",
    "Status",
    "conversations",
    "export",
    "queue_status",
    "status_of",
]


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One conversation: where its file is, how many turns it has, and when they were said."""

    conversation: str
    path: str
    turns: int
    first_ts: str = ""
    last_ts: str = ""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """What waits to be memorized: how many, how many a person should look at, and why the oldest one still waits."""

    queued: int
    parked: int
    waiting_for: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """A vault in numbers.

    ``torn`` counts broken lines of journal and history; ``queued``, ``parked``
    and ``waiting_for`` are those of :class:`QueueStatus`; ``open_choices``
    counts questions that wait for a person's answer.
    """

    root: str
    id: str
    format: int
    scopes: tuple[str, ...]
    categories: int
    items: int
    conversations: int
    turns: int
    changes: int
    last_change: str | None
    torn: int
    problems: int
    queued: int = 0
    parked: int = 0
    waiting_for: str = ""
    open_choices: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return asdict(self)


def conversations(resources: Resources) -> list[ConversationSummary]:
    """Every conversation, oldest month first. Raises VaultUnreadable."""
    found: dict[str, list[Any]] = {}
    for file in resources.files():
        for turn in resources.read(file.path):
            row = found.setdefault(turn.conversation, [file.relative, 0, "", ""])
            row[1] += 1
            row[2] = row[2] or turn.ts
            row[3] = turn.ts or row[3]
    return [ConversationSummary(conversation, *row) for conversation, row in found.items()]


def status_of(
    storage: Storage, resources: Resources, inbox: Inbox, summaries: list[CategorySummary], problems: int
) -> Status:
    """The status of a vault. Raises VaultUnreadable."""
    queue = queue_status(inbox)
    talks = conversations(resources)
    changes, last = 0, None
    for entry in storage.journal.read():
        changes, last = changes + 1, entry.ts
    return Status(
        root=storage.vault.root,
        id=storage.vault.id,
        format=FORMAT,
        scopes=tuple(sorted({summary.scope for summary in summaries})),
        categories=len(summaries),
        items=sum(summary.items for summary in summaries),
        conversations=len(talks),
        turns=sum(talk.turns for talk in talks),
        changes=changes,
        last_change=last,
        torn=storage.journal.torn() + storage.history.torn(),
        problems=problems,
        queued=queue.queued,
        parked=queue.parked,
        waiting_for=queue.waiting_for,
        open_choices=_open_choices(storage),
    )


def _open_choices(storage: Storage) -> int:
    from memoranda.core.choices import Choice
    from memoranda.storage.choice_files import ChoiceFiles

    now = storage.clock.now()
    found = (one for one in ChoiceFiles(storage.vault).all() if isinstance(one, Choice))
    return sum(choice.is_open and not choice.is_due(now) for choice in found)


def queue_status(inbox: Inbox) -> QueueStatus:
    """The status of what is to be memorized. Raises VaultUnreadable."""
    queued = inbox.ids()
    return QueueStatus(len(queued), inbox.parked_count(), inbox.work(queued[0]).error if queued else "")


def export(items: list[Entry], resources: Resources) -> Iterator[dict[str, Any]]:
    """Every item, then every turn, as JSON objects: what an import elsewhere needs."""
    for entry in sorted(items, key=lambda e: e.address):
        yield {
            "kind": "item",
            "address": entry.address,
            "scope": entry.scope,
            "category": entry.category,
            "name": entry.name,
            "text": entry.text,
            "hash": entry.hash,
            "metadata": dict(entry.metadata.pairs),
            "links": [link.target for link in entry.links],
            "citation": entry.citation,
        }
    for file in resources.files():
        for turn in resources.read(file.path):
            if not turn.forgotten:
                row = {"conversation": turn.conversation, "turn": turn.turn, "ts": turn.ts}
                row |= {"speaker": turn.speaker, "role": turn.role, "text": turn.text}
                yield {"kind": "turn", **row, **turn.extra}
