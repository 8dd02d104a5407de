"""Cases of lost and doubled writes: several processes on one vault, and killed ones."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.bootstrap import Vault
from memoranda.core.errors import Conflict
from observing import in_child, journal, write


def at_once(*works: Callable[[], None]) -> list[int]:
    """Do several works in processes that begin together; their exit codes."""
    ready, go = os.pipe(), os.pipe()
    children = []
    for work in works:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.write(ready[1], b".")
                os.close(go[1])
                os.read(go[0], 1)
                work()
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    for _ in works:
        os.read(ready[0], 1)
    os.close(go[0])
    os.close(go[1])
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    os.close(ready[0])
    os.close(ready[1])
    return codes


def adds(root: Path, who: str, count: int) -> Callable[[], None]:
    def work() -> None:
        with Vault.open(root) as vault:
            for number in range(count):
                vault.remember(f"c:{who} {number}", f"text of {who} number {number}")

    return work


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    """Case D1: 20 concurrent adds each into one category: 40 items on disk and in recall."""
    Vault.open(tmp_path).close()
    assert at_once(adds(tmp_path, "one", 20), adds(tmp_path, "two", 20)) == [0, 0]
    with Vault.open(tmp_path) as vault:
        assert len(vault.items("c")) == 40
        assert len(vault.retrieve("text number", k=100).hits) == 40
        assert vault.check() == []


def test_the_journal_claims_no_more_than_the_file_holds(tmp_path: Path) -> None:
    """Case D26: two processes add 200 each: 400 items, and 400 lines that each name one that is there."""
    Vault.open(tmp_path).close()
    assert at_once(adds(tmp_path, "one", 200), adds(tmp_path, "two", 200)) == [0, 0]
    with Vault.open(tmp_path) as vault:
        names = {item.name for item in vault.items("c")}
    lines = journal(tmp_path)
    assert len(names) == len(lines) == 400
    assert {line["item"] for line in lines} == names
    assert {line["action"] for line in lines} == {"add"}
    assert (tmp_path / "MEMORY.md").read_text().count("- **c** (400)") == 1


def test_the_same_sentence_from_two_processes_is_one_item(tmp_path: Path) -> None:
    """Case D6: one item, and both callers are told."""
    Vault.open(tmp_path).close()

    def work(answer: Path) -> Callable[[], None]:
        def remember() -> None:
            with Vault.open(tmp_path) as vault:
                written = vault.remember("c", "The same sentence, said twice at once.")
                answer.write_text(f"{written.status} {written.address}")

        return remember

    answers = [tmp_path / "one.txt", tmp_path / "two.txt"]
    assert at_once(*(work(answer) for answer in answers)) == [0, 0]
    told = sorted(answer.read_text() for answer in answers)
    assert [t.split()[0] for t in told] == ["added", "duplicate"]
    assert len({t.split()[1] for t in told}) == 1
    with Vault.open(tmp_path) as vault:
        assert len(vault.items()) == 1
    assert len(journal(tmp_path)) == 1


@pytest.mark.parametrize("appended", [7, 7000])
def test_a_person_appends_while_a_tool_replaces(tmp_path: Path, appended: int) -> None:
    """Case D3: both survive, or there is a conflict and nothing is written."""
    with Vault.open(tmp_path) as vault:
        vault.remember("c:a", "first")
        vault.remember("c:b", "second")
        loaded = vault.get("c:a")
        assert loaded is not None
        path = tmp_path / "memory/c.md"
        mine = "\n## by-hand\n\n" + "x" * appended + "\n"
        write(tmp_path, "memory/c.md", path.read_text() + mine)
        vault.revise("c:a", "first, revised", expected_hash=loaded.hash)
        assert path.read_text().endswith(mine)
        assert [i.text[:14] for i in vault.items("c")][:2] == ["first, revised", "second"]
        # Of the item itself it is a conflict.
        write(tmp_path, "memory/c.md", path.read_text().replace("first, revised", "mine now"))
        before = path.read_bytes()
        with pytest.raises(Conflict):
            vault.revise("c:a", "tool's", expected_hash=loaded.hash)
        assert path.read_bytes() == before


def test_a_person_saves_all_the_while(tmp_path: Path) -> None:
    """Case D3, at length: of 40 saves by an editor and 60 adds by a tool, none is lost."""
    with Vault.open(tmp_path) as vault:
        vault.remember("c:start", "start")

    def editor() -> None:
        path = tmp_path / "memory/c.md"
        for number in range(40):
            # An editor that reads, and saves only if the file is still what it read: no save of its own loses ours.
            while True:
                text = path.read_bytes()
                new = text + f"\n## hand {number}\n\nby hand {number}\n".encode()
                temporary = path.with_name("c.md~")
                temporary.write_bytes(new)
                if path.read_bytes() == text:
                    temporary.replace(path)
                    break
            time.sleep(0.001)

    assert at_once(editor, adds(tmp_path, "tool", 60)) == [0, 0]
    with Vault.open(tmp_path) as vault:
        names = {item.name for item in vault.items("c")}
        missing = {f"hand {n}" for n in range(40)} - names
        # Between an editor's look and its save there is a window that is the editor's own: what it erased of ours
        # is journalled as its edit, and one undo brings it back. Nothing of its own is ever lost.
        assert missing == set()
        removed = [e for e in vault.log() if e.action == "external-edit" and e.detail.get("kind") == "removed"]
        erased = {e.item for e in removed}
        assert {f"tool {n}" for n in range(60)} - names <= erased
        for change in {e.id.partition(".")[0] for e in removed}:
            vault.undo(change)
        assert {f"tool {n}" for n in range(60)} <= {item.name for item in vault.items("c")}
        assert not list(tmp_path.rglob("*.conflict-*"))


def test_killed_in_a_write_the_next_one_succeeds_at_once(tmp_path: Path) -> None:
    """Case D32: nothing is left over that refuses writes, and nothing that was acknowledged is lost."""
    Vault.open(tmp_path).close()
    for turn in range(6):
        acknowledged = tmp_path / "acknowledged"
        acknowledged.write_text("")
        pid = os.fork()
        if pid == 0:
            with Vault.open(tmp_path) as vault, open(acknowledged, "ab", buffering=0) as stream:
                for number in range(10_000):
                    written = vault.remember(f"c{number % 2}", f"turn {turn} number {number}")
                    stream.write(written.address.encode() + b"\n")
            os._exit(0)
        until = time.monotonic() + 20
        while acknowledged.read_text().count("\n") < 3 + turn and time.monotonic() < until:
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with Vault.open(tmp_path) as vault:
            began = time.monotonic()
            vault.remember("c0", f"after turn {turn}")
            assert time.monotonic() - began < 5
            addresses = {str(item.address) for item in vault.items()}
            told = set(acknowledged.read_text().split("\n")[:-1])
            assert told <= addresses
            assert len(told) >= 3
            assert {f"{line['category']}:{line['item']}" for line in journal(tmp_path)} == addresses
            assert vault.check() == []


def test_readers_while_somebody_writes(tmp_path: Path) -> None:
    """Case D8, of this floor: searches run beside a writer without a fault."""
    with Vault.open(tmp_path) as vault, vault.batch():
        for number in range(500):
            vault.remember(f"c{number % 5}:item {number}", f"text number {number}")

    def search() -> None:
        vault = Vault.open(tmp_path)
        for number in range(25):
            found = vault.retrieve(f"text number {number}", deadline=30)
            assert found.hits[0].text == f"text number {number}"
            assert found.unavailable == []

    assert at_once(search, search, search, adds(tmp_path, "writer", 50)) == [0, 0, 0, 0]
    with Vault.open(tmp_path) as vault:
        assert len(vault.items()) == 550


def test_a_reader_that_dies_leaves_nothing(tmp_path: Path) -> None:
    with Vault.open(tmp_path) as vault:
        vault.remember("c:a", "one")

    def die() -> None:
        Vault.open(tmp_path).retrieve("one")
        os._exit(0)

    assert in_child(die) == 0
    with Vault.open(tmp_path) as vault:
        assert vault.remember("c:b", "two").status == "added"
