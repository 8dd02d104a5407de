"""What the exports of chat programs have in common: which file holds the conversations, and how a turn is made."""

from __future__ import annotations

import re
from functools import cache

from memoranda.adapters.importers.legal_names import legal_id
from memoranda.core.model import Turn
from memoranda.core.names import content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["Spoken", "conversation_id", "holds_conversations", "joined", "turns_of"]

_FILE = r"(?i)conversations(?:[-_ ]?\d+)?\.json\Z"
_NOT_TEXT = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def holds_conversations(name: str) -> bool:
    """Whether a file of an export is one of those that hold conversations (``conversations.json``, ``-001`` ...)."""
    return _pattern(_FILE).match(name) is not None


def conversation_id(conversation: Mapping[str, Any], *keys: str) -> str:
    """The conversation's own id, made legal; where it has none, one made from its title and its beginning."""
    for key in keys:
        value = conversation.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and (found := legal_id(str(value))):
            return found
    told = [str(conversation.get(key, "")) for key in ("title", "name", "create_time", "created_at")]
    return "untitled-" + content_hash("\n".join(told))


def joined(pieces: Iterable[str]) -> str:
    """The pieces that hold anything, one below the other, without control characters."""
    whole = "\n".join(piece.strip("\n") for piece in pieces if piece.strip())
    return _pattern(_NOT_TEXT).sub("", whole).strip()


class Spoken:
    """One message on its way to be a turn."""

    __slots__ = ("id", "role", "text", "ts")

    def __init__(self, id: str, role: str, text: str, ts: str) -> None:
        self.id = id
        self.role = role
        self.text = text
        self.ts = ts


def turns_of(conversation: str, title: object, spoken: Iterable[Spoken], left_out: int = 0) -> list[Turn]:
    """The turns of one conversation. The first one carries the title, and how many turns were left out beside it."""
    turns: list[Turn] = []
    for number, message in enumerate(spoken, 1):
        extra: dict[str, Any] = {}
        if not turns and isinstance(title, str) and title.strip():
            extra["title"] = title.strip()
        if not turns and left_out:
            extra["other_branches"] = left_out
        identifier = legal_id(message.id) or str(number)
        turns.append(Turn(conversation, identifier, message.text, message.ts, message.role, message.role, extra))
    return turns
