"""Real child processes, and what is left on disk when they are done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import IO, Any

__all__ = ["Child", "read_journal", "start", "table"]


@dataclass(slots=True)
class Child:
    """A running writer and what it has said so far."""

    process: subprocess.Popen[bytes]
    written: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def _output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def wait_ready(self) -> None:
        """Wait until the child has opened what it writes to.

        Raises:
            RuntimeError: it ended before.
        """
        if self._output.readline() != b"ready\n":
            self.process.wait()
            raise RuntimeError("a writer did not start; its error is above")

    def go(self) -> None:
        """Let the child begin."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def read(self) -> bool:
        """Take one line; ``False`` at the end. A line without its end was not acknowledged."""
        line = self._output.readline()
        if not line.endswith(b"\n"):
            return False
        text = line[:-1].decode("utf-8", "replace")
        (self.written if text.startswith("+ ") else self.refused).append(text[2:])
        return True

    def kill(self) -> None:
        """SIGKILL the child, then take what it had said before."""
        self.process.kill()
        while self.read():
            pass
        self.process.wait()

    def finish(self) -> None:
        """Take what the child says until it ends by itself."""
        while self.read():
            pass
        if self.process.wait():
            self.refused.append(f"a writer ended with {self.process.returncode}")


def start(*arguments: str) -> Child:
    """Start one writer (see :mod:`memoranda_bench.writers`) that waits for :meth:`Child.go`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda_bench.writers", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # The child finds the packages where this process found them.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return Child(process)


def read_journal(root: str) -> tuple[list[dict[str, Any]], int]:
    """The journal's entries, and how many of its lines are no JSON object."""
    entries: list[dict[str, Any]] = []
    torn = 0
    try:
        with open(os.path.join(root, "journal.jsonl"), "rb") as stream:
            lines = stream.read().split(b"\n")
    except FileNotFoundError:
        return [], 0
    for line in filter(None, lines):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            torn += 1
    return entries, torn


def table(rows: dict[str, object]) -> str:
    """Figures as a markdown table."""
    lines = ["| figure | value |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {name} | {value} |" for name, value in rows.items())])
