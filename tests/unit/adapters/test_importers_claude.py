"""Claude.ai's conversations: in the order of their times, what was said, and files by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.claude import LONGEST_ATTACHMENT, read_claude
from memoranda.core.model import Problem, Turn
from sources import lay_down, told_apart


def _read(root: Path, value: Any) -> tuple[list[Turn], list[Problem]]:
    lay_down(root, {"conversations.json": json.dumps(value)})
    return told_apart(read_claude(str(root)))


def _turns(root: Path, *messages: Any, **more: Any) -> list[Turn]:
    turns, problems = _read(root, [{"uuid": "c", "chat_messages": list(messages), **more}])
    assert problems == []
    return turns


def test_messages_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    late = {"uuid": "m2", "sender": "assistant", "text": "Go.", "created_at": "2026-07-10T11:00:01+08:00"}
    early = {"uuid": "m1", "sender": "human", "text": "海边？", "created_at": "2026-07-10T03:00:00Z", "index": 9}
    assert _turns(tmp_path, late, early, name="The sea") == [
        Turn("c", "m1", "海边？", "2026-07-10T03:00:00Z", "user", "user", {"title": "The sea"}),
        Turn("c", "m2", "Go.", "2026-07-10T03:00:01Z", "assistant", "assistant"),
    ]
    numbered = [{"sender": "human", "text": str(n), "index": n} for n in (2, 0, 1)]
    assert [(t.turn, t.text) for t in _turns(tmp_path, *numbered)] == [("1", "0"), ("2", "1"), ("3", "2")]
    plain = [{"sender": "human", "text": str(n)} for n in (2, 0)]
    assert [t.text for t in _turns(tmp_path, *plain)] == ["2", "0"]


def test_blocks(tmp_path: Path) -> None:
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "One."},
        {"type": "tool_use", "name": "x", "input": {}},
        {"type": "tool_result", "content": [{"type": "text", "text": "result"}]},
        {"type": "text", "text": "Two."},
        {"type": ["odd"]},
        5,
    ]
    only_tool = {"sender": "human", "text": "This block is not supported", "content": content[3:4]}
    no_text = {"sender": "assistant", "text": "plain", "content": [{"type": "token_budget"}]}
    turns = _turns(tmp_path, {"sender": "assistant", "content": content, "text": "all of it"}, only_tool, no_text)
    assert [t.text for t in turns] == ["One.\nTwo.", "plain"]


def test_attachments(tmp_path: Path) -> None:
    message = {
        "sender": "human",
        "text": "Look",
        "attachments": [
            {"file_name": "a.txt", "extracted_content": "first"},
            {"file_name": "a.txt", "extracted_content": "second"},
            {"file_name": "long.txt", "extracted_content": "x" * (LONGEST_ATTACHMENT + 1)},
            {"file_name": "", "extracted_content": "y" * LONGEST_ATTACHMENT},
            5,
        ],
        "files": [{"file_name": "b.png"}, {"file_name": "a.txt"}],
        "content": [{"type": "text", "text": "Look"}, {"type": "image", "file_name": "c.svg"}],
    }
    (turn,) = _turns(tmp_path, message)
    assert turn.text.replace("y" * LONGEST_ATTACHMENT, "Y") == (
        "Look\n[file: a.txt]\nfirst\n[file: a.txt]\nsecond\n[file: long.txt]\n[file: pasted text]\nY\n"
        "[image: c.svg]\n[file: b.png]"
    )


def test_others_and_rubble_are_left_out(tmp_path: Path) -> None:
    assert _turns(tmp_path, {"sender": "system", "text": "x"}, {"sender": ["human"], "text": "x"}, 5, {}) == []
    turns, problems = _read(tmp_path, [5, {"uuid": "c"}, {"chat_messages": [{"sender": "human", "text": "x"}]}])
    assert [t.text for t in turns] == ["x"]
    assert turns[0].conversation.startswith("untitled-")
    assert [p.kind for p in problems] == ["record", "record"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "file_name", "extracted_content", "input"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
_MESSAGE = st.fixed_dictionaries(
    {"sender": st.sampled_from(["human", "assistant"]) | _JSON},
    optional=dict.fromkeys(("text", "content", "attachments", "files", "created_at", "index", "uuid"), _JSON),
)


@given(st.lists(_MESSAGE | _JSON, max_size=4), _JSON)
def test_nothing_raises(tmp_path_factory: pytest.TempPathFactory, messages: list[Any], name: Any) -> None:
    turns, _ = _read(tmp_path_factory.mktemp("any"), [{"chat_messages": messages, "name": name, "uuid": name}])
    assert all(turn.text and turn.turn for turn in turns)
