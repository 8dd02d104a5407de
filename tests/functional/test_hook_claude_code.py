"""Claude Code's hooks as it calls them: whole processes, JSON on stdin, the installed command lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from functional.driving import Cli, Ran
from model_endpoint import ModelEndpoint

SESSION = "3b0c6f0e-5d1f-4c8e-9a54-0d6f2f6f0a11"
REPLIES = """\
import json

def reply(text):
    operation = {"op": "add", "category": "profile", "name": "lives-in-xiamen", "text": "Lin lives in Xiamen.",
                 "type": "profile"}
    return json.dumps({"operations": [operation] if "Xiamen" in text else [{"op": "skip", "reason": "nothing"}]})
"""


def transcript(folder: Path, *pairs: tuple[str, str]) -> Path:
    """A transcript of questions and answers, with a tool's work in between."""
    rows: list[dict[str, Any]] = [{"type": "summary", "summary": "x", "leafUuid": "y"}]
    for number, (asked, answered) in enumerate(pairs):
        common = {"sessionId": SESSION, "timestamp": f"2026-07-10T03:{number:02}:00.000Z", "isSidechain": False}
        rows += [
            {**common, "type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": asked}},
            {**common, "type": "user", "uuid": f"r{number}", "toolUseResult": {"stdout": "tool"},
             "message": {"role": "user", "content": [{"type": "tool_result", "content": "tool"}]}},
            {**common, "type": "assistant", "uuid": f"a{number}",
             "message": {"role": "assistant", "content": [{"type": "text", "text": answered}]}},
        ]  # fmt: skip
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    return path


def event(cli: Cli, action: str, *options: str, **given: Any) -> Ran:
    """Run a hook; whatever happens, it ends well and says nothing or one JSON object."""
    ran = cli("hook", "claude-code", action, *options, stdin=json.dumps({"session_id": SESSION, **given}))
    assert ran.code == 0
    assert ran.out == "" or isinstance(json.loads(ran.out), dict)
    assert ran.err.count("\n") <= 1
    return ran


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for what another process does."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.05)


