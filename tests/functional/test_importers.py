"""Every import format, from the source to the vault: once and only once, tried first, the source untouched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Vault
from memoranda.adapters.registry import IMPORT_FORMATS
from observing import tree_bytes
from sources import SAMPLES, lay_down, needs_samples, state_of

_CHAT = {"id": "c1", "mapping": {"n": {"message": {"author": {"role": "user"}, "content": {"parts": ["海边"]}}}}}
_CLAUDE = {"uuid": "c2", "chat_messages": [{"uuid": "m", "sender": "human", "text": "海边"}]}
_NOTES: dict[str, str | bytes] = {
    "a.md": "---\ncreated: 2026-07-10\n---\nLikes the sea. [[b#Two|b]]\n",
    "b.md": "# b\n\n## One\n\n一\n\n## Two\n\n二\n",
    "bad.md": b"\xff",
    "p.png": b"\x89PNG",
}

#: A small source of every format.
SOURCES: dict[str, dict[str, str | bytes]] = {
    "turns": {"t.jsonl": '{"conversation": "c", "turn": 1, "text": "海边"}\nbroken\n'},
    "wikimem": {"wiki/a.md": "## n\n\nLikes the sea.\n"},
    "mem0": {"m.json": json.dumps([{"id": "1", "memory": "Likes the sea."}, {"id": "2"}])},
    "chatgpt": {"conversations.json": json.dumps([_CHAT, 5])},
    "claude": {"conversations.json": json.dumps([_CLAUDE, 5])},
    "obsidian": _NOTES,
    "basic-memory": {**_NOTES, "c.md": "- [fact] Soft water is best\n- [fact] Soft water is best of all\n"},
    "memory-md": {"MEMORY.md": "- [a](a.md)\n- entry\n", "a.md": "---\nname: a\n---\ntext\n", "bad.md": b"\xff"},
    "mcp-memory": {"memory.jsonl": '{"name": "Lin", "entityType": "p", "observations": ["Likes the sea."]}\n5\n'},
}  # fmt: skip


def _path(root: Path, format: str) -> Path:
    return root / "t.jsonl" if format == "turns" else root


def _check(format: str, source: Path, vault_folder: Path) -> None:
    """Try it, do it, do it again: the same counts, no change, the source as it was (D39)."""
    theirs = source if source.is_dir() else source.parent
    with Vault.open(vault_folder) as vault:
        before, empty = state_of(theirs), tree_bytes(vault_folder, ".")
        tried = vault.import_from(format, source, dry_run=True)
        assert tree_bytes(vault_folder, ".") == empty
        done = vault.import_from(format, source)
        assert done == tried
        assert done.added > 0
        kept = tree_bytes(vault_folder)
        again = vault.import_from(format, source)
        assert (again.added, again.conflicts, again.unchanged) == (0, 0, done.added + done.unchanged)
        assert again.problems == done.problems
        assert tree_bytes(vault_folder) == kept
        assert state_of(theirs) == before
        # What came in is sound: nothing in the new files is a fault.
        faults = [fault for fault in vault.check() if fault.kind != "dangling-link"]
        assert faults == []
        if format in ("obsidian", "basic-memory", "mcp-memory", "memory-md"):
            assert [str(fault) for fault in vault.check()] == []


def test_every_format_has_a_source_here() -> None:
    assert SOURCES.keys() == IMPORT_FORMATS.keys()


@pytest.mark.parametrize("format", sorted(SOURCES))
def test_an_import_happens_once(format: str, tmp_path: Path) -> None:
    source = lay_down(tmp_path / "theirs", SOURCES[format])
    _check(format, _path(source, format), tmp_path / "vault")


@pytest.mark.parametrize("format", sorted(name for name, one in IMPORT_FORMATS.items() if one.yields == "items"))
def test_one_undo_takes_it_back_and_a_persons_edit_stays(format: str, tmp_path: Path) -> None:
    source = lay_down(tmp_path / "theirs", SOURCES[format])
    with Vault.open(tmp_path / "vault") as vault:
        vault.import_from(format, source)
        items = vault.items()
        assert all(item.metadata.trust == "untrusted" for item in items)
        assert {item.metadata.actor for item in items} == {f"import:{format}"}
        vault.undo()
        assert vault.items() == []
        vault.import_from(format, source)
        address = str(vault.items()[0].address)
        vault.revise(address, "I know better.")
        assert vault.import_from(format, source).added == 0
        item = vault.get(address)
        assert item is not None
        assert item.text.startswith("I know better.")


_REAL = [
    *(("mem0", f"mem0/{name}") for name in ("docs-get-memories.json", "docs-search-memories.json")),
    *(("mem0", f"mem0/{name}") for name in ("memanto-mem0_export.json", "xnnehanglab-export_sample.jsonl")),
    *(("chatgpt", f"chatgpt/{name}.json") for name in ("native-conversation-v1", "native-rich-blocks-v1")),
    *(("chatgpt", f"chatgpt/{name}.json") for name in ("origin-chatgpt-export", "golden_chatgpt_tool-conversations")),
    *(("claude", f"claude_export/{name}.json") for name in ("native-rich-blocks-v1", "native-attachment-order")),
    ("claude", "claude_export/origin-claude-ai-export.json"),
    ("claude", "claude_export/golden_claude_tool-conversations.json"),
    *(("obsidian", f"obsidian/{name}") for name in ("kepano", "knowledge-garden-zh", "obsidian-export-testdata")),
    ("basic-memory", "obsidian/kepano"),
    ("memory-md", "claude_memory"),
    ("memory-md", "claude_memory/otf-api/code-reviewer"),
    *(("mcp-memory", f"mcp_memory/{name}.jsonl") for name in ("meeting-notes", "daily-standup", "risk-register")),
    *(("mcp-memory", f"mcp_memory/{name}.jsonl") for name in ("sprint-planning", "memory-graph-untyped-vi")),
    ("mcp-memory", "mcp_memory"),
    ("wikimem", "wikimem/docs-example-zh"),
]  # fmt: skip


@needs_samples
@pytest.mark.parametrize(("format", "path"), _REAL)
def test_real_files(format: str, path: str, tmp_path: Path) -> None:
    _check(format, SAMPLES / path, tmp_path / "vault")


@needs_samples
def test_real_notes_are_found(tmp_path: Path) -> None:
    with Vault.open(tmp_path / "vault") as vault:
        vault.import_from("obsidian", SAMPLES / "obsidian/knowledge-garden-zh")
        vault.import_from("claude", SAMPLES / "claude_export/native-attachment-order.json")
        (first, *_) = vault.retrieve("做笔记的最佳实践是什么").hits
        assert "如何做笔记" in str(first.address)
        (turn, *_) = vault.retrieve("earlier synthetic message", levels=("resource",)).hits
        assert str(turn.address) == "turn/claude-order-fixture#1"


def test_secrets_are_taken_out(tmp_path: Path) -> None:
    secret = "sk-proj-" + "Ab1" * 16
    source = lay_down(tmp_path / "theirs", {"MEMORY.md": f"- the key is {secret}\n"})
    with Vault.open(tmp_path / "vault") as vault:
        done = vault.import_from("memory-md", source)
        assert sum(one.count for one in done.redactions) >= 1
        assert vault.import_from("memory-md", source).added == 0
    assert all(secret.encode() not in data for data in tree_bytes(tmp_path / "vault", ".").values())


_PIECES = [*"#=-`~>* \n\t1.ab[]|^:", "```", "\n## ", "\n# ", "\n\n", "<!--", "-->", "<!-- memoranda: a=b -->", "\r"]
_PIECES += [
    "[[n1]]",
    "[[n0#a|x]]",
    "![[n1]]",
    "\n- [fact] ",
    "\n- ",
    "---\n",
    "tags: ",
    "<pre>",
    "\u2028",
    "\x00",
    "海",
]
_PIECES += ["^id", "\n## a", "\n## A", "<memoranda-recall abcdef0123456789>", "\n    ", "\ufeff"]
_NOTE = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


@pytest.mark.parametrize("format", ["obsidian", "basic-memory", "memory-md"])
@settings(max_examples=20, deadline=None)
@given(notes=st.lists(_NOTE, min_size=2, max_size=3))
def test_whatever_notes_hold_comes_in_once_and_links_lead_somewhere(
    format: str, notes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("notes")
    files: dict[str, str | bytes] = {f"n{number}.md": text for number, text in enumerate(notes)}
    source = lay_down(root / "theirs", {**files, "MEMORY.md": "- an entry\n"})
    with Vault.open(root / "vault") as vault:
        done = vault.import_from(format, source)
        again = vault.import_from(format, source)
        assert (again.added, again.unchanged) == (0, done.added + done.unchanged)
        assert [str(fault) for fault in vault.check()] == []
