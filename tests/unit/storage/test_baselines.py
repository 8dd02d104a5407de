"""What was known of each file: never wrong, whatever happens to the cache."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.accounts import as_nobody, needs_root
from fakes.clock import FakeClock
from fakes.disk import FaultyDisk, full
from fakes.editor import account, add, known_as, save, tree
from memoranda.core.addresses import parse_address
from memoranda.core.errors import MemorandaError
from memoranda.core.items import parse
from memoranda.storage import baselines as module
from memoranda.storage.accounts import Baseline
from memoranda.storage.baseline_files import checksum
from memoranda.storage.cache import clear_cache
from memoranda.storage.history import ChangeRecord
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction, run
from memoranda.storage.vault import VaultFolder

Open = Callable[[], Storage]
CONTENTS = [
    "",
    "# just a title\n",
    "## a\n\none\n",
    "## a\n\ntwo\n\n## b\n\none\n",
    "## b\n\none\n\n## a\n\none\n",
    "## a\n\none\n\n## a\n\nsecond of that name\n\n## c\n\nx\n",
    "## a\n\nsecond of that name\n\n## c\n\nx\n",
    "## A\n\none\n",
    "## a\n\none\n\n<!-- memoranda: owner=user:lin | ts=2026-07-10 -->\n",
    "## a\n\none\n\n<!-- memoranda: ts=2026-07-10 | owner=user:lin -->\n",
    "- one\n- one\n- two ^block\n",
    "- one\n- two ^block\n",
    "a paragraph\n\nanother\n\nanother\n",
    "```\nnever closed\n",
    "## a | b\n\nno name\n\n## \n\nnone\n",
]
FILES = ["likes", "work/rules", "user/lin/home"]


def seen(root: Path) -> list[Path]:
    folder = root / ".cache" / "seen"
    return sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []


def written(root: Path) -> list[tuple[str, str | None, str | None, str]]:
    """The journal without ids and times."""
    found = []
    for line in (root / "journal.jsonl").read_bytes().split(b"\n") if (root / "journal.jsonl").exists() else []:
        if line:
            row = json.loads(line)
            found.append((row["action"], row["category"], row["item"], str(row["detail"].get("kind"))))
    return found


class Person:
    """Does the same things to a vault whose cache is damaged meanwhile and to one that is left alone."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.storage = self.opened()

    def opened(self) -> Storage:
        return Storage.at(VaultFolder(str(self.root)), FakeClock(), "tester")

    def do(self, step: tuple[str, str, int]) -> None:
        kind, category, number = step
        address = parse_address(category)
        path = Path(self.storage.vault.category_files(address)[0][1])
        if kind == "edit":
            save(path, CONTENTS[number % len(CONTENTS)].encode())
        elif kind == "unlink":
            path.unlink(missing_ok=True)
        elif kind == "look":
            account(self.storage)
        elif kind == "reopen":
            self.storage = self.opened()
        else:
            with suppress(MemorandaError):
                run(self.storage, kind, lambda transaction: self.plan(transaction, kind, category, number))

    @staticmethod
    def plan(transaction: Transaction, kind: str, category: str, number: int) -> None:
        opened = transaction.open(parse_address(category))
        names = [section.address_name for section in opened.category.sections] or ["none"]
        name = names[number % len(names)]
        if kind == "add":
            opened.add(f"new-{number}", f"text {number}")
        elif kind == "replace":
            opened.replace(name, f"other text {number}")
        elif kind == "remove":
            opened.remove(name)
        else:
            opened.rename(name, f"renamed-{number}")
        transaction.log(kind, opened.address.named(name))


steps = st.tuples(
    st.sampled_from(["edit", "edit", "unlink", "look", "reopen", "add", "replace", "remove", "rename"]),
    st.sampled_from(FILES),
    st.integers(0, 30),
)
damages = st.sampled_from(
    ["none", "none", "delete-one", "flip", "cut", "delete-all", "delete-state", "old-state", "junk"]
)


