"""What a reply, and a call of the tool ``remember``, must look like: one table, from which all forms are made.

The prompt's list of fields, the JSON schema that endpoints enforce, and the
tool of an agent that writes by itself say the same because they are made here.
The strict style of ``response_format`` wants every key required and no others;
what may be left out is then ``null``.
"""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.operations import ITEM_TYPES, OPERATIONS
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Kind = Literal["text", "texts", "flag"]
    Style = Literal["openai", "anthropic"]

__all__ = ["FIELDS", "Field", "described_fields", "reply_schema", "response_format", "tool_schema"]

_TOOL = "remember"
_TOOL_PURPOSE = (
    "Keep one fact for later conversations: something lasting about a person, their work or the world, "
    "in a sentence that is clear without the conversation. Not for what will not matter tomorrow."
)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an operation, of the tool's arguments, or of both.

    ``name`` is its key in an operation and ``tool`` its key in a call of the
    tool; empty where it has none. A field with ``choices`` holds one of them.
    ``always`` is where it may not be left out: ``"reply"``, ``"tool"``.
    """

    name: str
    tool: str
    kind: Kind
    meaning: str
    choices: tuple[str, ...] = ()
    always: tuple[str, ...] = ()


#: Every field, in the order in which a model should write them.
FIELDS = (
    Field(
        "op",
        "",
        "text",
        "add: a new item. merge: text joins the item at target. supersede: text takes the place of the item at target, "
        "which is no longer true. skip: there is nothing worth keeping.",
        OPERATIONS,
        ("reply",),
    ),
    Field("", "address", "text", "category:name, or a category alone; a name is then made.", (), ("tool",)),
    Field("category", "", "text", "The category it belongs to, one of those listed if any fits."),
    Field("name", "", "text", "A short, stable name in the language of the text."),
    Field(
        "text",
        "text",
        "text",
        "One fact, clear without the conversation, in the conversation's language.",
        (),
        ("tool",),
    ),
    Field("target", "supersedes", "text", "The address of the listed item that is merged into or superseded."),
    Field("type", "type", "text", "What kind of item it is.", ITEM_TYPES),
    Field("about", "owner", "text", "Whom it is about, which need not be who said it: user:lin, agent:scout."),
    Field("links", "links", "texts", "Addresses of listed items that it has to do with."),
    Field("ephemeral", "", "flag", "Whether it will not be true, or not matter, in a few days."),
    Field("reason", "", "text", "Why, in a few words."),
)


def described_fields() -> str:
    """The fields of an operation for a prompt, a line each."""
    lines = []
    for field in FIELDS:
        if field.name:
            kind = {"text": "text", "texts": "list of texts", "flag": "true or false"}[field.kind]
            if field.choices:
                kind = " | ".join(field.choices)
            absent = "" if "reply" in field.always else ", or null"
            lines.append(f"- {field.name} ({kind}{absent}): {field.meaning}")
    return "\n".join(lines)


def reply_schema() -> dict[str, Any]:
    """The JSON schema of a reply, strict: every key required, no others, ``null`` for what is left out."""
    properties = {field.name: _property(field, "reply" not in field.always) for field in FIELDS if field.name}
    operation = _object(properties, list(properties))
    return _object({"operations": {"type": "array", "items": operation}}, ["operations"])


def response_format() -> dict[str, Any]:
    """The ``response_format`` of a chat completion that asks for such a reply."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "memory_operations", "strict": True, "schema": reply_schema()},
    }


def tool_schema(style: Style = "openai") -> dict[str, Any]:
    """The tool ``remember`` for function calling, as OpenAI's or Anthropic's interface takes it.

    Raises:
        UsageError: no such style.
    """
    properties = {field.tool: _property(field, False) for field in FIELDS if field.tool}
    required = [field.tool for field in FIELDS if "tool" in field.always]
    arguments = _object(properties, required)
    if style == "openai":
        function = {"name": _TOOL, "description": _TOOL_PURPOSE, "parameters": arguments}
        return {"type": "function", "function": function}
    if style == "anthropic":
        return {"name": _TOOL, "description": _TOOL_PURPOSE, "input_schema": arguments}
    raise UsageError(f"no such style of tools: {style!r} (openai, anthropic)")


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(field: Field, nullable: bool) -> dict[str, Any]:
    kind = {"text": "string", "texts": "array", "flag": "boolean"}[field.kind]
    made: dict[str, Any] = {"type": [kind, "null"] if nullable else kind, "description": field.meaning}
    if field.kind == "texts":
        made["items"] = {"type": "string"}
    if field.choices:
        made["enum"] = [*field.choices, *([None] if nullable else [])]
    return made
