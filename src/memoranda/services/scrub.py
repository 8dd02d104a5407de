"""Taking forgotten text out of what records the past: history, journal and usage."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.errors import Conflict, VaultError
from memoranda.core.links import find_links
from memoranda.core.metadata import parse_comment
from memoranda.core.names import name_key
from memoranda.core.records import dataclass, field, replace
from memoranda.services.linking import REFERENCES, item_key, reference_link
from memoranda.storage.files import TEMPORARY_PREFIX, remove_file, writing
from memoranda.storage.jsonlines import JsonLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from memoranda.core.addresses import Address
    from memoranda.core.model import JournalEntry
    from memoranda.storage.history import ChangeRecord, ItemState
    from memoranda.storage.jsonlines import Record
    from memoranda.storage.store import Storage

__all__ = ["Traces", "clear_temporaries", "remains", "scrub_history", "scrub_journal", "scrub_usage", "traces_of"]

#: What stands in a journal line where a forgotten item's name stood.
FORGOTTEN = "(forgotten)"
#: A line of at least so many bytes tells where it comes from; a shorter one ("yes") may stand anywhere.
_TELLING = 12
#: Up to so many lines are looked for anywhere in a text, more only as lines.
_FEW = 200
_MARKS = "> \t-*+#"
#: What in a journal line's detail is never a name.
_PLAIN = frozenset({"action", "conversation", "kind", "path", "paths", "undoes"})

Place = tuple[str, str]


@dataclass(slots=True)
class Traces:
    """By what forgotten items are recognised in the past.

    ``names`` are (path, key of name) for every name that they have had,
    ``lines`` their telling lines, ``texts`` their whole texts.
    """

    names: set[Place] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def add_text(self, text: str) -> None:
        """Recognise a text from now on."""
        if stripped := text.strip():
            self.texts.add(stripped)
        self.lines.update(line for line in _lines(text) if _is_telling(line))

    @property
    def keys(self) -> set[str]:
        """The keys of all names, wherever they stood."""
        return {key for _, key in self.names}

    def is_one(self, path: str, state: ItemState | None) -> bool:
        """Whether a state is one of a forgotten item."""
        return state is not None and (path, item_key(state.name)) in self.names

    def stands_in(self, text: str) -> bool:
        """Whether a whole text of a forgotten item stands in the text, or in the JSON that it is."""
        return any(whole in text or _in_json(whole) in text for whole in self.texts if _is_telling(whole)) or (
            text.strip() in self.texts
        )

    def shows_in(self, text: str) -> bool:
        """Whether a line or a whole text of a forgotten item stands in the text."""
        if text.strip() in self.texts:
            return True
        if len(self.lines) <= _FEW:
            return any(line in text for line in self.lines)
        return any(line in self.lines for line in _lines(text))


def _is_telling(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) >= _TELLING


def _in_json(text: str) -> str:
    """The text as JSON has it between quotes."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    import json

    return json.dumps(text, ensure_ascii=False)[1:-1]


def _lines(text: str) -> Iterator[str]:
    """The lines without what quotes and lists put around them."""
    for line in text.replace("\r", "\n").split("\n"):
        yield line.lstrip(_MARKS).rstrip()


def traces_of(storage: Storage, items: Iterable[Address], known: Iterable[Place] = ()) -> Traces:
    """Follow items back through the history: renames, also those by hand, and every text they had."""
    records = list(storage.history.read())
    traces = Traces(set(known))
    for address in items:
        with suppress(Conflict, VaultError):
            for path, _ in storage.vault.category_files(address):
                traces.names.add((path, item_key(address.name)))
    living = _LivingNames(storage)
    size = -1
    while size != (size := len(traces.names) + len(traces.texts)):
        for record in reversed(records):
            for change in record.items:
                states = [state for state in (change.before, change.after) if state is not None]
                if any(traces.is_one(change.path, state) for state in states):
                    for state in states:
                        traces.names.add((change.path, item_key(state.name)))
                        traces.add_text(state.text)
        # A heading changed by hand is one item gone and another come, with the same text.
        for record in records:
            for change in record.items:
                for state in filter(None, (change.before, change.after)):
                    place = (change.path, item_key(state.name))
                    if state.text.strip() in traces.texts and place[1] not in living.of(change.path):
                        traces.names.add(place)
    return traces


