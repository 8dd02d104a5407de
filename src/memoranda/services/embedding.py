"""A vault's vectors: asked at each question, never waited for beyond its deadline, kept up in the background."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

from memoranda.core.errors import MemorandaError, ServiceFailed, VaultBusy
from memoranda.core.records import dataclass
from memoranda.index.reference_texts import REFERENCE_PARENT
from memoranda.index.segment_format import SegmentDamaged
from memoranda.index.vector_spaces import SYNC_STATE, VectorSpaces
from memoranda.index.vector_sync import Synced, SyncState, VectorSync
from memoranda.retrieval.dense import QueryVector
from memoranda.storage.locks import VaultLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from memoranda.core.model import Level
    from memoranda.core.ports import Embedder, VectorIndex
    from memoranda.services.contents import Contents, Progress
    from memoranda.storage.store import Storage

__all__ = ["Embedding", "EmbeddingStatus"]

#: Who holds it puts vectors into the index; nobody else does.
_LOCK = ".lock-vectors"
_LEVELS: tuple[Level, ...] = ("item", "resource")
#: Seconds after which what failed is tried again: the first time, and at most.
_SOON, _LATEST = 1.0, 60.0
#: Seconds between two looks for what is not embedded.
_LOOK_EVERY = 1.0
_QUESTIONS_HELD = 256
_SETTLING = 0.2
#: Seconds that wiping waits for who is embedding.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """Vectors in numbers. ``fault`` is what failed last, in words, since nothing has worked after it."""

    model: str
    index: str
    rows: int
    dimension: int
    current: bool
    fault: str = ""
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


class _Backoff:
    """Waits longer each time that something fails, and not at all once it has worked."""

    def __init__(self) -> None:
        self.fault = ""
        self._pause = 0.0
        self._until = 0.0

    def left(self) -> float:
        """Seconds until it may be tried again."""
        return max(0.0, self._until - time.monotonic())

    def failed(self, fault: str) -> None:
        self.fault = fault
        self._pause = min(_LATEST, self._pause * 2 or _SOON)
        self._until = time.monotonic() + self._pause

    def worked(self) -> None:
        self.fault, self._pause, self._until = "", 0.0, 0.0


class Embedding:
    """The vectors of one vault in one process. Safe from several threads.

    ``open_index`` opens the index in a folder for a model. With ``in_process``
    what is missing is embedded by a thread of this process, else by ``begin``,
    which starts a process for it.
    """

    def __init__(
        self,
        storage: Storage,
        contents: Contents,
        embedder: Embedder,
        index_name: str,
        open_index: Callable[[str, str], VectorIndex],
        *,
        batch: int = 64,
        begin: Callable[[], object] | None = None,
    ) -> None:
        self._storage, self._contents, self._embedder = storage, contents, embedder
        self._index_name, self._open_index, self._batch = index_name, open_index, batch
        self._begin = begin
        self._lock = VaultLock(storage.vault.path(_LOCK), 0.0)
        self._opening = threading.Lock()
        self._spaces: VectorSpaces | None = None
        self._index: VectorIndex | None = None
        self._opened_in = ""
        self._questions: dict[str, Sequence[float]] = {}
        self._asking, self._syncing = _Backoff(), _Backoff()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._begun = self._is_warm = False
        self._looked = float("-inf")
        self._spread = 0.0

    @property
    def model(self) -> str:
        """The space that the vectors are of."""
        return self._embedder.model

    def vector_of(self, text: str, seconds: float | None) -> QueryVector:
        """The vector of a question with the index that it is to be held against.

        Raises:
            ServiceFailed: the endpoint failed lately, fails, or is too slow; or nothing is embedded yet.
            MissingExtra, VaultError: see the ports.
        """
        index = self._opened()
        if not len(index):
            raise ServiceFailed("nothing is embedded yet" + (f" ({fault})" if (fault := self._syncing.fault) else ""))
        known = self._questions.get(text)
        if known is None:
            if wait := self._asking.left():
                raise ServiceFailed(f"{self._asking.fault} (asked again in {wait:.0f} s)")
            try:
                known = self._embedder.embed_query(text, seconds)
            except ServiceFailed as error:
                self._asking.failed(str(error))
                raise
            self._asking.worked()
            if len(self._questions) >= _QUESTIONS_HELD:
                self._questions.clear()
            self._questions[text] = known
        if len(known) != index.dimension:
            raise ServiceFailed(f"the model gives {len(known)} numbers, the vectors have {index.dimension}")
        return QueryVector(text, known, index, self._known_spread())

    def _known_spread(self) -> float:
        if not self._spread:
            with suppress(MemorandaError, OSError):
                self._spread = self._state().spread
        return self._spread

    def warm(self) -> None:
        """Make ready what takes long the first time. What fails is met again by who asks."""
        if not self._is_warm:
            self._is_warm = True
            with suppress(MemorandaError):
                self._embedder.warm()

    def look_after(self, changed: bool = False) -> None:
        """Have embedded, in the background, what is not. Looks once a second at most, but for what has ``changed``."""
        if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()) or self._syncing.left():
            return
        now = time.monotonic()
        if not changed and now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        with suppress(MemorandaError, SegmentDamaged, OSError):
            if not changed and not self._is_stale():
                return
            if self._begin is not None:
                if not self._begun:
                    self._begun = True
                    self._begin()
                return
            self._thread = threading.Thread(target=self._keep_up, name="memoranda-vectors", daemon=True)
            self._thread.start()

    def sync(self, progress: Progress | None = None, *, anew: bool = False, patience: float = 0.0) -> Synced:
        """Embed what is not embedded and wipe what is gone; ``anew``: everything, whatever there is.

        Raises:
            VaultBusy: another process does so.
            ServiceFailed, MissingExtra, VaultError.
        """
        self._lock.acquire(patience)
        try:
            self._contents.refresh(_LEVELS)
            index = self._opened()
            state = self._state()
            if anew:
                index.clear()
            if anew or not len(index):
                state.discard()
            done = VectorSync(self._contents.corpus, index, self._embedder, state, self._batch).run(
                self._contents.sources(), progress, self._closed.is_set
            )
            if not self._closed.is_set():
                self._settle()
        except OSError as error:
            raise ServiceFailed(f"vectors could not be kept: {error}") from error
        finally:
            self._lock.release()
        self._syncing.worked()
        return done

    def status(self) -> EmbeddingStatus:
        """How things stand. Raises MissingExtra, VaultError."""
        index = self._opened()
        self._contents.refresh(_LEVELS)
        detail = getattr(index, "calibration", None)
        return EmbeddingStatus(
            self.model,
            self._index_name,
            max(0, len(index) - len(index.held(REFERENCE_PARENT))),
            index.dimension,
            not self._is_stale(),
            self._syncing.fault or self._asking.fault or str(getattr(index, "fault", "") or ""),
            "" if detail is None else str(detail),
        )

    def wipe(self, addresses: Collection[str]) -> bool:
        """Wipe single rows at once; whether that was possible, and there are no vectors anywhere else."""
        try:
            # Who is embedding just now is waited for: it may be about to put one of them in.
            self._lock.acquire(_PATIENCE)
        except VaultBusy:
            return False
        try:
            self._opened().remove(addresses)
            return not self._places().others()
        except Exception:  # all of them can be thrown away instead
            return False
        finally:
            self._lock.release()

    def close(self) -> None:
        """Stop what goes on in the background, after the batch that it is at."""
        self._closed.set()
        thread = self._thread
        if thread is not None and thread.is_alive():
            thread.join(1.0)
        with self._opening:
            if self._index is not None and (thread is None or not thread.is_alive()):
                self._index.close()
                self._index = None

    def _keep_up(self) -> None:
        """The thread: until everything is embedded, however often it fails."""
        # Changes come in bursts: a moment later they are one batch.
        while not self._closed.wait(max(_SETTLING, self._syncing.left())):
            try:
                self.sync()
            except VaultBusy:
                # Another process is at it; when that is done, or dies, is seen at a later question.
                return
            except Exception as error:  # nobody is there to hear it: it is kept for the status
                self._syncing.failed(str(error) or type(error).__name__)
                continue
            if not self._is_stale():
                return

    def _is_stale(self) -> bool:
        return self._state().differs(self._contents.sources())

    def _state(self) -> SyncState:
        return SyncState(os.path.join(self._places().folder(), SYNC_STATE), [self._index_name, self.model])

    def _places(self) -> VectorSpaces:
        if self._spaces is None:
            cache = self._storage.vault.path(".cache")
            self._storage.vault.check_inside(cache, ".cache")
            self._spaces = VectorSpaces(cache, self._index_name, self.model)
        return self._spaces

    def _opened(self) -> VectorIndex:
        """The index where it lies now: another process may have put it in its place meanwhile."""
        with self._opening:
            folder = self._places().folder()
            if self._index is None or folder != self._opened_in:
                self._index, self._opened_in = self._open_index(folder, self.model), folder
            return self._index

    def _settle(self) -> None:
        with self._opening:
            if self._places().settle():
                # Who is reading it goes on with what it has open.
                self._index = None
