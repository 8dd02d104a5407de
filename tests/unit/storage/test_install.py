"""A person's save that slips in while we write: none of their bytes is lost, ours are there unless they contradict."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.disk import FaultyDisk, full
from fakes.editor import save
from memoranda.core.errors import ChangedUnderneath
from memoranda.storage import install as module
from memoranda.storage.files import Hold
from memoranda.storage.install import ChangedMeanwhile, Placed, displace, install, place, uninstall

BASE = b"# likes\n\nMine.\n\n## tea\n\nGreen.\n\n## coffee\n\nNever.\n"
OURS = BASE + b"\n## sea\n\nWide.\n"
Save = Callable[[bytes], bytes]

SAVES: dict[str, Save] = {
    "at the end": lambda data: data + b"\nA line at the end.\n",
    "elsewhere": lambda data: data.replace(b"Mine.", b"Mine, I say."),
    "at the start": lambda data: b"<!-- first -->\n\n" + data,
    "removed": lambda data: data.replace(b"## tea\n\nGreen.\n\n", b""),
    "everything": lambda data: b"# other\n\nAnd nothing else.\n",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "likes.md"
    path.write_bytes(BASE)
    return path


@pytest.fixture
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without leases: with one, nobody could read here what may be taken away again."""
    monkeypatch.setattr(module, "held_back", lambda path: nullcontext(Hold()))


@pytest.fixture
def before_exchange(monkeypatch: pytest.MonkeyPatch, nothing_held: None) -> Iterator[list[Callable[[], None]]]:
    """What a person does right before each exchange: one thing each, as long as there are any."""
    actions: list[Callable[[], None]] = []
    real = module.exchange

    def exchange(first: str, second: str) -> bool:
        if actions:
            actions.pop(0)()
        return real(first, second)

    monkeypatch.setattr(module, "exchange", exchange)
    yield actions
    assert actions == []


def only(path: Path) -> None:
    assert [p.name for p in path.parent.iterdir()] == [path.name]


