"""Memory that belongs to a process alone, and how long one look at so many bytes takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from memoranda_bench.systems.interface import require

__all__ = ["Most", "private_memory", "stream_seconds", "watched"]

_ROUNDS = 15
_PAUSE = 0.0005


def private_memory() -> int | None:
    """Bytes that are this process's own: ``Anonymous`` of ``smaps_rollup``, so no page that a file could give back.

    What is memory-mapped from a file and only read is no part of it, however
    much of it is resident. ``None`` where the system does not say.
    """
    return _kilobytes("/proc/self/smaps_rollup", "Anonymous:")


def _kilobytes(path: str, name: str) -> int | None:
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            for line in stream:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


class Most:
    """The most private memory that was seen, in bytes; ``None`` if the system does not say."""

    def __init__(self) -> None:
        self.bytes: int | None = None

    def look(self) -> None:
        """See how much it is now."""
        if (now := _kilobytes("/proc/self/status", "RssAnon:")) is not None:
            self.bytes = max(now, self.bytes or 0)


@contextmanager
def watched(pause: float = _PAUSE) -> Iterator[Most]:
    """Look at private memory every ``pause`` seconds, from a thread of its own, which takes time from the others."""
    most, ended, interval = Most(), Event(), sys.getswitchinterval()
    most.look()

    def look() -> None:
        while not ended.wait(pause):
            most.look()

    thread = Thread(target=look, daemon=True)
    sys.setswitchinterval(min(interval, pause))
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(interval)
        most.look()


def stream_seconds(words: Any, rounds: int = _ROUNDS) -> float:
    """The least time in which one thread reads all of an array of 64-bit words once, as numpy does: the best way.

    What is small enough stays in a processor's last cache from one round to the next.
    """
    numpy = require("numpy")
    best = float("inf")
    for _ in range(rounds):
        for read in (numpy.max, numpy.bitwise_xor.reduce, numpy.add.reduce):
            begin = time.perf_counter()
            read(words)
            best = min(best, time.perf_counter() - begin)
    return best
