"""The file that one baseline is kept in: all of it in the first line, then a line for each change since.

Every line ends with the hash that the category's file has after it, and with
checksums, so that asking for the hash reads only the end, and damage is noticed.
"""

from __future__ import annotations

import os
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from memoranda.storage.accounts import Baseline

__all__ = [
    "DAMAGE",
    "ENDING",
    "append_delta",
    "baseline_name",
    "checksum",
    "read_baseline",
    "read_hash",
    "replace_unsynced",
    "write_baseline",
]

ENDING = ".seen"

#: What reading a damaged file may raise.
DAMAGE = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
_TAIL_BYTES = 64


def baseline_name(path: str) -> str:
    """The name of the file that a category's baseline is kept in."""
    import hashlib  # loads OpenSSL

    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:24] + ENDING


def read_hash(file: str) -> str:
    """The hash in the last line. Raises OSError, ValueError for damage."""
    with open(file, "rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL_BYTES))
        _, tail, check_tail = stream.read().rsplit(b"\t", 2)
    if checksum(tail) + b"\n" != check_tail:
        raise ValueError(file)
    return tail.decode("ascii")


def read_baseline(file: str) -> Baseline:
    """Fold the lines. Raises one of :data:`DAMAGE`."""
    import json

    from memoranda.storage.accounts import Baseline

    with open(file, "rb") as stream:
        data = stream.read()
    if not data.endswith(b"\n"):
        raise ValueError(file)
    path, file_hash = "", ""
    items: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(data[:-1].split(b"\n")):
        body, check, tail, check_tail = line.split(b"\t")
        if checksum(body + tail) != check or checksum(tail) != check_tail:
            raise ValueError(file)
        row = json.loads(body)
        if number == 0:
            path = row["path"]
        file_hash = tail.decode("ascii")
        for key, value in row["items"].items():
            if value is None:
                items.pop(key, None)
            else:
                items[key] = (value[0], value[1])
    return Baseline(path, file_hash, items)


def write_baseline(file: str, baseline: Baseline) -> None:
    """Write all of it anew. Raises OSError."""
    replace_unsynced(file, _line({"path": baseline.path, "items": baseline.items}, baseline.hash))


def append_delta(file: str, delta: Mapping[str, tuple[str, str] | None], file_hash: str) -> bool:
    """Add a line for a change; False if it is not all there. Raises OSError."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        line = _line({"items": dict(delta)}, file_hash)
        return os.write(descriptor, line) == len(line)
    finally:
        os.close(descriptor)


def replace_unsynced(target: str, data: bytes | Iterable[bytes]) -> None:
    """Put ``data`` (or its pieces) in place in one step; it need not survive a power cut. Raises OSError."""
    temporary = f"{target}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    with open(descriptor, "wb") as stream:
        stream.writelines((data,) if isinstance(data, bytes) else data)
    os.replace(temporary, target)


def checksum(data: bytes) -> bytes:
    """Eight hexadecimal digits of CRC-32."""
    return b"%08x" % zlib.crc32(data)


def _line(row: dict[str, Any], file_hash: str) -> bytes:
    import json

    body = json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    tail = file_hash.encode("ascii")
    return b"\t".join((body, checksum(body + tail), tail, checksum(tail))) + b"\n"
