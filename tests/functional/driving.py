"""A command line to drive as a real process, and what its vault is filled with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import memoranda.version
from memoranda.faces.cli.main import main

_SOURCE = str(Path(memoranda.version.__file__).parents[1])
#: Long enough for a loaded machine; a hang is a failure, not a wait.
_PATIENCE = 60


@dataclass
class Ran:
    """What one process left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Stdout as JSON."""
        return json.loads(self.out)


@dataclass
class Cli:
    """Runs ``python -m memoranda`` with ``MEMORANDA_VAULT`` and ``HOME`` below one folder."""

    home: Path
    vault: Path
    env: dict[str, str] = field(default_factory=dict)

    def environment(self, **changes: str | None) -> dict[str, str]:
        """The process's environment; ``None`` takes a variable away."""
        env = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": _SOURCE,
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "MEMORANDA_VAULT": str(self.vault),
            "TZ": "UTC",
            "COLUMNS": "80",
        }
        for name in ("SYSTEMROOT", "COVERAGE_PROCESS_START", "TMPDIR"):
            if name in os.environ:
                env[name] = os.environ[name]
        for name, value in {**self.env, **changes}.items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def command(self, *words: str | bytes) -> list[str | bytes]:
        """The whole command line."""
        return [sys.executable, "-m", "memoranda", *words]

    def __call__(
        self,
        *words: str | bytes,
        stdin: str | bytes | None = None,
        env: dict[str, str | None] | None = None,
        cwd: Path | None = None,
        before: Sequence[str] = (),
    ) -> Ran:
        """Run one command to its end."""
        done = subprocess.run(
            [*before, *self.command(*words)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env=self.environment(**(env or {})),
            cwd=cwd or self.home,
            timeout=_PATIENCE,
            check=False,
        )
        ran = Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
        assert "Traceback" not in ran.err, ran.err
        return ran

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a process whose streams the test holds."""
        return subprocess.Popen(
            self.command(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            cwd=self.home,
            **options,
        )


@dataclass
class Inside:
    """Runs ``main`` in this process."""

    monkeypatch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def __call__(self, *words: str, vault: Path) -> Ran:
        """Run one command to its end."""
        self.monkeypatch.setenv("MEMORANDA_VAULT", str(vault))
        code = main(words)
        shown = self.captured.readouterr()
        return Ran(code, shown.out, shown.err)


PREFERENCES = """\
---
tags: [memory]
---
# preferences

A word by hand.

## likes-the-sea

喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]

<!-- memoranda: owner=user:lin | source=turn/conv_1#2 | ts=2026-07-10T03:00:00Z | type=profile -->

## drinks-coffee

Drinks black coffee every morning.

<!-- memoranda: ts=2026-07-11T08:00:00Z -->

## escape-artist

A line with \x1b[31mred\x1b[0m in it and \u202eturned\u202c.
"""

DAILY_LIFE = """\
# daily_life

## beach-trip-plan

八月去青岛，住在海边。

## lost

Points at [[nowhere:at-all]].
"""

TURNS = [
    {"conversation": "conv_1", "turn": "1", "ts": "2026-07-10T02:59:00Z", "speaker": "Lin", "role": "user",
     "text": "Shall we go somewhere\nthis summer? 想去海边玩"},
    {"conversation": "conv_1", "turn": "2", "ts": "2026-07-10T03:00:00Z", "speaker": "Mo",
     "role": "assistant", "text": "青岛的海边很好。"},
    {"conversation": "conv_2", "turn": "1", "ts": "2026-07-12T09:00:00Z", "speaker": "Lin", "role": "user",
     "text": "I bought a grinder for the coffee."},
]  # fmt: skip


def write_turns(path: Path, turns: list[dict[str, str]]) -> Path:
    """Write the turns as JSON lines."""
    path.write_bytes(b"".join(json.dumps(turn, ensure_ascii=False).encode() + b"\n" for turn in turns))
    return path
