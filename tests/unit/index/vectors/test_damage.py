"""Files that are not as they were written: a damaged vector is not held, a damaged store holds nothing and says so."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="vectors need numpy")

from memoranda.core.vectors import VectorRow  # noqa: E402
from memoranda.index.vectors import search, signatures  # noqa: E402
from memoranda.index.vectors.layout import NPY_HEADER  # noqa: E402
from memoranda.index.vectors.store import VectorStore  # noqa: E402

COUNT, DIMENSION = 60, 16
VECTORS = np.random.default_rng(5).standard_normal((COUNT, DIMENSION))
ROWS = [
    VectorRow(f"c{number % 4}:n{number}", f"c{number % 4}", "item shared", f"{number:032x}") for number in range(60)
]
COSINES = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "store"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "EXACT_UP_TO", 30)
        patched.setattr(signatures, "EXACT_UP_TO", 30)
        VectorStore(str(folder), "m").put(ROWS[:50], VECTORS[:50])
        VectorStore(str(folder), "m").put(ROWS[50:], VECTORS[50:])
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "store")
    return tmp_path / "store"


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_a_damaged_vector_is_not_held_and_the_next_one_is_found_in_its_place(folder: Path) -> None:
    overwrite(folder / "vectors.npy", NPY_HEADER + 7 * DIMENSION * 4, b"\x7f" * 9)
    made = VectorStore(str(folder), "m")
    assert made.fault == ""
    expected = [ROWS[at].address for at in np.argsort(-(COSINES @ COSINES[7])) if at != 7]
    assert [near.address for near in made.search(VECTORS[7], 59)] == expected
    assert made.cosines(VECTORS[7], [ROWS[7].address]) == {}
    assert ROWS[7].address not in made.held("c3")
    made.put([ROWS[7]], [VECTORS[7]])
    assert len(made) == COUNT
    assert made.search(VECTORS[7], 1)[0].address == ROWS[7].address


def test_a_row_whose_line_is_damaged_can_be_put_again_and_be_removed(folder: Path) -> None:
    text = (folder / "vectors.keys.jsonl").read_bytes()
    overwrite(folder / "vectors.keys.jsonl", text.index(b'"c1:n9"'), b'"cX')
    made = VectorStore(str(folder), "m")
    assert "c1:n9" not in made.held("c1")
    assert "c1:n9" not in {near.address for near in made.search(VECTORS[9], 60)}
    made.put([ROWS[9]], [VECTORS[9]])
    assert len(made) == COUNT
    assert made.held("c1")["c1:n9"] == ROWS[9].digest


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.rows", "vectors.homes", "vectors.keys.jsonl"])
@pytest.mark.parametrize("harm", ["short", "gone", "other"])
def test_a_store_without_one_of_its_files_holds_nothing_and_says_so(folder: Path, name: str, harm: str) -> None:
    data = (folder / name).read_bytes()
    if harm == "short":
        (folder / name).write_bytes(data[: len(data) - 100])
    elif harm == "gone":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(bytes(len(data)))
    made = VectorStore(str(folder), "m")
    if name == "vectors.keys.jsonl" and harm == "other":
        assert made.search(VECTORS[0], 5) == []
        return
    assert (len(made), made.dimension, made.parents(), made.search(VECTORS[0], 5)) == (0, 0, set(), [])
    assert name in made.fault
    made.put(ROWS[:3], VECTORS[:3])
    assert (len(made), made.fault) == (3, "")
    assert made.search(VECTORS[1], 1)[0].address == ROWS[1].address
    assert len(VectorStore(str(folder), "m")) == 3


def test_vectors_of_another_store_are_not_taken_for_its_own(folder: Path, tmp_path: Path) -> None:
    VectorStore(str(tmp_path / "other"), "m").put(ROWS, VECTORS[::-1])
    shutil.copy(tmp_path / "other" / "vectors.npy", folder / "vectors.npy")
    made = VectorStore(str(folder), "m")
    assert len(made) == 0
    assert "vectors.npy" in made.fault


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"pointer": {"format": 1}, "crc": 0}'])
def test_a_damaged_pointer_is_said(folder: Path, data: bytes) -> None:
    (folder / "vectors.json").write_bytes(data)
    made = VectorStore(str(folder), "m")
    assert (len(made), made.fault) == (0, "vectors.json is damaged")
    made.put(ROWS[:2], VECTORS[:2])
    assert (len(made), made.fault) == (2, "")
    assert set(os.listdir(folder)) == {f"vectors.{end}" for end in ("json", "npy", "rows", "homes", "keys.jsonl")}


@pytest.mark.parametrize("name", ["vectors.mean", "vectors.bits", "vectors.int8"])
def test_without_signatures_every_row_is_compared_and_they_are_made_again(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EXACT_UP_TO", 30)
    monkeypatch.setattr(signatures, "EXACT_UP_TO", 30)
    assert VectorStore(str(folder), "m").calibration is not None
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    made = VectorStore(str(folder), "m")
    assert (len(made), made.fault, made.calibration) == (COUNT, "", None)
    assert name in made.degraded
    assert made.search(VECTORS[3], 1)[0].address == ROWS[3].address
    made.build()
    assert made.calibration is not None
    assert VectorStore(str(folder), "m").calibration == made.calibration
    assert made.search(VECTORS[3], 1)[0].address == ROWS[3].address


@given(
    name=st.sampled_from(["vectors.npy", "vectors.rows", "vectors.homes", "vectors.keys.jsonl", "vectors.json"]),
    place=st.floats(0, 0.999),
    data=st.binary(min_size=1, max_size=64) | st.integers(1, 4096).map(bytes),
)
@settings(max_examples=120, deadline=None)
def test_whatever_is_overwritten_no_answer_is_wrong(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, name: str, place: float, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "store"
    shutil.copytree(whole, folder)
    size = (folder / name).stat().st_size
    overwrite(folder / name, int(place * size), data)
    by_address = {one.address: at for at, one in enumerate(ROWS)}
    made = VectorStore(str(folder), "m")
    for asked in (VECTORS[0], VECTORS[55]):
        direction = asked / np.linalg.norm(asked)
        found = made.search(asked, 20)
        for near in [*found, *made.cosines(asked, by_address).values()]:
            at = by_address[near.address]
            assert near.digest == ROWS[at].digest
            assert near.cosine == pytest.approx(float(direction @ COSINES[at]), abs=1e-6)
    for parent in made.parents():
        for address, digest in made.held(parent).items():
            assert ROWS[by_address[address]].digest == digest
    made.put(ROWS, VECTORS)
    assert {address for parent in made.parents() for address in made.held(parent)} == set(by_address)
    assert {near.address for near in made.search(VECTORS[0], 60)} == set(by_address)
    shutil.rmtree(folder)
