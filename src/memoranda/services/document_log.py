"""The journal's lines about documents: written after what they tell of, and made up for where a crash came between."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress

from memoranda.core.model import JournalEntry
from memoranda.storage.clock import written_moment
from memoranda.storage.document_files import DocumentFiles
from memoranda.storage.files import make_folder, read_bytes, remove_file, replace_file, writing
from memoranda.storage.journal import change_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memoranda.storage.store import Storage

__all__ = ["announced", "digests_in", "log_documents", "recover_documents"]

_NAME = "unlogged-"


def log_documents(
    storage: Storage,
    id: str,
    action: str,
    corpus: str,
    documents: Mapping[str, str | None],
    detail: Mapping[str, object] | None = None,
) -> None:
    """Log what became of documents: each with its content hash now, ``None`` where it is gone. Needs the lock."""
    ts = written_moment(storage.clock.now())
    said: dict[str, object] = {"documents": dict(documents), **(detail or {})}
    storage.journal.append([JournalEntry(id, ts, action, actor=storage.actor, source=f"kb/{corpus}", detail=said)])
    storage.settle()


def digests_in(entry: JournalEntry) -> dict[str, str | None]:
    """The documents that a line of the journal is about, as :func:`log_documents` wrote them."""
    found = entry.detail.get("documents")
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}


@contextmanager
def announced(
    storage: Storage, id: str, action: str, corpus: str, documents: Mapping[str, str]
) -> Iterator[dict[str, str | None]]:
    """Log documents that are put inside; what is yielded is what will be logged. Needs the lock.

    What is to happen is on disk before: a crash before the line is written leaves enough to write it later.
    """
    path = storage.vault.path(f"history/kb/{corpus}/{change_of(id)}/{_NAME}{id}.json")
    storage.vault.check_inside(path, f"history/kb/{corpus}")
    with writing(path):
        make_folder(os.path.dirname(path))
        replace_file(path, json.dumps({"id": id, "action": action, "documents": dict(documents)}).encode("utf-8"))
    logged: dict[str, str | None] = dict(documents)
    yield logged
    if logged:
        log_documents(storage, id, action, corpus, logged)
    _done(path)


def recover_documents(storage: Storage, corpus: str) -> None:
    """Write the lines that a crash kept from being written, and remove what it left half-written. Needs the lock."""
    files = DocumentFiles(storage.vault)
    files.clear_temporaries(corpus)
    root = storage.vault.path(f"history/kb/{corpus}")
    storage.vault.check_inside(root, f"history/kb/{corpus}")
    found: list[str] = []
    with suppress(OSError):
        for change in sorted(os.listdir(root)):
            with suppress(OSError):
                folder = os.path.join(root, change)
                found += [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith(_NAME)]
    for path in found:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            said = json.loads(read_bytes(path))
            id, action, documents = str(said["id"]), str(said["action"]), dict(said["documents"])
            there: dict[str, str | None] = {}
            for document, digest in documents.items():
                now = files.digest(corpus, document)
                if now == digest:
                    there[document] = digest
                elif now is not None and now == files.digest(corpus, document, before=change_of(id)):
                    files.bring_back(change_of(id), corpus, document)  # its original may be the new one already
            if there and not any(entry.id == id for entry in storage.journal.read_backwards()):
                log_documents(storage, id, action, corpus, there)
        _done(path)


def _done(path: str) -> None:
    with writing(path):
        remove_file(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))
