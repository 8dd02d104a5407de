"""Qdrant behind a URL: a server that answers little, wrongly, late or not at all."""

from __future__ import annotations

import json
import operator
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")
pytest.importorskip("qdrant_client")

from memoranda.adapters.vector_backends import open_vector_index
from memoranda.core.errors import ServiceFailed, UsageError
from memoranda.core.ports import VectorIndex
from memoranda.core.vectors import VectorRow
from memoranda.storage.embedding_settings import EmbeddingSettings


class Server(ThreadingHTTPServer):
    """As much of a server of Qdrant as is asked of it, by its published interface."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.collections: dict[str, dict[int, dict[str, Any]]] = {}
        self.refuse: tuple[int, str] | None = None
        self.filters: list[Any] = []
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def _serve(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        self.server.keys.add(self.headers.get("api-key"))
        if self.server.refuse is not None:
            self._answer(*self.server.refuse)
            return
        _, _, name, *rest = self.path.partition("?")[0].split("/")
        collections, what = self.server.collections, (self.command, *rest)
        result: Any = True
        if what == ("PUT",):
            collections[name] = {}
        elif what == ("DELETE",):
            result = collections.pop(name, None) is not None
        elif name not in collections:
            self._answer(404, json.dumps({"status": {"error": f"Collection `{name}` doesn't exist!"}}))
            return
        elif what == ("PUT", "index"):
            result = {"operation_id": 1, "status": "completed"}
        elif what == ("PUT", "points"):
            batch = body["batch"]
            for id, vector, payload in zip(batch["ids"], batch["vectors"], batch["payloads"], strict=True):
                collections[name][id] = {"id": id, "vector": vector, "payload": payload}
            result = {"operation_id": 1, "status": "completed"}
        elif what == ("POST", "points", "delete"):
            for id in body["points"]:
                collections[name].pop(id, None)
            result = {"operation_id": 1, "status": "completed"}
        elif what == ("POST", "points"):
            result = [collections[name][id] for id in body["ids"] if id in collections[name]]
        elif what == ("POST", "points", "query"):
            self.server.filters.append(body.get("filter"))
            result = {"points": self._nearest(collections[name], body)}
        else:
            self._answer(400, json.dumps({"status": {"error": f"not served: {what}"}}))
            return
        self._answer(200, json.dumps({"result": result, "status": "ok", "time": 0.0}))

    def _nearest(self, points: dict[int, dict[str, Any]], body: Any) -> list[dict[str, Any]]:
        wanted = [one["match"]["any"] for one in (body.get("filter") or {}).get("must", [])]
        question = body["query"]["nearest"]
        scored = [
            {"id": one["id"], "version": 1, "score": sum(map(operator.mul, question, one["vector"]))}
            for one in points.values()
            if all(one["payload"]["home"] in homes for homes in wanted)
        ]
        return sorted(scored, key=lambda one: -one["score"])[: body["limit"]]

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_PUT = do_POST = do_DELETE = _serve


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def opened(folder: Path, url: str, timeout: float = 5.0) -> VectorIndex:
    return open_vector_index("qdrant", str(folder), "m", EmbeddingSettings(index="qdrant", url=url, timeout=timeout))


def row(address: str, home: str = "item x") -> VectorRow:
    return VectorRow(address, "memory/p.md", home, "0" * 32)


def found(index: VectorIndex, count: int = 9) -> list[str]:
    return [one.address for one in index.search([1, 0], count)]


def test_it_holds_finds_filters_and_forgets(tmp_path: Path, server: Server) -> None:
    index = opened(tmp_path / "v", server.url)
    index.put([row("a"), row("b", "turn x")], [[2, 0], [0, 1]])
    index.put([row(f"c{place}") for place in range(60)], [[-1, place / 50] for place in range(60)])
    assert found(index, 2) == ["a", "b"]
    assert next(one.address for one in index.search([1, 0], 3, ["item x"])) == "a"
    assert [one.address for one in index.search([1, 0], 3, ["turn x"])] == ["b"]
    assert server.filters == [None, {"must": [{"key": "home", "match": {"any": ["item x"]}}]}]
    assert index.cosines([1, 0], ["b"])["b"].cosine == pytest.approx(0)
    (points,) = server.collections.values()
    assert {one["payload"]["parent"] for one in points.values()} == {"memory/p.md"}
    index.remove(["a"])
    assert len(points) == 61
    index.close()
    again = opened(tmp_path / "v", server.url)
    assert found(again, 1) == ["b"]
    again.clear()
    assert server.collections == {}


def test_folders_have_collections_of_their_own(tmp_path: Path, server: Server) -> None:
    one, other = opened(tmp_path / "v", server.url), opened(tmp_path / "w", server.url)
    one.put([row("a")], [[1, 0]])
    other.put([row("b")], [[1, 0]])
    assert found(one) == ["a"]
    assert len(server.collections) == 2


def test_a_collection_that_is_gone_is_not_held(tmp_path: Path, server: Server) -> None:
    index = opened(tmp_path / "v", server.url)
    index.put([row("a")], [[1, 0]])
    server.collections.clear()
    assert found(index) == []
    assert len(index) == 0
    index.put([row("b")], [[1, 0]])
    assert found(index) == ["b"]


def test_a_put_notices_that_the_collection_is_gone(tmp_path: Path, server: Server) -> None:
    index = opened(tmp_path / "v", server.url)
    index.put([row("a")], [[1, 0]])
    server.collections.clear()
    index.put([row("b")], [[1, 0]])
    assert found(index) == ["b"]
    assert len(index) == 1


@pytest.mark.parametrize("answer", [(500, "{}"), (401, "Must provide an API key"), (200, "<html>"), (403, "")])
def test_a_server_that_refuses_is_a_failed_service(tmp_path: Path, server: Server, answer: tuple[int, str]) -> None:
    index = opened(tmp_path / "v", server.url)
    index.put([row("a")], [[1, 0]])
    server.refuse = answer
    with pytest.raises(ServiceFailed) as told:
        index.search([1, 0], 3)
    assert "\n" not in str(told.value)
    with pytest.raises(ServiceFailed):
        index.put([row("b")], [[1, 0]])
    assert len(index) == 1
    server.refuse = None
    assert found(index) == ["a"]


def test_a_server_that_is_not_there_is_a_failed_service(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        index = opened(tmp_path / "v", f"http://127.0.0.1:{taken.getsockname()[1]}")
        assert len(index) == 0
        assert index.search([1, 0], 3) == []
        with pytest.raises(ServiceFailed, match=r"127\.0\.0\.1"):
            index.put([row("a")], [[1, 0]])


def test_a_server_that_never_answers_is_given_up_on(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        index = opened(tmp_path / "v", f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.5)
        with pytest.raises(ServiceFailed, match="timed out"):
            index.put([row("a")], [[1, 0]])


def test_a_key_is_sent_to_this_machine_or_in_secret(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "secret")
    with pytest.raises(UsageError, match="https"):
        opened(tmp_path / "v", "http://qdrant.example:6333")
    with pytest.warns(UserWarning, match="insecure"):
        opened(tmp_path / "v", server.url).put([row("a")], [[1, 0]])
    assert server.keys == {"secret"}
