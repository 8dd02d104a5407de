"""Addresses: how one item, turn or passage is named from outside.

==========================================  =====================================
``preferences:likes-the-sea``               an item of shared memory
``user/lin/preferences:likes-the-sea``      the same for one person
``agent/<a>/…:…``  ``project/<p>/…:…``      an agent's, a project's memory
``turn/<conversation>#<turn>``              a turn of a conversation
``kb/<corpus>/<doc-id>#<n>``                a passage of a document
==========================================  =====================================

The first colon (also the full-width ``：``) splits category and name.
"""

from __future__ import annotations

from memoranda.core.errors import BadName
from memoranda.core.names import check_category, check_identifier, check_item_name, name_key
from memoranda.core.records import dataclass

__all__ = ["SHARED", "Address", "Scope", "TurnAddress", "parse_address", "parse_document", "parse_scope", "parse_turn"]

SCOPE_KINDS = ("user", "agent", "project")


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is: ``shared``, or one ``user``, ``agent`` or ``project``."""

    kind: str = "shared"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}" if self.name else self.kind

    @property
    def prefix(self) -> str:
        """What stands before the category in an address (empty for shared memory)."""
        return f"{self.kind}/{self.name}/" if self.name else ""


SHARED = Scope()


@dataclass(frozen=True, slots=True)
class Address:
    """Where an item is, or (``name`` is ``None``) a whole category."""

    scope: Scope
    category: str
    name: str | None = None

    def __str__(self) -> str:
        head = self.scope.prefix + self.category
        return head if self.name is None else f"{head}:{self.name}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What two addresses of the same item have in common."""
        return (name_key(str(self.scope)), name_key(self.category), name_key(self.name or ""))

    def named(self, name: str) -> Address:
        """The address of another item in the same category."""
        return Address(self.scope, self.category, name)


@dataclass(frozen=True, slots=True)
class TurnAddress:
    """Where a turn of a conversation is; ``turn`` is ``None`` for the whole conversation."""

    conversation: str
    turn: str | None = None

    def __str__(self) -> str:
        return f"turn/{self.conversation}" + ("" if self.turn is None else f"#{self.turn}")


def parse_scope(text: str) -> Scope:
    """Read ``shared``, ``user/lin``, ``agent/scout`` or ``project/apollo``.

    Raises:
        BadName: it is none of these.
    """
    kind, _, name = text.partition("/")
    if kind.casefold() == "shared" and not name:
        return SHARED
    if kind.casefold() in SCOPE_KINDS:
        return Scope(kind.casefold(), check_identifier(name, f"the name of a {kind.casefold()}"))
    raise BadName(f"a scope is shared, user/NAME, agent/NAME or project/ID, not {text!r}")


def parse_address(text: str, *, writing: bool = False) -> Address:
    """Read the address of an item or a category.

    ``writing`` demands a name that may be written; without it the addresses of
    hand-written items (``~hash``, ``^block``) are read too.

    Raises:
        BadName: the text is no address, or one of its parts cannot be a name.
    """
    path = min(text.partition(":")[0], text.partition("：")[0], key=len)
    name = None if len(path) == len(text) else text[len(path) + 1 :]
    segments = path.split("/")
    scope = SHARED
    if len(segments) > 1 and segments[0].casefold() in SCOPE_KINDS:
        if len(segments) < 3:
            raise BadName(f"an address in {segments[0]!r} needs a category: {text!r}")
        scope = parse_scope("/".join(segments[:2]))
        path = "/".join(segments[2:])
    elif len(segments) > 1 and segments[0].casefold() == "shared":
        path = "/".join(segments[1:])
    category = check_category(path, shared=scope is SHARED)
    if name is None:
        return Address(scope, category)
    if writing or not name.strip().startswith(("~", "^")):
        return Address(scope, category, check_item_name(name))
    return Address(scope, category, name.strip())


def parse_document(text: str) -> tuple[str, str]:
    """The corpus and the document in ``kb/<corpus>/<doc-id>``, also of a passage of it. Raises BadName: it is none."""
    corpus, _, document = text.strip().removeprefix("kb/").partition("#")[0].partition("/")
    if not corpus or not document or "/" in document:
        raise BadName(f"{text!r} is no document; kb/CORPUS/DOCUMENT is one")
    return corpus, document


def parse_turn(text: str) -> TurnAddress | None:
    """Read ``turn/<conversation>#<turn>`` (``turn/`` may be left out); ``None`` if it is no such address."""
    body = text.removeprefix("turn/").strip()
    conversation, mark, turn = body.rpartition("#") if "#" in body else (body, "", "")
    if not conversation or "/" in conversation or (mark and not turn):
        return None
    return TurnAddress(conversation, turn if mark else None)
