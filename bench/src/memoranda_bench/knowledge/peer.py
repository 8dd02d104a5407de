"""MarkItDown alone over files, in a process of its own.

Run as ``python -m memoranda_bench.knowledge.peer`` with the paths as a JSON list
on standard input; the figures are one line of JSON on standard output. What
importing it and making the converter take is left out.
"""

from __future__ import annotations

import json
import os
import sys
import time

from memoranda_bench.systems.interface import require

__all__ = ["main", "measure"]


def measure(paths: list[str]) -> dict[str, float | int]:
    """Convert one after the other, and keep nothing.

    Raises:
        SystemMissing: MarkItDown is not installed.
    """
    converter = require("markitdown").MarkItDown()
    characters = failed = 0
    before, begin = os.times(), time.perf_counter()
    for path in paths:
        try:
            characters += len(converter.convert(path).text_content)
        except Exception:  # it has many, and what it cannot read costs time as well
            failed += 1
    seconds, after = time.perf_counter() - begin, os.times()
    return {
        "documents": len(paths),
        "failed": failed,
        "characters": characters,
        "seconds": seconds,
        "cpu_seconds": after.user + after.system - before.user - before.system,
    }


def main() -> None:
    """Measure, and print the figures."""
    print(json.dumps(measure(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
