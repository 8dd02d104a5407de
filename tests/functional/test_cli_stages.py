"""Stages and projects from the command line, in real processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from functional.driving import Cli
from memoranda.bootstrap import Vault

KEY = "sk-proj-" + "abcdEFGH12345678"
WRITER = """
import sys
from memoranda import Vault
with Vault.open(sys.argv[1]) as vault:
    stage = vault.stage("design", project="shop", agent="scout")
    for number in range(len(stage.records), 200):
        if number % 2:
            stage.say(f"record {number} " + "喜欢" * 200)
        else:
            stage.tool("count", {"number": number}, f"record {number} " + "x" * 3000)
        print(number, flush=True)
    stage.end("Counted.")
"""


@pytest.fixture
def work(cli: Cli) -> Path:
    """A folder that is the project ``shop``."""
    folder = cli.home / "work"
    folder.mkdir()
    (folder / ".memoranda-project").write_text("shop\n")
    return folder


def test_a_stage_from_its_start_to_its_end(cli: Cli, work: Path) -> None:
    assert cli("stage", "start", "design", "--agent", "scout", cwd=work).out == "stage/shop/design  begun\n"
    assert cli("stage", "note", "design", "Prices", "in", "cents.", cwd=work).out == "stage/shop/design#1\n"
    said = cli("stage", "note", "design", "-", "--role", "user", stdin=f"Use {KEY}\nplease\n", cwd=work)
    assert "secrets were taken out before writing: 1 x openai-key" in said.err
    assert cli("stage", "start", "design", cwd=work).out == "stage/shop/design  goes on, 2 records\n"
    (listed,) = cli("stage", "ls", "--json", cwd=work).json()
    assert (listed["stage"], listed["agent"], listed["records"], listed["ended"]) == ("design", "scout", 2, "")
    assert " 2 records " in cli("stage", "ls", cwd=work).out
    shown = cli("stage", "show", "design", cwd=work).out
    assert "#2" in shown
    assert "  Use [redacted:openai-key]\n  please\n" in shown
    done = cli("stage", "end", "design", "--summary", "Cents it is.", cwd=work)
    assert done.out == "stage/shop/design  ended, 2 records in projects/shop/stages/design.json\n"
    kept = json.loads((cli.vault / "projects/shop/stages/design.json").read_bytes())
    assert cli("stage", "show", "design", "--project", "SHOP", "--json").json() == kept
    assert [one["kind"] for one in kept["records"]] == ["note", "dialogue"]
    assert kept["summary"] == "Cents it is."
    assert "ended" in cli("stage", "ls", cwd=work).out
    assert "Cents it is." in cli("stage", "show", "design", cwd=work).out


def test_what_is_refused(cli: Cli, work: Path) -> None:
    assert cli("stage", "ls").code == 4
    cli("init")
    assert cli("stage", "ls", cwd=work).code == 1
    assert cli("stage", "ls").code == 1
    missing = cli("stage", "note", "desing", "x", cwd=work)
    assert (missing.code, "memoranda stage start" in missing.err) == (1, True)
    assert cli("stage", "show", "desing", cwd=work).code == 1
    nowhere = cli("stage", "start", "design")
    assert (nowhere.code, "--project" in nowhere.err) == (1, True)
    cli("stage", "start", "design", cwd=work)
    for words in (["start"], ["ls", "design"], ["end", "design", "so"], ["show"], ["note", "design"], ["start", "a/b"]):
        assert cli("stage", *words, cwd=work).code == 2
    assert cli("stage", "end", "design", "--json", cwd=work).json()["records"] == 0
    for words in (["start", "design"], ["note", "Design", "x"], ["end", "design"]):
        ended = cli("stage", *words, cwd=work)
        assert (ended.code, "has ended" in ended.err) == (3, True)


def test_json_says_what_was_done(cli: Cli) -> None:
    begun = cli("stage", "start", "a", "--project", "shop", "--json").json()
    assert (begun["project"], begun["stage"], begun["records"]) == ("shop", "a", 0)
    assert cli("stage", "note", "a", "x", "--project", "shop", "--json").json()["records"] == 1


def test_a_tool_call_is_shown_in_short(cli: Cli) -> None:
    with Vault.open(cli.vault) as vault:
        stage = vault.stage("a", project="shop")
        stage.tool("grep", {"pattern": "x" * 200}, "one\ntwo")
        stage.tool("ls")
        stage.say("hello", speaker="Lin")
        stage.note("forget me now")
        stage.close()
        vault.remember("a:b", "forget me now")
        vault.forget("a:b")
    shown = cli("stage", "show", "a", "--project", "shop").out
    assert 'grep {"pattern": "xxx' in shown
    assert "two" not in shown
    assert " Lin\n  hello\n" in shown
    assert "(forgotten)" in shown
    with Vault.open(cli.vault) as vault:
        vault.remember("c:d", "hello", source="stage/shop/a")
    told = cli("forget", "--source", "stage/shop/a", "--preview").out
    assert "would blank what stage/shop/a holds of it" in told
    assert "blanked what stage/shop/a holds of it" in cli("forget", "--source", "stage/shop/a").out
    assert "hello" not in cli("stage", "show", "a", "--project", "shop").out


def test_one_process_at_a_time(cli: Cli) -> None:
    cli("init")
    with Vault.open(cli.vault) as vault, vault.stage("design", project="shop"):
        refused = cli("stage", "note", "design", "x", "--project", "shop")
        assert (refused.code, "is open already" in refused.err) == (4, True)
        assert cli("stage", "show", "design", "--project", "shop").code == 0
        assert cli("stage", "start", "other", "--project", "shop").code == 0


def test_killed_in_the_middle_it_loses_at_most_the_call_under_way(cli: Cli) -> None:
    cli("init")
    path = cli.vault / "projects/shop/stages/design.open.jsonl"
    acknowledged = 0
    for stop in (30, 90, 150, 1000):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(cli.vault)], stdout=subprocess.PIPE, env=cli.environment()
        )
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged = int(line) + 1
            if acknowledged >= stop:
                os.kill(process.pid, signal.SIGKILL)
                break
        # What it wrote between the signal and its death was said to nobody.
        rest = [int(line) + 1 for line in process.stdout if line.endswith(b"\n")]
        acknowledged = max([acknowledged, *rest])
        assert process.wait() == (0 if stop == 1000 else -signal.SIGKILL)
        with Vault.open(cli.vault) as vault:
            found = vault.stage_archive("shop", "design")
        assert acknowledged <= len(found.records) <= acknowledged + 1
        for number, record in enumerate(found.records):
            assert f"record {number} " in (record.text or record.result)
        if stop == 90:
            with path.open("ab") as stream:  # as a power cut leaves it
                stream.write(b'{"kind":"note","text":"half of')
    assert (len(found.records), found.summary, found.agent) == (200, "Counted.", "scout")
    assert os.listdir(path.parent) == ["design.json"]


class TestProject:
    """``memoranda project``."""

    def test_what_tells_it(self, cli: Cli, work: Path) -> None:
        (work / "deep").mkdir()
        ran = cli("project", cwd=work / "deep")
        assert ran.out == "shop\n"
        assert ran.err == f"from {work.resolve()}/.memoranda-project\n"
        assert cli("project", str(work), "--json").json() == {
            "id": "shop", "root": str(work.resolve()), "how": "id-file",
        }  # fmt: skip
        assert not cli.vault.exists()

    def test_made_on_request(self, cli: Cli) -> None:
        assert cli("project").code == 1
        made = cli("project", "--create").out
        assert made.startswith("home-")
        assert cli("project").out == made

    def test_a_hostile_file_is_one_line(self, cli: Cli) -> None:
        (cli.home / ".memoranda-project").write_bytes(b"../\x1b[31m\0")
        ran = cli("project", "--create")
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert "\x1b" not in ran.err
