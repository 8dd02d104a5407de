"""The knowledge graph of the MCP reference memory server: JSON lines of entities and relations.

::

    {"type": "entity", "name": "Lin", "entityType": "person", "observations": ["Likes the sea."]}
    {"type": "relation", "from": "Lin", "to": "Anthropic", "relationType": "works_at"}

Lines without ``type``, and one object ``{"entities": [...], "relations": [...]}``,
are read too. An entity is an item in the category of its type; its
observations are a list, and its relations follow as links. One of which nothing
else is known says what leads to it.
"""

from __future__ import annotations

from datetime import UTC

from memoranda.adapters.importers.json_exports import read_export
from memoranda.adapters.importers.legal_names import FreeNames, legal_category, short_name
from memoranda.adapters.importers.moments import moment
from memoranda.adapters.importers.note_text import settled
from memoranda.core.errors import BadName
from memoranda.core.links import format_link
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo
    from typing import Any

    from memoranda.adapters.importers.json_exports import Record
    from memoranda.core.metadata import Metadata

__all__ = ["read_mcp_memory"]

_DEFAULT = "mcp-memory"


class _Entity:
    """One entity as it is put together from its lines."""

    __slots__ = ("category", "incoming", "item", "line", "lines", "metadata", "name", "path")

    def __init__(self, name: str, category: str, item: str, metadata: Metadata, path: str, line: int) -> None:
        self.name = name
        self.category = category
        self.item = item
        self.metadata = metadata
        self.path = path
        self.line = line
        # In order, each once.
        self.lines: dict[str, None] = {}
        self.incoming: dict[str, None] = {}


def read_mcp_memory(path: str, zone: tzinfo = UTC) -> Iterator[ForeignItem | Problem]:
    """Read a memory file, or a folder of ``.json`` and ``.jsonl`` files that are one graph.

    ``zone`` is the one of times without an offset.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it cannot be read.
    """
    graph = _Graph(zone)
    for found in read_export(path, lambda name: name.casefold().endswith((".json", ".jsonl"))):
        if isinstance(found, Problem):
            yield found
        else:
            yield from graph.take(found)
    yield from graph.relate()
    yield from graph.items()


class _Graph:
    """The entities by type and name, and the relations between them."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._entities: dict[tuple[str, str], _Entity] = {}
        self._by_name: dict[str, _Entity] = {}
        self._names: dict[str, FreeNames] = {}
        self._relations: list[tuple[dict[str, Any], Record]] = []

    def take(self, found: Record) -> Iterator[Problem]:
        """Note what one JSON value holds."""
        value = found.value
        if isinstance(value, dict) and ("entities" in value or "relations" in value):
            for key in ("entities", "relations"):
                for one in value[key] if isinstance(value.get(key), list) else ():
                    yield from self._one(one, found)
        else:
            yield from self._one(value, found)

    def _one(self, value: object, found: Record) -> Iterator[Problem]:
        if isinstance(value, dict) and isinstance(value.get("from"), str) and isinstance(value.get("to"), str):
            self._relations.append((value, found))
        elif isinstance(value, dict) and isinstance(value.get("name"), str):
            yield from self._entity(value, found)
        else:
            yield Problem(found.path, found.line, "record", "neither an entity (name) nor a relation (from, to)")

    def _entity(self, value: dict[str, Any], found: Record) -> Iterator[Problem]:
        name = " ".join(value["name"].split())
        kind = value.get("entityType")
        kind = kind.strip() if isinstance(kind, str) else ""
        entity = self._entities.get((kind, name))
        if entity is None:
            try:
                # A type is one name: its slashes make no folders.
                category = legal_category((kind or _DEFAULT).replace("/", "-"))
            except BadName as error:
                yield Problem(found.path, found.line, "bad-name", f"entity {name!r}: {error}")
                return
            wanted = short_name(name)
            if wanted is None:
                yield Problem(found.path, found.line, "bad-name", f"{value['name']!r} cannot be a name")
                return
            item = self._names.setdefault(category, FreeNames()).take(wanted)
            metadata = EMPTY_METADATA.with_values(**self._described(f"{found.path}/{name}", value))
            entity = _Entity(name, category, item, metadata, found.path, found.line)
            self._entities[kind, name] = entity
            self._by_name.setdefault(name, entity)
        observations = value.get("observations")
        for one in observations if isinstance(observations, list) else ():
            text = one.get("content", one.get("text")) if isinstance(one, dict) else one
            if isinstance(text, str) and text.strip():
                entity.lines[_entry(text)] = None

    def _described(self, place: str, value: dict[str, Any]) -> dict[str, str | None]:
        zone = self._zone
        created, updated = moment(value.get("createdAt"), zone), moment(value.get("updatedAt"), zone)
        author = value.get("createdBy") or value.get("updatedBy")
        return {
            "source": f"mcp-memory/{place}",
            "ts": created or updated,
            "created_by": author.strip() if isinstance(author, str) and author.strip() else None,
        }

    def relate(self) -> Iterator[Problem]:
        """Write every relation below what it goes out from."""
        for value, found in self._relations:
            start, end = (" ".join(value[key].split()) for key in ("from", "to"))
            entity, target = self._by_name.get(start), self._by_name.get(end)
            kind = value.get("relationType")
            kind = " ".join(kind.split()) if isinstance(kind, str) and kind.strip() else "relates to"
            if entity is None:
                yield Problem(
                    found.path, found.line, "relation", f"{start!r} is no entity here: {kind} {end!r} is lost"
                )
                continue
            shown = end if target is None else format_link(target.category, target.item)
            entity.lines[_entry(f"{kind} {shown}")] = None
            if target is not None:
                target.incoming[_entry(f"{format_link(entity.category, entity.item)} {kind} {end}")] = None

    def items(self) -> Iterator[ForeignItem | Problem]:
        """Every entity that anything is known of."""
        for entity in self._entities.values():
            if lines := entity.lines or entity.incoming:
                text = settled("\n".join(lines))
                yield ForeignItem(
                    entity.category, entity.item, text, entity.metadata, entity.path, entity.line, named=True
                )
            else:
                yield Problem(entity.path, entity.line, "empty", f"nothing is known of {entity.name!r}: left out")


def _entry(text: str) -> str:
    """One entry of a list; further lines of the text belong to it."""
    first, *more = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join([f"- {first}", *(f"  {line}".rstrip() for line in more)])
