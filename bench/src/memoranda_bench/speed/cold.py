"""A recall from the command line in a process of its own, beside an interpreter that does nothing.

Run as ``python -m memoranda_bench.speed.cold VAULT ROUNDS SECONDS`` with the
questions as a JSON list on standard input. It imports next to nothing: Linux
counts the memory of whoever started a process as the new one's own peak.
"""

from __future__ import annotations

import json
import os
import sys
import time

__all__ = ["main", "measure", "run_once"]

_FEWEST = 3
#: As an installation leaves the package: compiled. A checkout is not, where the environment forbids writing bytecode.
_COMPILE = "import compileall, os, memoranda; compileall.compile_dir(os.path.dirname(memoranda.__file__), quiet=2)"


def run_once(arguments: list[str]) -> tuple[float, float | None, int | None, int]:
    """Run a process without input and output.

    Returns:
        Seconds from start to end, seconds of processor time, peak memory in
        bytes, exit code; ``None`` where the system does not say.
    """
    if hasattr(os, "posix_spawn"):
        silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        begin = time.perf_counter()
        process = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=silent)
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - begin
        # Kilobytes, but for macOS.
        scale = 1 if sys.platform == "darwin" else 1024
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale, os.waitstatus_to_exitcode(status)
    import subprocess

    begin = time.perf_counter()
    code = subprocess.run(arguments, check=False, stdin=subprocess.DEVNULL, capture_output=True).returncode
    return time.perf_counter() - begin, None, None, code


def measure(vault: str, questions: list[str], rounds: int, seconds: float) -> dict[str, object]:
    """Recall and bare interpreter in turns, ``rounds`` times or (three times at least) for ``seconds``.

    Raises:
        RuntimeError: a recall failed.
    """
    bare = [sys.executable, "-c", "pass"]
    run_once([sys.executable, "-c", _COMPILE])
    recalls: list[tuple[float, float | None, int | None, int]] = []
    bares: list[tuple[float, float | None, int | None, int]] = []
    begin = time.perf_counter()
    for number in range(rounds + 1):
        question = questions[number % len(questions)]
        recalls.append(run_once([sys.executable, "-m", "memoranda", "-C", vault, "recall", "--", question]))
        if recalls[-1][3] not in (0, 1):  # 1: nothing found
            raise RuntimeError(f"memoranda recall ended with {recalls[-1][3]}")
        bares.append(run_once(bare))
        if number >= _FEWEST and time.perf_counter() - begin > seconds:
            break
    del recalls[0], bares[0]  # the first ones warm the disk's cache
    return {
        "rounds": len(recalls),
        "recall_ms": _median([one[0] * 1000 for one in recalls]),
        "bare_ms": _median([one[0] * 1000 for one in bares]),
        "difference_ms": _median([(one[0] - other[0]) * 1000 for one, other in zip(recalls, bares, strict=True)]),
        "difference_cpu_ms": _median(
            [(one[1] - other[1]) * 1000 for one, other in zip(recalls, bares, strict=True) if one[1] and other[1]]
        ),
        "peak": max((one[2] for one in recalls if one[2]), default=None),
        "bare_peak": max((one[2] for one in bares if one[2]), default=None),
    }


def _median(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


def main(arguments: list[str]) -> None:
    """Measure, and print the figures as one line of JSON."""
    vault, rounds, seconds = arguments
    print(json.dumps(measure(vault, json.load(sys.stdin), int(rounds), float(seconds))))


if __name__ == "__main__":
    main(sys.argv[1:])
