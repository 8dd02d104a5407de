"""The vault's lock: one holder among all processes and threads, freed by the kernel."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.core.errors import VaultBusy, VaultError, VaultReadOnly
from memoranda.storage import locks
from memoranda.storage.locks import VaultLock


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".lock")


def in_child(work: Callable[[], object]) -> int:
    """The child's process id; it exits with 0 if the work returns, with 1 if it raises."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def code_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def holder(path: str) -> int:
    """A child that has taken the lock and keeps it until it is killed."""
    ready, tell = os.pipe()

    def hold() -> None:
        lock = VaultLock(path)
        lock.acquire(10)
        os.write(tell, b"x")
        time.sleep(60)

    child = in_child(hold)
    assert os.read(ready, 1) == b"x"
    os.close(ready)
    os.close(tell)
    return child


def test_two_processes_exclude_each_other(path: str) -> None:
    child = holder(path)
    with pytest.raises(VaultBusy, match="another process"):
        VaultLock(path).acquire(0.02)
    os.kill(child, signal.SIGTERM)
    code_of(child)


def test_a_holder_killed_frees_it_at_once(path: str) -> None:
    """Case D32."""
    for _ in range(3):
        child = holder(path)
        os.kill(child, signal.SIGKILL)
        code_of(child)
        with VaultLock(path, patience=0.0):
            pass


def test_a_waiting_writer_gets_it_when_it_comes_free(path: str) -> None:
    child = holder(path)
    timer = threading.Timer(0.05, os.kill, (child, signal.SIGKILL))
    timer.start()
    with VaultLock(path, patience=30):
        code_of(child)


def test_nobody_else_is_inside(path: str, tmp_path: Path) -> None:
    """Four processes count up a number in a file, read and written without care."""
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        lock = VaultLock(path)
        for _ in range(50):
            with lock:
                value = int(counter.read_text())
                counter.write_text(str(value + 1))

    assert [code_of(child) for child in [in_child(count) for _ in range(4)]] == [0] * 4
    assert counter.read_text() == "200"


def test_two_locks_of_one_process_exclude_each_other(path: str) -> None:
    with VaultLock(path), pytest.raises(VaultBusy):
        VaultLock(path).acquire(0)


def test_threads_exclude_each_other(path: str) -> None:
    lock = VaultLock(path)
    found: list[object] = []

    def other() -> None:
        try:
            lock.acquire(0.02)
        except VaultBusy as error:
            found.append(str(error))
        else:
            lock.release()
            found.append("taken")

    for held in (True, False):
        thread = threading.Thread(target=other)
        if held:
            with lock:
                thread.start()
                thread.join()
        else:
            thread.start()
            thread.join()
    assert found == ["another thread has been writing for 0.0 s", "taken"]


def test_the_holder_may_take_it_again(path: str) -> None:
    lock = VaultLock(path)
    with lock:
        assert lock.depth == 1
        with lock:
            assert lock.depth == 2
            with pytest.raises(VaultBusy):
                VaultLock(path).acquire(0)
        with pytest.raises(VaultBusy):
            VaultLock(path).acquire(0)
    assert lock.depth == 0
    with VaultLock(path, patience=0):
        pass


def test_an_exception_inside_frees_it(path: str) -> None:
    lock = VaultLock(path)
    with pytest.raises(ZeroDivisionError), lock:
        raise ZeroDivisionError
    with VaultLock(path, patience=0):
        pass


def test_a_failed_take_leaves_nothing(path: str) -> None:
    lock = VaultLock(path)
    with VaultLock(path):
        for _ in range(3):
            with pytest.raises(VaultBusy):
                lock.acquire(0)
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    with lock:
        pass
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) == descriptors


