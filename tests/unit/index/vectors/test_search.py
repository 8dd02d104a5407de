"""Many rows: the cascade finds what comparing every row finds, rare homes and damaged rows included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="vectors need numpy")

from memoranda.core.vectors import VectorRow  # noqa: E402
from memoranda.index.vectors import kernels, search, signatures  # noqa: E402
from memoranda.index.vectors.layout import BLOCK  # noqa: E402
from memoranda.index.vectors.store import VectorStore  # noqa: E402

COUNT, DIMENSION = 20_000, 48


def drawn(count: int, seed: int) -> Any:
    """Vectors as embeddings of sentences are: a strong common direction, few that matter beside it, clusters."""
    fixed = np.random.default_rng(1)
    mean = fixed.standard_normal(DIMENSION)
    mean /= np.linalg.norm(mean)
    strength = 1 / (1 + np.arange(DIMENSION) / 12)
    centres = fixed.standard_normal((300, DIMENSION)) * strength
    generator = np.random.default_rng(seed)
    inner = 0.6 * centres[generator.integers(0, 300, count)]
    inner += 0.8 * generator.standard_normal((count, DIMENSION)) * strength
    inner *= 0.47 / np.sqrt((inner * inner).sum(axis=1).mean())
    vectors = mean + inner
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


VECTORS = drawn(COUNT, 2)
QUESTIONS = drawn(40, 3)


def home_of(number: int) -> str:
    return "turn rare" if number % 4000 == 7 else "item half" if number % 2 else "item other"


def row(number: int) -> VectorRow:
    return VectorRow(f"c{number % 50}:n{number}", f"c{number % 50}", home_of(number), f"{number:032x}")


def recall(made: VectorStore, vectors: Any, homes: list[str] | None = None, count: int = 10) -> float:
    """The share of the nearest that is found; every cosine is held against the exact one."""
    numbers = np.arange(len(vectors))
    if homes is not None:
        numbers = np.array([number for number in numbers.tolist() if home_of(number) in homes])
    hits = 0
    for question in QUESTIONS:
        exact = vectors[numbers] @ question
        least = np.sort(exact)[-count]
        found = made.search(question, count, homes)
        assert len(found) == count
        assert found == sorted(found, key=lambda near: (-near.cosine, near.address))
        for near in found:
            number = int(near.address.partition(":n")[2])
            assert near.digest == row(number).digest
            assert near.cosine == pytest.approx(float(vectors[number] @ question), abs=1e-6)
            assert homes is None or home_of(number) in homes
            hits += near.cosine >= least - 1e-6
    return hits / (count * len(QUESTIONS))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> VectorStore:
    made = VectorStore(str(tmp_path_factory.mktemp("large")), "m")
    for start in range(0, COUNT, 4000):
        made.put([row(number) for number in range(start, start + 4000)], VECTORS[start : start + 4000])
    return made


def test_the_cascade_finds_nearly_all_of_the_nearest(large: VectorStore) -> None:
    made = large.calibration
    assert made is not None
    assert made.method == "cascade"
    assert made.recall >= 0.97
    assert made.rows > 10_000
    assert [fraction for fraction, _ in made.tried] == sorted(fraction for fraction, _ in made.tried)
    assert recall(large, VECTORS) >= 0.97


def test_far_fewer_rows_than_all_are_read_whole(large: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real_bytes, real_cosines = kernels.byte_scores_of, kernels.cosines

    def byte_scores_of(codes: Any, weights: Any, rows: Any) -> Any:
        read.append(len(rows))
        return real_bytes(codes, weights, rows)

    def cosines(vectors: Any, query: Any) -> Any:
        read.append(len(vectors))
        return real_cosines(vectors, query)

    monkeypatch.setattr(search, "byte_scores_of", byte_scores_of)
    monkeypatch.setattr(search, "cosines", cosines)
    large.search(QUESTIONS[0], 10)
    assert read[0] < COUNT // 2
    assert sum(read[1:]) < 300


def test_a_rare_home_gives_as_many_as_are_asked_for(large: VectorStore) -> None:
    assert recall(large, VECTORS, ["turn rare"], 5) == 1
    assert len(large.search(QUESTIONS[0], 50, ["turn rare"])) == 5
    assert large.search(QUESTIONS[0], 50, ["turn nobody"]) == []


def test_a_common_home_is_searched_alone(large: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert recall(large, VECTORS, ["item half"]) == 1
    monkeypatch.setattr(search, "EXACT_UP_TO", 5000)
    assert recall(large, VECTORS, ["item half"]) >= 0.97
    assert recall(large, VECTORS, ["item half", "turn rare"]) >= 0.97


def test_rows_that_are_put_and_taken_out_later_are_in_the_signatures(large: VectorStore, tmp_path: Path) -> None:
    made = VectorStore(str(tmp_path), "m")
    made.put([row(number) for number in range(15_000)], VECTORS[:15_000])
    calibrated = made.calibration
    made.remove([row(number).address for number in range(0, 15_000, 5)])
    made.put([row(number) for number in range(15_000, COUNT)], VECTORS[15_000:])
    assert made.calibration == calibrated
    kept = [number for number in range(COUNT) if number >= 15_000 or number % 5]
    hits = 0
    for question in QUESTIONS:
        exact = {
            row(number).address for number in np.array(kept)[np.argsort(-(VECTORS[kept] @ question))[:10]].tolist()
        }
        hits += len(exact & {near.address for near in made.search(question, 10)})
    assert hits >= 0.97 * 10 * len(QUESTIONS)
    bits = np.fromfile(tmp_path / "vectors.bits", "<u8", offset=64).reshape(-1, 1, BLOCK)
    codes = np.fromfile(tmp_path / "vectors.int8", np.int8, offset=64).reshape(-1, DIMENSION)
    assert not bits[0, 0, :8000:5].any()
    assert not codes[:15_000:5].any()
    # A third is dead: what is left is written anew, signatures too.
    made.remove(
        [row(number).address for number in range(1, 15_000, 5)]
        + [row(number).address for number in range(15_000, 16_500)]
    )
    assert np.load(tmp_path / "vectors.npy", mmap_mode="r").shape == (len(made), DIMENSION)
    assert made.calibration is not None
    kept = [number for number in kept if number >= 16_500 or (number < 15_000 and number % 5 != 1)]
    assert len(made) == len(kept)
    for question in QUESTIONS[:10]:
        best = row(kept[int(np.argmax(VECTORS[kept] @ question))]).address
        assert made.search(question, 1)[0].address == best


def test_where_signs_tell_too_little_bytes_are_compared_of_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"_LARGEST": 0.01, "_LARGEST_ROWS": 100, "_SMALLEST_ROWS": 100}.items():
        monkeypatch.setattr(signatures, name, value)
    monkeypatch.setattr(search, "_LEAST", 10)
    vectors = np.random.default_rng(4).standard_normal((12_000, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = VectorStore(str(tmp_path), "m")
    made.put([row(number) for number in range(12_000)], vectors)
    assert made.calibration is not None
    assert made.calibration.method == "int8"
    assert made.calibration.recall >= 0.97
    assert recall(made, vectors) >= 0.97


def test_the_mean_is_taken_again_when_the_store_has_doubled(tmp_path: Path) -> None:
    made = VectorStore(str(tmp_path), "m")
    made.put([row(number) for number in range(10_001)], VECTORS[:10_001])
    first = made.calibration
    assert first is not None
    shifted = -VECTORS[:10_001]
    made.put([row(number + COUNT) for number in range(10_000)], shifted[:10_000])
    assert made.calibration == first
    made.put([row(number + 2 * COUNT) for number in range(10)], shifted[:10])
    assert made.calibration is not None
    assert made.calibration.rows == 20_011
    assert recall(made, np.concatenate([VECTORS[:10_001]])) >= 0.97


def test_many_equal_rows_come_in_the_order_of_their_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "EXACT_UP_TO", 500)
    monkeypatch.setattr(signatures, "EXACT_UP_TO", 500)
    numbers = np.random.default_rng(3).permutation(900).tolist()
    found = []
    for name, order in (("one", numbers), ("other", numbers[::-1])):
        made = VectorStore(str(tmp_path / name), "m")
        made.put([row(number) for number in order], VECTORS[[number % 3 for number in order]])
        found.append([near.address for near in made.search(VECTORS[0], 20)])
    assert found[0] == found[1]
    assert found[0] == sorted(row(number).address for number in range(0, 900, 3))[:20]


@pytest.mark.parametrize("dimension", [1, 63, 64, 65, 200])
def test_distances_count_the_places_that_differ(dimension: int) -> None:
    vectors = np.random.default_rng(dimension).standard_normal((BLOCK + 9, dimension)).astype(np.float32)
    packed = kernels.signs(vectors, np.zeros(dimension, np.float32), np.eye(dimension, dtype=np.float32))
    bits = np.zeros((2, packed.shape[1], BLOCK), "<u8")
    bits[0] = packed[:BLOCK].T
    bits[1, :, :9] = packed[BLOCK:].T
    found = kernels.distances(bits, packed[3], len(vectors))
    assert found.tolist() == ((vectors > 0) != (vectors[3] > 0)).sum(axis=1).tolist()
