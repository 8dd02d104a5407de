"""The tool ``remember``: an agent that writes by itself is held to the rules that a model's reply is held to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import TurnContext, Vault
from memoranda.core.errors import BadText, MemorandaError, UsageError
from memoranda.services.extraction.schema import tool_schema


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault") as opened:
        yield opened


LIN = TurnContext(conversation="c1", turn="4", user="lin")


def test_a_call_is_carried_out_for_whom_it_is(vault: Vault) -> None:
    written = vault.remember_by_tool(
        {"address": "preferences:likes-the-sea", "text": "Lin likes the sea.", "type": "profile"},
        LIN,
        actor="agent:scout",
    )
    assert (written.status, written.address) == ("added", "user/lin/preferences:likes-the-sea")
    item = vault.get(written.address)
    assert item is not None
    values = dict(item.metadata.pairs)
    assert values["owner"] == "user:lin"
    assert values["source"] == "turn/c1#4"
    assert values["actor"] == "agent:scout"


def test_without_a_context_it_is_shared_memory(vault: Vault) -> None:
    written = vault.remember_by_tool({"address": "preferences", "text": "Somebody likes the sea."})
    assert written.address == "preferences:somebody-likes-the-sea"
    item = vault.get(written.address)
    assert item is not None
    assert item.metadata.source is None


def test_every_argument_of_the_schema_is_taken(vault: Vault) -> None:
    vault.remember("home:porto", "Lin lives in Porto.")
    properties = tool_schema()["function"]["parameters"]["properties"]
    arguments: dict[str, Any] = {
        "address": "home:faro",
        "text": "Lin lives in Faro.",
        "supersedes": "home:porto",
        "type": "profile",
        "owner": "user:lin",
        "links": ["home:porto"],
    }
    assert set(properties) == set(arguments)
    written = vault.remember_by_tool(arguments)
    item = vault.get(written.address)
    assert item is not None
    assert item.text == "Lin lives in Faro. [[home:porto]]"
    older = vault.get("home:porto")
    assert older is not None
    assert older.metadata.superseded_by == "home:faro"


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"text": "x"}, UsageError, "needs 'address'"),
        ({"address": "a", "text": " "}, UsageError, "needs 'text'"),
        ({"address": "a", "text": "x", "colour": "red"}, UsageError, "no argument 'colour'"),
        ({"address": "a", "text": 4}, UsageError, "'text' is a text"),
        ({"address": "a", "text": "x", "links": "b:c"}, UsageError, "'links' is a list of texts"),
        ({"address": "a", "text": "x", "type": "mood"}, UsageError, "'type' is one of"),
        ({"address": "a", "text": "A text.", "supersedes": "gone:item"}, UsageError, "there is no gone:item"),
        ({"address": "../x", "text": "A text."}, UsageError, ""),
        ({"address": "a", "text": "The key is sk-proj-canary000111222333."}, BadText, "secret"),
        ({"address": "b", "text": "Known already."}, BadText, "says so already"),
    ],
)
def test_what_is_refused_tells_the_model_why(
    vault: Vault, arguments: dict[str, Any], error: type[MemorandaError], said: str
) -> None:
    vault.remember("known:one", "Known already.")
    before = {str(item.address) for item in vault.items()}
    with pytest.raises(error) as raised:
        vault.remember_by_tool(arguments)
    assert said in str(raised.value)
    assert "canary" not in str(raised.value)
    assert {str(item.address) for item in vault.items()} == before


def test_a_link_to_nothing_is_left_out_and_told(vault: Vault) -> None:
    written = vault.remember_by_tool({"address": "a:b", "text": "Goes to [[gone:island]].", "links": ["no:where"]})
    assert written.notes == ("a link led to no item and was left out",)
    item = vault.get("a:b")
    assert item is not None
    assert item.text == "Goes to island."


def test_a_call_may_come_as_the_text_that_the_model_wrote(vault: Vault) -> None:
    written = vault.remember_by_tool('{"address": "preferences:sea", "text": "Likes the sea."}')
    assert written.address == "preferences:sea"
    for broken in ("{", "[]", "[" * 100_000):
        with pytest.raises(UsageError, match="JSON object"):
            vault.remember_by_tool(broken)
