"""Finding what is to be forgotten: items by address, turns by id."""

from __future__ import annotations

from contextlib import suppress

from memoranda.core.addresses import Scope, parse_address, parse_turn
from memoranda.core.errors import Conflict, NotFound, UsageError, VaultUnreadable
from memoranda.core.exchanges import MERGED_FROM, REPLY, split_sources
from memoranda.core.names import check_identifier, name_key
from memoranda.core.records import dataclass, field
from memoranda.core.stages import parse_stage
from memoranda.services.linking import item_key
from memoranda.services.stage_forgetting import stage_key, stages_about
from memoranda.storage.snapshot import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.addresses import Address, TurnAddress
    from memoranda.core.metadata import Metadata
    from memoranda.core.model import Turn
    from memoranda.storage.inbox import Inbox
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage

__all__ = ["Doomed", "find_doomed"]


@dataclass(slots=True)
class Doomed:
    """What is to be forgotten. ``user`` is set where a person's whole memory goes."""

    items: dict[str, Address] = field(default_factory=dict)
    turns: set[tuple[str, str]] = field(default_factory=set)
    #: Turns that items came from and that were never brought in: they must not be later, either.
    absent: set[tuple[str, str]] = field(default_factory=set)
    conversations: set[str] = field(default_factory=set)
    #: Ids of exchanges in the inbox that hold such turns.
    queued: set[str] = field(default_factory=set)
    #: The turns of these.
    waiting: set[tuple[str, str]] = field(default_factory=set)
    #: The stages that lose everything (see :func:`memoranda.services.stage_forgetting.stage_key`).
    stages: set[tuple[str, str]] = field(default_factory=set)
    user: str | None = None

    def takes(self, turn: Turn) -> bool:
        """Whether a turn is to be blanked."""
        return (
            (turn.conversation, turn.turn) in self.turns
            or turn.conversation in self.conversations
            or (self.user is not None and bool(turn.speaker) and name_key(turn.speaker) == name_key(self.user))
        )


def find_doomed(
    storage: Storage,
    resources: Resources,
    inbox: Inbox,
    address: str | None,
    source: str | None,
    user: str | None,
    derived: bool,
) -> Doomed:
    """What an address, a source or a user stands for, and what came from it.

    Raises:
        NotFound: nothing, in the files or in the history.
        UsageError: not one thing was named, or it is no address, source or user.
    """
    if sum(value is not None for value in (address, source, user)) != 1:
        raise UsageError("forget one thing at a time: an address, a source or a user")
    found = Doomed()
    if address is not None:
        _find_address(storage, address, derived, found)
    elif source is not None:
        _find_source(storage, source, found)
    else:
        _find_user(storage, user or "", found)
    _find_copies(storage, found)
    _find_queued(inbox, found)
    _resolve_turns(resources, found)
    if not (found.items or found.turns or found.queued or stages_about(storage, found.stages, found.user)):
        raise NotFound(f"there is nothing of {address or source or user} to forget")
    return found


def _find_address(storage: Storage, text: str, derived: bool, found: Doomed) -> None:
    if text.startswith("turn/"):
        turn = parse_turn(text)
        if turn is None or turn.turn is None:
            raise UsageError(f"{text!r} is no turn; a whole conversation is forgotten with source=")
        found.turns.add((turn.conversation, turn.turn))
        if derived:
            _find_derived(storage, turn, found)
        return
    wanted = parse_address(text)
    if wanted.name is None:
        raise UsageError(f"{text!r} is a category; an item's address is CATEGORY:NAME")
    for present, metadata in _items(storage):
        if _same(present, wanted):
            found.items[str(present)] = present
            for origin in _origins(metadata):
                if origin.turn is not None:
                    found.turns.add((origin.conversation, origin.turn))
                if derived:
                    _find_derived(storage, origin, found)
            if derived:
                for stage in _stages(metadata):
                    _find_derived_of_stage(storage, stage, found)
    if not found.items and _was_there(storage, wanted):
        # Gone from the files already, but not from the history.
        found.items[str(wanted)] = wanted
    if not found.items:
        raise NotFound(f"there is no {wanted}")


def _same(one: Address, other: Address) -> bool:
    return one.key[:2] == other.key[:2] and item_key(one.name) == item_key(other.name)


def _find_copies(storage: Storage, found: Doomed) -> None:
    """What was promoted names the item it was copied from as its source."""
    if not found.items:
        return
    sources: dict[tuple[str, str, str], list[Address]] = {}
    for present, metadata in _items(storage):
        if metadata.source and ":" in metadata.source:
            with suppress(UsageError):
                sources.setdefault(parse_address(metadata.source).key, []).append(present)
    waiting = list(found.items.values())
    while waiting:
        for copy in sources.get(waiting.pop().key, ()):
            if str(copy) not in found.items:
                found.items[str(copy)] = copy
                waiting.append(copy)


