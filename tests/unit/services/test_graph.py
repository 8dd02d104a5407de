from __future__ import annotations

import json
import re
from pathlib import Path

from memoranda.bootstrap import Vault
from observing import write

NODE = re.compile(r'  (n\d+)(\[\[|\[/|\[\(|\(\[|\(|\{\{|\[)"([^"<>]*)"(\]\]|/\]|\)\]|\]\)|\)|\}\}|\]):::([a-z]+)')
EDGE = re.compile(r"  (n\d+) (-->|-\.->|---)(?:\|([a-z]+)\|)? (n\d+)")
PAIRS = {"[[": "]]", "[/": "/]", "[(": ")]", "([": "])", "(": ")", "{{": "}}", "[": "]"}


def read_mermaid(text: str) -> tuple[dict[str, tuple[str, str]], list[tuple[str, str, str, str]]]:
    """Nodes (label, kind) and edges of a flowchart; fails on any line that Mermaid would not read."""
    lines = text.split("\n")
    assert lines[0] == "flowchart LR"
    assert lines[-1] == ""
    nodes: dict[str, tuple[str, str]] = {}
    edges = []
    for line in lines[1:-1]:
        if node := NODE.fullmatch(line):
            name, opening, label, closing, kind = node.groups()
            assert PAIRS[opening] == closing
            assert name not in nodes
            assert re.fullmatch(r"[^&]*(?:&(?:amp|quot|lt|gt|#\d+);[^&]*)*", label)
            nodes[name] = (label, kind)
        else:
            edge = EDGE.fullmatch(line)
            assert edge is not None, line
            source, arrow, label, target = edge.groups()
            assert source in nodes
            assert target in nodes
            edges.append((source, arrow, label or "", target))
    return nodes, edges


def fill(vault: Vault, root: Path) -> None:
    vault.remember("preferences:sea", "[[daily:trip]] [[gone:x]] [[daily]]", owner="user:lin", source="turn/talk#4")
    vault.remember("daily:trip", "back to [[preferences:sea]]", owner="character:kip", actor="agent:scout")
    vault.remember("daily:new", "newer", supersedes="Daily:TRIP", owner="just a name")
    vault.remember("project/apollo/notes:a", "[[daily:trip]]", source="project talk")
    vault.remember("user/lin/home:b", "text")


def test_nodes_and_edges(vault: Vault, root: Path) -> None:
    fill(vault, root)
    graph = vault.graph()
    assert {(n.id, n.kind) for n in graph.nodes} == {
        ("preferences:sea", "item"),
        ("daily:trip", "item"),
        ("daily:new", "item"),
        ("project/apollo/notes:a", "item"),
        ("user/lin/home:b", "item"),
        ("category#preferences", "category"),
        ("category#daily", "category"),
        ("category#project/apollo/notes", "category"),
        ("category#user/lin/home", "category"),
        ("user#lin", "user"),
        ("character#kip", "character"),
        ("character#just a name", "character"),
        ("agent#scout", "agent"),
        ("project#apollo", "project"),
        ("conversation#talk", "conversation"),
        ("conversation#project talk", "conversation"),
        ("missing#gone:x", "missing"),
    }
    edges = {(e.source, e.target, e.kind) for e in graph.edges}
    assert {
        ("preferences:sea", "daily:trip", "links"),
        ("preferences:sea", "category#daily", "links"),
        ("preferences:sea", "missing#gone:x", "links"),
        ("daily:trip", "preferences:sea", "links"),
        ("project/apollo/notes:a", "daily:trip", "links"),
        ("daily:new", "daily:trip", "supersedes"),
        ("category#daily", "daily:trip", "contains"),
        ("user#lin", "category#user/lin/home", "contains"),
        ("preferences:sea", "user#lin", "about"),
        ("daily:trip", "agent#scout", "by"),
        ("preferences:sea", "conversation#talk", "from"),
    } <= edges


def test_links_in_code_are_no_edges(vault: Vault, root: Path) -> None:
    """Case D16: neither inline code nor a fence links."""
    write(root, "memory/x.md", "## a\n\n`- part_of [[x:y]]`\n\n```\n- part_of [[x:y]]\n```\n\n## y\n\ntext\n")
    assert [e for e in vault.graph().edges if e.kind == "links"] == []
    assert vault.check() == []


def test_json_is_json_and_always_the_same(vault: Vault, root: Path) -> None:
    fill(vault, root)
    graph = json.loads(json.dumps(vault.graph().to_json()))
    ids = {node["id"] for node in graph["nodes"]}
    assert len(ids) == len(graph["nodes"])
    assert all(edge["source"] in ids and edge["target"] in ids for edge in graph["edges"])
    with Vault.open(root) as again:
        assert again.graph().to_json() == graph


def test_mermaid_can_be_read(vault: Vault, root: Path) -> None:
    fill(vault, root)
    vault.remember('c:odd "name" <b>&amp; `x` ; end %% 海边', 'text [[gone:"quoted" <x>]]', owner="(odd) [owner]")
    write(root, "memory/hand.md", "## {curly}\n\n[[(round):[square]]] \u202e\n\n##\n\nnameless\n")
    graph = vault.graph()
    nodes, edges = read_mermaid(graph.to_mermaid())
    assert len(nodes) == len(graph.nodes)
    assert len(edges) == len(graph.edges)
    assert {kind for _, kind in nodes.values()} == {n.kind for n in graph.nodes}


def test_one_scope(vault: Vault, root: Path) -> None:
    fill(vault, root)
    graph = vault.graph("project/apollo")
    assert {n.id for n in graph.nodes if n.kind == "item"} == {"project/apollo/notes:a", "daily:trip"}


def test_categories_do_not_collide_with_items(vault: Vault) -> None:
    for address in ("category:daily", "daily:x", "user:lin", "user/lin/c:a", "missing:a"):
        vault.remember(address, f"text of {address} [[gone:a]]")
    graph = vault.graph()
    assert len({n.id for n in graph.nodes}) == len(graph.nodes)
    assert {n.id for n in graph.nodes if n.kind == "item"} == {str(i.address) for i in vault.items()}


def test_empty(vault: Vault) -> None:
    assert read_mermaid(vault.graph().to_mermaid()) == ({}, [])
