"""Chroma (https://docs.trychroma.com), embedded: a collection a scope, the level in the metadata.

Chroma finds by a graph, so that among many thousand vectors one of the nearest
may be missed; cosines and order are exact. It is told numbers and vectors, no
address and no text, and embeds nothing itself. A vector that is removed is
overwritten before it is deleted. Chroma does not notice what other processes
write: whether they did is seen by its file, and it is opened again. It has no
isolation between processes, so that a reader beside a writer may have to wait,
or find nothing until it asks again; and its graph is read unchecked: damaged
bytes in it may end the process.
"""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib import import_module

from memoranda.adapters.vector_indexes.accounted import AccountedIndex
from memoranda.adapters.vector_indexes.ledger import Damaged, Ledger, disk_fault, sqlite_connect
from memoranda.core.errors import MissingExtra, VaultBusy, VaultError, VaultFull, VaultReadOnly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from memoranda.adapters.vector_indexes.accounted import Kept
    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["open_index"]

#: Wide enough that hardly one of the nearest is missed; written out after every change, that no log keeps vectors.
_GRAPH = {
    "space": "cosine",
    "ef_construction": 200,
    "max_neighbors": 32,
    "ef_search": 400,
    "batch_size": 2,
    "sync_threshold": 2,
}
#: Rows that are read or written at once; Chroma takes no more than some 5,400.
_BATCH = 2000

_opened: dict[str, _Shared] = {}
_opening = threading.Lock()


def open_index(folder: str, model: str, settings: EmbeddingSettings) -> AccountedIndex:
    """The index in a folder. Raises ImportError."""
    engine = _Chroma(os.path.join(os.path.realpath(folder), "chroma"))
    return AccountedIndex(engine, Ledger(os.path.join(folder, "ledger.sqlite"), model, sqlite_connect, engine.wipe))


