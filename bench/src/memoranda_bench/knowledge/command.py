"""The command ``knowledge``: which parts are measured, where their data is, and what is done with the figures."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memoranda_bench.datasets import DataMissing
from memoranda_bench.systems import SystemMissing

__all__ = ["PARTS", "add_arguments", "broken", "measure", "run_command"]

PARTS = ("documents", "passages", "throughput", "hostile")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes, but for ``--data``."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all with data)")
    parser.add_argument("--docs", metavar="DIR", help="documents: the files (default: docs in the folder of the data)")
    parser.add_argument("--labels", metavar="DIR", help="documents: their labels (default: labels in that folder)")
    parser.add_argument("--embedder", metavar="NAME", help="documents, passages: with that provider's vectors as well")
    parser.add_argument("--documents", type=int, default=10_000, metavar="N", help="throughput: so many (10,000)")
    parser.add_argument("--seed", type=int, default=0, help="throughput, hostile")
    parser.add_argument("--work", metavar="DIR", help="leave vaults and files there (else a temporary folder)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")


def run_command(options: argparse.Namespace) -> int:
    """Measure and print; the exit code is 1 if a promise is not held.

    Raises:
        ValueError: there is no such part.
        DataMissing, SystemMissing: a part that was named cannot be measured.
    """
    from memoranda_bench.conditions import conditions
    from memoranda_bench.knowledge.tables import knowledge_report

    if unknown := [part for part in options.parts if part not in PARTS]:
        raise ValueError(f"there is no part {unknown[0]!r}; there are: {', '.join(PARTS)}")
    if options.documents < 2:
        raise ValueError("--documents: 2 at least")
    figures: dict[str, Any] = {"conditions": conditions(), "parts": {}, "skipped": {}}
    wanted = [part for part in PARTS if not options.parts or part in options.parts]
    with _folder(options.work) as folder:
        for part in wanted:
            try:
                figures["parts"][part] = measure(part, options, folder)
            except (DataMissing, SystemMissing) as error:
                if options.parts:
                    raise
                figures["skipped"][part] = str(error)
            if options.json:
                with open(options.json, "w", encoding="utf-8", newline="\n") as stream:
                    json.dump(figures, stream, ensure_ascii=False, indent=1)
    print(knowledge_report(figures))
    for line in broken(figures):
        print(f"memoranda-bench: not held: {line}", file=sys.stderr)
    return 1 if broken(figures) else 0


def measure(part: str, options: argparse.Namespace, folder: str) -> Any:
    """The figures of one part. Raises DataMissing, SystemMissing."""
    if part == "documents":
        from memoranda_bench.knowledge.documents import measure_documents

        docs, labels = (_place(options, name) for name in ("docs", "labels"))
        return measure_documents(docs, labels, folder, options.embedder)
    if part == "passages":
        from memoranda_bench.knowledge.passages import measure_sets

        return measure_sets(options.data, folder, options.embedder)
    if part == "throughput":
        from memoranda_bench.knowledge.throughput import measure_throughput

        return measure_throughput(_made(folder, part), options.documents, options.seed)
    from memoranda_bench.knowledge.hostile import measure_hostile

    return measure_hostile(_made(folder, part), options.seed)


def broken(figures: dict[str, Any]) -> list[str]:
    """The promises that are not held."""
    parts = (one for part in figures["parts"].values() for one in (part if isinstance(part, list) else [part]))
    return [f"{p['promise']} ({p['figure']})" for one in parts for p in one.get("promises", ()) if not p["held"]]


def _place(options: argparse.Namespace, name: str) -> str:
    """A folder that was named, or the one of that name in the folder of the data. Raises DataMissing."""
    named: str | None = getattr(options, name)
    data = options.data or os.environ.get("MEMORANDA_BENCH_DATA")
    if not named and not data:
        raise DataMissing(f"name the folder by --{name}, or that of the data by --data or MEMORANDA_BENCH_DATA")
    return os.path.abspath(os.path.expanduser(named or os.path.join(data or "", name)))


def _made(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    os.makedirs(path)
    return path


@contextmanager
def _folder(work: str | None) -> Iterator[str]:
    """A new folder, below the one that was named (and stays), or a temporary one."""
    if work:
        os.makedirs(work, exist_ok=True)
        yield tempfile.mkdtemp(prefix="knowledge-", dir=work)
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        yield folder
