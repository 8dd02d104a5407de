"""A wikimem folder: every entry arrives once, what is no entry is named, the source stays as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from memoranda.adapters.importers.wikimem import read_wikimem
from memoranda.core.errors import NotFound, UsageError
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem

HANGZHOU = timezone(timedelta(hours=8))


def _make(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def _split(found: Iterator[ForeignItem | Problem]) -> tuple[list[ForeignItem], list[Problem]]:
    every = list(found)
    return [i for i in every if isinstance(i, ForeignItem)], [p for p in every if isinstance(p, Problem)]


WIKI = """# preferences

## likes-the-sea

喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]

<!-- wikimem: owner=user:lin | source=conv_20260710 | ts=2026-07-10T03:00:00+00:00 -->

## 手冲咖啡

只喝手冲咖啡，从不加糖。
"""

DIARY = """# 2026-07-21

## 14:30

换了工作。

<!-- wikimem: owner=user:lin | ts=2026-07-21T06:30:00+00:00 -->

## 22:10

有点担心。

## 22:10

又想起一件事。

## evening

No time given.
"""


@pytest.mark.parametrize(
    ("layout", "diary"),
    [("wiki/", "diary/"), ("memory/", "diary/"), ("", ""), ("memory/wiki/", "memory/diary/")],
)
def test_layouts(tmp_path: Path, layout: str, diary: str) -> None:
    files = {f"{layout}preferences.md": WIKI, "journal.jsonl": "{}\n"}
    if diary:
        files[f"{diary}2026-07-21.md"] = DIARY
        files["README.md"] = "## not-memory\n\nx\n"
    items, problems = _split(read_wikimem(str(_make(tmp_path, files)), zone=HANGZHOU))
    assert problems == []
    sea, coffee = (i for i in items if i.category == "preferences")
    assert (sea.name, sea.line, sea.path) == ("likes-the-sea", 3, f"{layout}preferences.md")
    assert sea.text == "喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]"
    assert (sea.metadata.owner, sea.metadata.source) == ("user:lin", "conv_20260710")
    assert sea.metadata.ts == "2026-07-10T03:00:00+00:00"
    assert (coffee.name, coffee.text, bool(coffee.metadata)) == (
        "手冲咖啡",
        "只喝手冲咖啡，从不加糖。",
        False,
    )
    if diary:
        assert [(i.name, i.metadata.ts) for i in items if i.category == "diary/2026-07-21"] == [
            ("14:30", "2026-07-21T06:30:00+00:00"),
            ("22:10", "2026-07-21T14:10:00Z"),
            ("22:10-2", "2026-07-21T14:10:00Z"),
            ("evening", "2026-07-21"),
        ]


def test_of_wiki_duplicates_the_last_keeps_the_name(tmp_path: Path) -> None:
    text = "## a\n\none\n\n## a-2\n\ntwo\n\n## A\n\nthree\n\n## b\n\nsame\n\n## a\n\nfour\n\n## b\n\nsame\n"
    items, problems = _split(read_wikimem(str(_make(tmp_path, {"wiki/x.md": text}))))
    assert [(i.name, i.text) for i in items] == [
        ("a-3", "one"),
        ("a-2", "two"),
        ("A-4", "three"),
        ("a", "four"),
        ("b", "same"),
    ]
    assert [(p.line, p.kind) for p in problems] == [(1, "duplicate"), (9, "duplicate"), (13, "duplicate")]


def test_text_under_no_entry_is_named(tmp_path: Path) -> None:
    lines = ("\ufeff# title", "A line by hand.", "## a", "one", "# Part two", "lost?", "## b", "two", "")
    text = "\r\n\r\n".join(lines)
    items, problems = _split(read_wikimem(str(_make(tmp_path, {"wiki/x.md": text}))))
    assert [(i.name, i.text) for i in items] == [("a", "one"), ("b", "two")]
    assert [(p.line, p.kind) for p in problems] == [(3, "no-entry"), (11, "no-entry")]


def test_names_that_cannot_be_written_here(tmp_path: Path) -> None:
    files = {"wiki/user/x.md": "## C#|sharp\n\none\n\n## [[\n\ntwo\n\n##\n\nthree\n"}
    items, problems = _split(read_wikimem(str(_make(tmp_path, files))))
    assert [(i.category, i.name, i.text) for i in items] == [
        ("imported-user/x", "C--sharp", "one"),
        ("imported-user/x", None, "two"),
        ("imported-user/x", None, "three"),
    ]
    assert {p.kind for p in problems} == {"bad-name"}
    assert any("C#|sharp" in p.message for p in problems)


def test_memory_md_is_read_only_when_it_holds_entries(tmp_path: Path) -> None:
    held = "# MEMORY.md - 长期记忆\n\n## Persona 记忆\n- 我的名字：聪音\n- 喜欢宇宙\n"
    items, problems = _split(read_wikimem(str(_make(tmp_path / "a", {"memory/MEMORY.md": held}))))
    assert [(i.category, i.name, i.text) for i in items] == [("memory", "Persona 记忆", "- 我的名字：聪音\n- 喜欢宇宙")]
    assert problems == []
    for name, text in (
        ("empty", "# MEMORY\n\n> written at run time\n"),
        ("made", "<!-- generated -->\n## x\n\ny\n"),
    ):
        items, problems = _split(read_wikimem(str(_make(tmp_path / name, {"memory/MEMORY.md": text}))))
        assert items == []
        assert [p.kind for p in problems] == ["skipped"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_bad_files_do_not_stop_the_rest(tmp_path: Path) -> None:
    _make(tmp_path, {"wiki/good.md": "## a\n\none\n", "wiki/merge.md": "## b\n\n<!-- memoranda: owner -->\n"})
    (tmp_path / "wiki/latin.md").write_bytes(b"## a\n\ncaf\xe9\n")
    os.mkfifo(tmp_path / "wiki/pipe.md")
    items, problems = _split(read_wikimem(str(tmp_path)))
    assert [i.name for i in items] == ["a", "b"]
    assert {(p.path, p.line, p.kind) for p in problems} >= {
        ("wiki/latin.md", 3, "encoding"),
        ("wiki/pipe.md", 0, "unreadable"),
    }


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    secret = _make(tmp_path / "outside", {"secret.md": "## s\n\nsecret\n", "deep/d.md": "## d\n\nsecret\n"})
    root = _make(tmp_path / "root", {"wiki/a.md": "## a\n\none\n"})
    (root / "wiki/linked.md").symlink_to(secret / "secret.md")
    (root / "wiki/folder").symlink_to(secret / "deep")
    (root / "wiki/inside.md").symlink_to(root / "wiki/a.md")
    items, problems = _split(read_wikimem(str(root)))
    assert [(i.category, i.text) for i in items] == [("a", "one"), ("inside", "one")]
    assert sorted((p.path, p.kind) for p in problems) == [
        ("wiki/folder", "symlink"),
        ("wiki/linked.md", "symlink"),
    ]


def test_the_source_is_left_as_it_was(tmp_path: Path) -> None:
    root = _make(tmp_path, {"wiki/preferences.md": WIKI.replace("\n", "\r\n"), "diary/2026-07-21.md": DIARY})

    def state() -> list[tuple[str, int, bytes]]:
        return [(str(p), p.stat().st_mtime_ns, p.read_bytes()) for p in sorted(root.rglob("*")) if p.is_file()]

    before = state()
    assert list(read_wikimem(str(root)))
    assert state() == before


def test_one_file_nothing_and_something_else(tmp_path: Path) -> None:
    _make(tmp_path, {"diary/2026-07-21.md": DIARY, "x.txt": ""})
    items, _ = _split(read_wikimem(str(tmp_path / "diary/2026-07-21.md"), zone=HANGZHOU))
    assert items[1].metadata.ts == "2026-07-21T14:10:00Z"
    with pytest.raises(NotFound):
        list(read_wikimem(str(tmp_path / "nowhere")))
    with pytest.raises(UsageError):
        list(read_wikimem(str(tmp_path / "x.txt")))
