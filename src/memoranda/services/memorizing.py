"""The memorizing half of :class:`memoranda.Vault`: a queue of exchanges, and who works it off."""

from __future__ import annotations

from contextlib import suppress

from memoranda.core.errors import UsageError
from memoranda.services.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from memoranda.core.addresses import Address
    from memoranda.core.exchanges import Exchange, TurnContext
    from memoranda.core.model import Item, Turn, Written
    from memoranda.core.ports import LanguageModel
    from memoranda.retrieval.result import Hit
    from memoranda.services.contents import Progress
    from memoranda.services.library import Library
    from memoranda.services.memorize import Memorized
    from memoranda.services.stages import Stage
    from memoranda.services.status import QueueStatus
    from memoranda.services.worker import Worker
    from memoranda.services.writer import Writer
    from memoranda.storage.inbox import Inbox

__all__ = ["Memorizing"]

#: Seconds that looking for related items may take: nobody waits for the answer.
_PATIENCE = 10.0


class Memorizing(Reading):
    """Calls that keep what happens for now: stages of work, and exchanges that are queued and worked off."""

    _made_inbox: Inbox | None = None

    @property
    def _writer(self) -> Writer:
        raise NotImplementedError

    def _documents_changed(self) -> None:
        raise NotImplementedError

    def _wipe_documents(self, corpus: str, parents: list[str]) -> None:
        raise NotImplementedError

    def stage(self, name: str, *, project: str, agent: str = "") -> Stage:
        """Begin a stage of a project, or go on with one that was left open; best in a ``with`` block.

        One process at a time has it open. What was added is on disk when the call
        returns, so that a crash loses at most the one under way.

        Raises:
            BadName: one of the three cannot be a name.
            Conflict: it has ended; the message names one that is free.
            VaultBusy: it is open already, here or in another process.
            OutsideVault, VaultFull, VaultReadOnly.
        """
        from memoranda.services.stages import open_stage

        return open_stage(self._storage, name, project, agent)

    @property
    def inbox(self) -> Inbox:
        """What is not memorized yet, and what waits for a person's look."""
        if self._made_inbox is None:
            from memoranda.storage.inbox import Inbox

            self._made_inbox = Inbox(self._storage.vault)
        return self._made_inbox

    @property
    def library(self) -> Library:
        """The corpora of documents, for who puts documents in and takes them out."""
        from memoranda.services.library import Library

        return Library(self._storage, self._documents_changed, self._wipe_documents)

    def enqueue(self, exchange: Exchange, *, once: bool = False) -> str | None:
        """Queue an exchange to be memorized; durable when this returns. No lock is taken and nobody is asked.

        Returns its id; ``None`` where nothing was said, or (``once``) the same
        turns are waiting already.

        Raises:
            BadName, UsageError: an id, a scope or a time means nothing.
            VaultFull, VaultReadOnly: nothing is queued.
        """
        from memoranda.services.queueing import queue
        from memoranda.storage.inbox import key_of

        if once and key_of(exchange) in self.inbox.held_keys():
            return None
        return queue(self.inbox, exchange)

    def status_of_queue(self) -> QueueStatus:
        """How many exchanges wait, and for what. Raises VaultUnreadable."""
        from memoranda.services.status import queue_status

        return queue_status(self.inbox)

    def enqueue_all(self, exchanges: Iterable[Exchange], progress: Progress | None = None) -> tuple[int, int]:
        """Queue what is neither queued nor memorized; how many that are, and how many are known, empty or no exchange.

        Raises:
            VaultFull, VaultReadOnly: what was queued before is.
        """
        from memoranda.storage.inbox import key_of

        waiting = self.inbox.held_keys()
        gone: dict[str, set[str]] = {}
        queued = others = 0
        for number, exchange in enumerate(exchanges, 1):
            added = None
            said = exchange.conversation
            if said not in gone:
                gone[said] = {turn.turn for turn in self._resources.turns(said) if turn.forgotten}
            forgotten = any(turn.turn in gone[said] for turn in exchange.turns)
            known = not exchange.again and self.inbox.is_memorized(exchange)
            if key_of(exchange) not in waiting and not known and not forgotten:
                with suppress(UsageError):  # its ids cannot be any: who read it has said so
                    added = self.enqueue(exchange)
            if added is None:
                others += 1
            else:
                waiting.add(key_of(exchange))
                queued += 1
            if progress is not None:
                progress(number, None)
        return queued, others

    def worker(self, model: LanguageModel, told: Callable[[Memorized], None] | None = None) -> Worker:
        """Who works the queue off with a model; ``told`` hears what became of each exchange.

        The vault should be its own (``Vault.open(..., actor="memorize")``): what
        is written is in its name.
        """
        from memoranda.services.memorize import Memorizer, Surroundings
        from memoranda.services.worker import Worker

        around = Surroundings(
            related=self._related,
            find=self._item_at,
            categories=lambda scope: [found.address for found in self.categories(scope)],
            keep=self._kept,
            standing=self._standing,
            now=lambda: self.clock.now().timestamp(),
        )
        return Worker(self.inbox, Memorizer(self._writer, self.inbox, around), model, told)

    def remember_by_tool(
        self, arguments: Mapping[str, Any] | str, context: TurnContext | None = None, *, actor: str = "agent"
    ) -> Written:
        """Carry out a call of the tool ``remember`` (:func:`memoranda.services.extraction.schema.tool_schema`).

        For an agent that writes by itself: the same rules as for what a model
        finds in a conversation, and no model is asked. ``context`` says whose
        memory it is and which turn it comes from. ``arguments`` may be the JSON
        text that a model's call holds.

        Raises:
            UsageError, BadText: the message tells the model what to do instead.
            VaultReadOnly, VaultFull, VaultBusy, Conflict: nothing was written.
        """
        from memoranda.core.addresses import parse_address
        from memoranda.core.exchanges import Exchange, TurnContext
        from memoranda.core.model import Turn
        from memoranda.services.extraction.tool import arguments_in, remember_called
        from memoranda.services.extraction.validation import Validation

        if isinstance(arguments, str):
            arguments = arguments_in(arguments)
        context = context or TurnContext()
        said = str(arguments.get("text") or "")
        turn = Turn(context.conversation, context.turn or "1", said)
        owner = str(arguments.get("owner") or "") or context.owner
        exchange = Exchange(context.conversation, (turn,), context.written_scope, context.read_scopes, owner)
        with self._contents.mutex, self._storage.locked():

            def near(text: str) -> list[Item]:
                hits = self._related(text, [exchange.scope], 6, "keyword")
                return [item for hit in hits if (item := self._item_at(parse_address(hit.address))) is not None]

            style: Literal["colon", "hash"] = "hash" if self.settings.link_style == "hash" else "colon"
            validation = Validation(exchange, self._item_at, near, style)
            return remember_called(self._writer, validation, exchange, arguments, actor)

    def _related(self, text: str, scopes: Sequence[str], count: int, mode: str) -> Sequence[Hit]:
        from memoranda.services.recall import recall

        return recall(
            self._storage,
            self._contents,
            text,
            k=count,
            budget=None,
            levels=("item",),
            scopes=scopes,
            mode=mode,
            as_of=None,
            explain=False,
            deadline=_PATIENCE,
            embedding=lambda: self._embedding,
            noted=False,
        ).hits

    def _item_at(self, address: Address) -> Item | None:
        from memoranda.services.contents import as_item

        entry = self._contents.find(address)
        return None if entry is None else as_item(entry)

    def _standing(self, exchange: Exchange) -> Literal["new", "memorized", "forgotten"]:
        known = {turn.turn: turn for turn in self._resources.turns(exchange.conversation)}
        there = [known.get(turn.turn) for turn in exchange.turns]
        if any(turn is not None and turn.forgotten for turn in there):
            return "forgotten"
        pairs = zip(there, exchange.turns, strict=True)
        same = all(old is not None and old.text == turn.text for old, turn in pairs)
        return "memorized" if same and self.inbox.is_memorized(exchange) else "new"

    def _kept(self, turns: Iterable[Turn]) -> list[str]:
        """Bring turns in as they were said; what hindered it, in words."""
        from memoranda.services.conversations import import_turns

        return [problem.message for problem in import_turns(self._storage, self._resources, turns).problems]
