"""What a converting process takes from itself before it reads a stranger's document.

Memory, processor time and the size of files are limited by the kernel. There is
no network: on Linux the process moves into a network namespace of its own where
the kernel lets it, and everywhere Python refuses sockets and files opened for
writing outside the process's own folder. Where the system has no such limits
(Windows), the parent's clock is what remains.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.adapters.converters.limits import Limits

__all__ = ["allow_seconds", "enter", "without_network"]

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
#: No file grows larger, whoever writes it: pictures of pages for OCR are the largest.
_LARGEST_FILE = 256 << 20
_OPEN_FILES = 256


def enter(limits: Limits, folder: str) -> bool:
    """Limit this process for good; ``folder`` is where it may write. Whether the kernel keeps it off the network.

    To be called before there is a second thread.
    """
    _limit_resources(limits)
    apart = without_network()
    sys.addaudithook(_Guard(folder))
    return apart


def _limit_resources(limits: Limits) -> None:
    try:
        import resource
    except ImportError:
        return
    for which, most in (
        ("RLIMIT_AS", limits.memory),
        ("RLIMIT_FSIZE", _LARGEST_FILE),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NOFILE", _OPEN_FILES),
    ):
        number = getattr(resource, which, None)
        if number is None:
            continue
        _, hard = resource.getrlimit(number)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(number, (wanted, wanted))
        except (ValueError, OSError):  # macOS knows limits that it does not keep
            continue


def allow_seconds(seconds: int) -> None:
    """Let this process use so much more processor time; beyond it the kernel ends it (SIGXCPU)."""
    try:
        import resource
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(usage.ru_utime + usage.ru_stime) + max(seconds, 1) + 1
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (wanted, hard))
    except (ValueError, OSError):
        return


def without_network() -> bool:
    """Move into a network namespace that holds nothing; whether that could be done."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        unshare = ctypes.CDLL(None, use_errno=True).unshare
        return any(unshare(one) == 0 for one in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))
    except (ImportError, OSError, AttributeError):
        return False


#: Changes of files that Python announces, with how many paths each names.
_CHANGES = {"os.chmod": 1, "os.link": 2, "os.mkdir": 1, "os.remove": 1, "os.rename": 2, "os.rmdir": 1, "os.symlink": 2,
            "os.truncate": 1, "shutil.rmtree": 1}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Guard:
    """Sees what Python is about to do, and refuses what no converter needs."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(os.path.realpath(folder), "")

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith("socket.") and event not in ("socket.gethostname", "socket.__new__"):
            raise PermissionError("a converter has no network")
        if event in _CHANGES:
            self._own(*arguments[: _CHANGES[event]])
        elif event == "open" and arguments[2] & _WRITING:
            self._own(arguments[0])

    def _own(self, *paths: Any) -> None:
        for path in paths:
            if isinstance(path, int):
                continue
            whole = os.path.realpath(os.fsdecode(path))
            if whole != os.devnull and not whole.startswith(self._folder):
                raise PermissionError("a converter writes nothing")