class TestQuiet:
    """Nobody else is there."""

    def test_replaces(self, path: Path) -> None:
        path.chmod(0o640)
        assert install(str(path), OURS, BASE) == OURS
        assert path.read_bytes() == OURS
        assert path.stat().st_mode & 0o777 == 0o640
        only(path)

    def test_creates_with_its_folders(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b" / "x.md"
        assert install(str(path), OURS, None) == OURS
        assert path.read_bytes() == OURS
        assert path.stat().st_mode & 0o777 == 0o600
        only(path)

    def test_removes(self, path: Path) -> None:
        uninstall(str(path), BASE)
        assert list(path.parent.iterdir()) == []
        uninstall(str(path), BASE)

    def test_without_exchange(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "exchange", lambda first, second: False)
        assert install(str(path), OURS, BASE) == OURS
        assert path.read_bytes() == OURS
        only(path)


class TestSavedBefore:
    """The person's save came between our reading and our writing."""

    @pytest.mark.parametrize("exchanges", [True, False])
    @pytest.mark.parametrize("kind", SAVES)
    def test_both_are_there(self, kind: str, exchanges: bool, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if not exchanges:
            monkeypatch.setattr(module, "exchange", lambda first, second: False)
        theirs = SAVES[kind](BASE)
        save(path, theirs)
        found = install(str(path), OURS, BASE)
        assert found == path.read_bytes()
        assert b"## sea\n\nWide.\n" in found
        assert all(line in found.splitlines() for line in theirs.splitlines())
        only(path)

    def test_theirs_stands_where_both_changed_the_same(self, path: Path) -> None:
        save(path, BASE.replace(b"Green.", b"Black."))
        with pytest.raises(ChangedUnderneath, match="in the same place"):
            install(str(path), BASE.replace(b"Green.", b"White."), BASE)
        assert path.read_bytes() == BASE.replace(b"Green.", b"Black.")
        only(path)

    def test_what_is_not_utf_8_stays(self, path: Path) -> None:
        save(path, b"\xff\xfe" + BASE)
        with pytest.raises(ChangedUnderneath):
            install(str(path), OURS, BASE)
        assert path.read_bytes() == b"\xff\xfe" + BASE
        only(path)

    def test_a_file_that_went(self, path: Path) -> None:
        path.unlink()
        with pytest.raises(ChangedMeanwhile):
            install(str(path), OURS, BASE)
        assert list(path.parent.iterdir()) == []

    def test_a_file_that_came(self, path: Path) -> None:
        with pytest.raises(ChangedMeanwhile):
            install(str(path), OURS, None)
        assert path.read_bytes() == BASE
        only(path)

    @pytest.mark.parametrize("theirs", [OURS, b""])
    def test_one_that_is_to_go(self, theirs: bytes, path: Path) -> None:
        save(path, theirs)
        with pytest.raises(ChangedMeanwhile):
            uninstall(str(path), BASE)
        assert path.read_bytes() == theirs
        only(path)


class TestSavedWhile:
    """The person's save came within the microseconds between our last look and the exchange."""

    @pytest.mark.parametrize("times", [1, 2, 3, 5])
    @pytest.mark.parametrize("kind", SAVES)
    def test_both_are_there(self, kind: str, times: int, path: Path, before_exchange: list[Callable[[], None]]) -> None:
        written: list[bytes] = []

        def saves() -> None:
            # Somebody who reads what is there and adds to it, as `>>` and careful editors do.
            written.append(SAVES[kind](path.read_bytes()) + b"\nLine %d.\n" % len(written))
            save(path, written[-1])

        before_exchange += [saves] * times
        if kind == "everything" and times > 1:
            # Nothing is left to merge with: the newest stands.
            with pytest.raises(ChangedUnderneath):
                install(str(path), OURS, BASE)
            assert path.read_bytes() == written[-1]
            before_exchange.clear()
            return
        found = install(str(path), OURS, BASE)
        assert found == path.read_bytes()
        assert b"## sea\n\nWide.\n" in found
        for number in range(times):
            assert b"\nLine %d.\n" % number in found
        assert [p.name for p in path.parent.iterdir() if ".tmp" in p.name] == []

    @pytest.mark.parametrize("times", [1, 2, 3, 4])
    def test_an_editor_that_never_reads_again(
        self, times: int, path: Path, before_exchange: list[Callable[[], None]]
    ) -> None:
        """It saves its own buffer each time: ours stays, and no line of theirs comes twice."""
        buffer = [BASE]

        def saves() -> None:
            buffer[0] += b"\nLine %d.\n" % buffer[0].count(b"Line")
            save(path, buffer[0])

        before_exchange += [saves] * times
        found = install(str(path), OURS, BASE)
        assert found == path.read_bytes()
        assert found.count(b"## sea\n\nWide.\n") == 1
        assert [found.count(b"Line %d." % n) for n in range(times)] == [1] * times
        only(path)

    @pytest.mark.parametrize("times", [1, 2, 3])
    def test_theirs_stands_where_both_changed_the_same(
        self, times: int, path: Path, before_exchange: list[Callable[[], None]]
    ) -> None:
        colours = [b"Black.", b"Red.", b"Yellow."]

        def saves() -> None:
            save(path, BASE.replace(b"Green.", colours[times - len(before_exchange) - 1]))

        before_exchange += [saves] * times
        with pytest.raises(ChangedUnderneath):
            install(str(path), BASE.replace(b"Green.", b"White."), BASE)
        assert path.read_bytes() == BASE.replace(b"Green.", colours[times - 1])
        everything = b"".join(p.read_bytes() for p in path.parent.iterdir())
        assert b"White." not in everything
        assert [p.name for p in path.parent.iterdir() if ".tmp" in p.name] == []

    @pytest.mark.parametrize("times", [1, 2])
    def test_what_is_not_utf_8_stays(self, times: int, path: Path, before_exchange: list[Callable[[], None]]) -> None:
        saved = [BASE + b"\xff" * (n + 1) for n in range(times)]
        left = list(saved)
        before_exchange += [lambda: save(path, left.pop(0))] * times
        with pytest.raises(ChangedUnderneath):
            install(str(path), OURS, BASE)
        assert path.read_bytes() == saved[-1]
        assert [p.name for p in path.parent.iterdir() if ".tmp" in p.name] == []

    @pytest.mark.parametrize("after", [0, 1, 2])
    def test_a_file_that_goes(self, after: int, path: Path, before_exchange: list[Callable[[], None]]) -> None:
        """Deleted on purpose is deleted; what was saved before that is kept beside it if we held it."""
        saves = [lambda: save(path, BASE + b"\nLine 0.\n")] * after
        before_exchange += [*saves[:1], *saves[1:], path.unlink]
        with pytest.raises(ChangedMeanwhile):
            install(str(path), OURS, BASE)
        assert not path.exists()
        left = list(path.parent.iterdir())
        assert all(".conflict-" in p.name and b"Line 0." in p.read_bytes() for p in left)

    @pytest.mark.usefixtures("nothing_held")
    def test_one_that_never_stops(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_PATIENCE", 0.05)
        monkeypatch.setattr(module, "held_back", lambda path: nullcontext(Hold()))
        real, count = module.exchange, [0]

        def exchange(first: str, second: str) -> bool:
            count[0] += 1
            save(path, path.read_bytes() + b"\nLine %d.\n" % count[0])
            return real(first, second)

        monkeypatch.setattr(module, "exchange", exchange)
        with pytest.raises(ChangedUnderneath, match="does not stop changing"):
            install(str(path), OURS, BASE)
        found = b"".join(p.read_bytes() for p in path.parent.iterdir())
        assert all(b"\nLine %d.\n" % n in found for n in range(1, count[0] + 1))
        assert [p.name for p in path.parent.iterdir() if ".tmp" in p.name] == []

    def test_one_in_another_thread(self, path: Path) -> None:
        """A person who adds a line every millisecond, and we with as many changes."""
        stop = threading.Event()
        lines: list[bytes] = []

        def person() -> None:
            while not stop.is_set():
                line = b"- line %d of theirs\n" % len(lines)
                save(path, path.read_bytes() + line)
                lines.append(line)
                stop.wait(0.001)

        thread = threading.Thread(target=person)
        thread.start()
        ours = []
        try:
            for number in range(60):
                while True:
                    data = path.read_bytes()
                    line = b"<!-- ours %d -->\n" % number
                    try:
                        install(str(path), line + data, data)
                    except (ChangedMeanwhile, ChangedUnderneath):
                        continue
                    ours.append(line)
                    break
        finally:
            stop.set()
            thread.join()
        everything = b"".join(p.read_bytes() for p in path.parent.iterdir() if ".tmp" not in p.name)
        # Their own save may overtake ours (they read before it and write after), ours never overtakes theirs.
        assert [line for line in lines if line not in everything] == []


class TestSavedInPlace:
    """Many editors open the file itself, empty it, and write it anew."""

    pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self"), reason="only Linux can tell who is writing")

    def saver(self, path: Path, pieces: list[bytes]) -> tuple[Callable[[], None], threading.Event]:
        """An editor that has emptied the file when the first call returns, and writes the rest soon."""
        done = threading.Event()

        def opens() -> None:
            descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)

            def writes() -> None:
                for piece in pieces:
                    done.wait(0.01)
                    os.write(descriptor, piece)
                os.close(descriptor)
                done.set()

            threading.Thread(target=writes).start()

        return opens, done

    def test_is_waited_for(self, path: Path, before_exchange: list[Callable[[], None]]) -> None:
        theirs = SAVES["elsewhere"](BASE)
        opens, done = self.saver(path, [theirs[:20], theirs[20:]])
        before_exchange.append(opens)
        found = install(str(path), OURS, BASE)
        assert done.wait(10)
        assert path.read_bytes() == found
        assert b"## sea" in found
        assert b"Mine, I say." in found
        only(path)

    def test_before_we_begin(self, path: Path) -> None:
        theirs = SAVES["elsewhere"](BASE)
        opens, done = self.saver(path, [theirs[:20], theirs[20:]])
        opens()
        found = install(str(path), OURS, BASE)
        assert done.wait(10)
        assert path.read_bytes() == found
        assert b"## sea" in found
        assert b"Mine, I say." in found

    def test_opened_but_not_yet_emptied(self, path: Path, before_exchange: list[Callable[[], None]]) -> None:
        """The bytes are still what we read, and the editor's next write would go to a file that nobody sees."""
        theirs = SAVES["at the start"](BASE)
        done = threading.Event()

        def opens() -> None:
            descriptor = os.open(path, os.O_WRONLY)

            def writes() -> None:
                done.wait(0.02)
                os.write(descriptor, theirs)
                os.close(descriptor)
                done.set()

            threading.Thread(target=writes).start()

        before_exchange.append(opens)
        found = install(str(path), OURS, BASE)
        assert done.wait(10)
        assert b"<!-- first -->" in found
        assert b"## sea" in found
        assert path.read_bytes() == found

    def test_one_that_never_ends(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "WRITER_PATIENCE", 0.02)
        with path.open("ab"), pytest.raises(ChangedUnderneath, match="open for writing"):
            install(str(path), OURS, BASE)
        assert path.read_bytes() == BASE
        only(path)

    def test_removing_waits_for_nobody_and_takes_nothing(self, path: Path) -> None:
        with path.open("ab") as stream:
            with pytest.raises(ChangedMeanwhile):
                uninstall(str(path), BASE)
            stream.write(b"more")
        assert path.read_bytes() == BASE + b"more"


class TestOddThings:
    """A path that is no longer a file of ours."""

    @pytest.mark.parametrize("what", ["folder", "pipe"])
    def test_is_given_back(self, what: str, path: Path, before_exchange: list[Callable[[], None]]) -> None:
        def changes() -> None:
            path.unlink()
            if what == "folder":
                path.mkdir()
                (path / "inside").write_bytes(b"kept")
            else:
                os.mkfifo(path)

        before_exchange.append(changes)
        with pytest.raises(OSError, match="not a regular file"):
            install(str(path), OURS, BASE)
        left = list(path.parent.iterdir())
        assert [p for p in left if ".tmp" in p.name] == []
        kept = next(p for p in left if p.is_dir() or p.is_fifo())
        assert not kept.is_dir() or (kept / "inside").read_bytes() == b"kept"


class TestFailures:
    """Whatever call fails: the file is as it was, theirs is not lost, no temporary is left."""

    @pytest.mark.usefixtures("nothing_held")
    @pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
    @pytest.mark.parametrize("saved", [None, "before", "while", "while-twice"])
    @pytest.mark.parametrize("exchanges", [True, False])
    def test_at_any_call(
        self, exchanges: bool, saved: str | None, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not exchanges:
            if saved in ("while", "while-twice"):
                pytest.skip("without exchange a save within those microseconds is lost, as the documentation says")
            monkeypatch.setattr(module, "exchange", lambda first, second: False)
        if saved in ("while", "while-twice"):
            monkeypatch.setattr(module, "held_back", lambda path: nullcontext(Hold()))
        outcomes = set()
        for step in range(1, 60):
            path = tmp_path / f"{step}" / "likes.md"
            path.parent.mkdir()
            path.write_bytes(BASE)
            saves = {None: 0, "before": 1, "while": 1, "while-twice": 2}[saved]
            done = [0]

            def slip(path: Path = path, done: list[int] = done) -> None:
                done[0] += 1
                save(path, path.read_bytes() + b"\nLine %d.\n" % done[0])

            if saved == "before":
                slip()

            disk = FaultyDisk()

            def fault(
                number: int,
                call: str,
                step: int = step,
                slip: Callable[[], None] = slip,
                done: list[int] = done,
                saves: int = saves,
                disk: FaultyDisk = disk,
            ) -> None:
                if call == "exchange" and saved in ("while", "while-twice") and done[0] < saves:
                    with disk.unmounted():
                        slip()
                if number == step:
                    raise OSError(error, os.strerror(error))

            disk.fault = fault
            with disk.mounted():
                try:
                    install(str(path), OURS, BASE)
                    failed = False
                except OSError:
                    failed = True
            found = path.read_bytes()
            everything = b"".join(p.read_bytes() for p in path.parent.iterdir())
            assert all(b"\nLine %d.\n" % n in everything for n in range(1, done[0] + 1)), step
            # Where a save of theirs was made from ours before that failed, they hold it; else it is as told.
            assert (b"## sea" in found) is not failed or (failed and done[0] == 2 and b"Line 2." in found), step
            assert BASE.splitlines()[0] in found
            temporaries = [p.name for p in path.parent.iterdir() if ".tmp" in p.name]
            # What could not be removed because that failed is a leftover that a crash would leave, too.
            assert temporaries == [] or disk.calls[step - 1] == "unlink"
            outcomes.add(failed)
            if step > len(disk.calls):
                break
        assert outcomes == {True, False}

    def test_a_full_disk_all_along(self, path: Path) -> None:
        with FaultyDisk(full).mounted(), pytest.raises(OSError, match="No space"):
            install(str(path), OURS, BASE)
        assert path.read_bytes() == BASE
        only(path)

    def test_interrupted(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = module.exchange

        def exchange(first: str, second: str) -> bool:
            monkeypatch.setattr(module, "exchange", real)
            real(first, second)
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "exchange", exchange)
        with pytest.raises(KeyboardInterrupt):
            install(str(path), OURS, BASE)
        assert path.read_bytes() in (BASE, OURS)
        assert [p.name for p in path.parent.iterdir() if ".tmp" in p.name] == []


class TestTakingBack:
    """A change that is in place, and goes again because another file of it failed."""

    @pytest.mark.parametrize("room", [True, False])
    def test_replaced(self, room: bool, path: Path) -> None:
        inode = path.stat().st_ino
        placed = place(str(path), OURS, BASE)
        assert path.read_bytes() == OURS
        with FaultyDisk(full if not room else lambda number, call: None).mounted():
            placed.take_back()
        assert path.read_bytes() == BASE
        assert path.stat().st_ino == inode
        only(path)

    def test_created(self, tmp_path: Path) -> None:
        placed = place(str(tmp_path / "x.md"), OURS, None)
        placed.take_back()
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("room", [True, False])
    def test_removed(self, room: bool, path: Path) -> None:
        placed = displace(str(path), BASE)
        assert not path.exists()
        with FaultyDisk(full if not room else lambda number, call: None).mounted():
            placed.take_back()
        assert path.read_bytes() == BASE
        only(path)

    def test_removed_what_was_not_there(self, tmp_path: Path) -> None:
        displace(str(tmp_path / "x.md"), BASE).take_back()
        assert list(tmp_path.iterdir()) == []

    def test_without_exchange(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "exchange", lambda first, second: False)
        placed = place(str(path), OURS, BASE)
        placed.take_back()
        assert path.read_bytes() == BASE
        only(path)

    def test_merged_with_theirs(self, path: Path) -> None:
        """Only ours goes: what they saved in between was never ours to take."""
        theirs = SAVES["elsewhere"](BASE)
        save(path, theirs)
        placed = place(str(path), OURS, BASE)
        assert path.read_bytes() == SAVES["elsewhere"](OURS)
        placed.take_back()
        assert path.read_bytes() == theirs
        only(path)

    def test_saved_since(self, path: Path) -> None:
        placed = place(str(path), OURS, BASE)
        save(path, SAVES["elsewhere"](OURS))
        placed.take_back()
        assert path.read_bytes() == SAVES["elsewhere"](BASE)
        only(path)

    def test_saved_since_in_the_same_place(self, path: Path) -> None:
        placed = place(str(path), OURS, BASE)
        save(path, OURS.replace(b"Wide.", b"Wild."))
        placed.take_back()
        assert path.read_bytes() == OURS.replace(b"Wide.", b"Wild.")
        only(path)

    def test_gone_or_come_since(self, path: Path, tmp_path: Path) -> None:
        placed = place(str(path), OURS, BASE)
        path.unlink()
        placed.take_back()
        assert list(tmp_path.iterdir()) == []
        created = place(str(path), OURS, None)
        save(path, b"theirs")
        created.take_back()
        assert path.read_bytes() == b"theirs"
        removed = displace(str(path), b"theirs")
        save(path, b"newer")
        removed.take_back()
        assert path.read_bytes() == b"newer"
        only(path)

    def test_kept_leaves_nothing(self, path: Path) -> None:
        placed = place(str(path), OURS, BASE)
        assert isinstance(placed, Placed)
        placed.keep()
        placed.keep()
        only(path)


names = st.sampled_from([b"a", b"b", b"c", b"d"])
texts = st.lists(st.tuples(names, st.sampled_from([b"1", b"2", b"3"])), max_size=5).map(
    lambda pairs: b"".join(b"## %s\n\n%s\n\n" % pair for pair in pairs)
)


@pytest.mark.usefixtures("nothing_held")
@given(texts, texts, st.lists(texts, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_whatever_both_write(tmp_path: Path, base: bytes, ours: bytes, saves: list[bytes]) -> None:
    """Either it is merged, and says so, or theirs stands untouched; never something else, never a temporary."""
    path = tmp_path / "likes.md"
    for other in tmp_path.iterdir():
        other.unlink()
    path.write_bytes(base)
    left = list(saves)
    real = module.exchange

    def exchange(first: str, second: str) -> bool:
        if left:
            save(path, left.pop(0))
        return real(first, second)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "exchange", exchange)
        try:
            found = install(str(path), ours, base)
        except ChangedUnderneath:
            assert path.read_bytes() in (base, *saves)
        else:
            assert path.read_bytes() == found
    assert [p.name for p in tmp_path.iterdir() if ".tmp" in p.name] == []
