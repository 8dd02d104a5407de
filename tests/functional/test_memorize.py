"""From what was said to what is remembered, by real processes: hosts, workers, and an endpoint that is scripted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from conversations import CONVERSATIONS, Conversation, replies_source
from functional.driving import Cli
from memoranda import Vault
from memoranda.core.exchanges import TurnContext
from memoranda.core.links import find_links
from memoranda.services.queueing import exchange_of
from model_endpoint import ModelEndpoint

pytest.importorskip("openai", reason="asking an endpoint needs the extra openai")

PATIENCE = 120.0


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[ModelEndpoint]:
    with ModelEndpoint(tmp_path / "endpoint", replies_source()) as started:
        yield started


def use(endpoint: ModelEndpoint, vault: Path, **more: str) -> None:
    """Have the vault ask this endpoint."""
    vault.mkdir(parents=True, exist_ok=True)
    rows = "".join(f'{key} = "{value}"\n' for key, value in (endpoint.settings | more).items())
    (vault / "memoranda.toml").write_text(f"[model]\n{rows}timeout = 20\n", encoding="utf-8")


def enqueue(vault: Vault, conversations: Iterable[Conversation]) -> int:
    """Hand over the turns as hosts do, conversation by conversation in turn; how many."""
    count = 0
    for at in range(5):
        for one in conversations:
            said = one.said[at]
            context = TurnContext(conversation=one.id, turn=said.turn, user=one.user, ts=f"2026-07-1{at}T03:00:00Z")
            assert vault.enqueue(exchange_of(said.user, said.assistant, context, "", vault.clock))
            count += 1
    return count


def drained(cli: Cli, workers: int = 2, *, once: bool = False) -> None:
    """Work the queue off with several processes at once."""
    words = ("worker", "--once") if once else ("worker",)
    processes = [cli.start(*words) for _ in range(workers)]
    try:
        until = time.monotonic() + PATIENCE
        inbox = cli.vault / "inbox"
        while not once and list(inbox.glob("2*.json")) and time.monotonic() < until:
            for process in processes:
                assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        for process in processes:
            if not once:
                process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, (out, err)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def check(vault: Vault, conversations: Iterable[Conversation]) -> None:
    """Every fact is there once, as it was said, and every link leads somewhere."""
    for one in conversations:
        items = {str(item.address): item for item in vault.items(scope=one.scope)}
        wanted = {f"{one.scope}/{address}": text for address, text in one.kept.items()}
        assert {address: item.text for address, item in items.items()} == wanted
        texts = Counter(item.text for item in items.values())
        assert max(texts.values()) == 1
        for address, item in items.items():
            bare = address.removeprefix(f"{one.scope}/")
            assert item.metadata.owner == f"user:{one.user}"
            assert (item.metadata.superseded_by is not None) == (bare in one.superseded)
            assert (item.metadata.get("flags") or "") == one.flagged.get(bare, "")
            for link in find_links(item.text):
                assert vault.get(f"{one.scope}/{link.category}:{link.item}") is not None
        assert [turn.turn for turn in vault.turns(one.id) if turn.role == "user"] == [said.turn for said in one.said]


def test_sixty_conversations_are_remembered_once_and_once_only(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    failures = [{"status": 429, "error": "slow down"}, {"dropped": True}, {"status": 503, "error": "busy"}]
    endpoint.say(*failures)
    with Vault.open(cli.vault) as vault:
        turns = enqueue(vault, CONVERSATIONS)
        assert turns == 300
        drained(cli)
        check(vault, CONVERSATIONS)
        assert endpoint.count <= turns + len(failures)
        # What holds a secret is refused, and that is for a person to see.
        assert len(vault.inbox.parked()) == len(CONVERSATIONS)
        assert all(parked.work.faults == ("it holds a secret",) for parked in vault.inbox.parked())
        written = [path for path in Path(vault.root).rglob("*") if path.is_file()]
        assert not [path for path in written if b"sk-canary" in path.read_bytes()]
        before = _memory(cli.vault)
        # All of it once more, as a host does that lost its place.
        enqueue(vault, CONVERSATIONS)
        drained(cli)
        assert _memory(cli.vault) == before
        check(vault, CONVERSATIONS)
        assert endpoint.count <= 2 * turns + len(failures)
        assert [problem.message for problem in vault.check() if problem.kind != "dangling-link"] == []


def _memory(vault: Path) -> dict[str, str]:
    return {str(path.relative_to(vault)): path.read_text(encoding="utf-8") for path in vault.rglob("memory/**/*.md")}


def test_killed_at_any_time_every_fact_is_there_exactly_once(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    some = CONVERSATIONS[::4]
    with Vault.open(cli.vault) as vault:
        turns = enqueue(vault, some)
        kills = 0
        inbox = cli.vault / "inbox"
        processes = [cli.start("worker"), cli.start("worker")]
        until = time.monotonic() + PATIENCE
        try:
            while list(inbox.glob("2*.json")) and time.monotonic() < until:
                before = endpoint.count
                while endpoint.count < before + 3 and list(inbox.glob("2*.json")) and time.monotonic() < until:
                    time.sleep(0.003)
                if kills < 12:
                    victim = processes.pop(0)
                    victim.kill()
                    victim.communicate()
                    kills += 1
                    processes.append(cli.start("worker"))
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)
        assert kills >= 8
        assert vault.inbox.ids() == []
        check(vault, some)
        assert turns <= endpoint.count <= turns + kills


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_what_a_host_handed_over_survives_its_end(cli: Cli, endpoint: ModelEndpoint, how: signal.Signals) -> None:
    """D5: five turns, and the host ends a second later, beside a model that has not answered yet."""
    use(endpoint, cli.vault)
    endpoint.say(*[{"silence": 3, "status": 503, "error": "busy"}] * 2)
    host = """
