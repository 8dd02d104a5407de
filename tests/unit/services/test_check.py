from __future__ import annotations

import os
import time
from pathlib import Path

from memoranda.bootstrap import Vault
from observing import as_nobody, journal, memory_bytes, tree_bytes, write


def kinds(vault: Vault) -> dict[tuple[str, int], str]:
    return {(p.path, p.line): p.kind for p in vault.check()}


def test_a_sound_vault_has_none(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "links to [[c:b]], [[c]], [[turn/talk#1]] and [[kb/docs/x#2]]")
    vault.remember("c:b", "back to [[c:a]] and [[user/lin/c:x]]", supersedes="c:a")
    vault.remember("user/lin/c:x", "her own, [[c:a]], [[c]] and [[:x]]")
    write(root, "memory/empty.md", "# empty\n\n")
    write(root, "memory/to-empty.md", "## a\n\n[[empty]]\n")
    vault.import_turns([{"conversation": "talk", "turn": 1, "text": "hello"}])
    assert vault.check() == []


def test_every_fault_by_file_and_line(vault: Vault, root: Path) -> None:
    """Case D14: bad files are reported by name, good ones go on, and no byte is rewritten."""
    files: dict[str, str | bytes] = {
        "memory/gb.md": "## 好\n\n".encode() + "中文笔记".encode("gb18030") + b"\n",
        "memory/links.md": "## a\n\n[[gone:x]]\n\n## b\n\ntext\n\n<!-- memoranda: superseded_by=links:c -->\n",
        "memory/twice.md": "## a\n\none\n\n## A\n\ntwo\n",
        "memory/open.md": "## a\n\n```\nnever closed\n",
        "memory/merge.md": "## a\n\n<<<<<<< ours\none\n\n=======\ntwo\n>>>>>>> theirs\n",
        "memory/meta.md": "## a\n\ntext\n\n<!-- memoranda: owner -->\n",
        "memory/front.md": '---\ndescription: "abc "def" ghi"\n---\n\n## a\n\ntext\n',
        "memory/CON.md": "## a\n\ntext\n",
        "memory/c (conflicted copy 2026).md": "## a\n\ntext\n",
        "memory/caf\u00e9.md": "## a\n\none\n",
        "memory/cafe\u0301.md": "## b\n\ntwo\n",
        "memory/fine.md": "\ufeff---\ntitle: x\n---\r\n\r\n## a\r\n\r\n好\r\n",
    }
    for path, content in files.items():
        write(root, path, content)
    (root / "memory/folder.md").mkdir()
    (root / "memory/nowhere.md").symlink_to(root / "memory/absent.md")
    (root / "memory/outside.md").symlink_to("/etc/hostname")
    before = memory_bytes(root)
    found = kinds(vault)
    expected = {
        ("memory/gb.md", 3): "encoding",
        ("memory/links.md", 3): "dangling-link",
        ("memory/links.md", 5): "dangling-superseded_by",
        ("memory/twice.md", 5): "duplicate-name",
        ("memory/open.md", 3): "unclosed",
        ("memory/merge.md", 3): "merge-marker",
        ("memory/meta.md", 5): "metadata",
        ("memory/front.md", 2): "front-matter",
        ("memory/CON.md", 0): "name",
        ("memory/c (conflicted copy 2026).md", 0): "sync-conflict",
        ("memory/nowhere.md", 0): "dangling",
        ("memory/outside.md", 0): "outside",
        ("memory/caf\u00e9.md", 0): "same-category",
    }
    assert expected.items() <= found.items()
    assert memory_bytes(root) == before
    assert vault.check() == vault.check()
    assert [h.address for h in vault.retrieve("好").hits] == ["fine:a"]
    assert vault.remember("fine:b", "more").status == "added"
    assert all(str(p).startswith(p.path) for p in vault.check())


