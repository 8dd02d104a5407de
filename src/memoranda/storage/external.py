"""Accounting for what a person changed by hand: journal lines, and the texts that ``undo`` needs."""

from __future__ import annotations

from memoranda.core.metadata import format_comment
from memoranda.core.model import JournalEntry
from memoranda.core.names import content_hash
from memoranda.core.records import replace
from memoranda.storage.accounts import corrections, deltas_of, items_after, items_of, state_fingerprint
from memoranda.storage.clock import written_moment
from memoranda.storage.files import is_being_written
from memoranda.storage.history import ChangeRecord, FileChange, ItemChange, ItemState
from memoranda.storage.journal import new_change_id, to_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from memoranda.core.addresses import Address
    from memoranda.core.items import Section
    from memoranda.core.metadata import Metadata
    from memoranda.storage.accounts import Baseline, Items
    from memoranda.storage.categories import LoadedCategory
    from memoranda.storage.history import History
    from memoranda.storage.store import Storage

__all__ = ["account_for", "account_for_absence", "account_for_found", "last_states"]

ACTION = "external-edit"
_PERSON = "person"
_Change = tuple["ItemState | str | None", "ItemState | None"]


def account_for(
    storage: Storage, address: Address, relative: str, loaded: LoadedCategory, baseline: Baseline | None
) -> None:
    """Journal the difference between what a file held when last accounted for and what it holds now.

    Needs the lock. Removals, changes and additions are three changes, so that
    each can be taken back without touching the others. A file that an editor is
    writing at this moment is left for the next look.

    Raises:
        VaultFull, VaultReadOnly.
    """
    if baseline is None:
        baseline = storage.baselines.get_or_rebuild(relative)
    if is_being_written(loaded.path) or (baseline is not None and baseline.hash == loaded.hash):
        return
    if baseline is None:
        account_for_found(storage, [(address, relative, loaded)])
        return
    sections = {s.key: s for s in loaded.category.sections}
    states = {key: _state(s) for key, s in sections.items()}
    now = items_of(sections.values())
    removed = {k: v for k, v in baseline.items.items() if k not in now}
    updated = {k: v for k, v in baseline.items.items() if k in now and now[k] != v}
    added = {k: v for k, v in now.items() if k not in baseline.items}
    earlier = last_states(storage.history, relative, [*removed.values(), *updated.values()])
    steps: list[tuple[str, list[_Change], Items]] = []
    known = {k: v for k, v in baseline.items.items() if k in now}
    if removed:
        steps.append(("removed", [(_earlier(earlier, v), None) for v in removed.values()], known))
    if updated:
        known = {**known, **{k: now[k] for k in updated}}
        steps.append(("changed", [(_earlier(earlier, v), states[k]) for k, v in updated.items()], known))
    if added:
        steps.append(("added", [(None, states[k]) for k in added], now))
    held = baseline.items
    for kind, changes, then in steps or [("text outside items", [], now)]:
        # Only the last step brings the file to what it is: a crash before it leaves the others to be found again.
        last = not steps or kind == steps[-1][0]
        files = (baseline.hash, loaded.hash if last else baseline.hash)
        _record(storage, address, relative, files, changes, kind, held, then)
        held = then


def account_for_found(storage: Storage, found: Sequence[tuple[Address, str, LoadedCategory]]) -> None:
    """Journal files that were never accounted for: one change, and a line a file, however much it holds.

    Needs the lock. Raises VaultFull, VaultReadOnly.
    """
    change = new_change_id()
    ts = written_moment(storage.clock.now())
    lines, files, items = [], [], []
    for number, (address, relative, loaded) in enumerate(found, 1):
        sections = loaded.category.sections
        line = change if len(found) == 1 else f"{change}.{number}"
        detail = {"path": relative, "kind": "found", "items": len(sections)}
        lines.append(_entry(line, ts, address, None, (None, loaded.hash), detail))
        files.append(FileChange(relative, None, loaded.hash))
        items += [ItemChange(relative, None, _state(section)) for section in sections]
    record = ChangeRecord(
        id=change,
        ts=ts,
        action=ACTION,
        files=tuple(files),
        items=tuple(items),
        journal=tuple(to_record(line) for line in lines),
        extra={"kind": "found"},
    )
    corrected = []
    deltas = deltas_of(record)
    for file, (_, _, loaded) in zip(files, found, strict=True):
        told = items_after({}, deltas[file.path])
        corrected.append(replace(file, corrections=corrections(told, items_of(loaded.category.sections))))
    record = replace(record, files=tuple(corrected))
    storage.history.append(record)
    storage.journal.append(lines)
    storage.baselines.advance(record)


