"""Memories of mem0, as its API answers them or as its vector store is dumped.

::

    [{"id": ..., "memory": ..., "user_id": ..., "metadata": {...}, "categories": [...], "created_at": ...}, ...]
    {"results": [...]}   {"count": 2, "next": null, "results": [...]}   {"memories": [...]}
    {"id": ..., "payload": {"data": ..., "user_id": ..., "created_at": ...}}       one a line

A memory's first category is its category here, else ``mem0``; its id becomes
the source ``mem0/<id>``; its own metadata is kept under ``mem0.<key>``. What
mem0 keeps on disk itself is pickled, and a pickle runs whatever is in it: such
a store is refused, not opened.
"""

from __future__ import annotations

import os
from datetime import UTC

from memoranda.adapters.importers.json_exports import Record, read_export
from memoranda.adapters.importers.legal_names import FreeNames, legal_category
from memoranda.adapters.importers.moments import moment
from memoranda.adapters.importers.note_text import settled
from memoranda.core.errors import BadName, UsageError
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo
    from typing import Any

    from memoranda.core.metadata import Metadata

__all__ = ["read_mem0"]

_DEFAULT = "mem0"
_TEXTS = ("memory", "data", "text")
_LISTS = ("results", "memories")
_PEOPLE = frozenset({"", "user", "human"})
_STORES = (".sqlite", ".sqlite3", ".db", ".pkl", ".pickle")
_MAGICS = (b"SQLite format 3\0", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_CONSUMED = frozenset({"category", "created_at", "updated_at", "confidence"})
_OWN_FIELDS = frozenset(
    {
        "id",
        "memory",
        "data",
        "text",
        "hash",
        "user_id",
        "agent_id",
        "run_id",
        "owner_id",
        "owner_type",
        "categories",
        "category",
        "created_at",
        "updated_at",
        "expiration_date",
        "metadata",
    }
)
_LONGEST_VALUE = 1000


def read_mem0(path: str, zone: tzinfo = UTC) -> Iterator[ForeignItem | Problem]:
    """Read an export of mem0: a file, or a folder of ``.json`` and ``.jsonl`` files.

    ``zone`` is the one of times without an offset.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it cannot be read, or is mem0's own store.
    """
    _refuse_store(os.path.expanduser(path))
    names: dict[str, FreeNames] = {}
    seen: set[str] = set()
    for found in read_export(path, _is_export):
        if isinstance(found, Problem):
            yield found
            continue
        for number, memory in enumerate(_memories(found.value), 1):
            item = _item(memory, found, zone)
            if isinstance(item, Problem):
                yield item
                continue
            identifier = item.metadata.source or ""
            if identifier and identifier in seen:
                yield Problem(found.path, found.line, "duplicate", f"memory {number}: {identifier} stands there twice")
                continue
            seen.add(identifier)
            taken = names.setdefault(item.category, FreeNames())
            yield ForeignItem(
                item.category, taken.take_made(item.text), item.text, item.metadata, found.path, found.line
            )


def _is_export(name: str) -> bool:
    return name.casefold().endswith((".json", ".jsonl"))


def _refuse_store(path: str) -> None:
    """Raise UsageError where ``path`` is, or is part of, what mem0 keeps on disk itself."""
    store = False
    if os.path.isdir(path):
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
            store = store or any(name.casefold().endswith(_STORES) for name in files)
            if store or folder.count(os.sep) - path.count(os.sep) > 4:
                folders.clear()
    elif os.path.isfile(path):
        try:
            with open(path, "rb") as stream:
                store = stream.read(16).startswith(_MAGICS) or path.casefold().endswith(_STORES)
        except OSError:
            return
    if store:
        raise UsageError(
            f"{path} is mem0's own store, which holds pickled data that is not safe to open; export it with mem0 "
            "(json.dump(memory.get_all(user_id=...), file)) and import that file"
        )


def _memories(value: Any) -> Iterator[Any]:
    """The memories that one JSON value holds: it is one, or a list of them under one of the known keys."""
    if isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                for one in value[key]:
                    yield from _memories(one) if isinstance(one, list) else (one,)
                return
    yield from value if isinstance(value, list) else (value,)


def _item(memory: Any, found: Record, zone: tzinfo) -> ForeignItem | Problem:
    if not isinstance(memory, dict):
        return Problem(found.path, found.line, "record", "a memory is a JSON object with a text")
    payload = memory.get("payload")
    fields: dict[str, Any] = {**payload, "id": memory.get("id")} if isinstance(payload, dict) else memory
    text = next((fields[key] for key in _TEXTS if isinstance(fields.get(key), str)), None)
    shown = f"memory {_word(fields, 'id') or '(without id)'}"
    if text is None:
        return Problem(found.path, found.line, "record", f"{shown} has no text")
    if not (text := settled(text)):
        return Problem(found.path, found.line, "empty", f"{shown} is empty")
    own = fields.get("metadata")
    metadata: dict[str, Any] = own if isinstance(own, dict) else {}
    if fields is not memory:
        # A vector store keeps a memory's metadata beside its text.
        metadata = {**metadata, **{key: value for key, value in fields.items() if key not in _OWN_FIELDS}}
    try:
        category = legal_category(_category(fields, metadata))
    except BadName as error:
        return Problem(found.path, found.line, "bad-name", f"{shown}: {error}")
    return ForeignItem(category, None, text, _described(fields, metadata, zone), found.path, found.line)


def _word(fields: Mapping[str, Any], key: str) -> str:
    """A value that is text or a number, as one line; empty for anything else."""
    value = fields.get(key)
    if isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return " ".join(str(value).split())[:_LONGEST_VALUE]
    return ""


def _category(fields: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    categories = fields.get("categories")
    if isinstance(categories, list):
        for one in categories:
            if isinstance(one, str) and one.strip():
                return one.strip()
    elif isinstance(categories, str) and categories.strip():
        return categories.partition(",")[0].strip()
    return _word(fields, "category") or _word(metadata, "category") or _DEFAULT


def _owner(fields: Mapping[str, Any]) -> str | None:
    if owner := _word(fields, "owner_id"):
        kind = _word(fields, "owner_type").casefold()
        if kind in _PEOPLE:
            return f"user:{owner}"
        return f"agent:{owner}" if owner == _word(fields, "agent_id") else f"{kind}:{owner}"
    if owner := _word(fields, "user_id"):
        return f"user:{owner}"
    return f"agent:{agent}" if (agent := _word(fields, "agent_id")) else None


def _described(fields: Mapping[str, Any], metadata: Mapping[str, Any], zone: tzinfo) -> Metadata:
    created = moment(fields.get("created_at"), zone) or moment(metadata.get("created_at"), zone)
    updated = moment(fields.get("updated_at"), zone) or moment(metadata.get("updated_at"), zone)
    identifier = _word(fields, "id")
    values: dict[str, str | None] = {
        "owner": _owner(fields),
        "source": f"mem0/{identifier}" if identifier else None,
        "ts": created or updated,
        "valid_to": moment(fields.get("expiration_date"), zone),
        "confidence": _confidence(metadata.get("confidence")),
        "agent_id": _word(fields, "agent_id") or None,
        "run_id": _word(fields, "run_id") or None,
        "updated_at": updated if updated != created else None,
    }
    for key, value in metadata.items():
        name = f"mem0.{key}"
        if isinstance(value, (str, int, float)) and _is_key(key) and key not in _CONSUMED:
            values[name] = " ".join(str(value).split())[:_LONGEST_VALUE]
    return EMPTY_METADATA.with_values(**{key: value for key, value in values.items() if value})


def _is_key(key: str) -> bool:
    return key.isascii() and key.replace(".", "_").replace("-", "_").replace("_", "a").isalnum()


def _confidence(value: object) -> str | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value <= 1.0:
        return f"{value:g}"
    return None
