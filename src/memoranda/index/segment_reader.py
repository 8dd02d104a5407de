"""Reading a segment: by single reads at known places, never mapped, so that no truncation can kill the process."""

from __future__ import annotations

import json
import os
import stat
from array import array
from bisect import bisect_left
from zlib import crc32

from memoranda.index.segment_format import (
    BLOCK,
    ENTRY,
    HEADER,
    LOW_WORD,
    MAGIC,
    NUMBER,
    SHARD_SHIFT,
    VERSION,
    SegmentDamaged,
    unseal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    Columns = tuple[Sequence[int], Sequence[int]]

__all__ = ["Column", "PostingTable", "SegmentFile", "Table"]

_BLOCKS_HELD = 4096
_TERMS_HELD = 65_536
_POSTING_BYTES_HELD = 96_000_000
_AS_LISTS = 4096
#: A mapping of so many postings is worth being made for each time that single documents were asked for.
_WORTH_MAPPING = 100


class SegmentFile:
    """An open segment. It stays readable when another takes its place on disk.

    Raises:
        SegmentDamaged: it is no whole segment of this version. So may every read.
        OSError: there is none.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        # A pipe in its place is refused rather than waited for.
        self._descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        )
        try:
            status = os.fstat(self._descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise SegmentDamaged("no regular file")
            self._size = status.st_size
            magic, version, offset, length = HEADER.unpack(unseal(self.read(0, HEADER.size + 4)))
            if not magic.startswith(MAGIC) or version != VERSION:
                raise SegmentDamaged("another layout")
            self.contents: dict[str, Any] = self.read_json(offset, length)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the file back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes from ``offset``."""
        if not 0 <= length <= self._size - offset:
            raise SegmentDamaged("beyond its end")
        try:
            data = os.pread(self._descriptor, length, offset)
        except (OSError, OverflowError, ValueError) as error:
            raise SegmentDamaged(str(error)) from error
        if len(data) != length:
            raise SegmentDamaged("it ends too soon")
        return data

    def read_json(self, offset: int, length: int) -> dict[str, Any]:
        """A sealed JSON object."""
        try:
            found = json.loads(unseal(self.read(offset, length)))
        except (ValueError, RecursionError) as error:
            raise SegmentDamaged(str(error)) from error
        if not isinstance(found, dict):
            raise SegmentDamaged("no object where one should be")
        return found


class Column:
    """Numbers of one kind, read in blocks; those read last are kept."""

    __slots__ = ("_blocks", "_file", "_item", "_offset", "_type", "count")

    def __init__(self, file: SegmentFile, offset: int, typecode: str, count: int) -> None:
        self._file, self._offset, self._type, self.count = file, offset, typecode, count
        self._item = array(typecode).itemsize
        self._blocks: dict[int, array[Any]] = {}

    def __getitem__(self, at: int) -> Any:
        """The number at a place from 0."""
        number = at // BLOCK
        block = self._blocks.get(number)
        return (self._block(number) if block is None else block)[at % BLOCK]

    def slice(self, start: int, end: int) -> list[Any]:
        """The numbers from ``start`` up to ``end``."""
        found: list[Any] = []
        for number in range(start // BLOCK, -(-end // BLOCK)):
            first = number * BLOCK
            found += self._block(number)[max(0, start - first) : end - first]
        return found

    def _block(self, number: int) -> array[Any]:
        block = self._blocks.get(number)
        if block is None:
            size = min(BLOCK, self.count - number * BLOCK) * self._item
            if size <= 0:
                raise SegmentDamaged("beyond the end of a column")
            block = array(self._type)
            block.frombytes(unseal(self._file.read(self._offset + number * (BLOCK * self._item + 4), size + 4), number))
            if len(self._blocks) >= _BLOCKS_HELD:
                self._blocks.clear()
            self._blocks[number] = block
        return block


class Table:
    """A hash table on disk. ``layout`` of an entry begins with its key's length; the key follows."""

    __slots__ = ("_buckets", "_file", "_layout", "_offset", "_places")

    def __init__(self, file: SegmentFile, place: list[int], layout: Any = NUMBER) -> None:
        offset, places, self._buckets = place
        self._file, self._offset, self._layout = file, offset, layout
        self._places = Column(file, places, "Q", self._buckets + 1)

    def find(self, key: bytes, mark: int) -> tuple[int, ...] | None:
        """What the entry of a key says, its length aside; ``None`` if there is none."""
        number = mark & (self._buckets - 1)
        wanted, layout = len(key), self._layout
        data, at = self._bucket(number), 0
        while at < len(data):
            length, *rest = layout.unpack_from(data, at)
            at += layout.size
            if length == wanted and data.startswith(key, at):
                return tuple(rest)
            at += length
        return None

    def entries(self) -> Iterator[tuple[bytes, tuple[int, ...]]]:
        """Every key with what its entry says."""
        layout = self._layout
        for number in range(self._buckets):
            data, at = self._bucket(number), 0
            while at < len(data):
                length, *rest = layout.unpack_from(data, at)
                at += layout.size
                yield data[at : at + length], tuple(rest)
                at += length

    def _bucket(self, number: int) -> bytes:
        start, end = self._places[number], self._places[number + 1]
        return unseal(self._file.read(self._offset + start, end - start), number) if end > start else b""


class PostingTable:
    """The terms of a partition with their postings."""

    __slots__ = ("_asked", "_codes", "_columns", "_file", "_held", "_known", "_regions", "_tables")

    def __init__(self, file: SegmentFile, shards: list[list[int]]) -> None:
        self._file = file
        self._tables = [Table(file, place[:3], ENTRY) for place in shards]
        self._regions = [place[3] for place in shards]
        self._known: dict[str, tuple[int, ...] | None] = {}
        self._columns: dict[str, Columns] = {}
        #: The codes by document of terms that single documents are asked for again and again, and how often they were.
        self._codes: dict[str, dict[int, int]] = {}
        self._asked: dict[str, int] = {}
        self._held = 0

    def find(self, term: str) -> tuple[int, ...] | None:
        """Most often in one document, documents, shortest document, checksum and place of a term that is there."""
        try:
            return self._known[term]
        except KeyError:
            pass
        key = term.encode("utf-8", "surrogatepass")
        mark = crc32(key)
        shard = mark >> SHARD_SHIFT
        found = self._tables[shard].find(key, mark)
        if found is not None and found[1] > 1:
            most, df, shortest, check, place = found
            found = (most, df, shortest, check, place + self._regions[shard])
        if len(self._known) >= _TERMS_HELD:
            self._known.clear()
        self._known[term] = found
        return found

    def columns(self, term: str) -> Columns | None:
        """The documents that hold a term, ascending, and their codes."""
        columns = self._columns.get(term)
        if columns is not None:
            return columns
        found = self.find(term)
        if found is None:
            return None
        _, df, _, check, place = found
        words = array("I")
        if df == 1:
            words.frombytes(array("Q", [place]).tobytes())
        else:
            data = self._file.read(place, df * 8)
            if crc32(data) != check:
                raise SegmentDamaged("a checksum does not match")
            words.frombytes(data)
        placed: Columns = (words[1 - LOW_WORD :: 2], words[LOW_WORD::2])
        size = df * 8
        if df <= _AS_LISTS:
            # The numbers of a list are made once, those of an array at every look.
            placed, size = (list(placed[0]), list(placed[1])), df * 80
        self._hold(size)
        self._columns[term] = placed
        return placed

    def codes(self, term: str, docs: Collection[int]) -> list[tuple[int, int]]:
        """Of these documents, those that hold the term, with their codes."""
        mapped = self._codes.get(term)
        if mapped is not None:
            return [(doc, mapped[doc]) for doc in docs if doc in mapped]
        columns = self.columns(term)
        if columns is None:
            return []
        held, codes = columns
        size = len(held)
        self._asked[term] = asked = self._asked.get(term, 0) + 1
        if asked * _WORTH_MAPPING > size and type(held) is list:
            self._hold(size * 100)
            self._codes[term] = dict(zip(held, codes, strict=True))
        if len(docs) * 8 > size:
            return [(doc, codes[bisect_left(held, doc)]) for doc in sorted(set(docs).intersection(held))]
        found = []
        for doc in docs:
            at = bisect_left(held, doc)
            if at < size and held[at] == doc:
                found.append((doc, codes[at]))
        return found

    def _hold(self, size: int) -> None:
        """Make room for so many bytes more."""
        self._held += size
        if self._held > _POSTING_BYTES_HELD:
            self._columns.clear()
            self._codes.clear()
            self._asked.clear()
            self._held = size

    def terms(self) -> Iterator[str]:
        """Every term."""
        for table in self._tables:
            for key, _ in table.entries():
                yield key.decode("utf-8", "surrogatepass")
