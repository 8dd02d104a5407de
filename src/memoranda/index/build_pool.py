"""Processes that share the work of a build. Where none can be started, this one does it all."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress

from memoranda.index.build_tasks import perform
from memoranda.index.segment_format import SegmentDamaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Any

__all__ = ["Background", "BuildPool", "background_environment", "begin_in_background", "usable_cores"]

_MOST_WORKERS = 8


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def background_environment() -> dict[str, str]:
    """The environment in which another Python finds this package."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    home = os.path.dirname(package)
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": home if not known else f"{home}{os.pathsep}{known}"}


class Background(subprocess.Popen[bytes]):
    """A process that may outlive this one, which is no reason for a warning."""

    def __del__(self) -> None:
        self.poll()
        if self.returncode is None:
            self.returncode = 0
        super().__del__()


def begin_in_background(module: str, *arguments: str) -> Background | None:
    """Start a module of this package in a process of its own and leave it to itself; ``None``: that cannot be done."""
    if not sys.executable:
        return None
    try:
        return Background(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=background_environment(),
            start_new_session=True,
        )
    except OSError:
        return None


class BuildPool:
    """Up to ``workers`` processes; with fewer than two tasks or workers the work is done here."""

    def __init__(self, workers: int) -> None:
        #: How many processes it may have.
        self.workers = min(workers, _MOST_WORKERS)
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> BuildPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            if kind is not None:
                process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):  # it may be dead
                        stream.close()
        for process in self._processes:
            process.wait()
        self._processes.clear()

    def run(self, tasks: Sequence[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Do all tasks; which one is done and what came of it, as they are done.

        Raises:
            OSError, SegmentDamaged: of the first task that failed.
        """
        if self.workers < 2 or len(tasks) < 2 or not self._start():
            for at, task in enumerate(tasks):
                yield at, perform(task)
            return
        todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[int, dict[str, Any] | None]] = queue.SimpleQueue()
        for at in range(len(tasks)):
            todo.put(at)
        threads = [
            threading.Thread(target=_serve, args=(process, tasks, todo, done), daemon=True)
            for process in self._processes
        ]
        for thread in threads:
            thread.start()
        for _ in tasks:
            at, answer = done.get()
            if answer is None:  # its process died: killed, or out of memory
                answer = perform(tasks[at])
            if "error" in answer:
                raise SegmentDamaged(answer["error"])
            yield at, answer

    def _start(self) -> bool:
        command = [sys.executable, "-m", "memoranda.index.build_worker"]
        while sys.executable and len(self._processes) < self.workers:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    encoding="ascii",
                    env=background_environment(),
                )
            except OSError:
                break
            self._processes.append(process)
        return bool(self._processes)


def _serve(
    process: subprocess.Popen[str],
    tasks: Sequence[dict[str, Any]],
    todo: queue.SimpleQueue[int],
    done: queue.SimpleQueue[tuple[int, dict[str, Any] | None]],
) -> None:
    """Hand one process its tasks; one whose process is dead is handed back."""
    alive = True
    while True:
        try:
            at = todo.get_nowait()
        except queue.Empty:
            return
        answer = None
        if alive:
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(json.dumps(tasks[at]) + "\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
            except (OSError, ValueError):
                alive = False
        done.put((at, answer))
