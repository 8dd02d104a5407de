"""A process that stops at any write, a disk that fills up, a process that is killed: rows and vectors never part."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="vectors need numpy")

from memoranda.core.errors import VaultFull  # noqa: E402
from memoranda.core.vectors import VectorRow  # noqa: E402
from memoranda.index.vectors import order, search, signatures, store  # noqa: E402
from memoranda.index.vectors.store import VectorStore  # noqa: E402

DIMENSION = 8
COUNT = 16
#: A change of more calls than this is stopped at every second, third ... of them.
STOPS = 60


class Stopped(BaseException):
    """The process ends here."""


@cache
def vector(digest: str) -> list[float]:
    generator = np.random.default_rng(int(digest[:12], 16))
    return list(map(float, generator.standard_normal(DIMENSION)))


def row(number: int, version: int = 0) -> VectorRow:
    digest = hashlib.md5(f"{number} {version}".encode()).hexdigest()
    return VectorRow(f"p{number % 7}:n{number}", f"p{number % 7}", f"home {number % 3}", digest)


def put(into: VectorStore, rows: list[VectorRow]) -> None:
    into.put(rows, [vector(one.digest) for one in rows])


def contents(of: VectorStore) -> dict[str, str]:
    """What is held, with every vector held against what its digest says it is."""
    assert of.fault == ""
    found: dict[str, str] = {}
    for parent in of.parents():
        found.update(of.held(parent))
    assert len(found) == len(of)
    for at, (address, digest) in enumerate(sorted(found.items())):
        near = of.cosines(vector(digest), [address])[address]
        assert near.digest == digest
        assert abs(near.cosine - 1) < 1e-6
        if at % 8 == 0:
            assert of.search(vector(digest), 1)[0].address == address
    return found


@contextmanager
def calls(before: Callable[[int, str], float | None]) -> Iterator[list[str]]:
    """Every call that changes something on the disk is told first; of a write, a share may be said to be done."""
    names = ("write", "fsync", "replace", "unlink", "ftruncate", "mkdir", "open")
    real: dict[str, Any] = {name: getattr(os, name) for name in names}
    made: list[str] = []

    def wrapped(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_RDWR):
                return real[name](*arguments, **named)
            made.append(name)
            share = before(len(made), name)
            if share is not None and name == "write":
                real[name](arguments[0], bytes(arguments[1])[: int(len(arguments[1]) * share)])
            if share is not None:
                raise Stopped
            return None if name == "fsync" else real[name](*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for name in names:
            patched.setattr(os, name, wrapped(name))
        yield made


@pytest.fixture(params=[10_000, 12], ids=["exact", "signatures"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that happens to large stores happens to small ones."""
    monkeypatch.setattr(store, "_WORTH_COMPACTING", 6)
    monkeypatch.setattr(order, "_LOOSE", 6)
    monkeypatch.setattr(search, "EXACT_UP_TO", request.param)
    monkeypatch.setattr(signatures, "EXACT_UP_TO", request.param)


