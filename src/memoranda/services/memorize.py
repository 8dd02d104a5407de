"""Memorizing one exchange: at most one question to the model, one change of the vault, and nothing twice.

The order is what makes it safe: the exchange is on disk before anybody is
asked; the reply is on disk, with the id of the change to come, before anything
is applied; the change is all or nothing; the turns are kept; then the exchange
leaves the queue. Whoever comes after a crash goes on at the first step that is
not done.
"""

from __future__ import annotations

import inspect
import json
import re
import threading
from contextlib import suppress

from memoranda.core.addresses import parse_address, parse_scope
from memoranda.core.errors import Conflict, MemorandaError, ServiceRefused, VaultError
from memoranda.core.records import asdict, dataclass, replace
from memoranda.services.extraction.application import ACTOR, Applied, apply
from memoranda.services.extraction.prompt import messages_for
from memoranda.services.extraction.reply import read_reply
from memoranda.services.redaction import redact
from memoranda.storage.journal import change_of, new_change_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from memoranda.core.addresses import Address
    from memoranda.core.exchanges import Exchange
    from memoranda.core.model import Item, Turn, Written
    from memoranda.core.operations import Operation
    from memoranda.core.ports import LanguageModel
    from memoranda.retrieval.result import Hit
    from memoranda.services.writer import Writer
    from memoranda.storage.inbox import Inbox, Work

__all__ = ["ACTOR", "Memorized", "Memorizer", "Surroundings", "answer_of", "in_words", "without_secrets"]

#: So many characters of an exchange are what is looked for in memory.
_LONGEST_QUESTION = 2000
_RELATED = 12
_ALIKE = 6
#: Characters of a reply that are read: of more, what is complete up to there.
_LONGEST_REPLY = 400_000
_MOST_FAULTS = 20
#: After so many processes that ended while they asked about it, an exchange is left to a person.
_MOST_DEATHS = 5
#: Seconds until the next attempt: doubled each time, up to the second.
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 600.0


@dataclass(frozen=True, slots=True)
class Memorized:
    """What became of one exchange.

    ``state``: ``done``; ``parked`` (a person should look at ``faults``);
    ``waiting`` (there was no reply: ``error`` says why, and it is asked again
    not before ``not_before``); ``gone`` (somebody else has it, or had it).
    ``asked`` tells whether the model was.
    """

    id: str
    state: Literal["done", "parked", "waiting", "gone"]
    asked: bool = False
    written: tuple[Written, ...] = ()
    faults: tuple[str, ...] = ()
    error: str = ""
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What memorizing needs of the vault that it writes to.

    ``related`` finds what is remembered about a text in some scopes, so many and
    by that mode, ``find``
    one item, ``categories`` names those of a scope, ``keep`` brings turns in
    as they were said (once and only once) and tells what hindered it,
    ``standing`` says whether an exchange is ``new``, was ``memorized`` word for
    word, or was ``forgotten``.
    """

    related: Callable[[str, Sequence[str], int, str], Sequence[Hit]]
    find: Callable[[Address], Item | None]
    categories: Callable[[str], Iterable[str]]
    keep: Callable[[Iterable[Turn]], Sequence[str]]
    standing: Callable[[Exchange], Literal["new", "memorized", "forgotten"]]
    now: Callable[[], float]


def answer_of(model: LanguageModel, messages: Sequence[Mapping[str, str]]) -> str:
    """The model's reply; one that is awaited is waited for here. Raises whatever the model does, and TypeError."""
    try:
        reply: Any = model.chat(messages)
        if inspect.isawaitable(reply):
            import asyncio

            async def wait() -> Any:
                return await reply

            reply = asyncio.run(wait())
    except BaseException as error:
        # What ends a task, or would end the program if it were this program's: here it is one call that failed.
        if isinstance(error, (SystemExit, GeneratorExit)) or type(error).__name__ == "CancelledError":
            raise RuntimeError(f"the model's call was ended ({type(error).__name__})") from error
        raise
    if not isinstance(reply, str):
        raise TypeError(f"the model's reply is {type(reply).__name__}, not text")
    return reply


