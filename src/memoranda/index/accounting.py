"""Journalling what a person changed by hand, as it is met in the files."""

from __future__ import annotations

from contextlib import suppress

from memoranda.core.errors import Conflict, VaultError, VaultUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.core.addresses import Address
    from memoranda.storage.baselines import Baseline
    from memoranda.storage.categories import LoadedCategory
    from memoranda.storage.snapshot import FoundFile, Snapshot
    from memoranda.storage.store import Storage

__all__ = ["Accounting"]

_PATIENCE = 0.05
#: Bytes of files that take too long to journal for somebody who waits.
_MUCH = 2_000_000
#: Bytes of files, and files, that are taken in by one change.
_FOUND_AT_ONCE = 8_000_000
_FILES_AT_ONCE = 2000


class Accounting:
    """What was met and is not known to be journalled yet."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._met: dict[str, tuple[FoundFile, str]] = {}
        self._may_be_gone = True
        #: Whether so much was found last that it is better journalled by a process of its own.
        self.has_much = False

    def note(self, found: FoundFile, hash: str) -> None:
        """A file was read whose content (its hash) may be a person's."""
        self._met[found.relative] = (found, hash)

    def note_absence(self) -> None:
        """Some file is gone."""
        self._may_be_gone = True

    def settle(self, snapshot: Snapshot, *, awaited: bool = False) -> bool:
        """Journal what differs from what is accounted for; whether all of it is.

        Never in the way: a busy or read-only vault is asked again next time, and
        while an answer is ``awaited`` much is left for later (``has_much``).
        """
        storage = self._storage
        if not (self._met or self._may_be_gone):
            return True
        todo = [found for found, hash in self._met.values() if storage.baselines.hash_of(found.relative) != hash]
        self.has_much = sum(found.stamp.size for found in todo) > _MUCH
        if awaited and self.has_much:
            return False
        try:
            with storage.locked(_PATIENCE if todo else 0.0):
                self._account_for(todo)
                for baseline in storage.baselines.vanished(snapshot.files):
                    if not snapshot.is_unknown(baseline.path):
                        self._account_for_absence(baseline)
        except (VaultError, OSError):
            return False
        self._met.clear()
        self._may_be_gone = False
        return True

    def _account_for(self, todo: Sequence[FoundFile]) -> None:
        if not todo:
            return
        from memoranda.storage.categories import CategoryReader
        from memoranda.storage.external import account_for, account_for_found
        from memoranda.storage.files import is_being_written

        storage = self._storage
        # A vault that was filled by hand, or comes from elsewhere, is taken in by many files at once.
        new: list[tuple[Address, str, LoadedCategory]] = []
        size = 0
        # What many files hold is not worth remembering.
        bulk = sum(found.stamp.size for found in todo) > _FOUND_AT_ONCE
        for found in todo:
            with suppress(Conflict, VaultUnreadable):
                loaded = (CategoryReader() if bulk else storage.reader).read(found.path)
                baseline = storage.baselines.get_or_rebuild(found.relative)
                if loaded is None or (baseline is not None and baseline.hash == loaded.hash):
                    continue
                if baseline is not None:
                    account_for(storage, found.address, found.relative, loaded, baseline)
                elif not is_being_written(found.path):
                    new.append((found.address, found.relative, loaded))
                    size += found.stamp.size
                    if size > _FOUND_AT_ONCE or len(new) == _FILES_AT_ONCE:
                        account_for_found(storage, new)
                        new, size = [], 0
        if new:
            account_for_found(storage, new)

    def _account_for_absence(self, baseline: Baseline) -> None:
        from memoranda.storage.external import account_for_absence

        storage = self._storage
        path = storage.vault.absolute(baseline.path)
        if storage.reader.stamp(path) is None:
            address = storage.vault.address_at(baseline.path)
            if address is not None:
                account_for_absence(storage, address, baseline)
