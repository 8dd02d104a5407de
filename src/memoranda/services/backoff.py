"""Trying again what failed: soon at first, later each time."""

from __future__ import annotations

import time

__all__ = ["LATEST", "Backoff"]

#: Seconds after which what failed is tried again: the first time, and at most.
_SOON, LATEST = 1.0, 60.0


class Backoff:
    """Waits longer each time that something fails, and not at all once it has worked."""

    def __init__(self) -> None:
        self.fault = ""
        self._pause = 0.0
        self._until = 0.0

    def left(self) -> float:
        """Seconds until it may be tried again."""
        return max(0.0, self._until - time.monotonic())

    def failed(self, fault: str) -> None:
        """It failed, for a reason in words."""
        self.fault = fault
        self._pause = min(LATEST, self._pause * 2 or _SOON)
        self._until = time.monotonic() + self._pause

    def worked(self) -> None:
        """It worked."""
        self.fault, self._pause, self._until = "", 0.0, 0.0
