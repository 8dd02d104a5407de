"""What every vector index promises."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import md5
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from fakes.vector_index import NaiveVectorIndex, cosine
from memoranda.adapters.vector_backends import open_vector_index
from memoranda.core.errors import UsageError
from memoranda.core.ports import VectorIndex
from memoranda.core.vectors import Near, VectorRow
from memoranda.storage.embedding_settings import EmbeddingSettings

MODEL = "fake:model@4"
HOME = "item user/lin"
NEEDED = {
    "fake": (),
    "numpy": ("numpy",),
    "sqlite-vec": ("numpy", "sqlite_vec"),
    "chroma": ("numpy", "chromadb"),
    "qdrant": ("numpy", "qdrant_client"),
}
#: Addresses that are hard to keep.
ODD = [
    "海边的咖啡 → 2026#1",
    'it\'s "quoted"; DROP TABLE rows; --',
    "../../up/and\\down//",
    "a#b#c",
    "A",
    "a",
    "é",
    "e\u0301",
    " leading and trailing ",
    "nul\0in it",
    "line\nbreak",
    "100%_",
    "😀",
    "x" * 2000,
    "海" * 2000,
]


class Opener:
    """Opens indexes of one kind over folders of its own; the fake is kept by folder and model."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self.root = name, root
        self.opened: list[VectorIndex] = []
        self.fakes: dict[tuple[str, str], NaiveVectorIndex] = {}

    def __call__(self, folder: str = "space", model: str = MODEL) -> VectorIndex:
        if self.name == "fake":
            return self.fakes.setdefault((folder, model), NaiveVectorIndex())
        made = open_vector_index(self.name, str(self.root / folder), model, EmbeddingSettings(index=self.name))
        self.opened.append(made)
        return made

    def close(self) -> None:
        for one in self.opened:
            one.close()
        self.opened.clear()


