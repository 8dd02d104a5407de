"""The others that keep vectors on this machine, each as its own documentation has it used."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

from memoranda_bench.systems.interface import require
from memoranda_bench.vectors.corpus import TOP, VectorCorpus
from memoranda_bench.vectors.plain import best_of, keep_floats, looked_at, sign_words

__all__ = ["Chroma", "FaissBits", "Qdrant", "QdrantInMemory", "SqliteVec", "SqliteVecBits"]

_BATCH = 5000
_SAMPLE = 20_000
_NAME = "found"


class _Peer:
    """What they have in common."""

    settings: tuple[str, ...] = ("",)

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        self._corpus, self._folder = corpus, folder

    def _batches(self, rows: int = _BATCH) -> Any:
        vectors = self._corpus.vectors()
        for begin in range(0, len(vectors), rows):
            yield begin, vectors[begin : begin + rows]

    def close(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""


class SqliteVec(_Peer):
    """sqlite-vec by apsw: a ``vec0`` table of floats, which reads all of them. Exact."""

    settings: tuple[str, ...] = ("everything",)
    _tables: tuple[str, ...] = ("CREATE VIRTUAL TABLE {0} USING vec0(vector float[{1}])",)
    _insert: tuple[str, ...] = (f"INSERT INTO {_NAME}(rowid, vector) VALUES (?, ?)",)
    _select = f"SELECT rowid FROM {_NAME} WHERE vector MATCH ? AND k = ? ORDER BY distance"

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        super().__init__(corpus, folder)
        self._apsw, self._extension = require("apsw"), require("sqlite_vec", "sqlite-vec")
        self._connection: Any = None

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._connection = self._apsw.Connection(os.path.join(self._folder, "found.sqlite"))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(self._extension.loadable_path())

    def build(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self.open()
        for table in self._tables:
            self._connection.execute(table.format(_NAME, self._corpus.dimension))
        with self._connection:
            for begin, part in self._batches():
                pairs = [(row, vector.tobytes()) for row, vector in enumerate(part, begin)]
                for insert in self._insert:
                    self._connection.executemany(insert, pairs)
        self._connection.close()

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        return [row for (row,) in self._connection.execute(self._select, (vector.tobytes(), TOP))]


class SqliteVecBits(SqliteVec):
    """sqlite-vec with a ``vec0`` table of bits (one for each number's sign) and the floats of the best beside it."""

    settings: tuple[str, ...] = ("×10", "×40", "×100")
    _tables = (
        "CREATE VIRTUAL TABLE {0} USING vec0(vector bit[{1}])",
        "CREATE TABLE floats(number INTEGER PRIMARY KEY, vector BLOB)",
    )
    _insert = (
        f"INSERT INTO {_NAME}(rowid, vector) VALUES (?, vec_quantize_binary(?))",
        "INSERT INTO floats(number, vector) VALUES (?, ?)",
    )
    _select = (
        f"WITH near AS (SELECT rowid FROM {_NAME} WHERE vector MATCH vec_quantize_binary(?1) AND k = ?2) "
        "SELECT number FROM floats WHERE number IN (SELECT rowid FROM near) "
        "ORDER BY vec_distance_cosine(vector, ?1) LIMIT ?3"
    )

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        count = looked_at(setting, self._corpus.size)
        return [row for (row,) in self._connection.execute(self._select, (vector.tobytes(), count, TOP))]


class Chroma(_Peer):
    """Chroma's persistent client with its own settings but for cosine: HNSW, which is held in memory."""

    settings: tuple[str, ...] = ("HNSW",)

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        super().__init__(corpus, folder)
        self._chroma = require("chromadb")
        self._client: Any = None
        self._collection: Any = None

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        settings = self._chroma.Settings(anonymized_telemetry=False)
        self._client = self._chroma.PersistentClient(os.path.join(self._folder, "chroma"), settings)
        self._collection = self._client.get_or_create_collection(
            _NAME, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def build(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self.open()
        for begin, part in self._batches():
            self._collection.add(ids=[str(begin + row) for row in range(len(part))], embeddings=part)

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        found = self._collection.query(query_embeddings=[vector], n_results=TOP, include=["distances"])
        return [int(row) for row in found["ids"][0]]


class Qdrant(_Peer):
    """qdrant-client without a server: numpy over everything, kept in SQLite. Exact."""

    settings: tuple[str, ...] = ("everything",)

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        super().__init__(corpus, folder)
        self._qdrant = require("qdrant_client", "qdrant-client")
        self._models = require("qdrant_client.models", "qdrant-client")
        self._client: Any = None
        logging.getLogger("qdrant_client").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", module="qdrant_client")

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._client = self._qdrant.QdrantClient(path=os.path.join(self._folder, "qdrant"))

    def build(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self.open()
        self._fill()
        self._client.close()

    def _fill(self) -> None:
        space = self._models.VectorParams(size=self._corpus.dimension, distance=self._models.Distance.COSINE)
        self._client.create_collection(_NAME, vectors_config=space)
        for begin, part in self._batches(1000):
            ids = list(range(begin, begin + len(part)))
            self._client.upsert(_NAME, self._models.Batch(ids=ids, vectors=part.tolist()))

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        found = self._client.query_points(_NAME, query=vector.tolist(), limit=TOP, with_payload=False)
        return [int(point.id) for point in found.points]

    def close(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._client.close()


class QdrantInMemory(Qdrant):
    """qdrant-client without a server and without a file: it is filled anew by each process that opens it.

    It scans as the one with a file does, and holds a fraction of the memory: that
    one reads every point back as Python objects when it is opened.
    """

    def build(self) -> None:
        """Nothing is left on disk; what it takes is part of ``open``."""

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._client = self._qdrant.QdrantClient(location=":memory:")
        self._fill()


class FaissBits(_Peer):
    """FAISS over sign bits with the mean taken off before, one thread; then the floats of the best."""

    settings: tuple[str, ...] = ("centred ×40", "centred ×100", "centred ×400")

    def __init__(self, corpus: VectorCorpus, folder: str) -> None:
        """Raises SystemMissing."""
        super().__init__(corpus, folder)
        self._numpy, self._faiss = require("numpy"), require("faiss", "faiss-cpu")
        self._faiss.omp_set_num_threads(1)
        self._index: Any = None
        self._vectors: Any = None
        self._mean: Any = None

    def build(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        numpy, vectors = self._numpy, self._corpus.vectors()
        mean = numpy.asarray(vectors[:_SAMPLE]).mean(axis=0)
        index = self._faiss.IndexBinaryFlat(self._corpus.dimension // 64 * 64)
        for _, part in self._batches():
            index.add(sign_words(part - mean).view(numpy.uint8))
        self._faiss.write_index_binary(index, self._file("bits"))
        numpy.save(self._file("mean.npy"), mean)
        keep_floats(self._corpus, self._file("floats.npy"))

    def open(self) -> None:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        self._index = self._faiss.read_index_binary(self._file("bits"))
        self._mean = self._numpy.load(self._file("mean.npy"))
        self._vectors = self._numpy.load(self._file("floats.npy"), mmap_mode="r")

    def ask(self, vector: Any, setting: str) -> list[int]:
        """See :class:`memoranda_bench.vectors.systems.VectorSystem`."""
        count = looked_at(setting.partition(" ")[2], self._corpus.size)
        asked = sign_words((vector - self._mean)[None]).view(self._numpy.uint8)
        _, rows = self._index.search(asked, count)
        return best_of(self._vectors, rows[0], vector)

    def _file(self, name: str) -> str:
        return os.path.join(self._folder, name)
