"""An endpoint of embeddings on loopback: a real server over real sockets, which answers as it is told."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from fakes.embedder import word_vector

__all__ = ["Answer", "EmbeddingEndpoint", "Request", "encoded", "vectors"]


@dataclass
class Request:
    """What came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        given = self.body["input"]
        return [given] if isinstance(given, str) else list(given)


@dataclass
class Answer:
    """What goes out: a status, headers and a body (bytes, or what is made JSON).

    ``silence`` is how long nothing comes at first, ``trickle`` how long after
    each byte; ``cut`` closes the connection after so many bytes.
    """

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    silence: float = 0.0
    trickle: float = 0.0
    cut: int | None = None


def vectors(request: Request, dimension: int = 64) -> Answer:
    """As a good endpoint answers."""
    asked = request.body.get("dimensions") or dimension
    data = [
        {"object": "embedding", "index": at, "embedding": word_vector(text, asked)}
        for at, text in enumerate(request.texts)
    ]
    return Answer(body={"object": "list", "data": data, "model": request.body["model"]})


def encoded(request: Request) -> Answer:
    """As one that sends base64 whatever it is asked for."""
    answer = vectors(request)
    for one in answer.body["data"]:
        numbers = one["embedding"]
        one["embedding"] = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
    return answer


class EmbeddingEndpoint:
    """Answers each request by the next of its ``script``, and when that is through, by ``usual``."""

    def __init__(self, *script: Answer | Callable[[Request], Answer], port: int = 0) -> None:
        self.script = list(script)
        self.usual: Callable[[Request], Answer] = vectors
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length) or b"{}")
                endpoint._answer(self, Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body))

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # who asked has gone

        self._server = Server(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    def __enter__(self) -> EmbeddingEndpoint:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _answer(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        with self._lock:
            self.requests.append(request)
            told = self.script.pop(0) if self.script else self.usual
        answer = told if isinstance(told, Answer) else told(request)
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self._closing.wait(answer.silence)
        handler.send_response(answer.status)
        for name, value in ({"Content-Type": "application/json"} | answer.headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if answer.cut is not None:
            handler.wfile.write(body[: answer.cut])
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if not answer.trickle:
            handler.wfile.write(body)
            return
        for at in range(len(body)):
            if self._closing.wait(answer.trickle):
                return
            handler.wfile.write(body[at : at + 1])
            handler.wfile.flush()