import sys, time
from memoranda import MemoryHooks, Vault
from memoranda.adapters.language_models import language_model_for
vault = Vault.open(sys.argv[1])
hooks = MemoryHooks(vault, language_model_for(vault.settings.model))
for number in range(1, 6):
    print(hooks.on_after_turn(f"(en-00/{number})", "", {"conversation": "en-00", "turn": str(number)}), flush=True)
time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", host, str(cli.vault)], stdout=subprocess.PIPE, env=cli.environment()
    )
    assert process.stdout is not None
    ids = [process.stdout.readline().decode().strip() for _ in range(5)]
    time.sleep(1)
    process.send_signal(how)
    process.wait(30)
    process.stdout.close()
    with Vault.open(cli.vault) as vault:
        assert vault.inbox.ids() == ids
    time.sleep(2.5)  # until the pause after the attempt that failed is over
    drained(cli, 1)
    with Vault.open(cli.vault) as vault:
        assert len(vault.turns("en-00")) == 5
        assert vault.get("hobbies:weekly-hobby") is not None


def test_a_worker_told_to_stop_finishes_what_it_has_asked_for(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    endpoint.say(
        {"silence": 1, "text": json.dumps({"operations": [{"op": "add", "category": "a", "text": "Ana sails."}]})}
    )
    with Vault.open(cli.vault) as vault:
        enqueue(vault, CONVERSATIONS[:1])
        worker = cli.start("worker")
        endpoint.wait_for(1)
        worker.send_signal(signal.SIGTERM)
        out, _ = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0
        assert len(vault.inbox.ids()) == 4
        assert "1 memorized" in out.decode()
        assert endpoint.count == 1


def test_a_worker_with_nobody_to_ask_says_so_and_loses_nothing(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    with Vault.open(cli.vault) as vault:
        enqueue(vault, CONVERSATIONS[:2])
    endpoint.stop()
    ran = cli("worker", "--once")
    assert ran.code == 6
    assert "cannot be reached" in ran.err
    status = cli("status", "--json").json()
    assert status["queued"] == 10
    assert "cannot be reached" in status["waiting_for"]
    endpoint.start()
    # Who works it off now means now: the pause after a failure is not kept.
    assert "8 memorized" in cli("worker", "--once").out
    with Vault.open(cli.vault) as vault:
        check(vault, CONVERSATIONS[:2])


def test_memorize_queues_a_file_once(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    one = CONVERSATIONS[21]
    rows = []
    for said in one.said:
        rows.append({"conversation": one.id, "turn": said.turn, "role": "user", "text": said.user})
        rows.append({"conversation": one.id, "turn": f"{said.turn}a", "role": "assistant", "text": said.assistant})
    file = cli.home / "turns.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows) + "{broken\n", encoding="utf-8")
    first = cli("memorize", str(file), "--user", one.user)
    assert first.out == "5 queued\n"
    assert "not JSON" in first.err
    assert cli("memorize", str(file), "--user", one.user).out == "0 queued, 5 known already\n"
    ran = cli("worker", "--once")
    assert ran.code == 0
    assert "4 memorized" in ran.out
    assert "1 parked" in ran.out
    assert cli("memorize", str(file), "--user", one.user).out == "0 queued, 5 known already\n"
    assert endpoint.count == 5
    with Vault.open(cli.vault) as vault:
        check(vault, [one])
    again = cli("memorize", str(file), "--user", one.user, "--again")
    assert again.out.startswith("4 queued") or again.out.startswith("5 queued")
    assert "memoranda worker" in again.err
    cli("worker", "--once")
    assert endpoint.count > 8
    with Vault.open(cli.vault) as vault:
        check(vault, [one])


def test_an_export_is_imported_and_queued_once(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    one = CONVERSATIONS[0]
    messages = [
        {
            "uuid": f"{said.turn}{side[0]}",
            "sender": side,
            "text": text,
            "created_at": f"2026-07-1{said.turn}T03:0{at}:00Z",
        }
        for said in one.said
        for at, (side, text) in enumerate((("human", said.user), ("assistant", said.assistant)))
    ]
    export = cli.home / "conversations.json"
    export.write_text(json.dumps([{"uuid": one.id, "name": "A talk", "chat_messages": messages}]), encoding="utf-8")
    words = ("import", "claude", str(export), "--memorize", "--user", one.user)
    assert cli(*words, "--dry-run").out == "10 to add (dry run: nothing was written)\n"
    assert cli(*words).out == "10 added, 5 queued to be memorized\n"
    assert cli(*words).out == "10 unchanged\n"
    cli("worker", "--once")
    assert cli(*words).out == "10 unchanged\n"
    assert endpoint.count == 5
    with Vault.open(cli.vault) as vault:
        items = {item.address.name for item in vault.items(scope=one.scope)}
    assert items == {address.partition(":")[2] for address in one.kept}
    assert cli("import", "claude", str(export), "--user", "ana").code == 2
    notes = cli.home / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# a\n\ntext\n", encoding="utf-8")
    assert cli("import", "obsidian", str(notes), "--memorize").code == 2


def test_the_inbox_shows_what_needs_a_look(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    endpoint.say("I would rather not.")
    with Vault.open(cli.vault) as vault:
        enqueue(vault, CONVERSATIONS[:1])
    cli("worker", "--once")
    listed = cli("inbox").out
    assert listed.startswith("0 queued\n")
    assert "turn/en-00#1" in listed
    parked = cli("inbox", "--json").json()["parked"]
    assert len(parked) == 4  # what follows adds to what was refused
    ids = [one["id"] for one in parked]
    prefix = next(ids[0][:end] for end in range(1, 99) if not any(one.startswith(ids[0][:end]) for one in ids[1:]))
    assert cli("inbox", "show", prefix).out == cli("inbox", "show", parked[0]["id"]).out
    assert cli("inbox", "show", parked[0]["id"][:2]).code == 2
    shown = cli("inbox", "show", parked[0]["id"]).json()
    assert shown["reply"] == "I would rather not."
    assert cli("inbox", "retry", parked[0]["id"]).out == "1 queued again\n"
    assert "2 items written" in cli("worker", "--once").out
    assert cli("inbox", "retry", "all").out == "3 queued again\n"
    assert "2 memorized" in cli("worker", "--once").out
    assert cli("inbox", "drop", "all").out == "1 removed\n"
    assert cli("inbox", "show", "all").code == 1
    assert cli("inbox", "show").code == 2
    with Vault.open(cli.vault) as vault:
        check(vault, CONVERSATIONS[:1])


def test_without_a_model_the_worker_says_what_to_set(cli: Cli) -> None:
    cli("init")
    ran = cli("worker", "--once")
    assert ran.code == 2
    assert "[model]" in ran.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no signals of that kind here")
def test_ctrl_c_ends_a_worker_cleanly(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    cli("init")
    worker = cli.start("worker")
    time.sleep(1.5)
    worker.send_signal(signal.SIGINT)
    out, err = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, err
    assert "0 memorized" in out.decode()


def test_a_worker_says_which_settings_count_for_nothing(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    cli("init")
    settings = cli.vault / "memoranda.toml"
    settings.write_text("tempo = 3\n" + settings.read_text("utf-8"), "utf-8")
    ran = cli("worker", "--once")
    assert ran.code == 0
    assert "tempo" in ran.err


def test_undo_after_a_worker_takes_back_what_it_made_and_not_what_was_said(cli: Cli, endpoint: ModelEndpoint) -> None:
    use(endpoint, cli.vault)
    endpoint.say(json.dumps({"operations": [{"op": "add", "category": "a", "name": "boat", "text": "Ana sails."}]}))
    with Vault.open(cli.vault) as vault:
        vault.enqueue(exchange_of("I sail.", "Fine.", TurnContext(conversation="c", turn="1"), "", vault.clock))
    assert "a:boat" in cli("worker", "--once").out
    assert cli("undo").code == 0
    assert "nothing to undo" in cli("undo").err
    with Vault.open(cli.vault) as vault:
        assert [turn.text for turn in vault.turns("c")] == ["I sail.", "Fine."]
        assert not vault.items()
