"""A disk that fails, and a machine that stops, at any one of the calls that change something on it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memoranda.storage import install

__all__ = ["NEEDS_ROOM", "STOPPED", "FaultyDisk", "full", "stops_at"]

#: What a process that was stopped exits with.
STOPPED = 77
#: The calls that a full disk refuses; the others make room or only rename.
NEEDS_ROOM = frozenset({"write", "fsync", "mkdir", "link", "open"})

_CALLS = ("write", "fsync", "replace", "rename", "link", "unlink", "ftruncate", "mkdir", "open")


class FaultyDisk:
    """Counts every call that changes something, and lets ``fault`` do something before each.

    ``fault`` is given the number of the call (from 1) and its name. It may
    return a number of bytes: then only so many of a write reach the disk before
    the process stops. Syncs are counted and not carried out, unless ``sync``.
    """

    def __init__(self, fault: Callable[[int, str], int | None] = lambda number, call: None, *, sync: bool = False):
        self.calls: list[str] = []
        self.fault = fault
        self._sync = sync
        self._paused = False

    @contextmanager
    def mounted(self) -> Iterator[FaultyDisk]:
        """While it is mounted, everything this process does goes through it."""
        real = {name: getattr(os, name) for name in _CALLS}
        exchange = install.exchange
        for name in _CALLS:
            setattr(os, name, self._wrapped(name, real[name]))
        setattr(install, "exchange", self._wrapped("exchange", exchange))  # noqa: B010 - a module's name for a function
        try:
            yield self
        finally:
            for name in _CALLS:
                setattr(os, name, real[name])
            setattr(install, "exchange", exchange)  # noqa: B010

    @contextmanager
    def unmounted(self) -> Iterator[None]:
        """For a while, calls go to the real disk: they are somebody else's."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            if self._paused or (name == "open" and not arguments[1] & os.O_CREAT):
                return call(*arguments, **named)
            self.calls.append(name)
            part = self.fault(len(self.calls), name)
            if part is not None and name == "write":
                call(arguments[0], bytes(arguments[1])[:part])
                os._exit(STOPPED)
            if name == "fsync" and not self._sync:
                return None
            return call(*arguments, **named)

        return wrapped


def full(number: int, call: str) -> None:
    """A fault: no room for anything."""
    if call in NEEDS_ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stops_at(step: int, work: Callable[[], object], *, torn: bool = False) -> bool:
    """Do ``work`` in a child process that stops before its ``step``-th call; whether it came so far.

    Nothing is cleaned up in the child, as after ``kill -9``. With ``torn`` half
    of what that call writes reaches the disk (calls that write nothing pass).
    """

    def fault(number: int, call: str) -> int | None:
        if number == step:
            if not torn:
                os._exit(STOPPED)
            if call == "write":
                return 1 + step % 40
        return None

    child = os.fork()
    if child == 0:
        try:
            with FaultyDisk(fault).mounted():
                work()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, STOPPED), "the work itself failed"
    return code == STOPPED
