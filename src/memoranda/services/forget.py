"""Forgetting: an item, a source or a person leaves no text behind, in files, history, caches or journal.

It is the one change that ``undo`` refuses. The work is written down first (by
address, in ``forgetting.json``), so that a crash in the middle is finished on
the next opening.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from memoranda.core.addresses import Scope, TurnAddress, parse_address
from memoranda.core.errors import ChangedUnderneath, Conflict, MemorandaError, UsageError, VaultError
from memoranda.core.model import Forgotten
from memoranda.services.choice_forgetting import choices_about, forget_choices
from memoranda.services.doomed import Doomed, find_doomed
from memoranda.services.linking import Forget, item_key, rewrite_pointers
from memoranda.services.overview import refresh_overview
from memoranda.services.scrub import (
    Traces,
    clear_temporaries,
    remains,
    scrub_history,
    scrub_journal,
    scrub_usage,
    traces_of,
)
from memoranda.services.stage_forgetting import blank_stages, stages_about
from memoranda.storage.baselines import Baseline
from memoranda.storage.cache import clear_cache
from memoranda.storage.files import remove_file, replace_file, writing
from memoranda.storage.history import ItemChange, ItemState
from memoranda.storage.inbox import Inbox
from memoranda.storage.install import ChangedMeanwhile
from memoranda.storage.journal import change_of, new_change_id
from memoranda.storage.snapshot import scan
from memoranda.storage.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.services.writer import Writer
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage

__all__ = ["INTENT", "forget", "make_cache_anew", "resume"]

#: The file that says what is being forgotten; it is there only while that is under way.
INTENT = "forgetting.json"
_RETRIES = 20


def forget(
    writer: Writer,
    resources: Resources,
    address: str | None = None,
    *,
    source: str | None = None,
    user: str | None = None,
    derived: bool = False,
    preview: bool = False,
    vectors: Callable[[list[str]], bool] | None = None,
) -> Forgotten:
    """Remove text for good; see :meth:`memoranda.Vault.forget`.

    ``vectors`` wipes those of some addresses and says whether it could; where
    it could not, all vectors go.
    """
    if writer.in_batch:
        raise UsageError("forget is its own change; end the batch first")
    storage = writer.storage
    inbox = Inbox(storage.vault)
    if preview:
        doomed = find_doomed(storage, resources, inbox, address, source, user, derived)
        return _preview(storage, doomed)
    with storage.locked():
        doomed = find_doomed(storage, resources, inbox, address, source, user, derived)
        traces = traces_of(storage, doomed.items.values())
        change = new_change_id()
        _write_intent(storage, change, doomed, traces)
        try:
            change, links = _commit_removal(storage, change, doomed, traces)
        except MemorandaError:
            # Nothing has happened yet, and the caller is told so: nothing may happen later.
            with writing(storage.vault.root):
                remove_file(storage.vault.path(INTENT))
            raise
        return _carry_out(storage, resources, change, links, doomed, traces, vectors)


def resume(storage: Storage, resources: Resources) -> None:
    """Finish what a crash cut short; nothing to do in any other case.

    Raises:
        VaultBusy, VaultReadOnly.
    """
    path = storage.vault.path(INTENT)
    if not os.path.exists(path):
        return
    with storage.locked():
        with suppress(FileNotFoundError, ValueError, KeyError, TypeError), open(path, "rb") as stream:
            intent = json.load(stream)
            items = {str(text): parse_address(str(text)) for text in intent["items"]}
            turns = {(str(c), str(t)) for c, t in intent["turns"]}
            absent = {(str(c), str(t)) for c, t in intent.get("absent", [])}
            queued = {str(one) for one in intent.get("queued", [])}
            stages = {(str(project), str(stage)) for project, stage in intent.get("stages", [])}
            doomed = Doomed(items, turns, absent, queued=queued, stages=stages, user=intent.get("user"))
            traces = traces_of(storage, items.values(), [(str(p), str(k)) for p, k in intent["names"]])
            change, links = _commit_removal(storage, str(intent["id"]), doomed, traces)
            _carry_out(storage, resources, change, links, doomed, traces)
        with writing(path):
            remove_file(path)


def _preview(storage: Storage, doomed: Doomed) -> Forgotten:
    traces = traces_of(storage, doomed.items.values())
    trial = Transaction(storage, "forget")
    present = Traces()
    links = _remove_items(trial, storage, doomed, present)
    records = sum(
        1
        for record in storage.history.read()
        if any(traces.is_one(c.path, c.before) or traces.is_one(c.path, c.after) for c in record.items)
    )
    addresses = [*_all_addresses(storage, doomed, traces), *_turns(doomed)]
    traces.lines |= present.lines
    traces.texts |= present.texts
    choices = choices_about(storage, addresses, traces)
    stages = stages_about(storage, doomed.stages, doomed.user, traces)
    turns, warnings = _turns(doomed), _git_warning(storage)
    return Forgotten(tuple(doomed.items), turns, tuple(links), records, None, True, warnings, choices, stages)


def _write_intent(storage: Storage, change: str, doomed: Doomed, traces: Traces) -> None:
    data = {
        "id": change,
        "items": list(doomed.items),
        "turns": sorted(doomed.turns),
        "absent": sorted(doomed.absent),
        "queued": sorted(doomed.queued),
        "stages": sorted(doomed.stages),
        "user": doomed.user,
        "names": sorted(traces.names),
    }
    path = storage.vault.path(INTENT)
    with writing(path):
        replace_file(path, json.dumps(data).encode("ascii"))


def _carry_out(
    storage: Storage,
    resources: Resources,
    change: str,
    links: list[str],
    doomed: Doomed,
    traces: Traces,
    vectors: Callable[[list[str]], bool] | None = None,
) -> Forgotten:
    # What a person had changed by hand was accounted for just now: the history has more of it than before.
    later = traces_of(storage, doomed.items.values(), traces.names)
    traces.names |= later.names
    traces.texts |= later.texts
    traces.lines |= later.lines
    Inbox(storage.vault).forget(doomed.queued)
    blanked = resources.blank(lambda turn: (turn.conversation, turn.turn) in doomed.turns)
    resources.bury(doomed.absent, storage.clock.now().astimezone(storage.clock.zone()).strftime("%Y-%m"))
    stages = blank_stages(storage, doomed.stages, doomed.user, traces)
    records = scrub_history(storage, traces)
    scrub_journal(storage, doomed.items.values(), traces)
    addresses = [*_all_addresses(storage, doomed, traces), *_turns(doomed), *blanked]
    scrub_usage(storage, addresses)
    choices = forget_choices(storage, addresses, traces)
    storage.settle()
    warnings = _wipe_vectors(storage, addresses, vectors)
    if storage.vault.settings.overview:
        refresh_overview(storage)
    clear_temporaries(storage)
    _remove_emptied(storage, doomed)
    with writing(storage.vault.root):
        remove_file(storage.vault.path(INTENT))
    warnings += [*_git_warning(storage), *(f"{path} still holds some of the text" for path in remains(storage, traces))]
    turns = _turns(doomed)
    return Forgotten(tuple(doomed.items), turns, tuple(links), records, change, False, tuple(warnings), choices, stages)


def _commit_removal(storage: Storage, change: str, doomed: Doomed, traces: Traces) -> tuple[str, list[str]]:
    """Take the items out of their files, unless a crash came after that; returns the change's id, and what pointed."""
    if any(change_of(entry.id) == change for entry in storage.journal.read_backwards()):
        return change, []
    for _ in range(_RETRIES):
        if storage.history.find(change) is not None:
            # A change that was given up keeps its id.
            change = new_change_id()
            _write_intent(storage, change, doomed, traces)
        transaction = Transaction(storage, "forget", change)
        links = _remove_items(transaction, storage, doomed, traces)
        # The names themselves may be what is to be forgotten: the line says only how many.
        transaction.log("forget", detail={"items": len(doomed.items), "turns": len(doomed.turns)})
        with suppress(ChangedMeanwhile):
            transaction.commit()
            return change, links
    raise ChangedUnderneath("the files did not stop changing; nothing was forgotten")


