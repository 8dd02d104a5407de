"""``MemorandaSession``: a session of the OpenAI Agents SDK whose history is kept, and memorized, in a vault.

::

    session = MemorandaSession("chat-7", Vault.open("~/memory"), {"user": "lin"})
    result = await Runner.run(agent, "想去海边玩", session=session)

The history lies in ``resources/``, with all other conversations: each item of
it is a turn, whose text is what was said and which carries the item as it was
(but for secrets, which are replaced before anything is written). Turns are
never taken out by an agent. ``pop_item`` and ``clear_session`` add a line that
says so, and the history ends or begins there; ``Vault.forget`` removes what was
said for good, from the history too.

Where an answer ends, what was said is queued to be memorized; a worker
(``memoranda worker``, or :class:`memoranda.faces.hooks.memory_hooks.MemoryHooks`
with a model on the same vault) does the rest. The SDK itself is not needed
here: a session is known by its methods.
"""

from __future__ import annotations

import json
import logging
from uuid import uuid4

from memoranda.core.errors import UsageError
from memoranda.core.exchanges import Exchange
from memoranda.core.model import Turn
from memoranda.faces.hooks.memory_hooks import context_of
from memoranda.storage.clock import written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from memoranda.bootstrap import Vault
    from memoranda.core.exchanges import TurnContext

    T = TypeVar("T")

__all__ = ["MemorandaSession"]

_log = logging.getLogger("memoranda.hooks")

#: What a turn of a session carries: an item of its history, or what was done to the history.
_ITEM, _DONE = "item", "session"
_POP, _CLEAR = "pop", "clear"
_NOT_IN_ID = frozenset("%/\n\r\0")


