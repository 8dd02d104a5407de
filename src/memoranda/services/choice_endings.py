"""How a question ends: on disk, in the journal, and in what follows from it, each once whatever is killed when.

Its file is written first, then a line of the journal, then what follows is
done, then that this is done (``Choice.applied``). :meth:`Endings.finish`
completes what was cut short in between.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext, suppress

from memoranda.core.choices import Choice, check_answer
from memoranda.core.errors import Conflict, NotFound
from memoranda.core.model import JournalEntry, Problem
from memoranda.core.records import replace
from memoranda.storage.clock import written_moment
from memoranda.storage.journal import new_change_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from memoranda.storage.choice_files import ChoiceFiles
    from memoranda.storage.store import Storage

__all__ = ["Endings"]

_LOGGED_AS = {"answered": "choose", "cancelled": "cancel", "expired": "expire"}


class Endings:
    """Ends the questions of one vault, and logs what is asked."""

    def __init__(
        self,
        storage: Storage,
        files: ChoiceFiles,
        apply: Callable[[Choice], object],
        mutex: AbstractContextManager[object] | None = None,
    ) -> None:
        self._storage, self._files, self._apply = storage, files, apply
        self._mutex = nullcontext() if mutex is None else mutex

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the vault's lock, and before it what a host's threads share. Raises VaultBusy, VaultReadOnly."""
        with self._mutex, self._storage.locked():
            yield

    def now(self) -> str:
        """The present moment, as it is written."""
        return written_moment(self._storage.clock.now())

    def read(self, id: str) -> Choice:
        """What a choice's file holds now. Raises NotFound, and Conflict where it is damaged."""
        found = self._files.read(id)
        if isinstance(found, Problem):
            raise Conflict(f"{found}; mend the file or remove it")
        return found

    def all(self) -> list[Choice]:
        """Every choice that can be read, the oldest first. Raises VaultUnreadable."""
        return [one for one in self._files.all() if isinstance(one, Choice)]

    def announce(self, written: Choice, *, logged: bool = False) -> Choice:
        """Log that a new question was asked, unless it is, and write down that this is done. Needs the lock."""
        if not logged:
            self.log("ask", written, agent=written.source_agent)
        asked = replace(written, asked=1)
        self._files.change(asked)
        return asked

    def end(self, ended: Choice) -> Choice:
        """Write down how a question ended, then log that it has. Needs the lock."""
        self._files.change(ended)
        self._log_end(ended)
        return ended

    def carry_out(self, ended: Choice) -> Choice:
        """Do what follows from its end, then write down that it is done. Needs the lock.

        Raises:
            MemorandaError: it could not be done; :meth:`finish` will try again.
        """
        if ended.status == "answered":
            self._apply(ended)
        with suppress(NotFound):  # what follows may have been that it is forgotten
            ended = replace(self.read(ended.id), applied=True)
            self._files.change(ended)
        return ended

    def settle(self) -> list[Choice]:
        """End the questions whose time is up, by their default where they have one; those.

        Raises:
            VaultFull, VaultReadOnly, VaultBusy: there are some, and they could not be ended.
        """
        now = self._storage.clock.now()
        ended: list[Choice] = []
        if any(choice.is_due(now) for choice in self.all()):
            with self.locked():
                due = [choice for choice in self.all() if choice.is_due(now)]
                ended += [self._tried(self.end(_time_up(choice, self.now()))) for choice in due]
        return ended

    def finish(self) -> list[Choice]:
        """Complete what a crash cut short, or a fault kept from being done; the ended ones that are complete now.

        Raises:
            VaultFull, VaultReadOnly, VaultBusy: there is some, and it could not be written down.
        """
        done: list[Choice] = []
        if any(_is_unannounced(choice) or _is_unapplied(choice) for choice in self.all()):
            with self.locked():
                for choice in filter(_is_unannounced, self.all()):
                    self.announce(choice, logged=self._is_logged("ask", choice))
                for choice in filter(_is_unapplied, self.all()):
                    if not self._is_logged(_LOGGED_AS[choice.status], choice):
                        self._log_end(choice)
                    done.append(self._tried(choice))
        return [choice for choice in done if choice.applied]

    def log(self, action: str, choice: Choice, **detail: Any) -> None:
        """Write a line about a choice into the journal, which never holds the question. Needs the lock."""
        said = {"choice": choice.id, **{key: value for key, value in detail.items() if value != ""}}
        entry = JournalEntry(new_change_id(), self.now(), action, actor=self._storage.actor, detail=said)
        self._storage.journal.append([entry])
        self._storage.settle()

    def _log_end(self, ended: Choice) -> None:
        detail: dict[str, Any] = {"by": ended.answered_by}
        if ended.status == "answered":
            detail = {"answer": list(ended.answer), "by": ended.answered_by, "channel": ended.channel}
        self.log(_LOGGED_AS[ended.status], ended, **detail)

    def _is_logged(self, action: str, choice: Choice) -> bool:
        """Whether the journal has the line; it stands after those that were there when the question was asked."""
        for entry in self._storage.journal.read_backwards():
            if entry.detail.get("choice") == choice.id:
                if entry.action == action:
                    return True
                if entry.action == "ask" and "asked" not in entry.detail:
                    return False
        return False

    def _tried(self, ended: Choice) -> Choice:
        """Carry it out; a fault leaves it as it is, to be tried again."""
        try:
            return self.carry_out(ended)
        except Exception:  # whatever it is, it is about this one, and the others are to go on
            return ended


def _time_up(choice: Choice, now: str) -> Choice:
    """How a question ends by itself."""
    status, text = "expired", ""
    answer: tuple[str, ...] = ()
    if choice.default:
        status = "answered"
        answer, text = check_answer(choice.type, choice.options, choice.multi, choice.default, "")
    return replace(
        choice, status=status, answer=answer, text=text, answered_by="timeout", channel="timeout", answered_at=now
    )


def _is_unannounced(choice: Choice) -> bool:
    return not choice.asked


def _is_unapplied(choice: Choice) -> bool:
    return not choice.is_open and not choice.applied
