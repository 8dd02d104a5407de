"""The default vector store against a dictionary, whatever is done to it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

np = pytest.importorskip("numpy", reason="vectors need numpy")

from memoranda.core.errors import UsageError  # noqa: E402
from memoranda.core.vectors import VectorRow  # noqa: E402
from memoranda.index.vectors import order, search, signatures, store  # noqa: E402
from memoranda.index.vectors.store import VectorStore  # noqa: E402

DIMENSION = 6
NAMES = [f"likes:thing-{number}" for number in range(24)] + ["喜欢:海边", "user/lin/日记:第一天", "turn/conv#1"]
HOMES = ["item shared", "item user/lin", "turn conv"]
FILES = {"vectors.npy", "vectors.keys.jsonl", "vectors.rows", "vectors.homes", "vectors.json"}


def vector(seed: str) -> list[float]:
    """A vector that a text alone determines; few differ, so that there are equal ones."""
    return [float(byte % 5 - 2) for byte in hashlib.sha256(seed.encode()).digest()[:DIMENSION]]


def row(address: str, seed: str = "", home: str = HOMES[0]) -> VectorRow:
    return VectorRow(address, address.partition(":")[0], home, hashlib.md5(f"{address}{seed}".encode()).hexdigest())


def cosine(asked: list[float], held: list[float]) -> float:
    """As of the vector that is stored: length 1, in float32, so that near ones come in one order alone."""
    if not any(asked) or not any(held):
        return 0.0
    stored = (np.array(held) / np.linalg.norm(held)).astype(np.float32).astype(np.float64)
    return float(np.dot(asked, stored) / np.linalg.norm(asked))


@pytest.fixture
def made(tmp_path: Path) -> VectorStore:
    return VectorStore(str(tmp_path / ".cache"), "model-a")


class StoreMachine(RuleBasedStateMachine):
    """Rows are put, replaced, removed and found as a dictionary has them, by who writes and by who only reads."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.store = VectorStore(self.folder, "model-a")
        self.reader = VectorStore(self.folder, "model-a")
        self.model: dict[str, tuple[VectorRow, list[float]]] = {}
        self.patched = pytest.MonkeyPatch()

    @initialize(few=st.sampled_from([5, 12, 10_000]))
    def sizes(self, few: int) -> None:
        self.patched.setattr(store, "_WORTH_COMPACTING", 4)
        self.patched.setattr(order, "_LOOSE", 5)
        self.patched.setattr(order, "_FEW", 2)
        self.patched.setattr(order, "_PIECE", 3)
        self.patched.setattr(search, "EXACT_UP_TO", few)
        self.patched.setattr(signatures, "EXACT_UP_TO", few)

    def teardown(self) -> None:
        self.patched.undo()
        self.store.close()
        self.reader.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(
        names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=9),
        seed=st.sampled_from("abc"),
        home=st.sampled_from(HOMES),
    )
    def put(self, names: list[str], seed: str, home: str) -> None:
        rows = [row(name, f"{seed}{at}", home) for at, name in enumerate(names)]
        vectors = [vector(one.digest) for one in rows]
        self.store.put(rows, vectors)
        for one, its in zip(rows, vectors, strict=True):
            self.model[one.address] = (one, its)

    @rule(names=st.sets(st.sampled_from([*NAMES, "never:held"]), max_size=12))
    def remove(self, names: set[str]) -> None:
        self.store.remove(names)
        for name in names:
            self.model.pop(name, None)

    @precondition(lambda self: len(self.model) > 20)
    @rule()
    def clear(self) -> None:
        self.store.clear()
        self.model.clear()

    @rule()
    def open_anew(self) -> None:
        self.store.close()
        self.store = VectorStore(self.folder, "model-a")

    @rule()
    def write_from_elsewhere(self) -> None:
        self.store, self.reader = self.reader, self.store

    @rule(seed=st.sampled_from("abcdef"), count=st.integers(0, 30), home=st.sampled_from([None, [], *map(list, HOMES)]))
    def find(self, seed: str, count: int, home: list[str] | None) -> None:
        homes = None if home is None else {"".join(home)} if home else set()
        asked = vector(seed)
        nearest = sorted(
            (-round(cosine(asked, its), 12), name)
            for name, (one, its) in self.model.items()
            if any(its) and (homes is None or one.home in homes)
        )
        expected = nearest[:count] if any(asked) else []
        found = self.reader.search(asked, count, homes)
        assert [near.address for near in found] == [name for _, name in expected]
        for near, (distance, name) in zip(found, expected, strict=True):
            assert near.cosine == pytest.approx(-distance, abs=1e-6)
            assert near.digest == self.model[name][0].digest

    @invariant()
    def holds_what_the_dictionary_holds(self) -> None:
        for one in (self.store, self.reader):
            assert one.fault == ""
            assert len(one) == len(self.model)
            assert one.dimension == (DIMENSION if self.model else 0)
            assert one.parents() == {held.parent for held, _ in self.model.values()}
        asked = vector("asked")
        for parent in {held.parent for held, _ in self.model.values()}:
            expected = {name: held.digest for name, (held, _) in self.model.items() if held.parent == parent}
            assert self.reader.held(parent) == expected
        near = self.reader.cosines(asked, [*NAMES, "never:held"])
        assert set(near) == {name for name, (_, its) in self.model.items() if any(its)}
        for name, found in near.items():
            assert found.cosine == pytest.approx(cosine(asked, self.model[name][1]), abs=1e-6)

    @invariant()
    def nothing_is_left_of_what_was_taken_out(self) -> None:
        path = os.path.join(self.folder, "vectors.keys.jsonl")
        if not os.path.exists(path):
            assert not self.model
            return
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        assert sorted(line["address"] for line in lines) == sorted(self.model)
        lying = np.load(os.path.join(self.folder, "vectors.npy"), mmap_mode="r")
        assert np.count_nonzero(lying.any(axis=1)) == sum(any(its) for _, its in self.model.values())
        named = {name.removeprefix("vectors.").partition(".")[2] for name in os.listdir(self.folder)}
        assert not {rest for rest in named if len(rest) >= 12}


