"""Work on many files at once: a disk is asked for many syncs together in a fraction of the time of one by one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    Given = TypeVar("Given")

__all__ = ["in_threads"]

_THREADS = 8


def in_threads(work: Callable[[Given], object], given: Sequence[Given]) -> None:
    """Do work on files at once that mostly waits for the disk; all is done or has failed when this returns.

    Raises what the first that failed raised.
    """
    if len(given) < 2:
        for one in given:
            work(one)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(given), _THREADS), "files") as threads:
        begun = [threads.submit(work, one) for one in given]
    for one_begun in begun:
        one_begun.result()
