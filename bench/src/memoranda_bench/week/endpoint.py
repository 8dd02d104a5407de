"""An endpoint on loopback that speaks OpenAI's chat completions and judges notes as they are labelled."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

__all__ = ["OTHERWISE", "JudgingEndpoint", "judged_reply"]

#: What a text is that is no labelled note.
OTHERWISE = "context_fragment"
_POLL = 0.05


def judged_reply(asked: str, kinds: Mapping[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """The reply to a judging prompt's notes (a JSON object each line), and their projects and texts.

    Raises:
        ValueError, KeyError, TypeError: it is no such prompt.
    """
    notes = [json.loads(line) for line in asked.splitlines() if line.strip()]
    rows = [{"n": int(note["n"]), "kind": kinds.get(str(note["note"]), OTHERWISE)} for note in notes]
    return json.dumps({"notes": rows}), [(str(note["project"]), str(note["note"])) for note in notes]


class JudgingEndpoint:
    """A server with a thread of its own while it is entered. ``kinds`` says of what kind each text is."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds = dict(kinds)
        self._lock = threading.Lock()
        self._calls = 0
        self._notes: list[tuple[str, str]] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL,), daemon=True)

    @property
    def settings(self) -> str:
        """The table ``[model]`` that asks it."""
        url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        return f'[model]\nprovider = "openai"\nmodel = "labels"\nbase_url = "{url}"\n'

    @property
    def calls(self) -> int:
        """How many requests came in, also those that it refused."""
        return self._calls

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """The projects and texts that it was asked about, in their order; one twice if it was asked twice."""
        return tuple(self._notes)

    def __enter__(self) -> JudgingEndpoint:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the JSON that a request is answered with."""
        with self._lock:
            self._calls += 1
        try:
            [asked] = [str(one["content"]) for one in body["messages"] if one["role"] == "user"]
            reply, notes = judged_reply(asked, self._kinds)
        except (ValueError, KeyError, TypeError) as error:
            return 400, {"error": {"message": f"this endpoint judges notes alone ({error})", "code": "bad_request"}}
        with self._lock:
            self._notes += notes
        message = {"role": "assistant", "content": reply, "refusal": None}
        return 200, {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def _handler(endpoint: JudgingEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            known = self.path == "/v1/chat/completions"
            status, said = endpoint.answer(body) if known else (404, {"error": {"message": "not here"}})
            content = json.dumps(said, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass  # what it is asked is counted, not printed

    return Handler
