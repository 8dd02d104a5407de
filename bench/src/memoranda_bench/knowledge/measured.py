"""Run one command in a small process of its own, and say what it took.

Run as ``python -m memoranda_bench.knowledge.measured SECONDS OUT ERRORS COMMAND...``;
what the command says goes to the files, the figures are one line of JSON. It
imports next to nothing: Linux counts the memory of whoever started a process as
the new one's own peak.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

__all__ = ["main", "measure"]

#: Between two looks at the memory that the command and what it started have together.
_PAUSE = 0.1


def measure(seconds: float, out: str, errors: str, command: list[str]) -> dict[str, float | int | bool | None]:
    """Run it, for ``seconds`` at most. Memory in bytes: ``peak`` of its largest process, ``together`` of all at once.

    ``together`` is sampled and counts what processes share for each of them;
    ``None`` where the system does not tell.
    """
    with open(out, "wb") as stdout, open(errors, "wb") as stderr:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        late = threading.Event()

        def overdue() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(seconds, overdue)
        clock.daemon = True
        clock.start()
        ended = threading.Event()
        most = [0]
        watching = threading.Thread(target=_watch, args=(process.pid, ended, most), daemon=True)
        watching.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        clock.cancel()
        ended.set()
        watching.join()
        process.returncode = os.waitstatus_to_exitcode(status)
    # Kilobytes, but for macOS.
    scale = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": wall,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * scale,
        "together": most[0] or None,
        "code": process.returncode,
        "late": late.is_set(),
    }


def _watch(root: int, ended: threading.Event, most: list[int]) -> None:
    while not ended.wait(_PAUSE):
        most[0] = max(most[0], _resident(root))


def _resident(root: int) -> int:
    """The resident memory of a process and all its descendants."""
    parents: dict[int, int] = {}
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return 0
    for number in numbers:
        try:
            with open(f"/proc/{number}/stat", "rb") as stream:
                parents[number] = int(stream.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    family = {root}
    grown = True
    while grown:
        more = {number for number, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    pages = 0
    for number in family:
        try:
            with open(f"/proc/{number}/statm", "rb") as stream:
                pages += int(stream.read().split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


def main(arguments: list[str]) -> None:
    """Measure, and print the figures."""
    seconds, out, errors, *command = arguments
    print(json.dumps(measure(float(seconds), out, errors, command)))


if __name__ == "__main__":
    main(sys.argv[1:])
