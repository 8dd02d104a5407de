"""Claude Code's settings: our hooks come and go, everything else stays."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda.core.errors import ChangedUnderneath, UsageError, VaultError
from memoranda.faces.hooks import claude_settings
from memoranda.faces.hooks.claude_settings import commands_for, install, is_ours, settings_path, uninstall

COMMANDS = commands_for(["/opt/bin/memoranda", "-C", "/home/lin/my vault"], ["--user", "lin"])
EVENTS = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"]
OTHERS: dict[str, Any] = {
    "model": "opus",
    "env": {"NAME": "林"},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check memoranda hook"}]}],
    },
    "zeta": [1, 2.5, None],
    "alpha": {},
}


def written(path: Path, settings: Any, **layout: Any) -> Path:
    path.write_text(json.dumps(settings, ensure_ascii=False, **{"indent": 2, **layout}) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    change = install(str(path), COMMANDS)
    assert [event for event, _ in change.added] == EVENTS
    assert change.backup == ""
    hooks = read(path)["hooks"]
    assert list(hooks) == EVENTS
    prompt = hooks["UserPromptSubmit"][0]["hooks"][0]
    assert prompt["type"] == "command"
    assert prompt["command"] == "/opt/bin/memoranda -C '/home/lin/my vault' hook claude-code prompt --user lin"


def test_all_else_stays_and_a_copy_is_made_first(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    before = path.read_bytes()
    change = install(str(path), COMMANDS)
    assert Path(change.backup).read_bytes() == before
    now = read(path)
    assert list(now) == list(OTHERS)
    assert {key: value for key, value in now.items() if key != "hooks"} == {
        key: value for key, value in OTHERS.items() if key != "hooks"
    }
    assert now["hooks"]["PreToolUse"] == OTHERS["hooks"]["PreToolUse"]
    assert now["hooks"]["Stop"][0] == OTHERS["hooks"]["Stop"][0]
    assert len(now["hooks"]["Stop"]) == 2


def test_a_second_install_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    install(str(path), COMMANDS)
    before, there = path.read_bytes(), sorted(os.listdir(tmp_path))
    assert not install(str(path), COMMANDS)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == there


def test_another_install_takes_the_place_of_the_first(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    install(str(path), COMMANDS)
    settings = read(path)
    settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"] = 3
    settings["hooks"]["Stop"].append(settings["hooks"]["Stop"][1])
    written(path, settings)
    other = commands_for(["memoranda"], ["--user", "mo"])
    change = install(str(path), other)
    assert len(change.added) == 5
    assert len(change.removed) == 6
    hooks = read(path)["hooks"]
    assert hooks["UserPromptSubmit"][0]["hooks"] == [{"type": "command", "command": other["prompt"], "timeout": 3}]
    assert [group["hooks"][0]["command"] for group in hooks["Stop"]] == ["say done", other["stop"]]


def test_uninstall_takes_out_ours_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    before = path.read_bytes()
    install(str(path), COMMANDS)
    change = uninstall(str(path))
    assert sorted(event for event, _ in change.removed) == sorted(EVENTS)
    assert path.read_bytes() == before
    assert not uninstall(str(path))


def test_uninstall_keeps_a_persons_hook_in_our_group(tmp_path: Path) -> None:
    mine = {"type": "command", "command": "say hello"}
    ours = {"type": "command", "command": COMMANDS["prompt"]}
    hooks = {"UserPromptSubmit": [{"matcher": "", "hooks": [mine, ours]}], "Notification": []}
    path = written(tmp_path / "settings.json", {"hooks": hooks})
    uninstall(str(path))
    assert read(path) == {"hooks": {"UserPromptSubmit": [{"matcher": "", "hooks": [mine]}], "Notification": []}}


def test_uninstall_of_nothing_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    assert not uninstall(str(path))
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"null", b'"x"', b"// a comment\n{}", b"\xff\xfe{}", b'{"a": 1, "a": 2}', b"[" * 100_000,
     b'{"hooks": []}', b'{"hooks": {"Stop": {}}}', b'{"hooks": null}'],
)  # fmt: skip
def test_what_is_no_settings_is_refused_in_one_line_and_not_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        install(str(path), COMMANDS)
    assert "nothing was changed" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_refusal_shows_nothing_of_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"env": {"KEY": "hunter2hunter2" "x"}}')
    with pytest.raises(UsageError) as refused:
        install(str(path), COMMANDS)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("before", "part"),
    [
        (b'{\n    "a": 1\n}\n', b'\n    "hooks": {\n        "SessionStart"'),
        (b'{\n\t"a": 1\n}', b'\n\t"hooks": {\n\t\t"SessionStart"'),
        (b'{"a": 1}', b'{"a": 1, "hooks": {"SessionStart"'),
        (b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n', b'\r\n  "hooks": {\r\n    "SessionStart"'),
        (b"{}", b'{\n  "hooks": {\n    "SessionStart"'),
        (b"", b'{\n  "hooks": {\n    "SessionStart"'),
    ],
)
def test_the_layout_of_the_file_is_kept(tmp_path: Path, before: bytes, part: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(before)
    install(str(path), COMMANDS)
    now = path.read_bytes()
    assert part in now
    assert now.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    assert now.endswith(b"\n") == (before.endswith(b"\n") or not before)
    assert (b"\r" in now) == (b"\r" in before)
    if b"a" in before:
        uninstall(str(path))
        assert path.read_bytes() == before


def test_a_dry_run_writes_nothing_and_tells_the_same(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    before = path.read_bytes()
    shown = install(str(path), COMMANDS, dry_run=True)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["settings.json"]
    done = install(str(path), COMMANDS)
    assert (shown.added, shown.removed) == (done.added, done.removed)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes no links without a privilege")
def test_a_link_stays_a_link_and_the_copy_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / ".claude").mkdir()
    real = written(tmp_path / "dotfiles" / "claude.json", OTHERS)
    real.chmod(0o640)
    link = tmp_path / ".claude" / "settings.json"
    link.symlink_to(real)
    change = install(str(link), COMMANDS)
    assert link.is_symlink()
    assert read(real)["hooks"]["SessionStart"]
    assert real.stat().st_mode & 0o777 == 0o640
    assert Path(change.backup).parent == link.parent
    assert os.listdir(real.parent) == ["claude.json"]


def test_no_copy_is_ever_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    backups = set()
    for _ in range(3):
        backups |= {install(str(path), COMMANDS).backup, uninstall(str(path)).backup}
    assert len(backups) == 6
    assert {path.name for path in tmp_path.iterdir()} == {"settings.json", *(Path(one).name for one in backups)}


def test_what_somebody_else_writes_meanwhile_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    back_up = claude_settings._backed_up

    def meanwhile(where: str, data: bytes) -> str:
        written(path, {"model": "sonnet"})
        return back_up(where, data)

    monkeypatch.setattr(claude_settings, "_backed_up", meanwhile)
    with pytest.raises(ChangedUnderneath):
        install(str(path), COMMANDS)
    assert read(path) == {"model": "sonnet"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "settings.json", OTHERS)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(VaultError):
            install(str(path), COMMANDS)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (COMMANDS["stop"], True),
        ("memoranda hook claude-code prompt", True),
        ("C:/Tools/memoranda.exe hook claude-code stop", True),
        ("/usr/bin/python3 -m memoranda -C /v hook claude-code session-end --user lin", True),
        ("memoranda hook claude-code install", False),
        ("memoranda recall x", False),
        ("memoranda hook claude-code prompt && say done", False),
        ("echo memoranda hook claude-code prompt", False),
        ("my-memoranda-wrapper hook claude-code prompt", False),
        ("memoranda 'hook", False),
        ("memoranda", False),
        ("", False),
        (None, False),
        (7, False),
    ],
)
def test_ours_are_known_by_their_command(command: object, ours: bool) -> None:
    assert is_ours(command) is ours


def test_where_the_settings_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert settings_path("", project=False) == str(tmp_path / "home" / ".claude" / "settings.json")
    assert settings_path("", project=True) == str(tmp_path / ".claude" / "settings.json")
    assert settings_path("~/x.json", project=True) == str(tmp_path / "home" / "x.json")