class Memorizer:
    """Memorizes exchanges of one vault, one after the other."""

    def __init__(self, writer: Writer, inbox: Inbox, surroundings: Surroundings) -> None:
        self._writer = writer
        self._inbox = inbox
        self._around = surroundings
        #: Replies that could not be written down yet: they were asked for once, and are not thrown away.
        self._held: dict[str, Work] = {}
        self._asking: tuple[str, Work] | None = None
        self._abandoned = False
        self._lock = threading.Lock()

    def memorize(self, queued: str, model: LanguageModel, *, at_once: bool = False) -> Memorized:
        """Take one exchange as far as it will go. Whoever calls this alone works on its conversation meanwhile.

        ``at_once``: the pause after an attempt that failed is not kept.

        Raises:
            VaultError, Conflict, OSError: the vault could not be written; the exchange stays as it is.
        """
        with self._inbox.leased(queued) as exchange:
            if exchange is None:
                return Memorized(queued, "gone")
            if isinstance(exchange, ValueError):
                return self._park(queued, self._inbox.work(queued), (str(exchange),))
            try:
                return self._go_on(queued, exchange, model, at_once)
            except (VaultError, Conflict, OSError):
                raise
            except Exception as error:  # whatever it is, it is about this exchange, and the others are to go on
                return self._park(queued, self._inbox.work(queued), (in_words(error),), exchange)

    def give_up(self, queued: str, why: str) -> None:
        """Leave an exchange to a person. Raises VaultError."""
        with self._inbox.leased(queued) as exchange:
            if exchange is not None and not isinstance(exchange, ValueError):
                self._park(queued, self._inbox.work(queued), (why,), exchange)

    def abandon(self) -> None:
        """Whoever is asked just now is not waited for any more: this process ends, and that is nobody's fault."""
        with self._lock:
            self._abandoned = True
            asking, self._asking = self._asking, None
        if asking is not None:
            with suppress(MemorandaError, OSError):
                self._inbox.note(asking[0], replace(asking[1], asking=False))

    def _go_on(self, queued: str, exchange: Exchange, model: LanguageModel, at_once: bool) -> Memorized:
        work = self._held.get(queued) or self._inbox.work(queued)
        if work.reply is not None:
            # Somebody asked, and was ended before this was done: the change may be there.
            return self._finish(queued, exchange, work, asked=False, again=True)
        standing = self._around.standing(exchange)
        if standing == "forgotten" or (standing == "memorized" and not (work.again or exchange.again)):
            self._inbox.finish(queued)
            return Memorized(queued, "done")
        if work.asking and work.deaths + 1 >= _MOST_DEATHS:
            why = f"{_MOST_DEATHS} processes ended while they asked the model about it"
            return self._park(queued, replace(work, asking=False), (why,), exchange)
        if not at_once and work.not_before > (now := self._around.now()) and work.not_before - now <= _LONGEST_PAUSE:
            return Memorized(queued, "waiting", False, error=work.error, not_before=work.not_before)
        return self._ask(queued, exchange, work, model)

    def _ask(self, queued: str, exchange: Exchange, work: Work, model: LanguageModel) -> Memorized:
        messages = self._messages(exchange)
        work = replace(work, attempts=work.attempts + 1, deaths=work.deaths + work.asking, asking=True)
        self._inbox.note(queued, work)
        with self._lock:
            self._asking = (queued, work)
        try:
            reply = answer_of(model, messages)
        except ServiceRefused as error:
            return replace(self._park(queued, replace(work, asking=False), (in_words(error),), exchange), asked=True)
        except Exception as error:  # whatever a host's model raises: there is no reply yet
            pause = min(_FIRST_PAUSE * 2 ** min(work.attempts - 1, 20), _LONGEST_PAUSE)
            later = self._around.now() + pause
            work = replace(work, asking=False, error=in_words(error), not_before=later)
            self._note(queued, work)
            return Memorized(queued, "waiting", True, error=work.error, not_before=later)
        finally:
            with self._lock:
                self._asking = None
                abandoned = self._abandoned
        if abandoned:
            return Memorized(queued, "gone", True)
        reply, faults = without_secrets(reply[:_LONGEST_REPLY])
        work = replace(work, asking=False, error="", reply=reply, change=new_change_id(), faults=faults)
        return self._finish(queued, exchange, work, asked=True, again=False)

    def _note(self, queued: str, work: Work) -> None:
        """Write down how far it has come, unless it was forgotten meanwhile."""
        with self._writer.storage.locked():
            if self._inbox.is_queued(queued):
                self._inbox.note(queued, work)

    def _messages(self, exchange: Exchange) -> list[dict[str, str]]:
        text = "\n".join(turn.text for turn in exchange.turns)
        hits: Sequence[Hit] = ()
        with suppress(MemorandaError, OSError):  # what cannot be found is not shown
            hits = self._around.related(_question(text), exchange.scopes, _RELATED, "auto")
        prefix = parse_scope(exchange.scope).prefix
        categories = [name.removeprefix(prefix) for name in self._around.categories(exchange.scope)]
        return messages_for(exchange, categories, hits)

    def _finish(self, queued: str, exchange: Exchange, work: Work, *, asked: bool, again: bool) -> Memorized:
        """Write the reply down, apply it, keep the turns, and take the exchange out of the queue."""
        reading = read_reply(work.reply or "")
        storage = self._writer.storage
        self._held[queued] = work
        with storage.locked():
            if not self._inbox.is_queued(queued):
                del self._held[queued]
                return Memorized(queued, "done", asked)  # it was forgotten while the model thought
            if self._inbox.work(queued) != work:
                self._inbox.note(queued, work)
            del self._held[queued]
            # First the turns: the newest change, which a bare undo takes back, is what was made of them.
            lost = self._around.keep(exchange.turns)
            written: tuple[Written, ...] = ()
            if not (again and self._is_there(work.change)):
                if again and storage.history.find(work.change) is not None:
                    # A change that was given up keeps its id.
                    work = replace(work, change=new_change_id())
                    self._inbox.note(queued, work)
                work, written = self._apply(queued, exchange, reading.operations, work)
            self._inbox.note_memorized(exchange, work.change)
            faults = tuple(dict.fromkeys((*reading.faults, *work.faults, *lost)))
            if faults:
                return replace(self._park(queued, work, faults), asked=asked, written=written)
            self._inbox.finish(queued)
        return Memorized(queued, "done", asked, written)

    def _is_there(self, change: str) -> bool:
        return any(change_of(entry.id) == change for entry in self._writer.storage.journal.read_backwards())

    def _apply(
        self, queued: str, exchange: Exchange, operations: Iterable[Operation], work: Work
    ) -> tuple[Work, tuple[Written, ...]]:
        """Carry out what may be; what was wrong is noted in the work, durably, before the change."""
        noted = work

        def near(text: str) -> list[Item]:
            # By words alone: an embedder is not asked while everybody waits for the lock.
            hits = self._around.related(_question(text), [exchange.scope], _ALIKE, "keyword")
            found = (self._around.find(parse_address(hit.address)) for hit in hits)
            return [item for item in found if item is not None]

        def note_faults(applied: Applied) -> None:
            nonlocal noted
            if applied.faults:
                noted = replace(work, faults=(*work.faults, *(redact(fault)[0] for fault in applied.faults)))
                self._inbox.note(queued, noted)

        applied = apply(self._writer, exchange, operations, work.change, near, note_faults)
        return noted, applied.written

    def _park(self, queued: str, work: Work, faults: Sequence[str], exchange: Exchange | None = None) -> Memorized:
        """Leave it to a person; what was said is kept as it is in any case."""
        shown = [redact(" ".join(fault.split()))[0] for fault in faults]
        if len(shown) > _MOST_FAULTS:
            shown = [*shown[: _MOST_FAULTS - 1], f"{len(shown) - _MOST_FAULTS + 1} further faults"]
        with self._writer.storage.locked():
            if not self._inbox.is_queued(queued):
                return Memorized(queued, "done")
            if exchange is not None:
                with suppress(MemorandaError):
                    self._around.keep(exchange.turns)
            work = replace(work, faults=tuple(shown))
            self._inbox.park(queued, work)
        return Memorized(queued, "parked", faults=work.faults)


