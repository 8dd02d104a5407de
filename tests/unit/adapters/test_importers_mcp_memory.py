"""The MCP memory server's graph: entities become items, relations links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.mcp_memory import read_mcp_memory
from memoranda.core.links import find_links
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem
from sources import SAMPLES, lay_down, needs_samples, told_apart


def _read(root: Path, *lines: Any) -> tuple[list[ForeignItem], list[Problem]]:
    lay_down(root, {"memory.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})
    return told_apart(read_mcp_memory(str(root / "memory.jsonl")))


LIN = {
    "type": "entity",
    "name": "Lin",
    "entityType": "person",
    "observations": ["喜欢海边", "Drinks tea", "Drinks tea"],
}
SEA = {"name": "Topic: Sea", "entityType": "topic", "observations": []}
LIKES = {"type": "relation", "from": "Lin", "to": "Topic: Sea", "relationType": "likes"}
KNOWS = {"from": "Topic: Sea", "to": "Nobody", "relationType": "known_by"}


def test_entities_and_relations(tmp_path: Path) -> None:
    items, problems = _read(tmp_path, LIKES, LIN, SEA, KNOWS, LIKES)
    assert problems == []
    assert [(i.category, i.name, i.text) for i in items] == [
        ("person", "Lin", "- 喜欢海边\n- Drinks tea\n- likes [[topic:Topic: Sea]]"),
        ("topic", "Topic: Sea", "- known_by Nobody"),
    ]
    (link,) = find_links(items[0].text)
    assert (link.category, link.item) == ("topic", "Topic: Sea")
    assert [(i.line, i.metadata.source) for i in items] == [
        (2, "mcp-memory/memory.jsonl/Lin"),
        (3, "mcp-memory/memory.jsonl/Topic: Sea"),
    ]


def test_one_object_and_a_folder(tmp_path: Path) -> None:
    expected, _ = _read(tmp_path / "a", LIN, SEA, LIKES, KNOWS)
    graph = {"entities": [LIN, SEA], "relations": [LIKES, KNOWS]}
    items, _ = _read(tmp_path / "b", graph)
    assert [i.text for i in items] == [i.text for i in expected]
    root = lay_down(
        tmp_path / "c", {"1.json": json.dumps(LIKES), "2.jsonl": json.dumps(LIN), "3.json": json.dumps([SEA])}
    )
    items, _ = told_apart(read_mcp_memory(str(root)))
    assert [(i.name, i.text, i.path) for i in items] == [
        ("Lin", "- 喜欢海边\n- Drinks tea\n- likes [[topic:Topic: Sea]]", "2.jsonl"),
        ("Topic: Sea", "- [[person:Lin]] likes Topic: Sea", "3.json"),
    ]


def test_times_and_authors(tmp_path: Path) -> None:
    item = _read(tmp_path, {**LIN, "createdAt": 1783652400, "updatedAt": 1783652401, "createdBy": "Mo"})[0][0]
    assert (item.metadata.ts, item.metadata.get("created_by")) == ("2026-07-10T03:00:00Z", "Mo")


def test_entities_of_one_name(tmp_path: Path) -> None:
    more = {**LIN, "observations": ["Swims"]}
    other = {**LIN, "entityType": "Person", "observations": ["is another"]}
    items, _ = _read(tmp_path, LIN, more, other)
    assert [(i.category, i.name, i.text) for i in items] == [
        ("person", "Lin", "- 喜欢海边\n- Drinks tea\n- Swims"),
        ("Person", "Lin", "- is another"),
    ]
    alike, _ = _read(tmp_path, {**LIN, "name": "a#b"}, {**LIN, "name": "a|b"})
    assert [i.name for i in alike] == ["a-b", "a-b-2"]


def test_what_is_broken_or_empty_is_named(tmp_path: Path) -> None:
    odd = {"name": "[[", "entityType": "x", "observations": ["lost"]}
    items, problems = _read(
        tmp_path,
        5,
        {},
        {"name": 5},
        SEA,
        odd,
        {"from": "Nobody", "to": "Lin"},
        {"name": "a/b", "observations": ["# x\ny"]},
    )
    assert [(i.category, i.name, i.text) for i in items] == [("mcp-memory", "a/b", "- # x\n  y")]
    assert [(p.line, p.kind) for p in problems] == [
        (1, "record"),
        (2, "record"),
        (3, "record"),
        (5, "bad-name"),
        (6, "relation"),
        (4, "empty"),
    ]


_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "type", "entityType", "observations", "from", "to", "createdAt", "entities", "content"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=15,
)


@given(st.lists(_JSON, max_size=4))
def test_nothing_raises(tmp_path_factory: pytest.TempPathFactory, values: list[Any]) -> None:
    items, _ = _read(tmp_path_factory.mktemp("any"), *values)
    assert all(item.text.strip() and item.name for item in items)


@needs_samples
@pytest.mark.parametrize("name", ["meeting-notes", "daily-standup", "risk-register", "memory-graph-untyped-vi"])
def test_every_entity_of_a_real_graph_arrives(name: str) -> None:
    path = SAMPLES / "mcp_memory" / f"{name}.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    items, problems = told_apart(read_mcp_memory(str(path)))
    assert len(items) == len({line["name"] for line in lines if "name" in line})
    assert not [p for p in problems if p.kind != "relation"]
    for line in lines:
        for observation in line.get("observations", ()):
            assert any(observation.split("\n")[0] in item.text for item in items)
