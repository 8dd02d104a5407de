"""Vectors that are paid for once: an embedder that keeps what another one gave, in a file of its model."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import IO, TYPE_CHECKING

from memoranda_bench.datasets import DataSet, Document

if TYPE_CHECKING:
    from memoranda.core.ports import Embedder

__all__ = ["CachedEmbedder", "document_texts", "fill", "load"]

_DOCUMENT, _QUERY = b"d", b"q"
_DIGEST = 16
#: The file begins with a line of JSON (model and dimension), filled up with blanks.
_HEAD = 512
_AT_ONCE = 64
_EVERY = 20.0


def load(name: str, folder: str) -> CachedEmbedder:
    """memoranda's own embedder of that provider, with its answers kept in ``folder``.

    Raises:
        ValueError: there is no such provider.
    """
    from memoranda.adapters.embedders import load_embedder
    from memoranda.core.errors import UsageError
    from memoranda.storage.embedding_settings import EmbeddingSettings

    provider, _, model = name.partition(":")
    try:
        embedder = load_embedder(EmbeddingSettings(provider=provider, model=model))
    except UsageError as error:
        raise ValueError(str(error)) from None
    return CachedEmbedder(embedder, folder)


class CachedEmbedder:
    """An :class:`memoranda.core.ports.Embedder` that asks another one only for what was never asked before.

    Texts are known by a digest, documents and questions apart. The file
    ``<model>.vectors`` in ``folder`` only ever grows; several processes may
    share it. ``asked`` counts the texts that the other one had to embed.
    """

    def __init__(self, inner: Embedder, folder: str) -> None:
        """Read what is there of the embedder's model."""
        self._inner = inner
        self.asked = 0
        self._lock = Lock()
        self._known: dict[bytes, bytes] = {}
        self._read_to = _HEAD
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, re.sub(r"[^\w.@-]+", "_", inner.model) + ".vectors")
        self._dimension = self._head()
        self._catch_up()

    @property
    def model(self) -> str:
        """See the port."""
        return self._inner.model

    def warm(self) -> None:
        """See the port: what is kept needs no model."""

    def __len__(self) -> int:
        """How many vectors are held."""
        return len(self._known)

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """See the port. What is new is kept after every 64 texts."""
        self._embed(_DOCUMENT, texts, self._inner.embed_documents)
        return [self._vector(_DOCUMENT, text) for text in texts]

    def embed_query(self, text: str, seconds: float | None = None) -> Sequence[float]:
        """See the port."""
        self._embed(_QUERY, [text], lambda _: [self._inner.embed_query(text, seconds)])
        return self._vector(_QUERY, text)

    def _vector(self, kind: bytes, text: str) -> Sequence[float]:
        return struct.unpack(f"<{self._dimension}f", self._known[_digest(kind, text)])

    def _embed(self, kind: bytes, texts: Sequence[str], ask: Callable[[list[str]], Sequence[Sequence[float]]]) -> None:
        if not self._missing(kind, texts):
            return
        with self._lock:
            self._catch_up()
        wanted = self._missing(kind, texts)
        begin = said = time.monotonic()
        for place in range(0, len(wanted), _AT_ONCE):
            part = wanted[place : place + _AT_ONCE]
            vectors = ask(part)  # without the lock: a question does not wait for documents
            with self._lock:
                self.asked += len(part)
                self._append([(_digest(kind, text), v) for text, v in zip(part, vectors, strict=True)])
            if (now := time.monotonic()) - said > _EVERY:
                said = now
                done = place + len(part)
                print(f"{self.model}: {done:,} of {len(wanted):,}, {done / (now - begin):.0f}/s", file=sys.stderr)

    def _missing(self, kind: bytes, texts: Sequence[str]) -> list[str]:
        return [text for text in dict.fromkeys(texts) if _digest(kind, text) not in self._known]

    def _head(self) -> int:
        """The dimension that the file says; 0: there is no file yet.

        Raises:
            ValueError: it is the file of another model.
        """
        try:
            with open(self.path, "rb") as stream:
                head = json.loads(stream.read(_HEAD))
        except FileNotFoundError:
            return 0
        if head["model"] != self.model:
            raise ValueError(f"{self.path} holds vectors of {head['model']}, not of {self.model}")
        return int(head["dimension"])

    def _catch_up(self) -> None:
        """Read what was appended since, by whichever process; a record that is not whole is left."""
        self._dimension = self._dimension or self._head()
        if not self._dimension:
            return
        size = _DIGEST + 4 * self._dimension
        with open(self.path, "rb") as stream:
            stream.seek(self._read_to)
            while len(record := stream.read(size)) == size:
                self._known[record[:_DIGEST]] = record[_DIGEST:]
                self._read_to += size

    def _append(self, found: Sequence[tuple[bytes, Sequence[float]]]) -> None:
        with _alone(self.path) as stream:
            if not (length := stream.seek(0, os.SEEK_END)):
                head = {"model": self.model, "dimension": len(found[0][1])}
                stream.write(json.dumps(head).encode().ljust(_HEAD - 1) + b"\n")
                length = _HEAD
            self._dimension = self._dimension or self._head_of(stream)
            size = _DIGEST + 4 * self._dimension
            stream.truncate(length - (length - _HEAD) % size)  # what a killed process left unfinished
            stream.seek(0, os.SEEK_END)
            for digest, vector in found:
                if len(vector) != self._dimension:
                    raise ValueError(f"{self.model} gave {len(vector)} numbers, and {self._dimension} before")
                self._known[digest] = struct.pack(f"<{self._dimension}f", *vector)
                stream.write(digest + self._known[digest])

    def _head_of(self, stream: IO[bytes]) -> int:
        stream.flush()
        stream.seek(0)
        return int(json.loads(stream.read(_HEAD))["dimension"])


def _digest(kind: bytes, text: str) -> bytes:
    return hashlib.blake2b(kind + text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


@contextmanager
def _alone(path: str) -> Iterator[IO[bytes]]:
    """The file, open for reading and writing, by one process at a time (where the system has locks)."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600), "r+b") as stream:
        try:
            import fcntl
        except ImportError:
            yield stream
            return
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream
        stream.flush()


def document_texts(documents: Sequence[Document]) -> list[str]:
    """What memoranda embeds of documents, as ``systems.ours`` gives them to it."""
    from memoranda.core.links import find_links
    from memoranda.core.model import Turn
    from memoranda.index.embedded import embedded_text
    from memoranda.index.entries import Entry, turn_entry
    from memoranda_bench.systems.ours import _names

    found = []
    for document, name in zip(documents, _names(), strict=False):
        if document.is_turn:
            said = document.as_turn()
            turn = Turn(said["conversation"], said["turn"], said["text"], said["ts"], said["speaker"], said["role"])
            found.append(embedded_text(turn_entry(turn, document.order)))
        else:
            text = document.text
            item = Entry(f"passages:{name}", "item", "shared", "passages", name, text, "", links=find_links(text))
            found.append(embedded_text(item))
    return found


def fill(embedder: CachedEmbedder, data_set: DataSet) -> int:
    """Embed every document and question of a set; how many texts had to be."""
    before = embedder.asked
    for collection in data_set.collections:
        embedder.embed_documents(document_texts(collection.documents))
        for question in collection.questions:
            embedder.embed_query(question.text)
    return embedder.asked - before
