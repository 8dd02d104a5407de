"""Calls that are given up on in time, whatever they are at: a name that is looked up, bytes that trickle, a model."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["OutOfTime", "TimeLimit"]


class OutOfTime(Exception):
    """The call was not done in its time."""


class TimeLimit:
    """Runs calls in threads of their own; one that is given up on runs to its end unseen.

    ``most`` bounds the threads: where so many were given up on and still hang,
    further calls wait for one of them, and are out of time without being made.
    None of them holds up the end of the program.
    """

    def __init__(self, most: int = 16) -> None:
        from threading import BoundedSemaphore

        self._free = BoundedSemaphore(most)

    def call(self, seconds: float, work: Callable[[], T]) -> T:
        """What ``work`` returns or raises. Raises OutOfTime: not within ``seconds``."""
        from threading import Event, Thread
        from time import monotonic

        until = monotonic() + seconds
        if not self._free.acquire(timeout=max(0.0, seconds)):
            raise OutOfTime
        done = Event()
        got: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                got.append(work())
            except BaseException as error:
                failed.append(error)
            finally:
                self._free.release()
                done.set()

        try:
            Thread(target=run, name="memoranda-limited", daemon=True).start()
        except RuntimeError:  # the machine gives no more threads
            self._free.release()
            raise OutOfTime from None
        if not done.wait(max(0.0, until - monotonic())):
            raise OutOfTime
        if failed:
            raise failed[0]
        return got[0]
