"""The two calls of a host: they answer in time, keep every turn, and never break a conversation."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.language_model import ScriptedModel
from memoranda import MemoryHooks, TurnContext, Vault
from memoranda.core.errors import UsageError, VaultFull
from memoranda.faces.hooks.memory_hooks import context_of


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault") as opened:
        yield opened


FACT = json.dumps(
    {"operations": [{"op": "add", "category": "preferences", "name": "sea", "text": "Lin likes the sea."}]}
)
LIN = {"conversation": "c1", "user": "lin"}


def test_what_is_said_is_remembered_and_comes_back(vault: Vault) -> None:
    model = ScriptedModel(FACT)
    with MemoryHooks(vault, model) as hooks:
        assert hooks.on_before_turn("Do I like the sea?", LIN) is None
        assert hooks.on_after_turn("I like the sea.", "Good to know.", LIN)
        assert hooks.drain(20.0)
        block = hooks.on_before_turn("Do I like the sea?", LIN)
    assert block is not None
    assert "Lin likes the sea." in block
    assert "user/lin/preferences:sea" in block
    assert len(model.calls) == 1
    assert hooks.on_before_turn("Do I like the sea?", {"user": "ana"}) is None


def test_without_a_model_turns_wait_for_a_worker(vault: Vault) -> None:
    with MemoryHooks(vault) as hooks:
        queued = hooks.on_after_turn("I like the sea.", "", LIN)
        assert vault.inbox.ids() == [queued]
        assert not hooks.drain(0.05)


def test_turns_of_one_host_are_one_conversation_in_order(vault: Vault) -> None:
    hooks = MemoryHooks(vault)
    ids = [hooks.on_after_turn(f"Number {number}.", "Yes.") for number in range(5)]
    assert vault.inbox.ids() == ids
    exchanges = [exchange for _, exchange in vault.inbox.all()]
    assert len({exchange.conversation for exchange in exchanges}) == 1
    assert len({turn.turn for exchange in exchanges for turn in exchange.turns}) == 10
    assert [exchange.turns[0].text for exchange in exchanges] == [f"Number {number}." for number in range(5)]


def test_nothing_said_is_nothing_queued(vault: Vault) -> None:
    hooks = MemoryHooks(vault)
    assert hooks.on_after_turn("", "  \n") is None
    assert vault.inbox.ids() == []


def test_a_slow_model_holds_up_neither_call(vault: Vault) -> None:
    thinking, go_on = threading.Event(), threading.Event()

    def think(_: str) -> str:
        thinking.set()
        go_on.wait(20)
        return '{"operations": []}'

    hooks = MemoryHooks(vault, ScriptedModel(usual=think))
    try:
        hooks.on_after_turn("First.", "", LIN)
        assert thinking.wait(20)
        # Both return while the model is still thinking, or this would not come to its end.
        hooks.on_after_turn("Second.", "", LIN)
        assert hooks.on_before_turn("The sea?", LIN) is None
        assert len(vault.inbox.ids()) == 2
    finally:
        go_on.set()
        hooks.close(20.0)


def test_closing_leaves_what_is_queued_and_the_next_host_goes_on(vault: Vault) -> None:
    hooks = MemoryHooks(vault, ScriptedModel(usual=ConnectionError("refused")))
    hooks.on_after_turn("I like the sea.", "", LIN)
    hooks.close()
    assert len(vault.inbox.ids()) == 1
    hooks.close()


@pytest.mark.parametrize("context", [{"colour": "red"}, {"user": "a/b"}, {"scope": "nobody"}, 7])
def test_a_context_that_means_nothing_breaks_no_conversation(
    vault: Vault, context: Any, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = MemoryHooks(vault)
    assert hooks.on_before_turn("The sea?", context) is None
    assert hooks.on_after_turn("The sea.", "", context) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.ERROR]
    assert vault.inbox.ids() == []


def test_a_full_disk_breaks_no_conversation_and_is_an_error(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise VaultFull("no room on the disk")

    hooks = MemoryHooks(vault)
    monkeypatch.setattr(vault.inbox, "put", full)
    assert hooks.on_after_turn("The sea.", "") is None
    assert "no room" in caplog.text
    monkeypatch.setattr(vault, "retrieve", full)
    assert hooks.on_before_turn("The sea?") is None


def test_an_endless_text_is_asked_about_by_its_ends(vault: Vault) -> None:
    vault.remember("preferences:sea", "Somebody likes the sea.")
    hooks = MemoryHooks(vault)
    assert hooks.on_before_turn("word " * 200_000 + "the sea?") is not None


def test_an_async_host_awaits_both(vault: Vault) -> None:
    async def talk() -> str | None:
        with MemoryHooks(vault, ScriptedModel(FACT)) as hooks:
            assert await hooks.after_turn("I like the sea.", "", LIN)
            assert await asyncio.to_thread(hooks.drain, 20.0)
            return await hooks.before_turn("Do I like the sea?", LIN)

    block = asyncio.run(talk())
    assert block is not None
    assert "Lin likes the sea." in block


def test_a_context_says_whose_memory_it_is() -> None:
    context = context_of({"user": "lin", "project": "shop", "agent": None})
    assert context == TurnContext(user="lin", project="shop")
    assert context.written_scope == "user/lin"
    assert context.read_scopes == ("project/shop", "user/lin", "shared")
    assert TurnContext().read_scopes == ("shared",)
    assert TurnContext(user="lin", scope="shared").read_scopes == ("user/lin", "shared")
    with pytest.raises(UsageError, match="colour"):
        context_of({"colour": "red"})


FORKED = """
import json, os, sys, threading
from memoranda import MemoryHooks, Vault

class Model:
    def chat(self, messages):
        fact = {"op": "add", "category": "a", "name": f"n{os.getpid()}", "text": f"Fact {os.getpid()}."}
        return json.dumps({"operations": [fact]})

vault = Vault.open(sys.argv[1])
vault.remember("p:tea", "Lin likes tea.")
hooks = MemoryHooks(vault, Model())
held, go_on = threading.Event(), threading.Event()

def hold():  # as a thread does that reads when the process is forked
    with vault._contents.mutex:
        held.set()
        go_on.wait(60)

threading.Thread(target=hold, daemon=True).start()
held.wait(60)
child = os.fork()
if child == 0:
    ok = hooks.on_before_turn("Who likes tea?") is not None
    ok = ok and hooks.on_after_turn("From the child.", "") is not None and hooks.drain(30)
    os._exit(0 if ok else 1)
go_on.set()
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
hooks.close()
sys.exit(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_host_that_is_forked_goes_on_in_the_child(vault: Vault) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, vault.root],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert len(vault.items("a")) == 1


def test_a_vault_may_be_named_by_its_folder(tmp_path: Path) -> None:
    with MemoryHooks(tmp_path / "new") as hooks:
        assert hooks.on_after_turn("I like the sea.", "", LIN) in hooks.vault.inbox.ids()


def test_what_cannot_chat_is_refused_at_once(vault: Vault) -> None:
    with pytest.raises(UsageError, match="chat"):
        MemoryHooks(vault, "gpt-4")  # type: ignore[arg-type]
