"""A process that is killed at any one of its calls leaves all of a change or nothing of it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.disk import FaultyDisk, full, stops_at
from fakes.editor import account, known_as, look, save, tree
from memoranda.core.addresses import parse_address
from memoranda.core.errors import MemorandaError, VaultError
from memoranda.core.items import parse
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.storage.history import ItemChange, ItemState
from memoranda.storage.journal import change_of
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction, run
from memoranda.storage.vault import VaultFolder

Work = Callable[[Storage], object]
MOST_STEPS = 150


def opened(root: Path) -> Storage:
    return Storage.at(VaultFolder(str(root)), FakeClock(), "tester")


def changing(plan: Callable[[Transaction], None]) -> Work:
    return lambda storage: run(storage, "change", plan)


def add(transaction: Transaction) -> None:
    category = transaction.open(parse_address("likes"))
    category.add("the-sea", "The sea is wide.", EMPTY_METADATA.with_values(owner="user:lin"))
    transaction.log("add", parse_address("likes:the-sea"))


def replace(transaction: Transaction) -> None:
    category = transaction.open(parse_address("likes"))
    category.replace("tea", "Green tea 绿茶, from now on.\n\n- and cake")
    transaction.log("update", parse_address("likes:tea"))


def rename_with_links(transaction: Transaction) -> None:
    transaction.open(parse_address("likes")).rename("tea", "green-tea")
    transaction.open(parse_address("days")).replace("monday", "Monday begins with [[likes:green-tea]].")
    transaction.open(parse_address("user/lin/home")).replace("kitchen", "Where [[likes:green-tea]] is kept.")
    transaction.log("rename", parse_address("likes:green-tea"))
    transaction.log("link-repair", parse_address("days:monday"))
    transaction.log("link-repair", parse_address("user/lin/home:kitchen"))


def remove(transaction: Transaction) -> None:
    transaction.open(parse_address("likes")).remove("tea")
    transaction.log("remove", parse_address("likes:tea"))


def create(transaction: Transaction) -> None:
    transaction.open(parse_address("work/new")).add("first", "The first one.")
    transaction.log("add", parse_address("work/new:first"))


def uncreate(transaction: Transaction) -> None:
    category = transaction.open(parse_address("days"))
    was = ItemState("monday", "Monday begins with [[likes:tea]].")
    category.put_nothing([ItemChange(category.relative, was, None)])
    transaction.log("restore", parse_address("days"))


def create_and_uncreate(transaction: Transaction) -> None:
    uncreate(transaction)
    create(transaction)
    replace(transaction)


def second_of_two(transaction: Transaction) -> None:
    transaction.open(parse_address("twice")).remove("one")
    transaction.log("remove", parse_address("twice:one"))


PLANS: dict[str, Work] = {
    "add": changing(add),
    "replace": changing(replace),
    "rename-with-links": changing(rename_with_links),
    "remove": changing(remove),
    "create": changing(create),
    "uncreate": changing(uncreate),
    "create-and-uncreate": changing(create_and_uncreate),
    "second-of-two": changing(second_of_two),
}


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with three linked files, all accounted for."""
    root = tmp_path_factory.mktemp("stocked") / "vault"
    storage = opened(root)
    files = {
        "memory/likes.md": "# likes\r\n\r\nMine.\r\n\r\n## tea\r\n\r\nTea 茶.\r\n\r\n## coffee\r\n\r\nNo.\r\n",
        "memory/days.md": "# days\n\n## monday\n\nMonday begins with [[likes:tea]].\n",
        "memory/twice.md": "## one\n\nfirst\n\n## one\n\nsecond\n\n## two\n\nthird\n",
        "users/lin/memory/home.md": "\ufeff# home\n\n## kitchen\n\nWhere [[likes:tea]] is kept.\n\n## roof",
    }
    for path, text in files.items():
        save(root / path, text.encode())
    account(storage)
    return root


