"""Durable files: what is written, with which mode, and what the system's refusals become."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.disk import FaultyDisk
from memoranda.core.errors import VaultBusy, VaultError, VaultFull, VaultReadOnly, VaultUnreadable
from memoranda.storage import files
from memoranda.storage.files import (
    Stamp,
    create_only,
    exchange,
    is_being_written,
    make_folder,
    read_bytes,
    reading,
    remove_file,
    replace_file,
    stamp_of,
    sync_folder,
    wait_for_writer,
    write_temporary,
    writing,
)


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize(
    ("code", "becomes"),
    [
        (errno.ENOSPC, VaultFull),
        (errno.EDQUOT, VaultFull),
        (errno.EFBIG, VaultFull),
        (errno.EACCES, VaultReadOnly),
        (errno.EPERM, VaultReadOnly),
        (errno.EROFS, VaultReadOnly),
        (errno.EIO, VaultError),
        (errno.ENAMETOOLONG, VaultError),
        (errno.ENOTDIR, VaultError),
    ],
)
def test_what_writing_may_say(code: int, becomes: type[VaultError]) -> None:
    with pytest.raises(VaultError, match="notes") as caught, writing("notes"):
        raise OSError(code, os.strerror(code))
    assert type(caught.value) is becomes
    with pytest.raises(VaultUnreadable, match="notes"), reading("notes"):
        raise OSError(code, os.strerror(code))


def test_our_own_errors_pass() -> None:
    with pytest.raises(VaultBusy), writing("notes"):
        raise VaultBusy("busy")
    with pytest.raises(KeyError), writing("notes"):
        raise KeyError("notes")


class TestReading:
    """Regular files, and nothing that would have to be waited for."""

    @pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 300_000])
    def test_whole(self, size: int, tmp_path: Path) -> None:
        data = os.urandom(size)
        (tmp_path / "x.md").write_bytes(data)
        assert read_bytes(str(tmp_path / "x.md")) == data

    def test_a_file_that_grows_meanwhile(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "x.md"
        path.write_bytes(b"a" * 100)
        read, grown = os.read, []

        def growing(descriptor: int, size: int) -> bytes:
            if not grown:
                grown.append(1)
                with path.open("ab") as stream:
                    stream.write(b"b" * 100_000)
            return read(descriptor, size)

        monkeypatch.setattr(os, "read", growing)
        assert read_bytes(str(path)) == b"a" * 100 + b"b" * 100_000

    def test_a_pipe_is_refused_at_once(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "x.md")
        with pytest.raises(OSError, match="not a regular file"):
            read_bytes(str(tmp_path / "x.md"))

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(IsADirectoryError):
            read_bytes(str(tmp_path))

    def test_absence(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            read_bytes(str(tmp_path / "x.md"))
        assert stamp_of(str(tmp_path / "x.md")) is None
        (tmp_path / "y").write_bytes(b"")
        assert stamp_of(str(tmp_path / "y" / "z")) is None


class TestModes:
    """Private when new, kept when there."""

    def test_new_files_and_folders_are_private(self, tmp_path: Path, no_umask: None) -> None:
        make_folder(str(tmp_path / "a" / "b"))
        replace_file(str(tmp_path / "a" / "b" / "x.md"), b"x")
        assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
        assert mode(tmp_path / "a" / "b" / "x.md") == 0o600

    @pytest.mark.parametrize("kept", [0o644, 0o664, 0o400, 0o755, 0o600, 0o666])
    def test_an_existing_mode_is_kept(self, kept: int, tmp_path: Path) -> None:
        path = tmp_path / "x.md"
        path.write_bytes(b"x")
        path.chmod(kept)
        replace_file(str(path), b"y")
        assert (mode(path), path.read_bytes()) == (kept, b"y")

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_an_existing_owner_is_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "x.md"
        path.write_bytes(b"x")
        os.chown(path, 1234, 4321)
        replace_file(str(path), b"y")
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)

        def refused(*arguments: object) -> None:
            raise PermissionError(errno.EPERM, "no")

        monkeypatch.setattr(os, "fchown", refused)
        replace_file(str(path), b"z")
        assert path.read_bytes() == b"z"

    def test_a_folder_that_is_there_keeps_its_mode(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a").chmod(0o755)
        make_folder(str(tmp_path / "a"))
        assert mode(tmp_path / "a") == 0o755


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "x.md").write_bytes(b"x")
    (tmp_path / "x.md").symlink_to(tmp_path / "far" / "x.md")
    replace_file(str(tmp_path / "x.md"), b"y")
    assert (tmp_path / "x.md").is_symlink()
    assert (tmp_path / "far" / "x.md").read_bytes() == b"y"
    assert os.listdir(tmp_path / "far") == ["x.md"]


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        make_folder(str(tmp_path / "a"))
    with pytest.raises(NotADirectoryError):
        make_folder(str(tmp_path / "a" / "b"))
    (tmp_path / "l").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError):
        make_folder(str(tmp_path / "l"))


class TestTemporaries:
    """In the same folder, new each time, nothing left behind."""

    def test_a_taken_name_is_never_written_through(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Somebody who guesses the name gains nothing by a link in its place."""
        monkeypatch.setattr(os, "urandom", lambda size: b"\0" * size)
        (tmp_path / "secret").write_bytes(b"kept")
        (tmp_path / f"{files.TEMPORARY_PREFIX}{'00' * 8}.tmp").symlink_to(tmp_path / "secret")
        with pytest.raises(FileExistsError):
            write_temporary(str(tmp_path), b"x")
        assert (tmp_path / "secret").read_bytes() == b"kept"

    @pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
    def test_nothing_is_left_after_a_failure(self, call: str, tmp_path: Path) -> None:
        path = tmp_path / "x.md"
        path.write_bytes(b"x")

        def fault(number: int, name: str) -> None:
            if name == call and "replace" not in disk.calls[:-1]:
                raise OSError(errno.ENOSPC, "full")

        disk = FaultyDisk(fault)
        with disk.mounted(), pytest.raises(OSError, match="full"):
            replace_file(str(path), b"y")
        assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"x.md": b"x"}

    def test_synced_before_it_is_put_in_place(self, tmp_path: Path) -> None:
        with FaultyDisk().mounted() as disk:
            replace_file(str(tmp_path / "x.md"), b"y")
        assert disk.calls == ["open", "write", "fsync", "replace", "fsync"]