class _Shared:
    """The one client that a process has of a folder: asked by one thread at a time, opened when first asked."""

    def __init__(self, path: str) -> None:
        self.path, self.users = path, 0
        self.lock = threading.RLock()
        self._client: Any = None
        self._seen: tuple[int, ...] = ()

    def client(self) -> Any:
        """The client, opened anew if somebody else wrote."""
        if self._client is not None and self._seen != self._look():
            self.shut()
        if self._client is None:
            chromadb = import_module("chromadb")
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            settings = chromadb.config.Settings(anonymized_telemetry=False)
            self._client = chromadb.PersistentClient(path=self.path, settings=settings)
            self.wrote()
        return self._client

    def wrote(self) -> None:
        """What the file is now is our own doing."""
        self._seen = self._look()

    def shut(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is None:
            return
        with suppress(Exception):
            if hasattr(client, "close"):
                client.close()
            else:
                # Earlier versions keep what they opened for good.
                type(client)._identifier_to_system.pop(client._identifier).stop()

    def _look(self) -> tuple[int, ...]:
        try:
            status = os.stat(os.path.join(self.path, "chroma.sqlite3"))
        except OSError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns


class _Chroma:
    """The collections under a path."""

    inside = False

    def __init__(self, path: str) -> None:
        # Whether the package is there shows at once; it is imported when it is first asked, for that takes a second.
        from importlib.util import find_spec

        if find_spec("chromadb") is None:
            raise ImportError("No module named 'chromadb'", name="chromadb")
        with _opening:
            self._shared = _opened.setdefault(path, _Shared(path))
            self._shared.users += 1
        self._closed = False

    def prepare(self, connection: Any, dimension: int) -> None:
        """A collection takes its dimension from its first vector."""
        self.wipe()

    def add(self, connection: Any, kept: Sequence[Kept], matrix: Any) -> None:
        """Add, batch by batch, to the collection of each scope."""
        scopes: dict[str, list[int]] = {}
        for place, one in enumerate(kept):
            scopes.setdefault(_parted(one.home)[1], []).append(place)
        with self._asked(), self._writing() as client:
            for scope, places in scopes.items():
                # Chroma would load a model of its own for a collection that names none.
                collection = client.get_or_create_collection(
                    _named(scope), embedding_function=None, configuration={"hnsw": _GRAPH}
                )
                for part in _parts(places):
                    collection.add(
                        ids=[str(kept[place].id) for place in part],
                        embeddings=matrix[part],
                        metadatas=[{"level": _parted(kept[place].home)[0]} for place in part],
                    )

    def discard(self, connection: Any, kept: Sequence[tuple[int, str]]) -> None:
        """Overwrite, then delete."""
        with self._asked(), self._writing() as client:
            for scope, ids in _by_scope(kept).items():
                collection = _collection(client, scope)
                if collection is None:
                    continue
                for part in _parts(ids):
                    there = collection.get(ids=part, limit=len(part), include=[])["ids"]
                    if not there:
                        continue
                    length = len(collection.get(ids=there[:1], include=["embeddings"])["embeddings"][0])
                    collection.update(ids=there, embeddings=[[1.0] + [0.0] * (length - 1)] * len(there))
                    collection.delete(ids=there)

    def nearest(self, connection: Any, question: Any, count: int, homes: Sequence[tuple[str, int]]) -> set[int] | None:
        """The nearest of each scope."""
        scopes: dict[str, dict[str, int]] = {}
        for home, many in homes:
            level, scope = _parted(home)
            scopes.setdefault(scope, {})[level] = many
        found: set[int] = set()
        with self._asked() as client:
            for scope, levels in scopes.items():
                collection = _found(client, scope)
                many = min(count, sum(levels.values()))
                answer = collection.query(
                    query_embeddings=[question.astype("float32")],
                    n_results=many,
                    where={"level": {"$in": list(levels)}},
                    include=[],
                )["ids"][0]
                if len(answer) < many:
                    return None
                found.update(int(id) for id in answer)
        return found

    def vectors(self, connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        """The vectors, batch by batch."""
        found: dict[int, Any] = {}
        with self._asked() as client:
            for scope, ids in _by_scope(kept).items():
                collection = _found(client, scope)
                for part in _parts(ids):
                    got = collection.get(ids=part, limit=len(part), include=["embeddings"])
                    found.update(zip(map(int, got["ids"]), got["embeddings"], strict=True))
        return found

    def flush(self) -> None:
        """Write Chroma's own file anew: its pages that are free still have what was in them."""
        with self._asked():
            self._shared.shut()
            # Nobody in this process has the file open now: closing it here would take their locks away.
            connection = sqlite_connect(os.path.join(self._shared.path, "chroma.sqlite3"))
            try:
                connection.execute("PRAGMA secure_delete=ON")
                connection.execute("VACUUM")
            finally:
                connection.close()

    def wipe(self) -> None:
        """Close, and delete the folder."""
        with self._shared.lock:
            self._shared.shut()
            try:
                shutil.rmtree(self._shared.path)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise disk_fault(error, self._shared.path) from error

    def close(self) -> None:
        """Close the client with its last user."""
        with _opening:
            if self._closed:
                return
            self._closed = True
            self._shared.users -= 1
            if not self._shared.users:
                _opened.pop(self._shared.path, None)
                with self._shared.lock:
                    self._shared.shut()

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """The client, for us alone; its errors are told as ours."""
        with self._shared.lock:
            try:
                yield self._shared.client()
            except (Damaged, VaultError):
                raise
            except Exception as error:
                # What it holds in memory may be half of a change.
                self._shared.shut()
                raise _translated(error, self._shared.path) from error

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        try:
            yield self._shared.client()
        finally:
            self._shared.wrote()


def _parted(home: str) -> tuple[str, str]:
    """The level and the scope of a home."""
    level, _, scope = home.partition(" ")
    return level, scope


def _named(scope: str) -> str:
    """A name that a collection may have, whatever the scope is called."""
    return "scope-" + blake2b(scope.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _by_scope(kept: Sequence[tuple[int, str]]) -> dict[str, list[str]]:
    scopes: dict[str, list[str]] = {}
    for id, home in kept:
        scopes.setdefault(_parted(home)[1], []).append(str(id))
    return scopes


def _parts(places: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(places), _BATCH):
        yield places[start : start + _BATCH]


def _collection(client: Any, scope: str) -> Any:
    """The collection of a scope; ``None``: there is none."""
    try:
        return client.get_collection(_named(scope), embedding_function=None)
    except import_module("chromadb.errors").NotFoundError:
        return None


def _found(client: Any, scope: str) -> Any:
    collection = _collection(client, scope)
    if collection is None:
        raise Damaged("a collection of Chroma is lost")
    return collection


def _translated(error: Exception, path: str) -> Exception:
    if isinstance(error, OSError):
        return disk_fault(error, path)
    if isinstance(error, ImportError):
        return MissingExtra(f'index = "chroma" ({error})', "chroma")
    message, text = f"{path}: Chroma: {error}", str(error).casefold()
    if "locked" in text or "busy" in text:
        return VaultBusy(message)
    if "disk is full" in text or "no space left" in text:
        return VaultFull(message)
    if "readonly" in text or "read-only" in text or "permission denied" in text:
        return VaultReadOnly(message)
    return Damaged(message)