StoreMachine.TestCase.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestStore = StoreMachine.TestCase


def test_nothing_is_held_before_the_first_put(made: VectorStore, tmp_path: Path) -> None:
    assert (len(made), made.dimension, made.fault, made.parents()) == (0, 0, "", set())
    assert made.search([1.0], 3) == []
    assert made.cosines([1.0], ["a:b"]) == {}
    assert list(made.sample([1.0], 3)) == []
    made.remove(["a:b"])
    made.put([], [])
    assert len(made) == 0


def test_vectors_that_mean_nothing_are_held_and_never_found(made: VectorStore) -> None:
    odd = [[0.0, 0.0], [float("nan"), 1.0], [1.0, float("inf")], [5e-324, 0.0], [1e308, 1e308]]
    made.put([row(f"odd:{number}") for number in range(5)], odd)
    assert len(made) == 5
    assert len(made.held("odd")) == 5
    assert [near.address for near in made.search([1.0, 0.0], 9)] == ["odd:3", "odd:4"]
    assert [near.cosine for near in made.search([1.0, 0.0], 9)] == pytest.approx([1, 0.5**0.5], abs=1e-6)
    assert made.search([0.0, 0.0], 9) == []
    assert made.search([float("nan"), 0.0], 9) == []
    assert set(made.cosines([1.0, 0.0], [f"odd:{number}" for number in range(5)])) == {"odd:3", "odd:4"}


@pytest.mark.parametrize(
    "vectors",
    [[[1.0, 2.0]], [[1.0, 2.0], [1.0]], [[], []], [[1.0, 2.0, 3.0]] * 2],
    ids=["few", "ragged", "none", "long"],
)
def test_what_is_no_vector_of_the_store_is_refused_whole(made: VectorStore, vectors: list[list[float]]) -> None:
    made.put([row("first:one")], [[1.0, 0.0]])
    with pytest.raises(UsageError):
        made.put([row("a:a"), row("a:b")], vectors)
    assert len(made) == 1
    with pytest.raises(UsageError):
        made.search([1.0], 1)


