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
from contextlib import suppress

from memoranda.core.addresses import parse_address, parse_scope
from memoranda.core.errors import Conflict, MemorandaError, NotFound, ServiceRefused, UsageError, VaultError
from memoranda.core.exchanges import MERGED_FROM
from memoranda.core.names import name_key
from memoranda.core.records import asdict, dataclass, replace
from memoranda.services.extraction.prompt import messages_for
from memoranda.services.extraction.reply import read_reply
from memoranda.services.extraction.validation import Accepted, Refused, Validation
from memoranda.services.redaction import redact
from memoranda.services.remember import remember, revise
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
    from memoranda.storage.transaction import Transaction

__all__ = ["ACTOR", "Memorized", "Memorizer", "Surroundings", "answer_of"]

#: Who the journal says has written.
ACTOR = "memorize"
#: So many characters of an exchange are what is looked for in memory.
_LONGEST_QUESTION = 2000
_RELATED = 12
_ALIKE = 6
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

    ``related`` finds what is remembered about a text in some scopes, ``find``
    one item, ``categories`` names those of a scope, ``keep`` brings turns in
    as they were said (once and only once) and tells what hindered it,
    ``forgotten`` says whether a turn of an exchange is not to come back.
    """

    related: Callable[[str, Sequence[str], int], Sequence[Hit]]
    find: Callable[[Address], Item | None]
    categories: Callable[[str], Iterable[str]]
    keep: Callable[[Iterable[Turn]], Sequence[str]]
    forgotten: Callable[[Exchange], bool]
    now: Callable[[], float]


def answer_of(model: LanguageModel, messages: Sequence[Mapping[str, str]]) -> str:
    """The model's reply; one that is awaited is waited for here. Raises whatever the model does, and TypeError."""
    reply: Any = model.chat(messages)
    if inspect.isawaitable(reply):
        import asyncio

        async def wait() -> Any:
            return await reply

        reply = asyncio.run(wait())
    if not isinstance(reply, str):
        raise TypeError(f"the model's reply is {type(reply).__name__}, not text")
    return reply


