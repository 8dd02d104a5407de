"""init, status, check, reindex, migrate."""

from __future__ import annotations

import json
from pathlib import Path

from functional.driving import Cli


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_init(cli: Cli, tmp_path: Path) -> None:
    ran = cli("init")
    assert (ran.code, ran.out, ran.err) == (0, f"new vault: {cli.vault}\n", "")
    before = _bytes(cli.vault)
    again = cli("init")
    assert (again.code, again.out) == (0, f"vault: {cli.vault}\n")
    assert _bytes(cli.vault) == before
    made = cli("init", "sub/folder", "--json", cwd=tmp_path).json()
    assert made == {"root": str(tmp_path / "sub" / "folder"), "id": made["id"], "new": True}
    assert json.loads((tmp_path / "sub" / "folder" / "vault.json").read_text())["id"] == made["id"]


def test_init_leaves_what_is_there(cli: Cli) -> None:
    cli.vault.mkdir()
    (cli.vault / "note.md").write_bytes(b"\xff mine\r\n")
    assert cli("init").code == 0
    assert (cli.vault / "note.md").read_bytes() == b"\xff mine\r\n"


def test_init_for_obsidian(cli: Cli, tmp_path: Path) -> None:
    assert cli("init", "--obsidian").code == 0
    assert 'link_style = "hash"' in (cli.vault / "memoranda.toml").read_text()
    assert cli("init", "--obsidian").code == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "memoranda.toml").write_text("k1 = 1.5\n")
    refused = cli("init", str(other), "--obsidian")
    assert refused.code == 3
    assert 'link_style = "hash"' in refused.err
    assert (other / "memoranda.toml").read_text() == "k1 = 1.5\n"


def test_status(stocked: Cli) -> None:
    values = stocked("status", "--json").json()
    assert values["root"] == str(stocked.vault)
    assert values["categories"] == 4
    assert values["items"] == 7
    assert values["conversations"] == 2
    assert values["turns"] == 3
    shown = stocked("status").out
    assert str(stocked.vault) in shown
    assert "None" not in shown
    assert "{" not in shown


def test_check_lists_faults_by_file_and_line(cli: Cli) -> None:
    assert cli("init").code == 0
    memory = cli.vault / "memory"
    (memory / "bad.md").write_bytes(b"## a\n\n\xff\n")
    (memory / "good.md").write_text("## a\n\nOne.\n\n## a\n\nTwo.\n\n## b\n\n[[nowhere:x]]\n")
    before = _bytes(memory)
    ran = cli("check")
    assert ran.code == 0
    assert "memory/bad.md" in ran.out
    assert "memory/good.md:5: " in ran.out
    assert ran.err.endswith("faults\n")
    problems = cli("check", "--json").json()
    assert {"path", "line", "kind", "message", "repairable"} == set(problems[0])
    assert {p["path"] for p in problems} == {"memory/bad.md", "memory/good.md"}
    assert cli("check", "--repair").code == 0
    assert _bytes(memory) == before


def test_check_of_a_sound_vault(cli: Cli) -> None:
    assert cli("remember", "a:b", "One.").code == 0
    ran = cli("check")
    assert (ran.code, ran.out, ran.err) == (0, "", "no fault found\n")
    assert cli("check", "--json").json() == []


def test_reindex_and_migrate_change_no_file_of_a_person(cli: Cli) -> None:
    assert cli("remember", "a:b", "One.").code == 0
    before = _bytes(cli.vault / "memory")
    assert cli("reindex", "--json").json()["items"] == 1
    assert "items" in cli("reindex").out
    assert cli("migrate").code == 0
    assert isinstance(cli("migrate", "--json").json(), list)
    assert _bytes(cli.vault / "memory") == before


def test_a_newer_format_is_refused(cli: Cli) -> None:
    assert cli("init").code == 0
    description = json.loads((cli.vault / "vault.json").read_text())
    (cli.vault / "vault.json").write_text(json.dumps(description | {"format": 999}))
    for words in (["ls"], ["remember", "a:b", "x"]):
        ran = cli(*words)
        assert (ran.code, ran.out) == (4, "")
        assert "999" in ran.err


def test_broken_settings_are_named(cli: Cli) -> None:
    assert cli("init").code == 0
    (cli.vault / "memoranda.toml").write_text("link_style = 3\n")
    ran = cli("ls")
    assert ran.code == 0
    assert "memoranda.toml link_style" in ran.err
    assert "memoranda.toml: link_style" in cli("check").out
