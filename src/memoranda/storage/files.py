"""Files, durably: a call that returns has its bytes on disk, and never half of them.

Every write goes to a temporary in the same folder, is synced, put in place in
one step, and the folder is synced. Foreign errors become ours at this edge.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from operator import itemgetter

from memoranda.core.errors import MemorandaError, VaultError, VaultFull, VaultReadOnly, VaultUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "TEMPORARY_PREFIX",
    "Hold",
    "Stamp",
    "create_only",
    "exchange",
    "held_back",
    "is_being_written",
    "make_folder",
    "read_bytes",
    "reading",
    "remove_file",
    "replace_file",
    "stamp_of",
    "sync_file",
    "sync_folder",
    "wait_for_writer",
    "write_all",
    "write_temporary",
    "writing",
]

TEMPORARY_PREFIX = ".memoranda-"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


class Stamp(tuple[int, int, int, int]):
    """What a stat call says of a file; times in nanoseconds since 1970.

    A tuple, since a look at a large vault makes and compares ten thousands of them.
    """

    __slots__ = ()

    def __new__(cls, inode: int, size: int, mtime_ns: int, ctime_ns: int) -> Stamp:
        return tuple.__new__(cls, (inode, size, mtime_ns, ctime_ns))

    def __getnewargs__(self) -> tuple[int, int, int, int]:
        return self[0], self[1], self[2], self[3]

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """The stamp in a stat result."""
        return tuple.__new__(cls, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))

    inode = property(itemgetter(0), doc="Which file it is.")
    size = property(itemgetter(1), doc="Its size in bytes.")
    mtime_ns = property(itemgetter(2), doc="When its content changed last.")
    ctime_ns = property(itemgetter(3), doc="When anything of it changed last.")

    def is_settled(self, now_ns: int) -> bool:
        """Whether the file last changed over 20 ms before ``now_ns``: nearer changes may share a time stamp."""
        return abs(now_ns - max(self[2], self[3])) > 20_000_000


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Map what the system says while writing at ``path`` to our errors.

    Raises:
        VaultFull, VaultReadOnly, VaultError: for a full disk, a refusal, anything else.
    """
    try:
        yield
    except MemorandaError:
        raise
    except OSError as error:
        where = error.filename or path
        if error.errno in _FULL:
            raise VaultFull(f"no room on the disk for {where}; nothing was changed") from error
        if error.errno in _REFUSED:
            raise VaultReadOnly(f"{where} may not be written ({error.strerror})") from error
        raise VaultError(f"{where} could not be written ({error.strerror or error})") from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Map what the system says while reading ``path`` to :class:`VaultUnreadable`."""
    try:
        yield
    except OSError as error:
        raise VaultUnreadable(f"{path} could not be read ({error.strerror or error})") from error


def stamp_of(path: str) -> Stamp | None:
    """The stamp of the file behind ``path`` (symlinks followed); ``None`` if there is none."""
    try:
        return Stamp.of(os.stat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_bytes(path: str) -> bytes:
    """The whole file. Raises OSError; a pipe or device is refused rather than waited for."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except BlockingIOError:
        # Held back for the microseconds of an exchange (see :func:`held_back`).
        descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
            raise OSError(code, "not a regular file", path)
        pieces = []
        while piece := os.read(descriptor, max(status.st_size + 1, 65_536)):
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, however many calls that takes. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_file(descriptor: int) -> None:
    """Make a file's bytes durable. Raises OSError."""
    if sys.platform == "darwin":  # pragma: no cover - only macOS: its fsync stops at the drive's own memory
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:
            os.fsync(descriptor)
    else:
        os.fsync(descriptor)


def is_being_written(path: str) -> bool:
    """Whether some program has the file open for writing right now, as an editor has that saves in place.

    Only Linux can tell (it grants a read lease only on a file without writers),
    and only of one's own files on local file systems; elsewhere the answer is False.
    """
    if not sys.platform.startswith("linux"):  # pragma: no cover - only other systems
        return False
    import fcntl
    import signal

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        # Somebody who opens the file within the next microsecond must not have us killed by SIGIO.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(descriptor)
    return False