def without_secrets(reply: str) -> tuple[str, tuple[str, ...]]:
    """The reply as it may be written down. One with secrets is made anew, of its operations.

    What stands in a secret's place could end in the middle of the JSON around it;
    and JSON can spell a secret so that it does not look like one.
    """
    reading = read_reply(reply)
    rows = [{key: value for key, value in asdict(one).items() if value} for one in reading.operations]
    clean = [{key: _redacted(value) for key, value in row.items()} for row in rows]
    spelled = _ESCAPE.sub(_spelled_out, reply) if "\\" in reply else reply
    if clean == rows and not redact(reply)[1] and not redact(spelled)[1]:
        return reply, ()
    number = len(reading.faults)
    faults = (f"{number} faults, which are not shown: the reply holds a secret",) if number else ()
    return json.dumps({"operations": clean}, ensure_ascii=False), faults


_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([\"/\\ntr]))")


def _spelled_out(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return {"n": "\n", "t": "\t", "r": "\n"}.get(found[2], found[2])


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0]
    return [_redacted(one) for one in value] if isinstance(value, (list, tuple)) else value


def _question(text: str) -> str:
    if len(text) <= _LONGEST_QUESTION:
        return text
    half = _LONGEST_QUESTION // 2
    return f"{text[:half]} {text[-half:]}"


def in_words(error: BaseException) -> str:
    """One line on what went wrong, without a secret that it may hold."""
    line = redact(" ".join(str(error).split()))[0][:300]
    return line if isinstance(error, MemorandaError) else f"{type(error).__name__}: {line}".rstrip(": ")