def test_torn_records_are_counted(vault: Vault, root: Path) -> None:
    """Case D2, seen from above: a torn tail is kept aside and counted, and the next record is readable."""
    vault.remember("c:a", "one")
    vault.import_turns([{"conversation": "t", "turn": 1, "text": "hello"}])
    for path in ("journal.jsonl", "history/2026-07.jsonl", "resources/2026-07/t.jsonl"):
        with open(root / path, "ab") as stream:
            stream.write(b'{"i":1,"t":"' + "海".encode()[:1])
    vault.remember("c:b", "two")
    problems = [p for p in vault.check() if p.kind == "torn"]
    assert [p.path for p in problems] == ["history", "journal.jsonl", "resources/2026-07/t.jsonl"]
    assert journal(root)[-1]["item"] == "b"
    assert vault.status().torn == 2
    assert b'{"i":1' in (root / "journal.jsonl.torn").read_bytes()


def test_repair_leads_links_to_the_one_place_with_that_name(vault: Vault, root: Path) -> None:
    vault.remember("new:trip", "to the sea")
    vault.remember("twice:other", "one")
    vault.remember("again:other", "two")
    text = "# c\n\n##  a  ##\nsee [[old:trip]], [[old#trip|there]], `[[old:trip]]`, [[old:other]], "
    text += "[[old:none]]\n***\nodd"
    write(root, "memory/c.md", text)
    problems = [p for p in vault.check() if p.kind == "dangling-link"]
    assert [p.repairable for p in sorted(problems, key=lambda p: p.message)] == [False, False, True]
    left = vault.check(repair=True)
    assert [p.kind for p in left] == ["dangling-link", "dangling-link"]
    repaired = text.replace("see [[old:trip]], [[old#trip|there]]", "see [[new:trip]], [[new#trip|there]]")
    assert (root / "memory/c.md").read_text() == repaired
    lines = [line for line in journal(root) if line["action"] == "link-repair"]
    assert [line["item"] for line in lines] == ["a"]
    vault.undo()
    assert (root / "memory/c.md").read_text() == text


def test_repair_of_links_in_text_that_no_tool_would_write(vault: Vault, root: Path) -> None:
    vault.remember("new:trip", "to the sea")
    text = "# c\n\n## a\n\n[[old:trip]]\n\n```\nopen"
    write(root, "memory/c.md", text)
    vault.check(repair=True)
    assert (root / "memory/c.md").read_text() == text.replace("old", "new")


def test_repair_removes_what_a_crash_left(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    old, fresh = root / "memory/.memoranda-0123456789abcdef.tmp", root / ".memoranda-ffff456789abcdef.tmp"
    for path in (old, fresh):
        path.write_text("half a fi")
    os.utime(old, (time.time() - 600, time.time() - 600))
    assert [p.path for p in vault.check()] == ["memory/.memoranda-0123456789abcdef.tmp"]
    assert vault.check(repair=True) == []
    assert not old.exists()
    # Somebody may be writing this one.
    assert fresh.exists()


def test_repair_of_nothing_changes_nothing(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "[[gone:x]]")
    vault.items()
    before = tree_bytes(root)
    assert [p.kind for p in vault.check(repair=True)] == ["dangling-link"]
    assert tree_bytes(root) == before


def test_links_to_no_category_and_files_without_permission(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "[[nowhere]] and [[C]]")
    vault.remember("user/lin/own:b", "[[own]] [[user/lin/own]] [[shared/c]] [[shared/own]]")
    problems = [(p.path, p.message) for p in vault.check()]
    assert problems == [
        ("memory/c.md", "[[nowhere]] leads to no category"),
        ("users/lin/memory/own.md", "[[shared/own]] leads to no category"),
    ]
    write(root, "memory/locked.md", "## a\n\ntext\n").chmod(0)
    for folder in (root, *root.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644 if path.name != "locked.md" else 0)

    def look() -> None:
        with Vault.open(root) as reader:
            found = [(p.path, p.kind) for p in reader.check() if p.kind == "unreadable"]
            assert set(found) == {("memory/locked.md", "unreadable")}
            assert any("memory/locked.md" in note for note in reader.retrieve("nowhere").unavailable)

    as_nobody(look)
