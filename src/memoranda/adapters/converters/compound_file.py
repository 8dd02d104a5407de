"""Compound files (OLE 2): the little file system inside .doc, .xls, .ppt and .msg, read by [MS-CFB].

Chains of sectors are followed as far as they can be without a loop; a stream is
never longer than the file.
"""

from __future__ import annotations

import struct

from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SIGNATURE", "CompoundFile"]

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LAST = 0xFFFFFFFA
_NONE = 0xFFFFFFFF


class CompoundFile:
    """The streams of a compound file, by path: ``("Root", "WordDocument")`` is ``"WordDocument"``.

    Raises:
        NotConverted: ``corrupt``: it is none, or its tables lead nowhere.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            self._open()
        except (struct.error, IndexError, ValueError) as error:
            raise NotConverted("corrupt", "damaged or cut off: an Office file whose tables cannot be read") from error

    def _open(self) -> None:
        data = self._data
        if not data.startswith(SIGNATURE) or len(data) < 512:
            raise ValueError("no compound file")
        shift, mini_shift = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or mini_shift > shift:
            raise ValueError("sectors of an odd size")
        self._size, self._mini_size = 1 << shift, 1 << mini_shift
        fat_count, directory = struct.unpack_from("<I4xI", data, 44)[0], struct.unpack_from("<I", data, 48)[0]
        self._cutoff, mini_fat, _, more, _ = struct.unpack_from("<5I", data, 56)
        places = list(struct.unpack_from("<109I", data, 76))
        seen: set[int] = set()
        while more < _LAST and more not in seen:
            seen.add(more)
            sector = struct.unpack(f"<{self._size // 4}I", self._sector(more))
            places += sector[:-1]
            more = sector[-1]
        self._fat: list[int] = []
        for place in places[: max(fat_count, 0)]:
            if place < _LAST:
                self._fat += struct.unpack(f"<{self._size // 4}I", self._sector(place))
        mini = self._chain(mini_fat)
        self._mini_fat = struct.unpack(f"<{len(mini) // 4}I", mini[: len(mini) // 4 * 4])
        self._entries = self._read_entries(self._chain(directory))
        self._mini_stream = self._chain(self._entries[0][5])
        self._paths: dict[str, tuple[int, int]] = {}
        self._storages: dict[str, None] = {}
        self._walk(self._entries[0][4], "", set())

    def _sector(self, number: int) -> bytes:
        begin = (number + 1) * self._size
        found = self._data[begin : begin + self._size]
        if len(found) < self._size:
            if not found:
                raise ValueError("a sector beyond the end")
            found = found.ljust(self._size, b"\0")
        return found

    def _chain(self, number: int) -> bytes:
        pieces: list[bytes] = []
        most = len(self._data) // self._size + 2
        while number < _LAST and len(pieces) < most:
            pieces.append(self._sector(number))
            number = self._fat[number]
        return b"".join(pieces)

    def _read_entries(self, raw: bytes) -> list[tuple[str, int, int, int, int, int, int]]:
        """Of each entry: name, kind (1 storage, 2 stream, 5 root), left, right, child, first sector, size."""
        found = []
        for at in range(0, len(raw) - 127, 128):
            length = min(struct.unpack_from("<H", raw, at + 64)[0], 64)
            name = raw[at : at + max(length - 2, 0)].decode("utf-16-le", "replace")
            left, right, child = struct.unpack_from("<3I", raw, at + 68)
            start, size = struct.unpack_from("<II", raw, at + 116)
            found.append((name, raw[at + 66], left, right, child, start, size))
        return found

    def _walk(self, first: int, folder: str, seen: set[int]) -> None:
        """Note the entries of a storage: a tree of siblings, each perhaps with a tree below."""
        todo = [(first, folder)]
        while todo:
            number, folder = todo.pop()
            if number >= len(self._entries) or number in seen:
                continue
            seen.add(number)
            name, kind, left, right, child, start, size = self._entries[number]
            todo += [(left, folder), (right, folder)]
            if kind == 2:
                self._paths[folder + name] = (start, size)
            elif kind == 1:
                self._storages[folder + name] = None
                todo.append((child, f"{folder}{name}/"))

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        """The paths of all streams, in order."""
        return iter(sorted(self._paths))

    @property
    def storages(self) -> list[str]:
        """The paths of all storages (folders), in order."""
        return sorted(self._storages)

    def read(self, path: str) -> bytes:
        """A stream's bytes. Raises NotConverted: it is not there or damaged."""
        if path not in self._paths:
            raise NotConverted("corrupt", f"damaged: there is no stream {path!r} in it")
        start, size = self._paths[path]
        try:
            if size >= self._cutoff:
                return self._chain(start)[:size]
            pieces: list[bytes] = []
            count = (size + self._mini_size - 1) // self._mini_size
            while start < _LAST and len(pieces) < count:
                pieces.append(self._mini_stream[start * self._mini_size : (start + 1) * self._mini_size])
                start = self._mini_fat[start]
            return b"".join(pieces)[:size]
        except (struct.error, IndexError, ValueError) as error:
            raise NotConverted("corrupt", f"damaged: the stream {path!r} in it is cut off") from error