@pytest.fixture(params=list(NEEDED), scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    for package in NEEDED[name]:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if name == "sqlite-vec" and find_spec("apsw") is None:
        import sqlite3

        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            pytest.skip("apsw is not installed, and this Python's sqlite3 loads no extensions")
    if name == "numpy":
        try:
            import_module("memoranda.index.vectors.store").VectorStore  # noqa: B018
        except (ImportError, AttributeError) as error:
            pytest.skip(f"the default store cannot be imported: {error}")
    return name


@pytest.fixture
def opened(kind: str, tmp_path: Path) -> Iterator[Opener]:
    made = Opener(kind, tmp_path)
    yield made
    made.close()


def row(address: str, parent: str = "memory/a.md", home: str = HOME, digest: str = "") -> VectorRow:
    return VectorRow(address, parent, home, digest or md5(address.encode()).hexdigest())


def fill(index: VectorIndex, vectors: dict[str, Sequence[float]], home: str = HOME) -> None:
    index.put([row(address, home=home) for address in vectors], list(vectors.values()))


def addresses(near: Sequence[Near]) -> list[str]:
    return [one.address for one in near]


def drawn(seed: int, count: int, length: int) -> list[list[float]]:
    generator = random.Random(seed)
    return [[generator.gauss(0, 1) for _ in range(length)] for _ in range(count)]


def assert_alike(found: Sequence[Near], expected: Sequence[Near], everything: dict[str, float]) -> None:
    """The same cosines, rank by rank; who is behind a rank may differ where others are as near but for rounding."""
    assert len(found) == len(expected)
    assert len(set(addresses(found))) == len(found)
    for one, other in zip(found, expected, strict=True):
        assert one.cosine == pytest.approx(other.cosine, abs=1e-5)
        assert one.cosine == pytest.approx(everything[one.address], abs=1e-5)
        assert -1 <= one.cosine <= 1


def test_a_sample_is_of_the_homes_that_are_asked_for(opened):
    index = opened()
    rows = [VectorRow(f"a:{at}", "a", "item shared", f"{at:032x}") for at in range(9)]
    rows += [VectorRow(f"b:{at}", "b", "item user/bob", f"{at + 9:032x}") for at in range(9)]
    index.put(rows, [[1.0, 0.0]] * 9 + [[0.0, 1.0]] * 9)
    assert list(index.sample([1.0, 0.0], 20, ["item shared"])) == pytest.approx([1.0] * 9)
    assert list(index.sample([1.0, 0.0], 20, ["item user/bob"])) == pytest.approx([0.0] * 9, abs=1e-6)
    assert list(index.sample([1.0, 0.0], 20, ["item nobody"])) == []


def test_empty(opened: Opener) -> None:
    index = opened()
    assert len(index) == 0
    assert index.dimension == 0
    assert index.parents() == set()
    assert index.held("memory/a.md") == {}
    assert index.search([1, 0], 5) == []
    assert index.cosines([1, 0], ["a"]) == {}
    assert list(index.sample([1, 0], 5)) == []
    index.remove(["a"])
    index.put([], [])
    index.clear()
    assert len(index) == 0


def test_what_is_put_is_held(opened: Opener) -> None:
    index = opened()
    index.put([row("a", "p", digest="1" * 32), row("b", "p", digest="2" * 32), row("c", "q")], [[1, 0], [0, 1], [1, 1]])
    assert len(index) == 3
    assert index.dimension == 2
    assert index.parents() == {"p", "q"}
    assert index.held("p") == {"a": "1" * 32, "b": "2" * 32}
    assert index.held("P") == {}


def test_the_nearest_come_first_with_their_cosines(opened: Opener) -> None:
    index = opened()
    fill(index, {"far": [-1, 0, 0], "near": [2, 0.1, 0], "mid": [1, 1, 0], "off": [0, 0, 5]})
    found = index.search([3, 0, 0], 10)
    assert addresses(found) == ["near", "mid", "off", "far"]
    assert [one.cosine for one in found] == pytest.approx([2 / 4.01**0.5, 0.5**0.5, 0, -1], abs=1e-5)
    assert found[0].digest == row("near").digest
    assert addresses(index.search([3, 0, 0], 2)) == ["near", "mid"]
    assert index.search([3, 0, 0], 0) == []


@pytest.mark.parametrize("length", [1, 3, 384, 1536])
def test_cosines_are_those_of_the_vectors_as_given(opened: Opener, length: int) -> None:
    index = opened()
    vectors = {f"a{place}": vector for place, vector in enumerate(drawn(length, 40, length))}
    vectors |= {"tiny": [one * 1e-30 for one in vectors["a0"]], "huge": [one * 1e30 for one in vectors["a1"]]}
    fill(index, vectors)
    question = drawn(7, 1, length)[0]
    found = index.cosines(question, [*vectors, "not held"])
    assert set(found) == set(vectors)
    for address, near in found.items():
        assert near.address == address
        assert near.digest == row(address).digest
        assert near.cosine == pytest.approx(cosine(question, vectors[address]), abs=1e-5)
    assert {one.address: one.cosine for one in index.search(question, 50)} == pytest.approx(
        {address: near.cosine for address, near in found.items()}, abs=1e-5
    )


def test_vectors_may_be_rows_of_a_matrix(opened: Opener) -> None:
    numpy: Any = pytest.importorskip("numpy")
    index = opened()
    matrix = numpy.array(drawn(1, 5, 8), dtype=numpy.float32)
    index.put([row(str(place)) for place in range(5)], matrix)
    assert addresses(index.search(matrix[3], 1)) == ["3"]
    assert index.search(matrix[3], 1)[0].cosine == pytest.approx(1, abs=1e-5)


def test_vectors_without_direction_are_held_and_never_found(opened: Opener) -> None:
    index = opened()
    nan, inf = float("nan"), float("inf")
    fill(index, {"zero": [0, 0], "nan": [nan, 1], "inf": [inf, 1], "minus": [1, -inf], "real": [1, 0]})
    assert len(index) == 5
    assert set(index.held("memory/a.md")) == {"zero", "nan", "inf", "minus", "real"}
    assert addresses(index.search([1, 1], 9)) == ["real"]
    assert set(index.cosines([1, 1], ["zero", "nan", "inf", "minus", "real"])) == {"real"}
    assert len(index.sample([1, 1], 9)) == 1
    fill(index, {"zero": [1, 1], "real": [0, 0]})
    assert addresses(index.search([1, 1], 9)) == ["zero"]
    index.remove(["real", "nan"])
    assert len(index) == 3
    fill(opened("other"), {"zero": [0, 0, 0]})
    assert opened("other").dimension == 3
    assert opened("other").search([1, 1, 1], 3) == []


@pytest.mark.parametrize("question", [[0, 0], [float("nan"), 0], [float("inf"), 1]])
def test_a_question_without_direction_finds_nothing(opened: Opener, question: list[float]) -> None:
    index = opened()
    fill(index, {"a": [1, 0]})
    assert index.search(question, 5) == []
    assert index.cosines(question, ["a"]) == {}
    assert list(index.sample(question, 5)) == []


def test_equal_ones_are_ordered_by_address_however_they_were_added(opened: Opener) -> None:
    names = [f"n{place:03}" for place in range(60)]
    random.Random(3).shuffle(names)
    index = opened()
    for start in range(0, 60, 20):
        fill(index, {name: [0.3, 0.7, 0.1] for name in names[start : start + 20]})
    fill(index, {"first": [1, 0, 0], "last": [-1, 0, 0]})
    for count in (1, 5, 30, 61):
        assert addresses(index.search([1, 0, 0], count)) == ["first", *sorted(names)][:count]


def test_putting_an_address_again_replaces_it(opened: Opener) -> None:
    index = opened()
    index.put([row("a", "p", "item x", "1" * 32), row("b", "p", "item x")], [[1, 0], [0, 1]])
    index.put([row("a", "q", "item y", "2" * 32)], [[0, 1]])
    assert len(index) == 2
    assert index.held("q") == {"a": "2" * 32}
    assert set(index.held("p")) == {"b"}
    assert index.search([0, 1], 5, ["item y"]) == [Near("a", "2" * 32, pytest.approx(1, abs=1e-5))]
    assert addresses(index.search([1, 0], 5, ["item x"])) == ["b"]
    assert len(index.search([1, 0], 5)) == 2


def test_of_one_address_put_twice_at_once_the_last_counts(opened: Opener) -> None:
    index = opened()
    index.put([row("a", "p"), row("a", "q")], [[1, 0], [0, 1]])
    assert len(index) == 1
    assert index.parents() == {"q"}
    assert index.search([0, 1], 5)[0].cosine == pytest.approx(1, abs=1e-5)


def test_removing(opened: Opener) -> None:
    index = opened()
    fill(index, {"a": [1, 0], "b": [0, 1]})
    index.remove(["a", "never held"])
    index.remove(["a"])
    assert len(index) == 1
    assert addresses(index.search([1, 0], 5)) == ["b"]
    assert index.cosines([1, 0], ["a"]) == {}
    index.remove(["b"])
    assert len(index) == 0
    assert index.parents() == set()
    assert index.dimension == 0


def test_another_length_has_no_meaning_and_changes_nothing(opened: Opener) -> None:
    index = opened()
    fill(index, {"a": [1, 0]})
    for rows, vectors in [
        ([row("b")], [[1, 0, 0]]),
        ([row("b"), row("c")], [[1, 0], [1, 0, 0]]),
        ([row("b"), row("c")], [[1, 0]]),
        ([row("b")], [[]]),
    ]:
        with pytest.raises(UsageError):
            index.put(rows, vectors)
    for question in ([1, 0, 0], [1]):
        with pytest.raises(UsageError):
            index.search(question, 3)
        with pytest.raises(UsageError):
            index.cosines(question, ["a"])
    assert len(index) == 1
    assert index.dimension == 2


def test_when_nothing_is_left_another_length_may_come(opened: Opener) -> None:
    index = opened()
    fill(index, {"a": [1, 0]})
    index.remove(["a"])
    fill(index, {"b": [1, 0, 0]})
    assert index.dimension == 3
    assert addresses(index.search([1, 0, 0], 3)) == ["b"]


def test_addresses_are_exact_strings(opened: Opener) -> None:
    index = opened()
    vectors = drawn(5, len(ODD), 6)
    index.put([row(odd, parent=odd, home=f"item {odd}") for odd in ODD], vectors)
    index = opened()
    assert index.parents() == set(ODD)
    for odd, vector in zip(ODD, vectors, strict=True):
        assert set(index.held(odd)) == {odd}
        assert addresses(index.search(vector, 1)) == [odd]
        assert addresses(index.search(vector, 9, [f"item {odd}"])) == [odd]
        assert set(index.cosines(vector, [odd, odd + " "])) == {odd}
    for gone in range(len(ODD)):
        index.remove([ODD[gone]])
        assert index.parents() == set(ODD[gone + 1 :])


def test_homes_are_chosen_before_rows_are_counted(opened: Opener) -> None:
    index = opened()
    common = drawn(11, 700, 8)
    index.put([row(f"c{place}", home="item user/lin") for place in range(700)], [[5, *v[1:]] for v in common])
    rare = drawn(12, 12, 8)
    index.put([row(f"r{place}", home="turn user/lin") for place in range(12)], [[-5, *v[1:]] for v in rare])
    index.put([row("s", home="item agent/k")], [[-9, 0, 0, 0, 0, 0, 0, 1]])
    question = [1, 0, 0, 0, 0, 0, 0, 0]
    found = index.search(question, 12, ["turn user/lin"])
    assert set(addresses(found)) == {f"r{place}" for place in range(12)}
    assert found == sorted(found, key=lambda one: (-one.cosine, one.address))
    assert len(index.search(question, 7, ["turn user/lin"])) == 7
    assert len(index.search(question, 20, ["turn user/lin", "item agent/k"])) == 13
    assert index.search(question, 20, []) == []
    assert index.search(question, 20, ["item nobody"]) == []
    assert set(addresses(index.search(question, 50))) <= {f"c{place}" for place in range(700)}


def test_a_sample_is_the_same_every_time_and_from_all_over(opened: Opener) -> None:
    index = opened()
    for home, sign in (("item a", 1.0), ("item b", -1.0)):
        index.put(
            [row(f"{home}{place}", home=home) for place in range(300)], [[sign, place / 1e4] for place in range(300)]
        )
    drawn_once = list(index.sample([1, 0], 60))
    assert len(drawn_once) == 60
    assert list(opened().sample([1, 0], 60)) == drawn_once
    assert 12 <= sum(one > 0 for one in drawn_once) <= 48
    assert all(abs(one) == pytest.approx(1, abs=1e-3) for one in drawn_once)
    assert sorted(index.sample([1, 0], 900)) == pytest.approx(
        sorted(near.cosine for near in index.search([1, 0], 900)), abs=1e-5
    )
    assert len(index.sample([1, 0], 900)) == 600


def test_what_was_put_is_there_after_reopening(opened: Opener) -> None:
    first = opened()
    fill(first, {"a": [1, 0], "b": [0, 0]})
    first.remove([])
    first.close()
    again = opened()
    assert len(again) == 2
    assert again.dimension == 2
    assert addresses(again.search([1, 0], 5)) == ["a"]
    fill(again, {"c": [1, 0]})
    assert addresses(again.search([1, 0], 5)) == ["a", "c"]


def test_spaces_are_never_mixed(opened: Opener) -> None:
    one, other = opened("one"), opened("two")
    fill(one, {"a": [1, 0]})
    fill(other, {"b": [1, 0, 0]})
    assert addresses(one.search([1, 0], 5)) == ["a"]
    assert addresses(other.search([1, 0, 0], 5)) == ["b"]
    renamed = opened("one", "fake:other@2")
    assert len(renamed) == 0
    assert renamed.dimension == 0
    assert renamed.search([1, 0], 5) == []
    renamed.remove(["a"])
    renamed.close()
    assert len(opened("one")) == 1
    renamed = opened("one", "fake:other@2")
    fill(renamed, {"c": [0, 1, 0, 0]})
    assert addresses(renamed.search([0, 1, 0, 0], 5)) == ["c"]
    assert renamed.cosines([0, 1, 0, 0], ["a"]) == {}


def test_a_reader_that_was_open_before_sees_what_was_written(opened: Opener) -> None:
    reader = opened()
    assert len(reader) == 0
    writer = opened()
    fill(writer, {"a": [1, 0]})
    assert len(reader) == 1
    assert addresses(reader.search([1, 0], 5)) == ["a"]
    fill(writer, {"b": [1, 0.1], "a": [0, 1]})
    assert addresses(reader.search([1, 0], 5)) == ["b", "a"]
    writer.remove(["b"])
    assert addresses(reader.search([1, 0], 5)) == ["a"]
    writer.clear()
    assert len(reader) == 0
    assert reader.search([1, 0], 5) == []
    fill(writer, {"c": [1, 0, 0]})
    assert addresses(reader.search([1, 0, 0], 5)) == ["c"]


def test_clearing(opened: Opener) -> None:
    index = opened()
    fill(index, {"a": [1, 0], "b": [0, 1]})
    index.clear()
    assert len(index) == 0
    assert index.parents() == set()
    assert index.search([1, 0], 5) == []
    fill(index, {"c": [1, 0, 0]})
    assert index.dimension == 3
    assert addresses(opened().search([1, 0, 0], 5)) == ["c"]


def test_many_rows_are_found_as_by_looking_at_each(opened: Opener) -> None:
    index, naive = opened(), NaiveVectorIndex()
    vectors = drawn(21, 2000, 24)
    rows = [row(f"a{place}", f"p{place % 37}", f"item s{place % 5}") for place in range(2000)]
    index.put(rows, vectors)
    naive.put(rows, vectors)
    assert len(index) == 2000
    assert len(index.parents()) == 37
    assert index.held("p3") == naive.held("p3")
    for question in drawn(22, 12, 24):
        everything = {one.address: one.cosine for one in naive.search(question, 2000)}
        for homes in (None, ["item s1"], ["item s0", "item s3"]):
            assert_alike(index.search(question, 10, homes), naive.search(question, 10, homes), everything)
    assert len(index.search(vectors[0], 3000)) == 2000


def test_readers_are_served_while_one_writes(opened: Opener) -> None:
    writer = opened()
    vectors = drawn(31, 400, 16)
    fill(writer, {f"a{place}": vector for place, vector in enumerate(vectors[:100])})
    faults: list[BaseException] = []
    answers: list[int] = []
    stop = threading.Event()

    def read(number: int) -> None:
        try:
            mine = opened() if number % 2 else writer
            while number not in answers or not stop.is_set():
                found = mine.search(vectors[number], 5)
                assert found[0].address == f"a{number}"
                assert found[0].cosine == pytest.approx(1, abs=1e-5)
                assert len(found) == 5
                answers.append(number)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for start in range(100, 400, 50):
        fill(writer, {f"a{place}": vectors[place] for place in range(start, start + 50)})
        writer.remove([f"a{start}"])
    stop.set()
    for one in threads:
        one.join()
    assert faults == []
    assert {*answers} == {*range(8)}
    assert len(writer) == 394


def test_a_bulk_and_small_puts_and_searches_at_once_are_never_refused(opened: Opener) -> None:
    index = opened()
    vectors = drawn(41, 1000, 16)
    fill(index, {"first": vectors[0]})
    faults: list[BaseException] = []
    # One writes at a time: the caller sees to that.
    writing = threading.Lock()

    def guarded(act: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                act()
            except BaseException as fault:
                faults.append(fault)

        return run

    def add(number: int) -> None:
        with writing:
            opened_once.put([row(f"small{number}")], [vectors[number]])

    opened_once = opened()
    acts: list[Callable[[], object]] = [lambda number=number: add(number) for number in range(50)]  # type: ignore[misc]
    acts += [lambda number=number: index.search(vectors[number], 5) for number in range(40)]  # type: ignore[misc]
    random.Random(1).shuffle(acts)

    def bulk() -> None:
        with writing:
            fill(index, {f"bulk{place}": vector for place, vector in enumerate(vectors)})

    threads = [threading.Thread(target=guarded(act)) for act in (bulk, *acts)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert faults == []
    assert len(index) == 1051


OTHER = """
import sys
from memoranda.adapters.vector_backends import open_vector_index
from memoranda.core.vectors import VectorRow
from memoranda.storage.embedding_settings import EmbeddingSettings
index = open_vector_index(sys.argv[1], sys.argv[2], sys.argv[3], EmbeddingSettings())
print(sorted(one.address for one in index.search([1, 0], 9)))
index.put([VectorRow("b", "p", "item x", "0" * 32)], [[1, 0.1]])
index.remove(["a"])
index.close()
"""


def test_processes_see_what_others_wrote(opened: Opener, tmp_path: Path) -> None:
    if opened.name == "fake":
        pytest.skip("is of one process")
    index = opened()
    fill(index, {"a": [1, 0], "c": [0, 1]})
    assert addresses(index.search([1, 0], 9)) == ["a", "c"]
    asked = [sys.executable, "-c", OTHER, opened.name, str(tmp_path / "space"), MODEL]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run(asked, capture_output=True, text=True, env=environment, timeout=120)
    if opened.name == "qdrant":
        assert "VaultBusy" in told.stderr
        assert addresses(index.search([1, 0], 9)) == ["a", "c"]
        return
    assert told.stdout.strip() == "['a', 'c']", told.stderr
    assert told.returncode == 0, told.stderr
    assert addresses(index.search([1, 0], 9)) == ["b", "c"]
    fill(index, {"d": [1, 0]})
    assert addresses(index.search([1, 0], 9)) == ["d", "b", "c"]
    assert set(index.cosines([1, 0], ["a", "b", "c", "d"])) == {"b", "c", "d"}


def files_with(folder: Path, needle: bytes) -> list[str]:
    return [
        os.path.join(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        if needle in Path(where, name).read_bytes()
    ]


def test_what_was_removed_is_in_no_file(opened: Opener, tmp_path: Path) -> None:
    struct = pytest.importorskip("struct")
    index = opened()
    length = 32
    vectors = drawn(51, 300, length)
    unit = [place == 3 for place in range(length)]
    rows = [row(f"memory/person-{place}.md#secret-{place}", f"memory/person-{place}.md") for place in range(300)]
    index.put(rows, vectors)
    # This one is the same at length 1, in single precision, however an engine keeps it.
    special = [0.0] * 20 + [0.6, 0.8] + [0.0] * (length - 22)
    index.put([row("memory/long.md#" + "secret-x" * 200, "memory/long.md", "item user/secret-name")], [special])
    index.put([row("plain")], [[float(one) for one in unit]])
    index.put([row(f"more{place}") for place in range(50)], drawn(52, 50, length))
    gone = [one.address for one in rows[:150]] + ["memory/long.md#" + "secret-x" * 200]
    index.remove(gone)
    index.put([row("after")], [vectors[200]])
    index.remove(["after"])
    index.close()
    assert files_with(tmp_path, b"secret-x") == []
    assert files_with(tmp_path, b"secret-name") == []
    for place in range(150):
        assert files_with(tmp_path, f"person-{place}.md#secret".encode()) == []
    packed = struct.pack("<2f", 0.6, 0.8)
    assert files_with(tmp_path, b"\0" * 16 + packed + b"\0" * 16) == []
    again = opened()
    assert len(again) == 201
    assert addresses(again.search(vectors[200], 1)) == [rows[200].address]


def test_a_damaged_file_holds_nothing_and_is_made_anew(opened: Opener, tmp_path: Path) -> None:
    if opened.name in ("fake", "numpy"):
        pytest.skip("the fake has no files; the default store has tests of its own for each of its files")
    index = opened()
    fill(index, {f"a{place}": vector for place, vector in enumerate(drawn(61, 200, 8))})
    opened.close()
    for path in sorted(tmp_path.rglob("*")):
        if path.is_file() and path.stat().st_size:
            path.write_bytes(b"\x5a" * path.stat().st_size)
    index = opened()
    assert index.search([1] * 8, 5) == []
    assert len(index) == 0
    fill(index, {"b": [1, 0, 0]})
    assert addresses(index.search([1, 0, 0], 5)) == ["b"]
    opened.close()
    assert addresses(opened().search([1, 0, 0], 5)) == ["b"]


@pytest.mark.parametrize("part", ["chroma", "qdrant"])
def test_an_engine_that_lost_its_vectors_holds_nothing(opened: Opener, tmp_path: Path, part: str) -> None:
    if opened.name != part:
        pytest.skip("keeps its vectors elsewhere")
    index = opened()
    fill(index, {f"a{place}": vector for place, vector in enumerate(drawn(61, 200, 8))})
    opened.close()
    shutil.rmtree(tmp_path / "space" / part)
    index = opened()
    assert index.search([1] * 8, 5) == []
    assert len(index) == 0
    fill(index, {"b": [1, 0, 0]})
    assert addresses(index.search([1, 0, 0], 5)) == ["b"]


NAMES = ["a", "b", "c", "d", "海#1", "x/y"]
numbers = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
vector3 = st.lists(numbers, min_size=3, max_size=3) | st.just([float("nan"), 1.0, 1.0])
put_one = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from(["p", "q"]),
    st.sampled_from(["item x", "turn x", "item y"]),
    st.sampled_from(["0" * 32, "1" * 32]),
    vector3,
)


class Compared(RuleBasedStateMachine):
    """An index and the fake, told and asked the same."""

    kind: str

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.opened = Opener(self.kind, self.root)
        self.index, self.naive = self.opened(), NaiveVectorIndex()

    def teardown(self) -> None:
        if hasattr(self, "opened"):
            self.opened.close()
            shutil.rmtree(self.root, ignore_errors=True)

    @rule(put=st.lists(put_one, max_size=5))
    def put(self, put: list[tuple[str, str, str, str, list[float]]]) -> None:
        for index in (self.index, self.naive):
            index.put([VectorRow(*one[:4]) for one in put], [one[4] for one in put])

    @rule(gone=st.lists(st.sampled_from(NAMES), max_size=3))
    def remove(self, gone: list[str]) -> None:
        self.index.remove(gone)
        self.naive.remove(gone)

    @rule()
    def reopen(self) -> None:
        if self.kind != "fake":
            self.opened.close()
            self.index = self.opened()

    @rule()
    def clear(self) -> None:
        self.index.clear()
        self.naive.clear()

    @rule(
        question=vector3,
        count=st.integers(0, 7),
        homes=st.none() | st.lists(st.sampled_from(["item x", "turn x", "item y", "none"]), max_size=3),
    )
    def search(self, question: list[float], count: int, homes: list[str] | None) -> None:
        if self.kind == "fake":
            return
        everything = {one.address: one.cosine for one in self.naive.search(question, 99)}
        assert_alike(self.index.search(question, count, homes), self.naive.search(question, count, homes), everything)

    @rule(question=vector3, asked=st.lists(st.sampled_from(NAMES), max_size=4))
    def cosines(self, question: list[float], asked: list[str]) -> None:
        found, expected = self.index.cosines(question, asked), self.naive.cosines(question, asked)
        assert found.keys() == expected.keys()
        for address, near in found.items():
            assert (near.address, near.digest) == (address, expected[address].digest)
            assert near.cosine == pytest.approx(expected[address].cosine, abs=1e-5)

    @invariant()
    def holds_the_same(self) -> None:
        if not hasattr(self, "index"):
            return
        assert len(self.index) == len(self.naive)
        assert self.index.dimension == self.naive.dimension
        assert self.index.parents() == self.naive.parents()
        for parent in ("p", "q"):
            assert self.index.held(parent) == self.naive.held(parent)


def test_any_order_of_changes_is_answered_like_the_fake(kind: str) -> None:
    machine = type("Compared", (Compared,), {"kind": kind})
    examples = {"chroma": 6, "qdrant": 10}.get(kind, 30)
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            # Making a failure small would take minutes where every step waits for the disk.
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
        ),
    )
