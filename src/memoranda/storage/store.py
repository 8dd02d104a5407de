"""The parts of one vault's storage, and the lock that everything which writes must hold."""

from __future__ import annotations

import os
from contextlib import contextmanager

from memoranda.core.records import dataclass
from memoranda.storage.baselines import Baselines
from memoranda.storage.categories import CategoryReader
from memoranda.storage.files import TEMPORARY_PREFIX
from memoranda.storage.history import History
from memoranda.storage.journal import Journal
from memoranda.storage.locks import VaultLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.ports import Clock
    from memoranda.storage.history import Mark
    from memoranda.storage.vault import VaultFolder

__all__ = ["Storage"]


@dataclass(slots=True)
class Storage:
    """One vault's folder, lock, journal, history, baselines and parsed files."""

    vault: VaultFolder
    clock: Clock
    actor: str
    lock: VaultLock
    journal: Journal
    history: History
    baselines: Baselines
    reader: CategoryReader
    #: The history's and journal's size after our own last write: unchanged means nothing to recover.
    settled: tuple[Mark, int] | None = None

    @classmethod
    def at(cls, vault: VaultFolder, clock: Clock, actor: str) -> Storage:
        """The storage of an opened vault."""
        history = History(vault)
        return cls(
            vault=vault,
            clock=clock,
            actor=actor,
            lock=VaultLock(vault.path(".lock")),
            journal=Journal(vault),
            history=history,
            baselines=Baselines(vault, history),
            reader=CategoryReader(),
        )

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
                if (self.history.mark(), self.journal.size()) != self.settled:
                    if self._has_unfinished():
                        from memoranda.storage.recovery import recover

                        recover(self.vault, self.history, self.journal)
                    self.settle()
                self.baselines.ensure()
            yield
        finally:
            self.lock.release()

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
        self.settled = (self.history.mark(), self.journal.size())


def _holds_temporaries(folder: str) -> bool:
    try:
        return any(name.startswith(TEMPORARY_PREFIX) for name in os.listdir(folder))
    except OSError:
        return False
