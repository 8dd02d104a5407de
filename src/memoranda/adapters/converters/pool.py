"""Converting documents, one or many: text in this process, everything else in processes apart."""

from __future__ import annotations

import os
import stat
from collections import deque
from hashlib import sha256

from memoranda.adapters.converters.choosing import IN_PROCESS, check_choices, convert_here
from memoranda.adapters.converters.formats import may_be_plain, recognise
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.messages import Request
from memoranda.core.documents import NotConverted
from memoranda.core.records import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import queue
    from collections.abc import Iterable, Iterator, Mapping
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType

    from memoranda.adapters.converters.process import ConvertingProcess
    from memoranda.core.documents import Converted

    Source = bytes | str | os.PathLike[str]

__all__ = ["ConverterPool", "Job", "Result", "convert", "convert_many"]

_MOST_WORKERS = 8
#: So many documents and bytes are read ahead at most, or one document.
_AHEAD, _BYTES_AHEAD = 64, 256 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """A document to be converted: its bytes, or the path of its file; ``name`` is a file's name where it has none."""

    source: Source
    name: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job: ``converted``, or ``refused`` says why not.

    ``digest`` (SHA-256, hex) and ``size`` are of the bytes that were read; empty
    and 0 where none could be.
    """

    job: Job
    converted: Converted | None = None
    refused: NotConverted | None = None
    digest: str = ""
    size: int = 0


class ConverterPool:
    """Up to ``workers`` converting processes, started when a document needs one and kept until :meth:`close`.

    ``choices`` names converters by format where another than the usual one is
    wanted. Raises UsageError: there is none of that name for that format.
    """

    def __init__(
        self, workers: int = 0, *, limits: Limits | None = None, choices: Mapping[str, str] | None = None
    ) -> None:
        from memoranda.index.build_pool import usable_cores

        check_choices(choices or {})
        self._workers = max(1, min(workers or usable_cores(), _MOST_WORKERS))
        self._limits = limits or Limits()
        self._choices = dict(choices or {})
        self._threads: ThreadPoolExecutor | None = None
        self._idle: queue.LifoQueue[ConvertingProcess] | None = None
        self._every: list[ConvertingProcess] = []

    def __enter__(self) -> ConverterPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        for one in self._every:
            one.kill()
        if self._threads is not None:
            self._threads.shutdown()
        for one in self._every:
            one.close()
        self._threads, self._idle, self._every = None, None, []

    def convert(self, source: Source, name: str = "") -> Converted:
        """One document. Raises NotConverted: it cannot be taken in."""
        result = next(self.convert_many((Job(source, name),)))
        if result.converted is None:
            raise result.refused or NotConverted("corrupt", "damaged")
        return result.converted

    def convert_many(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """What became of each job, in their order, as soon as it and those before it are done. Jobs are read as needed.

        A document that cannot be taken in is a result, never an exception.
        """
        waiting: deque[tuple[Result | Future[Result], int]] = deque()
        held = 0
        for job in jobs:
            begun, size = self._begin(job)
            waiting.append((begun, size))
            held += size
            while waiting and (len(waiting) > _AHEAD or held > _BYTES_AHEAD or _is_there(waiting[0][0])):
                first, size = waiting.popleft()
                held -= size
                yield first if isinstance(first, Result) else first.result()
        for first, _ in waiting:
            yield first if isinstance(first, Result) else first.result()

    def _begin(self, job: Job) -> tuple[Result | Future[Result], int]:
        """The result of a job where it is there at once, else the promise of it and how many bytes it holds."""
        limits = self._limits
        name = job.name or (os.fspath(job.source) if not isinstance(job.source, bytes) else "")
        name = os.path.basename(name)
        try:
            data = _read(job.source, limits)
        except NotConverted as fault:
            return Result(job, None, fault), 0
        known = Result(job, None, None, sha256(data).hexdigest(), len(data))
        if not data:
            return replace(known, refused=NotConverted("empty", "the file is empty: 0 bytes")), 0
        if may_be_plain(data, name) and not self._choices.keys() & IN_PROCESS:
            try:
                found = recognise(data, name, limits)
                if found.format in IN_PROCESS:
                    made = convert_here(data, found.format, name, limits)
                    return replace(known, converted=replace(made, notes=found.notes + made.notes)), 0
            except NotConverted as fault:
                return replace(known, refused=fault), 0
        request = Request(data, name, limits, tuple(self._choices.items()))
        return self._executor().submit(self._apart, request, known), len(data)

    def _executor(self) -> ThreadPoolExecutor:
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor
            from queue import LifoQueue

            from memoranda.adapters.converters.process import ConvertingProcess

            self._threads = ThreadPoolExecutor(self._workers, "convert")
            self._idle = LifoQueue()
            self._every = [ConvertingProcess() for _ in range(self._workers)]
            for one in self._every:
                self._idle.put(one)
        return self._threads

    def _apart(self, request: Request, known: Result) -> Result:
        assert self._idle is not None
        process = self._idle.get()
        try:
            return replace(known, converted=process.convert(request))
        except NotConverted as fault:
            return replace(known, refused=fault)
        finally:
            self._idle.put(process)


def convert(
    source: Source, name: str = "", *, limits: Limits | None = None, choices: Mapping[str, str] | None = None
) -> Converted:
    """One document, from its bytes or its path. Raises NotConverted: it cannot be taken in."""
    with ConverterPool(1, limits=limits, choices=choices) as pool:
        return pool.convert(source, name)


def convert_many(
    jobs: Iterable[Job],
    *,
    limits: Limits | None = None,
    workers: int = 0,
    choices: Mapping[str, str] | None = None,
) -> Iterator[Result]:
    """What became of each job, see :meth:`ConverterPool.convert_many`. ``workers`` 0: as many as there are cores."""
    with ConverterPool(workers, limits=limits, choices=choices) as pool:
        yield from pool.convert_many(jobs)


def _is_there(begun: Result | Future[Result]) -> bool:
    return isinstance(begun, Result) or begun.done()


def _read(source: Source, limits: Limits) -> bytes:
    """The bytes of a document. Raises NotConverted: too many, no file, or none that can be read."""
    if isinstance(source, bytes):
        data = source
    else:
        try:
            about = os.stat(source)
            if not stat.S_ISREG(about.st_mode):
                raise NotConverted("unsupported", "no file")
            data = b""
            if about.st_size <= limits.size:
                with open(source, "rb") as file:
                    data = file.read(limits.size + 1)
            else:
                raise _too_large(about.st_size, limits)
        except OSError as error:
            raise NotConverted("unsupported", f"cannot be opened: {error.strerror or error}") from error
        except ValueError as error:
            raise NotConverted("unsupported", "cannot be opened: no path of a file") from error
    if len(data) > limits.size:
        raise _too_large(len(data), limits)
    return data


def _too_large(size: int, limits: Limits) -> NotConverted:
    return NotConverted("too_large", f"a file of {size >> 20} MB; {limits.size >> 20} MB are allowed")
