"""Writing the files of a store: appending behind what is committed, wiping in place, swapping whole files."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager, suppress

import numpy as np

from memoranda.index.vectors.layout import (
    BASE,
    BLOCK,
    HEADER,
    NPY_HEADER,
    ORDER,
    ROW,
    SIGNATURES,
    file_header,
    is_sealed,
    npy_header,
    words,
)
from memoranda.index.vectors.pointer import POINTER
from memoranda.index.vectors.view import path_of, size_of_signatures
from memoranda.storage.files import sync_file, sync_folder, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.index.vectors.pointer import Pointer
    from memoranda.index.vectors.view import View

__all__ = ["Appending", "ranges_of", "recover", "settle", "wipe", "write_file"]

#: Bytes that are written at once.
_PIECE = 1 << 20
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_OLD = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Appending:
    """Rows on their way into the files of a store, behind those that are committed; nothing counts before a pointer.

    ``base`` and ``signatures`` are tokens; with ``fresh`` the files of that group are made anew.
    """

    def __init__(self, folder: str, dimension: int, base: str, signatures: str = "", fresh: Sequence[str] = ()) -> None:
        self._folder, self._dimension = folder, dimension
        self._stack = ExitStack()
        self._files: dict[str, int] = {}
        try:
            for token, names in ((base, BASE), (signatures, SIGNATURES[1:])):
                for name in names if token else ():
                    self._files[name] = self._stack.enter_context(_opened(folder, name, token, token in fresh))
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Appending:
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def vectors(self, row: int, vectors: NDArray[Any]) -> None:
        """Vectors from a row on."""
        _write_at(self._files["vectors.npy"], NPY_HEADER + row * self._dimension * 4, vectors.tobytes())

    def records(self, row: int, records: NDArray[Any], homes: NDArray[Any]) -> None:
        """Records from a row on, and the numbers of their homes as ``vectors.homes`` has them."""
        _write_at(self._files["vectors.rows"], HEADER + row * ROW.itemsize, records.tobytes())
        _write_at(self._files["vectors.homes"], HEADER + row * 4, homes.astype("<u4").tobytes())

    def keys(self, offset: int, lines: bytes) -> None:
        """Lines from an offset on."""
        _write_at(self._files["vectors.keys.jsonl"], offset, lines)

    def signatures(self, row: int, signs: NDArray[Any], codes: NDArray[Any]) -> None:
        """Signatures from a row on: signs (rows × words) and bytes (rows × dimension)."""
        bits, wide = self._files["vectors.bits"], words(self._dimension)
        size = size_of_signatures(row + len(signs), self._dimension)
        if os.fstat(bits).st_size < size:
            os.ftruncate(bits, size)
        done = 0
        while done < len(signs):
            block, at = divmod(row + done, BLOCK)
            part = np.ascontiguousarray(signs[done : done + BLOCK - at].T)
            for plane in range(wide):
                _write_at(bits, HEADER + ((block * wide + plane) * BLOCK + at) * 8, part[plane].tobytes())
            done += part.shape[1]
        _write_at(self._files["vectors.int8"], HEADER + row * self._dimension, codes.tobytes())

    def finish(self, rows: int | None = None) -> None:
        """Make all of it durable; ``rows`` is how many the header of ``vectors.npy`` is to name."""
        if rows is not None:
            _write_at(self._files["vectors.npy"], 0, npy_header(rows, self._dimension))
        for descriptor in self._files.values():
            sync_file(descriptor)


def write_file(folder: str, name: str, token: str, pieces: Iterable[bytes]) -> None:
    """A whole new file under the name that it has until it is settled, durably. Raises OSError."""
    descriptor = os.open(os.path.join(folder, f"{name}.{token}"), _NEW, 0o600)
    try:
        for piece in pieces:
            write_all(descriptor, piece)
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def ranges_of(rows: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Rows as ranges: from, up to."""
    found: list[tuple[int, int]] = []
    for row in sorted(set(rows)):
        if found and found[-1][1] == row:
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row, row + 1))
    return tuple(found)


def wipe(folder: str, view: View, ranges: Sequence[tuple[int, int]]) -> None:
    """Take rows from the disk: zeros for all that is known of them. What was wiped before may be wiped again.

    Raises OSError: it has to be done again.
    """
    pointer, dimension = view.pointer, view.dimension
    if not ranges:
        return
    with ExitStack() as stack:

        def file(name: str, token: str) -> int:
            return stack.enter_context(_opened(folder, name, token, False))

        keys = file("vectors.keys.jsonl", pointer.base)
        files = [
            (file("vectors.npy", pointer.base), NPY_HEADER, dimension * 4),
            (file("vectors.homes", pointer.base), HEADER, 4),
        ]
        bits = -1
        if pointer.signatures and view.codes is not None:
            files.append((file("vectors.int8", pointer.signatures), HEADER, dimension))
            bits = file("vectors.bits", pointer.signatures)
        for start, stop in ranges:
            for offset, line in _blanks(view, start, stop):
                _write_at(keys, offset, line)
            for descriptor, first, size in files:
                _write_zeros(descriptor, first + start * size, (stop - start) * size)
            if bits >= 0:
                _wipe_bits(bits, words(dimension), start, stop)
        for descriptor in (keys, *(one[0] for one in files), *((bits,) if bits >= 0 else ())):
            sync_file(descriptor)
        # The records last: they tell where the lines are that must not be readable any more.
        table = file("vectors.rows", pointer.base)
        for start, stop in ranges:
            _write_zeros(table, HEADER + start * ROW.itemsize, (stop - start) * ROW.itemsize)
        sync_file(table)


