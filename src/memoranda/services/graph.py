"""The graph of memory: items and categories, the links between them, and whom and what they come from."""

from __future__ import annotations

from memoranda.core.names import name_key
from memoranda.core.records import asdict, dataclass
from memoranda.index.entries import link_keys
from memoranda.services.linking import reference_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from memoranda.core.links import Link
    from memoranda.index.corpus import Corpus
    from memoranda.index.entries import Entry

__all__ = ["Edge", "Graph", "Node", "build_graph", "resolve"]


@dataclass(frozen=True, slots=True)
class Node:
    """One node. ``kind`` is item, category, agent, character, user, conversation, project or missing.

    An item's ``id`` is its address, any other's is ``kind#label`` (no address holds ``#``).
    """

    id: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge. ``kind`` is links, contains, about, from, by or supersedes."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges in a fixed order, so that two drawings of one vault are the same."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def to_json(self) -> dict[str, Any]:
        """The graph as a JSON object of ``nodes`` and ``edges``."""
        return {"nodes": [asdict(node) for node in self.nodes], "edges": [asdict(edge) for edge in self.edges]}

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart."""
        numbers = {node.id: f"n{number}" for number, node in enumerate(self.nodes)}
        rows = ["flowchart LR"]
        for node in self.nodes:
            opening, closing = _SHAPES.get(node.kind, ("[", "]"))
            rows.append(f'  {numbers[node.id]}{opening}"{_quoted(node.label)}"{closing}:::{node.kind}')
        for edge in self.edges:
            arrow = "-->" if edge.kind == "links" else "-.->" if edge.kind == "supersedes" else "---"
            label = "" if edge.kind in ("links", "contains") else f"|{edge.kind}|"
            rows.append(f"  {numbers[edge.source]} {arrow}{label} {numbers[edge.target]}")
        return "\n".join(rows) + "\n"


_SHAPES = {
    "category": ("[[", "]]"),
    "item": ("(", ")"),
    "missing": ("{{", "}}"),
    "conversation": ("[/", "/]"),
    "user": ("([", "])"),
    "agent": ("([", "])"),
    "character": ("([", "])"),
    "project": ("[(", ")]"),
}
_OWNER_KINDS = frozenset({"user", "agent", "character", "project"})


def _quoted(label: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in label)
    return shown.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def build_graph(corpus: Corpus, entries: Iterable[Entry]) -> Graph:
    """The graph of the given entries; links resolve in ``corpus``. Dangling ones lead to a node of kind missing."""
    nodes: dict[str, Node] = {}
    edges: dict[Edge, None] = {}

    def node(identifier: str, kind: str, label: str) -> str:
        nodes.setdefault(identifier, Node(identifier, kind, label))
        return identifier

    ordered = sorted(entries, key=lambda e: e.address)
    categories = {name_key(entry.category): entry.category for entry in reversed(ordered)}
    for entry in ordered:
        item = node(entry.address, "item", entry.name)
        category = node(f"category#{entry.category}", "category", entry.category)
        edges[Edge(category, item, "contains")] = None
        _owners(entry, item, category, node, edges)
        for link in entry.links:
            target = resolve(corpus, entry, link)
            if target is not None:
                edges[Edge(item, node(target.address, "item", target.name), "links")] = None
            elif link.item is None and (named := _category(entry, link, categories)) is not None:
                edges[Edge(item, node(f"category#{named}", "category", named), "links")] = None
            else:
                edges[Edge(item, node(f"missing#{link.target}", "missing", link.target), "links")] = None
        reference = reference_link(entry.metadata.supersedes or "")
        if reference is not None:
            older = resolve(corpus, entry, reference)
            if older is not None:
                edges[Edge(item, node(older.address, "item", older.name), "supersedes")] = None
            else:
                edges[Edge(item, node(f"missing#{reference.target}", "missing", reference.target), "supersedes")] = None
    return Graph(tuple(nodes.values()), tuple(edges))


def _category(entry: Entry, link: Link, categories: dict[str, str]) -> str | None:
    """The category that a link to a whole one means: in the scope at hand first, then in shared memory."""
    own = categories.get(name_key(f"{entry.scope}/{link.category}"))
    return own or categories.get(name_key(link.category).removeprefix("shared/"))


def _owners(entry: Entry, item: str, category: str, node: Any, edges: dict[Edge, None]) -> None:
    kind, _, name = entry.scope.partition("/")
    if kind in _OWNER_KINDS and name:
        edges[Edge(node(f"{kind}#{name}", kind, name), category, "contains")] = None
    for key, edge in (("owner", "about"), ("actor", "by")):
        value = entry.metadata.get(key)
        if value:
            kind, _, name = value.partition(":")
            kind, name = (kind, name) if name and kind in _OWNER_KINDS else ("character", value)
            edges[Edge(item, node(f"{kind}#{name}", kind, name), edge)] = None
    source = entry.metadata.source
    if source:
        conversation = source.removeprefix("turn/").partition("#")[0]
        edges[Edge(item, node(f"conversation#{conversation}", "conversation", conversation), "from")] = None


def resolve(corpus: Corpus, entry: Entry, link: Link) -> Entry | None:
    """The item that a link means: in the scope at hand first, then in shared memory."""
    if link.item is None:
        return None
    found = (corpus.find(*key) for key in link_keys(link.category, link.item, entry))
    return next((target for target in found if target is not None), None)
