"""The lock that everything which writes must hold, and several processes at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.editor import account, add, known_as, save, tree
from memoranda.core.addresses import parse_address
from memoranda.core.errors import ChangedUnderneath, NameTaken, VaultBusy
from memoranda.core.items import parse
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction, run
from memoranda.storage.vault import VaultFolder

Open = Callable[[], Storage]


def together(count: int, work: Callable[[int], object]) -> list[int]:
    """Do ``work`` in several processes that begin at the same moment; their exit codes."""
    ready, go = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(ready, 1)
            try:
                work(number)
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        children.append(child)
    os.close(ready)
    os.close(go)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def opened(root: Path) -> Storage:
    return Storage.at(VaultFolder(str(root)), FakeClock(), f"tester-{os.getpid()}")


def test_processes_that_add_to_one_category(root: Path) -> None:
    """Cases D1 and D26: also where none of them finds the vault there yet."""

    def work(number: int) -> None:
        storage = opened(root)
        for item in range(30):
            add(storage, f"likes:item-{number}-{item}", f"text {number} {item}")

    assert together(4, work) == [0] * 4
    names = [section.name for section in parse((root / "memory/likes.md").read_text()).sections]
    assert sorted(names) == sorted(f"item-{n}-{i}" for n in range(4) for i in range(30))
    storage = opened(root)
    assert sorted(str(entry.item) for entry in storage.journal.read()) == sorted(names)
    assert len({entry.id for entry in storage.journal.read()}) == 120
    assert len({entry.actor for entry in storage.journal.read()}) == 4
    before = tree(root)
    account(storage)
    assert tree(root) == before
    known_as(storage)
    for number in range(4):
        # What one process wrote stands in the order in which it wrote it.
        own = [name for name in names if name.startswith(f"item-{number}-")]
        assert own == [f"item-{number}-{i}" for i in range(30)]


def test_processes_that_add_the_same(root: Path) -> None:
    opened(root)

    def work(number: int) -> None:
        try:
            add(opened(root), "likes:tea", "Green.")
        except NameTaken:
            os._exit(3)

    assert sorted(together(4, work)) == [0, 3, 3, 3]
    assert len(list(opened(root).journal.read())) == 1


def test_processes_and_a_person(root: Path) -> None:
    """Two processes add, and a person saves by hand all the while."""
    opened(root)
    path = root / "memory/likes.md"
    save(path, b"# likes\n")

    def work(number: int) -> None:
        if number == 0:
            for item in range(30):
                account(opened(root))
                data = path.read_bytes()
                save(path, data.replace(b"# likes\n", b"# likes\n- line %d\n" % item))
            return
        storage = opened(root)
        for item in range(20):
            while True:
                # Where both changed the same lines nothing of ours is written, and a caller tries again.
                with suppress(ChangedUnderneath):
                    add(storage, f"likes:item-{number}-{item}", "x")
                    break

    assert together(3, work) == [0] * 3
    storage = opened(root)
    account(storage)
    found = path.read_bytes()
    assert b"- line 29\n" in found
    known_as(storage)
    told = {entry.item for entry in storage.journal.read() if entry.action == "add"}
    assert told == {f"item-{n}-{i}" for n in (1, 2) for i in range(20)}
    # A person's save may be of what they read before; what it erased was journalled as theirs.
    # A list has no headings: there the name is a block id, with its caret.
    lines = [entry for entry in storage.journal.read() if entry.detail.get("kind") == "removed"]
    removed = {(entry.item or "").removeprefix("^") for entry in lines}
    kept = {section.name for section in parse(found.decode()).sections if section.name}
    assert told == kept | (removed & told)


def test_a_crash_in_one_process_is_seen_by_another(storage: Storage, root: Path, open_storage: Open) -> None:
    """Also by one that is open all along and has settled before."""
    from fakes.disk import FaultyDisk

    add(storage, "likes:tea", "Green.")

    def fault(number: int, call: str) -> None:
        if call == "exchange":
            os._exit(0)

    child = os.fork()
    if child == 0:
        with FaultyDisk(fault).mounted():
            add(open_storage(), "likes:coffee", "Never.")
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    add(storage, "likes:milk", "Yes.")
    assert [entry.item for entry in storage.journal.read()] == ["tea", "milk"]
    assert [path for path in tree(root) if ".memoranda-" in path] == []


def test_the_lock_is_busy(storage: Storage, open_storage: Open) -> None:
    with storage.locked(), pytest.raises(VaultBusy), open_storage().locked(0.0):
        pass


def test_taken_again_in_the_middle_of_a_change(storage: Storage) -> None:
    """Whoever holds it already is not taken for somebody who crashed."""

    def plan(transaction: Transaction) -> None:
        transaction.open(parse_address("likes")).add("tea", "Green.")
        transaction.log("add")

    append = storage.history.append

    def appending(record: object) -> None:
        append(record)  # type: ignore[arg-type]
        with storage.locked():
            pass

    storage.history.append = appending  # type: ignore[method-assign, assignment]
    run(storage, "add", plan)
    assert [entry.action for entry in storage.journal.read()] == ["add"]
    assert [record.action for record in storage.history.read()] == ["add"]


def test_nothing_is_read_again_while_nobody_else_writes(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    add(storage, "likes:tea", "Green.")
    monkeypatch.setattr(storage.history, "last", lambda: 1 / 0)
    add(storage, "likes:milk", "Yes.")
