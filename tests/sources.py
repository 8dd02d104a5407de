"""Other programs' files, as tests of importers lay them down, and what a reader made of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from memoranda.core.model import Problem

__all__ = ["SAMPLES", "lay_down", "needs_samples", "state_of", "told_apart"]

#: Real files of other programs, which are not part of this repository.
SAMPLES = Path(os.environ.get("MEMORANDA_BENCH_DATA", "."), "import")

needs_samples = pytest.mark.skipif(
    "MEMORANDA_BENCH_DATA" not in os.environ or not SAMPLES.is_dir(), reason="MEMORANDA_BENCH_DATA names no samples"
)


def lay_down(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write the files below ``root``, exactly as they are given."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def told_apart(found: Iterable[Any]) -> tuple[list[Any], list[Problem]]:
    """The records and the problems, each in order."""
    every = list(found)
    return [one for one in every if not isinstance(one, Problem)], [p for p in every if isinstance(p, Problem)]


def state_of(root: Path) -> list[tuple[str, int, bytes]]:
    """Every file and folder of a source: its path, its time and its bytes."""
    return [
        (str(path.relative_to(root)), path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    ]
