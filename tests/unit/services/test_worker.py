"""The worker: in order, resting while there is no answer, never stopped by one exchange or one fault."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.language_model import ScriptedModel
from memoranda import TurnContext, Vault
from memoranda.core.errors import MemorandaError, ServiceFailed, VaultFull
from memoranda.services import worker as module
from memoranda.services.memorize import ACTOR, Memorized
from memoranda.services.queueing import exchange_of
from memoranda.services.worker import Worker

NOTHING = '{"operations": []}'


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault", actor=ACTOR) as opened:
        yield opened


def put(vault: Vault, text: str, conversation: str = "c") -> str:
    queued = vault.enqueue(exchange_of(text, "", TurnContext(conversation), "", vault.clock))
    assert queued is not None
    return queued


def started(worker: Worker) -> threading.Thread:
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    return thread


def wait_until(true: Callable[[], Any]) -> None:
    until = time.monotonic() + 30
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.01)


def test_it_works_until_it_is_told_to_stop(vault: Vault) -> None:
    model = ScriptedModel(usual=NOTHING)
    worker = vault.worker(model)
    thread = started(worker)
    for number in range(3):
        put(vault, f"Number {number}.")
        worker.wake()
        wait_until(lambda: not vault.inbox.ids())
    worker.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert (worker.tally.done, worker.tally.asked) == (3, 3)
    asked = [call[-1]["content"] for call in model.calls]
    assert [f"Number {number}." in text for number, text in enumerate(asked)] == [True] * 3


def test_what_others_put_in_is_found_unaided(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK", 0.02)
    worker = vault.worker(ScriptedModel(usual=NOTHING))
    thread = started(worker)
    other = Vault.open(vault.root)
    put(other, "From elsewhere.")
    wait_until(lambda: not vault.inbox.ids())
    worker.stop()
    thread.join(30)


def test_it_rests_longer_and_longer_and_no_more_once_answered(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        put(vault, f"Number {number}.", f"c{number}")
    worker = vault.worker(ScriptedModel(*[ConnectionError("refused")] * 4, usual=NOTHING))
    rests: list[float] = []

    def wait(seconds: float) -> bool:
        rests.append(worker._rest)
        return False

    monkeypatch.setattr(worker._stopping, "wait", wait)
    thread = started(worker)
    wait_until(lambda: worker.tally.done >= 2)
    worker.stop()
    thread.join(30)
    assert rests[:4] == [0.5, 1.0, 2.0, 4.0]
    assert worker._rest == 0.0


def test_a_vault_that_cannot_be_written_is_waited_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vault, "The sea.")
    worker = vault.worker(ScriptedModel(usual='{"operations": [{"op": "add", "category": "a", "text": "Ana sails."}]}'))
    faults = [VaultFull("no room"), OSError("gone")]
    real = vault.inbox.note

    def note(*arguments: Any) -> None:
        if faults:
            raise faults.pop(0)
        real(*arguments)

    monkeypatch.setattr(vault.inbox, "note", note)
    monkeypatch.setattr(module, "_FIRST_REST", 0.01)
    thread = started(worker)
    wait_until(lambda: not vault.inbox.ids())
    worker.stop()
    thread.join(30)
    assert [item.text for item in vault.items()] == ["Ana sails."]


def test_one_that_is_never_answered_while_others_are_is_parked_in_the_end(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.services.memorize._FIRST_PAUSE", 0.0)
    monkeypatch.setattr(module, "_FIRST_REST", 0.001)
    monkeypatch.setattr(module, "_LONGEST_REST", 0.002)
    bad = put(vault, "The poison.")
    behind = put(vault, "Behind it.")

    class Model:
        def chat(self, messages: Any) -> str:
            asked = messages[-1]["content"]
            if "The poison." in asked:
                raise RuntimeError("500 for this one")
            return NOTHING

    told: list[Memorized] = []
    worker = vault.worker(Model(), told.append)
    thread = started(worker)
    others: list[str] = []

    def is_parked() -> bool:
        if len(vault.inbox.ids()) < 3:
            others.append(put(vault, f"Elsewhere {len(others)}.", "d"))
        return bool(vault.inbox.parked_count())

    wait_until(is_parked)
    wait_until(lambda: not vault.inbox.ids())
    worker.stop()
    thread.join(30)
    assert {one.id for one in told if one.state == "done"} == {behind, *others}
    assert len(others) >= 11
    (parked,) = vault.inbox.parked()
    assert parked.id == bad
    assert "500 for this one" in parked.work.faults[0]
    assert [turn.text for turn in vault.turns("c")] == ["Behind it.", "The poison."]


def test_what_waits_while_nobody_is_answered_is_never_given_up(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoranda.services.memorize._FIRST_PAUSE", 0.0)
    queued = [put(vault, "One.", "c"), put(vault, "Two.", "d")]
    model = ScriptedModel(*[ServiceFailed("401")] * 80, usual=NOTHING)
    worker = vault.worker(model)
    for _ in range(40):
        worker.drain()
    assert vault.inbox.ids() == queued
    worker.drain()
    assert vault.inbox.ids() == []
    assert vault.inbox.parked_count() == 0


def test_one_bad_thing_in_the_queue_stops_nobody(vault: Vault) -> None:
    inbox = Path(vault.root) / "inbox"
    put(vault, "One.", "c")
    (inbox / "2025.json").mkdir()
    blocked = put(vault, "Two.", "d")
    (inbox / f"{blocked}.work.json").mkdir()
    put(vault, "Three.", "e")
    worker = vault.worker(ScriptedModel(usual=NOTHING))
    with pytest.raises((OSError, MemorandaError)):
        worker.drain()
    assert vault.inbox.ids() == [blocked]
    assert worker.tally.done == 2


@pytest.mark.parametrize("end", [SystemExit(1), GeneratorExit(), asyncio.CancelledError()], ids=repr)
def test_what_would_end_a_task_ends_one_call(vault: Vault, end: BaseException) -> None:
    def ended(_: str) -> str:
        raise end

    put(vault, "One.")
    worker = vault.worker(ScriptedModel(ended))
    worker.drain()
    assert "was ended" in vault.status_of_queue().waiting_for


def test_a_process_that_ends_in_order_is_no_death_of_the_exchange(vault: Vault) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def think(_: str) -> str:
        asked.set()
        go_on.wait(30)
        return NOTHING

    queued = put(vault, "One.")
    worker = vault.worker(ScriptedModel(usual=think))
    thread = started(worker)
    assert asked.wait(30)
    assert vault.inbox.work(queued).asking
    worker.abandon()
    assert not vault.inbox.work(queued).asking
    go_on.set()
    thread.join(30)
    # What it was answered after that is nobody's: it is asked again.
    assert vault.inbox.work(queued).reply is None
    assert vault.inbox.ids() == [queued]
    vault.worker(ScriptedModel(usual=NOTHING)).drain()
    assert vault.inbox.ids() == []


def test_two_workers_never_ask_about_one_exchange_twice(vault: Vault) -> None:
    for number in range(40):
        put(vault, f"Number {number}.", f"c{number % 7}")

    def think(_: str) -> str:
        time.sleep(0.002)
        return NOTHING

    models = [ScriptedModel(usual=think), ScriptedModel(usual=think)]
    others = [Vault.open(vault.root, actor=ACTOR) for _ in models]
    threads = [started(other.worker(model)) for other, model in zip(others, models, strict=True)]
    wait_until(lambda: not vault.inbox.ids())
    asked = [call[-1]["content"] for model in models for call in model.calls]
    for number in range(40):
        assert sum(f" Number {number}." in text for text in asked) == 1
    assert len(asked) == 40
    assert all(thread.is_alive() for thread in threads)
