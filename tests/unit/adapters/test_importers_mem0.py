"""mem0's memories arrive from every shape of export; its own store is refused unopened."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.mem0 import read_mem0
from memoranda.core.errors import UsageError
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem
from sources import lay_down, state_of, told_apart

SEA = {
    "id": "m1",
    "memory": "Likes the sea.",
    "user_id": "lin",
    "agent_id": "mo",
    "run_id": 7,
    "metadata": {"place": "Qingdao", "trust": "high", "nested": {}, "bad key": "x"},
    "categories": ["hobbies", "travel"],
    "created_at": "2026-07-10T11:00:00+08:00",
    "updated_at": "2026-07-11T03:00:00Z",
    "expiration_date": "2027-01-01",
    "hash": "0",
}


def _read(root: Path, value: Any, name: str = "x.json") -> tuple[list[ForeignItem], list[Problem]]:
    lay_down(root, {name: value if isinstance(value, str) else json.dumps(value)})
    return told_apart(read_mem0(str(root / name)))


@pytest.mark.parametrize(
    "value",
    [
        SEA,
        [SEA],
        [[SEA]],
        {"results": [SEA]},
        {"count": 1, "next": None, "previous": None, "results": [SEA]},
        {"memories": [SEA]},
        json.dumps(SEA) + "\n",
    ],
)
def test_shapes(tmp_path: Path, value: Any) -> None:
    ((item,), problems) = _read(tmp_path, value)
    assert problems == []
    assert (item.category, item.name, item.text) == ("hobbies", "likes-the-sea", "Likes the sea.")
    assert dict(item.metadata.pairs) == {
        "owner": "user:lin",
        "source": "mem0/m1",
        "ts": "2026-07-10T03:00:00Z",
        "valid_to": "2027-01-01",
        "agent_id": "mo",
        "run_id": "7",
        "updated_at": "2026-07-11T03:00:00Z",
        "mem0.place": "Qingdao",
        "mem0.trust": "high",
    }


def test_lines_of_a_vector_store(tmp_path: Path) -> None:
    payload = {"data": "喜欢海边", "user_id": "lin", "hash": "0", "created_at": "2026-07-10", "conv_id": "c9"}
    other = {**payload, "data": "likes books", "agent_id": "mo", "owner_type": "Character", "owner_id": "mo"}
    lines = "\n".join(json.dumps({"id": n, "payload": p}) for n, p in enumerate((payload, other)))
    items, problems = _read(tmp_path, lines, "dump.jsonl")
    assert problems == []
    assert [(i.category, i.name, i.metadata.owner, i.metadata.source, i.line) for i in items] == [
        ("mem0", "喜欢海边", "user:lin", "mem0/0", 1),
        ("mem0", "likes-books", "agent:mo", "mem0/1", 2),
    ]
    assert items[0].metadata.get("mem0.conv_id") == "c9"
    assert items[0].metadata.ts == "2026-07-10"


@pytest.mark.parametrize(
    ("memory", "category"),
    [
        ({"text": "x"}, "mem0"),
        ({"text": "x", "categories": []}, "mem0"),
        ({"text": "x", "categories": None, "category": "work/rules"}, "work/rules"),
        ({"text": "x", "metadata": {"category": "a|b"}}, "a-b"),
        ({"text": "x", "categories": ["user/x"]}, "imported-user/x"),
        ({"text": "x", "categories": "a, b"}, "a"),
    ],
)
def test_categories(tmp_path: Path, memory: dict[str, Any], category: str) -> None:
    (item,), problems = _read(tmp_path, [memory])
    assert (item.category, problems) == (category, [])


def test_what_is_no_memory_is_named(tmp_path: Path) -> None:
    value = [{"id": "a"}, {"id": "b", "memory": " \n"}, 5, SEA, SEA, {"memory": "# big\n\ntext"}, {"memory": 3}]
    items, problems = _read(tmp_path, {"results": value})
    assert [i.text for i in items] == ["Likes the sea.", "### big\n\ntext"]
    assert [p.kind for p in problems] == ["record", "empty", "record", "duplicate", "record"]
    assert "memory a has no text" in problems[0].message


def test_two_texts_of_one_beginning_have_two_names(tmp_path: Path) -> None:
    items, _ = _read(tmp_path, [{"memory": f"The user likes to go to {place}"} for place in ("Rome", "Oslo")])
    assert [i.name for i in items] == ["the-user-likes-to-go-to", "the-user-likes-to-go-to-2"]


class _Trap:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (pytest.fail, ("a pickle was opened",))


def test_the_store_itself_is_refused_and_nothing_is_unpickled(tmp_path: Path) -> None:
    trap = pickle.dumps(_Trap())
    folder = lay_down(
        tmp_path / "store",
        {"collection/mem0/storage.sqlite": b"SQLite format 3\0" + trap, "meta.json": "{}", "collection/a.pkl": trap},
    )
    lay_down(tmp_path, {"plain": trap, "renamed.json": b"SQLite format 3\0rest"})
    before = state_of(tmp_path)
    for path in (folder, tmp_path / "plain", tmp_path / "renamed.json", folder / "collection/a.pkl"):
        with pytest.raises(UsageError, match=r"own store.*export it with mem0"):
            list(read_mem0(str(path)))
    assert state_of(tmp_path) == before


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["id", "memory", "data", "payload", "metadata", "categories", "created_at", "results"])
        | st.text(max_size=3), inner, max_size=5),
    max_leaves=15,
)  # fmt: skip


@given(_JSON)
def test_nothing_raises(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    items, _ = _read(tmp_path_factory.mktemp("any"), [value])
    assert all(item.text.strip() and item.name for item in items)