class MemorandaSession:
    """The history of one conversation, by the SDK's ``Session`` protocol.

    ``context`` says whose memories come of it, as in
    :class:`memoranda.core.exchanges.TurnContext`; its ``conversation`` and
    ``turn`` do not count. With ``memorize=False`` nothing is queued.

    Raises:
        UsageError: the context has a key that means nothing here, or the id is empty.
        BadName: a part of it cannot be a name.
    """

    def __init__(
        self,
        session_id: str,
        vault: Vault,
        context: TurnContext | Mapping[str, Any] | None = None,
        *,
        memorize: bool = True,
        session_settings: Any = None,
    ) -> None:
        if not session_id.strip():
            raise UsageError("a session has an id")
        self.session_id = session_id
        #: The SDK's own settings of a session; its ``limit`` holds where a call names none.
        self.session_settings = session_settings
        self.vault = vault
        self._context = context_of(context)
        self._scope, self._scopes = self._context.written_scope, self._context.read_scopes
        self._memorize = memorize
        self._conversation = "".join(f"%{ord(c):02X}" if c in _NOT_IN_ID else c for c in session_id)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The history, the oldest first; with a ``limit`` its newest items. Raises VaultUnreadable."""
        wanted = getattr(self.session_settings, "limit", None) if limit is None else limit

        def read() -> list[Any]:
            items = [turn.extra[_ITEM] for turn in self._history()]
            if wanted is None or wanted < 0:
                return items
            return items[-wanted:] if wanted else []

        return await _in_thread(read)

    async def add_items(self, items: Sequence[Any]) -> None:
        """Add to the history, durably when this returns. Raises VaultError; TypeError: no JSON can hold an item."""
        if items:
            await _in_thread(lambda: self._add(items))

    async def pop_item(self) -> Any | None:
        """Take the newest item off the history and return it; ``None``: there is none. Raises VaultError."""

        def pop() -> Any | None:
            history = self._history()
            if not history:
                return None
            self._keep([self._note(_POP, history[-1].turn)])
            return history[-1].extra[_ITEM]

        return await _in_thread(pop)

    async def clear_session(self) -> None:
        """Begin the history anew. What was said stays among the vault's conversations. Raises VaultError."""

        def clear() -> None:
            if self._history():
                self._keep([self._note(_CLEAR, "")])

        await _in_thread(clear)

    def _add(self, items: Sequence[Any]) -> None:
        now = self.vault.clock.now()
        ts, moment = written_moment(now.replace(microsecond=0)), now.strftime("%Y%m%dT%H%M%S.%f")
        group = uuid4().hex[:8]  # another process may add at the same moment
        self._keep([self._turn(f"{moment}-{group}-{n}", ts, item) for n, item in enumerate(items, 1)])
        if self._memorize and _said(items[-1]) and _role(items[-1]) == "assistant":
            try:
                self._queue()
            except Exception as error:  # the history is kept; the conversation goes on
                _log.error("a turn could not be queued and will not be memorized: %s", error)

    def _turn(self, turn: str, ts: str, item: Any) -> Turn:
        role = _role(item)
        names = {"user": self._context.speaker or self._context.user}
        names["assistant"] = self._context.assistant or self._context.agent
        kept = json.loads(json.dumps(item))
        return Turn(self._conversation, turn, _said(item), ts, names.get(role, ""), role, {_ITEM: kept})

    def _note(self, done: str, turn: str) -> Turn:
        now = self.vault.clock.now()
        name = f"{now:%Y%m%dT%H%M%S.%f}-{uuid4().hex[:8]}-{done}"
        extra = {_DONE: done, "of": turn} if turn else {_DONE: done}
        return Turn(self._conversation, name, "", written_moment(now.replace(microsecond=0)), extra=extra)

    def _keep(self, turns: Sequence[Turn]) -> None:
        done = self.vault.import_turns(turns)
        if done.added != len(turns):
            raise UsageError(done.problems[0].message if done.problems else "the history could not be kept")

    def _history(self) -> list[Turn]:
        """The turns that carry the history's items as they stand now."""
        history: dict[str, Turn] = {}
        for turn in self.vault.turns(self._conversation):
            if _ITEM in turn.extra:  # a turn that was forgotten carries nothing any more
                history[turn.turn] = turn
            elif turn.extra.get(_DONE) == _CLEAR:
                history.clear()
            elif turn.extra.get(_DONE) == _POP:
                history.pop(str(turn.extra.get("of")), None)
        return list(history.values())

    def _queue(self) -> None:
        """Queue what was said since the answer before this one, unless that is done."""
        said: list[Turn] = []
        for turn in reversed(self._history()):
            if turn.role not in ("user", "assistant") or not turn.text.strip():
                continue
            if said and said[-1].role == "user" and turn.role == "assistant":
                break
            said.append(Turn(turn.conversation, turn.turn, turn.text, turn.ts, turn.speaker, turn.role))
        known = self.vault.inbox.memorized()
        for _, queued in self.vault.inbox.all():
            known.update((queued.conversation, one.turn) for one in queued.turns)
        fresh = tuple(turn for turn in reversed(said) if (turn.conversation, turn.turn) not in known)
        if fresh:
            self.vault.enqueue(
                Exchange(self._conversation, fresh, self._scope, self._scopes, self._context.owner), once=True
            )


async def _in_thread(work: Callable[[], T]) -> T:
    """Do work in a thread, to its end even where the waiting task is cancelled."""
    import asyncio

    # A future and not a task: what ends a loop cancels its tasks, also those that are shielded.
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))


def _role(item: Any) -> str:
    """Whose turn an item is: ``user``, ``assistant``, or that of something else."""
    if not isinstance(item, dict):
        return ""
    kind = item.get("type", "message")
    return str(item.get("role", "")) if kind == "message" else "tool"


def _said(item: Any) -> str:
    """What an item says to people: the text of a message."""
    if not isinstance(item, dict) or item.get("type", "message") != "message":
        return ""
    content = item.get("content")
    if isinstance(content, list):
        texts = (block.get("text") for block in content if isinstance(block, dict))
        return "\n\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
