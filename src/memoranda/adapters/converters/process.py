"""A converting process as its parent has it: started when needed, kept, replaced after a fault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress

from memoranda.adapters.converters.messages import Request, pack_request, read_frame, unpack_answer, write_frame
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.documents import Converted

__all__ = ["ConvertingProcess"]

_MODULE = "memoranda.adapters.converters.child"
#: A process is replaced after so many documents: what leaks in libraries stays small.
_DOCUMENTS = 1_000
#: What of the environment a converter may know; keys of services are not among it.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT", "WINDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
              "TESSDATA_PREFIX")  # fmt: skip


class ConvertingProcess:
    """Converts one document after another in a process apart. For one thread at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._limits: object = None
        self._done = 0
        self._ended = False

    def convert(self, request: Request) -> Converted:
        """The document, converted within its limits.

        Raises:
            NotConverted: it cannot be taken in; or it took too much, or crashed the process, which is replaced then.
        """
        if self._limits != request.limits or self._done >= _DOCUMENTS:
            self.close()  # limits once set stand
        process = self._running()
        self._limits = request.limits
        self._done += 1
        late = threading.Event()
        clock = threading.Timer(request.limits.seconds, _overdue, (process, late))
        clock.daemon = True
        clock.start()
        try:
            frame = self._ask(process, request)
        finally:
            clock.cancel()
        if late.is_set() or frame is None:
            fault = self._fault(process, late.is_set(), request)
            self.close()
            raise fault
        try:
            answer = unpack_answer(frame)
        except (ValueError, KeyError, TypeError) as error:
            self.close()
            raise NotConverted("corrupt", "damaged: the converter went astray on it") from error
        if isinstance(answer, NotConverted):
            if answer.kind in ("too_large", "too_slow"):
                self.close()
            raise answer
        return answer

    def _ask(self, process: subprocess.Popen[bytes], request: Request) -> tuple[bytes, bytes] | None:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):  # it died while it was being told
            write_frame(process.stdin, pack_request(request))
        try:
            return read_frame(process.stdout, 8 * request.limits.markdown + (1 << 20))
        except OSError:
            return None

    def _fault(self, process: subprocess.Popen[bytes], late: bool, request: Request) -> NotConverted:
        limits = request.limits
        if late:
            return NotConverted("too_slow", f"took more than {limits.seconds:g} seconds")
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
        code = process.returncode
        if code is not None and code == -getattr(signal, "SIGXCPU", 0):
            return NotConverted("too_slow", f"took more than {limits.cpu_seconds} seconds of the processor's time")
        if code is not None and code == -getattr(signal, "SIGKILL", 0):
            return NotConverted("too_large", "the system ended its conversion: out of memory")
        if code == -getattr(signal, "SIGABRT", 0):  # how libraries answer when there is no more memory
            return NotConverted("too_large", f"needs more than the {limits.memory >> 20} MB of memory that are allowed")
        return NotConverted("corrupt", "damaged: the converter crashed on it")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._folder = tempfile.TemporaryDirectory(prefix="memoranda-", ignore_cleanup_errors=True)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-B", "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder.name,
                env=_environment(self._folder.name),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self.close()
            raise NotConverted("unsupported", "no process can be started to convert it in") from error
        if self._ended:  # looked at when the process is there to be ended: either this sees it, or kill() does
            self.close()
            raise NotConverted("too_slow", "its conversion was called off")
        return self._process

    def kill(self) -> None:
        """End what is being converted, for good, from any thread; :meth:`convert` raises from then on."""
        self._ended = True
        if (process := self._process) is not None:
            _kill(process)

    def close(self) -> None:
        """End the process, if there is one, and all that it has started."""
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            process.wait()
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()
        self._done = 0
        self._limits = None


def _overdue(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its descendants; they are a group of their own where there are groups."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _environment(folder: str) -> dict[str, str]:
    known = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    paths = dict.fromkeys((package, *(one for one in sys.path if one and os.path.isabs(one))))
    return known | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONIOENCODING": "utf-8",
        "HOME": folder,
        "TMPDIR": folder,
        "TEMP": folder,
        "TMP": folder,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
