"""Reading category files, and remembering how the last few parsed."""

from __future__ import annotations

import os

from memoranda.core.errors import Conflict, VaultUnreadable
from memoranda.core.records import dataclass
from memoranda.storage.files import Stamp, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.items import Category

__all__ = ["CategoryReader", "LoadedCategory", "bytes_hash", "line_of_bad_byte"]

_REMEMBERED_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class LoadedCategory:
    """A file's bytes, their hash, and the category they hold.

    ``before`` are hash and category of what was read last: what did not change
    since are the very same sections.
    """

    path: str
    data: bytes
    hash: str
    category: Category
    before: tuple[str, Category] | None = None


def bytes_hash(data: bytes) -> str:
    """Sixteen hexadecimal digits of SHA-256 over a whole file."""
    import hashlib  # loads OpenSSL: who hashes nothing does not wait for it

    return hashlib.sha256(data).hexdigest()[:16]


def line_of_bad_byte(data: bytes) -> int:
    """The line (from 1) of the first byte that is not UTF-8; 0 if all are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 0


class CategoryReader:
    """Reads files whole and parses what has not been parsed already."""

    def __init__(self) -> None:
        #: Those used last stand at the end.
        self._known: dict[str, LoadedCategory] = {}
        self._bytes = 0

    def read(self, path: str) -> LoadedCategory | None:
        """The file's present content; ``None`` if there is no file.

        Raises:
            VaultUnreadable: it may not be read.
            Conflict: it is not UTF-8.
        """
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultUnreadable(f"{path} could not be read ({error.strerror or error})") from error
        known = self._known.get(path)
        if known is not None and known.data == data:
            self._known[path] = self._known.pop(path)
            return known
        return self.remember(path, data)

    def remember(self, path: str, data: bytes) -> LoadedCategory:
        """Parse what a file holds, or is about to hold. Raises Conflict if it is not UTF-8."""
        known = self._known.get(path)
        if known is not None and known.data == data:
            return known
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Conflict(
                f"{os.path.basename(path)} is not UTF-8 (line {line_of_bad_byte(data)}); it is left as it is"
            ) from error
        from memoranda.core.items import parse, reparse  # an answer from an unchanged vault parses nothing

        category = parse(text) if known is None else reparse(known.category, text)
        before = None if known is None else (known.hash, known.category)
        loaded = LoadedCategory(path, data, bytes_hash(data), category, before)
        if (old := self._known.pop(path, None)) is not None:
            self._bytes -= len(old.data)
        self._known[path] = loaded
        self._bytes += len(data)
        while self._bytes > _REMEMBERED_BYTES and len(self._known) > 1:
            self._bytes -= len(self._known.pop(next(iter(self._known))).data)
        return loaded

    @staticmethod
    def stamp(path: str) -> Stamp | None:
        """The file's stamp; ``None`` if it is not there."""
        try:
            return Stamp.of(os.stat(path))
        except OSError:
            return None
