"""The parts of one vault's storage, and the lock that everything which writes must hold."""

from __future__ import annotations

import os
from contextlib import contextmanager

from memoranda.storage.categories import CategoryReader
from memoranda.storage.files import TEMPORARY_PREFIX
from memoranda.storage.locks import VaultLock
from memoranda.storage.seen import Seen
from memoranda.storage.standing import Standing, standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.ports import Clock
    from memoranda.storage.history import History
    from memoranda.storage.journal import Journal
    from memoranda.storage.vault import VaultFolder

__all__ = ["Storage"]


class Storage:
    """One vault's folder, lock, journal, history, baselines and parsed files.

    Journal and history are loaded by who reads or writes them: an answer from an unchanged vault does neither.
    """

    def __init__(self, vault: VaultFolder, clock: Clock, actor: str) -> None:
        self.vault = vault
        self.clock = clock
        self.actor = actor
        self.lock = VaultLock(vault.path(".lock"))
        self.reader = CategoryReader()
        self.baselines = Seen(self)
        #: How far history and journal had come after our own last write: unchanged means nothing to recover.
        self.settled: Standing | None = None
        self._journal: Journal | None = None
        self._history: History | None = None

    @classmethod
    def at(cls, vault: VaultFolder, clock: Clock, actor: str) -> Storage:
        """The storage of an opened vault."""
        return cls(vault, clock, actor)

    @property
    def journal(self) -> Journal:
        """What happened, line by line."""
        if self._journal is None:
            from memoranda.storage.journal import Journal

            self._journal = Journal(self.vault)
        return self._journal

    @property
    def history(self) -> History:
        """The record of every change, with what it changed."""
        if self._history is None:
            from memoranda.storage.history import History

            self._history = History(self.vault)
        return self._history

    def standing(self) -> Standing:
        """How far history and journal have come. Raises VaultUnreadable."""
        return standing(self.vault)

    @contextmanager
    def locked(self, patience: float | None = None) -> Iterator[None]:
        """Hold the vault's lock, with every unfinished change finished or taken back.

        Raises:
            VaultBusy: not to be had within ``patience`` seconds (default: a minute).
            VaultReadOnly, VaultFull, VaultUnreadable: the vault may not be written, or an
                unfinished change could not be settled.
        """
        self.lock.acquire(patience)
        try:
            if self.lock.depth == 1:
                # Who holds the lock already may be in the middle of a change.
                self._settle_all()
            yield
        finally:
            self.lock.release()

    def _settle_all(self) -> None:
        now = self.standing()
        if now != self.settled:
            # Where history and journal stand as whoever was here last left them, that one has seen to it.
            seen_to = self.settled is None and self.baselines.is_complete(now)
            if not seen_to and self._has_unfinished():
                from memoranda.storage.recovery import recover

                recover(self.vault, self.history, self.journal)
            self.settle()
        self.baselines.ensure()

    def _has_unfinished(self) -> bool:
        """Whether the newest record has journal lines missing or temporaries left: a look that costs two lines."""
        record = self.history.last()
        if record is None or record.state:
            return False
        announced = {line.get("id") for line in record.journal}
        if not announced <= self.journal.lines_of(record.id):
            return True
        folders = {os.path.dirname(os.path.realpath(self.vault.absolute(file.path))) for file in record.files}
        return any(_holds_temporaries(folder) for folder in folders)

    def settle(self) -> None:
        """Note that all that is on disk is complete."""
        self.settled = self.standing()


def _holds_temporaries(folder: str) -> bool:
    try:
        return any(name.startswith(TEMPORARY_PREFIX) for name in os.listdir(folder))
    except OSError:
        return False
