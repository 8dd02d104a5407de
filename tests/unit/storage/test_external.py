"""What a person does by hand is journalled once, in words that fit, with the texts that undo needs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.disk import stops_at
from fakes.editor import account, add, known_as, look, save
from memoranda.core.addresses import Address, parse_address
from memoranda.core.errors import VaultFull
from memoranda.core.model import JournalEntry
from memoranda.core.names import content_hash
from memoranda.storage.accounts import state_fingerprint
from memoranda.storage.cache import clear_cache
from memoranda.storage.categories import LoadedCategory
from memoranda.storage.external import account_for, account_for_absence, account_for_found, last_states
from memoranda.storage.history import ChangeRecord, ItemState
from memoranda.storage.snapshot import scan
from memoranda.storage.store import Storage
from memoranda.storage.transaction import run

LIKES = "# likes\n\nMine.\n\n## tea\n\nGreen.\n\n<!-- memoranda: ts=2026-07-10 -->\n\n## coffee\n\nNever.\n"


@pytest.fixture
def likes(memory: Path, storage: Storage) -> Path:
    path = memory / "likes.md"
    save(path, LIKES.encode())
    account(storage)
    return path


def entries(storage: Storage, after: int = 1) -> list[JournalEntry]:
    """The journal but for the first line, which says that the file was found."""
    return list(storage.journal.read())[after:]


def told(storage: Storage) -> list[tuple[str | None, str]]:
    return [(entry.item, entry.detail["kind"]) for entry in entries(storage)]


def test_a_new_file_is_one_line(likes: Path, storage: Storage) -> None:
    (entry,) = entries(storage, 0)
    assert (entry.action, entry.actor, entry.category, entry.item, entry.scope) == (
        "external-edit",
        "person",
        "likes",
        None,
        "shared",
    )
    assert entry.detail == {"path": "memory/likes.md", "kind": "found", "items": 2}
    assert entry.before is None
    record = storage.history.last()
    assert record is not None
    assert [change.after for change in record.items] == [
        ItemState("tea", "Green.", "<!-- memoranda: ts=2026-07-10 -->"),
        ItemState("coffee", "Never."),
    ]


def test_one_without_items_is_one_line_too(memory: Path, storage: Storage) -> None:
    save(memory / "empty.md", b"")
    account(storage)
    account(storage)
    (entry,) = entries(storage, 0)
    assert entry.detail["items"] == 0


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("Never.", "Sometimes.", [("coffee", "changed")]),
        ("ts=2026-07-10", "ts=2026-07-11", [("tea", "changed")]),
        ("## tea", "## Tea", [("Tea", "changed")]),
        ("Mine.", "Mine, I say.", [(None, "text outside items")]),
        ("# likes", "\ufeff# likes", [(None, "text outside items")]),
        ("\n", "\r\n", [(None, "text outside items")]),
        ("## coffee\n\nNever.\n", "", [("coffee", "removed")]),
        ("## coffee", "## cocoa", [("coffee", "removed"), ("cocoa", "added")]),
        ("## coffee", "## milk\n\nYes.\n\n## coffee", [("milk", "added")]),
    ],
)
def test_each_kind_of_edit(
    old: str, new: str, lines: list[tuple[str | None, str]], likes: Path, storage: Storage
) -> None:
    save(likes, LIKES.replace(old, new).encode())
    account(storage)
    assert told(storage) == lines
    account(storage)
    assert told(storage) == lines
    assert known_as(storage)["memory/likes.md"] is not None


def test_all_kinds_at_once_are_changes_of_their_own(likes: Path, storage: Storage) -> None:
    """So that what was removed can be brought back without undoing what was added."""
    text = "## tea\n\nBlack.\n\n## milk\n\nYes.\n\n## rice\n\nWith it.\n"
    save(likes, text.encode())
    account(storage)
    found = entries(storage)
    assert told(storage) == [("coffee", "removed"), ("tea", "changed"), ("milk", "added"), ("rice", "added")]
    changes = [entry.id.partition(".")[0] for entry in found]
    assert changes[2] == changes[3]
    assert len(set(changes)) == 3
    assert [entry.id.partition(".")[2] for entry in found] == ["", "", "1", "2"]
    assert [(e.before, e.after) for e in found[:3]] == [
        (content_hash("Never."), None),
        (content_hash("Green."), content_hash("Black.")),
        (None, content_hash("Yes.")),
    ]
    first = storage.history.find(changes[0])
    second = storage.history.find(changes[1])
    assert first is not None
    assert second is not None
    assert first.items[0].before == ItemState("coffee", "Never.")
    assert second.items[0].before == ItemState("tea", "Green.", "<!-- memoranda: ts=2026-07-10 -->")
    # Only with the last of them the file is what it is.
    assert [record.files[0].after for record in (first, second)] == [first.files[0].before] * 2


def test_a_file_that_is_gone(likes: Path, storage: Storage) -> None:
    likes.unlink()
    account(storage)
    account(storage)
    assert told(storage) == [("tea", "removed"), ("coffee", "removed")]
    record = storage.history.last()
    assert record is not None
    assert record.files[0].after is None
    assert {c.before.text for c in record.items if c.before is not None} == {"Green.", "Never."}
    save(likes, LIKES.encode())
    account(storage)
    assert told(storage)[2:] == [(None, "found")]


def test_a_file_without_items_that_is_gone(memory: Path, storage: Storage) -> None:
    save(memory / "empty.md", b"")
    account(storage)
    (memory / "empty.md").unlink()
    account(storage)
    account(storage)
    assert told(storage) == [(None, "removed")]


def test_several_saves_are_one_difference(likes: Path, storage: Storage) -> None:
    for text in ("Sometimes.", "Often.", "Always."):
        save(likes, LIKES.replace("Never.", text).encode())
    account(storage)
    assert told(storage) == [("coffee", "changed")]
    record = storage.history.last()
    assert record is not None
    assert record.items[0].after == ItemState("coffee", "Always.")


def test_whoever_looks_first(likes: Path, storage: Storage, open_storage: Callable[[], Storage]) -> None:
    others = [open_storage() for _ in range(3)]
    save(likes, LIKES.replace("Never.", "Sometimes.").encode())
    for other in others:
        account(other)
    assert told(storage) == [("coffee", "changed")]


def test_two_who_look_at_the_same_time(likes: Path, open_storage: Callable[[], Storage]) -> None:
    """Both saw the difference before either had the lock; only one tells of it."""
    first, second = open_storage(), open_storage()
    save(likes, LIKES.replace("Never.", "Sometimes.").encode())
    address = parse_address("likes")
    stale = second.baselines.get("memory/likes.md")
    loaded = second.reader.read(str(likes))
    assert loaded is not None
    account(first)
    likes_gone = first.baselines.get("memory/likes.md")
    assert likes_gone is not None
    with second.locked():
        fresh = second.baselines.get("memory/likes.md")
        account_for(second, address, "memory/likes.md", loaded, fresh)
    assert stale is not None
    assert told(first) == [("coffee", "changed")]
    likes.unlink()
    account(first)
    with second.locked():
        account_for_absence(second, address, likes_gone)
    assert told(first)[1:] == [("tea", "removed"), ("coffee", "removed")]


def test_our_own_changes_are_nobodys_edits(storage: Storage, memory: Path, open_storage: Callable[[], Storage]) -> None:
    for number in range(3):
        add(storage, f"likes:item-{number}", "x")
        account(open_storage())
    assert [entry.action for entry in storage.journal.read()] == ["add"] * 3


def test_an_edit_is_accounted_for_before_our_change(likes: Path, storage: Storage) -> None:
    save(likes, LIKES.replace("Never.", "Sometimes.").encode())
    add(storage, "likes:milk", "Yes.")
    assert [(e.action, e.item) for e in entries(storage)] == [("external-edit", "coffee"), ("add", "milk")]
    likes.unlink()
    add(storage, "likes:milk", "Yes again.")
    assert [(e.action, e.item) for e in entries(storage)][2:] == [
        ("external-edit", "tea"),
        ("external-edit", "coffee"),
        ("external-edit", "milk"),
        ("add", "milk"),
    ]


def test_an_edit_that_undoes_our_change_is_the_persons(likes: Path, storage: Storage) -> None:
    """A save that erases what a tool had just written stands, and is journalled."""
    buffer = likes.read_bytes()
    add(storage, "likes:milk", "Yes.")
    save(likes, buffer)
    account(storage)
    assert [(e.action, e.item) for e in entries(storage)] == [("add", "milk"), ("external-edit", "milk")]
    record = storage.history.last()
    assert record is not None
    assert record.items[0].before == ItemState("milk", "Yes.")


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="only Linux can tell who is writing")
def test_half_a_save_is_not_accounted_for(likes: Path, storage: Storage) -> None:
    """An editor has emptied the file and has not written it yet: nothing was removed."""
    with likes.open("wb") as stream:
        account(storage)
        assert told(storage) == []
        stream.write(LIKES.replace("Never.", "Sometimes.").encode())
    account(storage)
    assert told(storage) == [("coffee", "changed")]


def test_items_that_share_a_name(memory: Path, storage: Storage) -> None:
    """The second takes the name over when the first goes; that is no edit of its own."""
    path = memory / "twice.md"
    save(path, b"## a\n\none\n\n## a\n\ntwo\n\n## b\n\nthree\n")
    account(storage)
    before = known_as(storage)["memory/twice.md"]
    assert before is not None
    assert sorted(key[0] for key in before.items) == ["a", "b", "~"]
    run(storage, "remove", lambda transaction: transaction.open(parse_address("twice")).remove("a"))
    after = known_as(storage)["memory/twice.md"]
    assert after is not None
    assert after.items.keys() == {"a", "b"}
    save(path, b"## a\n\ntwo\n\n## b\n\nfour\n")
    account(storage)
    assert [(e.action, e.item) for e in entries(storage)] == [("remove", None), ("external-edit", "b")]


class TestLastStates:
    """The texts that the history still has."""

    def test_finds_each_version(self, likes: Path, storage: Storage) -> None:
        texts = ["Sometimes.", "Often.", "Never."]
        for text in texts:
            save(likes, LIKES.replace("Never.", text).encode())
            account(storage)
        wanted = [("coffee", state_fingerprint(ItemState("coffee", text))) for text in texts]
        found = last_states(storage.history, "memory/likes.md", wanted)
        assert [found[key].text for key in wanted] == texts

    def test_asks_for_nothing_when_nothing_is_wanted(self, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(storage.history, "read_backwards", lambda: 1 / 0)
        assert last_states(storage.history, "memory/likes.md", []) == {}

    def test_of_other_files_or_texts_there_is_none(self, likes: Path, storage: Storage) -> None:
        wanted = [("coffee", state_fingerprint(ItemState("coffee", "Never.")))]
        assert last_states(storage.history, "memory/days.md", wanted) == {}
        assert last_states(storage.history, "memory/likes.md", [("coffee", "0" * 16)]) == {}

    def test_a_pruned_history_leaves_the_name(self, likes: Path, storage: Storage, root: Path) -> None:
        for path in (root / "history").iterdir():
            path.write_bytes(b"")
        # The baseline is still in the cache, as after pruning by a program that leaves it alone.
        baseline = storage.baselines.get("memory/likes.md")
        assert baseline is not None
        save(likes, LIKES.replace("Never.", "Sometimes.").replace("## tea\n\nGreen.\n", "").encode())
        loaded = storage.reader.read(str(likes))
        assert loaded is not None
        account_for(storage, parse_address("likes"), "memory/likes.md", loaded, baseline)
        assert told(storage) == [("tea", "removed"), ("coffee", "changed")]
        records: list[ChangeRecord] = list(storage.history.read())
        assert records[0].items == ()
        assert records[1].items[0].before is None
        account(storage)
        assert len(told(storage)) == 2


def test_a_full_disk_leaves_it_for_the_next_look(likes: Path, storage: Storage) -> None:
    from fakes.disk import FaultyDisk, full

    save(likes, LIKES.replace("Never.", "Sometimes.").encode())
    with FaultyDisk(full).mounted(), pytest.raises(VaultFull):
        account(storage)
    assert told(storage) == []
    account(storage)
    assert told(storage) == [("coffee", "changed")]


class TestManyAtOnce:
    """A vault that was filled by hand is taken in by one change, a line a file."""

    @pytest.fixture
    def found(self, storage: Storage, memory: Path) -> list[tuple[Address, str, LoadedCategory]]:
        for name, text in (("a", "## x\n\none\n"), ("b", "- two\n- two\n"), ("c", ""), ("d", "## y\n\nfour\n")):
            save(memory / f"{name}.md", text.encode())
        files = []
        for path, file in scan(storage.vault).files.items():
            loaded = storage.reader.read(file.path)
            assert loaded is not None
            files.append((file.address, path, loaded))
        return files

    def test_a_line_a_file(self, found: list[tuple[Address, str, LoadedCategory]], storage: Storage) -> None:
        with storage.locked():
            account_for_found(storage, found)
        lines = entries(storage, 0)
        assert [(e.category, e.detail["items"]) for e in lines] == [("a", 1), ("b", 2), ("c", 0), ("d", 1)]
        assert [e.id.partition(".")[2] for e in lines] == ["1", "2", "3", "4"]
        known = known_as(storage)
        with storage.locked():
            clear_cache(storage)
        assert known_as(storage) == known
        account(storage)
        assert len(entries(storage, 0)) == 4

    @pytest.mark.parametrize("step", range(1, 25))
    def test_killed_and_changed_since(
        self,
        step: int,
        found: list[tuple[Address, str, LoadedCategory]],
        storage: Storage,
        memory: Path,
        root: Path,
        open_storage: Callable[[], Storage],
    ) -> None:
        """Nothing is made of what a person did in between: no file comes back, no item."""

        def work() -> None:
            with storage.locked():
                account_for_found(storage, found)

        stops_at(step, work)
        (memory / "a.md").unlink()
        save(memory / "b.md", b"## z\n\nnew\n")
        (memory / "d.md").unlink()
        files = look(root)
        account(open_storage())
        account(open_storage())
        assert look(root) == files
        known = known_as(open_storage())
        assert set(known) == {"memory/b.md", "memory/c.md"}
        told = [(e.category, e.item, e.detail["kind"]) for e in open_storage().journal.read()]
        assert len(told) == len(set(told))
        assert {path for path, _, kind in told if kind == "found"} >= {"b", "c"}
