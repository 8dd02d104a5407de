"""Taking a change back: byte for byte where the file is as the change left it, item by item otherwise."""

from __future__ import annotations

from memoranda.core.choices import CHOICE_ACTIONS
from memoranda.core.errors import CannotUndo, MemorandaError, NotFound, UsageError
from memoranda.core.metadata import EMPTY_METADATA, parse_comment
from memoranda.core.model import Written
from memoranda.core.names import content_hash
from memoranda.services.conversations import take_back_turns
from memoranda.services.document_undo import is_about_documents, is_forgotten, undo_documents
from memoranda.storage.history import ItemChange
from memoranda.storage.journal import change_of
from memoranda.storage.recovery import apply_edits, reversed_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.core.addresses import Address
    from memoranda.core.metadata import Metadata
    from memoranda.core.model import JournalEntry
    from memoranda.services.writer import Writer
    from memoranda.storage.history import ChangeRecord, FileChange, ItemState
    from memoranda.storage.transaction import OpenCategory, Transaction

__all__ = ["undo"]

_SHORTEST_PREFIX = 4
#: The one kind of a person's edit that is undone without being named: what they wrote themselves never is.
_ERASURE = "removed"
#: A document that was removed is gone for good, its original and its history with it.
_REMOVED = "withdraw"


def undo(writer: Writer, journal_id: str | None = None) -> Written:
    """Take a change back; see :meth:`memoranda.Vault.undo`."""
    if writer.in_batch:
        raise UsageError("undo is its own change; end the batch first")
    entry = _entry(writer, journal_id)
    whole = change_of(entry.id)
    if entry.action == "forget":
        raise CannotUndo(f"{whole} forgot something for good; nothing is left to bring back")
    if entry.action == _REMOVED:
        raise CannotUndo(f"{whole} removed documents from {entry.source} for good; take them in again")
    if entry.action in CHOICE_ACTIONS:
        raise CannotUndo(f"{whole} is about a question, not about memory; what an answer led to is a change of its own")
    if is_about_documents(entry):
        return undo_documents(writer.storage, entry)
    record = writer.storage.history.find(whole)
    if record is None or record.state == "aborted":
        raise CannotUndo(f"the history no longer has {whole}; it was pruned")
    # One line of a person's edit can be taken back alone; a tool's change only as a whole.
    part = entry.item if entry.action == "external-edit" and journal_id and "." in journal_id else None

    # Files found at one look are one change, but nobody means all of them by the line of one.
    files = [file for file in record.files if part is not None or not journal_id or _is_meant(entry, file, journal_id)]

    def plan(transaction: Transaction) -> Written:
        notes: list[str] = []
        for file in files:
            notes += _undo_file(transaction, writer, record, file, part)
        if (slept := record.extra.get("sleep")) is not None:
            from memoranda.services.sleep import take_back_sleep

            notes += take_back_sleep(writer.storage, whole, slept.get("archives", ()))
        if turns := record.extra.get("turns"):
            notes += take_back_turns(writer.storage, turns)
        if not notes:
            raise CannotUndo(f"{whole} holds nothing that could be taken back")
        address = _first_address(writer, record, part)
        detail: dict[str, Any] = {"undoes": entry.id if part else whole, "action": entry.action}
        if record.files:
            detail["paths"] = [file.path for file in files]
        one = part is not None or entry.id == whole
        hashes = (entry.after, entry.before) if one else (None, None)
        transaction.log("restore", address, before=hashes[0], after=hashes[1], detail=detail)
        return Written(str(address or whole), "restored", hashes[1] or "", transaction.id, (), tuple(notes))

    return writer.run("restore", plan)


def _is_meant(entry: JournalEntry, file: FileChange, journal_id: str) -> bool:
    one_line = entry.detail.get("kind") == "found" and "." in journal_id
    return not one_line or file.path == entry.detail.get("path")


def _entry(writer: Writer, journal_id: str | None) -> JournalEntry:
    undone: set[str] = set()
    matches: dict[str, JournalEntry] = {}
    for entry in writer.storage.journal.read_backwards():
        undoes = entry.detail.get("undoes")
        if entry.action == "restore" and isinstance(undoes, str) and entry.id not in undone:
            undone.add(undoes)
        if journal_id is None:
            if _is_next(entry, undone):
                return entry
        elif entry.id == journal_id or change_of(entry.id) == journal_id:
            matches = {change_of(entry.id): entry}
            break
        elif len(journal_id) >= _SHORTEST_PREFIX and entry.id.startswith(journal_id):
            matches[change_of(entry.id)] = entry
    if not matches:
        raise NotFound("there is nothing to undo" if journal_id is None else f"the journal has no {journal_id}")
    if len(matches) > 1:
        raise UsageError(f"{journal_id} could be {' or '.join(sorted(matches))}; write more of it")
    found = next(iter(matches.values()))
    if found.id in undone or change_of(found.id) in undone:
        raise CannotUndo(f"{found.id} is undone already")
    return found


def _is_next(entry: JournalEntry, undone: set[str]) -> bool:
    if entry.id in undone or change_of(entry.id) in undone:
        return False
    if entry.action in ("restore", _REMOVED, *CHOICE_ACTIONS) or is_forgotten(entry):
        return False
    if entry.action == "import":
        from memoranda.services.extraction.application import ACTOR

        if entry.actor == ACTOR:
            return False  # who takes back what a worker made of a conversation does not mean the conversation
    return entry.action != "external-edit" or entry.detail.get("kind") == _ERASURE


