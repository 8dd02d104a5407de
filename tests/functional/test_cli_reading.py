"""ls, show, grep, graph, log."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from functional.driving import DAILY_LIFE, PREFERENCES, Cli


def test_ls_lists_every_scope(stocked: Cli) -> None:
    ran = stocked("ls")
    assert ran.code == 0
    addresses = [line.split()[0] for line in ran.out.splitlines()]
    assert sorted(addresses) == ["daily_life", "preferences", "user/lin/home", "work/rules"]
    found = {row["address"]: row for row in stocked("ls", "--json").json()}
    assert found["preferences"]["items"] == 3
    assert found["preferences"]["names"] == ["likes-the-sea", "drinks-coffee", "escape-artist"]
    assert found["preferences"]["path"] == "memory/preferences.md"
    assert found["user/lin/home"]["scope"] == "user/lin"


def test_ls_of_one_scope(stocked: Cli) -> None:
    assert [row["address"] for row in stocked("ls", "--scope", "user/lin", "--json").json()] == ["user/lin/home"]
    assert stocked("ls", "--scope", "shared").out.count("\n") == 3


def test_ls_of_a_category(stocked: Cli) -> None:
    lines = stocked("ls", "preferences").out.splitlines()
    assert lines[0].split() == [
        "preferences:likes-the-sea", "2026-07-10",
        "喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]"
    ]  # fmt: skip
    assert (
        lines[2]
        == "preferences:escape-artist" + " " * 14 + "A line with \\x1b[31mred\\x1b[0m in it and \\u202eturned\\u202c."
    )
    items = stocked("ls", "preferences", "--json").json()
    assert items[0]["links"] == ["daily_life:beach-trip-plan"]
    assert items[0]["metadata"]["owner"] == "user:lin"
    assert stocked("ls", "user/lin/home", "--json").json()[0]["address"] == "user/lin/home:address"
    assert stocked("ls", "home", "--scope", "user/lin", "--json").json()[0]["address"] == "user/lin/home:address"


def test_ls_of_nothing(stocked: Cli, cli: Cli) -> None:
    ran = stocked("ls", "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert "nowhere" in ran.err
    assert stocked("ls", "preferences:likes-the-sea").code == 2
    assert cli("init").code == 0
    empty = cli("ls")
    assert (empty.code, empty.out, empty.err) == (0, "", "no category yet\n")
    assert cli("ls", "--json").json() == []


def test_show_a_category_is_the_file(stocked: Cli) -> None:
    assert stocked("show", "preferences").out == PREFERENCES
    assert stocked("show", "daily_life", "--json").json() == {"address": "daily_life", "text": DAILY_LIFE}
    ran = stocked("show", "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert stocked("show", "preferences", "--as-of", "2026-01-01").code == 2


def test_show_an_item(stocked: Cli) -> None:
    shown = stocked("show", "preferences:likes-the-sea").out
    assert shown.startswith(
        "preferences:likes-the-sea\n\n喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]\n\n"
    )
    assert "owner   user:lin\n" in shown
    assert "file    memory/preferences.md:8\n" in shown
    item = stocked("show", "Preferences：LIKES-the-sea", "--json").json()
    assert (item["address"], item["line"]) == ("preferences:likes-the-sea", 8)
    assert stocked("show", "preferences:drinks-coffee", "--text").out == "Drinks black coffee every morning.\n"
    missing = stocked("show", "preferences:nothing", "--json")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err == "memoranda: there is no item preferences:nothing\n"


def test_show_an_item_as_it_was(cli: Cli) -> None:
    assert cli("remember", "home:address", "Lived in 北京.", "--ts", "2024-01-01", "--valid-to", "2025-06-30").code == 0
    assert cli("show", "home:address", "--as-of", "2025-01-01", "--text").out == "Lived in 北京.\n"
    late = cli("show", "home:address", "--as-of", "2026-01-01")
    assert (late.code, late.out) == (1, "")
    assert "as of 2026-01-01" in late.err
    assert cli("show", "home:address", "--as-of", "yesteryear").code == 2


def test_show_turns(stocked: Cli) -> None:
    assert stocked("show", "turn/conv_1#2", "--text").out == "青岛的海边很好。\n"
    assert stocked("show", "turn/conv_1#1").out == (
        "turn/conv_1#1  (2026-07-10 02:59, Lin)\nShall we go somewhere\nthis summer? 想去海边玩\n"
    )
    assert stocked("show", "turn/conv_1#2", "--json").json()["speaker"] == "Mo"
    assert [turn["turn"] for turn in stocked("show", "turn/conv_1", "--json").json()] == ["1", "2"]
    assert stocked("show", "turn/conv_1").out.count("turn/conv_1#") == 2
    assert stocked("show", "turn/conv_9#1").code == 1
    assert stocked("show", "turn/conv_9").code == 1
    assert stocked("show", "turn/").code == 2


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_stored_escapes_do_not_drive_a_terminal(stocked: Cli) -> None:
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        stocked.command("show", "preferences"),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.PIPE,
        env=stocked.environment(NO_COLOR="1", TERM="xterm"),
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait(60) == 0
    assert b"\\x1b[31mred" in shown
    assert b"\x1b" not in shown


def test_grep(stocked: Cli) -> None:
    ran = stocked("grep", "coffee|青岛")
    assert ran.code == 0
    lines = sorted(ran.out.splitlines())
    assert lines[0] == "memory/daily_life.md:5:八月去青岛，住在海边。"
    assert "memory/preferences.md:14:## drinks-coffee" in lines
    assert sum("resources/" in line for line in lines) == 2
    assert "resources/2026-07/conv_2.jsonl:1:I bought a grinder for the coffee." in lines
    assert stocked("grep", "SHALL").code == 1
    assert stocked("grep", "-i", "SHALL", "--json").json() == [
        {"path": "resources/2026-07/conv_1.jsonl", "line": 1, "text": "Shall we go somewhere"}
    ]
    nothing = stocked("grep", "--json", "zanzibar")
    assert (nothing.code, nothing.json(), nothing.err) == (1, [], "")


def test_graph(stocked: Cli) -> None:
    ran = stocked("graph")
    assert ran.code == 0
    assert ran.out.startswith(("graph", "flowchart"))
    drawn = stocked("graph", "--json").json()
    assert drawn == stocked("graph", "--format", "json").json()
    assert {"nodes", "edges"} <= set(drawn)
    assert "beach-trip-plan" in json.dumps(drawn["edges"])


def test_log(cli: Cli) -> None:
    assert cli("init").code == 0
    empty = cli("log")
    assert empty.code == 0
    ids = [cli("remember", f"a:n{i}", f"Text {i}.", "--json").json()["journal_id"] for i in range(3)]
    entries = cli("log", "--json").json()
    assert [e["id"] for e in entries if e["action"] == "add"] == ids
    assert (entries[-1]["category"], entries[-1]["item"]) == ("a", "n2")
    assert "Text 2" not in json.dumps(entries)
    last = cli("log", "-n", "1").out
    assert last.count("\n") == 1
    assert last.split()[0] == ids[-1]
    assert "a:n2" in last
