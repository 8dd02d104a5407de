"""JSON lines, appended whole: one ``write`` on an ``O_APPEND`` descriptor a call, then a sync.

A tail that a crash or a full disk tore is moved to ``<file>.torn`` before the
next line is written, and counted; it is never fatal.
"""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.storage.files import make_folder, replace_file, sync_file, sync_folder, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

__all__ = ["JsonLines", "Record", "encode_line"]

if TYPE_CHECKING:
    Record = dict[str, Any]
else:
    Record = dict
_BLOCK = 65_536
_BINARY = getattr(os, "O_BINARY", 0)


def encode_line(record: Record) -> bytes:
    """One line of JSON, readable in any language. A lone surrogate is escaped."""
    import json

    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return line.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def _decode_line(line: bytes) -> Record | None:
    import json

    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _append_at(descriptor: int, size: int, data: bytes, sync: bool) -> None:
    """Write at the end, which is at ``size``; on failure cut off again what got there."""
    try:
        write_all(descriptor, data)
        if sync:
            sync_file(descriptor)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


class JsonLines:
    """One file of JSON objects, a line each. Writers must hold the vault's lock."""

    def __init__(self, path: str) -> None:
        self.path = path

    def append(self, records: Iterable[Record], *, sync: bool = True) -> None:
        """Add the records in one write; on failure the file is as before. Raises OSError."""
        self.append_bytes(b"".join(encode_line(record) for record in records), sync=sync)

    def mend(self) -> int:
        """See that the file ends with a whole line; return its size then, 0 if it is not there. Raises OSError."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | _BINARY)
        except FileNotFoundError:
            return 0
        try:
            size = os.fstat(descriptor).st_size
            return self._mend_tail(descriptor, size) if size else 0
        finally:
            os.close(descriptor)

    def append_bytes(self, data: bytes, *, sync: bool = True) -> None:
        """Add whole lines in one write; on failure the file is as before. Raises OSError."""
        if not data:
            return
        folder = os.path.dirname(self.path)
        fresh = not os.path.exists(self.path)
        if fresh:
            make_folder(folder)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, 0o600)
        try:
            if fresh and sync:
                # First its name, then what it holds: what fails afterwards can be taken back.
                sync_folder(folder)
            size = os.fstat(descriptor).st_size
            if size:
                size = self._mend_tail(descriptor, size)
            _append_at(descriptor, size, data, sync)
        except BaseException:
            if fresh and os.fstat(descriptor).st_size == 0:
                with suppress(OSError):
                    os.unlink(self.path)
            raise
        finally:
            os.close(descriptor)

    def _mend_tail(self, descriptor: int, size: int) -> int:
        """See that the file ends with a whole line; return its size after that."""
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        if os.read(descriptor, 1) == b"\n":
            return size
        tail = next(self._lines_backwards(), b"")
        if _decode_line(tail) is not None:
            _append_at(descriptor, size, b"\n", False)
            return size + 1
        aside = os.open(self.torn_path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, 0o600)
        try:
            # Setting it aside may have been cut short before: then it stands there already.
            if next(JsonLines(self.torn_path)._lines_backwards(), b"") != tail:
                _append_at(aside, os.fstat(aside).st_size, tail + b"\n", True)
        finally:
            os.close(aside)
        os.ftruncate(descriptor, size - len(tail))
        return size - len(tail)

    def cut_last(self, is_it: Callable[[Record], bool]) -> bool:
        """Take the last record off again, durably and without needing room, if it is the one. Raises OSError."""
        descriptor = os.open(self.path, os.O_RDWR | _BINARY)
        try:
            size = os.fstat(descriptor).st_size
            line = next(self._lines_backwards(), b"")
            record = _decode_line(line)
            if record is None or not is_it(record):
                return False
            os.lseek(descriptor, max(0, size - 1), os.SEEK_SET)
            ended = os.read(descriptor, 1) == b"\n"
            os.ftruncate(descriptor, size - len(line) - ended)
            sync_file(descriptor)
            return True
        finally:
            os.close(descriptor)

    @property
    def torn_path(self) -> str:
        """Where torn tails are kept."""
        return self.path + ".torn"

    def torn(self) -> int:
        """How many torn tails were set aside, and broken lines still stand in the file."""
        aside = 0
        with suppress(FileNotFoundError), open(self.torn_path, "rb") as stream:
            aside = stream.read().count(b"\n")
        return aside + sum(1 for line in self._lines() if line.strip() and _decode_line(line) is None)

    def read(self, start: int = 0) -> Iterator[Record]:
        """Every readable record from byte ``start`` on, oldest first; broken lines are passed over.

        Raises OSError, but not for absence.
        """
        for line in self._lines(start):
            if (record := _decode_line(line)) is not None:
                yield record

    def read_backwards(self) -> Iterator[Record]:
        """Every readable record, newest first, reading no more of the file than is asked for."""
        for line in self._lines_backwards():
            if (record := _decode_line(line)) is not None:
                yield record

    def rewrite(self, change: Callable[[Record], Record | None]) -> int:
        """Replace the file by its records as changed (``None`` drops one); returns how many differ.

        Lines that do not parse are dropped too when any record changed: what
        they hold cannot be told. Raises OSError.
        """
        kept, changed = [], 0
        for line in self._lines():
            record = _decode_line(line)
            if record is None:
                continue
            result = change(record)
            if result is None or result != record:
                changed += 1
            if result is not None:
                kept.append(line + b"\n" if result == record else encode_line(result))
        if changed:
            replace_file(self.path, b"".join(kept))
        return changed

    def size(self) -> int:
        """The file's size in bytes; 0 if it is not there."""
        try:
            return os.path.getsize(self.path)
        except FileNotFoundError:
            return 0

    def is_boundary(self, position: int) -> bool:
        """Whether a line begins, or the file ends with a whole line, at byte ``position``."""
        if position == 0:
            return True
        try:
            with open(self.path, "rb") as stream:
                stream.seek(position - 1)
                return stream.read(1) == b"\n"
        except FileNotFoundError:
            return False

    def _lines(self, start: int = 0) -> Iterator[bytes]:
        with suppress(FileNotFoundError), open(self.path, "rb") as stream:
            stream.seek(start)
            for line in stream:
                yield line[:-1] if line.endswith(b"\n") else line

    def _lines_backwards(self) -> Iterator[bytes]:
        with suppress(FileNotFoundError), open(self.path, "rb") as stream:
            position = stream.seek(0, os.SEEK_END)
            pieces: list[bytes] = []
            first = True
            while position > 0:
                step = min(_BLOCK, position)
                position -= step
                stream.seek(position)
                lines = stream.read(step).split(b"\n")
                # A line may span many blocks: its pieces are joined once, when its start is found.
                pieces.append(lines.pop())
                while lines:
                    line = b"".join(reversed(pieces))
                    if not (first and not line):
                        yield line
                    first = False
                    pieces = [lines.pop()]
            if pieces and (line := b"".join(reversed(pieces))):
                yield line
