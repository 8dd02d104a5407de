"""Forgetting: an item, a source or a person leaves no text behind, in files, history, caches or journal.

It is the one change that ``undo`` refuses. The work is written down first (by
address, in ``forgetting.json``), so that a crash in the middle is finished on
the next opening.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from memoranda.core.addresses import Address, Scope, TurnAddress, parse_address, parse_turn
from memoranda.core.errors import Conflict, NotFound, UsageError, VaultUnreadable
from memoranda.core.model import Forgotten, Turn
from memoranda.core.names import check_identifier, name_key
from memoranda.services.linking import removed_links, rewrite_links
from memoranda.services.scrub import scrub_history, scrub_journal, scrub_usage
from memoranda.services.writer import Writer
from memoranda.storage.cache import clear_cache
from memoranda.storage.files import remove_file, replace_file, writing
from memoranda.storage.history import ItemChange
from memoranda.storage.resources import Resources
from memoranda.storage.snapshot import scan
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction, run

__all__ = ["forget", "resume"]

_INTENT = "forgetting.json"


@dataclass(slots=True)
class _Found:
    """What is to be forgotten: items by address with their texts, and turns by id."""

    items: dict[str, Address] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    turns: set[tuple[str, str]] = field(default_factory=set)
    conversations: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)

    def takes(self, turn: Turn) -> bool:
        """Whether a turn is to be blanked."""
        return (
            (turn.conversation, turn.turn) in self.turns
            or turn.conversation in self.conversations
            or (bool(turn.speaker) and name_key(turn.speaker) in self.speakers)
        )


def forget(
    writer: Writer,
    resources: Resources,
    address: str | None = None,
    *,
    source: str | None = None,
    user: str | None = None,
    derived: bool = False,
    preview: bool = False,
) -> Forgotten:
    """Remove text for good; see :meth:`memoranda.Vault.forget`."""
    if sum(value is not None for value in (address, source, user)) != 1:
        raise UsageError("forget one thing at a time: an address, a source or a user")
    if writer.in_batch:
        raise UsageError("forget is its own change; end the batch first")
    storage = writer.storage
    found = _Found()
    if address is not None:
        _find_item(storage, resources, address, derived, found)
    elif source is not None:
        _find_source(storage, source, found)
    else:
        _find_user(storage, user or "", found)
    turns = _turns_to_blank(resources, found)
    if not found.items and not turns:
        raise NotFound(f"there is nothing of {address or source or user} to forget")
    warnings = _warnings(storage)
    if preview:
        records = sum(1 for r in storage.history.read() if any(_names(i) & _all_names(found, i.path) for i in r.items))
        return Forgotten(tuple(found.items), tuple(turns), tuple(_links(storage, found)), records, None, True, warnings)
    with storage.locked():
        _write_intent(storage, found, turns)
        return _carry_out(storage, resources, found, turns, warnings)


def resume(storage: Storage, resources: Resources) -> None:
    """Finish what a crash cut short; nothing to do in any other case.

    Raises:
        VaultBusy, VaultReadOnly.
    """
    path = storage.vault.path(_INTENT)
    if not os.path.exists(path):
        return
    with storage.locked():
        with suppress(FileNotFoundError, ValueError, KeyError, TypeError), open(path, "rb") as stream:
            intent = json.load(stream)
            found = _Found(turns={(str(c), str(t)) for c, t in intent["turns"]})
            for text in intent["items"]:
                found.items[text] = parse_address(text)
            _carry_out(storage, resources, found, [f"turn/{c}#{t}" for c, t in sorted(found.turns)], ())
        with writing(path):
            remove_file(path)


def _write_intent(storage: Storage, found: _Found, turns: list[str]) -> None:
    pairs = [[t.conversation, t.turn] for t in (parse_turn(turn) for turn in turns) if t is not None]
    data = json.dumps({"items": list(found.items), "turns": pairs}, ensure_ascii=False)
    path = storage.vault.path(_INTENT)
    with writing(path):
        replace_file(path, data.encode("utf-8", "surrogatepass"))


def _carry_out(
    storage: Storage, resources: Resources, found: _Found, turns: list[str], warnings: tuple[str, ...]
) -> Forgotten:
    links: list[str] = []

    def plan(transaction: Transaction) -> None:
        for target in found.items.values():
            links.extend(rewrite_links(transaction, storage, target, removed_links))
        for target in found.items.values():
            opened = transaction.open(target, target.name)
            if target.name is not None and opened.get(target.name) is not None:
                found.texts[str(target)] = opened.remove(target.name).text
        # The names themselves may be what is to be forgotten: the line says only how many.
        transaction.log("forget", detail={"items": len(found.items), "turns": len(turns)})
        transaction.note(forgets=True)

    change = _run_and_name(storage, plan)
    blanked = resources.blank(lambda turn: (turn.conversation, turn.turn) in found.turns or found.takes(turn))
    records = scrub_history(storage, found.items, found.texts)
    scrub_journal(storage, found.items)
    scrub_usage(storage, [*found.items, *turns, *blanked])
    storage.settle()
    clear_cache(storage)
    _remove_emptied(storage, found)
    with writing(storage.vault.root):
        remove_file(storage.vault.path(_INTENT))
    links = sorted(set(links) - set(found.items))
    return Forgotten(tuple(found.items), tuple(turns), tuple(links), records, change, False, warnings)


def _run_and_name(storage: Storage, plan: Callable[[Transaction], None]) -> str:
    change = ""

    def named(transaction: Transaction) -> None:
        nonlocal change
        change = transaction.id
        plan(transaction)

    run(storage, "forget", named)
    return change


def _find_item(storage: Storage, resources: Resources, text: str, derived: bool, found: _Found) -> None:
    if text.startswith("turn/"):
        turn = parse_turn(text)
        if turn is None or turn.turn is None:
            raise UsageError(f"{text!r} is no turn; a whole conversation is forgotten with source=")
        found.turns.add((turn.conversation, turn.turn))
        if derived:
            _find_by_source(storage, turn, found)
        return
    wanted = parse_address(text)
    if wanted.name is None:
        raise UsageError(f"{text!r} is a category; an item's address is CATEGORY:NAME")
    for present, metadata_source, _owner in _items(storage):
        if present.key == wanted.key:
            found.items[str(present)] = present
            origin = parse_turn(metadata_source) if metadata_source else None
            if origin is not None and origin.turn is not None:
                found.turns.add((origin.conversation, origin.turn))
            if origin is not None and derived:
                _find_by_source(storage, origin, found)
    if not found.items and _was_there(storage, wanted):
        # Gone from the files already, but not from the history.
        found.items[str(wanted)] = wanted
    if not found.items:
        raise NotFound(f"there is no {wanted}")
    copies = {wanted.key}
    for present, metadata_source, _owner in _items(storage):
        # What was promoted names the item it was copied from as its source.
        with suppress(UsageError):
            if metadata_source and ":" in metadata_source and parse_address(metadata_source).key in copies:
                found.items[str(present)] = present


def _was_there(storage: Storage, wanted: Address) -> bool:
    for record in storage.history.read_backwards():
        for change in record.items:
            category = storage.vault.address_at(change.path)
            for state in (change.before, change.after):
                if category is not None and state is not None and category.named(state.name).key == wanted.key:
                    return True
    return False


def _find_source(storage: Storage, source: str, found: _Found) -> None:
    turn = parse_turn(source)
    if turn is None:
        raise UsageError(f"a source is a conversation or CONVERSATION#TURN, not {source!r}")
    if turn.turn is None:
        found.conversations.add(turn.conversation)
    else:
        found.turns.add((turn.conversation, turn.turn))
    _find_by_source(storage, turn, found)


def _find_by_source(storage: Storage, wanted: TurnAddress, found: _Found) -> None:
    for present, metadata_source, _owner in _items(storage):
        origin = parse_turn(metadata_source) if metadata_source else None
        if origin is None or origin.conversation != wanted.conversation:
            continue
        if wanted.turn is None or origin.turn == wanted.turn:
            found.items[str(present)] = present
            if origin.turn is not None:
                found.turns.add((origin.conversation, origin.turn))


def _find_user(storage: Storage, user: str, found: _Found) -> None:
    name = check_identifier(user.removeprefix("user/").removeprefix("user:"), "a user")
    key = name_key(name)
    scope = name_key(str(Scope("user", name)))
    for present, _source, owner in _items(storage):
        if name_key(str(present.scope)) == scope or (owner and name_key(owner.removeprefix("user:")) == key):
            found.items[str(present)] = present
    found.speakers.add(key)


def _items(storage: Storage) -> Iterable[tuple[Address, str | None, str | None]]:
    for file in scan(storage.vault).files.values():
        loaded = None
        with suppress(Conflict, VaultUnreadable):
            loaded = storage.reader.read(file.path)
        if loaded is not None:
            for section in loaded.category.sections:
                metadata = section.metadata
                yield file.address.named(section.address_name), metadata.source, metadata.owner


def _turns_to_blank(resources: Resources, found: _Found) -> list[str]:
    if not (found.turns or found.conversations or found.speakers):
        return []
    chosen = []
    for file in resources.files():
        for turn in resources.read(file.path):
            if not turn.forgotten and found.takes(turn):
                chosen.append(str(TurnAddress(turn.conversation, turn.turn)))
                found.turns.add((turn.conversation, turn.turn))
    return chosen


def _links(storage: Storage, found: _Found) -> list[str]:
    """The items whose links would be taken out (found by a trial run that commits nothing)."""
    trial = Transaction(storage, "forget")
    links: list[str] = []
    for target in found.items.values():
        links += rewrite_links(trial, storage, target, removed_links)
    return sorted(set(links) - set(found.items))


def _names(item: ItemChange) -> set[str]:
    return {name_key(state.name) for state in (item.before, item.after) if state is not None}


def _all_names(found: _Found, path: str) -> set[str]:
    category = name_key(path.rpartition("/")[2].removesuffix(".md"))
    items = found.items.values()
    return {name_key(a.name or "") for a in items if name_key(a.category.rpartition("/")[2]) == category}


def _remove_emptied(storage: Storage, found: _Found) -> None:
    """A forgotten user's folder goes when nothing but empty categories is left in it."""
    for user in found.speakers:
        root = storage.vault.memory_root(Scope("user", user))
        folder = os.path.dirname(root.folder)
        if not os.path.isdir(folder) or os.path.dirname(folder) != storage.vault.path("users"):
            continue
        with suppress(OSError):
            os.rmdir(root.folder)
            os.rmdir(folder)


def _warnings(storage: Storage) -> tuple[str, ...]:
    warnings = []
    folder = storage.vault.root
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            warnings.append(f"{folder} is a git repository: its history still holds the text until it is rewritten")
            break
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return tuple(warnings)


