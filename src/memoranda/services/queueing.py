"""Putting exchanges into the queue: what was said, cleaned, durable, and nothing else yet."""

from __future__ import annotations

import os

from memoranda.core.errors import BadName, UsageError
from memoranda.core.exchanges import REPLY, Exchange
from memoranda.core.model import Problem, Turn
from memoranda.core.records import replace
from memoranda.services.conversations import as_kept
from memoranda.services.redaction import redact
from memoranda.storage.clock import written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memoranda.core.exchanges import TurnContext
    from memoranda.core.ports import Clock
    from memoranda.storage.inbox import Inbox

__all__ = ["exchange_of", "exchanges_in", "queue"]

#: Turns of one side that follow each other without an answer are memorized together, up to so many.
_MOST_TURNS = 8


def exchange_of(user_text: str, assistant_text: str, context: TurnContext, conversation: str, clock: Clock) -> Exchange:
    """The exchange of one turn. ``conversation`` is the id where the context names none. Raises BadName."""
    now = clock.now()
    ts = context.ts or written_moment(now.replace(microsecond=0))
    turn = context.turn or f"{now.strftime('%Y%m%dT%H%M%S.%f')}-{os.urandom(2).hex()}"
    conversation = context.conversation or conversation
    said = Turn(conversation, turn, user_text, ts, context.speaker or context.user, "user")
    answered = Turn(conversation, turn + REPLY, assistant_text, ts, context.assistant or context.agent, "assistant")
    turns = tuple(one for one in (said, answered) if one.text.strip())
    return Exchange(conversation, turns, context.written_scope, context.read_scopes, context.owner)


def queue(inbox: Inbox, exchange: Exchange) -> str | None:
    """Queue an exchange without secrets and without what was only recalled; its id, durable when this returns.

    ``None``: nothing was said.

    Raises:
        BadName, UsageError: an id or a time means nothing; nothing is queued.
        VaultFull, VaultReadOnly: nothing is queued.
    """
    for named in (exchange.scope, *exchange.scopes, exchange.owner or ""):
        if redact(named)[1]:
            raise BadName("the name of a user, an agent, a project or a scope holds a secret; nothing was written")
    turns = []
    for turn in exchange.turns:
        kept, _ = as_kept(turn)
        if isinstance(kept, Problem):
            raise (UsageError if kept.kind == "ts" else BadName)(kept.message)
        if kept.text.strip():
            turns.append(kept)
    if not turns:
        return None
    return inbox.put(replace(exchange, turns=tuple(turns)))


def exchanges_in(turns: Iterable[Turn], context: TurnContext) -> Iterator[Exchange]:
    """The exchanges of whole conversations: what was said up to the end of each answer."""
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        waiting = said.setdefault(turn.conversation, [])
        if waiting and _ends(waiting, turn):
            yield _exchange(waiting, context)
            waiting.clear()
        waiting.append(turn)
    for waiting in said.values():
        if waiting:
            yield _exchange(waiting, context)


def _ends(waiting: Sequence[Turn], turn: Turn) -> bool:
    """Whether an exchange is complete before this turn."""
    answered = waiting[-1].role == "assistant" and turn.role != "assistant"
    return answered or len(waiting) >= _MOST_TURNS


def _exchange(waiting: Sequence[Turn], context: TurnContext) -> Exchange:
    scope, scopes = context.written_scope, context.read_scopes
    return Exchange(waiting[0].conversation, tuple(waiting), scope, scopes, context.owner)
