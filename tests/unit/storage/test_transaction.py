"""One change of any number of files: what it writes, what it refuses, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.disk import FaultyDisk
from fakes.editor import account, add, known_as, look, save, tree
from memoranda.core.addresses import Address, parse_address
from memoranda.core.errors import (
    BadText,
    ChangedUnderneath,
    Conflict,
    NameTaken,
    OutsideVault,
    VaultError,
    VaultFull,
    VaultUnreadable,
)
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.storage import install as install_module
from memoranda.storage import transaction as module
from memoranda.storage.categories import CategoryReader
from memoranda.storage.history import ItemChange, ItemState
from memoranda.storage.install import ChangedMeanwhile
from memoranda.storage.store import Storage
from memoranda.storage.transaction import OpenCategory, Transaction, run

Open = Callable[[], Storage]
LIKES = b"# likes\n\nMine.\n\n## tea\n\nGreen.\n\n<!-- memoranda: ts=2026-07-10 -->\n\n## coffee\n\nNever.\n"


@pytest.fixture
def likes(memory: Path, storage: Storage) -> Path:
    path = memory / "likes.md"
    save(path, LIKES)
    account(storage)
    return path


def change(storage: Storage, plan: Callable[[OpenCategory], object], address: str = "likes") -> None:
    def whole(transaction: Transaction) -> None:
        plan(transaction.open(parse_address(address)))
        transaction.log("change", parse_address(address))

    run(storage, "change", whole)


class TestWhatIsWritten:
    """Only the slice that is meant, with everything around it as it was."""

    def test_each_operation(self, likes: Path, storage: Storage) -> None:
        def plan(opened: OpenCategory) -> None:
            assert opened.get("tea") is not None
            opened.add("milk", "Yes.")
            opened.replace("tea", "Black.")
            opened.rename("coffee", "espresso")
            opened.set_metadata("espresso", EMPTY_METADATA.with_values(owner="user:lin"))
            assert opened.remove("milk").text == "Yes."
            assert opened.get("milk") is None
            assert b"Black." in opened.text().encode()

        change(storage, plan)
        assert likes.read_bytes() == (
            b"# likes\n\nMine.\n\n## tea\n\nBlack.\n\n<!-- memoranda: ts=2026-07-10 -->\n\n"
            b"## espresso\n\nNever.\n\n<!-- memoranda: owner=user:lin -->\n"
        )
        record = storage.history.last()
        assert record is not None
        assert [(c.before and c.before.name, c.after and c.after.name) for c in record.items] == [
            (None, "milk"),
            ("tea", "tea"),
            ("coffee", "espresso"),
            ("espresso", "espresso"),
            ("milk", None),
        ]
        known_as(storage)

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("bom", ["", "\ufeff"])
    def test_newlines_bom_mode_and_odd_characters(self, newline: str, bom: str, memory: Path, storage: Storage) -> None:
        path = memory / "odd.md"
        text = bom + "# odd\u2028\n\n## a\n\none\x85\x0b\x00 🐘\n\n## b\n\ntwo\n".replace("\n", newline)
        save(path, text.encode())
        path.chmod(0o640)
        change(storage, lambda opened: opened.replace("b", "three\nlines\nhere"), "odd")
        expected = text.replace("two", newline.join(["three", "lines", "here"]))
        assert path.read_bytes() == expected.encode()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_a_file_that_lies_elsewhere_by_a_link(self, memory: Path, root: Path, storage: Storage) -> None:
        save(root / "notes" / "likes.md", LIKES)
        (memory / "likes.md").symlink_to("../notes/likes.md")
        add(storage, "likes:milk", "Yes.")
        assert (memory / "likes.md").is_symlink()
        assert b"## milk" in (root / "notes" / "likes.md").read_bytes()
        assert sorted(os.listdir(root / "notes")) == ["likes.md"]
        (memory / "likes.md").unlink()
        (memory / "likes.md").symlink_to("/etc/passwd")
        with pytest.raises(OutsideVault):
            add(storage, "likes:rice", "No.")

    def test_new_files_are_private(self, root: Path, storage: Storage) -> None:
        umask = os.umask(0)
        try:
            add(storage, "work/deep/rules:one", "x")
        finally:
            os.umask(umask)
        for path in root.rglob("*"):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path

    def test_nothing_to_do_writes_nothing(self, likes: Path, storage: Storage, root: Path) -> None:
        before = tree(root)
        run(storage, "nothing", lambda transaction: transaction.open(parse_address("likes")))
        transaction = Transaction(storage, "nothing")
        assert not transaction.has_changes
        assert tree(root) == before

    def test_a_change_without_a_line_gets_one(self, likes: Path, storage: Storage) -> None:
        run(storage, "tidy", lambda transaction: transaction.open(parse_address("likes")).remove("tea"))
        assert [entry.action for entry in storage.journal.read()][-1] == "tidy"

    def test_a_line_without_a_change(self, storage: Storage, root: Path) -> None:
        def plan(transaction: Transaction) -> None:
            transaction.log("note", detail={"x": 1}, source="turn/c#1")
            transaction.note(kept=True)
            assert transaction.has_changes

        run(storage, "note", plan)
        record = storage.history.last()
        assert record is not None
        assert (record.files, record.extra) == ((), {"kept": True})
        (entry,) = storage.journal.read()
        assert (entry.id, entry.actor, entry.source) == (record.id, "tester", "turn/c#1")

    def test_several_lines_are_numbered(self, likes: Path, storage: Storage) -> None:
        def plan(transaction: Transaction) -> str:
            transaction.open(parse_address("likes")).remove("tea")
            for action in ("one", "two", "three"):
                transaction.log(action, parse_address("likes:tea"), before="b", after="a")
            return transaction.id

        change_id = run(storage, "batch", plan)
        found = list(storage.journal.read())[-3:]
        assert [(e.id, e.action) for e in found] == [
            (f"{change_id}.{n}", action) for n, action in enumerate(("one", "two", "three"), 1)
        ]

    def test_the_twin_that_holds_the_item(self, memory: Path, storage: Storage) -> None:
        save(memory / "Likes.md", b"## a\n\none\n")
        save(memory / "likes.md", b"## b\n\ntwo\n")
        run(storage, "x", lambda t: t.open(parse_address("likes"), "a").replace("a", "three"))
        assert (memory / "Likes.md").read_bytes() == b"## a\n\nthree\n"
        run(storage, "x", lambda t: t.open(parse_address("likes"), "nothing").add("c", "new"))
        assert b"## c" in (memory / "likes.md").read_bytes()

    def test_one_certain_file(self, likes: Path, storage: Storage) -> None:
        def plan(transaction: Transaction) -> None:
            address = parse_address("likes")
            opened = transaction.open_path(address, "memory/likes.md", str(likes))
            assert opened is transaction.open(address)
            assert opened.address == Address(address.scope, "likes")
            opened.remove("tea")

        run(storage, "x", plan)
        assert b"## tea" not in likes.read_bytes()


class TestWholeTexts:
    """What links and undo put in place of a whole file."""

    def test_says_what_it_means(self, likes: Path, storage: Storage) -> None:
        text = LIKES.decode().replace("Green.", "See [[x:y]].")
        changes = [ItemChange("memory/likes.md", ItemState("tea", "Green."), ItemState("tea", "See [[x:y]]."))]
        change(storage, lambda opened: opened.put_text(text, changes))
        assert likes.read_text() == text
        record = storage.history.last()
        assert record is not None
        (edit,) = record.files[0].edits
        assert (edit.old, edit.new) == ("Green", "See [[x:y]]")
        known_as(storage)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (LIKES.decode().replace("Green.", "Other."), "would not read back"),
            (LIKES.decode().replace("## tea", "## cocoa"), "would not read back"),
            (LIKES.decode().replace("Green.", "Black.") + "\n## more\n\nx\n", "would change other items"),
            (LIKES.decode().replace("Green.", "Black.").partition("## coffee")[0], "would change other items"),
        ],
    )
    def test_refuses_what_it_does_not_say(self, text: str, said: str, likes: Path, storage: Storage) -> None:
        changes = [ItemChange("memory/likes.md", ItemState("tea", "Green."), ItemState("tea", "Black."))]
        with pytest.raises(BadText, match=said):
            change(storage, lambda opened: opened.put_text(text, changes))
        assert likes.read_bytes() == LIKES

    def test_trusts_what_undo_brings_back(self, likes: Path, storage: Storage) -> None:
        text = "## b\n\nx\n\n## b\n\ny\n"
        change(storage, lambda opened: opened.put_text(text, [ItemChange("", None, None)], trusted=True))
        assert likes.read_text() == text
        baseline = known_as(storage)["memory/likes.md"]
        assert baseline is not None
        assert len(baseline.items) == 2

    def test_goes_on_from_there(self, likes: Path, storage: Storage) -> None:
        def plan(opened: OpenCategory) -> None:
            changes = [ItemChange(opened.relative, ItemState("tea", "Green."), ItemState("tea", "Black."))]
            opened.put_text(LIKES.decode().replace("Green.", "Black."), changes)
            opened.add("milk", "Yes.")
            opened.remove("coffee")
            opened.rename("tea", "black-tea")

        change(storage, plan)
        assert b"## black-tea\n\nBlack." in likes.read_bytes()
        assert b"## milk\n\nYes." in likes.read_bytes()
        assert b"coffee" not in likes.read_bytes()
        known_as(storage)

    def test_removes_a_file(self, likes: Path, storage: Storage) -> None:
        gone = [ItemChange("memory/likes.md", ItemState("tea", "Green."), None)]
        change(storage, lambda opened: opened.put_nothing(gone))
        assert not likes.exists()
        assert storage.baselines.get("memory/likes.md") is None
        change(storage, lambda opened: opened.put_nothing([ItemChange(opened.relative, None, None)]))
        assert not likes.exists()


class TestUnnamed:
    """Items that are addressed by the hash of their text."""

    def test_change_their_address_with_their_text(self, memory: Path, storage: Storage) -> None:
        save(memory / "list.md", b"- one\n- two\n- two\n- three ^block\n")
        account(storage)
        names: list[str] = []

        def plan(opened: OpenCategory) -> None:
            names.extend(section.address_name for section in opened.category.sections)
            changed = opened.replace(names[0], "one, changed")
            assert changed.name != names[0]
            opened.remove(names[1])
            opened.replace("block", "four")

        change(storage, plan, "list")
        assert (memory / "list.md").read_bytes() == b"- one, changed\n- two\n- four ^block\n"
        baseline = known_as(storage)["memory/list.md"]
        assert baseline is not None
        assert len(baseline.items) == 3
        lines = len(list(storage.journal.read()))
        account(storage)
        assert len(list(storage.journal.read())) == lines


class TestRefusing:
    """What cannot be written changes nothing."""

    @pytest.fixture
    def unchanged(self, likes: Path, root: Path) -> Callable[[], None]:
        before = tree(root)

        def check() -> None:
            assert tree(root) == before

        return check

    def test_a_taken_name(self, storage: Storage, unchanged: Callable[[], None]) -> None:
        with pytest.raises(NameTaken):
            add(storage, "likes:Tea", "x")
        unchanged()

    @pytest.mark.parametrize("method", ["replace", "rename", "remove", "set_metadata"])
    def test_an_item_that_is_not_there(self, method: str, storage: Storage, unchanged: Callable[[], None]) -> None:
        arguments = {"replace": ("x",), "rename": ("x",), "remove": (), "set_metadata": (EMPTY_METADATA,)}[method]
        with pytest.raises(ChangedUnderneath, match="not there any more"):
            change(storage, lambda opened: getattr(opened, method)("nothing", *arguments))
        unchanged()

    def test_half_a_character(self, storage: Storage, unchanged: Callable[[], None]) -> None:
        with pytest.raises(BadText, match="half a character"):
            add(storage, "likes:milk", "a \ud800 b")
        unchanged()

    def test_an_item_that_hides(
        self, storage: Storage, unchanged: Callable[[], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def plan(opened: OpenCategory) -> None:
            monkeypatch.setattr(type(opened.editor), "get", lambda editor, name: None)
            opened.add("milk", "Yes.")

        with pytest.raises(BadText, match="would not be found again"):
            change(storage, plan)
        unchanged()

    def test_a_file_that_is_not_utf_8(self, memory: Path, storage: Storage) -> None:
        save(memory / "gb.md", "# 喜欢\n".encode("gb18030"))
        with pytest.raises(Conflict, match=r"not UTF-8 \(line 1\)"):
            add(storage, "gb:milk", "Yes.")
        assert (memory / "gb.md").read_bytes() == "# 喜欢\n".encode("gb18030")

    def test_a_pipe(self, memory: Path, storage: Storage) -> None:
        os.mkfifo(memory / "pipe.md")
        with pytest.raises(VaultUnreadable, match="not a regular file"):
            add(storage, "pipe:milk", "Yes.")

    def test_a_file_where_a_folder_must_be_made(
        self, storage: Storage, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def plan(transaction: Transaction) -> None:
            transaction.open(parse_address("work/rules")).add("a", "b")
            transaction.open(parse_address("likes")).add("a", "b")
            save(root / "memory" / "work", b"")

        with pytest.raises(VaultError):
            run(storage, "x", plan)
        assert look(root) == {"memory/work": b""}
        assert list(storage.journal.read()) == []
        assert storage.history.last() is None


class TestMeanwhile:
    """Somebody saves while a change is on its way."""

    def test_before_the_commit(self, likes: Path, storage: Storage) -> None:
        """Read, saved, and then written: both are there."""
        saves = [b"\n## milk\n\nYes.\n", b"\n## rice\n\nNo.\n"]

        def plan(transaction: Transaction) -> None:
            transaction.open(parse_address("likes")).replace("tea", "Black.")
            transaction.log("update")
            if saves:
                save(likes, likes.read_bytes() + saves.pop(0))

        for _ in range(2):
            run(storage, "update", plan)
        found = likes.read_bytes()
        assert b"Black." in found
        assert b"## milk" in found
        assert b"## rice" in found
        account(storage)
        assert [(e.action, e.item) for e in storage.journal.read()][1:] == [
            ("update", None),
            ("external-edit", "milk"),
            ("update", None),
            ("external-edit", "rice"),
        ]

    def test_a_save_of_the_same_lines_stands(self, likes: Path, storage: Storage, root: Path) -> None:
        def plan(transaction: Transaction) -> None:
            transaction.open(parse_address("likes")).replace("tea", "Black.")
            save(likes, LIKES.replace(b"Green.", b"White."))

        with pytest.raises(ChangedUnderneath, match="nothing was written"):
            run(storage, "update", plan)
        assert likes.read_bytes() == LIKES.replace(b"Green.", b"White.")
        assert [e.action for e in storage.journal.read()] == ["external-edit"]
        account(storage)
        assert [e.item for e in storage.journal.read()] == [None, "tea"]

    def test_is_current(self, likes: Path, storage: Storage) -> None:
        transaction = Transaction(storage, "batch")
        opened = transaction.open(parse_address("likes"))
        new = transaction.open(parse_address("new"))
        assert transaction.is_current()
        opened.remove("tea")
        new.add("a", "b")
        assert transaction.is_current()
        save(likes, LIKES + b"\n")
        assert not transaction.is_current()
        save(likes, LIKES)
        assert transaction.is_current()
        save(likes.parent / "new.md", b"")
        assert not transaction.is_current()

    def test_a_new_file_that_somebody_else_makes(self, storage: Storage, memory: Path) -> None:
        times = [0]

        def plan(transaction: Transaction) -> None:
            transaction.open(parse_address("new")).add("a", "b")
            if not times[0]:
                save(memory / "new.md", b"# theirs\n")
            times[0] += 1

        run(storage, "add", plan)
        assert times == [2]
        assert (memory / "new.md").read_bytes() == b"# theirs\n\n## a\n\nb\n"

    def test_files_that_do_not_stop_changing(
        self, storage: Storage, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def plan(transaction: Transaction) -> None:
            opened = transaction.open(parse_address("new"))
            opened.add(f"a{len(opened.category.sections)}", "b")
            if (memory / "new.md").exists():
                (memory / "new.md").unlink()
            else:
                save(memory / "new.md", b"# theirs\n")

        with pytest.raises(ChangedUnderneath, match="did not stop changing"):
            run(storage, "add", plan)
        assert all(entry.action == "external-edit" for entry in storage.journal.read())

    @pytest.mark.skipif(not os.path.exists("/proc/self"), reason="only Linux can tell who is writing")
    def test_an_editor_that_never_ends(self, likes: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "WRITER_PATIENCE", 0.01)
        monkeypatch.setattr(install_module, "WRITER_PATIENCE", 0.01)
        with likes.open("ab") as stream:
            with pytest.raises(ChangedUnderneath, match="open for writing"):
                add(storage, "likes:milk", "Yes.")
            stream.write(b"\n")
            stream.flush()
            with pytest.raises(ChangedUnderneath, match="open for writing"):
                add(storage, "likes:milk", "Yes.")
        add(storage, "likes:milk", "Yes.")

    def test_several_files_are_taken_back(self, likes: Path, storage: Storage, memory: Path, root: Path) -> None:
        """The third of three meets a save of the same lines: none of ours is left, all of theirs is."""
        save(memory / "days.md", b"## monday\n\nFree.\n")
        account(storage)

        def plan(transaction: Transaction) -> None:
            transaction.open(parse_address("likes")).replace("tea", "Black.")
            transaction.open(parse_address("new")).add("a", "b")
            transaction.open(parse_address("days")).replace("monday", "Busy.")
            save(memory / "days.md", b"## monday\n\nHoliday.\n")

        with pytest.raises(ChangedUnderneath):
            run(storage, "x", plan)
        assert look(root) == {"memory/likes.md": LIKES, "memory/days.md": b"## monday\n\nHoliday.\n"}
        record = storage.history.last()
        assert record is not None
        assert record.action == "external-edit"

    def test_what_was_merged_in_stays_when_ours_goes(
        self, likes: Path, storage: Storage, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save(memory / "days.md", b"## monday\n\nFree.\n")
        account(storage)

        def plan(transaction: Transaction) -> None:
            transaction.open(parse_address("likes")).replace("tea", "Black.")
            transaction.open(parse_address("days")).replace("monday", "Busy.")
            save(likes, LIKES + b"\n## milk\n\nYes.\n")
            save(memory / "days.md", b"## monday\n\nHoliday.\n")

        with pytest.raises(ChangedUnderneath):
            run(storage, "x", plan)
        assert likes.read_bytes() == LIKES + b"\n## milk\n\nYes.\n"


class TestInterrupted:
    """A person's Ctrl-C, at any call."""

    def test_all_or_nothing(self, likes: Path, storage: Storage, root: Path, open_storage: Open) -> None:
        outcomes = set()
        for step in range(1, 40):
            before = likes.read_bytes()
            lines = [e.id for e in storage.journal.read()]

            def fault(number: int, call: str, step: int = step) -> None:
                if number == step:
                    raise KeyboardInterrupt

            disk = FaultyDisk(fault)
            with disk.mounted():
                try:
                    add(open_storage(), f"likes:item-{step}", "x")
                except KeyboardInterrupt:
                    interrupted = True
                else:
                    interrupted = False
            storage = open_storage()
            with storage.locked():
                pass
            happened = len(list(storage.journal.read())) - len(lines)
            assert happened in (0, 1)
            assert (likes.read_bytes() != before) == bool(happened)
            assert happened or interrupted
            assert [path for path in tree(root) if ".memoranda-" in path] == []
            known_as(storage)
            outcomes.add((interrupted, bool(happened)))
            if not interrupted:
                break
        assert {(True, False), (False, True)} <= outcomes

    def test_after_the_journal_line_it_has_happened(
        self, likes: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch, open_storage: Open
    ) -> None:
        append = storage.journal.append

        def interrupted(entries: object) -> None:
            append(entries)  # type: ignore[arg-type]
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(storage.journal, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            add(storage, "likes:milk", "Yes.")
        assert b"## milk" in likes.read_bytes()
        fresh = open_storage()
        with fresh.locked():
            pass
        assert [e.action for e in fresh.journal.read()] == ["external-edit", "add"]
        known_as(fresh)


class TestCutShort:
    """Where taking back fails too, the change is completed by whoever comes next, and the caller is told so."""

    @pytest.mark.parametrize("code", [28, 5])
    def test_is_said_and_completed(self, code: int, likes: Path, storage: Storage, open_storage: Open) -> None:
        journal = [False]

        def fault(number: int, call: str) -> None:
            # The journal cannot be written, and from then on nothing can be exchanged any more.
            if call == "exchange":
                if journal[0]:
                    raise OSError(code, os.strerror(code))
                journal[0] = True
            if journal[0] and call == "write":
                raise OSError(code, os.strerror(code))

        with FaultyDisk(fault).mounted(), pytest.raises(VaultFull if code == 28 else VaultError, match="cut short"):
            add(storage, "likes:milk", "Yes.")
        assert b"## milk" in likes.read_bytes()
        fresh = open_storage()
        with fresh.locked():
            pass
        assert [e.action for e in fresh.journal.read()] == ["external-edit", "add"]
        assert b"## milk" in likes.read_bytes()
        known_as(fresh)


class TestReader:
    """A file is parsed once for each content."""

    def test_once_for_each_write(self, likes: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
        from memoranda.core import items

        parsed: list[int] = []
        for name in ("parse", "reparse"):
            real = getattr(items, name)
            monkeypatch.setattr(items, name, lambda *a, real=real, **k: parsed.append(1) or real(*a, **k))
        for number in range(5):
            add(storage, f"likes:item-{number}", "x")
        assert len(parsed) == 5
        account(storage)
        assert len(parsed) == 5

    def test_remembers_within_bounds(self, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from memoranda.storage import categories

        monkeypatch.setattr(categories, "_REMEMBERED_BYTES", 100)
        reader = CategoryReader()
        for number in range(5):
            save(memory / f"{number}.md", b"x" * 40)
            reader.read(str(memory / f"{number}.md"))
        assert len(reader._known) == 2
        save(memory / "big.md", b"x" * 500)
        assert reader.read(str(memory / "big.md")) is reader.read(str(memory / "big.md"))
        assert list(reader._known) == [str(memory / "big.md")]

    def test_sees_what_changed(self, memory: Path) -> None:
        reader = CategoryReader()
        path = memory / "x.md"
        assert reader.read(str(path)) is None
        assert reader.stamp(str(path)) is None
        save(path, b"## a\n\none\n")
        first = reader.read(str(path))
        assert first is not None
        assert reader.read(str(path)) is first
        save(path, b"## a\n\ntwo\n")
        second = reader.read(str(path))
        assert second is not None
        assert second.category.sections[0].text == "two"
        assert second.hash != first.hash
        assert reader.stamp(str(path)) is not None


def test_changed_meanwhile_is_no_error_of_ours() -> None:
    """It is for those who can read again; a caller never sees it."""
    assert not issubclass(ChangedMeanwhile, VaultError)
