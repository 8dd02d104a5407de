"""Timing single calls by the clock on the wall and by processor time, which a busy machine disturbs less."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from memoranda_bench.metrics import percentile

__all__ = ["Times"]

_T = TypeVar("_T")


def _processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Times:
    """The times of many calls, in seconds."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def call(self, work: Callable[[], _T]) -> _T:
        """What ``work`` gives; how long it took is kept."""
        cpu, wall = _processor_seconds(), time.perf_counter()
        found = work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(_processor_seconds() - cpu)
        return found

    def milliseconds(self) -> dict[str, float]:
        """Median and 99th percentile of the wall clock, and the median of processor time."""
        return {
            "p50": percentile(self.wall, 0.5) * 1000,
            "p99": percentile(self.wall, 0.99) * 1000,
            "cpu_p50": percentile(self.cpu, 0.5) * 1000,
        }

    def last(self) -> tuple[float, float]:
        """Wall clock and processor time of the last call, in seconds."""
        return self.wall[-1], self.cpu[-1]
