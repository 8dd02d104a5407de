"""Speed figures as a run leaves them, made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PEER: dict[str, Any] = {
    "build_seconds": 2.0,
    "build_cpu_seconds": 1.0,
    "analysis_seconds": 1.0,
    "disk_bytes": 3_000_000,
    "natural": {"p50": 4.0, "p99": 8.0, "cpu_p50": 3.0, "found": 1.0},
    "content": {"p50": 2.0, "p99": 3.0, "cpu_p50": 1.5, "found": 0.5},
    "peak": 30_000_000,
    "resident": 20_000_000,
    "spin_ms": [5.0, 5.1],
}
OURS: dict[str, Any] = {
    "build": {
        "seconds": 4.0,
        "cpu_seconds": 3.0,
        "close_seconds": 0.1,
        "background_seconds": 0.5,
        "peak": 50_000_000,
        "peak_of_workers": 35_000_000,
        "resident": 40_000_000,
        "spin_ms": [5.0, 9.0],
    },
    "rebuild": {
        "seconds": 3.0,
        "cpu_seconds": 2.5,
        "close_seconds": 0.0,
        "background_seconds": 0.0,
        "cache_bytes": 1_000_000,
        "peak": 50_000_000,
        "peak_of_workers": 35_000_000,
        "resident": 40_000_000,
        "spin_ms": [5.0, 5.0],
    },
    "warm": {
        "open_seconds": 0.02,
        "natural": {"p50": 1.0, "p99": 2.0, "cpu_p50": 0.9, "found": 0.9},
        "content": {"p50": 0.9, "p99": 1.9, "cpu_p50": 0.8, "found": 0.8},
        "scan": {"p50": 0.4, "p99": 0.5, "cpu_p50": 0.3},
        "peak": 45_000_000,
        "resident": 44_000_000,
        "spin_ms": [5.0, 5.0],
    },
    "cold": {
        "rounds": 11,
        "recall_ms": 60.0,
        "bare_ms": 10.0,
        "difference_ms": 49.0,
        "difference_cpu_ms": 48.0,
        "peak": 20_000_000,
        "bare_peak": 9_000_000,
    },
    "add": {
        "remember": {"p50": 2.0, "p99": 3.0, "cpu_p50": 1.0},
        "after_add": {"p50": 1.5, "p99": 2.0, "cpu_p50": 1.4},
        "plain": {"p50": 1.0, "p99": 2.0, "cpu_p50": 1.0},
        "found": 1.0,
        "spin_ms": [5.0, 5.0],
    },
}


Figures = Callable[..., dict[str, Any]]


@pytest.fixture
def peer_row() -> dict[str, Any]:
    """What one of the others has at one size."""
    return PEER


@pytest.fixture
def ours_row() -> dict[str, Any]:
    """What ours has at one size."""
    return OURS


@pytest.fixture
def figures() -> Figures:
    """Makes the figures of a run of one size, 1,000, from each system's row."""

    def make(**systems: Any) -> dict[str, Any]:
        size = {"systems": systems, "corpus": {"bytes": 1, "stop_share": 0.4}}
        return {"seed": 0, "queries": 200, "categories": 200, "sizes": {"1000": size}}

    return make
