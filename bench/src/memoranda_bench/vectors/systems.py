"""The systems by name: each takes vectors, then answers with the numbers of those nearest to another one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from memoranda.core.records import replace
from memoranda_bench.systems.interface import require
from memoranda_bench.vectors.corpus import TOP, VectorCorpus
from memoranda_bench.vectors.peers import Chroma, FaissBits, Qdrant, QdrantInMemory, SqliteVec, SqliteVecBits
from memoranda_bench.vectors.plain import Floats, SignBits

__all__ = ["SYSTEMS", "VectorSystem"]

_MODEL = "bench"
_HOME = "resource shared"
_BATCH = 10_000
_CONVERSATION = 500
_OWN, _BYTES = "calibrated", "every byte"
_PARTS = ("0.1 %", "0.5 %", "1 %", "2 %", "5 %")
_CALIBRATED = ("method", "fraction", "rerank", "recall", "queries", "rows", "seconds")


class VectorSystem(Protocol):
    """One way to find vectors. It is made once to build, and again in another process to ask.

    ``settings`` are the ways in which it can be asked, its own first; all are
    known when it is open.
    """

    settings: tuple[str, ...]

    def build(self) -> None:
        """Take in the whole corpus, and leave everything on disk."""

    def open(self) -> None:
        """Open what was built."""

    def ask(self, vector: Any, setting: str) -> list[int]:
        """The rows of the ten nearest, the nearest first."""

    def close(self) -> None:
        """Let go of it."""


class Ours:
    """memoranda's own store, as a vault has it. How much it looks at it decides by itself, by ``calibrated``.

    The other settings look at another part of the rows before the last step, or
    at every byte: they show what the calibration chose from.
    """

    settings: tuple[str, ...] = (_OWN,)

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        require("numpy")
        self._store_class = require("memoranda.index.vectors.store", "memoranda[embed]").VectorStore
        self._corpus, self._folder = corpus, os.path.join(folder, "vectors")
        self._store: Any = None
        self._calibration: Any = None
        self._setting = _OWN

    def build(self) -> None:
        """See :class:`VectorSystem`."""
        store, vectors = self._store_class(self._folder, _MODEL), self._corpus.vectors()
        for begin in range(0, len(vectors), _BATCH):
            part = vectors[begin : begin + _BATCH]
            store.put(list(_rows(begin, len(part))), part)
        store.close()

    def add(self, count: int) -> None:
        """Put ``count`` rows more into an open store, once more in one call."""
        numbers = range(self._corpus.size, self._corpus.size + count)
        vectors = self._corpus.vectors()[[number % self._corpus.size for number in numbers]]
        self._store.put(list(_rows(numbers.start, count)), vectors)

    def open(self) -> None:
        """See :class:`VectorSystem`."""
        self._store = self._store_class(self._folder, _MODEL)
        self._calibration = self._store.calibration
        if self._calibration is not None:
            self.settings = (_OWN, *_PARTS, _BYTES)

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`VectorSystem`."""
        if setting != self._setting:
            self._tune(setting)
        return [int(near.address.rpartition("#")[2]) for near in self._store.search(vector, TOP)]

    def _tune(self, setting: str) -> None:
        """Make the open store look at another part than it would; nothing is written."""
        made: Any = self._calibration
        if setting == _BYTES:
            made = replace(made, method="int8")
        elif setting != _OWN:
            made = replace(made, method="cascade", fraction=float(setting.removesuffix(" %")) / 100)
        view = self._store._look()
        view.pointer = replace(view.pointer, calibration=made)
        self._setting = setting

    def about(self) -> dict[str, Any]:
        """What the calibration found, and the files by size."""
        made = self._calibration
        known = None if made is None else {name: getattr(made, name) for name in _CALIBRATED}
        files = {entry.name: entry.stat().st_size for entry in os.scandir(self._folder)}
        return {"calibration": known, "files": files}

    def close(self) -> None:
        """See :class:`VectorSystem`."""
        self._store.close()


def _rows(begin: int, count: int) -> Iterator[Any]:
    """Turns of conversations of 500."""
    from memoranda.core.vectors import VectorRow

    for number in range(begin, begin + count):
        parent = f"turn/conv-{number // _CONVERSATION}"
        digest = hashlib.blake2b(str(number).encode(), digest_size=16).hexdigest()
        yield VectorRow(f"{parent}#{number}", parent, _HOME, digest)


#: In the order in which they are measured.
SYSTEMS: dict[str, Callable[[VectorCorpus, str], VectorSystem]] = {
    "ours": Ours,
    "float32": Floats,
    "bits": SignBits,
    "faiss-bits": FaissBits,
    "sqlite-vec": SqliteVec,
    "sqlite-vec-bits": SqliteVecBits,
    "chroma": Chroma,
    "qdrant-local": Qdrant,
    "qdrant-memory": QdrantInMemory,
}