def damage(root: Path, kind: str, seed: int) -> None:
    found = seen(root)
    chance = random.Random(seed)
    if kind == "delete-all":
        shutil.rmtree(root / ".cache", ignore_errors=True)
    elif kind == "delete-state":
        (root / ".cache/seen/state").unlink(missing_ok=True)
    elif kind == "junk" and found:
        (found[0].parent / "junk.seen").write_bytes(b"junk")
    elif found and kind in ("delete-one", "flip", "cut"):
        victim = chance.choice(found)
        data = bytearray(victim.read_bytes())
        if kind == "delete-one" or not data:
            victim.unlink()
        elif kind == "flip":
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            victim.write_bytes(bytes(data))
        else:
            victim.write_bytes(bytes(data[: chance.randrange(len(data))]))


@given(st.lists(st.tuples(steps, damages), max_size=14), st.integers(0, 10**6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None)
def test_a_damaged_cache_changes_no_line(
    tmp_path: Path, work: list[tuple[tuple[str, str, int], str]], seed: int
) -> None:
    """Delete, cut or flip anything under .cache/seen at any moment: the journal is the same."""
    for name in ("left-alone", "damaged"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    alone, damaged = Person(tmp_path / "left-alone"), Person(tmp_path / "damaged")
    kept: bytes | None = None
    for number, (step, kind) in enumerate(work):
        alone.do(step)
        state = damaged.root / ".cache/seen/state"
        if kind == "old-state" and kept is not None and state.exists():
            # The state of an earlier moment: as after a crash between the history and the cache.
            state.write_bytes(kept)
        kept = state.read_bytes() if state.exists() else kept
        damage(damaged.root, kind, seed + number)
        damaged.do(step)
    for person in (alone, damaged):
        account(person.opened())
    assert written(damaged.root) == written(alone.root)
    storage = damaged.opened()
    incremental = known_as(storage)
    with storage.locked():
        clear_cache(storage)
    assert known_as(storage) == incremental
    for path, baseline in incremental.items():
        assert baseline is not None
        text = Path(storage.vault.absolute(path)).read_text("utf-8")
        assert baseline == Baseline.of(path, baseline.hash, parse(text))


class TestSizes:
    """What a change costs goes with the change, not with the file."""

    def test_a_line_for_each_change_and_all_anew_at_times(
        self, storage: Storage, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_WHOLE_BYTES", 1500)
        monkeypatch.setattr(module, "_BYTES_AN_ITEM", 10)
        lengths = []
        for number in range(60):
            add(storage, f"likes:item-{number}", "x")
            file = next(p for p in seen(root) if p.suffix == ".seen")
            lengths.append(file.read_bytes().count(b"\n"))
        assert lengths[:3] == [1, 2, 3]
        assert max(lengths) < 30
        assert 1 in lengths[5:]
        assert len(known_as(storage)["memory/likes.md"].items) == 60  # type: ignore[union-attr]

    def test_asking_for_the_hash_reads_only_the_end(self, storage: Storage, root: Path) -> None:
        add(storage, "likes:a", "x")
        add(storage, "likes:b", "x")
        file = next(p for p in seen(root) if p.suffix == ".seen")
        data = bytearray(file.read_bytes())
        data[5] ^= 1
        file.write_bytes(bytes(data))
        assert storage.baselines.hash_of("memory/likes.md") is not None
        assert storage.baselines.get("memory/likes.md") is None
        with storage.locked():
            pass
        assert known_as(storage)["memory/likes.md"] is not None


class TestWithoutACache:
    """Where the cache cannot be written, all of it is kept in mind."""

    def exercised(self, storage: Storage, root: Path) -> None:
        add(storage, "likes:one", "x")
        add(storage, "likes:two", "y")
        add(storage, "days:monday", "z")
        lines = len(written(root))
        account(storage)
        assert len(written(root)) == lines
        save(root / "memory/likes.md", (root / "memory/likes.md").read_bytes() + b"\n## three\n\nmine\n")
        (root / "memory/days.md").unlink()
        account(storage)
        account(storage)
        assert written(root)[lines:] == [
            ("external-edit", "likes", "three", "added"),
            ("external-edit", "days", "monday", "removed"),
        ]
        assert storage.baselines.hash_of("memory/nothing.md") is None
        assert storage.baselines.get("memory/days.md") is None

    @pytest.mark.parametrize("what", ["file", "link-out", "seen-is-a-file"])
    def test_something_else_in_its_place(self, what: str, root: Path, open_storage: Open, tmp_path: Path) -> None:
        open_storage()
        if what == "file":
            (root / ".cache").write_bytes(b"")
        elif what == "seen-is-a-file":
            (root / ".cache").mkdir()
            (root / ".cache/seen").write_bytes(b"")
        else:
            (tmp_path / "outside").mkdir()
            (root / ".cache").symlink_to(tmp_path / "outside")
        storage = open_storage()
        self.exercised(storage, root)
        if what == "link-out":
            assert list((tmp_path / "outside").iterdir()) == []
        before = tree(root)
        account(open_storage())
        assert tree(root) == before

    def test_another_process_writes_meanwhile(self, root: Path, open_storage: Open) -> None:
        open_storage()
        (root / ".cache").write_bytes(b"")
        first, second = open_storage(), open_storage()
        for number in range(3):
            add(first, f"likes:a{number}", "x")
            add(second, f"likes:b{number}", "y")
        account(first)
        account(second)
        assert [line[0] for line in written(root)] == ["add"] * 6

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_one_that_belongs_to_root(self, storage: Storage, root: Path) -> None:
        """As after a single ``sudo``."""
        add(storage, "likes:zero", "x")
        for path in [root, *root.rglob("*")]:
            if ".cache" not in path.relative_to(root).parts:
                os.chown(path, 65534, 65534)
        lines = len(written(root))

        def work() -> None:
            theirs = Storage.at(VaultFolder(str(root)), FakeClock(), "tester")
            add(theirs, "likes:one", "y")
            account(theirs)
            account(Storage.at(VaultFolder(str(root)), FakeClock(), "tester"))
            assert [line[0] for line in written(root)][lines:] == ["add"]

        as_nobody(work)

    def test_written_again_once_there_is_room(self, storage: Storage, root: Path) -> None:
        add(storage, "likes:one", "x")
        failing = [True]

        def fault(number: int, call: str) -> None:
            if failing[0] and call == "open" and "unlink" in disk.calls:
                full(number, call)

        disk = FaultyDisk(fault)
        with disk.mounted():
            add(storage, "likes:two", "y")
        failing[0] = False
        add(storage, "likes:three", "z")
        assert len(known_as(storage)["memory/likes.md"].items) == 3  # type: ignore[union-attr]
        assert any(p.suffix == ".seen" for p in seen(root))


def test_another_version_or_vault_is_made_again(storage: Storage, root: Path, open_storage: Open) -> None:
    add(storage, "likes:one", "x")
    state = root / ".cache/seen/state"
    line = state.read_bytes()
    fields = line.split(b"\t")[:-1]
    # Version, month, vault; what is no number where one is needed; one field too many.
    for number, other in ((0, b"4"), (1, b"x"), (8, b"'other'"), (5, b"None"), (8, b"\t")):
        changed = [*fields[:number], other, *fields[number + 1 :]]
        data = b"\t".join(changed)
        state.write_bytes(b"%b\t%b\n" % (data, checksum(data)))
        storage = open_storage()
        with storage.locked():
            pass
        assert state.read_bytes() == line
    add(storage, "likes:two", "x")
    assert len(written(root)) == 2


def test_a_history_that_was_rewritten_is_replayed(storage: Storage, root: Path, open_storage: Open) -> None:
    for number in range(3):
        add(storage, f"likes:item-{number}", "x")
    path = next((root / "history").iterdir())
    os.replace(shutil.copy(path, root / "copy"), path)
    fresh = open_storage()
    with fresh.locked():
        pass
    assert len(known_as(fresh)["memory/likes.md"].items) == 3  # type: ignore[union-attr]


def test_a_pruned_history_is_helped_by_the_files(storage: Storage, root: Path, open_storage: Open) -> None:
    add(storage, "likes:one", "x")
    add(storage, "likes:two", "y")
    path = next((root / "history").iterdir())
    path.write_bytes(path.read_bytes().split(b"\n")[1] + b"\n")
    shutil.rmtree(root / ".cache")
    fresh = open_storage()
    account(fresh)
    assert len(written(root)) == 2
    assert set(known_as(fresh)["memory/likes.md"].items) == {"one", "two"}  # type: ignore[union-attr]


def test_a_record_that_a_person_broke(storage: Storage, root: Path) -> None:
    add(storage, "likes:one", "x")
    path = next((root / "history").iterdir())
    row = json.loads(path.read_bytes())
    row["files"][0]["after"] = "海"
    path.write_bytes(json.dumps(row).encode() + b"\n")
    shutil.rmtree(root / ".cache")
    account(storage)
    account(storage)
    assert [line[3] for line in written(root)] == ["None", "text outside items"]


def test_what_is_private(storage: Storage, root: Path) -> None:
    umask = os.umask(0)
    try:
        add(storage, "likes:one", "x")
        add(storage, "likes:two", "x")
    finally:
        os.umask(umask)
    for path in [root / ".cache", *(root / ".cache").rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert (root / ".cache/CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")


def test_put_by_hand(storage: Storage, root: Path) -> None:
    """What ``forget`` does after it has rewritten the history."""
    add(storage, "likes:one", "x")
    with storage.locked():
        known = storage.baselines.get("memory/likes.md")
        assert known is not None
        clear_cache(storage)
        storage.baselines.put(known)
    assert storage.baselines.get("memory/likes.md") == known
    (root / ".cache" / "other").write_bytes(b"")
    with storage.locked():
        clear_cache(storage)
        (root / ".cache/seen/state").unlink()
        os.rename(root / ".cache/seen", root / ".cache/away")
        (root / ".cache/seen").write_bytes(b"")
        storage.baselines.put(known)
    assert storage.baselines.get("memory/likes.md") == known
    assert not (root / ".cache" / "other").exists()


def test_a_record_without_files_moves_on(storage: Storage) -> None:
    with storage.locked():
        record = ChangeRecord("0123456789", "2026-07-10T03:00:00Z", "import")
        storage.history.append(record)
        storage.baselines.advance(record)
        mark = storage.history.mark()
        assert storage.history.since(mark) == []
        storage.settle()
    with storage.locked():
        assert storage.history.mark() == mark


class TestLost:
    """What is gone or damaged is noticed by whoever asks."""

    @pytest.fixture
    def file(self, storage: Storage, root: Path) -> Path:
        """The cache's file for a category that is gone itself."""
        add(storage, "likes:one", "x")
        add(storage, "likes:two", "y")
        (root / "memory/likes.md").unlink()
        return next(p for p in seen(root) if p.suffix == ".seen")

    @pytest.mark.parametrize("how", ["gone", "cut at a line", "cut within", "flipped", "another's", "with junk beside"])
    def test_a_file_that_vanished_is_known_all_the_same(self, how: str, file: Path, open_storage: Open) -> None:
        data = file.read_bytes()
        if how == "gone":
            file.unlink()
        elif how == "cut at a line":
            file.write_bytes(data[: data.index(b"\n") + 1])
        elif how == "cut within":
            file.write_bytes(data[:-7])
        elif how == "flipped":
            file.write_bytes(data[:9] + bytes([data[9] ^ 1]) + data[10:])
        elif how == "another's":
            file.write_bytes(data.replace(b"memory/likes.md", b"memory/other.md"))
        else:
            (file.parent / f"{'0' * 24}.seen").write_bytes(b"junk\n")
        storage = open_storage()
        (found,) = storage.baselines.vanished([])
        assert (found.path, set(found.items)) == ("memory/likes.md", {"one", "two"})
        account(storage)
        account(open_storage())
        assert [line[3] for line in written(Path(storage.vault.root))] == ["None", "None", "removed", "removed"]

    def test_another_files_content_is_damage(self, storage: Storage, root: Path) -> None:
        add(storage, "likes:one", "x")
        add(storage, "days:monday", "y")
        first, second = (p for p in seen(root) if p.suffix == ".seen")
        first.write_bytes(second.read_bytes())
        with storage.locked():
            found = [storage.baselines.get_or_rebuild(f"memory/{name}.md") for name in ("likes", "days")]
        assert [set(one.items) for one in found if one is not None] == [{"one"}, {"monday"}]

    def test_a_line_that_is_just_being_written_is_read_again(
        self, storage: Storage, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import time

        add(storage, "likes:one", "x")
        file = next(p for p in seen(root) if p.suffix == ".seen")
        data = file.read_bytes()
        file.write_bytes(data[:-5])
        monkeypatch.setattr(time, "sleep", lambda seconds: file.write_bytes(data))
        assert storage.baselines.hash_of("memory/likes.md") is not None
        file.write_bytes(data[:-5])
        assert storage.baselines.get("memory/likes.md") is not None
        assert (root / ".cache/seen/state").exists()
