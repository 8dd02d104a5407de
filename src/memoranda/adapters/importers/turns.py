"""Conversations as JSON lines: one turn a line.

::

    {"conversation": "conv_1", "turn": "4", "ts": "2026-07-10T03:00:00Z",
     "speaker": "Lin", "role": "user", "text": "I like the sea."}

``conversation``, ``turn`` and ``text`` are needed. Every further key is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache

from memoranda.core.errors import NotFound, UsageError
from memoranda.core.model import Problem, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo
    from typing import BinaryIO

__all__ = ["check_record", "read_turns"]

_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_KNOWN = frozenset({"conversation", "turn", "ts", "speaker", "role", "text"})


class _Refused(Exception):
    """A record that is no turn; its arguments are the problem's kind and message."""


@cache
def _not_in_ids() -> re.Pattern[str]:
    return re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _identifier(record: Mapping[object, object], key: str, forbidden: str) -> str:
    value = record.get(key)
    if key == "turn" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        raise _Refused("record", f"{key!r} is missing")
    if not isinstance(value, str):
        raise _Refused("record", f"{key!r} is {_shown(value)}, not text")
    value = value.strip()
    if not value:
        raise _Refused("record", f"{key!r} is empty")
    for character in forbidden:
        if character in value:
            raise _Refused("id", f"{key!r} may not hold {character!r}: {value!r}")
    if _not_in_ids().search(value):
        raise _Refused("id", f"{key!r} may not hold control characters: {value!r}")
    return value


def _optional(record: Mapping[object, object], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Refused("record", f"{key!r} is {_shown(value)}, not text")
    return value.strip()


def _shown(value: object) -> str:
    words = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return words.get(type(value), type(value).__name__)


def _time(record: Mapping[object, object]) -> str:
    ts = _optional(record, "ts")
    if ts:
        try:
            datetime.fromisoformat(ts)
        except ValueError:
            raise _Refused("ts", f"'ts' is no ISO 8601 time: {ts[:60]!r}") from None
    return ts


def check_record(record: object, path: str, line: int) -> Turn | Problem:
    """The turn that a record describes, or what is wrong with it.

    ``path`` and ``line`` say where the record stands and go into the problem.
    A whole number as ``turn`` becomes text; ``ts``, ``speaker`` and ``role`` may
    be missing or null; ids hold no ``/``, ``#`` and control characters.
    """
    if not isinstance(record, Mapping):
        return Problem(path, line, "record", f"a turn is a JSON object, not {_shown(record)}")
    try:
        text = record.get("text")
        if not isinstance(text, str):
            what = "missing" if text is None else f"{_shown(text)}, not text"
            raise _Refused("record", f"'text' is {what}")
        return Turn(
            conversation=_identifier(record, "conversation", "/#"),
            turn=_identifier(record, "turn", "/#"),
            text=text,
            ts=_time(record),
            speaker=_optional(record, "speaker"),
            role=_optional(record, "role"),
            extra={str(key): value for key, value in record.items() if key not in _KNOWN},
        )
    except _Refused as refused:
        kind, message = refused.args
        return Problem(path, line, kind, message)


def _parse(line: bytes, path: str, number: int) -> Turn | Problem:
    import json

    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(path, number, "encoding", f"byte {error.start + 1} of the line is not UTF-8")
    try:
        record = json.loads(text)
    except RecursionError:
        return Problem(path, number, "json", "not JSON: nested too deeply")
    except ValueError as error:
        return Problem(path, number, "json", f"not JSON: {error}")
    return check_record(record, path, number)


def _read(stream: BinaryIO, path: str) -> Iterator[Turn | Problem]:
    # A binary stream ends its lines at b"\n" alone; U+2028 and the like stay inside a record.
    for number, line in enumerate(stream, 1):
        if number == 1:
            if line.startswith(_WIDE_BOMS):
                yield Problem(path, 1, "encoding", "the file is UTF-16; save it as UTF-8")
                return
            line = line.removeprefix(_BOM)
        if line.strip():
            yield _parse(line, path, number)


def read_turns(path: str, zone: tzinfo = UTC) -> Iterator[Turn | Problem]:
    """Read turns from a file of JSON lines, or from standard input (``-``).

    A line that is no turn is yielded as a problem with its line number; the
    rest goes on. Memory is bounded by the longest line. ``zone`` is not needed
    here: every reader takes it.

    Raises:
        NotFound: there is no such file.
        UsageError: it is a folder or may not be read.
    """
    if path == "-":
        import sys

        yield from _read(sys.stdin.buffer, "standard input")
        return
    try:
        with open(os.path.expanduser(path), "rb") as stream:
            yield from _read(stream, path)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise UsageError(f"{path} could not be read ({error.strerror})") from error
