"""Many small documents taken in: how fast, in how much memory, how fast again; beside MarkItDown alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda_bench.knowledge.made import write
from memoranda_bench.knowledge.taking_in import take_in
from memoranda_bench.speed.readings import spin
from memoranda_bench.systems.interface import require

__all__ = ["compared", "measure_throughput"]

#: So many documents MarkItDown converts at most, spread evenly over all.
_SAMPLE = 2_000
_FASTER = 3.0
_AGAIN_SECONDS = 2.0
_GROWTH = 1.2


def measure_throughput(folder: str, count: int, seed: int = 0) -> dict[str, Any]:
    """Ours over all, MarkItDown over a sample twice, ours over the first half, in this order (ABBA); then ours again.

    Raises:
        SystemMissing: MarkItDown is not installed.
        RuntimeError: some document was not taken in.
    """
    require("markitdown")
    all_files, half_files = os.path.join(folder, "all"), os.path.join(folder, "half")
    size = write(all_files, count, seed)
    half = max(1, count // 2)
    write(half_files, half, seed)
    paths = sorted(os.path.join(parent, name) for parent, _, names in os.walk(all_files) for name in names)
    step = -(-len(paths) // _SAMPLE)
    # An odd step meets every kind of document, whose order repeats after four.
    sample = paths[:: step + (step % 2 == 0)]
    before = spin()
    whole = _ours(os.path.join(folder, "vault"), all_files, count, "stored")
    peer = [_peer(sample), _peer(sample)]
    part = _ours(os.path.join(folder, "half-vault"), half_files, half, "stored")
    again = _ours(os.path.join(folder, "vault"), all_files, count, "unchanged")
    figures = {"documents": count, "half": half, "bytes": size, "seed": seed, "spin_ms": [before * 1000, spin() * 1000]}
    return compared(figures | {"whole": whole, "part": part, "again": again, "peer": peer})


def _ours(vault: str, files: str, count: int, expected: str) -> dict[str, Any]:
    figures, told, _, errors = take_in(vault, [files])
    fine = sum(one.outcome == expected for one in told)
    if fine != count:
        raise RuntimeError(f"of {count} documents {fine} are {expected}: {errors.strip()[-300:]}")
    print(f"throughput: {count:,} documents {expected}, {figures['seconds']:.1f} s", file=sys.stderr)
    return figures


def _peer(paths: Sequence[str]) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-m", "memoranda_bench.knowledge.peer"],
        input=json.dumps(paths).encode(),
        stdout=subprocess.PIPE,
        check=True,
        env=environment,
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    print(f"throughput: MarkItDown, {len(paths):,} documents, {figures['seconds']:.1f} s", file=sys.stderr)
    return figures


def compared(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures with milliseconds a document, ratios, and the promises that they are held to."""
    ours, peer = [figures["whole"], figures["part"]], figures["peer"]
    taken = figures["documents"] + figures["half"]
    converted = sum(one["documents"] for one in peer)
    a_document = {
        kind: {
            "ours": 1000 * sum(one[kind] for one in ours) / taken,
            "markitdown": 1000 * sum(one[kind] for one in peer) / converted,
        }
        for kind in ("seconds", "cpu_seconds")
    }
    ratio = {kind: one["markitdown"] / one["ours"] for kind, one in a_document.items()}
    growth = figures["whole"]["peak"] / figures["part"]["peak"]
    again = figures["again"]["seconds"]
    promises = [
        {
            "promise": f"{_FASTER:g} times as fast as MarkItDown alone, by the wall's time",
            "figure": f"{ratio['seconds']:.2f} ×",
            "held": ratio["seconds"] >= _FASTER,
        },
        {
            "promise": f"once more with nothing changed within {_AGAIN_SECONDS:g} s",
            "figure": f"{again:.2f} s",
            "held": again <= _AGAIN_SECONDS,
        },
        {
            "promise": f"memory flat: no more than {_GROWTH - 1:.0%} above that for half as many",
            "figure": f"{growth - 1:+.1%}",
            "held": growth <= _GROWTH,
        },
    ]
    return {**figures, "ms": a_document, "ratio": ratio, "growth": growth, "promises": promises}
