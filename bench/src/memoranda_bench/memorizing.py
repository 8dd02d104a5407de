"""Memorizing: kill -9 while two workers drain a queue, and what a turn costs the host that hands it over.

The model is a stand-in that notes every question in a file before it answers,
as an endpoint would count its calls; each turn has one fact of its own.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda import Vault
from memoranda_bench.processes import read_journal

__all__ = ["hook_latency", "memorize_crash", "work"]

_CONVERSATIONS = 25
_NUMBER = re.compile(r"fact number (\d+)")
#: Seconds until a queue that nobody shortens is given up.
_PATIENCE = 120.0


class StandIn:
    """Notes each question, thinks for a moment, and answers with the fact of the turn."""

    def __init__(self, calls: str, seconds: float) -> None:
        self._calls, self._seconds = calls, seconds

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The reply."""
        asked = messages[-1]["content"]
        number = _NUMBER.findall(asked[asked.rindex("<exchange ") :])[0]
        descriptor = os.open(self._calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{number}\n".encode())
        os.close(descriptor)
        time.sleep(self._seconds)
        fact = {"op": "add", "category": f"facts-{int(number) % 7}", "name": f"n{number}", "text": _fact(number)}
        return json.dumps({"operations": [fact]})


def _fact(number: str | int) -> str:
    return f"Fact {number} is that place {int(number) * 7919 % 9973} lies beside river {int(number) * 104729 % 997}."


def work(root: str, calls: str, seconds: float) -> None:
    """Be a worker until the queue is empty."""
    with Vault.open(root, actor="memorize", background="process") as vault:
        worker = vault.worker(StandIn(calls, seconds))
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        while vault.inbox.ids() and thread.is_alive():
            time.sleep(0.05)
        worker.stop()
        thread.join()


def _started(root: str, calls: str) -> subprocess.Popen[bytes]:
    code = f"from memoranda_bench.memorizing import work; work({root!r}, {calls!r}, 0.04)"
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})


def memorize_crash(root: str, *, turns: int, kills: int, seed: int = 0) -> tuple[dict[str, object], bool]:
    """Two workers, one of them killed at a random moment and started again, until all is memorized."""
    from memoranda.core.exchanges import TurnContext
    from memoranda.services.queueing import exchange_of

    chance = random.Random(seed)
    calls = os.path.join(root, "..", "calls.txt")
    with Vault.open(root) as vault:
        for number in range(turns):
            context = TurnContext(conversation=f"c{number % _CONVERSATIONS}", turn=str(number))
            vault.enqueue(exchange_of(f"This is fact number {number}.", "Noted.", context, "", vault.clock))
        begin = time.perf_counter()
        workers = [_started(root, calls) for _ in range(2)]
        killed = 0
        while (left := vault.inbox.ids()) and time.perf_counter() - begin < _PATIENCE + kills:
            for at, worker in enumerate(workers):
                if worker.poll() is not None:
                    workers[at] = _started(root, calls)
            time.sleep(0.3 + chance.random() * 0.5)
            victim = workers[chance.randrange(2)]
            if killed < kills and victim.poll() is None:
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                killed += 1
        for worker in workers:
            worker.wait(_PATIENCE)
        seconds = time.perf_counter() - begin
        problems = [str(problem) for problem in vault.check()]
        texts = Counter(item.text for item in vault.items())
        wrong = [number for number in range(turns) if texts[_fact(number)] != 1]
        kept = Counter(
            (turn.conversation, turn.turn) for talk in vault.conversations() for turn in vault.turns(talk.conversation)
        )
    with open(calls, "rb") as stream:
        asked = stream.read().count(b"\n")
    _, torn = read_journal(root)
    lost = sum(kept[f"c{number % _CONVERSATIONS}", str(number)] != 1 for number in range(turns))
    rows: dict[str, object] = {
        "turns": turns,
        "kills": killed,
        "questions to the model": asked,
        "of these beyond one a turn": asked - turns,
        "facts not there exactly once": len(wrong),
        "facts beyond those": sum(texts.values()) - turns,
        "turns not kept exactly once": lost,
        "still queued": len(left),
        "problems that check finds": len(problems),
        "journal lines torn": torn,
        "seconds": f"{seconds:.1f}",
    }
    if problems:
        rows["first problem"] = problems[0]
    fine = not (wrong or lost or left or problems or torn) and sum(texts.values()) == turns
    return rows, fine and asked <= turns + killed


def hook_latency(
    root: str, *, turns: int, text_bytes: int = 400, thinking: float = 30.0
) -> tuple[dict[str, object], bool]:
    """What ``on_after_turn`` takes beside a model that thinks, against a bare durable write of the same bytes."""
    from memoranda.faces.hooks.memory_hooks import MemoryHooks
    from memoranda.storage.files import replace_file

    class Thinking:
        def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
            time.sleep(thinking)
            return '{"operations": []}'

    said = "I like the sea and everything about it. " * (text_bytes // 40)
    hooked: list[float] = []
    bare: list[float] = []
    vault = Vault.open(root)
    hooks = MemoryHooks(vault, Thinking())
    folder = os.path.join(root, "..", "bare")
    os.makedirs(folder, exist_ok=True)

    def timed(call: Any, to: list[float]) -> None:
        begin = time.perf_counter()
        call()
        to.append(time.perf_counter() - begin)

    hooks.on_after_turn(said, "Noted.", {"conversation": "c", "turn": "first"})
    time.sleep(0.5)  # the model is thinking from here on
    size = max(os.path.getsize(os.path.join(root, "inbox", name)) for name in os.listdir(os.path.join(root, "inbox")))
    data = b"x" * size

    def hand_over(number: int) -> None:
        timed(lambda: hooks.on_after_turn(said, "Noted.", {"conversation": "c", "turn": str(number)}), hooked)

    def write_bare(number: int) -> None:
        timed(lambda: replace_file(os.path.join(folder, f"{number}.json"), data), bare)

    for number in range(turns):
        # In turn, so that neither always comes first.
        for call in (hand_over, write_bare) if number % 2 else (write_bare, hand_over):
            call(number)
    before: list[float] = []
    for _ in range(min(turns, 200)):
        timed(lambda: hooks.on_before_turn("What do I like about the sea?", {"conversation": "c"}), before)
    hooks.close(0.0)
    queued = len(vault.inbox.ids())
    rows: dict[str, object] = {"turns": turns, "bytes a turn": size, "queued": queued}
    ratios = []
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        one, other = (sorted(times)[min(int(len(times) * share), len(times) - 1)] for times in (hooked, bare))
        ratios.append(one / other)
        rows[f"{name}: on_after_turn, ms"] = f"{one * 1000:.2f}"
        rows[f"{name}: bare durable write, ms"] = f"{other * 1000:.2f}"
        rows[f"{name}: ratio"] = f"{one / other:.2f}"
    rows["slowest on_before_turn, ms"] = f"{max(before) * 1000:.1f}"
    return rows, max(ratios) <= 3.0 and queued == turns + 1