@pytest.fixture
def copies(stocked: Path, tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """Makes copies of the stocked vault."""
    made: list[Path] = []

    def copy() -> Path:
        made.append(tmp_path / f"copy-{len(made)}" / "vault")
        shutil.copytree(stocked, made[-1])
        storage = opened(made[-1])
        with storage.locked():
            pass
        return made[-1]

    yield copy
    for path in made:
        shutil.rmtree(path.parent, ignore_errors=True)


def journalled(root: Path) -> list[tuple[str, str, str | None]]:
    return [(e.action, e.category or "", e.item) for e in opened(root).journal.read()]


def outcome(root: Path) -> tuple[dict[str, bytes], list[tuple[str, str, str | None]]]:
    return look(root), journalled(root)


def assert_sound(root: Path) -> None:
    """What holds of every vault once the lock has been taken."""
    storage = opened(root)
    with storage.locked():
        pass
    settled = tree(root)
    leftovers = [path for path in settled if ".memoranda-" in path or ".conflict-" in path or path.endswith(".torn")]
    assert [path for path in leftovers if not path.endswith(".torn")] == []
    for path, data in look(root).items():
        assert not any(kind == "unclosed" for _, kind, _ in parse(data.decode()).problems), path
    told = {line["id"] for record in storage.history.read() for line in record.journal}
    assert told == {entry.id for entry in storage.journal.read()}
    assert len(told) == len(list(storage.journal.read()))
    known = known_as(storage)
    # Whoever looks finds nothing that a person did, and nothing more to recover.
    account(opened(root))
    assert tree(root) == settled
    shutil.rmtree(root / ".cache")
    again = opened(root)
    account(again)
    assert tree(root) == settled
    assert known_as(again) == known


def steps_of(work: Work, root: Path, only: str | None = None) -> list[int]:
    """The numbers of the calls that the work makes, all of them or those of one kind."""
    with FaultyDisk().mounted() as disk:
        work(opened(root))
    return [number for number, call in enumerate(disk.calls, 1) if only in (None, call)]


@pytest.mark.parametrize("torn", [False, True], ids=["stopped", "torn"])
@pytest.mark.parametrize("name", PLANS)
def test_killed_at_any_call(name: str, torn: bool, copies: Callable[[], Path]) -> None:
    work = PLANS[name]
    before = outcome(copies())
    done = copies()
    work(opened(done))
    after = outcome(done)
    assert before[0] != after[0]
    assert len(after[1]) > len(before[1])
    seen = []
    for step in steps_of(work, copies(), "write" if torn else None):
        root = copies()
        assert stops_at(step, lambda root=root: work(opened(root)), torn=torn)
        storage = opened(root)
        with storage.locked():
            pass
        found = outcome(root)
        assert found in (before, after), step
        seen.append(found == after)
        assert_sound(root)
    assert seen[0] is False
    if not torn:
        # Both outcomes occur, and once it has happened it does not unhappen.
        assert seen[-1] is True
        assert seen == sorted(seen)


def test_killed_while_recovering(copies: Callable[[], Path]) -> None:
    work = PLANS["rename-with-links"]
    before, done = outcome(copies()), copies()
    work(opened(done))
    after = outcome(done)
    pairs = 0
    for step in steps_of(work, copies())[::4]:
        first = copies()
        assert stops_at(step, lambda first=first: work(opened(first)))
        for again in range(1, MOST_STEPS, 2):
            root = first.parent / f"again-{again}"
            shutil.copytree(first, root)

            def recover(root: Path = root) -> None:
                with opened(root).locked():
                    pass

            stopped = stops_at(again, recover)
            recover()
            assert outcome(root) in (before, after), (step, again)
            assert [path for path in tree(root) if ".memoranda-" in path or ".conflict-" in path] == []
            pairs += 1
            if not stopped:
                break
    assert pairs > 25


EDITS: dict[str, Callable[[Path], None]] = {
    "all-at-once": lambda root: save(
        root / "memory/likes.md", b"# ours\n\n## tea\n\nBlack tea.\n\n## milk\n\nYes.\n\n## rice\n\nWith it.\n"
    ),
    "new-file": lambda root: save(root / "memory/fresh/new.md", "## 海\n\n喜欢。\n\n## b\n\nc\n".encode()),
    "file-gone": lambda root: (root / "memory/likes.md").unlink(),
    "metadata": lambda root: save(
        root / "memory/days.md",
        b"# days\n\n## monday\n\nMonday begins with [[likes:tea]].\n\n<!-- memoranda: owner=user:lin -->\n",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_killed_while_accounting_for_a_person(edit: str, copies: Callable[[], Path]) -> None:
    """Every edit is journalled exactly once, wherever the first look ended."""
    done = copies()
    EDITS[edit](done)
    account(opened(done))
    after = sorted(outcome(done)[1], key=str)
    counted = copies()
    EDITS[edit](counted)
    for step in steps_of(account, counted):
        root = copies()
        EDITS[edit](root)
        files = look(root)
        assert stops_at(step, lambda root=root: account(opened(root)))
        account(opened(root))
        assert look(root) == files
        assert sorted(journalled(root), key=str) == after, step
        assert_sound(root)


@pytest.mark.parametrize("name", PLANS)
def test_a_full_disk_changes_nothing(name: str, copies: Callable[[], Path]) -> None:
    """From the n-th call on there is no room: the call fails, and the vault is as before at once."""
    root = copies()
    before = outcome(root)
    for step in range(1, MOST_STEPS):

        def fault(number: int, call: str, step: int = step) -> None:
            if number >= step:
                full(number, call)

        with FaultyDisk(fault).mounted() as disk:
            try:
                PLANS[name](opened(root))
            except VaultError:
                failed = True
            else:
                failed = False
        if not failed:
            # What cannot be written any more once the change has happened is the cache.
            assert step > len(disk.calls) - 12
            break
        assert look(root) == before[0], step
        with opened(root).locked():
            pass
        assert outcome(root) == before, step
        assert_sound(root)
    else:
        pytest.fail("the work never came to its end")


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
@pytest.mark.parametrize("name", PLANS)
def test_one_failing_call_loses_nothing(name: str, code: int, copies: Callable[[], Path]) -> None:
    """Whatever call fails once: an error, or success; all of the change, or nothing of it."""
    before, done = outcome(copies()), copies()
    PLANS[name](opened(done))
    after = outcome(done)
    for step in range(1, MOST_STEPS):
        root = copies()

        def fault(number: int, call: str, step: int = step) -> None:
            if number == step:
                raise OSError(code, os.strerror(code))

        with FaultyDisk(fault).mounted() as disk:
            try:
                PLANS[name](opened(root))
            except MemorandaError:
                failed = True
            else:
                failed = False
        storage = opened(root)
        with storage.locked():
            pass
        found = outcome(root)
        assert found in ((before, after) if failed else (after,)), step
        assert_sound(root)
        if step > len(disk.calls):
            break


def test_every_change_is_synced_before_it_counts(copies: Callable[[], Path]) -> None:
    """The order in which a change reaches the disk: its record, its file, the folder, the journal."""
    root = copies()
    storage = opened(root)
    with storage.locked():
        pass
    with FaultyDisk().mounted() as disk:
        run(storage, "add", lambda transaction: add(transaction))
    calls = [call for call in disk.calls if call not in ("unlink", "open")]
    assert calls[:8] == ["write", "fsync", "write", "fsync", "exchange", "fsync", "write", "fsync"]


def test_ids_lead_from_journal_to_history(copies: Callable[[], Path]) -> None:
    root = copies()
    PLANS["rename-with-links"](opened(root))
    storage = opened(root)
    last = storage.history.last()
    assert last is not None
    newest = list(storage.journal.read())[-3:]
    assert {change_of(entry.id) for entry in newest} == {last.id}
    assert [entry.id for entry in newest] == [f"{last.id}.{n}" for n in (1, 2, 3)]
