"""``vectors.json``: which of the files count and how much of each; what it does not name does not exist."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from zlib import crc32

from memoranda.core.records import asdict, dataclass, field
from memoranda.storage.files import sync_file, sync_folder, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["POINTER", "Calibration", "Damaged", "Pointer", "encode", "new_token", "read_pointer", "write_pointer"]

POINTER = "vectors.json"
_FORMAT = 1


class Damaged(Exception):
    """What a file says is not what was written; the vectors have to be made again."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found out about signatures when they were made.

    ``method`` is ``"cascade"``, or ``"int8"`` where signs alone lose too much.
    ``fraction`` of all rows is looked at by the second step, and ``rerank`` rows
    by the last. ``recall`` is the share of the ten nearest that this found of
    ``queries`` blends of two rows each, among ``rows``; ``tried`` lists for other
    fractions what the first step kept. ``seconds`` is how long it took to find out.
    """

    method: str
    fraction: float
    rerank: int
    recall: float
    queries: int
    rows: int
    seconds: float
    tried: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Pointer:
    """What was committed last.

    ``base``, ``order`` and ``signatures`` are the tokens of the files that count
    ("" for none). ``rows`` have been written, ``live`` of them are held;
    ``keys_size`` is where the lines end. ``ordered`` rows are in the order,
    which has ``entries``. ``wiping`` are rows (from, up to) which are not held
    any more but may not be wiped yet. ``signed_at`` is how many rows there were
    when the mean was taken.
    """

    model: str
    dimension: int
    generation: int = 0
    rows: int = 0
    live: int = 0
    keys_size: int = 0
    base: str = ""
    order: str = ""
    ordered: int = 0
    entries: int = 0
    signatures: str = ""
    signed_at: int = 0
    homes: tuple[str, ...] = ()
    wiping: tuple[tuple[int, int], ...] = ()
    calibration: Calibration | None = field(default=None)


def new_token() -> str:
    """A token that no other files have."""
    return os.urandom(6).hex()


def encode(pointer: Pointer) -> bytes:
    """The bytes of a pointer, with their checksum."""
    about = {"format": _FORMAT, **asdict(pointer)}
    body = json.dumps(about, ensure_ascii=True)
    return f'{{"pointer": {body}, "crc": {crc32(body.encode("ascii"))}}}\n'.encode("ascii")


def read_pointer(data: bytes) -> Pointer:
    """What the bytes say. Raises Damaged: they are none that were written, or of another format."""
    try:
        whole: dict[str, Any] = json.loads(data)
        about = whole["pointer"]
        if crc32(json.dumps(about, ensure_ascii=True).encode("ascii")) != whole["crc"]:
            raise Damaged(f"{POINTER} is damaged")
        if about.pop("format") != _FORMAT:
            raise Damaged(f"{POINTER} is of another format")
        about["homes"] = tuple(about["homes"])
        about["wiping"] = tuple((start, stop) for start, stop in about["wiping"])
        if found := about["calibration"]:
            found["tried"] = tuple((fraction, recall) for fraction, recall in found["tried"])
            about["calibration"] = Calibration(**found)
        return Pointer(**about)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Damaged(f"{POINTER} is damaged") from error


def write_pointer(folder: str, pointer: Pointer) -> bytes:
    """Make a pointer the one that counts, durably; its bytes. Raises OSError: the old one still counts."""
    data = encode(pointer)
    path = os.path.join(folder, POINTER)
    temporary = f"{path}.{new_token()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        try:
            write_all(descriptor, data)
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)
    return data
