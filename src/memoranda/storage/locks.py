"""One kernel lock a vault. The kernel frees it when its holder dies, so none is ever left over."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType

from memoranda.core.errors import VaultBusy
from memoranda.storage.files import writing

__all__ = ["VaultLock"]

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class VaultLock:
    """Excludes other processes, and other threads of this one, from writing a vault.

    May be taken again by the thread that holds it. The lock file holds nothing
    and is never removed: a removed lock file would let two holders in.
    """

    def __init__(self, path: str, patience: float = 60.0) -> None:
        self._path = path
        self._patience = patience
        self._threads = threading.RLock()
        self._depth = 0
        self._descriptor = -1

    def acquire(self, patience: float | None = None) -> None:
        """Wait for the lock at most ``patience`` seconds (default: as built).

        Raises:
            VaultBusy: it was not to be had in time.
            VaultReadOnly: the vault may not be written.
        """
        seconds = self._patience if patience is None else patience
        until = time.monotonic() + seconds
        if not self._threads.acquire(timeout=seconds):
            raise VaultBusy(f"another thread has been writing for {seconds:.0f} s")
        try:
            if self._depth == 0:
                self._take(until, seconds)
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise

    def _take(self, until: float, seconds: float) -> None:
        with writing(self._path):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        pause = 0.0005
        try:
            while not _try_lock(descriptor):
                if time.monotonic() >= until:
                    raise VaultBusy(f"another process has been writing this vault for {seconds:.1f} s")
                time.sleep(pause)
                # The pause stays short: a waiting writer costs little, an idle lock costs everybody.
                pause = min(pause * 1.5, 0.01)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; the last of several takes frees it."""
        self._depth -= 1
        if self._depth == 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._threads.release()

    def __enter__(self) -> VaultLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