def settle(folder: str, pointer: Pointer) -> None:
    """Give the files that count their names, and remove the others. Who cannot leaves it to who writes next."""
    named = {name: token for token, names in _groups(pointer) for name in names}
    with suppress(OSError):
        for found in sorted(os.listdir(folder)):
            name, token = _split(found)
            path = os.path.join(folder, found)
            if name == POINTER:
                if token:
                    os.unlink(path)
            elif name in named:
                if token and token == named[name]:
                    os.replace(path, os.path.join(folder, name))
                elif token or not named[name]:
                    os.unlink(path)
        sync_folder(folder)


def recover(folder: str, view: View) -> None:
    """Finish what a process did not live to finish. Raises OSError."""
    pointer = view.pointer
    settle(folder, pointer)
    wipe(folder, view, pointer.wiping)
    rows, dimension = pointer.rows, pointer.dimension
    if not rows:
        return
    # What lies behind the last row was never committed; it is nobody's, and may be what was to be forgotten since.
    ends = {
        "vectors.npy": NPY_HEADER + rows * dimension * 4,
        "vectors.rows": HEADER + rows * ROW.itemsize,
        "vectors.homes": HEADER + rows * 4,
        "vectors.keys.jsonl": pointer.keys_size,
    }
    if pointer.signatures and view.codes is not None:
        ends["vectors.int8"] = HEADER + rows * dimension
    for name, end in ends.items():
        token = pointer.signatures if name in SIGNATURES else pointer.base
        with _opened(folder, name, token, False) as descriptor:
            if (size := os.fstat(descriptor).st_size) > end:
                _write_zeros(descriptor, end, size - end, b" " if name.endswith(".jsonl") else b"\0")
                sync_file(descriptor)


@contextmanager
def _opened(folder: str, name: str, token: str, fresh: bool) -> Iterator[int]:
    """A descriptor of a file, for writing; a fresh one has its header."""
    path = os.path.join(folder, f"{name}.{token}") if fresh else path_of(folder, name, token)
    descriptor = os.open(path, _NEW if fresh else _OLD, 0o600)
    try:
        if fresh and name not in BASE[:2]:
            write_all(descriptor, file_header(name, token))
        yield descriptor
    finally:
        os.close(descriptor)


def _write_at(descriptor: int, offset: int, data: bytes) -> None:
    os.lseek(descriptor, offset, os.SEEK_SET)
    write_all(descriptor, data)


def _write_zeros(descriptor: int, offset: int, size: int, fill: bytes = b"\0") -> None:
    os.lseek(descriptor, offset, os.SEEK_SET)
    while size > 0:
        part = min(size, _PIECE)
        write_all(descriptor, fill * part)
        size -= part


def _blanks(view: View, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Where the lines of some rows are, and lines as long that say nothing."""
    offset, lines = 0, b""
    for row in range(start, stop):
        record = view.table[row]
        # One that is half wiped already, line and all, would point anywhere.
        if not is_sealed(record, row):
            continue
        at, length = int(record["offset"]), int(record["length"])
        if at != offset + len(lines) or len(lines) > _PIECE:
            if lines:
                yield offset, lines
            offset, lines = at, b""
        lines += b" " * (length - 1) + b"\n"
    if lines:
        yield offset, lines


def _wipe_bits(bits: int, wide: int, start: int, stop: int) -> None:
    while start < stop:
        block, at = divmod(start, BLOCK)
        size = min(stop - start, BLOCK - at)
        for plane in range(wide):
            _write_zeros(bits, HEADER + ((block * wide + plane) * BLOCK + at) * 8, size * 8)
        start += size


def _groups(pointer: Pointer) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (pointer.base, BASE), (pointer.order, ORDER), (pointer.signatures, SIGNATURES)


def _split(found: str) -> tuple[str, str]:
    """The name of one of our files and the token behind it; ("", "") for anything else."""
    if not found.startswith("vectors."):
        return "", ""
    if match := re.fullmatch(r"(vectors\.[a-z0-9.]+)\.([0-9a-f]{12})", found):
        return match[1], match[2]
    return found, ""