def _remove_items(transaction: Transaction, storage: Storage, doomed: Doomed, traces: Traces) -> list[str]:
    """Take the items out, and what points at them; returns the addresses of the items that pointed."""
    links: list[str] = []
    for target in doomed.items.values():
        present = transaction.open(target, target.name).get(target.name or "")
        if present is not None:
            traces.add_text(present.text)
    for target in doomed.items.values():
        links += rewrite_pointers(transaction, storage, (), target, Forget())
    for target in doomed.items.values():
        opened = transaction.open(target, target.name)
        if target.name is not None and opened.get(target.name) is not None:
            traces.add_text(opened.remove(target.name).text)
            traces.names.add((opened.relative, item_key(target.name)))
    if doomed.user is not None:
        _remove_files(transaction, storage, doomed.user)
    return sorted(set(links) - set(doomed.items))


def _remove_files(transaction: Transaction, storage: Storage, user: str) -> None:
    """A forgotten user's category files go whole: whatever stands in them is about nobody else."""
    prefix = storage.vault.memory_root(Scope("user", user)).prefix
    for found in scan(storage.vault).files.values():
        if found.relative.startswith(prefix + "/"):
            with suppress(Conflict, VaultError):
                opened = transaction.open_path(found.address, found.relative, found.path)
                rest = [s.address_name for s in opened.category.sections if opened.get(s.address_name) is not None]
                gone = [ItemChange(opened.relative, ItemState(name, ""), None) for name in rest]
                opened.put_nothing(gone or [ItemChange(opened.relative, None, None)])


