"""Which data sets and systems a quality run measures, and what is said about those that it cannot."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from memoranda_bench import datasets, systems
from memoranda_bench.datasets import Options, SetSkipped
from memoranda_bench.floor import measure_floor
from memoranda_bench.quality import measure

__all__ = ["measure_sets"]


def measure_sets(
    data: str | None,
    sets: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    options: Options | None = None,
    *,
    conversations: str | None = None,
    baseline: str | None = None,
    k: int = 10,
    dated: bool = True,
) -> Iterator[dict[str, Any]]:
    """The figures of each data set as soon as they are there (``None``: every set, every system).

    A set or a system that was not asked for by name and cannot be measured is
    named on standard error and left out.

    Raises:
        DataMissing: a named set is not there, or none at all.
        SetSkipped: nothing that was named can be measured.
        SystemMissing: a named system is not installed.
        ValueError: no such system, or no such conversation.
    """
    wanted = list(dict.fromkeys(sets or datasets.present(data)))
    chosen = list(dict.fromkeys(names or systems.NAMES))
    said: set[str] = set()
    for name in wanted:
        try:
            loaded = datasets.load(name, data, options)
        except SetSkipped as reason:
            if wanted == [name]:
                raise
            print(f"skipped {reason}", file=sys.stderr)
            continue
        for data_set in loaded:
            if name == "unanswerable":
                yield measure_floor(data_set, chosen, conversations=conversations)
                continue
            result = measure(
                data_set,
                chosen,
                conversations=conversations,
                baseline=baseline,
                k=k,
                dated=dated,
                strict=names is not None,
            )
            for line in [f"left out {system}: {why}" for system, why in result["skipped"].items()]:
                if line not in said:
                    said.add(line)
                    print(line, file=sys.stderr)
            yield result
