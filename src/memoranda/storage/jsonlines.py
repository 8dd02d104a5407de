"""JSON lines, appended whole: one ``write`` on an ``O_APPEND`` descriptor a call, then a sync.

A tail that a crash or a full disk tore is moved to ``<file>.torn`` before the
next line is written, and counted; it is never fatal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from memoranda.storage.files import make_folder, replace_file, sync_folder, write_all

__all__ = ["JsonLines", "Record", "encode_line"]

Record = dict[str, Any]
_BLOCK = 65_536


def encode_line(record: Record) -> bytes:
    """One line of JSON, readable in any language. A lone surrogate is escaped."""
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return line.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def _decode_line(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


class JsonLines:
    """One file of JSON objects, a line each. Writers must hold the vault's lock."""

    def __init__(self, path: str) -> None:
        self.path = path

    def append(self, records: Iterable[Record], *, sync: bool = True) -> None:
        """Add the records in one write; on failure the file is as before. Raises OSError."""
        self.append_bytes(b"".join(encode_line(record) for record in records), sync=sync)

    def mend(self) -> int:
        """See that the file ends with a whole line; return its size after that, 0 if it is not there. Raises OSError."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
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
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        fresh = not os.path.exists(self.path)
        if fresh:
            make_folder(os.path.dirname(self.path))
        descriptor = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size:
                size = self._mend_tail(descriptor, size)
            try:
                write_all(descriptor, data)
                if sync:
                    os.fsync(descriptor)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        if fresh and sync:
            sync_folder(os.path.dirname(self.path))

    def _mend_tail(self, descriptor: int, size: int) -> int:
        """See that the file ends with a whole line; return its size after that."""
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        if os.read(descriptor, 1) == b"\n":
            return size
        tail = next(self._lines_backwards(), b"")
        if _decode_line(tail) is not None:
            write_all(descriptor, b"\n")
            return size + 1
        aside = os.open(self.torn_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            write_all(aside, tail + b"\n")
            os.fsync(aside)
        finally:
            os.close(aside)
        os.ftruncate(descriptor, size - len(tail))
        return size - len(tail)

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

    def read(self) -> Iterator[Record]:
        """Every readable record, oldest first; broken lines are passed over. Raises OSError but for absence."""
        for line in self._lines():
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
        kept, changed, broken = [], 0, 0
        for line in self._lines():
            record = _decode_line(line)
            if record is None:
                broken += bool(line.strip())
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

    def _lines(self) -> Iterator[bytes]:
        try:
            stream = open(self.path, "rb")
        except FileNotFoundError:
            return
        with stream:
            for line in stream:
                yield line[:-1] if line.endswith(b"\n") else line

    def _lines_backwards(self) -> Iterator[bytes]:
        try:
            stream = open(self.path, "rb")
        except FileNotFoundError:
            return
        with stream:
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