class TestForks:
    """A child that is forked while the lock is held neither has it nor keeps it."""

    def test_the_child_has_it_not(self, path: str) -> None:
        lock = VaultLock(path)
        with lock:

            def child() -> None:
                assert lock.depth == 0
                with pytest.raises(VaultBusy, match="another process"):
                    lock.acquire(0)

            assert code_of(in_child(child)) == 0
            with pytest.raises(VaultBusy):
                VaultLock(path).acquire(0)

    def test_the_child_does_not_keep_it(self, path: str) -> None:
        """Also not when the parent is killed, and the child lives on."""
        ready, tell = os.pipe()

        def parent() -> None:
            lock = VaultLock(path)
            lock.acquire()
            if os.fork() == 0:
                os.write(tell, str(os.getpid()).encode())
                time.sleep(60)
                os._exit(0)
            time.sleep(60)

        child = in_child(parent)
        grandchild = int(os.read(ready, 20))
        try:
            os.kill(child, signal.SIGKILL)
            code_of(child)
            os.kill(grandchild, 0)
            with VaultLock(path, patience=0):
                pass
        finally:
            os.kill(grandchild, signal.SIGKILL)
            os.close(ready)
            os.close(tell)

    def test_one_that_python_knows_nothing_of(self, path: str) -> None:
        """A library that forks by itself runs no hook: its child shares the lock until it ends."""
        lock = VaultLock(path)
        lock.acquire()
        shared = os.dup(lock._descriptor)
        lock.release()
        try:
            with VaultLock(path, patience=0):
                pass
        finally:
            os.close(shared)

    def test_leaving_the_block_in_the_child_frees_nothing(self, path: str) -> None:
        lock = VaultLock(path)
        with lock:

            def child() -> None:
                lock.release()

            assert code_of(in_child(child)) == 0
            with pytest.raises(VaultBusy):
                VaultLock(path).acquire(0)
        with lock:
            assert lock.depth == 1

    def test_a_thread_that_held_it_is_not_waited_for(self, path: str) -> None:
        lock = VaultLock(path)
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with lock:
                held.set()
                done.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)

        def child() -> None:
            with pytest.raises(VaultBusy, match="another process"):
                lock.acquire(0)

        assert code_of(in_child(child)) == 0
        done.set()
        thread.join()


class TestTheFile:
    """It holds nothing, is private, is never a link's target, and its removal lets nobody in twice."""

    def test_private_and_empty(self, path: str) -> None:
        umask = os.umask(0)
        try:
            with VaultLock(path):
                pass
        finally:
            os.umask(umask)
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert os.stat(path).st_size == 0

    def test_a_link_is_not_followed(self, path: str, tmp_path: Path) -> None:
        os.symlink(tmp_path / "elsewhere", path)
        with pytest.raises(VaultError):
            VaultLock(path).acquire(0)
        assert not (tmp_path / "elsewhere").exists()

    def test_removed_while_somebody_waits(self, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who waited on the removed file takes the new one, as everybody else does."""
        first = VaultLock(path)
        first.acquire()
        second = VaultLock(path)
        tried = []
        real = locks._try_lock

        def trying(descriptor: int) -> bool:
            tried.append(descriptor)
            if len(tried) == 2:
                os.unlink(path)
                first.release()
            return real(descriptor)

        monkeypatch.setattr(locks, "_try_lock", trying)
        second.acquire(10)
        monkeypatch.undo()
        with pytest.raises(VaultBusy):
            VaultLock(path).acquire(0)
        second.release()

    def test_a_vault_that_may_not_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*arguments: object) -> int:
            raise PermissionError(errno.EACCES, "no")

        monkeypatch.setattr(os, "open", refused)
        lock = VaultLock(str(tmp_path / ".lock"))
        with pytest.raises(VaultReadOnly):
            lock.acquire(0)
        monkeypatch.undo()
        with lock:
            pass

    def test_a_file_system_without_locks(self, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        import fcntl

        def refused(*arguments: object) -> None:
            raise OSError(errno.ENOLCK, "no locks available")

        monkeypatch.setattr(fcntl, "flock", refused)
        with pytest.raises(VaultError, match="no locks"):
            VaultLock(path).acquire(0)
