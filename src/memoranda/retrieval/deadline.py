"""How much time is left of what the caller would wait."""

from __future__ import annotations

import time

__all__ = ["Deadline"]

#: A day: what is longer is no limit, and numbers beyond the clock's are none either.
_LONGEST = 86_400.0


class Deadline:
    """A moment after which no further work is begun; without seconds, it never comes.

    ``missed`` says whether any work was in fact left out.
    """

    __slots__ = ("_end", "missed")

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.perf_counter() + min(seconds, _LONGEST)
        self.missed = False

    def left(self) -> float | None:
        """Seconds left, 0 or more; ``None`` without limit."""
        return None if self._end is None else max(0.0, self._end - time.perf_counter())

    def passed(self) -> bool:
        """Whether the moment has come; the caller then leaves work out."""
        if self._end is not None and time.perf_counter() >= self._end:
            self.missed = True
            return True
        return False

    def at_least(self, seconds: float) -> Deadline:
        """The same deadline, or one ``seconds`` from now if that is later."""
        left = self.left()
        return Deadline(None if left is None else max(left, seconds))
