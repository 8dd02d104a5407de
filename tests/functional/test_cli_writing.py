"""remember, revise, rename, forget, undo."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from functional.driving import TURNS, Cli, write_turns


def test_remember_makes_the_vault_and_says_where(cli: Cli) -> None:
    ran = cli("remember", "preferences:likes-the-sea", "喜欢海边。", "--owner", "user:lin", "--json")
    assert ran.code == 0
    assert ran.err == f"new vault: {cli.vault}\n"
    written = ran.json()
    assert written["address"] == "preferences:likes-the-sea"
    assert written["status"] == "added"
    assert written["journal_id"]
    text = (cli.vault / "memory" / "preferences.md").read_text(encoding="utf-8")
    assert "## likes-the-sea\n\n喜欢海边。\n" in text
    assert "owner=user:lin" in text
    again = cli("remember", "preferences:likes-the-sea", "喜欢海边。", "--owner", "user:lin")
    assert again.code == 0
    assert again.err.find("new vault") == -1
    assert again.out.startswith(("unchanged", "duplicate"))


def test_every_fact_is_written(cli: Cli) -> None:
    facts = {
        "owner": "user:lin", "source": "turn/conv_1#4", "ts": "2026-07-10T03:00:00Z", "type": "profile",
        "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2027-01-01T00:00:00Z", "supersedes": "a:old", "trust": "low",
        "confidence": "0.5", "kind": "preference",
    }  # fmt: skip
    assert cli("remember", "a:old", "What was before.").code == 0
    options = [word for key, value in facts.items() for word in (f"--{key.replace('_', '-')}", value)]
    assert cli("remember", "a:b", "x", "--pinned", *options).code == 0
    metadata = cli("show", "a:b", "--json").json()["metadata"]
    assert {key: metadata.get(key) for key in facts} == facts
    assert metadata["pinned"] == "true"
    assert cli("revise", "a:b", "y", "--no-pinned", "--trust", "high").code == 0
    metadata = cli("show", "a:b", "--json").json()["metadata"]
    assert metadata["trust"] == "high"
    assert metadata["owner"] == "user:lin"
    assert metadata["pinned"] == "false"


def test_a_name_is_made(cli: Cli) -> None:
    ran = cli("remember", "preferences", "likes", "the", "sea", "--json")
    assert ran.json()["address"] == "preferences:likes-the-sea"
    assert cli("show", "preferences:likes-the-sea", "--text").out == "likes the sea\n"


@pytest.mark.parametrize("words", [[], ["-"]])
def test_text_from_stdin(cli: Cli, words: list[str]) -> None:
    assert cli("remember", "a:b", *words, stdin="\ufeff第一行\r\n\r\nsecond line\n\n").code == 0
    assert cli("show", "a:b", "--text").out == "第一行\n\nsecond line\n"


def test_text_that_looks_like_options(cli: Cli) -> None:
    assert cli("remember", "a:list", "- one\n- two").code == 0
    assert cli("remember", "a:dash", "--", "--json").code == 0
    assert cli("show", "a:list", "--text").out == "- one\n- two\n"
    assert cli("show", "a:dash", "--text").out == "--json\n"


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (["a:b", ""], None, "empty"),
        (["a:b", " \n "], None, "empty"),
        (["a:b"], "", "empty"),
        (["a:b", "-"], b"\xff\xfe", "not UTF-8 (byte 1)"),
        (["a:b", b"caf\xe9"], None, "not UTF-8"),
        (["../x:b", "text"], None, ".."),
        (["a:[[b", "text"], None, "[["),
        (["a:b", "## a heading"], None, ""),
        (["turn/conv#1", "text"], None, ""),
    ],
)
def test_what_cannot_be_remembered(cli: Cli, words: list[str | bytes], stdin: str | bytes | None, said: str) -> None:
    ran = cli("remember", *words, stdin=stdin)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("memoranda: ") or "\nmemoranda: " in ran.err
    assert said in ran.err
    assert not list(cli.vault.rglob("*.md"))


def test_stdin_at_a_terminal_is_not_waited_for(cli: Cli) -> None:
    pty = pytest.importorskip("pty")
    import os

    leader, follower = pty.openpty()
    try:
        done = subprocess.run(
            cli.command("remember", "a:b"),
            stdin=follower,
            capture_output=True,
            env=cli.environment(),
            timeout=60,
            check=False,
        )
    finally:
        os.close(leader)
        os.close(follower)
    assert done.returncode == 2
    assert b"no text" in done.stderr


def test_conflict_and_what_on_exists_says(cli: Cli) -> None:
    assert cli("remember", "a:b", "One.").code == 0
    refused = cli("remember", "a:b", "Two.", "--json")
    assert (refused.code, refused.out) == (3, "")
    assert "a:b" in refused.err
    assert refused.err.count("\n") == 1
    assert cli("show", "a:b", "--text").out == "One.\n"
    assert cli("remember", "a:b", "Two.", "--on-exists", "append", "--json").json()["status"] == "appended"
    assert cli("show", "a:b", "--text").out == "One.\n\nTwo.\n"
    renamed = cli("remember", "a:b", "Three.", "--on-exists", "rename", "--json").json()
    assert renamed["address"] == "a:b-2"
    assert cli("remember", "a:b", "Four.", "--on-exists", "revise", "--json").json()["status"] == "revised"
    assert cli("show", "a:b", "--text").out == "Four.\n"


def test_revise_guards_and_links(cli: Cli) -> None:
    assert cli("remember", "a:b", "Old, see [[c:d]].").code == 0
    known = cli("show", "a:b", "--json").json()["hash"]
    stale = cli("revise", "a:b", "New.", "--expected-hash", "0123456789abcdef")
    assert (stale.code, stale.out) == (3, "")
    assert cli("revise", "a:b", "New.", "--expected-hash", known).code == 0
    assert "[[c:d]]" in cli("show", "a:b", "--text").out
    assert cli("revise", "a:b", "Newer.", "--drop-links").code == 0
    assert cli("show", "a:b", "--text").out == "Newer.\n"
    assert cli("revise", "a:nothing", "x").code == 1


def test_rename_mends_links_and_undo_takes_both_back(cli: Cli) -> None:
    assert cli("remember", "a:b", "One.").code == 0
    assert cli("remember", "c:d", "See [[a:b]].").code == 0
    renamed = cli("rename", "a:b", "better name", "--json").json()
    assert renamed["address"] == "a:better name"
    assert cli("show", "c:d", "--text").out == "See [[a:better name]].\n"
    taken = cli("rename", "a:better name", "x[[y")
    assert taken.code == 2
    assert cli("rename", "a:none", "x").code == 1
    assert cli("undo").code == 0
    assert cli("show", "c:d", "--text").out == "See [[a:b]].\n"
    assert cli("show", "a:b", "--text").out == "One.\n"


def test_undo_by_id(cli: Cli) -> None:
    nothing = cli("remember", "a:x", "Kept.").code
    assert nothing == 0
    first = cli("remember", "a:b", "One.", "--json").json()["journal_id"]
    assert cli("remember", "a:c", "Two.").code == 0
    assert cli("undo", first).code == 0
    assert cli("show", "a:b").code == 1
    assert cli("show", "a:c").code == 0
    assert cli("undo", first).code == 3
    assert cli("undo", "no-such-id").code == 1


def test_secrets_are_taken_out_and_named(cli: Cli) -> None:
    secret = "sk-proj-" + "Ab3" * 16
    ran = cli("remember", "a:key", f"The key is {secret}, keep it.", "--json")
    assert ran.code == 0
    assert ran.json()["redactions"]
    assert "secrets were taken out" in ran.err
    assert secret not in ran.out + ran.err
    for path in cli.vault.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_forget_previews_then_removes(cli: Cli) -> None:
    assert cli("remember", "a:canary", "The zanzibar bird.").code == 0
    preview = cli("forget", "a:canary", "--preview")
    assert preview.code == 0
    assert preview.out.startswith("would forget a:canary\n")
    assert "nothing was changed" in preview.err
    assert cli("recall", "zanzibar").code == 0
    forgotten = cli("forget", "a:canary", "--json")
    assert forgotten.code == 0
    assert forgotten.json()["items"] == ["a:canary"]
    assert cli("recall", "zanzibar").code == 1
    for path in cli.vault.rglob("*"):
        assert path.is_dir() or b"zanzibar" not in path.read_bytes(), path
    assert cli("forget", "a:canary").code == 1
    assert cli("undo", forgotten.json()["journal_id"]).code == 3


def test_forget_a_source_with_what_was_learned_from_it(cli: Cli, tmp_path: Path) -> None:
    assert cli("import", "turns", str(write_turns(tmp_path / "t.jsonl", TURNS))).code == 0
    assert cli("remember", "a:b", "From a turn.", "--source", "turn/conv_2#1").code == 0
    assert cli("remember", "a:c", "From elsewhere.").code == 0
    ran = cli("forget", "--source", "turn/conv_2#1", "--derived", "--json").json()
    assert ran["items"] == ["a:b"]
    assert ran["turns"] == ["turn/conv_2#1"]
    assert cli("grep", "grinder").code == 1
    assert cli("show", "a:c").code == 0


def test_forget_a_user(cli: Cli) -> None:
    assert cli("remember", "user/lin/home:address", "In 成都.").code == 0
    assert cli("remember", "home:address", "Elsewhere.").code == 0
    assert cli("forget", "--user", "lin").code == 0
    assert cli("show", "user/lin/home:address").code == 1
    assert cli("show", "home:address").code == 0


def test_undo_says_what_it_took_back(cli: Cli) -> None:
    assert cli("remember", "a:b", "One.").code == 0
    ran = cli("undo")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("undone: ")
    assert "a:b" in ran.out