class _LivingNames:
    """The names that stand in the files now."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[str, frozenset[str]] = {}

    def of(self, path: str) -> frozenset[str]:
        """The keys of the names in one file."""
        if path not in self._known:
            names: Iterable[str] = ()
            with suppress(Conflict, VaultError):
                loaded = self._storage.reader.read(self._storage.vault.absolute(path))
                names = () if loaded is None else [section.address_name for section in loaded.category.sections]
            self._known[path] = frozenset(item_key(name) for name in names)
        return self._known[path]


def scrub_history(storage: Storage, traces: Traces) -> int:
    """Take the items' bodies out of every record; returns how many records changed. Needs the lock.

    A record that held one cannot be undone to the byte any more; what it says
    of other items stays.
    """
    keys = traces.keys

    def tells(path: str, state: ItemState | None) -> bool:
        if state is None:
            return False
        if traces.is_one(path, state) or traces.shows_in(state.text):
            return True
        return any(key in keys for key in _pointers(state))

    def changed(record: ChangeRecord) -> ChangeRecord:
        kept = tuple(
            change
            for change in record.items
            if not (tells(change.path, change.before) or tells(change.path, change.after))
        )
        if (
            len(kept) == len(record.items)
            and record.action != "forget"
            and not any(
                traces.shows_in(side) or any(key in name_key(side) for key in keys)
                for file in record.files
                for edit in file.edits
                for side in (edit.old, edit.new)
            )
        ):
            return record
        files = tuple(replace(file, edits=()) for file in record.files)
        return replace(record, items=kept, files=files, journal=(), extra={}, state="forgotten")

    return storage.history.scrub(changed)


def _pointers(state: ItemState) -> Iterator[str]:
    """The keys of the names that an item points at."""
    links = list(find_links(state.text))
    if state.comment:
        metadata = parse_comment(state.comment)[0]
        references = (reference_link(metadata.get(key) or "") for key in REFERENCES)
        links += [link for link in references if link is not None]
    return (item_key(link.item) for link in links)


def scrub_journal(storage: Storage, items: Iterable[Address], traces: Traces) -> int:
    """Replace the items' names and hashes in the journal, in every name they had; needs the lock."""
    wanted = {(a.key[0], a.key[1], item_key(a.name)) for a in items}
    for path, key in traces.names:
        category = storage.vault.address_at(path)
        if category is not None:
            wanted.add((category.key[0], category.key[1], key))
    for entry in storage.journal.read_backwards():
        # Where the history was pruned, the journal still tells the former names.
        if entry.action == "rename" and _place(entry) in wanted and isinstance(entry.detail.get("from"), str):
            wanted.add((*_place(entry)[:2], item_key(entry.detail["from"])))
    names = {key for _, _, key in wanted}

    def told(value: Any) -> Any:
        if isinstance(value, dict):
            return {told(key): one if key in _PLAIN else told(one) for key, one in value.items()}
        if isinstance(value, list):
            return [told(one) for one in value]
        if isinstance(value, str) and (item_key(value) in names or item_key(value.rpartition(":")[2]) in names):
            return FORGOTTEN
        return value

    def change(entry: JournalEntry) -> JournalEntry:
        detail = told(entry.detail)
        if _place(entry) in wanted:
            source = entry.source if entry.source and entry.source.startswith("turn/") else None
            return replace(entry, item=FORGOTTEN, source=source, before=None, after=None, detail=detail)
        source = told(entry.source) if entry.source and ":" in entry.source else entry.source
        if (source, detail) == (entry.source, entry.detail):
            return entry
        return replace(entry, source=source, detail=detail)

    changed = storage.journal.scrub(change)
    with suppress(OSError):
        os.unlink(JsonLines(storage.journal.path).torn_path)
    return changed


def _place(entry: JournalEntry) -> tuple[str, str, str]:
    return (name_key(entry.scope), name_key(entry.category or ""), item_key(entry.item))


def scrub_usage(storage: Storage, addresses: Iterable[str], parents: Iterable[str] = ()) -> None:
    """Drop the addresses, and all that belong to these ``parents``, from ``usage.jsonl``; needs the lock."""
    gone = {name_key(address) for address in addresses}
    below = tuple(f"{name_key(parent)}#" for parent in parents)

    def is_gone(hit: object) -> bool:
        return isinstance(hit, str) and ((key := name_key(hit)) in gone or key.startswith(below))

    lines = JsonLines(storage.vault.path("usage.jsonl"))

    def change(record: Record) -> Record | None:
        hits = record.get("hits")
        if not isinstance(hits, list):
            return record
        kept = [hit for hit in hits if not is_gone(hit)]
        return record if len(kept) == len(hits) else {**record, "hits": kept}

    with writing(lines.path):
        lines.rewrite(change)
    with suppress(OSError):
        os.unlink(lines.torn_path)


def scrub_documents(storage: Storage, parents: Iterable[str]) -> None:
    """Drop documents (``kb/<corpus>/<document>``) from the journal, which keeps how many they were; needs the lock."""
    gone: dict[str, set[str]] = {}
    for parent in parents:
        corpus, _, document = parent.rpartition("/")
        gone.setdefault(corpus, set()).add(document)

    def change(entry: JournalEntry) -> JournalEntry:
        documents, names = entry.detail.get("documents"), gone.get(entry.source or "")
        if not names or not isinstance(documents, dict) or not names & documents.keys():
            return entry
        kept = {name: digest for name, digest in documents.items() if name not in names}
        detail = {key: value for key, value in entry.detail.items() if key != "replaced"}
        forgotten = detail.get("forgotten", 0) + len(documents) - len(kept)
        return replace(entry, detail={**detail, "documents": kept, "forgotten": forgotten})

    storage.journal.scrub(change)


def clear_temporaries(storage: Storage) -> None:
    """Remove temporaries that a crash left outside the memory folders; needs the lock, so nobody is writing one."""
    root = storage.vault.root
    folders = [root, os.path.join(root, "history"), os.path.join(root, "resources")]
    with suppress(OSError):
        folders += [entry.path for entry in os.scandir(folders[-1]) if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        for name in _listed(folder):
            if name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp"):
                with writing(folder):
                    remove_file(os.path.join(folder, name))


def remains(storage: Storage, traces: Traces) -> list[str]:
    """The files that still hold a forgotten line: what is no category, and what a person wrote elsewhere too."""
    longest = sorted(traces.lines, key=len, reverse=True)[:_FEW]
    needles = [line.encode("utf-8", "surrogatepass") for line in longest]
    found: list[str] = []
    if not needles:
        return found

    def look(path: str) -> None:
        with suppress(OSError), open(path, "rb") as stream:
            data = stream.read()
            if any(needle in data for needle in needles):
                found.append(storage.vault.relative(path))

    _each_file(storage.vault.root, look)
    return sorted(found)


def _each_file(root: str, look: Callable[[str], None]) -> None:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".cache")]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                look(path)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