CHANGES: dict[str, Callable[[VectorStore], None]] = {
    "add": lambda one: put(one, [row(number) for number in range(COUNT, COUNT + 3)]),
    "add many": lambda one: put(one, [row(number) for number in range(COUNT, COUNT + 12)]),
    "replace": lambda one: put(one, [row(number, 1) for number in (4, 9, 10, COUNT)]),
    "replace most": lambda one: put(one, [row(number, 1) for number in range(COUNT - 2)]),
    "remove": lambda one: one.remove([row(number).address for number in (1, 2, 7)]),
    "remove many": lambda one: one.remove([row(number).address for number in range(8)]),
    "clear": lambda one: one.clear(),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("change", CHANGES)
def test_a_process_that_stops_at_any_call_leaves_what_was_or_what_was_to_be(tmp_path: Path, change: str) -> None:
    start, folder = tmp_path / "start", tmp_path / "stopped"
    put(VectorStore(str(start), "m"), [row(number) for number in range(COUNT)])
    before = contents(VectorStore(str(start), "m"))
    shutil.copytree(start, folder)
    with calls(lambda number, name: None) as all_calls:
        CHANGES[change](VectorStore(str(folder), "m"))
    after = contents(VectorStore(str(folder), "m"))
    assert before != after
    removes = not change.startswith(("add", "replace"))
    for at in range(1, len(all_calls) + 1, 1 + len(all_calls) // STOPS):
        for share in (0.0, 0.6) if all_calls[at - 1] == "write" else (0.0,):
            shutil.rmtree(folder)
            shutil.copytree(start, folder)
            stops = at

            def stop(number: int, name: str, stops: int = stops, share: float = share) -> float | None:
                return share if number == stops else 0.0 if number > stops else None

            with calls(stop), pytest.raises(Stopped):
                CHANGES[change](VectorStore(str(folder), "m"))
            # Who only reads sees one or the other at once, and so does who writes next.
            found = contents(VectorStore(str(folder), "m"))
            assert found in (before, after)
            again = VectorStore(str(folder), "m")
            put(again, [row(99)])
            assert contents(again) == found | {row(99).address: row(99).digest}
            text = (folder / "vectors.keys.jsonl").read_bytes().decode()
            assert text.count('"address"') == len(found) + 1
            assert not [name for name in os.listdir(folder) if len(name.rpartition(".")[2]) == 12]
            if removes and found == after:
                assert all(f'"{one}"' not in text for one in before.keys() - after.keys())
            CHANGES[change](again)
            assert contents(again).items() >= after.items() or change == "clear"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("change", ["add many", "replace", "remove many"])
def test_a_full_disk_changes_nothing_that_is_not_changed_whole(tmp_path: Path, change: str) -> None:
    start, folder = tmp_path / "start", tmp_path / "full"
    put(VectorStore(str(start), "m"), [row(number) for number in range(COUNT)])
    before = contents(VectorStore(str(start), "m"))
    shutil.copytree(start, folder)
    with calls(lambda number, name: None) as all_calls:
        CHANGES[change](VectorStore(str(folder), "m"))
    after = contents(VectorStore(str(folder), "m"))
    for at in range(1, len(all_calls) + 1, 1 + len(all_calls) // STOPS):
        shutil.rmtree(folder)
        shutil.copytree(start, folder)

        def full(number: int, name: str, at: int = at) -> None:
            if number >= at and name in ("write", "fsync", "open", "ftruncate"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        one = VectorStore(str(folder), "m")
        refused = False
        with calls(full):
            try:
                CHANGES[change](one)
            except VaultFull:
                refused = True
        assert contents(one) in (before, after)
        assert refused or contents(one) == after
        # The same process goes on when there is room again.
        CHANGES[change](one)
        assert contents(one) == after
        assert contents(VectorStore(str(folder), "m")) == after


CHILD = """
import hashlib, sys
import numpy as np
from memoranda.core.vectors import VectorRow
from memoranda.index.vectors import order, search, signatures, store
store._WORTH_COMPACTING, order._LOOSE = 30, 50
search.EXACT_UP_TO = signatures.EXACT_UP_TO = 60
folder, seed = sys.argv[1], int(sys.argv[2])
made = store.VectorStore(folder, "m")
generator = np.random.default_rng(seed)
print("begun", flush=True)
while True:
    rows = []
    for number in sorted(set(generator.integers(0, 150, 12).tolist())):
        digest = hashlib.md5(f"{number} {generator.integers(0, 1000)}".encode()).hexdigest()
        rows.append(VectorRow(f"p{number % 7}:n{number}", f"p{number % 7}", f"home {number % 3}", digest))
    made.put(rows, [np.random.default_rng(int(one.digest[:12], 16)).standard_normal(8) for one in rows])
    made.remove([f"p{number % 7}:n{number}" for number in generator.integers(0, 150, 9).tolist()])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
def test_a_writer_that_is_killed_twenty_times_never_mixes_vectors_up(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"}
    reader = VectorStore(str(folder), "m")
    seen = 0
    for seed in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(folder), str(seed)], stdout=subprocess.PIPE, env=environment
        )
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"begun\n"
            time.sleep(0.005 + 0.011 * (seed * 7 % 20))
        finally:
            child.kill()
            child.communicate()
        assert contents(VectorStore(str(folder), "m")) == contents(reader)
        seen += len(reader)
    assert seen > 0


def test_readers_see_whole_states_while_files_are_swapped(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"}
    reader = VectorStore(str(tmp_path / "store"), "m")
    number = 0
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "store"), "5"], stdout=subprocess.PIPE, env=environment
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        for number in range(400):
            assert reader.fault == ""
            asked = vector(row(number).digest)
            for near in reader.search(asked, 5):
                expected = float(np.dot(asked, vector(near.digest)))
                expected /= float(np.linalg.norm(asked) * np.linalg.norm(vector(near.digest)))
                assert near.cosine == pytest.approx(expected, abs=1e-6)
    finally:
        child.kill()
        child.communicate()