class Hold:
    """A file that nobody else can open for now; see :func:`held_back`. Without a descriptor it holds nothing."""

    def __init__(self, descriptor: int = -1) -> None:
        self._descriptor = descriptor

    def is_at(self, path: str) -> bool:
        """Whether the file held is the one at ``path``."""
        try:
            return self._descriptor >= 0 and os.path.samestat(os.fstat(self._descriptor), os.stat(path))
        except OSError:
            return False

    def let_go(self, content: bytes | None = None) -> None:
        """Let others open it; with ``content``, as what those who wait are to read of it."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        try:
            if content is not None:
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                write_all(descriptor, content)
        finally:
            os.close(descriptor)


@contextmanager
def held_back(path: str) -> Iterator[Hold]:
    """Make whoever opens a file wait until this block ends, or it is let go.

    A file that was put in place but may have to be taken away again is so seen by
    nobody. It is a write lease, which only Linux has, and only for one's own files
    on local file systems; elsewhere nobody waits. Whoever holds it must not open
    the file. The kernel frees it when its holder dies.
    """
    hold = Hold(_leased(path))
    try:
        yield hold
    finally:
        hold.let_go()


def _leased(path: str) -> int:
    """A descriptor of the file with a write lease on it; -1 where there is none to be had."""
    if not sys.platform.startswith("linux"):  # pragma: no cover - only other systems
        return -1
    import fcntl
    import signal

    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return -1
    try:
        # The kernel tells the holder that somebody waits, by SIGIO, which would end the process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor


def wait_for_writer(path: str, seconds: float) -> bool:
    """Wait until no program has the file open for writing; False if one still has it after ``seconds``."""
    if not is_being_written(path):
        return True
    import time

    until = time.monotonic() + seconds
    while is_being_written(path):
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def sync_folder(folder: str) -> None:
    """Make names in a folder durable, where the system can (Windows cannot and need not)."""
    if sys.platform == "win32":  # pragma: no cover - only Windows
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: str) -> None:
    """Create a folder and those above it, private to their owner, durably. Raises OSError."""
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent and parent != folder:
        make_folder(parent)
    with suppress(FileExistsError):
        os.mkdir(folder, _FOLDER_MODE)
        sync_folder(parent)
    if not os.path.isdir(folder):
        raise NotADirectoryError(errno.ENOTDIR, "a file stands where a folder is needed", folder)


def write_temporary(folder: str, data: bytes, like: str | None = None, *, sync: bool = True) -> str:
    """A temporary with ``data`` in ``folder``, synced; mode and owner are those of ``like`` if it exists.

    Raises OSError, leaving nothing behind.
    """
    path = os.path.join(folder, f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, _FILE_MODE)
    try:
        try:
            if like is not None and sys.platform != "win32":
                _copy_mode(descriptor, like)
            write_all(descriptor, data)
            if sync:
                sync_file(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        os.unlink(path)
        raise
    return path


def _copy_mode(descriptor: int, like: str) -> None:
    try:
        status = os.stat(like)
    except FileNotFoundError:
        return
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)


def replace_file(path: str, data: bytes) -> None:
    """Put ``data`` at ``path`` in one durable step: for files that only this program writes. Raises OSError."""
    # A file that lies elsewhere by a link keeps lying there.
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    temporary = write_temporary(folder, data, like=path)
    try:
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def remove_file(path: str) -> None:
    """Remove a file durably; one that is gone already is fine. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    sync_folder(os.path.dirname(path))


def create_only(temporary: str, path: str) -> bool:
    """Give the temporary its final name unless that name is taken; False if it kept its own beside that.

    Raises FileExistsError, OSError.
    """
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # File systems without hard links (exFAT, some network folders), or without room for a second name,
        # leave a small window here.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "the file exists", path) from None
        os.rename(temporary, path)
        return True
    try:
        os.unlink(temporary)
    except OSError:
        # The name is given; a second one that stays is a leftover, not a failure.
        return False
    return True


_exchange_works: bool | None = None


def exchange(first: str, second: str) -> bool:
    """Swap two files in one step (``renameat2`` with ``RENAME_EXCHANGE``, Linux 3.15).

    Returns False, having done nothing, where the system or file system cannot.
    Raises FileNotFoundError if either is gone, OSError otherwise.
    """
    global _exchange_works
    if _exchange_works is False or not sys.platform.startswith("linux"):
        return False  # other systems have no such call
    import ctypes

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        _exchange_works = False
        return False
    at_cwd, rename_exchange = -100, 2
    done = call(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), rename_exchange)
    if done == 0:
        _exchange_works = True
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), second)
