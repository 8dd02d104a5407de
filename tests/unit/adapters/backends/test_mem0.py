"""mem0 by its library: what is asked of it, and what is made of whatever it does."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from memoranda.adapters.backends.interface import Committed, Retrieved
from memoranda.adapters.backends.mem0 import Mem0
from memoranda.core.errors import MissingExtra

TURN = {"conversation": "c1", "turn": "1", "speaker": "Lin", "role": "user", "text": "I like\nthe sea."}


class Memory:
    """In the place of mem0's: it holds what it was given, and finds all of it."""

    def __init__(self) -> None:
        self.held: list[tuple[str, dict[str, Any]]] = []
        self.added: list[dict[str, Any]] = []
        self.fault: Exception | None = None
        self.closed: list[str] = []
        self.configuration: dict[str, Any] = {}
        self.variables: dict[str, str | None] = {}
        self.vector_store = SimpleNamespace(client=SimpleNamespace(close=lambda: self.closed.append("client")))

    def from_config(self, configuration: dict[str, Any]) -> Memory:
        self.configuration = configuration
        return self

    def add(self, messages: list[dict[str, str]], **options: Any) -> dict[str, Any]:
        if self.fault is not None:
            raise self.fault
        self.added.append({"messages": messages, **options})
        self.held.append((messages[0]["content"], options["metadata"]))
        return {"results": [{}]}

    def get_all(self, *, filters: dict[str, str], top_k: int) -> dict[str, Any]:
        found = [one for one in self.held if one[1].get("source") == filters["source"]]
        return {"results": [{"memory": text, "metadata": beside} for text, beside in found[:top_k]]}

    def search(self, query: str, *, top_k: int, filters: dict[str, str]) -> Any:
        if self.fault is not None:
            raise self.fault
        return {"results": [{"memory": text, "metadata": beside} for text, beside in self.held]}

    def close(self) -> None:
        self.closed.append("memory")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    made, package = Memory(), ModuleType("mem0")
    package.Memory = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mem0", package)
    return made


def backend(tmp_path: Path, **changes: Any) -> Mem0:
    named = {"base_url": "http://127.0.0.1:1/v1", "model": "e5", "dimension": 384} | changes
    return Mem0(str(tmp_path / "mem0"), **named)


def test_turns_are_kept_word_for_word_and_found_with_where_they_came_from(memory: Memory, tmp_path: Path) -> None:
    made = backend(tmp_path)
    assert made.commit([TURN, TURN | {"turn": "2", "role": "assistant", "speaker": ""}]) == Committed(2)
    assert memory.added == [
        {
            "messages": [{"role": "user", "content": "Lin: I like the sea."}],
            "user_id": "memoranda",
            "metadata": {"source": "c1#1"},
            "infer": False,
        },
        {
            "messages": [{"role": "assistant", "content": "assistant: I like the sea."}],
            "user_id": "memoranda",
            "metadata": {"source": "c1#2"},
            "infer": False,
        },
    ]
    assert made.retrieve("sea", 1) == Retrieved(("Lin: I like the sea.",), ("c1#1",))


def test_a_turn_that_is_held_is_not_kept_twice(memory: Memory, tmp_path: Path) -> None:
    made = backend(tmp_path)
    assert [made.commit([TURN]), made.commit([TURN])] == [Committed(1), Committed(1)]
    assert len(memory.added) == 1


def test_everything_is_in_its_folder_and_nobody_elses_key_is_sent(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key-0123456789")
    backend(tmp_path).warm()
    folder = str(tmp_path / "mem0")
    assert memory.configuration == {
        "embedder": {
            "provider": "openai",
            "config": {"model": "e5", "openai_base_url": "http://127.0.0.1:1/v1", "api_key": "none"},
        },
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "collection_name": "memoranda",
                "path": os.path.join(folder, "qdrant"),
                "embedding_model_dims": 384,
                "on_disk": True,
            },
        },
        "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}},
        "history_db_path": os.path.join(folder, "history.db"),
    }


@pytest.mark.parametrize("chosen", [None, "True"])
def test_it_reports_nothing_unless_somebody_chose_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    monkeypatch.delitem(sys.modules, "mem0", raising=False)
    monkeypatch.delenv("MEM0_DIR", raising=False)
    if chosen is None:
        monkeypatch.delenv("MEM0_TELEMETRY", raising=False)
    else:
        monkeypatch.setenv("MEM0_TELEMETRY", chosen)
    package = tmp_path / "packages" / "mem0.py"
    package.parent.mkdir()
    package.write_text("import os\nseen = os.environ['MEM0_TELEMETRY'], os.environ['MEM0_DIR']\nMemory = None\n")
    monkeypatch.syspath_prepend(str(package.parent))
    backend(tmp_path).retrieve("sea", 1)
    imported = sys.modules.pop("mem0")
    assert imported.seen == (chosen or "False", str(tmp_path / "mem0" / "settings"))
    assert os.environ.get("MEM0_TELEMETRY") == chosen
    assert "MEM0_DIR" not in os.environ


def test_a_missing_package_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    made = backend(tmp_path)
    with pytest.raises(MissingExtra, match=r"pip install 'memoranda\[mem0\]'"):
        made.warm()
    assert "memoranda[mem0]" in made.retrieve("sea", 5).unavailable
    assert "memoranda[mem0]" in made.commit([TURN]).fault


class Unauthorized(Exception):
    status_code = 401


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ValueError("dimensions\ndiffer"), "mem0 failed: ValueError: dimensions differ"),
        (Unauthorized("wrong key made-up-ke***"), "mem0 failed: its endpoint does not accept the key (401)"),
    ],
)
def test_what_went_wrong_is_said_and_not_raised(memory: Memory, tmp_path: Path, fault: Exception, said: str) -> None:
    made = backend(tmp_path)
    made.warm()
    memory.fault = fault
    assert made.retrieve("sea", 5) == Retrieved(unavailable=said)
    assert made.commit([TURN]) == Committed(0, said)


def test_what_hangs_is_given_up_on(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(memory, "search", lambda *given, **named: go_on.wait(20))
    assert backend(tmp_path, timeout=0.1).retrieve("sea", 5).unavailable == "mem0 did not answer in 0.1 s"
    go_on.set()


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"results": None}, {"results": [None, {"memory": 7}, {"memory": " "}]}]
)
def test_an_answer_of_nothing_is_nothing(memory: Memory, tmp_path: Path, monkeypatch: Any, answer: Any) -> None:
    monkeypatch.setattr(memory, "search", lambda *given, **named: answer)
    assert backend(tmp_path).retrieve("sea", 5) == Retrieved()


@pytest.mark.parametrize("turn", [{}, {"conversation": "c", "turn": "1"}, None])
def test_what_is_no_turn_ends_the_commit(memory: Memory, tmp_path: Path, turn: Any) -> None:
    committed = backend(tmp_path).commit([TURN, turn, TURN])
    assert committed.count == 1
    assert "conversation, turn and text are needed" in committed.fault


def test_nothing_is_asked_for_nothing(memory: Memory, tmp_path: Path) -> None:
    assert backend(tmp_path).retrieve(" ", 5) == backend(tmp_path).retrieve("sea", 0) == Retrieved()
    assert memory.configuration == {}


def test_closing_gives_the_folder_back_and_may_be_done_twice(memory: Memory, tmp_path: Path) -> None:
    made = backend(tmp_path)
    made.close()
    assert memory.closed == []
    made.warm()
    made.close()
    made.close()
    assert memory.closed == ["memory", "client"]
