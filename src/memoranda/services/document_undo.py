"""Taking back what a run did to documents: each is as it was before, if it is still as the run left it."""

from __future__ import annotations

from memoranda.core.errors import CannotUndo
from memoranda.core.model import Written
from memoranda.services.document_log import digests_in, log_documents, recover_documents
from memoranda.storage.document_files import DocumentFiles
from memoranda.storage.journal import change_of, new_change_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.model import JournalEntry
    from memoranda.storage.store import Storage

__all__ = ["is_about_documents", "is_forgotten", "undo_documents"]

_ACTIONS = frozenset({"ingest", "replace", "reconvert", "restore"})
_REPLACING = frozenset({"replace", "reconvert"})
_TOLD = 20


def is_about_documents(entry: JournalEntry) -> bool:
    """Whether a line of the journal is about documents that can be put back as they were."""
    return entry.action in _ACTIONS and bool(digests_in(entry))


def is_forgotten(entry: JournalEntry) -> bool:
    """Whether a line was about documents that have all been removed for good."""
    return entry.detail.get("documents") == {} and "forgotten" in entry.detail


def undo_documents(storage: Storage, entry: JournalEntry) -> Written:
    """Take back the whole change that a line belongs to.

    Raises:
        CannotUndo: none of its documents is as it left it; nothing was done. Those that have changed stay.
        VaultFull, VaultReadOnly, VaultBusy.
    """
    whole = change_of(entry.id)
    files, change = DocumentFiles(storage.vault), new_change_id()
    corpus = (entry.source or "").removeprefix("kb/")
    with storage.locked():
        recover_documents(storage, corpus)
        after: dict[str, str | None] = {}
        for line in storage.journal.read_backwards():
            if change_of(line.id) == whole:
                after = {**digests_in(line), **after}
                if line.id in (whole, f"{whole}.1"):
                    break
        now = {one: files.digest(corpus, one) for one in after}
        before = {one: files.digest(corpus, one, before=whole) for one in after}
        kept = entry.detail.get("replaced")
        for one, digest in before.items():
            if digest is None and (entry.action in _REPLACING or (isinstance(kept, list) and one in kept)):
                raise CannotUndo(f"the history no longer has kb/{corpus}/{one} as it was; it was pruned")
        # What is as it was before, a run of this that was cut short has put back; or somebody has removed it.
        changed = [one for one, digest in after.items() if now[one] not in (digest, before[one])]
        if not any(now[one] == digest for one, digest in after.items()):
            left = "is as it was" if not changed else "has changed since"
            raise CannotUndo(f"what {whole} did to documents in kb/{corpus} {left}; there is nothing to take back")
        files.set_aside(change, corpus, [one for one in after if now[one] == after[one]])
        notes: list[str] = [f"kb/{corpus}/{one} has changed since: it stays as it is" for one in changed]
        for one in after:
            if now[one] == after[one]:
                files.bring_back(whole, corpus, one)
            if one not in changed:
                notes.append(f"{'removed' if before[one] is None else 'restored'} kb/{corpus}/{one}")
        before = {one: digest for one, digest in before.items() if one not in changed}
        log_documents(
            storage,
            change,
            "restore",
            corpus,
            before,
            {"undoes": whole, "action": entry.action, "replaced": [one for one in before if now[one] is not None]},
        )
    if len(notes) > _TOLD:
        notes = [*notes[:_TOLD], f"and {len(notes) - _TOLD} more"]
    return Written(f"kb/{corpus}", "restored", "", change, (), tuple(notes))