def test_an_emptied_store_takes_vectors_of_another_length(made: VectorStore) -> None:
    made.put([row("a:a")], [[1.0, 0.0]])
    made.remove(["a:a"])
    assert made.dimension == 0
    made.put([row("a:b")], [[1.0, 0.0, 0.0]])
    assert made.dimension == 3
    assert [near.address for near in made.search([1.0, 0.0, 0.0], 5)] == ["a:b"]


def test_another_model_finds_nothing_until_it_puts_something(made: VectorStore, tmp_path: Path) -> None:
    made.put([row("a:a")], [[1.0, 0.0]])
    before = {name: (tmp_path / ".cache" / name).read_bytes() for name in os.listdir(tmp_path / ".cache")}
    other = VectorStore(str(tmp_path / ".cache"), "model-b")
    assert (len(other), other.dimension, other.fault, other.search([1.0], 1)) == (0, 0, "", [])
    other.remove(["a:a"])
    assert {name: (tmp_path / ".cache" / name).read_bytes() for name in os.listdir(tmp_path / ".cache")} == before
    other.put([row("b:b")], [[1.0, 0.0, 0.0]])
    assert (len(other), len(made)) == (1, 0)
    assert [near.address for near in other.search([1.0, 0.0, 0.0], 1)] == ["b:b"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are those of POSIX")
def test_files_are_private_and_readable_by_others_programs(made: VectorStore, tmp_path: Path) -> None:
    folder = tmp_path / ".cache"
    made.put([row("a:a"), row("喜欢:海边")], [[3.0, 4.0], [0.0, 2.0]])
    assert set(os.listdir(folder)) == FILES
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in FILES} == {0o600}
    lying = np.load(folder / "vectors.npy", mmap_mode="r")
    assert lying.dtype == np.float32
    assert lying.tolist() == [pytest.approx([0.6, 0.8]), [0.0, 1.0]]
    keys = [json.loads(line) for line in (folder / "vectors.keys.jsonl").read_text("utf-8").splitlines()]
    assert [(key["address"], key["model"], key["dimension"]) for key in keys] == [
        ("a:a", "model-a", 2),
        ("喜欢:海边", "model-a", 2),
    ]


def test_other_files_in_the_folder_are_left_alone(made: VectorStore, tmp_path: Path) -> None:
    folder = tmp_path / ".cache"
    made.put([row("a:a")], [[1.0, 0.0]])
    others = ["keywords.segment", "vectors.txt", "vectors.notes.abcdefabcdef", ".memoranda-1.tmp"]
    for name in others:
        (folder / name).write_text("mine")
    made.clear()
    made.put([row("a:a")], [[1.0, 0.0]])
    assert set(os.listdir(folder)) == FILES | set(others)


def test_the_sample_is_the_same_every_time_and_from_all_over(made: VectorStore) -> None:
    vectors: list[Any] = [[1.0, number / 50] for number in range(100)]
    made.put([row(f"a:{number}") for number in range(100)], vectors)
    found = list(made.sample([1.0, 0.0], 10))
    assert found == list(made.sample([1.0, 0.0], 10))
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(1)
    assert found[-1] == pytest.approx(cosine([1.0, 0.0], vectors[-1]), abs=1e-6)
    assert len(made.sample([1.0, 0.0], 1000)) == 100


def test_names_of_homes_go_with_their_last_rows(made: VectorStore, tmp_path: Path) -> None:
    text = (tmp_path / ".cache" / "vectors.json").read_text
    made.put(
        [row("a:a", home="item user/lin"), row("a:b", home="item shared"), row("a:c", home="item user/mo")],
        [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
    )
    made.remove(["a:a"])
    assert "user/lin" not in text()
    assert made.held("a").keys() == {"a:b", "a:c"}
    made.remove(["a:c"])
    assert "user/mo" not in text()
    made.put([row("a:d", home="item user/lin"), row("a:e", home="")], [[1.0, 0.0], [1.0, 1.0]])
    assert [near.address for near in made.search([1.0, 0.0], 5, ["item user/lin"])] == ["a:d"]
    assert [near.address for near in made.search([1.0, 0.0], 5, [""])] == ["a:e"]
    made.put([row("a:d", home="item shared")], [[1.0, 0.0]])
    assert "user/lin" not in text()
