"""An index of a ledger and an engine outside it: whatever fails in between, all or nothing of a change is held."""

from __future__ import annotations

import random
import sqlite3
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

from memoranda.adapters.vector_indexes.accounted import AccountedIndex, Kept
from memoranda.adapters.vector_indexes.ledger import Damaged, Ledger, sqlite_connect
from memoranda.core.errors import ServiceFailed, VaultBusy, VaultError, VaultFull, VaultReadOnly
from memoranda.core.vectors import VectorRow


class Shelf:
    """An engine in memory that fails when told to, before or after it did what was asked."""

    inside = False

    def __init__(self) -> None:
        self.held: dict[int, tuple[Kept, Any]] = {}
        self.fail: dict[str, tuple[str, Exception]] = {}

    def _at(self, step: str, when: str) -> None:
        moment, error = self.fail.get(step, ("", None))
        if error is not None and moment == when:
            raise error

    def prepare(self, connection: Any, dimension: int) -> None:
        self.held.clear()

    def add(self, connection: Any, kept: Sequence[Kept], matrix: Any) -> None:
        self._at("add", "before")
        for one, vector in zip(kept, matrix, strict=True):
            self.held[one.id] = (one, vector)
        self._at("add", "after")

    def discard(self, connection: Any, kept: Sequence[tuple[int, str]]) -> None:
        self._at("discard", "before")
        for id, _ in kept:
            self.held.pop(id, None)
        self._at("discard", "after")

    def nearest(self, connection: Any, question: Any, count: int, homes: Sequence[tuple[str, int]]) -> set[int] | None:
        return None

    def vectors(self, connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        return {id: self.held[id][1] for id, _ in kept if id in self.held}

    def flush(self) -> None:
        self._at("flush", "before")

    def wipe(self) -> None:
        self.held.clear()

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def index(tmp_path: Path, shelf: Shelf) -> AccountedIndex:
    return opened(tmp_path, shelf)


def opened(folder: Path, shelf: Shelf, model: str = "m") -> AccountedIndex:
    return AccountedIndex(shelf, Ledger(str(folder / "ledger.sqlite"), model, sqlite_connect, shelf.wipe))


def row(address: str, home: str = "item x") -> VectorRow:
    return VectorRow(address, "p", home, "0" * 32)


def found(index: AccountedIndex) -> list[str]:
    return [one.address for one in index.search([1, 0], 9)]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_put_that_the_engine_fails_changes_nothing(index: AccountedIndex, shelf: Shelf, moment: str) -> None:
    index.put([row("a"), row("b")], [[1, 0], [0, 1]])
    shelf.fail["add"] = (moment, ServiceFailed("down"))
    with pytest.raises(ServiceFailed):
        index.put([row("a"), row("c")], [[0, 1], [1, 0]])
    assert found(index) == ["a", "b"]
    assert index.search([1, 0], 1)[0].cosine == 1
    shelf.fail.clear()
    index.put([row("d")], [[1, 0.1]])
    assert found(index) == ["a", "d", "b"]
    assert len(shelf.held) == 3


def test_a_put_stands_though_the_old_vector_could_not_be_wiped_yet(index: AccountedIndex, shelf: Shelf) -> None:
    index.put([row("a"), row("b")], [[1, 0], [0, 1]])
    shelf.fail["discard"] = ("before", ServiceFailed("down"))
    index.put([row("a")], [[1, 1]])
    assert found(index) == ["a", "b"]
    assert len(shelf.held) == 3
    shelf.fail.clear()
    index.remove(["b"])
    assert found(index) == ["a"]
    assert len(shelf.held) == 1


def test_a_removal_that_the_engine_fails_says_so_and_is_made_up_for(index: AccountedIndex, shelf: Shelf) -> None:
    index.put([row("a"), row("b")], [[1, 0], [0, 1]])
    shelf.fail["discard"] = ("before", ServiceFailed("down"))
    with pytest.raises(ServiceFailed):
        index.remove(["a"])
    assert found(index) == ["b"]
    assert len(shelf.held) == 2
    shelf.fail.clear()
    index.put([row("c")], [[1, 0]])
    assert len(shelf.held) == 2


def test_an_engine_that_is_found_damaged_while_writing_is_begun_anew(index: AccountedIndex, shelf: Shelf) -> None:
    index.put([row("a")], [[1, 0]])

    class Once(dict[str, tuple[str, Exception]]):
        def get(self, step: str, default: Any = None) -> Any:
            return self.pop(step, default)

    shelf.fail = Once(add=("before", Damaged("broken")))
    index.put([row("b")], [[1, 0]])
    assert found(index) == ["b"]
    assert len(index) == 1
    assert index.fault == ""


def test_what_an_engine_lost_is_not_held(index: AccountedIndex, shelf: Shelf) -> None:
    index.put([row("a"), row("b")], [[1, 0], [0, 1]])
    shelf.held.popitem()
    assert found(index) == []
    assert len(index) == 0
    assert "lost" in index.fault
    index.put([row("c")], [[1, 0]])
    assert found(index) == ["c"]
    assert index.fault == ""


def test_what_a_writer_replaces_meanwhile_is_not_missed(tmp_path: Path, index: AccountedIndex, shelf: Shelf) -> None:
    index.put([row("a"), row("b")], [[1, 0], [0, 1]])
    writer, reader = opened(tmp_path, shelf), opened(tmp_path, shelf)
    honest, written = shelf.vectors, []

    def vectors(connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        if not written:
            written.append(True)
            writer.put([row("a")], [[1, 0.5]])
        return honest(connection, kept)

    shelf.vectors = vectors  # type: ignore[method-assign]
    assert found(reader) == ["a", "b"]
    assert reader.fault == ""


def test_a_file_of_another_model_is_left_alone_until_something_is_put(tmp_path: Path, shelf: Shelf) -> None:
    first = opened(tmp_path, shelf)
    first.put([row("a")], [[1, 0]])
    other = opened(tmp_path, shelf, "other")
    other.remove(["a"])
    assert len(other) == 0
    assert found(first) == ["a"]
    other.put([row("b")], [[1, 0]])
    assert len(first) == 0
    assert len(shelf.held) == 1


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be read as one" * 40])
def test_a_file_that_is_no_ledger_holds_nothing(tmp_path: Path, shelf: Shelf, content: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(content)
    index = opened(tmp_path, shelf)
    assert len(index) == 0
    assert index.search([1, 0], 3) == []
    index.remove(["a"])
    index.put([row("a")], [[1, 0]])
    assert found(opened(tmp_path, shelf)) == ["a"]


def test_a_ledger_with_any_bytes_changed_answers_or_holds_nothing(tmp_path: Path, shelf: Shelf) -> None:
    first = opened(tmp_path, shelf)
    first.put([row(f"memory/海边-{place}.md#{place}", f"item {place % 3}") for place in range(60)], [[1, 0]] * 60)
    first.close()
    path = tmp_path / "ledger.sqlite"
    whole = path.read_bytes()
    for seed in range(60):
        drawn = random.Random(seed)
        changed = bytearray(whole if seed % 3 else whole[: drawn.randrange(len(whole))])
        for _ in range(40 if changed else 0):
            changed[drawn.randrange(len(changed))] = drawn.randrange(256)
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        path.write_bytes(changed)
        index = opened(tmp_path, shelf)
        for ask in (lambda it=index: it.search([1, 0], 5), lambda it=index: it.held("p"), index.parents):
            ask()  # type: ignore[operator]
        assert len(index) <= 60
        index.close()


def test_a_damaged_file_that_is_made_anew_by_another_is_read_again(tmp_path: Path, shelf: Shelf) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(b"x" * 4096)
    reader = opened(tmp_path, shelf)
    assert len(reader) == 0
    opened(tmp_path, shelf).put([row("a")], [[1, 0]])
    assert found(reader) == ["a"]


def test_the_file_is_its_owners_alone(tmp_path: Path, index: AccountedIndex) -> None:
    index.put([row("a")], [[1, 0]])
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_FULL, VaultFull),
        (sqlite3.SQLITE_READONLY, VaultReadOnly),
        (sqlite3.SQLITE_BUSY, VaultBusy),
        (sqlite3.SQLITE_IOERR, VaultError),
    ],
)
def test_faults_of_the_disk_are_told_as_the_vaults(
    index: AccountedIndex, shelf: Shelf, code: int, expected: type[VaultError]
) -> None:
    index.put([row("a")], [[1, 0]])
    fault = sqlite3.OperationalError("as told")
    fault.sqlite_errorcode = code
    honest = shelf.vectors

    def vectors(connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        raise fault

    shelf.vectors = vectors  # type: ignore[method-assign]
    with pytest.raises(VaultError) as told:
        index.search([1, 0], 3)
    assert type(told.value) is expected
    shelf.vectors = honest  # type: ignore[method-assign]
    assert found(index) == ["a"]


def test_many_changes_do_not_make_the_file_grow_for_ever(tmp_path: Path, index: AccountedIndex) -> None:
    rows = [row(f"memory/some/long/name/of/a/file-{place}.md#item") for place in range(400)]
    for turn in range(12):
        index.put(rows, [[1, turn + place] for place in range(400)])
    index.remove([rows[0].address])
    assert len(index) == 399
    assert (tmp_path / "ledger.sqlite").stat().st_size < 1_000_000
    connection = sqlite_connect(str(tmp_path / "ledger.sqlite"))
    (texts,) = connection.execute("SELECT count(*) FROM texts").fetchone()
    connection.close()
    assert texts <= 400 + 1000