class Memorizer:
    """Memorizes exchanges of one vault, one after the other."""

    def __init__(self, writer: Writer, inbox: Inbox, surroundings: Surroundings) -> None:
        self._writer = writer
        self._inbox = inbox
        self._around = surroundings

    def memorize(self, queued: str, model: LanguageModel) -> Memorized:
        """Take one exchange as far as it will go. Whoever calls this alone works on its conversation meanwhile.

        Raises:
            VaultError, Conflict: the vault could not be written; the exchange stays as it is.
        """
        with self._inbox.leased(queued) as exchange:
            if exchange is None:
                return Memorized(queued, "gone")
            if isinstance(exchange, ValueError):
                return self._park(queued, self._inbox.work(queued), (str(exchange),))
            try:
                return self._go_on(queued, exchange, model)
            except (VaultError, Conflict, OSError):
                raise
            except Exception as error:  # whatever it is, it is about this exchange, and the others are to go on
                return self._park(queued, self._inbox.work(queued), (_in_words(error),), exchange)

    def _go_on(self, queued: str, exchange: Exchange, model: LanguageModel) -> Memorized:
        if self._around.forgotten(exchange):
            self._inbox.finish(queued)
            return Memorized(queued, "done")
        work = self._inbox.work(queued)
        if work.reply is not None:
            # Somebody asked, and was ended before this was done: the change may be there.
            return self._finish(queued, exchange, work, asked=False, again=True)
        if work.asking and work.deaths + 1 >= _MOST_DEATHS:
            why = f"{_MOST_DEATHS} processes ended while they asked the model about it"
            return self._park(queued, replace(work, asking=False), (why,), exchange)
        if work.not_before > (now := self._around.now()) and work.not_before - now <= _LONGEST_PAUSE:
            return Memorized(queued, "waiting", False, error=work.error, not_before=work.not_before)
        return self._ask(queued, exchange, work, model)

    def give_up(self, queued: str, why: str) -> None:
        """Leave an exchange to a person. Raises VaultError."""
        with self._inbox.leased(queued) as exchange:
            if exchange is not None and not isinstance(exchange, ValueError):
                self._park(queued, self._inbox.work(queued), (why,), exchange)

    def _ask(self, queued: str, exchange: Exchange, work: Work, model: LanguageModel) -> Memorized:
        messages = self._messages(exchange)
        work = replace(work, attempts=work.attempts + 1, deaths=work.deaths + work.asking, asking=True)
        self._inbox.note(queued, work)
        try:
            reply = answer_of(model, messages)
        except ServiceRefused as error:
            return self._park(queued, replace(work, asking=False), (_in_words(error),), exchange)
        except Exception as error:  # whatever a host's model raises: there is no reply yet
            pause = min(_FIRST_PAUSE * 2 ** min(work.attempts - 1, 20), _LONGEST_PAUSE)
            later = self._around.now() + pause
            work = replace(work, asking=False, error=_in_words(error), not_before=later)
            self._inbox.note(queued, work)
            return Memorized(queued, "waiting", True, error=work.error, not_before=later)
        reply, faults = _without_secrets(reply)
        work = replace(work, asking=False, error="", reply=reply, change=new_change_id(), faults=faults)
        self._inbox.note(queued, work)
        return self._finish(queued, exchange, work, asked=True, again=False)

    def _messages(self, exchange: Exchange) -> list[dict[str, str]]:
        text = "\n".join(turn.text for turn in exchange.turns)
        hits: Sequence[Hit] = ()
        with suppress(MemorandaError, OSError):  # what cannot be found is not shown
            hits = self._around.related(_question(text), exchange.scopes, _RELATED)
        prefix = parse_scope(exchange.scope).prefix
        categories = [name.removeprefix(prefix) for name in self._around.categories(exchange.scope)]
        return messages_for(exchange, categories, hits)

    def _finish(self, queued: str, exchange: Exchange, work: Work, *, asked: bool, again: bool) -> Memorized:
        """Apply the reply, keep the turns, and take the exchange out of the queue."""
        reading = read_reply(work.reply or "")
        storage = self._writer.storage
        with storage.locked():
            if not self._inbox.is_queued(queued):
                return Memorized(queued, "done", asked)  # it was forgotten while the model thought
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
        """Carry out what may be, as one change; what was wrong is noted in the work, durably, before that change."""
        scopes = [exchange.scope]

        def near(text: str) -> list[Item]:
            hits = self._around.related(_question(text), scopes, _ALIKE)
            found = (self._around.find(parse_address(hit.address)) for hit in hits)
            return [item for item in found if item is not None]

        style = self._writer.storage.vault.settings.link_style
        validation = Validation(exchange, self._around.find, near, "hash" if style == "hash" else "colon")
        checked = validation.check(operations)
        written: list[Written] = []
        with self._writer.batch("memorize", work.change):
            for at, one in enumerate(checked):
                if isinstance(one, Accepted):
                    try:
                        written.append(self._write(exchange, one))
                    except (UsageError, Conflict, NotFound) as error:
                        checked[at] = Refused("name", str(error), one.text[:80])
            if any(done.journal_id for done in written):
                self._writer.run("memorize", lambda transaction: _log(transaction, exchange, checked))
            if refused := tuple(str(one) for one in checked if isinstance(one, Refused) and one.is_fault):
                work = replace(work, faults=(*work.faults, *refused))
                self._inbox.note(queued, work)
        return work, tuple(written)

    def _write(self, exchange: Exchange, one: Accepted) -> Written:
        fields: dict[str, object] = {
            "owner": exchange.owner,
            "source": exchange.source,
            "ts": exchange.ts or None,
            "type": one.type or None,
            "actor": ACTOR,
            "about": one.about if one.about not in ("user", exchange.owner) else None,
            "flags": " ".join(sorted(set(one.flags))) or None,
        }
        if one.op == "merge":
            return self._merge(exchange, one)
        if one.older is not None:
            fields["supersedes"] = str(one.older)
        return remember(self._writer, str(one.address), one.text, on_exists="rename", fields=fields)

    def _merge(self, exchange: Exchange, one: Accepted) -> Written:
        """Add to an item. Nothing of it goes: a text that repeats all of it takes its place, another stands behind."""
        item = self._around.find(one.address)
        if item is None:
            raise NotFound(f"there is no {one.address}")
        sources = (item.metadata.get(MERGED_FROM) or "").split()
        fields = {MERGED_FROM: " ".join(dict.fromkeys([*sources, exchange.source]))}
        whole = _folded(item.text) in _folded(one.text)
        text = one.text if whole else f"{item.text}\n\n{one.text}"
        return revise(self._writer, str(item.address), text, keep_links=whole, fields=fields)

    def _park(self, queued: str, work: Work, faults: Sequence[str], exchange: Exchange | None = None) -> Memorized:
        """Leave it to a person; what was said is kept as it is in any case."""
        if exchange is not None:
            with suppress(MemorandaError):
                self._around.keep(exchange.turns)
        work = replace(work, faults=tuple(redact(fault)[0] for fault in faults))
        self._inbox.park(queued, work)
        return Memorized(queued, "parked", faults=work.faults)


def _without_secrets(reply: str) -> tuple[str, tuple[str, ...]]:
    """The reply as it may be written down. One with secrets is made anew: its operations, and what was wrong with it.

    What stands in a secret's place could end in the middle of the JSON around it.
    """
    if not redact(reply)[1]:
        return reply, ()
    reading = read_reply(reply)
    rows = [{key: _redacted(value) for key, value in asdict(one).items() if value} for one in reading.operations]
    return json.dumps({"operations": rows}, ensure_ascii=False), tuple(redact(fault)[0] for fault in reading.faults)


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0]
    return [_redacted(one) for one in value] if isinstance(value, (list, tuple)) else value


def _log(transaction: Transaction, exchange: Exchange, checked: Sequence[Accepted | Refused]) -> None:
    """The line that tells what came of the exchange, without a word of what was said."""
    refused: dict[str, int] = {}
    for one in checked:
        if isinstance(one, Refused):
            refused[one.kind] = refused.get(one.kind, 0) + 1
    detail: dict[str, Any] = {"operations": sum(isinstance(one, Accepted) for one in checked)}
    flags = sorted({flag for one in checked if isinstance(one, Accepted) for flag in one.flags})
    detail |= {"refused": refused} if refused else {}
    detail |= {"flags": flags} if flags else {}
    transaction.log("memorize", source=exchange.source, detail=detail)


def _question(text: str) -> str:
    if len(text) <= _LONGEST_QUESTION:
        return text
    half = _LONGEST_QUESTION // 2
    return f"{text[:half]} {text[-half:]}"


def _folded(text: str) -> str:
    return " ".join(name_key(text).split())


def _in_words(error: Exception) -> str:
    """One line on what went wrong, without a secret that it may hold."""
    line = " ".join(str(error).split())[:300]
    said = line if isinstance(error, MemorandaError) else f"{type(error).__name__}: {line}".rstrip(": ")
    return redact(said)[0]
