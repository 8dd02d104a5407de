"""Draining the queue: one exchange after the other, in the order in which they were said; resting without an answer."""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import suppress

from memoranda.core.errors import MemorandaError
from memoranda.core.records import dataclass
from memoranda.storage.inbox import conversation_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.core.ports import LanguageModel
    from memoranda.services.memorize import Memorized, Memorizer
    from memoranda.storage.inbox import Inbox

__all__ = ["Tally", "Worker"]

_log = logging.getLogger("memoranda.worker")

#: Seconds without anything to do until the queue is looked at again: others put into it too.
_LOOK = 2.0
#: Seconds to rest after a question without a reply; doubled while that goes on.
_FIRST_REST, _LONGEST_REST = 0.5, 60.0
#: An exchange that fails so often, while others are answered, does not hold up its conversation any more.
_HELD_UP = 3
_REFUSED = 12


@dataclass(slots=True)
class Tally:
    """What a worker has done: exchanges by what became of them, questions to the model, and items written."""

    done: int = 0
    parked: int = 0
    failed: int = 0
    asked: int = 0
    written: int = 0


class Worker:
    """Drains a queue with a model until it is told to stop. One for each thread."""

    def __init__(
        self,
        inbox: Inbox,
        memorizer: Memorizer,
        model: LanguageModel,
        told: Callable[[Memorized], None] | None = None,
    ) -> None:
        self.tally = Tally()
        self._inbox = inbox
        self._memorizer = memorizer
        self._model = model
        self._told = told
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._rest = 0.0
        self._at_once = False
        self._answered = 0.0
        #: When what still waits was last refused an answer, and how often while another one got one.
        self._failures: dict[str, tuple[float, int]] = {}

    def wake(self) -> None:
        """There is something to do."""
        self._wake.set()

    def stop(self) -> None:
        """Stop after the exchange at hand."""
        self._stopping.set()
        self._wake.set()

    def run(self) -> None:
        """Work until :meth:`stop`. Never raises: what hinders is told by status, and tried again."""
        self._inbox_swept()
        while not self._stopping.is_set():
            self._wake.clear()
            busy, faults = False, list[Exception]()
            try:
                busy = self._pass(set(), faults)
            except (MemorandaError, OSError) as error:
                faults.append(error)
            if faults:
                # A full disk, a vault that was moved: nothing is lost, and it may be over soon.
                _log.warning("memorizing waits: %s", faults[0])
                self._rest = self._rest if busy else self._longer_rest()
            if self._rest:
                self._stopping.wait(self._rest * random.uniform(0.8, 1.2))
            elif not busy:
                self._wake.wait(_LOOK)

    def drain(self, *, at_once: bool = False) -> None:
        """Work off what can be done now, each exchange tried once; ``at_once`` also those whose pause is not over.

        Raises:
            VaultError, Conflict, OSError: the vault could not be read, or not written for one of them.
        """
        self._inbox_swept()
        self._at_once = at_once
        tried: set[str] = set()
        held_up: set[str] = set()
        faults: list[Exception] = []
        while not self._stopping.is_set() and self._pass(held_up, faults, tried):
            pass
        if faults:
            raise faults[0]

    def abandon(self) -> None:
        """Leave the exchange at hand as it is: this process ends before the model has answered."""
        self.stop()
        self._memorizer.abandon()

    def _inbox_swept(self) -> None:
        with suppress(MemorandaError, OSError):
            self._inbox.sweep()

    def _pass(self, held_up: set[str], faults: list[Exception], tried: set[str] | None = None) -> bool:
        """Go once through what is queued; whether anything was done that leaves the queue shorter.

        Conversations that wait for an exchange of theirs are put into ``held_up``, and
        those in it are passed over; so are those whose exchange could not be written,
        and why is put into ``faults``. With ``tried`` none is tried that is in it.
        """
        moved = False
        failed: list[str] = []
        waiting = [queued for queued in self._inbox.ids() if tried is None or queued not in tried]
        for queued in waiting:
            if conversation_key(queued) in held_up:
                continue
            if queued in self._failures:
                # Those that were never tried come first: this one may fail for ever.
                failed.append(queued)
                if self._holds_up(queued):
                    held_up.add(conversation_key(queued))
                continue
            moved |= (done := self._work_on(queued, held_up, tried, faults)) is True
            if done is None:
                return moved
        for queued in failed:
            moved |= (done := self._work_on(queued, held_up, tried, faults)) is True
            if done is None:
                return moved
        return moved

    def _work_on(self, queued: str, held_up: set[str], tried: set[str] | None, faults: list[Exception]) -> bool | None:
        """Memorize one; whether it left the queue. ``None``: stop or rest now."""
        if self._stopping.is_set():
            return None
        try:
            found = self._memorizer.memorize(queued, self._model, at_once=self._at_once)
        except (MemorandaError, OSError) as error:
            # It may be about this one alone: the others are not to wait for it.
            held_up.add(conversation_key(queued))
            faults.append(error)
            if tried is not None:
                tried.add(queued)
            return False
        if found.state == "gone":
            # Somebody else has it, or another one of its conversation: what follows waits for that.
            held_up.add(conversation_key(queued))
            return False
        if tried is not None:
            tried.add(queued)
        self._count(found)
        if found.state != "waiting":
            self._failures.pop(queued, None)
            return True
        if found.asked:
            last, alone = self._failures.get(queued, (0.0, 0))
            # Refused an answer while another one got one: it is about this one.
            alone += last > 0.0 and self._answered > last
            self._failures[queued] = (time.monotonic(), alone)
            if alone >= _REFUSED:
                self._memorizer.give_up(queued, f"no reply in {alone} attempts while others had one: {found.error}")
                del self._failures[queued]
                return True
        if queued not in self._failures or self._holds_up(queued):
            held_up.add(conversation_key(queued))
        if found.asked and tried is None:
            self._rest = self._longer_rest()
            return None
        return False

    def _holds_up(self, queued: str) -> bool:
        """Whether the rest of its conversation waits for it: not where it alone is refused an answer, over and over."""
        return self._failures[queued][1] < _HELD_UP

    def _count(self, found: Memorized) -> None:
        tally = self.tally
        tally.asked += found.asked
        tally.written += sum(1 for one in found.written if one.journal_id)
        if found.state == "done":
            tally.done += 1
        elif found.state == "parked":
            tally.parked += 1
        elif found.asked:
            tally.failed += 1
        if found.asked and found.state != "waiting":
            self._rest, self._answered = 0.0, time.monotonic()
        if self._told is not None and (found.asked or found.state != "waiting"):
            self._told(found)

    def _longer_rest(self) -> float:
        return min(max(self._rest * 2, _FIRST_REST), _LONGEST_REST)
