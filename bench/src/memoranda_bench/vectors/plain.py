"""The plainest ways, by numpy over memory-mapped files: every float, or sign bits and then floats of the best."""

from __future__ import annotations

import os
import shutil
from typing import Any

from memoranda_bench.systems.interface import require
from memoranda_bench.vectors.corpus import TOP, VectorCorpus

__all__ = ["Floats", "SignBits", "best_of", "keep_floats", "looked_at", "sign_words"]

_ROWS = 16_384
_SAMPLE = 20_000


class Floats:
    """Brute force: the product of the question with every vector. Exact."""

    settings: tuple[str, ...] = ("everything",)

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        self._numpy = require("numpy")
        self._corpus, self._path = corpus, os.path.join(folder, "floats.npy")
        self._vectors: Any = None

    def build(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        keep_floats(self._corpus, self._path)

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._vectors = self._numpy.load(self._path, mmap_mode="r")

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        cosines = self._vectors @ vector
        best = self._numpy.argpartition(cosines, -min(TOP, len(cosines)))[-TOP:]
        return [int(row) for row in best[self._numpy.argsort(-cosines[best])]]

    def close(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._vectors = None


class SignBits:
    """The signs of each vector's numbers, plain or with the mean taken off before; the best by Hamming, then floats.

    This is what a store would be without calibration: how much is looked at
    is fixed beforehand.
    """

    settings: tuple[str, ...] = (
        "centred ×40", "centred ×4", "centred ×10", "centred ×100", "centred ×400", "centred 1 %",
        "plain ×4", "plain ×10", "plain ×100",
    )  # fmt: skip

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        self._numpy = require("numpy")
        self._corpus, self._folder = corpus, folder
        self._vectors: Any = None
        self._mean: Any = None
        self._words: dict[str, Any] = {}

    def build(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        numpy, vectors = self._numpy, self._corpus.vectors()
        # Rows lie in an order by chance already.
        mean = numpy.asarray(vectors[:_SAMPLE]).mean(axis=0)
        numpy.save(self._file("mean"), mean)
        keep_floats(self._corpus, self._file("floats"))
        for name, less in (("plain", 0), ("centred", mean)):
            shape = (len(vectors), self._corpus.dimension // 64)
            words = numpy.lib.format.open_memmap(self._file(name), "w+", numpy.uint64, shape)
            for begin in range(0, len(vectors), _ROWS):
                words[begin : begin + _ROWS] = sign_words(vectors[begin : begin + _ROWS] - less)
            words.flush()

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        load = self._numpy.load
        self._vectors, self._mean = load(self._file("floats"), mmap_mode="r"), load(self._file("mean"))
        self._words = {name: load(self._file(name), mmap_mode="r") for name in ("plain", "centred")}

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        numpy = self._numpy
        name, _, share = setting.partition(" ")
        count = looked_at(share, len(self._vectors))
        words = self._words[name]
        asked = sign_words((vector - self._mean if name == "centred" else vector)[None])[0]
        distances = numpy.empty(len(words), numpy.uint16)
        for begin in range(0, len(words), _ROWS):
            differing = numpy.bitwise_count(words[begin : begin + _ROWS] ^ asked)
            numpy.add.reduce(differing, axis=1, dtype=numpy.uint16, out=distances[begin : begin + _ROWS])
        near = numpy.argpartition(distances, count - 1)[:count] if count < len(words) else numpy.arange(len(words))
        return best_of(self._vectors, near, vector)

    def close(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._vectors, self._words = None, {}

    def _file(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.npy")


def keep_floats(corpus: VectorCorpus, path: str) -> None:
    """The corpus's own file under another name where the disk can have that, else a copy: it is made already."""
    source = os.path.join(corpus.folder, "vectors.npy")
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)


def looked_at(share: str, size: int) -> int:
    """How many rows ``×40`` (forty for each that is asked for) or ``1 %`` (of all) are."""
    count = TOP * int(share[1:]) if share.startswith("×") else int(size * float(share.removesuffix("%")) / 100)
    return max(TOP, min(size, count))


def sign_words(vectors: Any) -> Any:
    """The signs as bits, 64 to a word; a dimension that is no multiple of 64 is cut."""
    numpy = require("numpy")
    bits = numpy.packbits(vectors[:, : vectors.shape[1] // 64 * 64] > 0, axis=1)
    return bits.view(numpy.uint64)


def best_of(vectors: Any, rows: Any, vector: Any) -> list[int]:
    """The ten of these rows that are nearest by their floats, the nearest first."""
    numpy = require("numpy")
    ordered = numpy.sort(rows)
    cosines = vectors[ordered] @ vector
    return [int(row) for row in ordered[numpy.argsort(-cosines, kind="stable")[:TOP]]]
