"""``MemoryHooks``: the two calls that give any agent loop a memory, and the thread that memorizes behind them.

::

    with MemoryHooks(Vault.open("~/memory"), model) as hooks:
        context = hooks.on_before_turn(user_text, {"conversation": "c1", "user": "lin"})
        answer = ask_my_model(user_text, context)
        hooks.on_after_turn(user_text, answer, {"conversation": "c1", "user": "lin"})

Neither ever breaks the conversation: the first returns ``None`` where it finds
nothing in time, the second has the turn on disk when it returns and waits for
nobody. Async hosts await :meth:`MemoryHooks.before_turn` and
:meth:`MemoryHooks.after_turn`.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from contextlib import suppress
from os import PathLike
from uuid import uuid4
from weakref import WeakSet

from memoranda.core.errors import MemorandaError, UsageError
from memoranda.core.exchanges import TurnContext
from memoranda.services.memorize import ACTOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.core.ports import LanguageModel
    from memoranda.services.worker import Worker

__all__ = ["MemoryHooks", "context_of"]

_log = logging.getLogger("memoranda.hooks")

#: Characters of what the user said that memory is asked about; of more, the beginning and the end.
_LONGEST_QUESTION = 4000
#: Seconds that the process waits, at its end, for an exchange that is just being memorized.
_LAST_MOMENTS = 1.0


def context_of(given: TurnContext | Mapping[str, Any] | None) -> TurnContext:
    """A context from what a host passes. Raises UsageError: it has a key that means nothing here."""
    if given is None:
        return TurnContext()
    if isinstance(given, TurnContext):
        return given
    names = TurnContext.__slots__
    for key in given:
        if key not in names:
            raise UsageError(f"a turn's context has no {key!r}; known: {', '.join(names)}")
    return TurnContext(**{key: "" if value is None else str(value) for key, value in given.items()})


class MemoryHooks:
    """A vault's memory for one host; ``vault`` may be the folder's path.

    ``model`` is anything with ``chat(messages) -> str``; without one, turns are
    queued for a worker elsewhere (``memoranda worker``). ``budget`` (in tokens)
    and ``deadline`` (in seconds, the settings' by default) bound what
    :meth:`on_before_turn` returns and takes.
    """

    def __init__(
        self,
        vault: Vault | str | PathLike[str],
        model: LanguageModel | None = None,
        *,
        budget: int = 800,
        deadline: float | None = None,
    ) -> None:
        if model is not None and not callable(getattr(model, "chat", None)):
            raise UsageError(f"{type(model).__name__} is no model: it has no chat(messages)")
        if isinstance(vault, str | PathLike):
            from memoranda.bootstrap import Vault

            vault = Vault.open(vault)
        self.vault = vault
        self._model = model
        self._budget = budget
        self._deadline = vault.settings.deadline if deadline is None else deadline
        self._conversation = f"conversation-{uuid4().hex[:12]}"
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._worker: Worker | None = None
        self._closed = False
        # What has to be read once is read while nobody waits for it.
        threading.Thread(target=self._warm, name="memoranda-warm", daemon=True).start()
        if model is not None:
            _OPEN.add(self)
            self._start()

    def on_before_turn(self, user_text: str, context: TurnContext | Mapping[str, Any] | None = None) -> str | None:
        """What is remembered about what the user says, as a block for the prompt; ``None`` where there is nothing.

        No model is called. Whatever goes wrong is logged, and the conversation goes on.
        """
        try:
            scopes = context_of(context).read_scopes
            found = self.vault.retrieve(
                _question(user_text), budget=self._budget, scopes=scopes, deadline=self._deadline
            )
            return found.render() or None
        except Exception as error:  # nothing that happens here may end a conversation
            _log.warning("nothing was recalled: %s", error)
            return None

    def on_after_turn(
        self, user_text: str, assistant_text: str, context: TurnContext | Mapping[str, Any] | None = None
    ) -> str | None:
        """Queue the turn to be memorized; it is on disk when this returns, and nobody has been asked.

        Returns its id; ``None`` where nothing was said, or it could not be
        queued, which is logged as an error: it is the one thing that loses a turn.
        """
        from memoranda.services.queueing import exchange_of

        try:
            exchange = exchange_of(user_text, assistant_text, context_of(context), self._conversation, self.vault.clock)
            queued = self.vault.enqueue(exchange) if exchange.turns else None
        except Exception as error:  # as above
            _log.error("a turn could not be queued and will not be memorized: %s", error)
            return None
        if self._model is not None and queued is not None:
            if self._thread is None or not self._thread.is_alive():
                self._start()  # it ended, or this process was forked and has none
            if self._worker is not None:
                self._worker.wake()
        return queued

    async def before_turn(self, user_text: str, context: TurnContext | Mapping[str, Any] | None = None) -> str | None:
        """:meth:`on_before_turn` for a host with an event loop, which is not held up."""
        import asyncio

        return await asyncio.to_thread(self.on_before_turn, user_text, context)

    async def after_turn(
        self, user_text: str, assistant_text: str, context: TurnContext | Mapping[str, Any] | None = None
    ) -> str | None:
        """:meth:`on_after_turn` for a host with an event loop, which is not held up."""
        import asyncio

        return await asyncio.to_thread(self.on_after_turn, user_text, assistant_text, context)

    def drain(self, seconds: float) -> bool:
        """Wait until everything queued is memorized or parked; False: it is not, after so many seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not self.vault.inbox.ids():
                return True
            if self._worker is not None:
                self._worker.wake()
            time.sleep(0.02)
        return not self.vault.inbox.ids()

    def close(self, seconds: float = 5.0) -> None:
        """Stop memorizing, waiting at most so long for the exchange at hand. What is queued stays queued."""
        with self._lock:
            self._closed = True
            worker, thread, self._worker, self._thread = self._worker, self._thread, None, None
        _OPEN.discard(self)
        if worker is not None and thread is not None:
            worker.stop()
            thread.join(seconds)
            if thread.is_alive():
                worker.abandon()

    def __enter__(self) -> MemoryHooks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _warm(self) -> None:
        with suppress(Exception):  # on_before_turn meets it again, and says so
            self.vault.warm(("item",))

    def _start(self) -> None:
        with self._lock:
            if self._closed or self._model is None or (self._thread is not None and self._thread.is_alive()):
                return
            vault = self.vault.sibling(ACTOR)
            self._worker = vault.worker(self._model)
            self._thread = threading.Thread(target=_work, args=(vault, self._worker), name="memoranda", daemon=True)
            self._thread.start()


def _work(vault: Vault, worker: Worker) -> None:
    try:
        worker.run()
    finally:
        with suppress(MemorandaError):
            vault.close()


def _question(text: str) -> str:
    if len(text) <= _LONGEST_QUESTION:
        return text
    half = _LONGEST_QUESTION // 2
    return f"{text[:half]} {text[-half:]}"


_OPEN: WeakSet[MemoryHooks] = WeakSet()


def _close_all() -> None:
    for hooks in list(_OPEN):
        hooks.close(_LAST_MOMENTS)


atexit.register(_close_all)
