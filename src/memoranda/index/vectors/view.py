"""The files as one pointer has them, mapped into memory: what a reader sees until it looks again."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from zlib import crc32

import numpy as np

from memoranda.index.vectors.layout import (
    BLOCK,
    HEADER,
    HELD,
    NPY_HEADER,
    ROW,
    checksum,
    file_header,
    is_npy_header,
    is_sealed,
    read_key,
    words,
)
from memoranda.index.vectors.pointer import Damaged, Pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.core.vectors import VectorRow

__all__ = ["Frame", "View", "path_of", "size_of_signatures"]

#: So many rows are held against their checksums when the files are opened.
_TRIED_AT_OPENING = 8
#: A byte a row for each: who asks asks the same homes again and again.
_MASKS_HELD = 4


def path_of(folder: str, name: str, token: str) -> str:
    """Where a file of a group is: under its name with the token until that was taken off."""
    path = os.path.join(folder, name)
    waiting = f"{path}.{token}"
    return waiting if os.path.exists(waiting) else path


def size_of_signatures(rows: int, dimension: int) -> int:
    """How long ``vectors.bits`` is: whole blocks."""
    return HEADER + -(-rows // BLOCK) * BLOCK * words(dimension) * 8


class Frame:
    """What signatures are made with: a mean, a scale for each dimension, a rotation."""

    def __init__(self, mean: NDArray[Any], scale: NDArray[Any], rotation: NDArray[Any]) -> None:
        self.mean, self.scale, self.rotation = mean, scale, rotation

    def encode(self, token: str) -> bytes:
        """The bytes of ``vectors.mean``."""
        body = self.mean.tobytes() + self.scale.tobytes() + self.rotation.tobytes()
        return file_header("vectors.mean", token) + body + crc32(body).to_bytes(4, "little")


class View:
    """Mapped files. Arrays are read only, and cost no memory of this process's own."""

    def __init__(self, folder: str, pointer: Pointer, before: View | None = None) -> None:
        """Map them; ``before`` is what was seen last. Raises Damaged, or OSError where one cannot be opened."""
        self.pointer = pointer
        self._masks: dict[tuple[int, ...] | None, NDArray[Any]] = {}
        self.rows = pointer.rows
        self.dimension = pointer.dimension
        self.fault = ""
        self.frame: Frame | None = None
        self.bits: NDArray[Any] | None = None
        self.codes: NDArray[Any] | None = None
        self._wiping_from = [start for start, _ in pointer.wiping]
        self._wiping_to = [stop for _, stop in pointer.wiping]
        rows, dimension = self.rows, self.dimension
        if rows == 0:
            self.vectors: NDArray[Any] = np.empty((0, dimension), "<f4")
            self.table: NDArray[Any] = np.empty(0, ROW)
            self.homes: NDArray[Any] = np.empty(0, "<u4")
            self._keys: Any = b""
        else:
            vectors = _map(path_of(folder, "vectors.npy", pointer.base), NPY_HEADER + rows * dimension * 4)
            if not is_npy_header(vectors[:NPY_HEADER], dimension):
                raise Damaged("vectors.npy does not begin as it should")
            self.vectors = np.frombuffer(vectors, "<f4", rows * dimension, NPY_HEADER).reshape(rows, dimension)
            self.table = _array(folder, "vectors.rows", pointer.base, ROW, rows)
            self.homes = _array(folder, "vectors.homes", pointer.base, np.dtype("<u4"), rows)
            self._keys = _map(path_of(folder, "vectors.keys.jsonl", pointer.base), pointer.keys_size)
            self._try_some()
        self.order: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
        if pointer.order:
            self._map_order(folder)
        if pointer.signatures:
            try:
                self._map_signatures(folder, before)
            except (Damaged, OSError) as error:
                # What is derived from the vectors can be missed: every row is compared instead.
                self.frame = self.bits = self.codes = None
                self.fault = str(error)

    def is_held(self, row: int) -> bool:
        """Whether a row is held."""
        return bool(self.table["flags"][row] & HELD) and not self.is_being_wiped(row)

    def is_being_wiped(self, row: int) -> bool:
        """Whether a row is not held any more though it may not be wiped yet."""
        at = bisect_right(self._wiping_from, row) - 1
        return at >= 0 and row < self._wiping_to[at]

    def findable(self, homes: Sequence[int] | None = None) -> NDArray[Any]:
        """A truth value for each row: whether it may be found, in homes of these numbers. Not to be changed."""
        asked = None if homes is None else tuple(sorted(homes))
        if asked not in self._masks:
            if len(self._masks) >= _MASKS_HELD:
                self._masks.clear()
            self._masks[asked] = self._mask(asked)
        return self._masks[asked]

    def _mask(self, homes: tuple[int, ...] | None) -> NDArray[Any]:
        if homes is None:
            found: NDArray[Any] = self.homes != 0
        else:
            wanted = np.zeros(len(self.pointer.homes) + 1, bool)
            wanted[[home + 1 for home in homes]] = True
            # A damaged number is of no home.
            found = wanted.take(self.homes, mode="clip") & (self.homes < len(wanted))
        for start, stop in self.pointer.wiping:
            found[start:stop] = False
        return found

    def key(self, row: int) -> VectorRow | None:
        """What is known of a row that is held; ``None``: it is not, or what says so is damaged."""
        if not self.is_held(row):
            return None
        record = self.table[row]
        if not is_sealed(record, row):
            return None
        found = read_key(self.line(record), record)
        home = int(record["home"])
        if found is None or home >= len(self.pointer.homes) or self.pointer.homes[home] != found.home:
            return None
        return found

    def line(self, record: Any) -> bytes:
        """The line of a record, with its end."""
        start = int(record["offset"])
        return bytes(self._keys[start : start + int(record["length"])])

    def is_sound(self, row: int) -> bool:
        """Whether a row's vector is what was written."""
        return checksum(self.vectors[row]) == int(self.table["crc"][row])

    def _try_some(self) -> None:
        """Hold some rows against their checksums. Raises Damaged: none of them matches."""
        tried = 0
        for row in np.linspace(0, self.rows - 1, 2 * _TRIED_AT_OPENING).astype(int).tolist():
            if tried < _TRIED_AT_OPENING and self.is_held(row):
                if self.is_sound(row):
                    return
                tried += 1
        if tried:
            raise Damaged("vectors.npy does not hold the vectors that vectors.rows tells of")

    def _map_order(self, folder: str) -> None:
        entries = self.pointer.entries
        data = _map(path_of(folder, "vectors.order", self.pointer.order), HEADER + entries * 24)
        _check_header(data, "vectors.order", self.pointer.order)
        at, parts = HEADER, []
        for kind in ("<u8", "<u8", "<u4", "<u4"):
            parts.append(np.frombuffer(data, kind, entries, at))
            at += entries * int(kind[2])
        self.order = (parts[0], parts[2], parts[1], parts[3])

    def _map_signatures(self, folder: str, before: View | None) -> None:
        rows, dimension, token = self.rows, self.dimension, self.pointer.signatures
        if before is not None and before.pointer.signatures == token and before.frame is not None:
            self.frame = before.frame
        else:
            self.frame = self._read_frame(folder, token)
        wide = words(dimension)
        data = _map(path_of(folder, "vectors.bits", token), size_of_signatures(rows, dimension))
        _check_header(data, "vectors.bits", token)
        blocks = -(-rows // BLOCK)
        self.bits = np.frombuffer(data, "<u8", blocks * wide * BLOCK, HEADER).reshape(blocks, wide, BLOCK)
        self.codes = _array(folder, "vectors.int8", token, np.dtype("i1"), rows * dimension).reshape(rows, dimension)

    def _read_frame(self, folder: str, token: str) -> Frame:
        dimension = self.dimension
        length = 4 * (2 * dimension + dimension * dimension)
        data = _map(path_of(folder, "vectors.mean", token), HEADER + length + 4)
        _check_header(data, "vectors.mean", token)
        if crc32(memoryview(data)[HEADER : HEADER + length]) != int.from_bytes(
            data[HEADER + length : HEADER + length + 4], "little"
        ):
            raise Damaged("vectors.mean is damaged")
        numbers = np.frombuffer(data, "<f4", length // 4, HEADER)
        return Frame(
            numbers[:dimension],
            numbers[dimension : 2 * dimension],
            numbers[2 * dimension :].reshape(dimension, dimension),
        )


def _map(path: str, size: int) -> Any:
    """A file's bytes, mapped. Raises Damaged: there are fewer than ``size``."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    try:
        if os.fstat(descriptor).st_size < size:
            raise Damaged(f"{os.path.basename(path)} is shorter than it was")
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) if size else b""
    finally:
        os.close(descriptor)


def _array(folder: str, name: str, token: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    data = _map(path_of(folder, name, token), HEADER + count * kind.itemsize)
    _check_header(data, name, token)
    return np.frombuffer(data, kind, count, HEADER)


def _check_header(data: Any, name: str, token: str) -> None:
    if data[:HEADER] != file_header(name, token):
        raise Damaged(f"{name} is not the file that belongs to the others")
