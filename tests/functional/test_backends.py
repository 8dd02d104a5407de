"""Other memory systems, as they are installed, before an endpoint of embeddings on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from embedding_endpoint import Answer, EmbeddingEndpoint
from memoranda.adapters.backends.interface import Backend, Committed
from memoranda.adapters.backends.mem0 import Mem0
from memoranda.adapters.backends.memu import MemU

TURNS = [
    {"conversation": "c1", "turn": "1", "speaker": "Lin", "role": "user", "text": "我喜欢海边"},
    {"conversation": "c1", "turn": "2", "speaker": "", "role": "assistant", "text": "# Noted\nYou like the seaside."},
    {"conversation": "c2", "turn": "1", "speaker": "Ana", "role": "user", "text": "The car needs new tyres."},
    {"conversation": "c2", "turn": "2", "speaker": "Ana", "role": "user", "text": "Coffee every morning."},
]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingEndpoint]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with EmbeddingEndpoint() as made:
        yield made


@pytest.fixture(params=["memu", "mem0"])
def backend(
    request: pytest.FixtureRequest, endpoint: EmbeddingEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Backend]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # What goes to an endpoint that was named here is nobody's credential for another.
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key-0123456789")
    if request.param == "memu":
        command = os.environ.get("MEMORANDA_MEMU") or shutil.which("memu")
        if not command:
            pytest.skip("memU is not here: no command memu on PATH, and MEMORANDA_MEMU does not name one")
        made: Backend = MemU(
            command, database=str(tmp_path / "memu" / "memu.sqlite3"), base_url=endpoint.url, model="words", timeout=120
        )
    else:
        if find_spec("mem0") is None:
            pytest.skip("mem0 is not here: the package mem0 cannot be imported (pip install mem0ai)")
        made = Mem0(str(tmp_path / "mem0"), base_url=endpoint.url, model="words", dimension=64, timeout=60)
    yield made
    made.close()


def test_before_anything_was_committed_nothing_is_found_and_nothing_is_amiss(backend: Backend) -> None:
    found = backend.retrieve("海边", 3)
    assert (found.texts, found.unavailable) == ((), "")


def test_turns_that_were_committed_are_found_by_what_they_say(backend: Backend, endpoint: EmbeddingEndpoint) -> None:
    assert backend.commit(TURNS) == Committed(4)
    found = backend.retrieve("喜欢海边", 2)
    assert found.unavailable == ""
    assert (found.texts[0], found.sources[0]) == ("Lin: 我喜欢海边", "c1#1")
    assert len(found.texts) == 2
    assert backend.retrieve("new tyres for the car", 1).sources == ("c2#1",)
    assert backend.retrieve("noted: you like the seaside.", 1).texts == ("assistant: # Noted You like the seaside.",)
    # Embeddings are all that was asked for: no language model, and with no credential of another place.
    assert {request.path for request in endpoint.requests} == {"/v1/embeddings"}
    assert {request.headers["authorization"] for request in endpoint.requests} == {"Bearer none"}


def test_what_was_committed_again_is_there_once(backend: Backend, endpoint: EmbeddingEndpoint) -> None:
    backend.commit(TURNS)
    asked = len(endpoint.requests)
    assert backend.commit(TURNS) == Committed(4)
    assert len(endpoint.requests) == asked
    assert sorted(backend.retrieve("喜欢海边", 5).sources) == ["c1#1", "c1#2", "c2#1", "c2#2"]


def test_a_query_that_looks_like_an_option_is_a_query(backend: Backend) -> None:
    backend.commit(TURNS)
    assert backend.retrieve("--喜欢海边", 1).sources == ("c1#1",)


def test_an_endpoint_that_fails_costs_an_answer_and_no_exception(backend: Backend, endpoint: EmbeddingEndpoint) -> None:
    assert backend.commit(TURNS[:1]) == Committed(1)
    endpoint.usual = lambda request: Answer(400, {"error": {"message": "no such model: words"}})
    found = backend.retrieve("海边", 2)
    assert found.texts == ()
    assert "no such model" in found.unavailable
    committed = backend.commit(TURNS[1:])
    assert committed.count == 0
    assert "no such model" in committed.fault
