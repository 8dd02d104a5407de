"""Draining the queue: one exchange after the other, in the order in which they were said; resting without an answer."""

from __future__ import annotations

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
        self._answered = 0.0
        #: When what still waits was first refused an answer.
        self._failures: dict[str, float] = {}

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
            try:
                busy = self._pass(set())
            except (MemorandaError, OSError):
                # A full disk, a vault that was moved: nothing is lost, and it may be over soon.
                busy, self._rest = False, self._longer_rest()
            if self._rest:
                self._stopping.wait(self._rest * random.uniform(0.8, 1.2))
            elif not busy:
                self._wake.wait(_LOOK)

    def drain(self) -> None:
        """Work off what can be done now, each exchange tried once.

        Raises:
            VaultError, Conflict: the vault could not be read or written.
        """
        self._inbox_swept()
        tried: set[str] = set()
        held_up: set[str] = set()
        while not self._stopping.is_set() and self._pass(held_up, tried):
            pass

    def _inbox_swept(self) -> None:
        with suppress(MemorandaError, OSError):
            self._inbox.sweep()

    def _pass(self, held_up: set[str], tried: set[str] | None = None) -> bool:
        """Go once through what is queued; whether anything was done that leaves the queue shorter.

        Conversations that wait for an exchange of theirs are put into ``held_up``, and
        those in it are passed over. With ``tried`` none is tried that is in it.
        """
        moved = False
        failed: list[str] = []
        for queued in self._inbox.ids():
            conversation = conversation_key(queued)
            if conversation in held_up or (tried is not None and queued in tried):
                continue
            if queued in self._failures:
                # Those that were never tried come first: this one may fail for ever.
                failed.append(queued)
                if self._holds_up(queued):
                    held_up.add(conversation)
                continue
            moved |= (done := self._work_on(queued, held_up, tried)) is True
            if done is None:
                return moved
        for queued in failed:
            moved |= (done := self._work_on(queued, held_up, tried)) is True
            if done is None:
                break
        return moved

    def _work_on(self, queued: str, held_up: set[str], tried: set[str] | None) -> bool | None:
        """Memorize one; whether it left the queue. ``None``: stop or rest now."""
        if self._stopping.is_set():
            return None
        found = self._memorizer.memorize(queued, self._model)
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
        self._failures.setdefault(queued, time.monotonic())
        if self._holds_up(queued):
            held_up.add(conversation_key(queued))
        elif self._inbox.work(queued).attempts >= _REFUSED:
            work = self._inbox.work(queued)
            self._memorizer.give_up(queued, f"no reply in {work.attempts} attempts: {work.error}")
            self._failures.pop(queued)
            return True
        if found.asked and tried is None:
            self._rest = self._longer_rest()
            return None
        return False

    def _holds_up(self, queued: str) -> bool:
        """Whether the rest of its conversation waits for it: not where it alone is refused an answer, over and over."""
        alone = self._answered > self._failures[queued]
        return not alone or self._inbox.work(queued).attempts < _HELD_UP

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