class TestCreateOnly:
    """A name is given once."""

    def test_takes_a_free_name(self, tmp_path: Path) -> None:
        create_only(write_temporary(str(tmp_path), b"x"), str(tmp_path / "x.md"))
        assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"x.md": b"x"}

    @pytest.mark.parametrize("links", [True, False])
    def test_leaves_a_taken_one(self, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if not links:
            monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links")))
        (tmp_path / "x.md").write_bytes(b"theirs")
        temporary = write_temporary(str(tmp_path), b"ours")
        with pytest.raises(FileExistsError):
            create_only(temporary, str(tmp_path / "x.md"))
        assert (tmp_path / "x.md").read_bytes() == b"theirs"
        assert Path(temporary).read_bytes() == b"ours"

    def test_without_hard_links(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOTSUP, "no links")))
        create_only(write_temporary(str(tmp_path), b"x"), str(tmp_path / "x.md"))
        assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"x.md": b"x"}


class TestExchange:
    """Two files swapped in one step, where the system can."""

    @pytest.fixture(autouse=True)
    def _fresh(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "_exchange_works", None)

    def test_swaps(self, tmp_path: Path) -> None:
        a, b = tmp_path / "a", tmp_path / "海.md"
        a.write_bytes(b"1")
        b.write_bytes(b"2")
        if not exchange(str(a), str(b)):
            pytest.skip("this file system cannot exchange")
        assert (a.read_bytes(), b.read_bytes()) == (b"2", b"1")
        assert exchange(str(a), str(b))
        with pytest.raises(FileNotFoundError):
            exchange(str(a), str(tmp_path / "c"))
        with pytest.raises(FileNotFoundError):
            exchange(str(tmp_path / "c"), str(a))

    @pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP])
    def test_a_file_system_that_cannot(self, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Library:
            @staticmethod
            def renameat2(*arguments: object) -> int:
                ctypes.set_errno(code)
                return -1

        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Library)
        assert not exchange(str(tmp_path / "a"), str(tmp_path / "b"))

    def test_other_refusals_are_errors(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Library:
            @staticmethod
            def renameat2(*arguments: object) -> int:
                ctypes.set_errno(errno.EBUSY)
                return -1

        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Library)
        with pytest.raises(OSError, match="busy"):
            exchange(str(tmp_path / "a"), str(tmp_path / "b"))

    def test_a_library_without_the_call(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: asked.append(1) or object())
        assert not exchange(str(tmp_path / "a"), str(tmp_path / "b"))
        assert not exchange(str(tmp_path / "a"), str(tmp_path / "b"))
        assert len(asked) == 1


