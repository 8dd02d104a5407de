"""Names that may be written here, as near as can be to what another program calls its things."""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.errors import BadName
from memoranda.core.names import (
    MAX_SEGMENT_BYTES,
    RESERVED_FOLDERS,
    check_category,
    check_item_name,
    clean_name,
    made_name,
    name_key,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FreeNames", "legal_category", "legal_id", "legal_name", "short_name"]

_NOT_IN_FILE_NAME = r'[\\/:：*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+'
_NOT_IN_NAME = r"\[\[|\]\]|[|#\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_NOT_IN_ID = r"[/#\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+"
_LONGEST_NAME = 120
_LONGEST_LOOKED_AT = 1000


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def legal_category(path: str) -> str:
    """A category that may be written, as near to ``path`` as can be.

    Raises:
        BadName: nothing of it can be a name.
    """
    try:
        return check_category(path)
    except BadName:
        segments = [_legal_segment(part) for part in path.split("/")]
        if len(segments) > 1 and segments[0].casefold() in RESERVED_FOLDERS:
            segments[0] = "imported-" + segments[0]
        return check_category("/".join(segments))


def _legal_segment(part: str) -> str:
    segment = clean_name(_pattern(_NOT_IN_FILE_NAME).sub("-", part)).strip(" .-") or "unnamed"
    data = segment.encode("utf-8")
    if len(data) > MAX_SEGMENT_BYTES:
        segment = data[:MAX_SEGMENT_BYTES].decode("utf-8", "ignore").strip(" .-")
    try:
        return check_category(segment)
    except BadName:
        return "imported-" + segment  # the name of a Windows device


def legal_name(heading: str) -> str | None:
    """An item's name that may be written, as near to the heading as can be; ``None`` if nothing of it can."""
    cleaned = clean_name(_pattern(_NOT_IN_NAME).sub("-", heading)).strip("~^- ")
    try:
        return check_item_name(cleaned)
    except BadName:
        return None


def short_name(heading: str) -> str | None:
    """:func:`legal_name`, cut between words where it is longer than a name is worth (120 characters)."""
    name = legal_name(heading)
    if name is None or len(name) <= _LONGEST_NAME:
        return name
    head = name[:_LONGEST_NAME]
    return legal_name(head.rpartition(" ")[0] or head)


def legal_id(identifier: str) -> str:
    """An id of a conversation or a turn: without ``/``, ``#`` and control characters; empty if nothing is left."""
    return _pattern(_NOT_IN_ID).sub("-", identifier).strip().strip("-").strip()


class FreeNames:
    """Gives each entry of one category a name that no other has."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._taken = {name_key(name) for name in names}
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """``name`` if it is free, else the next that is."""
        if name_key(name) not in self._taken:
            self._taken.add(name_key(name))
            return name
        return self.free(name)

    def take_made(self, text: str) -> str:
        """A name made from the text."""
        # A name comes from the first clause; what follows would only cost time.
        return self.take(legal_name(made_name(text[:_LONGEST_LOOKED_AT])) or "item")

    def free(self, name: str) -> str:
        """``name-2``, ``name-3`` ...: the first that is free."""
        key = name_key(name)
        number = self._next.get(key, 2)
        while name_key(f"{name}-{number}") in self._taken:
            number += 1
        self._next[key] = number + 1
        self._taken.add(name_key(f"{name}-{number}"))
        return f"{name}-{number}"