def account_for_absence(storage: Storage, address: Address, baseline: Baseline) -> None:
    """Journal that a file and all that it held is gone. Needs the lock."""
    known = storage.baselines.get_or_rebuild(baseline.path)
    if known is None:
        # Another process was faster.
        return
    earlier = last_states(storage.history, known.path, list(known.items.values()))
    gone: list[_Change] = [(_earlier(earlier, v), None) for v in known.items.values()]
    _record(storage, address, known.path, (known.hash, None), gone, "removed", known.items, {})


def last_states(history: History, relative: str, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], ItemState]:
    """The newest recorded state for each (name, fingerprint) of a file that the history still has."""
    missing = set(wanted)
    found: dict[tuple[str, str], ItemState] = {}
    if not missing:
        return found
    for record in history.read_backwards():
        for item in record.items:
            if item.path != relative:
                continue
            for state in (item.after, item.before):
                if state is None:
                    continue
                key = (state.name, state_fingerprint(state))
                if key in missing:
                    missing.discard(key)
                    found[key] = state
        if not missing:
            break
    return found


def _earlier(earlier: dict[tuple[str, str], ItemState], known: tuple[str, str]) -> ItemState | str:
    """The state, or only its name where the history was pruned."""
    return earlier.get(known, known[0])


def _state(section: Section) -> ItemState:
    return ItemState(section.address_name, section.text, _comment(section.metadata))


def _comment(metadata: Metadata) -> str:
    return format_comment(metadata) if metadata else ""


def _record(
    storage: Storage,
    address: Address,
    relative: str,
    files: tuple[str | None, str | None],
    changes: Sequence[_Change],
    kind: str,
    held: Items,
    holds: Items,
) -> None:
    change = new_change_id()
    ts = written_moment(storage.clock.now())

    lines = []
    detail = {"path": relative, "kind": kind}
    if not changes:
        lines.append(_entry(change, ts, address, None, files, detail))
    for number, (before, after) in enumerate(changes, 1):
        name = after.name if after is not None else before.name if isinstance(before, ItemState) else before
        hashes = [content_hash(s.text) if isinstance(s, ItemState) else None for s in (before, after)]
        line = change if len(changes) == 1 else f"{change}.{number}"
        lines.append(_entry(line, ts, address, name, (hashes[0], hashes[1]), detail))
    items = tuple(
        ItemChange(relative, before if isinstance(before, ItemState) else None, after)
        for before, after in changes
        if isinstance(before, ItemState) or after is not None
    )
    record = ChangeRecord(
        id=change,
        ts=ts,
        action=ACTION,
        files=(FileChange(relative, files[0], files[1]),),
        items=items,
        journal=tuple(to_record(line) for line in lines),
        extra={"kind": kind},
    )
    if files[1] is not None:
        told = items_after(held, deltas_of(record)[relative])
        record = replace(record, files=(replace(record.files[0], corrections=corrections(told, holds)),))
    storage.history.append(record)
    storage.journal.append(lines)
    storage.baselines.advance(record)
    storage.settle()


def _entry(
    line: str,
    ts: str,
    address: Address,
    item: str | None,
    hashes: tuple[str | None, str | None],
    detail: dict[str, Any],
) -> JournalEntry:
    return JournalEntry(
        id=line,
        ts=ts,
        action=ACTION,
        category=address.category,
        item=item,
        scope=str(address.scope),
        actor=_PERSON,
        before=hashes[0],
        after=hashes[1],
        detail=detail,
    )
