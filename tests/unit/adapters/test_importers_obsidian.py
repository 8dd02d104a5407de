"""A vault of Obsidian: notes become categories, sections items, and links lead where they led."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memoranda.adapters.importers.obsidian import read_obsidian
from memoranda.core.errors import NotFound, UsageError
from memoranda.core.links import find_links
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem
from sources import SAMPLES, lay_down, needs_samples, state_of, told_apart


def _read(root: Path, files: dict[str, str | bytes]) -> tuple[list[ForeignItem], list[Problem]]:
    return told_apart(read_obsidian(str(lay_down(root / "vault", files))))


def test_sections_are_items_of_the_note(tmp_path: Path) -> None:
    head = "---\ncreated: 2026-07-10\n---\n# 海\n\n海很大。\n\n"
    text = head + "## 去玩 [[青岛|Qingdao]]\n\n八月去。\n\n### deep\n\nx\n\n## 空\n\n# Part\n\ny\n"
    items, problems = _read(tmp_path, {"旅行/海.md": text})
    assert [(i.category, i.name, i.text, i.line, i.metadata.ts) for i in items] == [
        ("旅行/海", "海", "海很大。", 1, "2026-07-10"),
        ("旅行/海", "去玩 Qingdao", "八月去。\n\n### deep\n\nx", 8, "2026-07-10"),
        ("旅行/海", "Part", "y", 18, "2026-07-10"),
    ]
    assert items[0].metadata.source == "obsidian/vault/旅行/海.md"
    assert [(p.line, p.kind) for p in problems] == [(16, "empty")]


def test_a_note_without_sections_is_one_item(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.md": "# A\n\ntext\n\n# More\n\nrest\n",
        "b.md": "\ufeffplain\r\ntext\r\n",
        "c.md": "# Only a title\n",
        "d.md": "",
        "e.md": "Title\n===\n\nbody",
    }
    items, problems = _read(tmp_path, files)
    assert [(i.category, i.name, i.text) for i in items] == [
        ("a", "a", "text\n\n### More\n\nrest"),
        ("b", "b", "plain\ntext"),
        ("e", "e", "### Title\n\nbody"),
    ]
    assert [(p.path, p.kind) for p in problems] == [("c.md", "empty"), ("d.md", "empty")]


def test_properties(tmp_path: Path) -> None:
    text = (
        "---\ntags: [sea, '#travel']\naliases: 海边\ndate created: 2026-07-10 11:00\ntitle: Trip\ncssclass: wide\n"
        'people:\n  - "[[Lin]]"\n  - Mo\nstart: 2026-08-01\nempty:\nraw: "{{date}}"\ntrust: high\n---\n'
    )
    items, _ = _read(tmp_path, {"Trip.md": text, "Lin.md": "A friend."})
    trip = items[1]
    assert trip.text == "- people: [[Lin:Lin|Lin]], Mo\n- start: 2026-08-01\n- trust: high"
    assert dict(trip.metadata.pairs) == {
        "source": "obsidian/vault/Trip.md",
        "ts": "2026-07-10T11:00:00Z",
        "tags": "sea, travel",
        "aliases": "海边",
    }


NOTES: dict[str, str | bytes] = {
    "Places/Sea.md": "The sea.\n\nA shell. ^shell\n\n## Beaches\n\nSand.\n\n### Far away\n\nPalms. ^palm-1\n",
    "Places/Town.md": "## Streets\n\nLong.\n\n## Parks\n\nGreen.\n",
    "Places/One.md": "## Only\n\nx\n",
    "a/Same.md": "in a",
    "b/Same.md": "in b",
    "Colon：名.md": "x",
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[[Sea]]", "[[Places/Sea:Sea|Sea]]"),
        ("[[ sea ]]", "[[Places/Sea:Sea|sea]]"),
        ("[[Sea.md|the sea]]", "[[Places/Sea:Sea|the sea]]"),
        ("[[Places/Sea]]", "[[Places/Sea:Sea|Places/Sea]]"),
        ("[[../Places/Sea|s]]", "[[Places/Sea:Sea|s]]"),
        ("![[Sea]]", "[[Places/Sea:Sea|Sea]]"),
        ("[[Sea#Beaches]]", "[[Places/Sea:Beaches|Sea > Beaches]]"),
        ("[[Sea#Beaches#Far away|far]]", "[[Places/Sea:Beaches|far]]"),
        ("[[Sea#far away]]", "[[Places/Sea:Beaches|Sea > far away]]"),
        ("[[Sea#^shell|a]]", "[[Places/Sea:Sea|a]]"),
        ("[[Sea#^palm-1|a]]", "[[Places/Sea:Beaches|a]]"),
        ("[[Sea#never there|a]]", "[[Places/Sea:Sea|a]]"),
        ("[[Town]]", "[[Places/Town|Town]]"),
        ("[[Town#Parks|a]]", "[[Places/Town:Parks|a]]"),
        ("[[One|a]]", "[[Places/One:Only|a]]"),
        ("[[Same|a]]", "[[b/Same:Same|a]]"),
        ("[[a/Same|a]]", "[[a/Same:Same|a]]"),
        ("[[Colon：名|a]]", "[[Colon-名:Colon：名|a]]"),
        ("[[#Mine|here]]", "[[b/From:Mine|here]]"),
        ("| [[Sea\\|the sea]] |", "| [[Places/Sea:Sea\\|the sea]] |"),
        ("[[Nowhere]]", "Nowhere"),
        ("[[Nowhere|shown]] and [[Sea|s]]", "shown and [[Places/Sea:Sea|s]]"),
        ("![[picture.png|300x200]] ![[table.base#View]]", "picture.png table.base > View"),
        ("`[[Sea]]` [[Sea", "`[[Sea]]` [[Sea"),
        ("!![[Sea|s]]", "![[Places/Sea:Sea|s]]"),
    ],
)
def test_links(tmp_path: Path, written: str, expected: str) -> None:
    items, _ = _read(tmp_path, {**NOTES, "b/From.md": f"{written}\n\n## Mine\n\nx\n"})
    (item,) = [i for i in items if i.category == "b/From" and i.name == "From"]
    assert item.text == expected


def test_what_is_no_note_is_left_out(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "Note.md": "x",
        ".obsidian/x.md": "x",
        ".trash/x.md": "x",
        "Templates/Daily.md": "{{date}}",
        "board.canvas": "{}",
        "view.base": "x",
        "p.png": b"\x89",
        "latin.md": b"ok\ncaf\xe9",
        "a (conflicted copy 2026).md": "x",
    }
    items, problems = _read(tmp_path, files)
    assert [i.name for i in items] == ["Note"]
    assert sorted((p.path, p.line, p.kind) for p in problems) == [
        ("Templates", 0, "skipped"),
        ("a (conflicted copy 2026).md", 0, "bad-name"),
        ("latin.md", 2, "encoding"),
    ]


def test_the_vault_itself_says_where_its_templates_are(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        ".obsidian/templates.json": '{"folder": "Meta/模子/"}',
        "Meta/模子/x.md": "x",
        "Templates/kept.md": "x",
    }
    assert [i.name for i in _read(tmp_path, files)[0]] == ["kept"]
    for odd in ("[" * 100_000, "{}", '{"folder": 5}', b"\xff"):
        files[".obsidian/templates.json"] = odd
        assert [i.name for i in _read(tmp_path, files)[0]] == ["x"]


def test_names_that_cannot_be_written_here(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"user/x.md": "## [[\n\none\n\n## C#|x\n\ntwo\n\n## C#|x\n\nthree\n"}
    items, _ = _read(tmp_path, files)
    assert [(i.category, i.name, i.text) for i in items] == [
        ("imported-user/x", "x 1", "one"),
        ("imported-user/x", "C--x", "two"),
        ("imported-user/x", "C--x-2", "three"),
    ]


def test_one_note_nothing_and_links_out(tmp_path: Path) -> None:
    root = lay_down(tmp_path / "v", {"a.md": "x [[b]]", "b.md": "y"})
    secret = lay_down(tmp_path / "secret", {"s.md": "secret", "deep/d.md": "secret"})
    (root / "s.md").symlink_to(secret / "s.md")
    (root / "deep").symlink_to(secret / "deep")
    items, problems = told_apart(read_obsidian(str(root)))
    assert [i.text for i in items] == ["x [[b:b|b]]", "y"]
    assert sorted(p.path for p in problems) == ["deep", "s.md"]
    assert [i.text for i in told_apart(read_obsidian(str(root / "a.md")))[0]] == ["x b"]
    with pytest.raises(NotFound):
        list(read_obsidian(str(tmp_path / "none")))
    with pytest.raises(UsageError):
        list(read_obsidian(str(lay_down(tmp_path, {"x.txt": ""}) / "x.txt")))


@pytest.mark.skipif(os.name == "nt", reason="file names there are always Unicode")
def test_a_file_name_that_is_not_unicode(tmp_path: Path) -> None:
    root = lay_down(tmp_path / "v", {"a.md": "x"})
    (root / os.fsdecode(b"caf\xe9.md")).write_text("y")
    items, problems = told_apart(read_obsidian(str(root)))
    assert [i.text for i in items] == ["x"]
    assert [p.kind for p in problems] == ["encoding"]
    problems[0].path.encode()


@needs_samples
@pytest.mark.parametrize("vault", ["kepano", "knowledge-garden-zh", "obsidian-export-testdata/main-samples"])
def test_every_link_of_a_real_vault_leads_to_an_item_or_its_category(vault: str) -> None:
    root = SAMPLES / "obsidian" / vault
    before = state_of(root)
    items, problems = told_apart(read_obsidian(str(root)))
    assert len(items) > 20
    assert len(problems) < 5
    there = {(i.category, i.name) for i in items} | {(i.category, None) for i in items}
    links = [link for i in items for link in find_links(i.text)]
    assert len(links) > 10
    assert {(link.category, link.item) for link in links} <= there
    assert state_of(root) == before