class TestWriters:
    """An editor that saves in place has the file open for writing; that can be told on Linux."""

    @pytest.mark.skipif(not os.path.exists("/proc/self"), reason="only Linux can tell")
    def test_a_writer_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "x.md"
        path.write_bytes(b"x")
        assert not is_being_written(str(path))
        with path.open("rb"):
            assert not is_being_written(str(path))
        for how in ("ab", "r+b"):
            with path.open(how):
                assert is_being_written(str(path))
                assert not wait_for_writer(str(path), 0.005)
        assert not is_being_written(str(path))

    def test_a_writer_is_waited_for(self, tmp_path: Path) -> None:
        path = tmp_path / "x.md"
        stream = path.open("wb")
        timer = threading.Timer(0.05, stream.close)
        timer.start()
        assert wait_for_writer(str(path), 30)
        timer.join()

    def test_what_cannot_be_opened_is_not_written(self, tmp_path: Path) -> None:
        assert not is_being_written(str(tmp_path / "absent"))
        assert wait_for_writer(str(tmp_path / "absent"), 0)

    def test_a_lease_is_not_left_behind(self, tmp_path: Path) -> None:
        """Whoever opens the file next is not kept waiting."""
        path = tmp_path / "x.md"
        path.write_bytes(b"x")
        is_being_written(str(path))
        started = time.monotonic()
        path.write_bytes(b"y")
        assert time.monotonic() - started < 5


class TestFolders:
    """Names are made durable where the system has a way."""

    def test_systems_without_folder_syncs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(descriptor: int) -> None:
            raise OSError(errno.EINVAL, "no such thing")

        monkeypatch.setattr(os, "fsync", refused)
        sync_folder(str(tmp_path))

    def test_real_failures_are_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(descriptor: int) -> None:
            raise OSError(errno.EIO, "broken")

        monkeypatch.setattr(os, "fsync", refused)
        with pytest.raises(OSError, match="broken"):
            sync_folder(str(tmp_path))

    def test_removing_twice(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"")
        remove_file(str(tmp_path / "x"))
        remove_file(str(tmp_path / "x"))
        assert not (tmp_path / "x").exists()


def test_a_stamp_is_trusted_once_the_file_has_rested() -> None:
    stamp = Stamp(1, 2, mtime_ns=1_000_000_000, ctime_ns=2_000_000_000)
    assert not stamp.is_settled(2_000_000_000)
    assert not stamp.is_settled(2_020_000_000)
    assert stamp.is_settled(2_020_000_001)
    # A clock that goes back, or a file from the future.
    assert not stamp.is_settled(1_990_000_000)
    assert stamp.is_settled(1_000_000_000)


def test_a_stamp_follows_links(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    (tmp_path / "l").symlink_to(tmp_path / "x")
    assert stamp_of(str(tmp_path / "l")) == stamp_of(str(tmp_path / "x")) == Stamp.of(os.stat(tmp_path / "x"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has leases")
class TestHeldBack:
    """Nobody sees a file that may have to be taken away again."""

    def test_who_opens_it_waits_until_it_is_let_go(self, tmp_path: Path) -> None:
        path = tmp_path / "new.md"
        path.write_bytes(b"new")
        seen: list[bytes] = []
        reader = threading.Thread(target=lambda: seen.append(path.read_bytes()))
        with files.held_back(str(path)) as hold:
            reader.start()
            reader.join(0.2)
            assert seen == []
            hold.let_go()
            reader.join(10)
            assert seen == [b"new"]

    def test_who_waited_reads_what_it_is_let_go_with(self, tmp_path: Path) -> None:
        path, aside = tmp_path / "likes.md", tmp_path / "new.md"
        path.write_bytes(b"theirs")
        aside.write_bytes(b"ours, and longer")
        seen: list[bytes] = []
        reader = threading.Thread(target=lambda: seen.append(path.read_bytes()))
        with files.held_back(str(aside)) as hold:
            exchange(str(aside), str(path))
            assert hold.is_at(str(path))
            reader.start()
            reader.join(0.2)
            exchange(str(aside), str(path))
            assert hold.is_at(str(aside))
            hold.let_go(b"theirs")
            assert not hold.is_at(str(aside))
        reader.join(10)
        assert seen == [b"theirs"]

    def test_our_own_reader_waits_too_and_is_not_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "new.md"
        path.write_bytes(b"new")
        seen: list[bytes] = []
        reader = threading.Thread(target=lambda: seen.append(files.read_bytes(str(path))))
        with files.held_back(str(path)):
            reader.start()
            reader.join(0.2)
            assert seen == []
        reader.join(10)
        assert seen == [b"new"]

    def test_where_there_is_nothing_to_hold_nobody_waits(self, tmp_path: Path) -> None:
        with files.held_back(str(tmp_path / "absent")) as hold:
            assert not hold.is_at(str(tmp_path / "absent"))
            hold.let_go(b"nothing")


def test_a_stamp_is_copied_and_pickled_as_what_it_is() -> None:
    import copy
    import pickle

    stamp = Stamp(1, 2, 3, 4)
    for same in (copy.copy(stamp), copy.deepcopy(stamp), pickle.loads(pickle.dumps(stamp))):
        assert (type(same), same) == (Stamp, stamp)
    assert (stamp.inode, stamp.size, stamp.mtime_ns, stamp.ctime_ns) == (1, 2, 3, 4)
