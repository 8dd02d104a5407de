from __future__ import annotations

import json
from typing import Any

import pytest

from memoranda.core.errors import UsageError
from memoranda.core.operations import ITEM_TYPES, OPERATIONS, Operation
from memoranda.services.extraction.reply import read_reply
from memoranda.services.extraction.schema import (
    FIELDS,
    described_fields,
    reply_schema,
    response_format,
    tool_schema,
)


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every object schema within a schema."""
    if isinstance(schema, list):
        return [found for one in schema for found in objects(one)]
    if not isinstance(schema, dict):
        return []
    inner = [found for one in schema.values() for found in objects(one)]
    return [schema, *inner] if schema.get("type") == "object" else inner


def test_every_object_of_the_reply_is_strict() -> None:
    found = objects(reply_schema())
    assert len(found) == 2
    for one in found:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])


def test_what_may_be_left_out_of_an_operation_may_be_null() -> None:
    properties = reply_schema()["properties"]["operations"]["items"]["properties"]
    assert properties["op"]["type"] == "string"
    assert properties["op"]["enum"] == list(OPERATIONS)
    assert all("null" in one["type"] for name, one in properties.items() if name != "op")
    assert properties["type"]["enum"] == [*ITEM_TYPES, None]
    assert properties["links"]["items"] == {"type": "string"}


def test_the_fields_are_those_of_an_operation() -> None:
    properties = reply_schema()["properties"]["operations"]["items"]["properties"]
    assert set(properties) == set(Operation.__match_args__)


def test_a_reply_with_every_key_and_null_for_the_rest_is_read_whole() -> None:
    names = reply_schema()["properties"]["operations"]["items"]["required"]
    operation = dict.fromkeys(names) | {"op": "add", "text": "likes tea"}
    read = read_reply(json.dumps({"operations": [operation]}))
    assert read.operations == (Operation("add", text="likes tea"),)
    assert read.whole
    assert read.faults == ()


def test_the_response_format_holds_the_same_schema() -> None:
    asked = response_format()
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["strict"] is True
    assert asked["json_schema"]["schema"] == reply_schema()
    assert asked["json_schema"]["name"].isidentifier()
    json.dumps(asked)


def test_the_prompt_names_every_field_once() -> None:
    lines = described_fields().split("\n")
    names = [line.split()[1] for line in lines]
    assert names == [field.name for field in FIELDS if field.name]
    assert all(word in lines[0] for word in OPERATIONS)


def test_the_tool_has_the_same_arguments_in_both_styles() -> None:
    openai, anthropic = tool_schema(), tool_schema("anthropic")
    assert openai["type"] == "function"
    assert openai["function"]["name"] == anthropic["name"] == "remember"
    assert openai["function"]["parameters"] == anthropic["input_schema"]
    assert set(anthropic) == {"name", "description", "input_schema"}


def test_the_tool_needs_an_address_and_a_text() -> None:
    arguments = tool_schema()["function"]["parameters"]
    assert arguments["required"] == ["address", "text"]
    assert {"type", "owner", "links", "supersedes"} < set(arguments["properties"])
    assert arguments["properties"]["type"]["enum"] == list(ITEM_TYPES)
    assert arguments["additionalProperties"] is False


def test_what_tool_and_reply_share_means_the_same() -> None:
    arguments = tool_schema()["function"]["parameters"]["properties"]
    properties = reply_schema()["properties"]["operations"]["items"]["properties"]
    shared = [field for field in FIELDS if field.name and field.tool]
    assert len(shared) >= 5
    for field in shared:
        assert arguments[field.tool]["description"] == properties[field.name]["description"]


def test_another_style_is_refused() -> None:
    with pytest.raises(UsageError, match="anthropic"):
        tool_schema("gemini")  # type: ignore[arg-type]


def test_a_schema_may_be_changed_without_changing_the_next() -> None:
    reply_schema()["properties"].clear()
    assert reply_schema()["properties"]
