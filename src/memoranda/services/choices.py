"""The box of questions that wait for the person who owns the vault: asked, merged, answered once, told of."""

from __future__ import annotations

import json
import time
from contextlib import suppress

from memoranda.core.choices import CHANNELS, Choice, check_answer, check_question, same_question
from memoranda.core.errors import AlreadyAnswered, MemorandaError, NotFound, UsageError, VaultError
from memoranda.core.model import Problem
from memoranda.core.records import replace
from memoranda.services.choice_endings import Endings
from memoranda.services.redaction import redact
from memoranda.storage.choice_files import ChoiceFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from memoranda.storage.files import Stamp
    from memoranda.storage.store import Storage

__all__ = ["ChoiceBox"]

#: Seconds between two looks of who waits: the first, and the longest.
_PAUSE, _LONGEST_PAUSE = 0.02, 0.25
#: Where a beginning of an id is not enough, so many that it could be are named.
_NAMED = 5


class ChoiceBox:
    """The choices of one vault. Any number of processes may ask and answer at once."""

    def __init__(
        self,
        storage: Storage,
        apply: Callable[[Choice], object],
        *,
        check: Callable[[Choice], object] = lambda choice: None,
        mutex: AbstractContextManager[object] | None = None,
    ) -> None:
        """``apply`` does what an answer leads to; it is called once, under the vault's lock.

        Where it raises, or the process ends, it is called again: it must be able to
        see what it has done already. ``check`` raises where an answer could not be
        carried out: then it is none, and the question stays open. ``mutex`` is what a host's threads take before
        that lock.
        """
        self._storage = storage
        self._files = ChoiceFiles(storage.vault)
        self._check = check
        self._endings = Endings(storage, self._files, apply, mutex)

    def ask(
        self,
        question: str,
        options: Sequence[str] = (),
        *,
        type: str = "choice",
        context: str = "",
        multi: bool = False,
        default: Sequence[str] = (),
        timeout: float | None = None,
        agent: str = "",
        subject: str = "",
        effect: Mapping[str, Any] | None = None,
        on_answer: Callable[[Choice], object] | None = None,
    ) -> Choice:
        """Ask a person; durable when this returns. Secrets are taken out of every text.

        Where the same question, or nearly the same, is open already, that one is
        returned: it now says that it was asked once more, by whom and in which
        context. After ``timeout`` seconds the default is the answer; without a
        default the question lapses. ``on_answer`` is called once, by a thread of
        its own, with the choice as it ended.

        Raises:
            UsageError: it could not be answered, or the effect is no JSON object.
            VaultFull, VaultReadOnly, VaultBusy: nobody was asked.
        """
        wanted = options if isinstance(options, str) else _redacted(list(options))
        usual = default if isinstance(default, str) else _redacted(list(default))
        wanted, usual = check_question(type, question, wanted, multi, usual, timeout)
        agent = redact(agent.strip())[0]
        made = Choice(
            id="",
            type=type,
            source_agent=agent,
            context=redact(context.strip())[0],
            question=redact(question.strip())[0],
            options=wanted,
            multi=multi,
            default=usual,
            timeout_seconds=timeout,
            created_at=self._endings.now(),
            subject=redact(subject.strip())[0],
            effect=_effect(effect or {}),
            asked=0,
            askers=(agent,) if agent else (),
        )
        with self._endings.locked():
            self._tend()
            present = self._same(made)
            if present is None:
                choice = self._endings.announce(self._files.put(made, self._storage.clock.now()))
            else:
                choice = self._ask_again(present, made)
        if on_answer is not None:
            self._watch(choice.id, on_answer)
        return choice

    def _ask_again(self, present: Choice, made: Choice) -> Choice:
        context = present.context
        if made.context not in context:
            context = f"{context}\n\n{made.context}" if context else made.context
        askers = tuple(dict.fromkeys((*present.askers, *made.askers)))
        choice = replace(present, context=context, askers=askers, asked=present.asked + 1)
        self._files.change(choice)
        self._endings.log("ask", choice, agent=made.source_agent, asked=choice.asked)
        return choice

    def _same(self, made: Choice) -> Choice | None:
        """The open question that this one repeats. Needs the lock."""
        from memoranda.core.analysis import analyze

        terms = analyze(made.question)
        for choice in self.all():
            if choice.is_open and same_question(choice, made, analyze(choice.question), terms):
                return choice
        return None

    def get(self, id: str) -> Choice:
        """One choice by its id, or by as much of its beginning as no other has.

        Raises:
            NotFound: there is none.
            UsageError: several begin so.
            Conflict: its file is damaged.
        """
        return self._endings.read(self._resolved(id))

    def open(self) -> list[Choice]:
        """The questions that wait for an answer, the oldest first. Raises VaultUnreadable."""
        self._tend()
        now = self._storage.clock.now()
        return [choice for choice in self.all() if choice.is_open and not choice.is_due(now)]

    def all(self) -> list[Choice]:
        """Every choice that can be read, the oldest first. Raises VaultUnreadable."""
        return self._endings.all()

    def problems(self) -> list[Problem]:
        """What is wrong with the files of those that cannot be read. Raises VaultUnreadable."""
        return [one for one in self._files.all() if isinstance(one, Problem)]

    def wait(self, id: str, timeout: float | None = None) -> Choice:
        """Wait for the end of a question; what it is then, or after ``timeout`` seconds still.

        Raises:
            NotFound: there is none; or it was removed, since what it was about was forgotten.
            UsageError, Conflict: as :meth:`get`.
        """
        resolved = self._resolved(id)
        self._tend()
        until = None if timeout is None else time.monotonic() + timeout
        pause, known = _PAUSE, self._files.stamp(resolved)
        choice = self._endings.read(resolved)
        while choice.is_open:
            left = _LONGEST_PAUSE if until is None else until - time.monotonic()
            if left <= 0:
                return choice
            time.sleep(min(pause, left))
            pause = min(pause * 1.2, _LONGEST_PAUSE)
            if choice.is_due(self._storage.clock.now()):
                self._tend()
            stamp: Stamp | None = self._files.stamp(resolved)
            if stamp is None or stamp != known:
                choice, known = self._endings.read(resolved), stamp
        if not choice.applied:
            # Who answered is still at it, or was ended before it was done.
            self._tend()
            choice = self._endings.read(resolved)
        return choice

    def answer(self, id: str, options: Sequence[str], *, by: str, channel: str, text: str = "") -> Choice:
        """Answer a question, once and for all; what follows from it is done when this returns.

        ``text`` is that of an edit, or a remark.

        Raises:
            AlreadyAnswered: it is open no more; nothing was changed.
            UsageError: this answers nothing, or who asked would answer.
            Conflict, NotFound, UsageError: what follows from it cannot be done; the question stays open.
            NotFound, Conflict: as :meth:`get`.
            VaultFull, VaultReadOnly, VaultBusy.
            MemorandaError: the answer stands, but what follows from it could not be done and is tried again later.
        """
        if channel not in CHANNELS[:-1]:
            raise UsageError(f"an answer comes by {', '.join(CHANNELS[:-1])}, not by {channel!r}")
        if not by.strip():
            raise UsageError("an answer says who gives it")
        with self._endings.locked():
            choice = self._still_open(id)
            if choice.is_proposed_by(by):
                raise UsageError(
                    f"{by} asked this and cannot answer it: a person has to, by `memoranda choices answer`"
                )
            answer, said = check_answer(choice.type, choice.options, choice.multi, options, text)
            ended = replace(
                choice,
                status="answered",
                answer=answer,
                text=redact(said)[0],
                answered_by=by.strip(),
                channel=channel,
                answered_at=self._endings.now(),
            )
            self._check(ended)
            return self._endings.carry_out(self._endings.end(ended))

    def cancel(self, id: str, *, by: str, reason: str = "") -> Choice:
        """Take a question back; nothing follows from it.

        Raises:
            AlreadyAnswered: it is open no more; nothing was changed.
            NotFound, UsageError, Conflict: as :meth:`get`.
            VaultFull, VaultReadOnly, VaultBusy.
        """
        with self._endings.locked():
            choice, now = self._still_open(id), self._endings.now()
            said = redact(reason.strip())[0]
            ended = replace(choice, status="cancelled", text=said, answered_by=by.strip(), answered_at=now)
            return self._endings.carry_out(self._endings.end(ended))

    def settle(self) -> list[Choice]:
        """End the questions whose time is up; see :meth:`.Endings.settle`."""
        return self._endings.settle()

    def finish(self) -> list[Choice]:
        """Complete what a crash cut short; see :meth:`.Endings.finish`."""
        return self._endings.finish()

    def due_reminders(self) -> list[Choice]:
        """The open questions that a person is to be reminded of, which counts from now on as done.

        After a day without an answer, then after two more, then after four, and so on.

        Raises:
            VaultFull, VaultReadOnly, VaultBusy: there are some, and it could not be noted.
        """
        now = self._storage.clock.now()
        reminded: list[Choice] = []
        if any(choice.reminder_due(now) for choice in self.open()):
            with self._endings.locked():
                for choice in self.open():
                    if choice.reminder_due(now):
                        shown = replace(choice, reminded_at=self._endings.now(), reminders=choice.reminders + 1)
                        self._files.change(shown)
                        reminded.append(shown)
        return reminded

    def _tend(self) -> None:
        """Complete and settle what is to be; where the vault cannot be written, who only reads is not held up."""
        with suppress(VaultError):
            self.finish()
            self.settle()

    def _still_open(self, id: str) -> Choice:
        """The open choice of this id. Needs the lock. Raises AlreadyAnswered."""
        self._tend()
        choice = self.get(id)
        if not choice.is_open:
            raise AlreadyAnswered(f"{choice.id} is no longer open: {choice.outcome}")
        return choice

    def _resolved(self, id: str) -> str:
        ids, wanted = self._files.ids(), id.strip().casefold()
        for whole in (id, wanted):
            if whole in ids:
                return whole
        found = [one for one in ids if wanted and one.startswith(wanted)]
        if not found:
            raise NotFound(f"there is no choice {id!r}")
        if len(found) > 1:
            more = " or another" if len(found) > _NAMED else ""
            raise UsageError(f"{id} could be {' or '.join(found[:_NAMED])}{more}; write more of it")
        return found[0]

    def _watch(self, id: str, on_answer: Callable[[Choice], object]) -> None:
        import threading

        def watch() -> None:
            try:
                ended = self.wait(id)
            except MemorandaError:
                return  # removed, or damaged by hand: it has no end that could be told
            on_answer(ended)

        threading.Thread(target=watch, name=f"memoranda-choice-{id}", daemon=True).start()


def _redacted(value: Any) -> Any:
    """The same without secrets, however deep they are."""
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, dict):
        return {key: _redacted(one) for key, one in value.items()}
    return [_redacted(one) for one in value] if isinstance(value, list) else value


def _effect(effect: Mapping[str, Any]) -> dict[str, Any]:
    """The effect as its file will hold it. Raises UsageError."""
    try:
        kept = json.loads(json.dumps(dict(effect), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"an effect is a JSON object ({error})") from None
    return {key: _redacted(value) for key, value in kept.items()}
