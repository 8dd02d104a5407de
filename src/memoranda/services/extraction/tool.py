"""Calls of the tool ``remember`` by an agent that writes by itself: checked as a reply is, and no model is asked."""

from __future__ import annotations

import json

from memoranda.core.errors import BadText, UsageError
from memoranda.core.operations import ITEM_TYPES, Operation
from memoranda.core.records import replace
from memoranda.services.extraction.schema import FIELDS
from memoranda.services.extraction.validation import Accepted, Validation
from memoranda.services.remember import mark_superseded, remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memoranda.core.exchanges import Exchange
    from memoranda.core.model import Written
    from memoranda.services.writer import Writer

__all__ = ["arguments_in", "operation_of", "remember_called"]


def arguments_in(text: str) -> Mapping[str, Any]:
    """The arguments in a call's JSON text. Raises UsageError: it holds no object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError("remember's arguments are one JSON object")
    return found


def operation_of(arguments: Mapping[str, Any]) -> Operation:
    """The operation that a call's arguments describe.

    Raises:
        UsageError: one is missing, unknown, or of the wrong kind; the message is for the model.
    """
    known = {field.tool: field for field in FIELDS if field.tool}
    for key, value in arguments.items():
        if key not in known:
            raise UsageError(f"remember has no argument {key!r}; it has: {', '.join(known)}")
        field = known[key]
        texts = field.kind == "texts" and isinstance(value, list) and all(isinstance(one, str) for one in value)
        if value is not None and not (texts or (field.kind == "text" and isinstance(value, str))):
            raise UsageError(f"{key!r} is {'a list of texts' if field.kind == 'texts' else 'a text'}")
    for field in known.values():
        if "tool" in field.always and not str(arguments.get(field.tool) or "").strip():
            raise UsageError(f"remember needs {field.tool!r}: {field.meaning}")
    given = {key: value for key, value in arguments.items() if value}
    kind = str(given.get("type", ""))
    if kind and kind not in ITEM_TYPES:
        raise UsageError(f"'type' is one of {', '.join(ITEM_TYPES)}, not {kind!r}")
    target = str(given.get("supersedes", ""))
    return Operation(
        "supersede" if target else "add",
        category=str(given["address"]),
        text=str(given["text"]),
        target=target,
        type=kind,
        about=str(given.get("owner", "")),
        links=tuple(given.get("links", ())),
    )


def remember_called(
    writer: Writer, validation: Validation, exchange: Exchange, arguments: Mapping[str, Any], actor: str
) -> Written:
    """Remember what a call asks for. The errors' messages are for the model that called.

    Raises:
        UsageError: an argument is wrong, or there is no item of that address to supersede.
        BadText: the text may not be remembered: a secret, a recalled block, a repetition.
        VaultReadOnly, VaultFull, VaultBusy, Conflict: nothing was written.
    """
    (found,) = tuple(validation.check([operation_of(arguments)]))
    if not isinstance(found, Accepted):
        raise (BadText if found.kind in ("repeat", "secret", "injected", "long") else UsageError)(found.reason)
    if found.op == "mark":
        return mark_superseded(writer, str(found.older), str(found.address))
    fields: dict[str, object] = {
        "owner": exchange.owner,
        "source": exchange.source if exchange.conversation else None,
        "type": found.type or None,
        "actor": actor,
        "flags": " ".join(sorted(set(found.flags))) or None,
        "supersedes": None if found.older is None else str(found.older),
    }
    written = remember(writer, str(found.address), found.text, on_exists="rename", fields=fields)
    notes = tuple(_NOTES[flag] for flag in found.flags if flag in _NOTES)
    return replace(written, notes=(*written.notes, *notes))


#: What a flag means to who called.
_NOTES = {
    "unlinked": "a link led to no item and was left out",
    "name": "the name cannot be one; another was made from the text",
    "other-language": "it is in another language than the conversation",
}
