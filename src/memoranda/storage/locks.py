"""One kernel lock a vault. The kernel frees it when its holder dies, so none is ever left over."""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock  # threading's, without the rest of threading
from _weakrefset import WeakSet  # weakref's, without the rest of weakref
from contextlib import suppress

from memoranda.core.errors import VaultBusy
from memoranda.storage.files import writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["VaultLock"]

if sys.platform == "win32":  # pragma: no cover - only Windows
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        # A child that was forked meanwhile shares the lock: closing would leave it to the child.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


class VaultLock:
    """Excludes other processes, and other threads of this one, from writing a vault.

    May be taken again by the thread that holds it. The lock file holds nothing
    and is never removed: a removed lock file would let two holders in.
    """

    def __init__(self, path: str, patience: float = 60.0) -> None:
        self._path = path
        self._patience = patience
        self._threads = RLock()
        self._depth = 0
        self._descriptor = -1
        _LOCKS.add(self)

    @property
    def depth(self) -> int:
        """How often the thread that holds the lock has taken it; 0 when nobody has."""
        return self._depth

    def acquire(self, patience: float | None = None) -> None:
        """Wait for the lock at most ``patience`` seconds (default: as built).

        Raises:
            VaultBusy: it was not to be had in time.
            VaultReadOnly: the vault may not be written.
        """
        seconds = self._patience if patience is None else patience
        until = time.monotonic() + seconds
        if not self._threads.acquire(timeout=seconds):
            raise VaultBusy(f"another thread has been writing for {seconds:.1f} s")
        try:
            if self._depth == 0:
                self._take(until, seconds)
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise

    def _take(self, until: float, seconds: float) -> None:
        pause = 0.0005
        descriptor = self._opened()
        try:
            while True:
                with writing(self._path):
                    locked = _try_lock(descriptor)
                if locked and self._is_present(descriptor):
                    break
                if locked:
                    # Somebody removed the file while we waited: who comes now locks another one.
                    os.close(descriptor)
                    descriptor = -1
                    descriptor = self._opened()
                    continue
                if time.monotonic() >= until:
                    raise VaultBusy(f"another process has been writing this vault for {seconds:.1f} s")
                time.sleep(pause)
                # The pause stays short: a waiting writer costs little, an idle lock costs everybody.
                pause = min(pause * 1.5, 0.01)
        except BaseException:
            if descriptor >= 0:
                os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _opened(self) -> int:
        with writing(self._path):
            return os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)

    def _is_present(self, descriptor: int) -> bool:
        try:
            found = os.stat(self._path)
        except OSError:
            return False
        own = os.fstat(descriptor)
        return (found.st_ino, found.st_dev) == (own.st_ino, own.st_dev)

    def release(self) -> None:
        """Give the lock back; the last of several takes frees it. Does nothing in a child forked while it was held."""
        if self._depth == 0:
            return
        self._depth -= 1
        if self._depth == 0:
            _unlock(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
        self._threads.release()

    def _start_over(self) -> None:
        """In a forked child: the lock is the parent's alone, and so are the threads that may have held it."""
        self._threads = RLock()
        self._depth = 0
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> VaultLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _start_over() -> None:
    for lock in list(_LOCKS):
        lock._start_over()


_LOCKS: WeakSet[VaultLock] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)