def _was_there(storage: Storage, wanted: Address) -> bool:
    for record in storage.history.read_backwards():
        for change in record.items:
            category = storage.vault.address_at(change.path)
            for state in (change.before, change.after):
                if category is not None and state is not None and _same(category.named(state.name), wanted):
                    return True
    return False


def _find_source(storage: Storage, source: str, found: Doomed) -> None:
    if (stage := parse_stage(source)) is not None:
        _find_derived_of_stage(storage, stage_key(*stage), found)
        return
    turn = parse_turn(source)
    if turn is None:
        raise UsageError(f"a source is a conversation, CONVERSATION#TURN or stage/PROJECT/STAGE, not {source!r}")
    if turn.turn is None:
        found.conversations.add(turn.conversation)
    else:
        found.turns.add((turn.conversation, turn.turn))
    _find_derived(storage, turn, found)


def _find_queued(inbox: Inbox, found: Doomed) -> None:
    """What waits to be memorized, or to be looked at, and holds a turn that goes. It goes whole."""
    scope = None if found.user is None else name_key(str(Scope("user", found.user)))
    for queued, exchange in inbox.all():
        owner = name_key((exchange.owner or "").removeprefix("user:"))
        theirs = found.user is not None and (name_key(exchange.scope) == scope or owner == name_key(found.user))
        if theirs or any(found.takes(turn) for turn in exchange.turns):
            found.queued.add(queued)
            # Also where they come once more they are not taken in.
            found.waiting |= {(exchange.conversation, turn.turn) for turn in exchange.turns}
    found.turns |= found.waiting


def _find_derived(storage: Storage, wanted: TurnAddress, found: Doomed) -> None:
    for present, metadata in _items(storage):
        for origin in _origins(metadata):
            if origin.conversation != wanted.conversation or wanted.turn not in (None, origin.turn):
                continue
            found.items[str(present)] = present
            if origin.turn is not None:
                found.turns.add((origin.conversation, origin.turn))


def _find_derived_of_stage(storage: Storage, wanted: tuple[str, str], found: Doomed) -> None:
    found.stages.add(wanted)
    for present, metadata in _items(storage):
        if wanted in _stages(metadata):
            found.items[str(present)] = present


def _stages(metadata: Metadata) -> set[tuple[str, str]]:
    """The stages that an item comes from."""
    texts = (metadata.source or "", *split_sources(metadata.get(MERGED_FROM)))
    return {stage_key(*stage) for text in texts if (stage := parse_stage(text)) is not None}


def _origins(metadata: Metadata) -> Iterator[TurnAddress]:
    """The turns that an item comes from: its source, and what was merged into it."""
    for text in (metadata.source or "", *split_sources(metadata.get(MERGED_FROM))):
        origin = parse_turn(text) if text else None
        if origin is not None:
            yield origin


def _find_user(storage: Storage, user: str, found: Doomed) -> None:
    name = check_identifier(user.removeprefix("user/").removeprefix("user:"), "a user")
    key = name_key(name)
    scope = name_key(str(Scope("user", name)))
    for present, metadata in _items(storage):
        owner = (metadata.owner or "").removeprefix("user:").removeprefix("user/")
        if name_key(str(present.scope)) == scope or name_key(owner) == key:
            found.items[str(present)] = present
    found.user = name


def _items(storage: Storage) -> Iterator[tuple[Address, Metadata]]:
    for file in scan(storage.vault).files.values():
        loaded = None
        with suppress(Conflict, VaultUnreadable):
            loaded = storage.reader.read(file.path)
        if loaded is not None:
            for section in loaded.category.sections:
                yield file.address.named(section.address_name), section.metadata


def _resolve_turns(resources: Resources, found: Doomed) -> None:
    """Leave just the turns that there are and that hold something still."""
    if not (found.turns or found.conversations or found.user):
        return
    turns = [turn for file in resources.files() for turn in resources.read(file.path)]
    found.absent = found.turns - {(t.conversation, t.turn) for t in turns}
    taken = {(t.conversation, t.turn) for t in turns if found.takes(t)}
    # What was answered to a turn repeats it more often than not.
    taken |= {(t.conversation, t.turn) for t in turns if (t.conversation, t.turn.removesuffix(REPLY)) in taken}
    found.turns = {(t.conversation, t.turn) for t in turns if not t.forgotten and (t.conversation, t.turn) in taken}
