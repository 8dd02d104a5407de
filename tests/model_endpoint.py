"""A language model's endpoint on loopback: a process of its own that speaks ``/v1/chat/completions`` as it is told.

Tests start it by :class:`ModelEndpoint`. What it answers is, in this order:

1. what was told it to say (``say``, or ``--script``), one entry a call, in their order;
2. what ``reply(text)`` of a Python file returns for the last user message, or
   ``answer(request)`` for the whole body of the request (``--replies``);
3. a fixed text (``--otherwise``).

An entry, and what such a function returns, is a text (the model's reply), or a
table of what goes wrong::

    {"text": "half a re", "cut": true}        the reply was cut by its limit of tokens
    {"text": null, "refusal": "No."}          the model declines; "finish": what it is said to have ended by
    {"parts": [{"type": "text", ...}]}        a message of parts
    {"status": 429, "error": "slow down", "code": "x", "headers": {"Retry-After": "1"}}
    {"error": "busy", "code": 503}            status 200 with an error within
    {"html": "<p>Sign in</p>"}                a web page, with "status" (200)
    {"body": "..."}                           whatever: the body as it is, with "status" (200)
    {"silence": 5}                            nothing for so many seconds; beside any of the others
    {"broken": 20}                            the connection is closed after so many bytes of the answer
    {"dropped": true}                         and before any

Each request is written to a file (``--calls``) before it is answered, one JSON
line each: what was asked is there even if the process is killed. It ends when
its standard input ends: with whoever started it.

By hand::

    python tests/model_endpoint.py --calls calls.jsonl --replies replies.py --port 8123
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["Call", "ModelEndpoint"]

#: Seconds in which the process has to be there.
PATIENCE = 30.0


class Call(dict[str, Any]):
    """One request that came in: ``path``, ``headers`` (small letters) and ``body``."""

    @property
    def body(self) -> dict[str, Any]:
        return dict(self["body"])

    @property
    def headers(self) -> dict[str, str]:
        return dict(self["headers"])

    @property
    def text(self) -> str:
        """The last user message."""
        return last_user_text(self.body)

    @property
    def form(self) -> str | None:
        """The form in which a reply was asked for: ``json_schema``, ``json_object``, or none."""
        asked = self.body.get("response_format")
        return None if asked is None else str(asked["type"])


class ModelEndpoint:
    """The process, from the outside. Its files are in ``folder``: what it is told, and what it was asked.

    ``replies`` is Python source, or the path of it, that defines ``reply(text)`` or ``answer(request)``.
    """

    def __init__(self, folder: Path, replies: str | Path | None = None, otherwise: str = "ok") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._script, self._calls = folder / "script.jsonl", folder / "calls.jsonl"
        self._otherwise = otherwise
        self._replies: Path | None = None
        if isinstance(replies, str):
            self._replies = folder / "replies.py"
            self._replies.write_text(replies, encoding="utf-8")
        elif replies is not None:
            self._replies = replies
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> ModelEndpoint:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """What ``base_url`` is to be."""
        return f"http://{self.host}/v1"

    @property
    def settings(self) -> dict[str, str]:
        """A table ``[model]`` that asks it."""
        return {"provider": "openai", "model": "scripted", "base_url": self.url}

    def start(self) -> None:
        """Start it: at the port that it had before, if it was stopped in between."""
        command = [sys.executable, str(Path(__file__).resolve())]
        command += ["--calls", str(self._calls), "--script", str(self._script), "--port", str(self.port)]
        command += ["--otherwise", self._otherwise]
        if self._replies is not None:
            command += ["--replies", str(self._replies)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("port "):
            self.stop()
            raise AssertionError(f"the endpoint did not start: {line!r}")
        self.port = int(line.split()[1])

    def stop(self) -> None:
        """End it. Whoever asks from now on is refused the connection."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait(PATIENCE)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def say(self, *entries: str | dict[str, Any]) -> None:
        """Answer the next calls by these; also while it runs."""
        pad = self.count - _count_lines(self._script)  # calls that were answered without an entry
        lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
        with self._script.open("a", encoding="utf-8") as script:
            script.write("".join(f"{line}\n" for line in ["null"] * max(pad, 0) + lines))

    @property
    def calls(self) -> list[Call]:
        """What it was asked, in order."""
        if not self._calls.exists():
            return []
        return [Call(json.loads(line)) for line in self._calls.read_text(encoding="utf-8").split("\n") if line]

    @property
    def count(self) -> int:
        return _count_lines(self._calls)

    def wait_for(self, count: int, seconds: float = PATIENCE) -> list[Call]:
        """The calls, as soon as there are so many."""
        until = time.monotonic() + seconds
        while self.count < count:
            if time.monotonic() > until:
                raise AssertionError(f"{self.count} calls in {seconds} s, not {count}")
            time.sleep(0.02)
        return self.calls


