"""How vectors lie in files: names, headers, records of rows, lines of keys, hashes.

==========================  =========================================================================
``vectors.json``            the one pointer: which files count, and how much of each (:mod:`.pointer`)
``vectors.npy``             the vectors, float32, of length 1, a row each; any reader of ``.npy`` reads it
``vectors.keys.jsonl``      a line a row for people: address, parent, home, digest, model, dimension
``vectors.rows``            a record a row (:data:`ROW`): hashes, digest, place of the line, checksum
``vectors.homes``           a number a row: its home and 1, or 0 for what cannot be found
``vectors.order``           hashes of addresses and of parents, each sorted, with their rows
``vectors.mean``            what signatures are made with: mean, scale of each dimension, a rotation
``vectors.bits``            signs of the rotated vectors without their mean, in blocks of planes
``vectors.int8``            the vectors without their mean, a byte a dimension
==========================  =========================================================================

Rows are only ever appended; a row that is taken out is wiped where it lies.
Whole files are swapped by writing them under a name with a token behind it,
naming the token in the pointer, and taking the token off the name.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from zlib import crc32

import numpy as np

from memoranda.core.vectors import VectorRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

__all__ = [
    "BASE",
    "BLOCK",
    "FINDABLE",
    "HEADER",
    "HELD",
    "NPY_HEADER",
    "ORDER",
    "ROW",
    "SIGNATURES",
    "checksum",
    "digest_bytes",
    "file_header",
    "hash_of",
    "is_npy_header",
    "is_sealed",
    "key_line",
    "npy_header",
    "read_key",
    "record_of",
    "seal",
    "words",
]

#: The files of a group are swapped together; each has the group's token in its header, but for the two for people.
BASE = ("vectors.npy", "vectors.keys.jsonl", "vectors.rows", "vectors.homes")
ORDER = ("vectors.order",)
SIGNATURES = ("vectors.mean", "vectors.bits", "vectors.int8")

#: Bytes before the first row of a ``.npy`` file, and of every other binary file.
NPY_HEADER = 128
HEADER = 64
#: Rows in a block of ``vectors.bits``.
BLOCK = 8192
#: Flags of a row. One that is not held is all zero.
HELD, FINDABLE = 1, 2

#: A row of ``vectors.rows``: 64 bytes. ``check`` is the checksum of what stands before it.
ROW = np.dtype(
    [
        ("address", "<u8"),
        ("parent", "<u8"),
        ("digest", "V16"),
        ("offset", "<u8"),
        ("length", "<u4"),
        ("home", "<u4"),
        ("crc", "<u4"),
        ("flags", "<u4"),
        ("row", "<u4"),
        ("check", "<u4"),
    ]
)

_MAGIC = b"\x93NUMPY\x01\x00"


def npy_header(rows: int, dimension: int) -> bytes:
    """The header of a ``.npy`` file, always :data:`NPY_HEADER` bytes long."""
    about = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dimension}), }}"
    room = NPY_HEADER - len(_MAGIC) - 2
    return _MAGIC + room.to_bytes(2, "little") + about.ljust(room - 1).encode("ascii") + b"\n"


def is_npy_header(data: bytes, dimension: int) -> bool:
    """Whether it is one of ours of that dimension; how many rows it names does not count."""
    plain = npy_header(0, dimension)
    start = plain.index(b"(0,") + 1
    return data[:start] == plain[:start] and f", {dimension}), }}".encode("ascii") in data[start:NPY_HEADER]


def file_header(name: str, token: str) -> bytes:
    """What a binary file begins with: its name and the token of its group, :data:`HEADER` bytes."""
    return f"memoranda {name} 1 {token}".encode("ascii").ljust(HEADER - 1)[: HEADER - 1] + b"\n"


def words(dimension: int) -> int:
    """How many words of 64 bits a signature has."""
    return -(-dimension // 64)


def hash_of(text: str) -> int:
    """64 bits of a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def digest_bytes(digest: str) -> bytes:
    """A digest in 16 bytes: what its 32 digits say, or a hash of anything else."""
    if len(digest) == 32:
        try:
            return bytes.fromhex(digest)
        except ValueError:
            pass
    return blake2b(digest.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def key_line(row: VectorRow, model: str, dimension: int) -> bytes:
    """The line of a row, with its end."""
    about = {
        "address": row.address,
        "parent": row.parent,
        "home": row.home,
        "digest": row.digest,
        "model": model,
        "dimension": dimension,
    }
    return json.dumps(about, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def read_key(line: bytes, record: Any) -> VectorRow | None:
    """The row that a line describes; ``None``: it is damaged, or not of this record."""
    try:
        about = json.loads(line.decode("utf-8", "surrogatepass"))
        row = VectorRow(about["address"], about["parent"], about["home"], about["digest"])
        fits = (
            hash_of(row.address) == int(record["address"])
            and hash_of(row.parent) == int(record["parent"])
            and digest_bytes(row.digest) == bytes(record["digest"])
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return row if fits else None


def record_of(row: VectorRow, home: int, offset: int, length: int, crc: int, flags: int) -> tuple[Any, ...]:
    """The record of a row, to put into an array of :data:`ROW` that is then sealed."""
    return hash_of(row.address), hash_of(row.parent), digest_bytes(row.digest), offset, length, home, crc, flags, 0, 0


def seal(records: NDArray[Any], row: int) -> None:
    """Number records from a row on, and put their checksums."""
    records["row"] = np.arange(row, row + len(records))
    records["check"] = [crc32(data[:-4]) for data in _each(records)]


def is_sealed(record: Any, row: int) -> bool:
    """Whether a record is what was written for a row."""
    return int(record["row"]) == row and crc32(record.tobytes()[:-4]) == int(record["check"])


def _each(records: NDArray[Any]) -> list[bytes]:
    data, size = records.tobytes(), ROW.itemsize
    return [data[start : start + size] for start in range(0, len(data), size)]


def checksum(vector: NDArray[Any]) -> int:
    """The checksum of a row's vector."""
    return crc32(vector.tobytes())
