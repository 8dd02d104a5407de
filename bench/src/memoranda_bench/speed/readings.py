"""What the operating system says of this machine and its processes. What it does not say is ``None``."""

from __future__ import annotations

import os
import shutil
import sys
import time

__all__ = [
    "directory_bytes",
    "free_bytes",
    "free_memory",
    "peak_memory",
    "peak_memory_of_children",
    "processes_with",
    "resident_memory",
    "spin",
]

_SPIN_STEPS = 200_000


def peak_memory() -> int | None:
    """The most memory that this process ever had resident, in bytes."""
    found = _status("VmHWM")
    return _largest("RUSAGE_SELF") if found is None else found


def peak_memory_of_children() -> int | None:
    """The most memory that any process had which this one started and which has ended, in bytes; 0: none did."""
    return _largest("RUSAGE_CHILDREN")


def _largest(whose: str) -> int | None:
    try:
        import resource
    except ImportError:
        return None
    # Kilobytes, but for macOS.
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(getattr(resource, whose)).ru_maxrss * scale


def resident_memory() -> int | None:
    """The memory that this process has resident now, in bytes."""
    return _status("VmRSS")


def _status(name: str) -> int | None:
    return _kilobytes("/proc/self/status", name)


def free_memory() -> int | None:
    """The memory that new processes can have without swapping, in bytes."""
    return _kilobytes("/proc/meminfo", "MemAvailable")


def _kilobytes(path: str, name: str) -> int | None:
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            for line in stream:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def free_bytes(folder: str) -> int:
    """The room on the disk that holds ``folder``."""
    return shutil.disk_usage(folder).free


def directory_bytes(folder: str) -> int:
    """The sizes of all files below a folder, added up; 0 if it is not there."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def processes_with(argument: str) -> list[int]:
    """The processes that were started with an argument that contains this one; none where that cannot be told."""
    found = []
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for number in numbers:
        try:
            with open(f"/proc/{number}/cmdline", "rb") as stream:
                if os.fsencode(argument) in stream.read():
                    found.append(number)
        except OSError:
            continue
    return found


def spin() -> float:
    """Seconds that a fixed piece of work takes: how far two measurements can be compared."""
    begin = time.perf_counter()
    total = 0
    for number in range(_SPIN_STEPS):
        total += number & 7
    return time.perf_counter() - begin
