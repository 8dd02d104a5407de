"""Cases of what people's files hold: sizes, bytes, names, links, times."""

from __future__ import annotations

import os
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from observing import in_child, journal, memory_bytes, places_of, write


def test_saved_by_rename_beside_a_locked_folder_and_a_loop(tmp_path: Path) -> None:
    """Case D17: the change is seen, the rest is read, and the scan ends."""
    with Vault.open(tmp_path) as vault:
        vault.remember("c:a", "likes tea")
        (tmp_path / "memory/loop").symlink_to(".")
        (tmp_path / "memory/deep").mkdir()
        (tmp_path / "memory/deep/up").symlink_to("..")
        vault.retrieve("tea")
        path = tmp_path / "memory/c.md"
        write(tmp_path, "memory/c.md", path.read_text().replace("tea", "rum"))
        found = vault.retrieve("likes rum")
        assert [hit.text for hit in found.hits] == ["likes rum"]
        assert {p.kind for p in vault.check()} == {"loop"}
        assert len(vault.items()) == 1


def test_bytes_of_all_kinds(tmp_path: Path) -> None:
    """Case D14: good files are read, the bad one is named, and no byte is rewritten."""
    files = {
        "memory/gb.md": "## 笔记\n\n中文".encode("gb18030"),
        "memory/bom.md": "\ufeff---\ntitle: 笔记\n---\n\n## 海\n\n喜欢海边\n".encode(),
        "memory/crlf.md": b"## b\r\n\r\nlikes tea\r\n\r\n---",
        "memory/cr.md": b"## c\r\rlikes rum\r",
        "memory/front-end.md": b"---\r\ntitle: x\r\n---",
        "memory/zero.md": b"## d\n\nlikes \x00 gin\n",
        "memory/lines.md": "## e\n\nlikes\u2028ale\u2029and\u0085mud\n".encode(),
        "memory/empty.md": b"",
    }
    for path, data in files.items():
        write(tmp_path, path, data)
    with Vault.open(tmp_path) as vault:
        assert {str(i.address): i.text for i in vault.items()} == {
            "bom:海": "喜欢海边",
            "crlf:b": "likes tea\n\n---",
            "cr:c": "likes rum",
            "zero:d": "likes \x00 gin",
            "lines:e": "likes\u2028ale\u2029and\u0085mud",
        }
        found = {"海边": "bom:海", "tea": "crlf:b", "rum": "cr:c", "gin": "zero:d", "ale": "lines:e"}
        for query, address in found.items():
            assert [h.address for h in vault.retrieve(query).hits] == [address]
        assert [(p.path, p.line) for p in vault.check() if p.kind == "encoding"] == [("memory/gb.md", 1)]
        vault.reindex()
    assert memory_bytes(tmp_path) == files


def test_broken_front_matter(tmp_path: Path) -> None:
    """Case D15: the file stays byte for byte, the fault is told, and other files go on."""
    text = '---\ndescription: "abc "def" ghi"\n---\n\n## a\n\nlikes tea\n'
    write(tmp_path, "memory/bad.md", text)
    write(tmp_path, "memory/good.md", "## b\n\nlikes rum\n")
    with Vault.open(tmp_path) as vault:
        assert {h.address for h in vault.retrieve("likes").hits} == {"bad:a", "good:b"}
        assert [(p.path, p.line, p.kind) for p in vault.check()] == [("memory/bad.md", 2, "front-matter")]
        vault.remember("bad:c", "likes gin")
    assert (tmp_path / "memory/bad.md").read_text().startswith(text)


@pytest.mark.parametrize(
    "address",
    ["../escape:a", "a/../../b:a", "/etc/x:a", "..:a", "a/./b:a", "\\\\host\\x:a", "project/p/../../y:a"],
)
def test_nothing_is_written_outside(tmp_path: Path, address: str) -> None:
    """Case D23: refused by every call that takes an address."""
    root = tmp_path / "in/vault"
    with Vault.open(root) as vault:
        vault.remember("c:a", "text")
        before = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*"))
        for call in (
            lambda: vault.remember(address, "x"),
            lambda: vault.revise(address, "x"),
            lambda: vault.rename(address, "x"),
            lambda: vault.forget(address),
            lambda: vault.get(address),
            lambda: vault.items(address),
            lambda: vault.read_category(address),
            lambda: vault.remember("c:b", "x", supersedes=address),
        ):
            with pytest.raises(Exception, match=r"may not|cannot|needs|a scope is|has an empty part") as raised:
                call()
            assert type(raised.value).__module__ == "memoranda.core.errors"
    after = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")}
    assert after - {*before, "in/vault/MEMORY.md", "in/vault/.cache/overview"} == set()