def test_a_session_from_its_start_to_a_memory(cli: Cli, tmp_path: Path) -> None:
    assert cli("remember", "user/lin/preferences:sea", "喜欢海边，想去海边玩。").code == 0
    with ModelEndpoint(tmp_path / "model", REPLIES) as model:
        table = "\n".join(f'{key} = "{value}"' for key, value in model.settings.items())
        (cli.vault / "memoranda.toml").write_text(f"[model]\n{table}\n")
        lin = ("--user", "lin")
        started = event(cli, "session-start", *lin, source="startup").json()
        assert "user/lin/preferences (1: sea)" in started["hookSpecificOutput"]["additionalContext"]
        asked = event(cli, "prompt", *lin, prompt="周末想去海边玩").json()
        assert asked["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        assert "喜欢海边" in asked["hookSpecificOutput"]["additionalContext"]
        path = transcript(tmp_path, ("I moved to Xiamen.", "Noted."))
        assert event(cli, "stop", *lin, transcript_path=str(path), stop_hook_active=False).err == ""
        until(lambda: cli("show", "user/lin/profile:lives-in-xiamen").code == 0)
        until(lambda: not list((cli.vault / "inbox").glob("*.json")))
        calls = model.count
        assert calls == 1
        event(cli, "pre-compact", *lin, transcript_path=str(path))
        event(cli, "session-end", *lin, transcript_path=str(path))
        assert model.count == calls
        assert list((cli.vault / "inbox").glob("*.json")) == []
        assert cli("show", f"turn/{SESSION}#u0").out.count("Xiamen") == 1


def test_without_a_model_it_is_queued(cli: Cli, tmp_path: Path) -> None:
    assert cli("init").code == 0
    path = transcript(tmp_path, ("One.", "Two."), ("Three.", "Four."))
    for action in ("stop", "session-end"):
        event(cli, action, transcript_path=str(path))
    assert cli("inbox", "--json").json()["queued"] == 2


@pytest.mark.parametrize("action", ["session-start", "prompt", "stop", "pre-compact", "session-end"])
@pytest.mark.parametrize("stdin", ["", "{", "[]", "not json", json.dumps({"transcript_path": "/nowhere", "prompt": 5})])
def test_whatever_comes_it_ends_well(cli: Cli, action: str, stdin: str) -> None:
    for _ in range(2):
        ran = cli("hook", "claude-code", action, stdin=stdin)
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.count("\n") <= 1
        assert cli.vault.exists() or ran.err
        (cli.vault / "memory").mkdir(parents=True, exist_ok=True)


def test_a_vault_that_cannot_be_read_ends_well(cli: Cli, tmp_path: Path) -> None:
    assert cli("init").code == 0
    (cli.vault / "vault.json").write_text("{")
    (cli.vault / "memoranda.toml").write_text("= =")
    path = transcript(tmp_path, ("One.", "Two."))
    for action in ("session-start", "prompt", "stop"):
        ran = event(cli, action, prompt="sea", transcript_path=str(path))
        assert ran.out == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_vault_that_cannot_be_written_still_recalls(cli: Cli, tmp_path: Path) -> None:
    assert cli("remember", "preferences:sea", "Likes the sea.").code == 0
    folders = [cli.vault, *(path for path in cli.vault.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert "Likes the sea" in event(cli, "prompt", prompt="sea").out
        ran = event(cli, "stop", transcript_path=str(transcript(tmp_path, ("One.", "Two."))))
        assert "may not be written" in ran.err
    finally:
        for folder in folders:
            folder.chmod(0o700)


def test_install_and_what_it_installs(cli: Cli, tmp_path: Path) -> None:
    settings = cli.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "opus"\n}\n')
    shown = cli("hook", "claude-code", "install", "--user", "lin", "--dry-run")
    assert shown.code == 0
    assert "+ UserPromptSubmit: " in shown.out
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'
    assert not cli.vault.exists()

    done = cli("hook", "claude-code", "install", "--user", "lin", "--project", "apollo", "--agent", "coder")
    assert done.code == 0
    assert "the file as it was: " in done.out
    again = cli("hook", "claude-code", "install", "--user", "lin", "--project", "apollo", "--agent", "coder")
    assert (again.code, "nothing to change" in again.out) == (0, True)

    hooks = json.loads(settings.read_text())["hooks"]
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert command.endswith("hook claude-code prompt --user lin --project apollo --agent coder")
    assert cli("remember", "project/apollo/decisions:db", "The database is SQLite.").code == 0
    answered = subprocess.run(
        ["sh", "-c", command], input=b'{"prompt": "which database?"}', capture_output=True,
        env=cli.environment(MEMORANDA_VAULT=None), cwd=tmp_path, timeout=60, check=True,
    )  # fmt: skip
    assert "SQLite" in json.loads(answered.stdout)["hookSpecificOutput"]["additionalContext"]

    gone = cli("hook", "claude-code", "uninstall")
    assert gone.code == 0
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'


def test_a_projects_settings_hold_no_path_of_this_machine(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "apollo"
    folder.mkdir()
    done = cli("hook", "claude-code", "install", "--project", "apollo", "--project-settings", cwd=folder)
    assert done.code == 0
    text = (folder / ".claude" / "settings.json").read_text()
    assert '"memoranda hook claude-code stop --project apollo"' in text
    assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("install", "--settings", "broken.json"), "no JSON"),
        (("install", "--user", "a/b"), "a/b"),
        (("install", "--scope", "somewhere"), "somewhere"),
    ],
)
def test_what_cannot_be_installed_is_one_line(cli: Cli, words: tuple[str, ...], part: str) -> None:
    (cli.home / "broken.json").write_text("{")
    ran = cli("hook", "claude-code", *words)
    assert ran.code == 2
    assert part in ran.err
    assert ran.err.count("\n") == 1
    assert (cli.home / "broken.json").read_text() == "{"
    assert not (cli.home / ".claude").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a child's memory is asked of Linux")
def test_a_transcript_of_a_hundred_megabytes_takes_little_memory(cli: Cli, tmp_path: Path) -> None:
    assert cli("init").code == 0
    path = transcript(tmp_path, ("One.", "Two."))
    row = {"type": "user", "uuid": "r", "toolUseResult": {}, "message": {"content": "x" * 1_000_000}}
    image = {"type": "user", "uuid": "i", "message": {"content": [{"type": "image", "source": "x" * 9_000_000}]}}
    with path.open("ab") as file:
        for _ in range(92):
            file.write(json.dumps(row).encode() + b"\n")
        file.write(json.dumps(image).encode() + b"\n")
    assert path.stat().st_size > 100_000_000
    code = (
        "import runpy, sys\nsys.argv = ['memoranda', 'hook', 'claude-code', 'session-end']\n"
        "try:\n    runpy.run_module('memoranda', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code\n"
        # Not getrusage's number, which a new process inherits from the one that started it.
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    given = json.dumps({"session_id": SESSION, "transcript_path": str(path)}).encode()
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, env=cli.environment(),
                          timeout=120, check=True)  # fmt: skip
    assert int(done.stdout) < 80_000  # in kilobytes
    assert cli("inbox", "--json").json()["queued"] == 1


def test_an_installed_line_of_another_version_withholds_no_prompt(cli: Cli) -> None:
    """Exit code 2 of a hook would keep what the user said from the model."""
    for words in (("prompt", "--newer-option"), ("an-event-to-come",)):
        ran = cli("hook", "claude-code", *words, stdin="{}")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.startswith("memoranda: ")
    assert cli("hook", "claude-code", "install", "--newer-option").code == 2
