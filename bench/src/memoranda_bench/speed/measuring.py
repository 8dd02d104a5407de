"""The measurements, each in a process of its own so that its memory is its own.

Run as ``python -m memoranda_bench.speed.measuring SYSTEM WORK COUNT SEED FOLDER QUERIES``; the figures are one
line of JSON on standard output. Systems are ``ours-build``, ``ours-warm``, ``ours-add`` and the peers.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from memoranda_bench.speed.corpus import Corpus, SpeedQuestion, make
from memoranda_bench.speed.peers import PEERS, open_peer, question_tokens
from memoranda_bench.speed.readings import (
    directory_bytes,
    peak_memory,
    peak_memory_of_children,
    resident_memory,
    spin,
)
from memoranda_bench.speed.timing import Times
from memoranda_bench.systems.interface import SystemMissing

__all__ = ["STAGES", "main"]

#: How many items are added one by one.
_ADDED = 30
_WARM_UP = 5
_TOP = 10
_NO_DEADLINE = float("inf")


def _memory() -> dict[str, int | None]:
    return {"peak": peak_memory(), "resident": resident_memory()}


def build_ours(corpus: Corpus, folder: str, queries: int) -> dict[str, Any]:
    """Open markdown files that have nothing derived beside them."""
    from memoranda import Vault

    def build() -> Vault:
        opened = Vault.open(folder)
        opened.warm(("item",))
        return opened

    building, closing = Times(), Times()
    closing.call(building.call(build).close)
    seconds, cpu_seconds = building.last()
    figures = {"seconds": seconds, "cpu_seconds": cpu_seconds, "close_seconds": closing.last()[0]}
    return figures | _memory() | {"peak_of_workers": peak_memory_of_children()}


def warm_ours(corpus: Corpus, folder: str, queries: int) -> dict[str, Any]:
    """A long-lived process: opens what is there, answers questions one after the other."""
    from memoranda import Vault

    asked = corpus.questions[:queries]
    begin = time.perf_counter()
    with Vault.open(folder) as vault:
        vault.warm(("item",))
        figures: dict[str, Any] = {"open_seconds": time.perf_counter() - begin}
        scan, scans = _scanner(folder), Times()
        for variant in ("natural", "content"):
            times, found = Times(), 0
            for question in asked[:_WARM_UP]:
                _recall(vault, _text(question, variant))
            for question in asked:
                text = _text(question, variant)
                hits = times.call(partial(_recall, vault, text))
                found += any(hit.address == question.address for hit in hits)
                if scan is not None:
                    scans.call(scan)
            figures[variant] = times.milliseconds() | {"found": found / len(asked)}
        figures["scan"] = scans.milliseconds() if scan is not None else None
        return figures | _memory()


def _recall(vault: Any, text: str) -> Any:
    return vault.retrieve(text, k=_TOP, deadline=_NO_DEADLINE).hits


def _text(question: SpeedQuestion, variant: str) -> str:
    return question.text if variant == "natural" else question.content


def _scanner(folder: str) -> Callable[[], object] | None:
    """One look at all files, which is part of every answer; ``None`` if this version has none that can be called."""
    try:
        from memoranda.storage.snapshot import scan
        from memoranda.storage.vault import VaultFolder

        seen = VaultFolder(folder, create=False)
        scan(seen)
    except (ImportError, AttributeError, TypeError):
        return None
    return lambda: scan(seen)


def add_ours(corpus: Corpus, folder: str, queries: int) -> dict[str, Any]:
    """Add items one by one to files that are there; ask the same right before and right after.

    Each question is asked once more before that, so that both find its words
    read already.
    """
    from memoranda import Vault

    adding, after, plain, found, asked = Times(), Times(), Times(), 0, corpus.questions[:_ADDED]
    with Vault.open(folder) as vault:
        vault.warm(("item",))
        for question in corpus.questions[:_WARM_UP]:
            _recall(vault, question.text)
        for number, question in enumerate(asked):
            text = f"{question.text} {_marker(number)}"
            address = f"{question.address.partition(':')[0]}:added-{number}"
            _recall(vault, text)
            plain.call(partial(_recall, vault, text))
            adding.call(partial(vault.remember, address, text))
            hits = after.call(partial(_recall, vault, text))
            found += bool(hits) and hits[0].address == address
    return {
        "remember": adding.milliseconds(),
        "after_add": after.milliseconds(),
        "plain": plain.milliseconds(),
        "found": found / len(asked),
    }


def _marker(number: int) -> str:
    """A word that no other item has."""
    return "xylo" + "".join("abcdefghij"[int(digit)] for digit in str(number))


def ask_peer(name: str, corpus: Corpus, folder: str, queries: int) -> dict[str, Any]:
    """Build another engine and ask it the same questions, with and without their function words."""
    peer = open_peer(name, folder)
    analysis = 0.0

    def items() -> Iterator[tuple[str, str, list[str]]]:
        nonlocal analysis
        for address, text in corpus.read():
            # The name of an item is searched like its text.
            text = f"{address.partition(':')[2]} {text}"
            tokens: list[str] = []
            if peer.tokens is not None:
                begin = time.perf_counter()
                tokens = peer.tokens(text)
                analysis += time.perf_counter() - begin
            yield address, text, tokens

    building = Times()
    building.call(lambda: peer.build(items()))
    figures: dict[str, Any] = {"disk_bytes": directory_bytes(folder)}
    figures["build_seconds"], figures["build_cpu_seconds"] = building.last()
    figures["analysis_seconds"] = None if peer.tokens is None else analysis
    asked = corpus.questions[:queries]
    for variant in ("natural", "content"):
        cut = [question_tokens(peer, _text(question, variant)) for question in asked]
        for tokens in cut[:_WARM_UP]:
            peer.ask(tokens)
        times, found = Times(), 0
        for question, tokens in zip(asked, cut, strict=True):
            addresses = times.call(partial(peer.ask, tokens))
            found += question.address in addresses
        figures[variant] = times.milliseconds() | {"found": found / len(asked)}
    return figures | _memory()


STAGES = {"ours-build": build_ours, "ours-warm": warm_ours, "ours-add": add_ours}


def main(arguments: list[str]) -> None:
    """Measure what the arguments name."""
    system, work, count, seed, folder, queries = arguments
    corpus = make(work, int(count), int(seed))
    before = spin()
    try:
        if system in PEERS:
            figures = ask_peer(system, corpus, folder, int(queries))
        else:
            figures = STAGES[system](corpus, folder, int(queries))
    except SystemMissing as error:
        figures = {"skipped": str(error)}
    figures["spin_ms"] = [before * 1000, spin() * 1000]
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
