"""Vectors of any number to search, questions, and the exact answers.

384 dimensions: real sentences embedded by a real model. Beyond their number
real vectors are drawn again, each with noise: in a direction in which two real
vectors differ, as long as a share of the way to that vector's nearest
neighbour. So the new ones lie where sentences lie, and no nearer to one another
than sentences would if there were so many.

Any other dimension: clusters of random vectors, which are easier.

The same seed and the same sentences give the same numbers. A finished set is
kept in its folder and used again::

    vectors.npy     float32, of length 1
    queries.npy     float32, of length 1
    truth.npy       by query the cosines of the ten nearest, the nearest first
    corpus.json     how it was made, and figures of it
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from memoranda_bench.systems.interface import require

if TYPE_CHECKING:
    from memoranda_bench.embedded import CachedEmbedder

__all__ = ["REAL", "SENTENCES", "TOP", "Sentences", "VectorCorpus", "exact", "grow", "make", "random_clusters", "read"]

#: The dimension that is real.
REAL = 384
#: How many are asked for.
TOP = 10
#: As many sentences as this are embedded, unless there are fewer.
SENTENCES = 20_000
#: To be raised with every change of what is made.
_VERSION = 1
_DONE = "corpus.json"
_ROWS = 10_000
#: How far a copy lies from its original: from and to, as shares of the distance to the nearest neighbour.
_NOISE = (0.4, 0.8)
#: Random clusters: so many vectors each, with so much noise (the centre's own length is 1).
_CLUSTER, _SPREAD = 100, 0.6
_SAMPLE = 500


@dataclass(frozen=True, slots=True)
class Sentences:
    """Where real vectors come from: texts, questions, and what embeds them."""

    texts: Sequence[str]
    questions: Sequence[str]
    embedder: CachedEmbedder


@dataclass(frozen=True, slots=True)
class VectorCorpus:
    """A finished set on disk; ``folder`` holds what the module describes.

    ``real`` is how many of the vectors are a sentence's own. ``about`` says how
    it was made. ``cosine`` is the mean of two vectors' cosine, ``nearest`` of a
    vector's with its nearest neighbour, ``answer`` and ``tenth`` of a question's
    with its first and tenth answer.
    """

    folder: str
    dimension: int
    size: int
    seed: int
    real: int
    about: str
    cosine: float
    nearest: float
    answer: float
    tenth: float

    def vectors(self) -> Any:
        """All of them, memory-mapped."""
        return self._load("vectors", "r")

    def queries(self) -> Any:
        """The questions."""
        return self._load("queries", None)

    def truth(self) -> Any:
        """By question the cosines of its ten nearest."""
        return self._load("truth", None)

    def _load(self, name: str, mode: str | None) -> Any:
        numpy = require("numpy")
        return numpy.load(os.path.join(self.folder, f"{name}.npy"), mmap_mode=mode)

    def recall(self, query: int, found: Sequence[int]) -> float:
        """The share of the ten nearest that were found; one that is as near as the tenth counts like it."""
        numpy = require("numpy")
        rows = list(dict.fromkeys(found))[:TOP]
        if not rows:
            return 0.0
        cosines = numpy.asarray(self.vectors()[sorted(rows)]) @ self.queries()[query]
        least = self.truth()[query][-1] - 1e-6
        return int((cosines >= least).sum()) / min(TOP, self.size)


def make(
    work: str, dimension: int, size: int, seed: int, queries: int, sentences: Sentences | None = None
) -> VectorCorpus:
    """The set of ``size`` vectors below ``work``: the one that is there, or a new one.

    Raises:
        SystemMissing: numpy is not installed.
        ValueError: :data:`REAL` dimensions, and no sentences are given.
    """
    numpy = require("numpy")
    folder = os.path.join(work, f"vectors-{_VERSION}-{seed}-{dimension}-{size}-{queries}")
    try:
        return read(folder)
    except (OSError, ValueError, TypeError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "vectors.npy")
    vectors = numpy.lib.format.open_memmap(path, "w+", numpy.float32, (size, dimension))
    chance = numpy.random.default_rng([seed, dimension, size])
    if dimension == REAL:
        if sentences is None:
            raise ValueError(f"{REAL} dimensions are of real sentences")
        found, asked, real = _real(sentences, size, queries, chance)
        grow(vectors, found, real, chance)
        more = f", and {size - real:,} more of them with noise" if size > real else ""
        about = f"{real:,} sentences embedded by {sentences.embedder.model}{more}"
    else:
        asked, real = random_clusters(vectors, queries, chance), 0
        about = f"random clusters of {_CLUSTER}, noise {_SPREAD} of the centre's length"
    vectors.flush()
    numpy.save(os.path.join(folder, "queries.npy"), asked)
    truth = exact(vectors, asked)
    numpy.save(os.path.join(folder, "truth.npy"), truth)
    corpus = VectorCorpus(
        folder, dimension, size, seed, real, about, *_figures(vectors, chance), *_means(truth[:, 0], truth[:, -1])
    )
    # Written last: a folder without it was cut short and is made anew.
    with open(os.path.join(folder, _DONE), "w", encoding="utf-8", newline="\n") as stream:
        json.dump(asdict(corpus) | {"folder": ""}, stream, ensure_ascii=False, indent=0)
    return corpus


def _real(sentences: Sentences, size: int, queries: int, chance: Any) -> tuple[Any, Any, int]:
    """Real vectors in an order by chance, of the questions too, and how many of the former are used."""
    numpy = require("numpy")
    texts = sentences.texts[:SENTENCES]
    print(f"{len(texts):,} sentences are embedded, or read if they were before", file=sys.stderr)
    found = _unit(numpy.array(sentences.embedder.embed_documents(texts), numpy.float32))
    if found.shape[1] != REAL:
        raise ValueError(f"{sentences.embedder.model} gives {found.shape[1]} dimensions, not {REAL}")
    asked = [sentences.embedder.embed_query(question) for question in sentences.questions[:queries]]
    order = chance.permutation(len(found))
    return found[order], _unit(numpy.array(asked, numpy.float32)), min(size, len(found))


def _unit(vectors: Any) -> Any:
    numpy = require("numpy")
    return (vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)).astype(numpy.float32)


def grow(vectors: Any, found: Any, real: int, chance: Any) -> None:
    """Fill ``vectors`` with ``real`` of those that were found, then with others like them."""
    numpy = require("numpy")
    vectors[:real] = found[:real]
    if real == len(vectors):
        return
    distances = nearest_distances(found)
    for begin in range(real, len(vectors), _ROWS):
        count = min(_ROWS, len(vectors) - begin)
        origin = chance.integers(0, len(found), count)
        one = chance.integers(0, len(found), count)
        other = (one + chance.integers(1, max(2, len(found)), count)) % len(found)
        noise = found[one] - found[other]
        length = numpy.linalg.norm(noise, axis=1, keepdims=True)
        wanted = distances[origin, None] * chance.uniform(*_NOISE, (count, 1))
        noise *= numpy.divide(wanted, length, out=numpy.zeros_like(length), where=length > 0)
        vectors[begin : begin + count] = _unit(found[origin] + noise)


def nearest_distances(found: Any) -> Any:
    """How far it is from each vector (of length 1) to the nearest other one that is not the same."""
    numpy = require("numpy")
    best = numpy.empty(len(found), numpy.float32)
    for begin in range(0, len(found), 1000):
        cosines = found[begin : begin + 1000] @ found.T
        rows = numpy.arange(len(cosines))
        cosines[rows, begin + rows] = -1
        cosines[cosines > 0.99999] = -1
        best[begin : begin + 1000] = cosines.max(axis=1)
    return numpy.sqrt(numpy.maximum(0, 2 - 2 * best))


def random_clusters(vectors: Any, queries: int, chance: Any) -> Any:
    """Fill ``vectors`` with clusters; the questions, each like a vector of one of them."""
    numpy = require("numpy")
    size, dimension = vectors.shape
    # Centres and noise of the expected length 1.
    scale = dimension**-0.5
    centres = chance.standard_normal((max(1, size // _CLUSTER), dimension), numpy.float32) * scale

    def drawn(count: int) -> Any:
        noise = chance.standard_normal((count, dimension), numpy.float32) * scale
        return _unit(centres[chance.integers(0, len(centres), count)] + _SPREAD * noise)

    for begin in range(0, size, _ROWS):
        vectors[begin : begin + _ROWS] = drawn(min(_ROWS, size - begin))
    return drawn(queries)


def exact(vectors: Any, queries: Any) -> Any:
    """By query the cosines of the ten nearest (or of all, if there are fewer), the nearest first."""
    numpy = require("numpy")
    count = min(TOP, len(vectors))
    best = numpy.full((len(queries), count), -2, numpy.float32)
    for begin in range(0, len(vectors), _ROWS):
        cosines = queries @ vectors[begin : begin + _ROWS].T
        both = numpy.concatenate([best, cosines], axis=1)
        best = numpy.partition(both, both.shape[1] - count, axis=1)[:, -count:]
    return -numpy.sort(-best, axis=1)


def _figures(vectors: Any, chance: Any) -> tuple[float, float]:
    """The mean cosine of two vectors, and of a vector with its nearest neighbour."""
    numpy = require("numpy")
    picked = chance.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False)
    some = numpy.asarray(vectors[numpy.sort(picked)])
    between = some @ some.T
    pairs = ~numpy.eye(len(some), dtype=bool)
    return _means(between[pairs] if len(some) > 1 else between, exact(vectors, some)[:, 1:2])


def _means(*values: Any) -> tuple[float, float]:
    first, second = (float(one.mean()) if one.size else 0.0 for one in values)
    return first, second


def read(folder: str) -> VectorCorpus:
    """A finished set. Raises OSError, ValueError or TypeError: there is none."""
    with open(os.path.join(folder, _DONE), encoding="utf-8") as stream:
        return VectorCorpus(**json.load(stream) | {"folder": folder})