def _all_addresses(storage: Storage, doomed: Doomed, traces: Traces) -> list[str]:
    """Every address that the items have had."""
    addresses = list(doomed.items)
    for path, key in traces.names:
        category = storage.vault.address_at(path)
        if category is not None:
            addresses += [str(category.named(key)), str(category.named(f"^{key}"))]
    return addresses


def _turns(doomed: Doomed) -> tuple[str, ...]:
    return tuple(str(TurnAddress(conversation, turn)) for conversation, turn in sorted(doomed.turns | doomed.waiting))


def _wipe_vectors(storage: Storage, addresses: list[str], vectors: Callable[[list[str]], bool] | None) -> list[str]:
    """Throw the cache away, and of the vectors what has to go; what is to be told of it."""
    cache = storage.vault.path(".cache")
    had = _has_vectors(cache)
    spared = had and vectors is not None and vectors(addresses)
    make_cache_anew(storage, spared)
    if not had or spared:
        return []
    if _has_vectors(cache):
        return [".cache still holds vectors that could not be removed; delete it by hand"]
    return ["all vectors were thrown away, since single ones could not be wiped; they are made again"]


def _has_vectors(cache: str) -> bool:
    return os.path.lexists(os.path.join(cache, "vectors.json")) or os.path.lexists(os.path.join(cache, "vectors"))


def make_cache_anew(storage: Storage, spare_vectors: bool) -> None:
    """Throw the cache away; what was known of the files is written down again without what is gone."""
    current = []
    for found in scan(storage.vault).files.values():
        known = storage.baselines.get(found.relative)
        with suppress(Conflict, VaultError):
            loaded = storage.reader.read(found.path)
            if known is not None and loaded is not None and known.hash == loaded.hash:
                current.append(Baseline.of(found.relative, loaded.hash, loaded.category))
    clear_cache(storage, spare_vectors=spare_vectors)
    for baseline in current:
        storage.baselines.put(baseline)


def _remove_emptied(storage: Storage, doomed: Doomed) -> None:
    """A forgotten user's folder goes when nothing is left in it."""
    if doomed.user is None:
        return
    root = storage.vault.memory_root(Scope("user", doomed.user)).folder
    for folder, _, _ in os.walk(root, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)
    with suppress(OSError):
        os.rmdir(os.path.dirname(root))


def _git_warning(storage: Storage) -> tuple[str, ...]:
    folder = storage.vault.root
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return (f"{folder} is a git repository: its history still holds the text until it is rewritten",)
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()
        folder = parent
