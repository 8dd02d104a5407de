"""Exports that are JSON: one file, the folder or the zip archive that holds it; an array, an object, or JSON lines.

Values are decoded one by one, so that a large export costs the memory of its
text and of one record. Whatever is broken is a problem with its line.
"""

from __future__ import annotations

import os

from memoranda.core.errors import NotFound, UsageError
from memoranda.core.model import Problem
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

__all__ = ["MOST_BYTES", "Record", "decode_json", "read_export"]

#: A larger file is refused: what is compressed may claim to be endless.
MOST_BYTES = 1 << 30

_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_BLANK = " \t\r\n"
_DEEP = "nested too deeply"


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value, the file it stands in (relative to the source) and the line where it begins."""

    value: Any
    path: str
    line: int


def read_export(path: str, holds: Callable[[str], bool]) -> Iterator[Record | Problem]:
    """The values of a JSON file, of a zip archive's or of a folder's files whose base names ``holds`` accepts.

    An array yields its elements, JSON lines their values, an object itself.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it cannot be read, or holds no such file.
    """
    path = os.path.expanduser(path)
    try:
        if os.path.isdir(path):
            yield from _read_folder(path, holds)
        elif not os.path.exists(path):
            raise NotFound(f"there is no file {path}")
        elif not os.path.isfile(path):
            raise UsageError(f"{path} is neither a file nor a folder")
        else:
            with open(path, "rb") as stream:
                if stream.read(4) == b"PK\x03\x04":
                    yield from _read_archive(path, holds)
                else:
                    stream.seek(0)
                    yield from _read_stream(stream, os.path.basename(path))
    except OSError as error:
        raise UsageError(f"{path} could not be read ({error.strerror or error})") from error


def _read_folder(path: str, holds: Callable[[str], bool]) -> Iterator[Record | Problem]:
    names = [name for name in sorted(os.listdir(path)) if holds(name) and os.path.isfile(os.path.join(path, name))]
    if not names:
        raise UsageError(f"{path} holds no file that this format reads")
    root = os.path.realpath(path)
    for name in names:
        real = os.path.realpath(os.path.join(path, name))
        if os.path.dirname(real) != root:
            yield Problem(name, 0, "symlink", "a symbolic link that leads out of the folder is not followed")
            continue
        with open(real, "rb") as stream:
            yield from _read_stream(stream, name)


def _read_archive(path: str, holds: Callable[[str], bool]) -> Iterator[Record | Problem]:
    import struct
    import zipfile
    import zlib

    broken = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError)
    try:
        archive = zipfile.ZipFile(path)
    except broken as error:
        raise UsageError(f"{path} is a broken zip archive ({error})") from error
    with archive:
        entries = [entry for entry in archive.infolist() if holds(entry.filename.rpartition("/")[2])]
        if not entries:
            raise UsageError(f"{path} holds no file that this format reads")
        for entry in sorted(entries, key=lambda entry: entry.filename):
            try:
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ValueError("an unusual compression")
                with archive.open(entry) as stream:
                    data = stream.read(MOST_BYTES + 1)
            except broken as error:
                yield Problem(entry.filename, 0, "unreadable", f"could not be taken out of the archive ({error})")
                continue
            yield from _read_bytes(data, entry.filename)


def _read_stream(stream: BinaryIO, path: str) -> Iterator[Record | Problem]:
    yield from _read_bytes(stream.read(MOST_BYTES + 1), path)


def _read_bytes(data: bytes, path: str) -> Iterator[Record | Problem]:
    if len(data) > MOST_BYTES:
        yield Problem(path, 0, "size", f"larger than {MOST_BYTES >> 20} MiB, so the file is left out")
        return
    if data.startswith(_WIDE_BOMS):
        yield Problem(path, 1, "encoding", "the file is UTF-16; save it as UTF-8")
        return
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Problem(path, line, "encoding", "not UTF-8 here, so the file is left out")
        return
    del data
    start = len(text) - len(text.lstrip(_BLANK))
    if start == len(text):
        return
    line = text.count("\n", 0, start) + 1
    if text[start] == "[":
        yield from _elements(text, start + 1, path, line)
        return
    value = decode_json(text, path, 1)
    if not isinstance(value, Problem):
        yield Record(value, path, line)
    elif "\n" in text.strip():
        yield from _lines(text, path, value)
    else:
        yield value


def decode_json(text: str, path: str, line: int) -> Any:
    """The value of a JSON text, or a :class:`Problem` that says what is wrong with it."""
    import json

    try:
        return json.loads(text)
    except RecursionError:
        return Problem(path, line, "json", f"not JSON: {_DEEP}")
    except json.JSONDecodeError as error:
        return Problem(path, line + error.lineno - 1, "json", f"not JSON: {error.msg} (column {error.colno})")
    except ValueError as error:
        return Problem(path, line, "json", f"not JSON: {error}")


def _elements(text: str, at: int, path: str, line: int) -> Iterator[Record | Problem]:
    """The elements of an array; what follows a broken one cannot be found again."""
    import json

    decoder = json.JSONDecoder()
    counted = at
    first = True
    while True:
        at = _blank_end(text, at)
        if text.startswith("]", at):
            rest = _blank_end(text, at + 1)
            if rest < len(text):
                line += text.count("\n", counted, rest)
                yield Problem(path, line, "json", "something stands behind the array: left out")
            return
        if not first:
            if not text.startswith(",", at):
                line += text.count("\n", counted, at)
                yield Problem(path, line, "json", "not JSON: a comma or the array's end is missing; the rest is lost")
                return
            at = _blank_end(text, at + 1)
        line += text.count("\n", counted, at)
        counted = at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            why = _DEEP if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
            yield Problem(path, line, "json", f"not JSON: {why}; the rest of the file is left out")
            return
        first = False
        yield Record(value, path, line)


def _blank_end(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _lines(text: str, path: str, whole: Problem) -> Iterator[Record | Problem]:
    """One value a line; where no line holds one, what is wrong with the text as a whole."""
    problems: list[Problem] = []
    sound = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(_BLANK):
            continue
        value = decode_json(line, path, number)
        if not isinstance(value, Problem):
            if not sound:
                yield from problems
            sound = True
            yield Record(value, path, number)
        elif sound:
            yield value
        elif len(problems) < 1000:
            problems.append(value)
    if not sound:
        yield whole