def _first_address(writer: Writer, record: ChangeRecord, part: str | None) -> Address | None:
    for change in record.items:
        category = writer.storage.vault.address_at(change.path)
        state = change.before or change.after
        if category is not None and state is not None and (part is None or part in _names(change)):
            return category.named(state.name)
    return None


def _names(change: ItemChange) -> set[str]:
    return {state.name for state in (change.before, change.after) if state is not None}


def _undo_file(
    transaction: Transaction, writer: Writer, record: ChangeRecord, file: FileChange, part: str | None
) -> list[str]:
    address = writer.storage.vault.address_at(file.path)
    if address is None:
        return []
    opened = transaction.open_path(address, file.path, writer.storage.vault.absolute(file.path))
    mine = [c for c in record.items if c.path == file.path and (part is None or part in _names(c))]
    if any(c.after is not None for c in mine):
        # One item may have changed twice; what was only taken out comes back in its old order.
        mine.reverse()
    changes = [ItemChange(c.path, c.after, c.before) for c in mine]
    if part is None and opened.hash == file.after and _undo_bytes(opened, file, changes):
        told = [_told(address, change) for change in changes if change != _outside(file)]
        return list(dict.fromkeys(told)) or [f"restored the text of {file.path} outside its items"]
    if _outside(file) in changes:
        raise CannotUndo(f"{file.path} has changed since; undo the newer change first")
    return list(dict.fromkeys(_told(address, change, _undo_item(opened, change)) for change in changes))


def _outside(file: FileChange) -> ItemChange:
    """How a change of text outside every item is recorded."""
    return ItemChange(file.path, None, None)


def _told(address: Address, change: ItemChange, name: str | None = None) -> str:
    """What the undoing did to one item, in words; ``name`` is the one that it has now, if that is known."""
    if change.after is None:
        return f"removed {address.named(change.before.name if change.before else '')}"
    if change.before is None:
        renamed = f" as {name}" if name is not None and name != change.after.name else ""
        return f"brought back {address.named(change.after.name)}{renamed}"
    if change.before.name != change.after.name:
        return f"renamed {address.named(change.before.name)} back to {change.after.name}"
    return f"restored {address.named(change.after.name)}"


def _undo_bytes(opened: OpenCategory, file: FileChange, changes: list[ItemChange]) -> bool:
    """The file as it was, to the byte; False where the record does not tell."""
    if not file.edits:
        return False
    text = "" if opened.loaded is None else opened.category.text
    before = apply_edits(text, reversed_edits(file.edits))
    if before is None:
        return False
    if file.before is None:
        opened.put_nothing(changes)
    else:
        opened.put_text(before, changes, trusted=True)
    return True


def _undo_item(opened: OpenCategory, change: ItemChange) -> str | None:
    """One item as it was, whatever else has happened to the file; returns its name now.

    Raises:
        CannotUndo: it has changed since.
    """
    now, then = change.before, change.after
    try:
        if now is None:
            return None if then is None else _bring_back(opened, then)
        present = opened.get(now.name)
        if present is None or present.hash != content_hash(now.text):
            raise _changed_since(opened, now)
        if then is None:
            if present.metadata != _metadata(now):
                raise _changed_since(opened, now)
            opened.remove(now.name)
            return None
        name = now.name
        metadata = _wound_back(opened, present.metadata, now, then)
        if name != then.name and not name.startswith("~"):
            name = opened.rename(name, then.name.removeprefix("^")).name
        if now.text != then.text:
            name = opened.replace(name, then.text, metadata).name
        elif metadata != present.metadata:
            opened.set_metadata(name, metadata)
        return name
    except CannotUndo:
        raise
    except MemorandaError as error:
        raise CannotUndo(f"cannot be taken back: {error}") from error


def _changed_since(opened: OpenCategory, now: ItemState) -> CannotUndo:
    return CannotUndo(f"{opened.address.named(now.name)} has changed since; undo the newer change first")


def _wound_back(opened: OpenCategory, present: Metadata, now: ItemState, then: ItemState) -> Metadata:
    """The present metadata with just those values taken back that the change had changed."""
    new, old = dict(_metadata(now).pairs), dict(_metadata(then).pairs)
    back: dict[str, str | None] = {}
    for key in {**old, **new}:
        if new.get(key) != old.get(key):
            if present.get(key) != new.get(key):
                raise _changed_since(opened, now)
            back[key] = old.get(key)
    return present.with_values(**back)


def _bring_back(opened: OpenCategory, then: ItemState) -> str:
    present = opened.get(then.name)
    if present is not None:
        if present.hash == content_hash(then.text):
            return present.name
        raise CannotUndo(f"{opened.address.named(then.name)} is another item now; rename that one first")
    name = then.name
    if name.startswith("~"):
        # It had no name of its own; as a block of its own it would have the same one again.
        name = opened.editor.free_name(f"restored-{name[1:]}")
    return opened.add(name.removeprefix("^"), then.text, _metadata(then)).name


def _metadata(state: ItemState) -> Metadata:
    return parse_comment(state.comment)[0] if state.comment else EMPTY_METADATA
