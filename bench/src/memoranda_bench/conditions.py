"""Under which conditions figures were made: versions and machine, nothing that names a host or a path."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memoranda import __version__

__all__ = ["condition_rows", "conditions"]

_PACKAGES = ("numpy", "bm25s", "numba", "tantivy", "snowballstemmer", "markitdown", "pypdfium2")


def conditions() -> dict[str, Any]:
    """Versions of everything measured, the processor, the kind of system, the day (UTC)."""
    versions = {"memoranda": __version__, "sqlite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory_bytes": _memory(),
        "versions": versions,
    }


def condition_rows(found: Mapping[str, Any]) -> list[list[object]]:
    """The conditions as rows of a table."""
    memory = found["memory_bytes"]
    return [
        ["day", found["date"]],
        ["processor", f"{found['processor']}, {found['processors']} of them"],
        ["memory", "unknown" if memory is None else f"{memory / 1e9:.0f} GB"],
        ["system", found["system"]],
        ["Python", found["python"]],
        ["versions", ", ".join(f"{name} {number}" for name, number in found["versions"].items())],
    ]


def _processor() -> str:
    """The processor's name as the system gives it."""
    if sys.platform == "linux":
        try:
            with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
                for line in stream:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()
        except OSError:
            pass
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
