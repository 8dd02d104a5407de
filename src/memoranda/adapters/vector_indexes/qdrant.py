"""Qdrant (https://qdrant.tech): a server, where ``url`` names one, or its client's own store in a folder.

A point has a number, a vector, and as payload its home and its parent, by which
it is filtered; no address and no text.

The store in a folder is of one process at a time (others are told ``VaultBusy``),
holds every vector in memory, looks at all of them, and keeps them pickled: who
may write into the folder may run code as its reader.

A server keeps a collection a folder, named after this machine and the folder: a
vault that is moved leaves its collection behind. How a server wipes what is
deleted is its own affair: it does when it next writes the segment anew. Where it
asks for a key, that is the environment variable ``QDRANT_API_KEY``.
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
from memoranda.core.errors import MemorandaError, MissingExtra, ServiceFailed, UsageError, VaultBusy, VaultFull

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from memoranda.adapters.vector_indexes.accounted import Kept
    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["open_index"]

#: Points sent at once: a server takes 32 MB.
_BATCH = 500
#: How many of a server's graph are looked at for one question, at least.
_WIDTH = 256
_KEY = "QDRANT_API_KEY"

_opened: dict[str, _Local] = {}
_opening = threading.Lock()


def open_index(folder: str, model: str, settings: EmbeddingSettings) -> AccountedIndex:
    """The index of a folder. Raises ImportError, UsageError."""
    # Whether the package is there shows at once; it is imported when it is first asked, for that takes a second.
    from importlib.util import find_spec

    if find_spec("qdrant_client") is None:
        raise ImportError("No module named 'qdrant_client'", name="qdrant_client")
    real = os.path.realpath(folder)
    store: _Local | _Server
    if settings.url:
        store, name = _Server(settings.url, settings.timeout), _collection_of(real)
    else:
        store, name = _local(os.path.join(real, "qdrant")), "vectors"
    engine = _Qdrant(store, name)
    return AccountedIndex(engine, Ledger(os.path.join(folder, "ledger.sqlite"), model, sqlite_connect, engine.wipe))


class _Server:
    """A client of a server, opened when first asked."""

    def __init__(self, url: str, timeout: float) -> None:
        import math
        from urllib.parse import urlsplit

        self.where, self._timeout = url, max(1, math.ceil(timeout))
        self._key = os.environ.get(_KEY) or None
        parts = urlsplit(url)
        if self._key and parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise UsageError(f"{url}: the key in {_KEY} would be sent in the clear; write https://")
        self._lock = threading.Lock()
        self._client: Any = None

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """The client; it may be asked by several threads."""
        with self._lock:
            if self._client is None:
                self._client = import_module("qdrant_client").QdrantClient(
                    url=self.where, api_key=self._key, timeout=self._timeout, check_compatibility=False
                )
        yield self._client

    def flush(self) -> None:
        """It is the server's to wipe."""

    def erase(self, name: str) -> None:
        """Delete the collection."""
        with self.asked() as client:
            client.delete_collection(name)

    def translated(self, error: Exception) -> Exception:
        """Whatever it answers, or does not, is a fault of the service; a collection that is not there was lost."""
        if getattr(error, "status_code", None) == 404:
            return Damaged(f"{self.where}: the collection is lost")
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return ServiceFailed(f"{self.where}: Qdrant: {reason[:300]}")

    def close(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close()


class _Local:
    """The one client that a process has of a folder, asked by one thread at a time."""

    def __init__(self, path: str) -> None:
        self.where, self.users = path, 0
        self._lock = threading.RLock()
        self._client: Any = None

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """The client, for us alone."""
        with self._lock:
            if self._client is None:
                os.makedirs(self.where, mode=0o700, exist_ok=True)
                self._client = import_module("qdrant_client").QdrantClient(path=self.where)
            for storage in self._storages():
                # As it comes, it would wait for the disk at every point, and leave what is deleted in the file.
                for pragma in ("secure_delete=ON", "journal_mode=WAL", "synchronous=NORMAL"):
                    storage.execute(f"PRAGMA {pragma}").fetchall()
            yield self._client

    def flush(self) -> None:
        """Empty the log, which has what was deleted."""
        with self._lock:
            for storage in self._storages():
                storage.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def erase(self, name: str) -> None:
        """Close, and delete the folder."""
        with self._lock:
            self._shut()
            try:
                shutil.rmtree(self.where)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise disk_fault(error, self.where) from error

    def translated(self, error: Exception) -> Exception:
        """Its errors are those of the disk, of SQLite, of pickle, and of another process that was here first."""
        if isinstance(error, OSError):
            return disk_fault(error, self.where)
        if isinstance(error, ImportError):
            return MissingExtra(f'index = "qdrant" ({error})', "qdrant")
        text = str(error)
        if isinstance(error, RuntimeError) and "already accessed" in text:
            return VaultBusy(f"{self.where}: another process has it open; a server of Qdrant (url) serves several")
        if "is full" in text:
            return VaultFull(f"{self.where}: {text}")
        if "locked" in text:
            return VaultBusy(f"{self.where}: {text}")
        return Damaged(f"{self.where}: Qdrant: {text or type(error).__name__}")

    def close(self) -> None:
        """Close the client with its last user."""
        with _opening:
            self.users -= 1
            if not self.users:
                _opened.pop(self.where, None)
                with self._lock:
                    self._shut()

    def _shut(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close()

    def _storages(self) -> Iterator[Any]:
        collections = getattr(getattr(self._client, "_client", None), "collections", {})
        for one in collections.values():
            if (found := getattr(getattr(one, "storage", None), "storage", None)) is not None:
                yield found


def _local(path: str) -> _Local:
    with _opening:
        found = _opened.setdefault(path, _Local(path))
        found.users += 1
        return found


def _collection_of(folder: str) -> str:
    """The collection of a folder of this machine."""
    import platform

    named = f"{platform.node()}\0{folder}".encode("utf-8", "surrogateescape")
    return "memoranda-" + blake2b(named, digest_size=12).hexdigest()


class _Qdrant:
    """One collection."""

    inside = False

    def __init__(self, store: _Local | _Server, name: str) -> None:
        self._store, self._name = store, name
        self._closed = False

    def prepare(self, connection: Any, dimension: int) -> None:
        """Make the collection, and what it is filtered by."""
        self.wipe()
        with self._asked() as (client, models):
            params = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
            client.create_collection(self._name, vectors_config=params)
            if isinstance(self._store, _Server):
                for field in ("home", "parent"):
                    client.create_payload_index(self._name, field, field_schema=models.PayloadSchemaType.KEYWORD)

    def add(self, connection: Any, kept: Sequence[Kept], matrix: Any) -> None:
        """Send the points, and wait until they stand."""
        with self._asked() as (client, models):
            for start in range(0, len(kept), _BATCH):
                part = kept[start : start + _BATCH]
                points = models.Batch(
                    ids=[one.id for one in part],
                    vectors=matrix[start : start + _BATCH].tolist(),
                    payloads=[{"home": _sent(one.home), "parent": _sent(one.parent)} for one in part],
                )
                client.upsert(self._name, points=points, wait=True)

    def discard(self, connection: Any, kept: Sequence[tuple[int, str]]) -> None:
        """Delete the points."""
        with self._asked() as (client, models):
            for start in range(0, len(kept), _BATCH):
                ids = [id for id, _ in kept[start : start + _BATCH]]
                client.delete(self._name, points_selector=models.PointIdsList(points=ids), wait=True)

    def nearest(self, connection: Any, question: Any, count: int, homes: Sequence[tuple[str, int]]) -> set[int] | None:
        """The nearest of these homes."""
        many = min(count, sum(one for _, one in homes))
        (all_homes,) = connection.execute("SELECT count(*) FROM homes WHERE filled > 0").fetchone()
        with self._asked() as (client, models):
            chosen = None
            if len(homes) < all_homes:
                wanted = models.MatchAny(any=[_sent(home) for home, _ in homes])
                chosen = models.Filter(must=[models.FieldCondition(key="home", match=wanted)])
            # The store in a folder looks at all, and warns of a width.
            width = models.SearchParams(hnsw_ef=max(_WIDTH, many)) if isinstance(self._store, _Server) else None
            answer = client.query_points(
                self._name,
                query=question.tolist(),
                limit=many,
                query_filter=chosen,
                search_params=width,
                with_payload=False,
            ).points
        return {int(one.id) for one in answer} if len(answer) >= many else None

    def vectors(self, connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        """The vectors, batch by batch."""
        found: dict[int, Any] = {}
        with self._asked() as (client, _):
            for start in range(0, len(kept), _BATCH):
                ids = [id for id, _ in kept[start : start + _BATCH]]
                points = client.retrieve(self._name, ids=ids, with_payload=False, with_vectors=True)
                found.update((int(one.id), one.vector) for one in points)
        return found

    def flush(self) -> None:
        """Wipe what is deleted, where that is ours to do."""
        with self._asked():
            self._store.flush()

    def wipe(self) -> None:
        """Delete the collection."""
        try:
            self._store.erase(self._name)
        except MemorandaError:
            raise
        except Exception as error:
            translated = self._store.translated(error)
            if not isinstance(translated, Damaged):
                raise translated from error

    def close(self) -> None:
        """Close the client."""
        if not self._closed:
            self._closed = True
            self._store.close()

    @contextmanager
    def _asked(self) -> Iterator[tuple[Any, Any]]:
        try:
            with self._store.asked() as client:
                yield client, import_module("qdrant_client.models")
        except (Damaged, MemorandaError):
            raise
        except Exception as error:
            raise self._store.translated(error) from error


def _sent(text: str) -> str:
    """A text as JSON can carry it."""
    return text.encode("utf-8", "backslashreplace").decode()
