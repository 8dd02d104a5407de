"""Putting a file's new content in place without losing what somebody saved meanwhile.

A person's editor takes no lock. The new content is exchanged with the file in
one step, and what came out is compared with what was read: a save that slipped
in between is put back at once and merged; until then nobody can open the new one.
A file that an editor has open for writing at that moment (it saves in place) is
given back too, and waited for.
Where the system has no exchange (macOS, Windows, some network folders) the file
is compared right before it is replaced; a save within those microseconds is
lost there.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress

from memoranda.core.edits import common_start
from memoranda.core.errors import ChangedUnderneath
from memoranda.core.records import dataclass
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    create_only,
    exchange,
    held_back,
    is_being_written,
    make_folder,
    read_bytes,
    replace_file,
    sync_file,
    sync_folder,
    wait_for_writer,
    write_temporary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.files import (
        Hold,
    )

__all__ = [
    "WRITER_PATIENCE",
    "ChangedMeanwhile",
    "Placed",
    "conflict_copy",
    "displace",
    "install",
    "place",
    "uninstall",
]

#: Seconds for which a file that somebody keeps saving is tried.
_PATIENCE = 10.0
_MOST_EXCHANGES = 100
#: Seconds for which an editor that saves in place is waited for.
WRITER_PATIENCE = 2.0
#: After so many attempts the content is synced once it is in place instead of before:
#: a file that is saved every millisecond leaves no time for a sync in between.
_SYNCED_ATTEMPTS = 4


class ChangedMeanwhile(Exception):
    """The file appeared, vanished or changed before anything was put in place; read it again."""


@dataclass(slots=True)
class Placed:
    """A change of one file that is in place, and can be taken back without needing room on the disk.

    ``content`` is what is there now, ``earlier`` what would be there without the
    change (``None``: no file), ``aside`` the file in which that is kept; not
    ``tidy``: some other leftover could not be removed.
    """

    path: str
    content: bytes | None
    earlier: bytes | None
    aside: str | None = None
    tidy: bool = True

    def keep(self) -> bool:
        """The change stays: let go of what was there before; False if something is left over."""
        aside, self.aside = self.aside, None
        return (aside is None or _remove_quietly(aside)) and self.tidy

    def take_back(self) -> None:
        """Put back what was there before; what somebody saved since stays. Raises OSError."""
        folder = os.path.dirname(self.path)
        with suppress(ChangedMeanwhile, ChangedUnderneath, FileExistsError):
            if self.content is None:
                if self.aside is not None:
                    create_only(self.aside, self.path)
            elif self.earlier is None:
                displace(self.path, self.content, sync=False).keep()
            else:
                aside, self.aside = self.aside or write_temporary(folder, self.earlier, like=self.path), None
                _Swap(self.path, self.earlier, self.content, aside, sync=False).run().keep()
        self.keep()
        # On a disk that cannot sync any more this is as much as can be done.
        with suppress(OSError):
            sync_folder(folder)


def install(path: str, data: bytes, expected: bytes | None) -> bytes:
    """Put ``data`` where ``expected`` was read (``None``: where no file was); return what is there now.

    That is ``data``, or ``data`` merged with what somebody saved meanwhile.

    Raises:
        ChangedMeanwhile: nothing was put in place.
        ChangedUnderneath: somebody changed the same lines; theirs stand.
        OSError: as the system says; the file is as it was.
    """
    placed = place(path, data, expected)
    placed.keep()
    return placed.content or b""


def uninstall(path: str, expected: bytes) -> None:
    """Remove a file that holds ``expected``.

    Raises:
        ChangedMeanwhile: it holds something else; it is where it was.
        OSError: as the system says.
    """
    displace(path, expected).keep()


def place(path: str, data: bytes, expected: bytes | None, temporary: str | None = None) -> Placed:
    """As :func:`install`, but what was there is kept until one decides.

    ``temporary`` may hold ``data`` already, synced, in the same folder; it is used up.
    """
    folder = os.path.dirname(path)
    if temporary is None:
        make_folder(folder)
        temporary = write_temporary(folder, data, like=path)
    if expected is not None:
        return _Swap(path, data, expected, temporary).run()
    try:
        tidy = create_only(temporary, path)
    except FileExistsError:
        _remove_quietly(temporary)
        raise ChangedMeanwhile(path) from None
    except BaseException:
        _remove_quietly(temporary)
        raise
    try:
        sync_folder(folder)
    except BaseException:
        with suppress(OSError, ChangedMeanwhile):
            displace(path, data, sync=False).keep()
        raise
    return Placed(path, data, None, tidy=tidy)


def displace(path: str, expected: bytes, *, sync: bool = True) -> Placed:
    """As :func:`uninstall`, but the file is kept aside until one decides."""
    folder = os.path.dirname(path)
    aside = os.path.join(folder, _temporary_name())
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return Placed(path, None, None)
    try:
        changed = read_bytes(aside) != expected or is_being_written(aside)
        if not changed:
            if sync:
                sync_folder(folder)
            return Placed(path, None, expected, aside)
    except BaseException:
        _return_aside(aside, path)
        raise
    _return_aside(aside, path)
    raise ChangedMeanwhile(path)


def conflict_copy(path: str) -> str:
    """A name beside ``path`` for content that could not be merged; ``check`` lists it."""
    stem = path[: -len(".md")] if path.endswith(".md") else path
    return f"{stem}.conflict-{os.urandom(4).hex()}.md"


class _Swap:
    """Exchanges until what came out is what was expected; merges whatever was saved in between."""

    def __init__(self, path: str, ours: bytes, expected: bytes, temporary: str, *, sync: bool = True) -> None:
        self._path = path
        self._ours = ours
        self._expected = expected
        self._temporary = temporary
        self._sync = sync
        self._synced = True
        # Whether the temporary may hold the only copy of what a person saved.
        self._precious = False
        self._older: list[str] = []  # what a person saved and is nowhere but in what we write
        self._replaced = False

    def run(self) -> Placed:
        try:
            with ExitStack() as kept:
                placed = self._run(kept)
            removed = [_remove_quietly(older) for older in self._older]
            placed.tidy = all(removed)
            return placed
        except BaseException:
            self._rescue()
            raise

    def _run(self, kept: ExitStack) -> Placed:
        until = time.monotonic() + _PATIENCE
        attempt = 0
        while time.monotonic() < until:
            theirs = self._present()
            if theirs != self._expected:
                # A save that came while we were syncing is merged while it is still in place.
                self._ours = self._merged(self._expected, self._ours, theirs)
                self._expected = theirs
                attempt += 1
                self._synced = attempt < _SYNCED_ATTEMPTS
                if attempt == _SYNCED_ATTEMPTS:
                    kept.callback(_remove_quietly, self._keep())
                self._rewrite()
                continue
            with held_back(self._temporary) as hold:
                if not self._exchange():
                    os.replace(self._temporary, self._path)
                    self._replaced = True
                    self._settle()
                    return Placed(self._path, self._ours, self._expected)
                self._precious = True
                as_expected = read_bytes(self._temporary) == self._expected
                if not as_expected or is_being_written(self._temporary):
                    self._put_back(hold)
                    continue
            self._settle()
            self._precious = False
            return Placed(self._path, self._ours, self._expected, self._temporary)
        raise ChangedUnderneath(f"{self._path} does not stop changing; nothing was written")

    def _present(self) -> bytes:
        if not wait_for_writer(self._path, WRITER_PATIENCE):
            raise ChangedUnderneath(f"{self._path} is open for writing in another program; nothing was written")
        try:
            return read_bytes(self._path)
        except FileNotFoundError:
            raise ChangedMeanwhile(self._path) from None

    def _exchange(self) -> bool:
        try:
            return exchange(self._temporary, self._path)
        except FileNotFoundError:
            if os.path.lexists(self._temporary):
                raise ChangedMeanwhile(self._path) from None
            raise

    def _put_back(self, hold: Hold) -> None:
        """A save came within the microseconds since the last look, or goes on: it is put back at once.

        So nobody reads a file without it and saves that; then it is merged like any other.
        """
        there = self._ours
        newest = read_bytes(self._temporary)
        for _ in range(_MOST_EXCHANGES):
            self._exchange()
            if hold.is_at(self._temporary):
                # Who waits to open ours has it already, by whatever name: what they read is what is in place.
                hold.let_go(newest)
                self._precious = False
                self._rewrite()
                return
            hold.let_go()
            displaced = read_bytes(self._temporary)
            if displaced == there:
                break
            # Another save since, over what we had put there: it is newer than all that we hold.
            there, newest = newest, displaced
        else:
            raise ChangedUnderneath(f"{self._path} does not stop changing; nothing was written")
        if displaced != self._ours:
            self._take_in(displaced, newest)
        self._precious = False

    def _take_in(self, displaced: bytes, newest: bytes) -> None:
        """Of two saves the newer is in place, and the older in the temporary: it goes into what we write."""
        expected, placed = self._expected, self._ours
        self._older.append(self._keep())
        self._precious = False
        base = placed if _made_from(placed, expected, displaced) else expected
        self._ours = self._merged(base, placed, displaced)
        if _made_from(placed, expected, newest):
            # From what we had put there for a moment: it holds our change already, but not the older save.
            self._ours = self._merged(placed, self._ours, newest)
            self._expected = newest
        elif _made_from(displaced, expected, newest):
            self._expected = displaced
        self._rewrite()

    def _merged(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        """Both changes together. Raises ChangedUnderneath."""
        # Most of a large file is alike in all three: only the lines behind that are merged.
        same = base.rfind(b"\n", 0, min(common_start(base, ours), common_start(base, theirs))) + 1
        from memoranda.core.merge import merge

        with suppress(UnicodeDecodeError):
            found = merge(*(text[same:].decode("utf-8") for text in (base, ours, theirs)))
            if not found.conflict:
                return base[:same] + found.text.encode("utf-8")
        raise ChangedUnderneath(f"{self._path} was changed in the same place meanwhile; nothing was written")

    def _keep(self) -> str:
        """Another name for the temporary, until what is written in its place is in place too."""
        kept = os.path.join(os.path.dirname(self._temporary), _temporary_name())
        os.rename(self._temporary, kept)
        return kept

    def _rewrite(self) -> None:
        folder = os.path.dirname(self._temporary)
        fresh = write_temporary(folder, self._ours, like=self._path, sync=self._synced)
        try:
            os.replace(fresh, self._temporary)
        except BaseException:
            _remove_quietly(fresh)
            raise

    def _settle(self) -> None:
        if not self._sync:
            return
        if not self._synced:
            descriptor = os.open(self._path, os.O_RDONLY)
            try:
                sync_file(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(os.path.dirname(self._path))

    def _rescue(self) -> None:
        """After a failure: the file is as it was, and no temporary is left."""
        with suppress(OSError):
            if self._replaced:
                replace_file(self._path, self._expected)
        with suppress(OSError):
            if self._precious and read_bytes(self._path) == self._ours and exchange(self._temporary, self._path):
                self._precious = read_bytes(self._temporary) != self._ours
        if self._precious:
            self._older.append(self._temporary)
        else:
            _remove_quietly(self._temporary)
        for older in self._older:
            with suppress(OSError):
                os.rename(older, conflict_copy(self._path))


def _made_from(version: bytes, earlier: bytes, save: bytes) -> bool:
    """Whether who made ``save`` had seen ``version`` rather than ``earlier``: all that is new in it is there."""
    from collections import Counter

    new, old, found = (Counter(text.split(b"\n")) for text in (version, earlier, save))
    added = {line: new[line] for line in new - old if line.strip()}
    if added:
        return all(found[line] >= count for line, count in added.items())
    return all(found[line] <= new[line] for line in old - new if line.strip())


def _return_aside(aside: str, path: str) -> None:
    try:
        create_only(aside, path)
    except FileExistsError:
        os.rename(aside, conflict_copy(path))
    with suppress(OSError):
        sync_folder(os.path.dirname(path))


def _temporary_name() -> str:
    return f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}.tmp"


def _remove_quietly(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
