"""What the history says that each file holds: the base from which a person's edits are told apart.

A record of the history names the items that it changed, so that replaying the
records gives, for every file, its hash and a fingerprint of each of its items.
"""

from __future__ import annotations

from memoranda.core.metadata import EMPTY_METADATA, parse_comment
from memoranda.core.names import content_hash, name_key
from memoranda.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.core.items import Category, Section
    from memoranda.core.metadata import Metadata
    from memoranda.storage.history import ChangeRecord, FileChange, ItemState

__all__ = [
    "Baseline",
    "Delta",
    "Items",
    "corrections",
    "deltas_of",
    "file_hash_after",
    "fingerprint",
    "item_key",
    "items_after",
    "items_of",
    "replay",
    "state_fingerprint",
]

#: By key: the item's name, and the fingerprint of its text and metadata.
Items = dict[str, tuple[str, str]]
#: What a change did to some of them; ``None`` where one is gone.
Delta = dict[str, "tuple[str, str] | None"]
_HASH_DIGITS = 16
_UNKNOWN = "0" * _HASH_DIGITS


def item_key(name: str) -> str:
    """The key of an item's name; that of a block id has no caret (see :meth:`.Category.key`)."""
    return name_key(name.removeprefix("^"))


def fingerprint(text: str, metadata: Metadata) -> str:
    """A hash of an item's text and metadata, in whatever order these stand; its name is not part of it."""
    pairs = sorted(pair for pair in metadata.pairs if pair[0] != "name")
    return content_hash("\0".join([text, *(f"{key}={value}" for key, value in pairs)]) if pairs else text)


def state_fingerprint(state: ItemState) -> str:
    """The fingerprint of an item as the history has it."""
    return fingerprint(state.text, parse_comment(state.comment)[0] if state.comment else EMPTY_METADATA)


@dataclass(frozen=True, slots=True)
class Baseline:
    """One file as last accounted for: the hash of its bytes, and its items."""

    path: str
    hash: str
    items: Items = field(default_factory=dict)

    @classmethod
    def of(cls, path: str, file_hash: str, category: Category) -> Baseline:
        """The baseline of a file that holds ``category``."""
        return cls(path, file_hash, items_of(category.sections))


def items_of(sections: Iterable[Section]) -> Items:
    """The items of a parsed file."""
    return {s.key: (s.address_name, fingerprint(s.text, s.metadata)) for s in sections}


def deltas_of(record: ChangeRecord) -> dict[str, Delta]:
    """What a record did to the items of each of its files, by path."""
    deltas: dict[str, Delta] = {file.path: {} for file in record.files}
    for change in record.items:
        delta = deltas.get(change.path)
        if delta is None or change.before == change.after:
            continue
        if change.before is not None:
            delta[item_key(change.before.name)] = None
        if change.after is not None:
            delta[item_key(change.after.name)] = (change.after.name, state_fingerprint(change.after))
    for file in record.files:
        for key, name, mark in file.corrections:
            deltas[file.path][key] = (name, mark) if mark else None
    return deltas


def items_after(items: Items, delta: Mapping[str, tuple[str, str] | None]) -> Items:
    """The items after a change."""
    after = dict(items)
    for key, value in delta.items():
        if value is None:
            after.pop(key, None)
        else:
            after[key] = value
    return after


def corrections(expected: Items, actual: Items) -> tuple[tuple[str, str, str], ...]:
    """What must be added to a record so that replaying it gives the actual items."""
    gone = [(key, "", "") for key in expected if key not in actual]
    return (*gone, *((key, *value) for key, value in actual.items() if expected.get(key) != value))


def file_hash_after(file: FileChange) -> str:
    """The file's hash after a change; one that matches nothing where a person broke the record."""
    found = file.after or ""
    return found if len(found) == _HASH_DIGITS and not found.strip("0123456789abcdef") else _UNKNOWN


def replay(records: Iterable[ChangeRecord], known: dict[str, Baseline]) -> set[str]:
    """Bring ``known`` baselines, by path, up to the records; returns the paths whose items they do not tell in full.

    That is so where an earlier record was pruned, or bodies were taken out of one.
    """
    partial: set[str] = set()
    for record in records:
        deltas = deltas_of(record)
        for file in record.files:
            before = known.get(file.path)
            if file.after is None:
                known.pop(file.path, None)
                partial.discard(file.path)
                continue
            if record.state == "forgotten" or (before is None and file.before is not None):
                partial.add(file.path)
            items = {} if before is None else before.items
            for key, value in deltas[file.path].items():
                if value is None:
                    items.pop(key, None)
                else:
                    items[key] = value
            known[file.path] = Baseline(file.path, file_hash_after(file), items)
    return partial
