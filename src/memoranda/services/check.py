"""Looking the whole vault over: every fault in a person's files by file and line, and the few that can be mended."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.errors import BadText, Conflict, VaultUnreadable
from memoranda.core.links import find_links
from memoranda.core.markdown import line_at
from memoranda.core.model import Problem
from memoranda.core.names import content_hash, name_key
from memoranda.index.entries import Entry
from memoranda.services.graph import resolve
from memoranda.services.linking import item_key, reference_link, retarget_links
from memoranda.storage.categories import line_of_bad_byte
from memoranda.storage.choice_files import ChoiceFiles
from memoranda.storage.documents import Documents
from memoranda.storage.files import TEMPORARY_PREFIX, read_bytes, writing
from memoranda.storage.settings import SETTINGS_FILE
from memoranda.storage.snapshot import scan
from memoranda.storage.stage_files import StageFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.core.items import Category, Section
    from memoranda.core.links import Link
    from memoranda.index.corpus import Corpus
    from memoranda.services.writer import Writer
    from memoranda.storage.resources import Resources
    from memoranda.storage.snapshot import FoundFile, Snapshot
    from memoranda.storage.store import Storage
    from memoranda.storage.transaction import OpenCategory, Transaction

__all__ = ["check", "repair"]

#: Links to turns and passages lead out of the items.
_ELSEWHERE = ("turn/", "kb/")


def check(storage: Storage, resources: Resources, corpus: Corpus) -> list[Problem]:
    """Every problem, by path and line. ``corpus`` must be up to date with the items.

    Raises:
        VaultUnreadable: the vault as a whole may not be read.
    """
    snapshot = scan(storage.vault)
    problems = [*snapshot.problems, *_same_category(snapshot)]
    for found in snapshot.files.values():
        problems += _file_problems(storage, found)
    problems += [Problem(SETTINGS_FILE, 0, "settings", fault) for fault in storage.vault.settings_faults]
    problems += _document_problems(storage)
    problems += [one for one in ChoiceFiles(storage.vault).all() if isinstance(one, Problem)]
    for stage in StageFiles(storage.vault).summaries():
        if stage.problem:
            problems.append(Problem(f"projects/{stage.project}/stages/{stage.stage}.json", 0, "stage", stage.problem))
    problems += _link_problems(storage, corpus, snapshot.files.values())
    problems += _record_problems(storage, resources)
    problems += _leftovers(storage)
    return sorted(set(problems), key=lambda p: (p.path, p.line, p.kind, p.message))


def repair(writer: Writer, corpus: Corpus, problems: list[Problem]) -> list[Problem]:
    """Mend what can be mended without touching a person's words; returns what was mended.

    Links to a name that exists in exactly one other place are led there;
    temporaries that a crash left are removed.
    """
    mended: list[Problem] = []
    for problem in problems:
        if problem.kind == "leftover":
            path = writer.storage.vault.absolute(problem.path)
            # Under the lock nobody is in the middle of a change that still needs it.
            with writer.storage.locked(), writing(path), suppress(FileNotFoundError):
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


def _document_problems(storage: Storage) -> Iterator[Problem]:
    """Faults of knowledge: settings that mean nothing, documents that are not UTF-8 or cannot be read."""
    documents = Documents(storage.vault)
    for corpus in documents.corpora():
        for fault in documents.settings(corpus).faults:
            yield Problem(f"docs/{corpus}/corpus.json", 0, "settings", fault)
    for file in documents.files():
        try:
            data = read_bytes(file.path)
            data.decode("utf-8")
        except UnicodeDecodeError:
            yield Problem(file.relative, line_of_bad_byte(data), "encoding", "is not UTF-8; it is not searched")
        except OSError as error:
            yield Problem(file.relative, 0, "unreadable", f"could not be read ({error.strerror})")
    yield from _lone_originals(storage, documents)
    yield from _not_searched(storage, documents)


def _not_searched(storage: Storage, documents: Documents) -> Iterator[Problem]:
    """What somebody put into ``docs/`` that is no document: another ending, a folder, a name with ``#``."""
    known = {file.relative for file in documents.files()}
    corpora = documents.corpora()
    for corpus in ("", *corpora):
        with suppress(OSError):
            for name in sorted(os.listdir(storage.vault.path(f"docs/{corpus}".rstrip("/")))):
                relative = f"docs/{corpus}/{name}" if corpus else f"docs/{name}"
                if name.startswith(".") or name in ("corpus.json", "skipped.jsonl") or relative in known:
                    continue
                if corpus or name not in corpora:
                    yield Problem(relative, 0, "not-searched", "is no document; docs/CORPUS/NAME.md is one")


def _lone_originals(storage: Storage, documents: Documents) -> Iterator[Problem]:
    """Originals whose document is gone: a person took it away, or a run was cut short between the two."""
    for corpus in documents.corpora():
        names: list[str] = []
        with suppress(OSError):
            names = os.listdir(storage.vault.path(f"raw/{corpus}"))
        if not names:
            continue
        known = {file.document for file in documents.files(corpus)}
        for name in sorted(names):
            if not name.startswith(".") and not {name, os.path.splitext(name)[0]} & known:
                yield Problem(f"raw/{corpus}/{name}", 0, "lone-original", "has no document in docs/; take it in again")