def test_the_day_is_the_users(tmp_path: Path) -> None:
    """Case D20: 00:30 on 16 April in Shanghai is filed and recalled as 16 April."""
    clock = FakeClock(datetime(2026, 4, 15, 16, 30, tzinfo=UTC), ZoneInfo("Asia/Shanghai"))
    with Vault.open(tmp_path, clock=clock) as vault:
        vault.remember("diary:beach", "今天去了海边")
        found = vault.retrieve("今天去了海边")
        assert "2026-04-16" in found.render()
        assert "2026-04-15" not in found.render()
        assert vault.get("diary:beach", as_of="2026-04-15") is None
        assert vault.get("diary:beach", as_of="2026-04-16") is not None


def test_the_day_is_that_of_the_machines_zone(tmp_path: Path) -> None:
    """Case D20, with the system's own clock: only ``TZ`` says where the user is."""

    def work() -> None:
        os.environ["TZ"] = "Asia/Shanghai"
        time.tzset()
        with Vault.open(tmp_path) as vault:
            vault.remember("diary:beach", "今天去了海边", ts="2026-04-16T00:30")
            item = vault.get("diary:beach")
            assert item is not None
            assert item.metadata.ts == "2026-04-15T16:30:00Z"
            assert "2026-04-16" in vault.retrieve("海边").render()

    assert in_child(work) == 0


def test_a_canary_that_was_forgotten(tmp_path: Path) -> None:
    """Case D22, the whole way with other processes: added, found, forgotten, and in no byte afterwards."""
    with Vault.open(tmp_path) as vault:
        vault.remember("c:canary 4711", "The canary 4711 sings.")
        vault.remember("c:other", "Another bird.")
        reader = Vault.open(tmp_path)
        assert reader.retrieve("canary").hits
        vault.forget("c:canary 4711")
        assert reader.retrieve("canary 4711").hits == []
        assert reader.get("c:canary 4711") is None
    reader.close()
    assert places_of(tmp_path, "4711", "sings") == []


def test_twenty_megabytes(tmp_path: Path) -> None:
    filler = "# big\n\n" + ("A line that a person wrote, with 中文 in it.\n" * 40 + "\n") * 100
    text = filler + "".join(f"## item {n}\n\n{'word ' * 800}unique{n}\n\n" for n in range(5000))
    assert len(text.encode()) > 20_000_000
    write(tmp_path, "memory/big.md", text)
    with Vault.open(tmp_path) as vault:
        assert vault.retrieve("unique4321", deadline=120).hits[0].address == "big:item 4321"
        vault.revise("big:item 17", "changed")
        vault.remember("big:new", "one more")
        data = (tmp_path / "memory/big.md").read_text()
        assert data.startswith(filler)
        assert data.count("\n## ") == 5001
        assert vault.retrieve("changed", deadline=120).hits[0].address == "big:item 17"
        vault.undo()
        vault.undo()
    assert (tmp_path / "memory/big.md").read_text() == text


def test_fifty_thousand_items_in_one_file(tmp_path: Path) -> None:
    with Vault.open(tmp_path) as vault:
        with vault.batch():
            for number in range(50_000):
                vault.remember(f"c:item {number}", f"text number{number}")
        assert len(vault.items()) == 50_000
        assert vault.retrieve("number49999", deadline=120).hits[0].address == "c:item 49999"
        assert vault.remember("c:one more", "added alone").status == "added"
        assert vault.get("c:one more") is not None
    assert len(journal(tmp_path)) == 50_001


def test_deleting_the_cache_changes_no_answer(tmp_path: Path) -> None:
    """Promise 1: the files are the truth."""
    with Vault.open(tmp_path) as vault:
        for number in range(40):
            vault.remember(f"c{number % 4}:item {number}", f"tea number {number} [[c0:item 0]]")
        before = vault.retrieve("tea number 7", k=30).hits
    lines = journal(tmp_path)
    shutil.rmtree(tmp_path / ".cache")
    with Vault.open(tmp_path) as vault:
        assert vault.retrieve("tea number 7", k=30).hits == before
    shutil.rmtree(tmp_path / ".cache")
    os.unlink(tmp_path / "MEMORY.md")
    with Vault.open(tmp_path) as vault:
        assert vault.retrieve("tea number 7", k=30).hits == before
    assert journal(tmp_path) == lines
    assert (tmp_path / "MEMORY.md").exists()
