"""kill -9 at random moments: nothing acknowledged is lost, every file still parses."""

from __future__ import annotations

import os
import random
import time

from memoranda import Vault
from memoranda_bench.processes import read_journal, start
from memoranda_bench.writers import item_text

__all__ = ["crash"]


def _write_and_kill(
    root: str, writes: int, kills: int, categories: int, chance: random.Random
) -> tuple[dict[str, str], list[str], int]:
    """Acknowledged addresses with their text, refusals, and how often a child was killed."""
    acknowledged: dict[str, str] = {}
    refused: list[str] = []
    killed = 0
    while len(acknowledged) < writes:
        first = len(acknowledged)
        child = start("remember", root, f"crash-{killed % categories}", "entry", str(first), str(writes - first))
        child.wait_ready()
        child.go()
        if killed < kills:
            # On average the kills are spread over all the writes that are left.
            share = max(1, (writes - first) // (kills - killed))
            for _ in range(chance.randint(0, share)):
                if not child.read():
                    break
            time.sleep(chance.random() * 0.02)
            child.kill()
            killed += 1
        else:
            child.finish()
        for address in child.written:
            acknowledged[address] = item_text(address.rpartition(":")[2])
        refused += child.refused
        if not child.written and child.refused:
            break
    return acknowledged, refused, killed


def crash(root: str, *, writes: int, kills: int, categories: int = 4, seed: int = 0) -> tuple[dict[str, object], bool]:
    """Figures, and whether everything acknowledged is there.

    A write that was cut off is asked for again by the next child, as a host would.
    """
    begin = time.perf_counter()
    acknowledged, refused, killed = _write_and_kill(root, writes, kills, categories, random.Random(seed))
    seconds = time.perf_counter() - begin
    with Vault.open(root) as vault:
        problems = [str(problem) for problem in vault.check()]
        lost = []
        for address, text in acknowledged.items():
            item = vault.get(address)
            if item is None or item.text != text:
                lost.append(address)
    entries, torn = read_journal(root)
    leftover = [name for _, _, names in os.walk(root) for name in names if name.endswith((".tmp", "~"))]
    rows: dict[str, object] = {
        "writes acknowledged": len(acknowledged),
        "kills": killed,
        "acknowledged and lost": len(lost),
        "writes refused": len(refused),
        "problems that check finds": len(problems),
        "journal lines": len(entries),
        "journal lines torn": torn,
        "temporary files left": len(leftover),
        "seconds": f"{seconds:.1f}",
    }
    for name, examples in (("lost", lost), ("refused", refused), ("problem", problems), ("left", leftover)):
        if examples:
            rows[f"first {name}"] = examples[0]
    return rows, not (lost or refused or problems or torn) and len(acknowledged) >= writes
