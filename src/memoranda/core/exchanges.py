"""An exchange: what was said to an agent and what it answered, as it waits to be memorized."""

from __future__ import annotations

from memoranda.core.addresses import Scope, parse_scope
from memoranda.core.model import Turn
from memoranda.core.names import check_identifier
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = [
    "MERGED_FROM",
    "REPLY",
    "Exchange",
    "TurnContext",
    "exchange_from_record",
    "exchange_to_record",
    "joined_sources",
    "split_sources",
]

#: Behind the id of a turn, the id of what the assistant answered.
REPLY = ".reply"
#: The metadata that names the further turns an item comes from, where something was merged into it.
MERGED_FROM = "also_from"

#: Of the records in ``inbox/``.
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a host knows of the turn at hand; every part may be left out.

    ``conversation`` and ``turn`` are ids (a turn without one is numbered by its
    moment), ``ts`` is when it was said. ``user``, ``agent`` and ``project`` are
    whose memory is read: the chain project → agent → user → shared. ``scope`` is
    where memories are written: by itself the user's, else shared memory.
    ``speaker`` and ``assistant`` are how the two are called in the turns.
    """

    conversation: str = ""
    turn: str = ""
    ts: str = ""
    user: str = ""
    agent: str = ""
    project: str = ""
    scope: str = ""
    speaker: str = ""
    assistant: str = ""

    @property
    def written_scope(self) -> str:
        """Where memories of this turn are written. Raises BadName: a part cannot be a name."""
        if self.scope:
            return str(parse_scope(self.scope))
        return str(Scope("user", check_identifier(self.user, "a user"))) if self.user else "shared"

    @property
    def read_scopes(self) -> tuple[str, ...]:
        """Whose memory is read, the nearest first. Raises BadName: a part cannot be a name."""
        named = (("project", self.project), ("agent", self.agent), ("user", self.user))
        chain = [str(Scope(kind, check_identifier(name, f"a {kind}"))) for kind, name in named if name]
        return tuple(dict.fromkeys([*chain, self.written_scope, "shared"]))

    @property
    def owner(self) -> str | None:
        """Whom memories are about, as an item's ``owner`` says it."""
        return f"user:{self.user}" if self.user else None


@dataclass(frozen=True, slots=True)
class Exchange:
    """Turns of one conversation that are memorized together, by one question to the model at most.

    ``scope`` is where memories are written, ``scopes`` what is read for them,
    ``owner`` whom they are about. ``again``: it is to be asked about once more,
    whatever was made of it before.
    """

    conversation: str
    turns: tuple[Turn, ...]
    scope: str = "shared"
    scopes: tuple[str, ...] = ("shared",)
    owner: str | None = None
    again: bool = False

    @property
    def source(self) -> str:
        """The address of its first turn: where its memories come from."""
        return f"turn/{self.conversation}#{self.turns[0].turn}"

    @property
    def ts(self) -> str:
        """When it was said, if that is known."""
        return next((turn.ts for turn in self.turns if turn.ts), "")


def exchange_to_record(exchange: Exchange) -> dict[str, Any]:
    """The exchange as a JSON object."""
    turns = [
        {"turn": turn.turn, "ts": turn.ts, "speaker": turn.speaker, "role": turn.role, "text": turn.text, **turn.extra}
        for turn in exchange.turns
    ]
    return {
        "format": _FORMAT,
        "conversation": exchange.conversation,
        "scope": exchange.scope,
        "scopes": list(exchange.scopes),
        "owner": exchange.owner,
        **({"again": True} if exchange.again else {}),
        "turns": [{key: value for key, value in turn.items() if value != "" or key == "text"} for turn in turns],
    }


def exchange_from_record(record: Mapping[str, Any]) -> Exchange:
    """The exchange in a JSON object. Raises ValueError: it holds none, or one that a newer program wrote."""
    try:
        if record["format"] != _FORMAT:
            raise ValueError(f"its format is {record['format']!r}; this program knows {_FORMAT}")
        conversation = record["conversation"]
        turns = tuple(_turn(conversation, row) for row in record["turns"])
        scopes, owner = tuple(record.get("scopes") or ("shared",)), record.get("owner")
        scope = record.get("scope") or "shared"
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is no exchange of a conversation") from error
    if not turns or not all(isinstance(value, str) for value in (conversation, scope, *scopes, owner or "")):
        raise ValueError("it is no exchange of a conversation")
    return Exchange(conversation, turns, scope, scopes, owner, record.get("again") is True)


_OWN = frozenset({"turn", "ts", "speaker", "role", "text"})


def _turn(conversation: str, row: Mapping[str, Any]) -> Turn:
    values = {key: row.get(key, "") for key in _OWN}
    if not all(isinstance(value, str) for value in values.values()) or not values["turn"]:
        raise ValueError("it is no exchange of a conversation")
    return Turn(conversation, extra={key: value for key, value in row.items() if key not in _OWN}, **values)


def joined_sources(sources: Iterable[str]) -> str:
    """Addresses of turns as the metadata :data:`MERGED_FROM` has them: each once, spaces within one as ``%20``."""
    return " ".join(dict.fromkeys(one.replace("%", "%25").replace(" ", "%20") for one in sources))


def split_sources(text: str | None) -> list[str]:
    """The addresses that :func:`joined_sources` joined."""
    return [one.replace("%20", " ").replace("%25", "%") for one in (text or "").split()]
