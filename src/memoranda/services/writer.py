"""Carrying out changes: one at a time, or gathered in a batch that is committed once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, suppress

from memoranda.core.addresses import Address
from memoranda.core.errors import ChangedUnderneath, UsageError
from memoranda.storage.install import ChangedMeanwhile
from memoranda.storage.transaction import Transaction, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    from memoranda.storage.store import Storage

__all__ = ["Plan", "Writer"]

if TYPE_CHECKING:
    T = TypeVar("T")
    Plan = Callable[[Transaction], T]
else:
    Plan = object
_RETRIES = 20


class Writer:
    """Runs plans against the vault. Not for several threads at once: a host gives each its own vault object.

    ``committed`` is called after each change that is durable.
    """

    def __init__(self, storage: Storage, committed: Callable[[], None] | None = None) -> None:
        self.storage = storage
        self._committed = committed
        self._pending: dict[str, Address] = {}
        self._batch: Transaction | None = None
        self._plans: list[Plan[Any]] = []

    def run(self, action: str, plan: Plan[T]) -> T:
        """Carry out one plan: durable when this returns, or, within a batch, when the batch ends."""
        if self._batch is None:
            done = run(self.storage, action, plan)
            self._tell()
            return done
        outcome = plan(self._batch)
        self._plans.append(plan)
        return outcome

    def touch(self, address: Address) -> None:
        """Note that the plan under way has changed the category of ``address``."""
        if self._batch is not None:
            category = Address(address.scope, address.category)
            self._pending[str(category)] = category

    @property
    def pending(self) -> tuple[Address, ...]:
        """The categories that an open batch has changed so far; no file shows that yet."""
        return tuple(self._pending.values())

    @property
    def in_batch(self) -> bool:
        """Whether a batch is open."""
        return self._batch is not None

    @contextmanager
    def batch(self, action: str = "batch", change: str | None = None) -> Iterator[Transaction]:
        """Gather every change made inside; commit them at the end, all or none, as one ``action``.

        The lock is held for the commit only. An exception inside discards all.
        ``change`` is the id that the change is to have.

        Raises:
            UsageError: a batch is open already.
            Conflict: a person's changes meanwhile do not go together with these.
        """
        if self._batch is not None:
            raise UsageError("a batch is open already")
        self._batch, self._plans = Transaction(self.storage, action, change), []
        try:
            yield self._batch
            self._commit(self._batch)
        finally:
            self._batch, self._plans, self._pending = None, [], {}

    def _commit(self, transaction: Transaction) -> None:
        if not transaction.has_changes:
            return
        for _ in range(_RETRIES):
            with self.storage.locked(), suppress(ChangedMeanwhile):
                if not transaction.is_current():
                    # Somebody saved since the batch began: the same changes, on what is there now.
                    transaction = Transaction(self.storage, transaction.action, transaction.id)
                    for plan in self._plans:
                        plan(transaction)
                transaction.commit()
                self._tell()
                return
        raise ChangedUnderneath("the files did not stop changing; nothing was written")

    def _tell(self) -> None:
        if self._committed is not None:
            self._committed()
