"""ChatGPT's conversations: the branch that was open, what was said, and nothing that hangs or raises."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.importers.chatgpt import read_chatgpt
from memoranda.core.errors import UsageError
from memoranda.core.model import Problem, Turn
from sources import lay_down, told_apart


def _said(role: str, *parts: Any, parent: str | None = None, **more: Any) -> dict[str, Any]:
    content = more.pop("content", {"content_type": "text", "parts": list(parts)})
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **more}}


def _read(root: Path, value: Any) -> tuple[list[Turn], list[Problem]]:
    lay_down(root, {"conversations.json": json.dumps(value)})
    return told_apart(read_chatgpt(str(root / "conversations.json")))


def _turns(root: Path, mapping: dict[str, Any], **more: Any) -> list[Turn]:
    turns, problems = _read(root, [{"conversation_id": "c", "mapping": mapping, **more}])
    assert problems == []
    return turns


def test_the_branch_that_was_open_is_kept(tmp_path: Path) -> None:
    mapping = {
        "root": {"parent": None, "message": None, "children": ["q"]},
        "q": _said("user", "想去海边玩", parent="root", id="m-q", create_time=1783652400.5),
        "old": _said("assistant", "No.", parent="q"),
        "old2": _said("user", "Why?", parent="old"),
        "new": _said("assistant", "Go to", "Qingdao.", parent="q", create_time=None),
    }
    turns = _turns(tmp_path, mapping, current_node="new", title=" The sea ")
    assert turns == [
        Turn("c", "m-q", "想去海边玩", "2026-07-10T03:00:00.500000Z", "user", "user",
             {"title": "The sea", "other_branches": 2}),
        Turn("c", "new", "Go to\nQingdao.", "", "assistant", "assistant"),
    ]  # fmt: skip


def test_without_a_current_node_the_newest_end_counts(tmp_path: Path) -> None:
    mapping = {
        "q": _said("user", "q"),
        "b": _said("assistant", "newest", parent="q", create_time=3),
        "a": _said("assistant", "old", parent="q", create_time=2),
    }
    for current in ({}, {"current_node": "gone"}, {"current_node": None}, {"current_node": ["a"]}):
        assert [t.text for t in _turns(tmp_path, mapping, **current)] == ["q", "newest"]


def test_what_was_not_said_is_left_out(tmp_path: Path) -> None:
    chain = [
        _said("system", "be kind"),
        _said("user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        _said("user", "about me", content={"content_type": "user_editable_context", "user_profile": "x"}),
        _said("user", "compute"),
        _said("assistant", '{"q": 1}', recipient="web"),
        _said("assistant", "hm", content={"content_type": "thoughts", "parts": ["hm"]}),
        _said("tool", "42"),
        _said("assistant", "zero weight", weight=0),
        _said("assistant", ""),
        _said("assistant", "It is 42 \ue200cite\ue202turn0\ue201.", recipient="all"),
        _said("user", content={"content_type": "code", "language": "python", "text": "6 * 7"}),
    ]
    mapping = {str(n): {**node, "parent": str(n - 1) if n else None} for n, node in enumerate(chain)}
    turns = _turns(tmp_path, mapping, current_node="10")
    assert [t.text for t in turns] == ["compute", "It is 42 .", "```python\n6 * 7\n```"]


def test_what_cannot_be_kept_is_named(tmp_path: Path) -> None:
    parts = [
        "See",
        {"content_type": "image_asset_pointer", "asset_pointer": "file://x"},
        {"content_type": "audio_transcription", "text": "spoken words"},
        {"content_type": "audio_asset_pointer"},
        {"content_type": "text", "text": "inside"},
        {"content_type": "real_time_user_audio_video_asset_pointer"},
        {"content_type": "odd_thing"},
        {"content_type": "tool_call", "name": "bash"},
        None,
        5,
    ]
    attachments = [{"name": "a.pdf"}, {"name": "b.png", "mime_type": "image/png"}, {}, 5]
    node = _said("user", *parts, metadata={"attachments": attachments})
    (turn,) = _turns(tmp_path, {"n": node})
    assert turn.text == "See\n[image]\nspoken words\n[audio]\ninside\n[video]\n[odd_thing]\n[file: a.pdf]"


def test_cycles_and_rubble_end(tmp_path: Path) -> None:
    mapping = {
        "a": _said("user", "a", parent="b"),
        "b": _said("assistant", "b", parent="a"),
        "c": {},
        "d": None,
        "e": {"parent": "a", "message": {"author": None}},
        "f": {"parent": "f", "message": 5},
    }
    assert [t.text for t in _turns(tmp_path, mapping, current_node="a")] == ["b", "a"]
    assert _turns(tmp_path, {}, current_node="a") == []
    long = {str(n): _said("user", f"t{n}", parent=str(n - 1)) for n in range(3000)}
    assert len(_turns(tmp_path, long, current_node="2999")) == 3000


def test_ids_are_made_legal(tmp_path: Path) -> None:
    turns, _ = _read(tmp_path, {"id": "a/b#c", "mapping": {"n/1": _said("user", "x", id="m#1")}})
    assert [(t.conversation, t.turn) for t in turns] == [("a-b-c", "m-1")]
    value = [{"title": t, "mapping": {"n": _said("user", "x")}} for t in ("one", "two", "one")]
    conversations = [t.conversation for t in _read(tmp_path, value)[0]]
    assert conversations[0] == conversations[2] != conversations[1]


def test_an_archive_in_parts_and_a_folder(tmp_path: Path) -> None:
    conversations = [{"id": f"c{n}", "mapping": {"n": _said("user", f"t{n}")}} for n in range(3)]
    lay_down(tmp_path / "f", {"conversations.json": json.dumps(conversations), "user.json": "{}"})
    assert len(list(read_chatgpt(str(tmp_path / "f")))) == 3
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("export/conversations-000.json", json.dumps(conversations[:1]))
        archive.writestr("export/conversations-001.json", json.dumps(conversations[1:]))
        archive.writestr("export/shared_conversations.json", "[{}]")
    assert [t.text for t in told_apart(read_chatgpt(str(tmp_path / "x.zip")))[0]] == ["t0", "t1", "t2"]
    with pytest.raises(UsageError):
        list(read_chatgpt(str(lay_down(tmp_path / "none", {"a.json": "[]"}))))


def test_what_is_no_conversation_is_named(tmp_path: Path) -> None:
    turns, problems = _read(tmp_path, [5, {}, {"mapping": []}, {"id": "c", "mapping": {"n": _said("user", "x")}}])
    assert len(turns) == 1
    assert [(p.path, p.kind) for p in problems] == [("conversations.json", "record")] * 3


_KEYS = [
    "id",
    "mapping",
    "message",
    "author",
    "role",
    "content",
    "content_type",
    "parts",
    "text",
    "parent",
    "a",
    "user",
]
_ATOM = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*_KEYS, "assistant", "text", "\ud800"])
)
_JSON = st.recursive(
    _ATOM,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=6),
    max_leaves=20,
)
_NODE = st.fixed_dictionaries(
    {}, optional={"parent": st.sampled_from(["a", "b", "c", None, 5]) | _JSON, "message": st.fixed_dictionaries(
        {"author": st.just({"role": "user"}) | _JSON}, optional={"content": st.fixed_dictionaries(
            {}, optional={"content_type": _JSON, "parts": st.lists(_JSON, max_size=3) | _JSON, "text": _JSON}),
            "create_time": _JSON, "id": _JSON, "metadata": _JSON, "weight": _JSON, "recipient": _JSON})},
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), _NODE | _JSON), _ATOM)
def test_nothing_raises(tmp_path_factory: pytest.TempPathFactory, mapping: dict[str, Any], current: Any) -> None:
    turns, _ = _read(tmp_path_factory.mktemp("any"), [{"mapping": mapping, "current_node": current}])
    assert all(turn.text and turn.turn and turn.role in ("user", "assistant") for turn in turns)
