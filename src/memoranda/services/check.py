"""Looking the whole vault over: every fault in a person's files by file and line, and the few that can be mended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from memoranda.core.addresses import Address, parse_address
from memoranda.core.errors import Conflict, UsageError, VaultUnreadable
from memoranda.core.links import find_links
from memoranda.core.model import Problem
from memoranda.core.names import name_key
from memoranda.index.corpus import Corpus, Entry
from memoranda.services.graph import resolve
from memoranda.services.linking import retarget_links
from memoranda.services.writer import Writer
from memoranda.storage.categories import line_of_bad_byte
from memoranda.storage.files import TEMPORARY_PREFIX, read_bytes, writing
from memoranda.storage.resources import Resources
from memoranda.storage.snapshot import FoundFile, Snapshot, scan
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction

__all__ = ["check", "repair"]


def check(storage: Storage, resources: Resources, corpus: Corpus) -> list[Problem]:
    """Every problem, by path and line. ``corpus`` must be up to date with the items.

    Raises:
        VaultUnreadable: the vault as a whole may not be read.
    """
    snapshot = scan(storage.vault)
    problems = [*snapshot.problems, *_same_category(snapshot)]
    for found in snapshot.files.values():
        problems += _file_problems(storage, found)
    problems += _link_problems(corpus)
    problems += _record_problems(storage, resources)
    problems += _leftovers(storage)
    return sorted(set(problems), key=lambda p: (p.path, p.line, p.kind, p.message))


def repair(writer: Writer, corpus: Corpus, problems: list[Problem]) -> list[Problem]:
    """Mend what can be mended without touching a person's words; returns what was mended.

    Links to a name that exists in exactly one other place are led there;
    temporaries that a crash left are removed; torn lines are set aside.
    """
    mended: list[Problem] = []
    for problem in problems:
        if problem.kind == "leftover":
            path = writer.storage.vault.absolute(problem.path)
            with writing(path), suppress(FileNotFoundError):
                os.unlink(path)
            mended.append(problem)
    mended += _repair_links(writer, corpus, [p for p in problems if p.kind == "dangling-link" and p.repairable])
    return mended


def _same_category(snapshot: Snapshot) -> Iterator[Problem]:
    files: dict[tuple[str, str, str], list[str]] = {}
    for found in snapshot.files.values():
        files.setdefault(found.address.key, []).append(found.relative)
    for paths in files.values():
        for path in paths[1:]:
            yield Problem(path, 0, "same-category", f"is the same category as {paths[0]}; their items are one list")


def _file_problems(storage: Storage, found: FoundFile) -> Iterator[Problem]:
    try:
        loaded = storage.reader.read(found.path)
    except Conflict:
        line = 0
        with suppress(OSError):
            line = line_of_bad_byte(read_bytes(found.path))
        yield Problem(found.relative, line, "encoding", "is not UTF-8; it is left as it is and not searched")
        return
    except VaultUnreadable as error:
        yield Problem(found.relative, 0, "unreadable", str(error))
        return
    if loaded is not None:
        for line, kind, message in loaded.category.problems:
            yield Problem(found.relative, line, kind, message)


def _link_problems(corpus: Corpus) -> Iterator[Problem]:
    entries = [e for p in corpus.partitions(("item",)) for e in p.entries.values()]
    categories = {name_key(entry.category) for entry in entries}
    by_name = _places_by_name(entries)
    for entry in entries:
        path, _, line = entry.citation.rpartition(":")
        for link in entry.links:
            if link.item is None:
                if link.category and name_key(link.category) not in categories:
                    message = f"[[{link.target}]] leads to no category"
                    yield Problem(path, int(line), "dangling-link", message)
            elif resolve(corpus, entry, link) is None:
                there = by_name.get((entry.scope, name_key(link.item)), [])
                hint = f"; {there[0].address} has that name" if len(there) == 1 else ""
                message = f"[[{link.target}]] in {entry.address} leads to no item{hint}"
                yield Problem(path, int(line), "dangling-link", message, bool(hint))
        for key in ("supersedes", "superseded_by"):
            target = entry.metadata.get(key)
            if target and corpus.get(target) is None:
                yield Problem(path, int(line), f"dangling-{key}", f"{entry.address} says {key}={target}: no such item")


def _places_by_name(entries: list[Entry]) -> dict[tuple[str, str], list[Entry]]:
    places: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        places.setdefault((entry.scope, name_key(entry.name)), []).append(entry)
    return places


def _record_problems(storage: Storage, resources: Resources) -> Iterator[Problem]:
    if torn := storage.journal.torn():
        yield Problem("journal.jsonl", 0, "torn", f"{torn} torn or unreadable lines, set aside or passed over")
    if torn := storage.history.torn():
        yield Problem("history", 0, "torn", f"{torn} torn or unreadable lines, set aside or passed over")
    for relative, broken in resources.torn():
        yield Problem(relative, 0, "torn", f"{broken} lines are no turns")


def _leftovers(storage: Storage) -> Iterator[Problem]:
    """Temporaries older than a minute: a writer that lives holds one for milliseconds."""
    import time

    for folder, folders, names in os.walk(storage.vault.root):
        folders[:] = [name for name in folders if name not in (".git", ".cache")]
        for name in names:
            if name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp"):
                path = os.path.join(folder, name)
                with suppress(OSError):
                    if time.time() - os.stat(path).st_mtime > 60:
                        shown = storage.vault.relative(path)
                        yield Problem(shown, 0, "leftover", "a temporary that an interrupted write left behind", True)


def _repair_links(writer: Writer, corpus: Corpus, problems: list[Problem]) -> list[Problem]:
    if not problems:
        return []
    entries = [e for p in corpus.partitions(("item",)) for e in p.entries.values()]
    by_name = _places_by_name(entries)
    moves: dict[str, dict[str, str]] = {}
    for entry in entries:
        for link in entry.links:
            if link.item is None or resolve(corpus, entry, link) is not None:
                continue
            there = by_name.get((entry.scope, name_key(link.item)), [])
            if len(there) == 1:
                moves.setdefault(entry.address, {})[link.target] = there[0].address

    def plan(transaction: Transaction) -> list[str]:
        mended = []
        for address_text, targets in moves.items():
            address = _address(address_text)
            if address is None:
                continue
            opened = transaction.open(address, address.name)
            present = opened.get(address.name or "")
            if present is None or not find_links(present.text):
                continue
            text = retarget_links(present.text, targets)
            if text != present.text:
                changed = opened.replace(present.name, text)
                detail = {"path": opened.relative, "links": targets}
                where = opened.address.named(changed.name)
                transaction.log("link-repair", where, before=present.hash, after=changed.hash, detail=detail)
                mended.append(address_text)
        return mended

    mended = set(writer.run("link-repair", plan))
    return [p for p in problems if any(f" in {address} " in p.message for address in mended)]


def _address(text: str) -> Address | None:
    try:
        return parse_address(text)
    except UsageError:
        return None