def _count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def last_user_text(body: dict[str, Any]) -> str:
    for message in reversed(body.get("messages", [])):
        if message.get("role") == "user":
            return str(message.get("content", ""))
    return ""


class _Server:
    """The process, from the inside."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._calls, self._script = Path(arguments.calls), Path(arguments.script) if arguments.script else None
        self._otherwise = arguments.otherwise
        self._function = _load(arguments.replies) if arguments.replies else None
        self._lock = threading.Lock()

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        line = json.dumps({"path": handler.path, "headers": headers, "body": body}, ensure_ascii=False)
        with self._lock:
            at = _count_lines(self._calls)
            with self._calls.open("ab", buffering=0) as calls:
                calls.write(line.encode("utf-8", "replace") + b"\n")
        told = self._told(at)
        if told is None and self._function is not None:
            told = self._function(body)
        if told is None:
            told = self._otherwise
        entry: dict[str, Any] = {"text": told} if isinstance(told, str) else told
        time.sleep(entry.get("silence", 0))
        if entry.get("dropped"):
            handler.close_connection = True
            return
        status, kind, content = self._content(entry, body)
        handler.send_response(status)
        for name, value in ({"Content-Type": kind} | entry.get("headers", {})).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: entry.get("broken")])
        if "broken" in entry:
            handler.close_connection = True

    def _told(self, at: int) -> Any:
        """The entry for the call of this number."""
        if self._script is None or not self._script.exists():
            return None
        lines = self._script.read_text(encoding="utf-8").split("\n")[:-1]
        return json.loads(lines[at]) if at < len(lines) else None

    @staticmethod
    def _content(entry: dict[str, Any], body: dict[str, Any]) -> tuple[int, str, bytes]:
        status = int(entry.get("status", 200))
        if "html" in entry:
            return status, "text/html", str(entry["html"]).encode()
        if "body" in entry:
            return status, "application/json", str(entry["body"]).encode()
        if "error" in entry or status != 200:
            said = {"message": entry.get("error", "no reason"), "code": entry.get("code")} | entry.get("more", {})
            return status, "application/json", json.dumps({"error": said}).encode()
        message = {"role": "assistant", "content": entry.get("parts", entry.get("text", "")), "refusal": None}
        if "refusal" in entry:
            message["refusal"] = entry["refusal"]
        answer = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body.get("model"),
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "length" if entry.get("cut") else entry.get("finish", "stop"),
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        return status, "application/json", json.dumps(answer).encode()


def _load(path: str) -> Callable[[dict[str, Any]], Any]:
    names: dict[str, Any] = {"__name__": "replies", "__file__": path}
    exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), names)
    if "answer" in names:
        whole: Callable[[dict[str, Any]], Any] = names["answer"]
        return whole
    reply: Callable[[str], Any] = names["reply"]
    return lambda body: reply(last_user_text(body))


def _end_with_parent() -> None:
    while sys.stdin.buffer.read1(4096):
        pass
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted language model's endpoint on loopback.")
    parser.add_argument("--calls", required=True, help="a file to which each request is appended")
    parser.add_argument("--script", help="a file of JSON lines: what to answer, one a call")
    parser.add_argument("--replies", help="a Python file that defines reply(text) or answer(request)")
    parser.add_argument("--otherwise", default="ok", help="the reply when neither says anything")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    told = _Server(arguments)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            told.answer(self, body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            kind = sys.exc_info()[0]
            if kind is not None and not issubclass(kind, OSError):  # who asked has gone
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", arguments.port), Handler)
    print(f"port {server.server_address[1]}", flush=True)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    server.serve_forever(0.05)


if __name__ == "__main__":
    main()
