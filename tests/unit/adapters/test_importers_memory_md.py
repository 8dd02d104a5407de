"""The markdown of coding agents: topics, sections and entries become items, an index does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.adapters.importers.memory_md import read_memory_md
from memoranda.core.errors import NotFound, UsageError
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem
from sources import SAMPLES, lay_down, needs_samples, told_apart


def _read(root: Path, files: dict[str, str | bytes]) -> tuple[list[ForeignItem], list[Problem]]:
    return told_apart(read_memory_md(str(lay_down(root / "agent", files))))


TOPIC = """---
name: likes-tests
description: Write the test first.
metadata:
  type: feedback
---

**Why:** asked twice. See [[build]] and [rest](other.md).
"""


def test_topics_and_their_index(tmp_path: Path) -> None:
    index = (
        "# Memory Index\n- [Tests](likes-tests.md) — write them first\n- **[Build](./sub/build.md)**: how\n"
        "- [Gone](gone.md) — no longer there\n- [web](https://example.org/likes-tests.md)\n"
    )
    files: dict[str, str | bytes] = {
        "MEMORY.md": index,
        "likes-tests.md": TOPIC,
        "sub/build.md": "---\nname: build\ndescription: 用 make 构建\n---\n用 make 构建，别的都不行。\n",
    }
    items, problems = _read(tmp_path, files)
    assert problems == []
    assert [(i.category, i.name, i.text) for i in items] == [
        (
            "memory",
            "likes-tests",
            "Write the test first.\n\n**Why:** asked twice. See [[sub/memory:build|build]] and [rest](other.md).",
        ),
        ("sub/memory", "build", "用 make 构建，别的都不行。"),
        ("memory", "gone-gone", "[Gone](gone.md) — no longer there"),
        ("memory", "web-https-example", "[web](https://example.org/likes-tests.md)"),
    ]  # fmt: skip
    assert (items[0].metadata.type, items[0].metadata.source) == ("feedback", "memory-md/agent/likes-tests.md")


def test_sections(tmp_path: Path) -> None:
    text = "# CLAUDE.md\n\nGuidance.\n\n## Build\n\n- make\n- test\n\n## Empty\n\n## 约定\n\n### Deep\n\n中文。\n"
    items, problems = _read(tmp_path, {"CLAUDE.md": text})
    assert [(i.category, i.name, i.text, i.line) for i in items] == [
        ("claude", "CLAUDE.md", "Guidance.", 3),
        ("claude", "Build", "- make\n- test", 5),
        ("claude", "约定", "### Deep\n\n中文。", 12),
    ]
    assert [(p.line, p.kind) for p in problems] == [(10, "empty")]


def test_entries_of_a_list_without_sections(tmp_path: Path) -> None:
    text = "# Memory\n\n- Lin likes the sea\n- Lin drinks tea\n  black, always\n\nSome prose.\n"
    items, problems = _read(tmp_path, {"MEMORY.md": text})
    assert problems == []
    assert [(i.name, i.text, i.line) for i in items] == [
        ("some-prose", "Some prose.", 7),
        ("lin-likes-the-sea", "Lin likes the sea", 3),
        ("lin-drinks-tea", "Lin drinks tea\nblack, always", 4),
    ]
    (item,) = _read(tmp_path / "one", {"MEMORY.md": "- only this\n"})[0]
    assert (item.name, item.text) == ("only-this", "only this")


def test_which_files_of_a_folder_are_memory(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "x",
        "docs/guide.md": "x",
        "CLAUDE.md": "root",
        "sub/AGENTS.md": "sub",
        ".claude/memory/MEMORY.md": "- an entry\n",
        ".claude/memory/deep/topic.md": "a topic without front matter",
        ".hidden/CLAUDE.md": "x",
        "node_modules/p/CLAUDE.md": "x",
    }
    items, _ = _read(tmp_path, files)
    assert sorted((i.path, i.category) for i in items) == [
        (".claude/memory/MEMORY.md", "claude/memory/memory"),
        (".claude/memory/deep/topic.md", "claude/memory/deep/topic"),
        ("CLAUDE.md", "claude"),
        ("sub/AGENTS.md", "sub/agents"),
    ]


def test_one_file_nothing_and_something_else(tmp_path: Path) -> None:
    root = lay_down(tmp_path / "r", {"notes.md": "## A\n\nx\n", "bad/CLAUDE.md": b"\xff\xfe"})
    (item,), _ = told_apart(read_memory_md(str(root / "notes.md")))
    assert (item.category, item.name, item.metadata.source) == ("notes", "A", "memory-md/r/notes.md")
    _, problems = told_apart(read_memory_md(str(root)))
    assert [(p.path, p.kind) for p in problems] == [("bad/CLAUDE.md", "encoding")]
    with pytest.raises(UsageError, match=r"holds no MEMORY\.md"):
        list(read_memory_md(str(lay_down(tmp_path / "none", {"README.md": "x"}))))
    with pytest.raises(NotFound):
        list(read_memory_md(str(tmp_path / "gone")))


@needs_samples
def test_real_files() -> None:
    items, problems = told_apart(read_memory_md(str(SAMPLES / "claude_memory")))
    assert problems == []
    names = {(i.category, i.name) for i in items}
    assert ("otf-api/code-reviewer/memory", "exceptions-optional-fields") in names
    assert ("graphiti/claude", "Project Overview") in names
    # Both lines of the only index lead to its topic.
    assert not any(i.path.endswith("MEMORY.md") for i in items)
