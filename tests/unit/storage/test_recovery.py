"""Settling a change that was cut short, also when somebody has saved since or has tampered with the history."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.accounts import as_nobody, needs_root
from fakes.clock import FakeClock
from fakes.disk import FaultyDisk, stops_at
from fakes.editor import account, look, save, tree
from memoranda.core.addresses import parse_address
from memoranda.core.errors import VaultError, VaultFull, VaultUnreadable
from memoranda.storage import recovery
from memoranda.storage.history import ChangeRecord, FileChange, ItemChange, ItemState, TextEdit
from memoranda.storage.install import ChangedMeanwhile
from memoranda.storage.recovery import apply_edits, reversed_edits
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction, run
from memoranda.storage.vault import VaultFolder

Open = Callable[[], Storage]
LIKES = b"# likes\n\n## tea\n\nGreen.\n\n## coffee\n\nNever.\n"
DAYS = b"## monday\n\nBegins with [[likes:tea]].\n"
Change = Callable[[Transaction], None]


def rename(transaction: Transaction) -> None:
    transaction.open(parse_address("likes")).rename("tea", "green-tea")
    transaction.open(parse_address("days")).replace("monday", "Begins with [[likes:green-tea]].")
    transaction.log("rename", parse_address("likes:green-tea"))


def everything(transaction: Transaction) -> None:
    likes = transaction.open(parse_address("likes"))
    likes.add("milk", "Yes.")
    likes.remove("coffee")
    likes.replace("tea", "Black.")
    transaction.open(parse_address("new")).add("a", "b")
    transaction.open(parse_address("days")).rename("monday", "moon-day")
    transaction.log("batch")


def undo_of_creation(transaction: Transaction) -> None:
    likes = transaction.open(parse_address("likes"))
    likes.replace("tea", "Black.")
    days = transaction.open(parse_address("days"))
    days.put_nothing([ItemChange(days.relative, ItemState("monday", "Begins with [[likes:tea]]."), None)])
    transaction.log("restore")


@pytest.fixture
def stocked(storage: Storage, memory: Path) -> Storage:
    save(memory / "likes.md", LIKES)
    save(memory / "days.md", DAYS)
    account(storage)
    return storage


def stop_after(root: Path, change: Change, exchanges: int) -> None:
    """Have a child stop right after its n-th exchange (0: right after the write-ahead record)."""

    def work() -> None:
        run(Storage.at(VaultFolder(str(root)), FakeClock(), "tester"), "change", change)

    seen = [0, 0]

    def fault(number: int, call: str) -> None:
        if seen[1] or (exchanges == 0 and seen[0] and call == "open"):
            os._exit(77)
        if call == "exchange":
            seen[0] += 1
            seen[1] = seen[0] == exchanges
        if exchanges == 0 and call == "write":
            seen[0] = 1

    child = os.fork()
    if child == 0:
        with FaultyDisk(fault).mounted():
            work()
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77


def recovered(open_storage: Open) -> Storage:
    storage = open_storage()
    with storage.locked():
        pass
    return storage


def last_action(storage: Storage) -> str:
    return next(entry.action for entry in storage.journal.read_backwards())


def no_leftovers(root: Path) -> None:
    assert [path for path in tree(root) if ".memoranda-" in path] == []


class TestSavedSince:
    """Somebody saved between the crash and the next opening: theirs stays, and ours is whole or gone."""

    def test_finished_around_it(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        stop_after(root, rename, 1)
        # The second file still has the old link, and a person writes above and below it.
        save(root / "memory/days.md", b"# days\n\nMine.\n\n" + DAYS + b"\n## sunday\n\nNone.\n")
        storage = recovered(open_storage)
        assert last_action(storage) == "rename"
        assert b"## green-tea" in (root / "memory/likes.md").read_bytes()
        days = (root / "memory/days.md").read_bytes()
        assert days == b"# days\n\nMine.\n\n## monday\n\nBegins with [[likes:green-tea]].\n\n## sunday\n\nNone.\n"
        no_leftovers(root)
        account(storage)
        told = [(e.action, e.item) for e in storage.journal.read()]
        assert told[-2:] == [("rename", "green-tea"), ("external-edit", "sunday")]

    def test_in_the_file_that_had_it_already(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        stop_after(root, rename, 1)
        likes = (root / "memory/likes.md").read_bytes()
        save(root / "memory/likes.md", likes + b"\n## milk\n\nYes.\n")
        storage = recovered(open_storage)
        assert last_action(storage) == "rename"
        assert (root / "memory/likes.md").read_bytes() == likes + b"\n## milk\n\nYes.\n"
        assert b"green-tea" in (root / "memory/days.md").read_bytes()
        no_leftovers(root)

    @pytest.mark.parametrize("shorter", [b"", b"x", b"## tea\n\nGreen.\n", b"\xff\xfe not utf-8", None])
    @pytest.mark.parametrize("change", [rename, everything, undo_of_creation])
    @pytest.mark.parametrize("exchanges", [0, 1])
    def test_whatever_they_made_of_it(
        self, exchanges: int, change: Change, shorter: bytes | None, stocked: Storage, root: Path, open_storage: Open
    ) -> None:
        """No position of the record fits any more: nothing is put in a wrong place, and nothing hangs."""
        stop_after(root, change, exchanges)
        for name in ("likes.md", "days.md"):
            if shorter is None:
                (root / "memory" / name).unlink(missing_ok=True)
            else:
                save(root / "memory" / name, shorter)
        recovered(open_storage)
        found = look(root)
        for name in ("memory/likes.md", "memory/days.md"):
            theirs = found.get(name)
            # Ours may follow theirs, never cut into it.
            assert theirs == shorter or (theirs is not None and shorter is not None)
            assert theirs is None or shorter is None or shorter.strip() in theirs or b"tea" in shorter
        no_leftovers(root)
        settled = tree(root)
        recovered(open_storage)
        assert tree(root) == settled

    def test_nothing_had_been_placed(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        lines = len(list(stocked.journal.read()))
        stop_after(root, rename, 0)
        save(root / "memory/likes.md", b"<!-- first -->\n" + LIKES)
        storage = recovered(open_storage)
        assert (root / "memory/likes.md").read_bytes() == b"<!-- first -->\n" + LIKES
        assert (root / "memory/days.md").read_bytes() == DAYS
        assert len(list(storage.journal.read())) == lines
        assert "rename" not in (root / "history/2026-07.jsonl").read_text().split('"action":"')[-1]

    def test_a_removal_is_not_told_by_what_is_absent_anyway(
        self, stocked: Storage, root: Path, open_storage: Open
    ) -> None:
        def remove(transaction: Transaction) -> None:
            transaction.open(parse_address("likes")).remove("tea")
            transaction.log("remove", parse_address("likes:tea"))

        stop_after(root, remove, 0)
        save(root / "memory/likes.md", LIKES + b"\n## milk\n\nYes.\n")
        storage = recovered(open_storage)
        assert (root / "memory/likes.md").read_bytes() == LIKES + b"\n## milk\n\nYes.\n"
        assert last_action(storage) == "external-edit"
        assert "remove" not in [entry.action for entry in storage.journal.read()]

    def test_item_by_item(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        """What still fits is done, what a person has taken in hand is theirs."""

        def change(transaction: Transaction) -> None:
            transaction.open(parse_address("days")).replace("monday", "Begins late.")
            likes = transaction.open(parse_address("likes"))
            likes.add("milk", "Yes.")
            likes.add("rice", "With it.")
            likes.remove("coffee")
            likes.replace("tea", "Black.")
            likes.rename("tea", "black-tea")
            transaction.log("batch")

        stop_after(root, change, 1)
        save(root / "memory/likes.md", b"Mine.\n\n" + LIKES.replace(b"Green.", b"White.") + b"\n## rice\n\nNo.\n")
        recovered(open_storage)
        likes = (root / "memory/likes.md").read_text()
        assert likes.startswith("Mine.\n\n# likes")
        assert "## tea\n\nWhite." in likes
        assert "## coffee" not in likes
        assert "## milk\n\nYes." in likes
        assert likes.count("## rice") == 1
        assert "## rice\n\nNo." in likes

    def test_where_nothing_can_be_added(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        def change(transaction: Transaction) -> None:
            transaction.open(parse_address("days")).replace("monday", "Begins late.")
            transaction.open(parse_address("likes")).add("milk", "Yes.")
            transaction.log("batch")

        stop_after(root, change, 1)
        open_ended = b"# likes\n\n```\nnever closed\n"
        save(root / "memory/likes.md", open_ended)
        storage = recovered(open_storage)
        assert (root / "memory/likes.md").read_bytes() == open_ended
        assert last_action(storage) == "batch"

    def test_while_it_is_being_finished(
        self, stocked: Storage, root: Path, open_storage: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stop_after(root, rename, 1)
        real, saves = recovery.install, [b"# days\n\n" + DAYS, b"# my days\n\n" + DAYS]

        def slipping(path: str, data: bytes, expected: bytes | None) -> bytes:
            if saves:
                save(Path(path), saves.pop())
                raise ChangedMeanwhile(path)
            return real(path, data, expected)

        monkeypatch.setattr(recovery, "install", slipping)
        recovered(open_storage)
        assert (root / "memory/days.md").read_bytes() == b"# days\n\n" + DAYS.replace(b"tea", b"green-tea")

    def test_a_save_that_was_displaced_is_kept(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        """We were killed between exchanging and looking at what came out: a person's save, and the only copy."""
        stop_after(root, rename, 1)
        temporary = next((root / "memory").glob(".memoranda-*.tmp"))
        left = [p for p in (root / "memory").glob(".memoranda-*.tmp") if p.read_bytes() == LIKES]
        assert len(left) == 1
        left[0].write_bytes(LIKES + b"\nA line of theirs.\n")
        assert temporary.exists()
        recovered(open_storage)
        (kept,) = (root / "memory").glob("*.conflict-*.md")
        assert kept.read_bytes() == LIKES + b"\nA line of theirs.\n"
        no_leftovers(root)

    def test_what_only_looks_like_a_temporary(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        stop_after(root, rename, 1)
        (root / "memory" / ".memoranda-folder.tmp").mkdir()
        os.mkfifo(root / "memory" / ".memoranda-pipe.tmp")
        (root / "memory" / ".memoranda-other").write_bytes(b"kept")
        recovered(open_storage)
        assert (root / "memory" / ".memoranda-folder.tmp").is_dir()
        assert (root / "memory" / ".memoranda-other").read_bytes() == b"kept"


class TestPowerCuts:
    """What a disk that lost its power may leave."""

    @pytest.mark.parametrize("blank", [b"", b"\0" * len(LIKES)])
    def test_a_blank_file_gets_its_synced_content_back(
        self, blank: bytes, stocked: Storage, root: Path, open_storage: Open
    ) -> None:
        stop_after(root, rename, 1)
        ours = (root / "memory/likes.md").read_bytes()
        for path in (root / "memory").glob(".memoranda-*.tmp"):
            path.unlink()
        (root / "memory/likes.md").write_bytes(blank)
        (root / "memory/.memoranda-kept.tmp").write_bytes(ours)
        storage = recovered(open_storage)
        assert (root / "memory/likes.md").read_bytes() == ours
        assert last_action(storage) == "rename"
        no_leftovers(root)

    def test_journal_lines_that_are_torn(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        def several(transaction: Transaction) -> None:
            rename(transaction)
            transaction.log("link-repair", parse_address("days:monday"))
            transaction.log("third")

        run(stocked, "change", several)
        journal = root / "journal.jsonl"
        whole = journal.read_bytes()
        lines = whole.split(b"\n")
        for cut in (len(lines[-2]) + 1, len(lines[-2]) // 2, len(lines[-2]) + 1 + len(lines[-3]) // 2):
            journal.write_bytes(whole[:-cut])
            storage = recovered(open_storage)
            assert [e.action for e in storage.journal.read()][-3:] == ["rename", "link-repair", "third"]
            assert journal.read_bytes() == whole

    def test_a_torn_record_is_none(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        history = root / "history/2026-07.jsonl"
        before = history.read_bytes()
        stop_after(root, rename, 0)
        history.write_bytes(history.read_bytes()[:-20])
        for path in (root / "memory").glob(".memoranda-*.tmp"):
            path.unlink()
        storage = recovered(open_storage)
        assert look(root) == {"memory/likes.md": LIKES, "memory/days.md": DAYS}
        run(storage, "change", rename)
        assert history.read_bytes().startswith(before)
        assert storage.history.torn() == 1


class TestTampering:
    """A history that came from somewhere else opens no door."""

    def planted(self, storage: Storage, path: str, **more: object) -> None:
        edits = (TextEdit(0, "", "owned"),)
        record = ChangeRecord(
            "deadbeef00",
            "2026-07-10T03:00:00Z",
            "add",
            files=(FileChange(path, None, None, edits), FileChange("memory/likes.md", "0" * 16, "1" * 16, edits)),
            journal=({"id": "deadbeef00", "action": "add"},),
            extra=dict(more),
        )
        storage.history.append(record)

    @pytest.mark.parametrize(
        "path",
        [
            "../outside.md",
            "memory/../../outside.md",
            "/etc/outside.md",
            "outside.md",
            "vault.json",
            "memory/link.md",
            "users/../../outside/memory/x.md",
            "users/../memory/x.md",
            "",
            "memory",
        ],
    )
    def test_only_categories_are_touched(self, path: str, stocked: Storage, root: Path, open_storage: Open) -> None:
        outside = root.parent / "outside.md"
        outside.write_bytes(b"kept")
        (root / "memory/link.md").symlink_to(outside)
        self.planted(stocked, path)
        row = json.loads((root / "history/2026-07.jsonl").read_bytes().split(b"\n")[-2])
        row["files"][0]["after"] = "2" * 16
        row["files"][1]["edits"] = [{"at": 10**9, "old": "", "new": "x"}, {"at": -5, "old": "x", "new": "y"}]
        lines = (root / "history/2026-07.jsonl").read_bytes().split(b"\n")
        lines[-2] = json.dumps(row).encode()
        (root / "history/2026-07.jsonl").write_bytes(b"\n".join(lines))
        vault_json = (root / "vault.json").read_bytes()
        storage = recovered(open_storage)
        assert outside.read_bytes() == b"kept"
        assert (root / "vault.json").read_bytes() == vault_json
        (root / "memory/link.md").unlink()
        assert look(root) == {"memory/likes.md": LIKES, "memory/days.md": DAYS}
        assert storage.history.find("deadbeef00") is None

    @pytest.mark.parametrize(
        "turns",
        [
            {"path": "../outside.md", "start": 0, "end": 100, "hash": "x"},
            {"path": "resources/../../outside.md", "start": 1, "end": 100, "hash": "x"},
            {"path": "resources/2026-07/x.jsonl", "start": "0", "end": 1, "hash": "x"},
            {"path": 7, "start": 0, "end": 1, "hash": "x"},
            {"path": "resources/2026-07/nothing.jsonl", "start": 0, "end": 1, "hash": "x"},
        ],
    )
    def test_only_turns_are_cut(
        self, turns: dict[str, object], stocked: Storage, root: Path, open_storage: Open
    ) -> None:
        outside = root.parent / "outside.md"
        outside.write_bytes(b"kept")
        record = ChangeRecord(
            "deadbeef00", "2026-07-10T03:00:00Z", "import", journal=({"id": "deadbeef00"},), extra={"turns": turns}
        )
        stocked.history.append(record)
        storage = recovered(open_storage)
        assert outside.read_bytes() == b"kept"
        assert storage.history.find("deadbeef00") is None

    def test_a_link_out_of_the_vault(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        from memoranda.core.errors import OutsideVault

        outside = root.parent / "outside"
        outside.mkdir()
        os.rename(root / "history", outside / "history")
        (root / "history").symlink_to(outside / "history")
        before = tree(outside)
        with pytest.raises(OutsideVault):
            run(open_storage(), "change", rename)
        assert tree(outside) == before
        (root / "history").unlink()
        (root / "journal.jsonl").unlink()
        (root / "journal.jsonl").symlink_to(outside / "bashrc")
        with pytest.raises(OutsideVault):
            run(open_storage(), "change", rename)
        assert not (outside / "bashrc").exists()


class TestFailing:
    """Recovery that cannot go on says so and goes on later."""

    def test_a_full_disk(self, stocked: Storage, root: Path, open_storage: Open) -> None:
        stop_after(root, rename, 1)

        def fault(number: int, call: str) -> None:
            if call == "write":
                raise OSError(28, "No space left on device")

        before = look(root)
        for _ in range(2):
            with FaultyDisk(fault).mounted(), pytest.raises(VaultFull):
                recovered(open_storage)
            assert {p: d for p, d in look(root).items() if ".tmp" not in p} == {
                p: d for p, d in before.items() if ".tmp" not in p
            }
        storage = recovered(open_storage)
        assert last_action(storage) == "rename"
        assert b"green-tea" in (root / "memory/days.md").read_bytes()

    @pytest.mark.parametrize("what", ["folder", "pipe", "file-above"])
    def test_something_else_in_a_files_place(self, what: str, stocked: Storage, root: Path, open_storage: Open) -> None:
        """It does not keep the vault from being written, and is left as it is."""

        def change(transaction: Transaction) -> None:
            transaction.open(parse_address("likes")).add("milk", "Yes.")
            transaction.open(parse_address("work/rules")).add("one", "x")
            transaction.log("batch")

        stop_after(root, change, 1)
        path = root / "memory/work/rules.md"
        assert not path.exists()
        if what == "folder":
            path.mkdir()
        elif what == "pipe":
            os.mkfifo(path)
        else:
            for left in path.parent.iterdir():
                left.unlink()
            path.parent.rmdir()
            path.parent.write_bytes(b"mine")
        storage = recovered(open_storage)
        assert last_action(storage) == "batch"
        assert b"## milk" in (root / "memory/likes.md").read_bytes()
        assert path.is_dir() or path.is_fifo() or path.parent.read_bytes() == b"mine"

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_a_file_that_may_not_be_read(self, stocked: Storage, root: Path) -> None:
        stop_after(root, rename, 1)
        for path in [root, *root.rglob("*")]:
            os.chown(path, 65534, 65534)
        os.chown(root / "memory/days.md", 0, 0)
        (root / "memory/days.md").chmod(0o600)

        def refused() -> None:
            with pytest.raises(VaultUnreadable):
                recovered(lambda: Storage.at(VaultFolder(str(root)), FakeClock(), "nobody"))

        as_nobody(refused)
        (root / "memory/days.md").chmod(0o644)
        as_nobody(lambda: recovered(lambda: Storage.at(VaultFolder(str(root)), FakeClock(), "nobody")))
        assert b"green-tea" in (root / "memory/days.md").read_bytes()

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_a_vault_that_may_only_be_read(self, stocked: Storage, root: Path) -> None:
        stop_after(root, rename, 1)
        for path in [root, *root.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        before = tree(root)

        def refused() -> None:
            with pytest.raises(VaultError):
                recovered(lambda: Storage.at(VaultFolder(str(root)), FakeClock(), "nobody"))

        as_nobody(refused)
        assert tree(root) == before


def test_a_record_that_says_nothing_is_left_alone(storage: Storage, open_storage: Open) -> None:
    record = ChangeRecord("deadbeef00", "2026-07-10T03:00:00Z", "note")
    storage.history.append(record)
    assert recovered(open_storage).history.last() == record


def test_an_older_line_of_the_journal_counts(stocked: Storage, root: Path, open_storage: Open) -> None:
    """A journal to which something was added behind our back still knows the newest change."""
    run(stocked, "change", rename)
    with (root / "journal.jsonl").open("ab") as stream:
        stream.write(b'{"id":"by-hand","action":"note"}\n')
    before = tree(root)
    recovered(open_storage)
    assert tree(root) == before


edits = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.text("abc\n", max_size=3)), max_size=5)


@given(st.text("xyz海\n", max_size=40), edits)
def test_edits_lead_there_and_back(text: str, steps: list[tuple[int, int, str]]) -> None:
    at, made = 0, []
    for skip, length, new in steps:
        at = min(at + skip, len(text))
        old = text[at : at + length]
        made.append(TextEdit(at, old, new))
        at += len(old)
    there = apply_edits(text, tuple(made))
    assert there is not None
    assert apply_edits(there, reversed_edits(tuple(made))) == text


@pytest.mark.parametrize(
    "wrong",
    [
        (TextEdit(9, "", "x"),),
        (TextEdit(-1, "", "x"),),
        (TextEdit(0, "b", "x"),),
        (TextEdit(2, "", "x"), TextEdit(1, "", "y")),
        (TextEdit(0, "ab", "x"), TextEdit(1, "b", "y")),
        (TextEdit(2, "cd", "x"),),
    ],
)
def test_edits_of_another_text_are_refused(wrong: tuple[TextEdit, ...]) -> None:
    assert apply_edits("abc", wrong) is None


def test_stopping_is_stopping(root: Path) -> None:
    """The harness itself: a child that is not stopped says so."""
    assert not stops_at(10**6, lambda: None)
