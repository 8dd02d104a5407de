"""How a segment lies on disk: columns in checked blocks, hash tables of checked buckets.

A segment is derived from the vault's files and may be deleted at any time.
Nothing read from it is believed before its checksum has been compared, so that
a truncated, overwritten or flipped byte is noticed where it matters, and where
it does not, costs nothing. Numbers are in the byte order of the machine that
wrote them; another machine builds its own.

Layout::

    header   magic, version, place and checksum of the table of contents
    ...      for each partition: rows, columns, tables, postings, and a head that says where they are
    contents JSON: what the segment was made from, and where each partition's head is

A posting is one number of 64 bits: the document above, its code (see
:mod:`memoranda.index.bm25`) below.
"""

from __future__ import annotations

import os
import sys
from array import array
from contextlib import suppress
from struct import Struct
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

__all__ = [
    "BLOCK",
    "BUCKET_LOAD",
    "ENTRY",
    "HEADER",
    "LOW_WORD",
    "MAGIC",
    "NUMBER",
    "SHARDS",
    "SHARD_SHIFT",
    "VERSION",
    "SegmentDamaged",
    "bucket_count",
    "create",
    "encode_column",
    "encode_table",
    "seal",
    "unseal",
]

#: To be raised with every change of the layout, or of what is kept of an entry.
VERSION = 4
MAGIC = b"memoranda-keywords-" + (b"<" if sys.byteorder == "little" else b">")
#: magic, version, offset and length of the contents.
HEADER = Struct("=20sIQQ")
#: Numbers in a block of a column.
BLOCK = 512
#: Entries in a bucket of a table, on average.
BUCKET_LOAD = 6
#: The terms are cut into so many tables by their hash, which can be made at the same time.
SHARDS = 16
#: Its number are the uppermost bits of that.
SHARD_SHIFT = 28
#: Of a term: length of its name, most often in one document, documents, shortest document, checksum, place.
ENTRY = Struct("=IHIIIQ")
#: Of a key: length of its name, a number.
NUMBER = Struct("=II")
#: Which of a posting's two words of 32 bits is the code.
LOW_WORD = 0 if sys.byteorder == "little" else 1


class SegmentDamaged(Exception):
    """What a segment says is not what was written; it has to be made again."""


def create(path: str) -> BinaryIO:
    """A new file to write, private, in place of whatever has that name; never what a link there leads to."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return open(os.open(path, flags, 0o600), "wb")


def seal(data: bytes, seed: int = 0) -> bytes:
    """The bytes with their checksum behind them; ``seed`` ties them to their place."""
    return data + crc32(data, seed).to_bytes(4, sys.byteorder)


def unseal(data: bytes, seed: int = 0) -> bytes:
    """What was sealed. Raises SegmentDamaged."""
    if len(data) < 4 or crc32(data[:-4], seed) != int.from_bytes(data[-4:], sys.byteorder):
        raise SegmentDamaged("a checksum does not match")
    return data[:-4]


def bucket_count(entries: int) -> int:
    """How many buckets a table of so many entries has: a power of two."""
    return 1 << max(0, (entries // BUCKET_LOAD)).bit_length()


def encode_column(numbers: array[int] | array[float]) -> bytes:
    """The blocks of a column, each sealed."""
    size = numbers.itemsize * BLOCK
    data = numbers.tobytes()
    return b"".join([seal(data[at : at + size], at // size) for at in range(0, len(data), size)])


def encode_table(marked: Iterable[tuple[int, bytes]], count: int) -> tuple[bytes, bytes]:
    """A hash table of ``count`` entries, each with the hash of its key: the buckets, and the column of their places."""
    buckets = bucket_count(count)
    filled: list[list[bytes]] = [[] for _ in range(buckets)]
    mask = buckets - 1
    for mark, entry in marked:
        filled[mark & mask].append(entry)
    return b"".join(_placed(filled, places := array("Q", [0]))), encode_column(places)


def _placed(filled: list[list[bytes]], places: array[int]) -> Iterator[bytes]:
    place = 0
    for number, entries in enumerate(filled):
        if entries:
            bucket = seal(b"".join(entries), number)
            place += len(bucket)
            yield bucket
        places.append(place)