def _link_problems(storage: Storage, corpus: Corpus, files: Iterable[FoundFile]) -> Iterator[Problem]:
    entries = [e for p in corpus.partitions(("item",)) for e in p.entries.values()]
    by_name = _places_by_name(entries)
    known = list(files)
    categories = {name_key(str(found.address)) for found in known}
    for found in known:
        with suppress(Conflict, VaultUnreadable):
            loaded = storage.reader.read(found.path)
            if loaded is not None and "[[" in loaded.category.text:
                yield from _links_in(found, loaded.category, corpus, by_name, categories)
    for entry in entries:
        path, _, line = entry.citation.rpartition(":")
        for key in ("supersedes", "superseded_by"):
            target = entry.metadata.get(key)
            reference = reference_link(target) if target else None
            if target and (reference is None or resolve(corpus, entry, reference) is None):
                yield Problem(path, int(line), f"dangling-{key}", f"{entry.address} says {key}={target}: no such item")


def _links_in(
    found: FoundFile,
    category: Category,
    corpus: Corpus,
    by_name: dict[tuple[str, str], list[Entry]],
    categories: set[str],
) -> Iterator[Problem]:
    """The links of one file that lead nowhere, those outside every item included."""
    scope = str(found.address.scope)
    sections = iter(category.sections)
    section = next(sections, None)
    for link in find_links(category.text):
        while section is not None and section.end <= link.start:
            section = next(sections, None)
        if link.category.startswith(_ELSEWHERE):
            continue
        inside = section is not None and section.start <= link.start
        address = str(found.address.named(section.address_name if section is not None and inside else "text"))
        at = line_at(category.text, link.start)
        if link.item is None:
            wanted = name_key(link.category.removeprefix("shared/"))
            if not categories & {wanted, name_key(f"{scope}/{link.category}")}:
                yield Problem(found.relative, at, "dangling-link", f"[[{link.target}]] leads to no category")
            continue
        source = corpus.get(address) if inside else None
        source = source or Entry(address, "item", scope, str(found.address), name="", text="", hash="")
        if resolve(corpus, source, link) is None:
            there = by_name.get((scope, item_key(link.item)), [])
            hint = f"; {there[0].address} has that name" if len(there) == 1 else ""
            where = f" in {address}" if inside else ""
            message = f"[[{link.target}]]{where} leads to no item{hint}"
            yield Problem(found.relative, at, "dangling-link", message, bool(hint) and inside)


def _places_by_name(entries: list[Entry]) -> dict[tuple[str, str], list[Entry]]:
    places: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        places.setdefault((entry.scope, item_key(entry.name)), []).append(entry)
    return places


def _record_problems(storage: Storage, resources: Resources) -> Iterator[Problem]:
    if torn := storage.journal.torn():
        yield Problem("journal.jsonl", 0, "torn", f"{torn} torn or unreadable lines, set aside (.torn) or passed over")
    if torn := storage.history.torn():
        yield Problem("history", 0, "torn", f"{torn} torn or unreadable lines, set aside (.torn) or passed over")
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
    """Lead dangling links to the one item that has the name they ask for."""
    if not problems:
        return []
    entries = [e for p in corpus.partitions(("item",)) for e in p.entries.values()]
    by_name = _places_by_name(entries)
    by_file: dict[str, dict[str, dict[str, str]]] = {}
    for entry in entries:
        for link in entry.links:
            if link.item is None or resolve(corpus, entry, link) is not None:
                continue
            there = by_name.get((entry.scope, item_key(link.item)), [])
            if len(there) == 1:
                path = entry.citation.rpartition(":")[0]
                by_file.setdefault(path, {}).setdefault(item_key(entry.name), {})[link.target] = there[0].address

    def plan(transaction: Transaction) -> int:
        mended = 0
        for path, moves in by_file.items():
            category = writer.storage.vault.address_at(path)
            if category is not None:
                opened = transaction.open_path(category, path, writer.storage.vault.absolute(path))
                with suppress(BadText):
                    mended += _lead_links(transaction, opened, moves)
        return mended

    return problems if writer.run("link-repair", plan) else []


def _lead_links(transaction: Transaction, opened: OpenCategory, moves: dict[str, dict[str, str]]) -> int:
    def target(section: Section, link: Link) -> str | None:
        return moves.get(item_key(section.address_name), {}).get(link.target)

    changes = retarget_links(opened, target)
    for change in changes:
        if change.before is not None and change.after is not None:
            where = opened.address.named(change.after.name)
            hashes = [content_hash(state.text) for state in (change.before, change.after)]
            detail = {"path": opened.relative, "links": moves.get(item_key(change.before.name), {})}
            transaction.log("link-repair", where, before=hashes[0], after=hashes[1], detail=detail)
    return len(changes)
