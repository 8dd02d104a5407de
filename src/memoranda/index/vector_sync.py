"""Vectors kept equal to the files: what is new is embedded, what is gone is wiped, what is as it was costs nothing.

What has been done is noted file by file, after it is in the index: a crash, or
an endpoint that fails, leaves work to do again and never work undone unseen.
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from math import isfinite

from memoranda.core.names import name_key
from memoranda.core.records import dataclass
from memoranda.index.embedded import embedded_text, row_of
from memoranda.index.reference_texts import REFERENCE_PARENT, reference_questions, reference_rows, spread_of
from memoranda.storage.baseline_files import replace_unsynced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from memoranda.core.model import Level
    from memoranda.core.ports import Embedder, VectorIndex
    from memoranda.core.vectors import VectorRow
    from memoranda.index.corpus import Corpus
    from memoranda.index.indexed_files import SourceFile

    Parent = tuple[Level, str, str]
    Progress = Callable[[int, int | None], None]

__all__ = ["SyncState", "Synced", "VectorSync", "is_current"]

#: What changes when :func:`memoranda.index.embedded.embedded_text` does.
_EMBEDDED_VERSION = 3
#: So many entries are read before others get their turn at the corpus.
_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class Synced:
    """What a synchronization did: rows that were embedded, taken out, and left as they were in what it looked at."""

    embedded: int = 0
    removed: int = 0
    unchanged: int = 0


class SyncState:
    """Which files are in the index as they are, in a file beside it. Whatever is wrong with that means: none."""

    def __init__(self, path: str, made_with: list[str | int]) -> None:
        self._path = path
        self._made_with = [_EMBEDDED_VERSION, *made_with]
        #: How far cosines of unrelated texts vary (0 where that is not known), and how many rows there were.
        self.spread, self.rows = 0.0, 0
        #: By path: the stamp, whether it can be trusted, and the parents.
        self.files: dict[str, list[Any]] = self._read()

    def _read(self) -> dict[str, list[Any]]:
        try:
            if not os.path.isfile(self._path):
                return {}
            with open(self._path, "rb") as stream:
                found = json.load(stream)
            if found["made_with"] != self._made_with:
                return {}
            spread, rows = float(found["spread"]), int(found["rows"])
            files = {
                str(path): [list(stamp), bool(settled), [_parent_of(*parent) for parent in parents]]
                for path, (stamp, settled, parents) in found["files"].items()
            }
            if isfinite(spread):
                self.spread, self.rows = spread, rows
            return files
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return {}

    def differs(self, sources: Mapping[str, SourceFile], levels: Collection[Level]) -> bool:
        """Whether any file is not as it is known to be in the index; of another level than these nothing is gone."""
        gone = (path for path, known in self.files.items() if path not in sources and _level_of(known) in levels)
        return any(self.stale(sources)) or any(gone)

    def lags(self, sources: Mapping[str, SourceFile]) -> bool:
        """Whether any file is certain not to be in the index as it is."""
        return any(self.files[path][0] != list(sources[path].stamp) if path in self.files else True
                   for path in self.stale(sources))  # fmt: skip

    def stale(self, sources: Mapping[str, SourceFile]) -> Iterator[str]:
        """The files that are new, or may have changed."""
        for path, file in sources.items():
            known = self.files.get(path)
            if known is None or not known[1] or known[0] != list(file.stamp):
                yield path

    def save(self) -> None:
        """Write it down. Raises OSError."""
        data = {"made_with": self._made_with, "spread": self.spread, "rows": self.rows, "files": self.files}
        replace_unsynced(self._path, json.dumps(data, separators=(",", ":")).encode("ascii"))

    def discard(self) -> None:
        """Nothing is known of any file."""
        self.files = {}
        if os.path.exists(self._path):
            self.save()


class VectorSync:
    """One index brought up to date with one corpus. One at a time works on an index."""

    def __init__(
        self,
        corpus: Corpus,
        index: VectorIndex,
        embedder: Embedder,
        state: SyncState,
        batch: int,
        changing: Callable[[Sequence[VectorRow]], AbstractContextManager[Sequence[VectorRow]]] = nullcontext,
    ) -> None:
        """``changing`` gives the right to change the index, and which of the rows still say what their files say."""
        self._corpus, self._index, self._embedder, self._state = corpus, index, embedder, state
        self._batch, self._changing = batch, changing
        self._waiting: list[tuple[VectorRow, str]] = []
        self._embedded = self._removed = self._unchanged = 0

    def run(
        self,
        sources: Mapping[str, SourceFile],
        progress: Progress | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Synced:
        """Embed and wipe what these files ask for, until that is done or ``stopped`` says so.

        Raises:
            ServiceFailed, MissingExtra: the embedder; what was embedded before is kept, and noted.
            VaultError: the index could not be written.
            OSError: it could not be noted.
        """
        state = self._state
        self._look_at_reference()
        stale = list(state.stale(sources))
        gone = [path for path in state.files if path not in sources]
        claimed = self._parents_of(sources.values())
        for path in gone:
            self._forget(parent for parent in state.files[path][2] if _row_parent(parent) not in claimed)
            del state.files[path]
        if not state.files:
            # Nothing is known: what is in the index and in no file may be there too.
            self._wipe(self._index.parents() - claimed - {REFERENCE_PARENT})
        work = [(path, [*sources[path].parents, *self._former(path, claimed)]) for path in stale]
        total = sum(len(self._documents(parent)) for _, parents in work for parent in parents)
        seen = 0
        for path, parents in work:
            for parent in parents:
                seen += self._look_at(parent)
                while len(self._waiting) >= self._batch:
                    if stopped():
                        return self._result()
                    self._flush(self._batch)
                    if progress is not None:
                        progress(seen - len(self._waiting), total)
            file = sources[path]
            state.files[path] = [list(file.stamp), file.settled, list(file.parents)]
        while self._waiting and not stopped():
            self._flush(self._batch)
            if progress is not None:
                progress(total - len(self._waiting), total)
        if not self._waiting:
            state.rows = len(self._index)
            state.save()
        return self._result()

    def _result(self) -> Synced:
        return Synced(self._embedded, self._removed, self._unchanged)

    def _parents_of(self, sources: Iterable[SourceFile]) -> set[str]:
        return {_row_parent(parent) for file in sources for parent in file.parents}

    def _former(self, path: str, claimed: set[str]) -> list[Parent]:
        """What was of this file and is of none now."""
        known = self._state.files.get(path)
        return [] if known is None else [parent for parent in known[2] if _row_parent(parent) not in claimed]

    def _documents(self, parent: Parent) -> list[int]:
        level, scope, name = parent
        with self._corpus.lock:
            return self._corpus.partition(level, name_key(scope)).of_parent(name)

    def _look_at(self, parent: Parent) -> int:
        """Note what of a parent is to be embedded, and wipe what is not there any more; how many entries it has."""
        level, scope, _ = parent
        held = dict(self._index.held(_row_parent(parent)))
        docs = self._documents(parent)
        for start in range(0, len(docs), _AT_A_TIME):
            with self._corpus.lock:
                entries = self._corpus.partition(level, name_key(scope)).entries
                # What went meanwhile has changed its file, which the next run looks at.
                some = [entries[doc] for doc in docs[start : start + _AT_A_TIME] if doc in entries]
            for entry in some:
                text = embedded_text(entry)
                row = row_of(entry, text)
                if held.pop(entry.address, None) == row.digest:
                    self._unchanged += 1
                else:
                    self._waiting.append((row, text))
        if held:
            with self._changing(()):
                self._index.remove(held)
            self._removed += len(held)
        return len(docs)

    def _look_at_reference(self) -> None:
        """What is near by chance is told by sentences that every index holds."""
        held = dict(self._index.held(REFERENCE_PARENT))
        rows = reference_rows()
        if self._state.spread > 0.0 and held == {row.address: row.digest for row, _ in rows}:
            return
        vectors = self._embedder.embed_documents([text for _, text in rows])
        with self._changing(()):
            self._index.remove(held.keys() - {row.address for row, _ in rows})
            self._index.put([row for row, _ in rows], vectors)
        self._state.spread = spread_of([self._embedder.embed_query(text) for text in reference_questions()], vectors)
        # Paid for once, whatever fails later.
        self._state.save()

    def _forget(self, parents: Iterable[Parent]) -> None:
        self._wipe(map(_row_parent, parents))

    def _wipe(self, parents: Iterable[str]) -> None:
        for parent in parents:
            held = self._index.held(parent)
            with self._changing(()):
                self._index.remove(held)
            self._removed += len(held)

    def _flush(self, count: int) -> None:
        """Embed what waits first. What fails goes on waiting for the next run, which finds it missing."""
        part = self._waiting[:count]
        texts = list(dict.fromkeys(text for _, text in part))
        vectors = dict(zip(texts, self._embedder.embed_documents(texts), strict=True))
        said = dict(part)
        with self._changing(list(said)) as current:
            self._index.put(current, [vectors[said[row]] for row in current])
        del self._waiting[:count]
        self._embedded += len(current)


def is_current(corpus: Corpus, row: VectorRow) -> bool:
    """Whether an entry still is what a row says of it."""
    with corpus.lock:
        entry = corpus.get(row.address)
        return entry is not None and row_of(entry, embedded_text(entry)) == row


def _parent_of(level: Any, scope: Any, name: Any) -> tuple[str, str, str]:
    """A parent as the state has it. Raises ValueError: it is none."""
    if level not in ("item", "resource", "passage") or not isinstance(scope, str) or not isinstance(name, str):
        raise ValueError("no parent")
    return (level, scope, name)


def _level_of(known: list[Any]) -> str:
    """The level of a file as the state has it."""
    return known[2][0][0] if known[2] else "item"


def _row_parent(parent: Parent) -> str:
    """As :func:`memoranda.index.embedded.parent_of` names it."""
    level, _, name = parent
    return name_key(name) if level == "item" else f"turn/{name}" if level == "resource" else name
