"""One measurement in a process of its own, so that its memory is its own.

Run as ``python -m memoranda_bench.vectors.measuring STAGE SYSTEM CORPUS FOLDER`` with the stage ``build``, ``ask`` or
``add`` and a finished corpus; the figures are one line of JSON on standard output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from memoranda_bench.speed.readings import peak_memory, resident_memory, spin
from memoranda_bench.speed.timing import Times
from memoranda_bench.systems.interface import SystemMissing, require
from memoranda_bench.vectors.corpus import VectorCorpus, read
from memoranda_bench.vectors.readings import private_memory, stream_seconds, watched
from memoranda_bench.vectors.systems import SYSTEMS, Ours, VectorSystem

__all__ = ["STAGES", "main"]

_WARM_UP = 3
#: Questions while memory is watched; they are not timed.
_WATCHED = 20
#: A slow way is asked for no longer than this, but for so many questions at least.
_SECONDS, _FEWEST = 60.0, 20
_BUILD_PAUSE = 0.02
_ADDED = 1000


def build(make: Callable[[], VectorSystem], corpus: VectorCorpus, folder: str) -> dict[str, Any]:
    """Take in the whole corpus."""
    system = make()
    before, building = private_memory(), Times()
    with watched(_BUILD_PAUSE) as most:
        building.call(system.build)
    seconds, cpu_seconds = building.last()
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "private": _more(most.bytes, before)}


def ask(make: Callable[[], VectorSystem], corpus: VectorCorpus, folder: str) -> dict[str, Any]:
    """Open what was built, and ask every question in every way that the system has."""
    system, queries = make(), corpus.queries()
    before = private_memory()
    begin = time.perf_counter()
    system.open()
    opened = time.perf_counter()
    own = system.settings[0]
    system.ask(queries[0], own)
    answered = time.perf_counter()
    figures: dict[str, Any] = {"open_ms": (opened - begin) * 1000, "first_ms": (answered - opened) * 1000}
    figures["private_first"] = _more(private_memory(), before)
    with watched() as most:
        for query in queries[:_WATCHED]:
            system.ask(query, own)
    figures["private"], figures["private_most"] = _more(private_memory(), before), _more(most.bytes, before)
    figures["settings"] = {setting: _timed(system, corpus, queries, setting) for setting in system.settings}
    figures |= {"resident": resident_memory(), "peak": peak_memory()}
    figures["about"] = getattr(system, "about", dict)()
    system.close()
    return figures


def add(make: Callable[[], VectorSystem], corpus: VectorCorpus, folder: str) -> dict[str, Any]:
    """Put 1,000 rows more into what was built, once to warm up and once that counts."""
    system, adding = make(), Times()
    assert isinstance(system, Ours)
    system.open()
    system.add(_ADDED)
    adding.call(partial(system.add, _ADDED))
    system.close()
    seconds, cpu_seconds = adding.last()
    return {"rows": _ADDED, "seconds": seconds, "cpu_seconds": cpu_seconds}


def _timed(system: VectorSystem, corpus: VectorCorpus, queries: Any, setting: str) -> dict[str, Any]:
    """Times and recall, and what it takes to read all signatures once: at the least, and from memory, in between."""
    words = _signatures(corpus)
    places, far = [words.copy() for _ in range(_PLACES)], []
    least = stream_seconds(words)
    for query in queries[:_WARM_UP]:
        system.ask(query, setting)
    times, recall, begin = Times(), [], time.perf_counter()
    for number, query in enumerate(queries):
        found = times.call(partial(system.ask, query, setting))
        recall.append(corpus.recall(number, found))
        far.append(stream_seconds(places[number % _PLACES], 1) * 1000)
        if time.perf_counter() - begin > _SECONDS and number + 1 >= _FEWEST:
            break
        if number % 20 == 0:
            least = min(least, stream_seconds(words, 1))
    stream = min(least, stream_seconds(words)) * 1000
    return times.milliseconds() | {
        "recall": sum(recall) / len(recall),
        "asked": len(recall),
        "stream_ms": stream,
        "memory_ms": sorted(far)[len(far) // 2],
    }


def _signatures(corpus: VectorCorpus) -> Any:
    """As many bytes as the signs of all vectors take."""
    numpy = require("numpy")
    return numpy.random.default_rng(0).integers(0, 2**63, max(1, corpus.size * corpus.dimension // 64), numpy.uint64)


def _more(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else max(0, now - before)


#: As many bytes as the signatures, in so many places, are read in turn: no cache holds one until its turn comes again.
_PLACES = 4

STAGES = {"build": build, "ask": ask, "add": add}


def main(arguments: list[str]) -> None:
    """Measure what the arguments name."""
    stage, name, found, folder = arguments
    corpus = read(found)
    os.makedirs(folder, exist_ok=True)
    before = spin()
    try:
        figures = STAGES[stage](lambda: SYSTEMS[name](corpus, folder), corpus, folder)
    except SystemMissing as error:
        figures = {"skipped": str(error)}
    figures["spin_ms"] = [before * 1000, spin() * 1000]
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
