"""A vault's vectors: asked at each question, never waited for beyond its deadline, kept up in the background."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress

from memoranda.core.errors import MemorandaError, ServiceFailed, VaultBusy
from memoranda.core.records import dataclass
from memoranda.index.reference_texts import REFERENCE_PARENT
from memoranda.index.segment_format import SegmentDamaged
from memoranda.index.vector_spaces import KEYS_FILE, SYNC_STATE, VectorSpaces, is_named
from memoranda.index.vector_sync import Synced, SyncState, VectorSync, is_current
from memoranda.retrieval.dense import QueryVector
from memoranda.services.backoff import LATEST, Backoff
from memoranda.services.embedded_part import EmbeddedPart
from memoranda.storage.baseline_files import replace_unsynced
from memoranda.storage.locks import VaultLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

    from memoranda.core.model import Level
    from memoranda.core.ports import Embedder, VectorIndex
    from memoranda.core.vectors import VectorRow
    from memoranda.index.indexed_files import SourceFile
    from memoranda.services.contents import Contents, Progress
    from memoranda.storage.store import Storage

__all__ = ["Embedding", "EmbeddingStatus"]

#: Who holds the first embeds, which may take long; who holds the second changes the index, which does not.
_TURN, _ROWS = ".lock.vectors", ".lock.vectors.rows"
#: What failed last, for other processes.
_FAULT = ".cache/vectors.fault"
_LEVELS: tuple[Level, ...] = ("item", "resource", "passage")
_WHOLE = EmbeddedPart()
#: Seconds between two looks for what is not embedded.
_LOOK_EVERY = 1.0
_QUESTIONS_HELD = 256
#: Seconds that changes are given to come together, and that one change of the index is waited for.
_SETTLING, _PATIENCE = 0.2, 20.0


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


class Embedding:
    """The vectors of one vault in one process. Safe from several threads.

    ``open_index`` opens the index in a folder for a model. What is missing is
    embedded by a thread of this process, or by the process that ``begin``
    starts. ``is_wanted`` tells whether the settings still name this embedder:
    vectors that nobody wants any more must not take the place of others.
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
        is_wanted: Callable[[], bool] = lambda: True,
        part: EmbeddedPart = _WHOLE,
    ) -> None:
        self._storage, self._contents, self._embedder = storage, contents, embedder
        self._index_name, self._open_index, self._batch = index_name, open_index, batch
        self._begin, self._is_wanted = begin, is_wanted
        self._part = part
        self._turn = VaultLock(storage.vault.path(part.lock(_TURN)), 0.0)
        self._rows = VaultLock(storage.vault.path(part.lock(_ROWS)), _PATIENCE)
        self._opening, self._starting = threading.Lock(), threading.RLock()
        self._spaces: VectorSpaces | None = None
        self._index: VectorIndex | None = None
        self._opened_in = ""
        self._questions: dict[str, Sequence[float]] = {}
        self._asking, self._syncing = Backoff(), Backoff()
        self._loading: threading.Thread | None = None
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._looked = self._begun = float("-inf")
        self._stale = self._behind = self._again = False
        self._spread = 0.0

    @property
    def model(self) -> str:
        """The space that the vectors are of."""
        return self._embedder.model

    def vector_of(self, text: str, seconds: float | None, *, patient: bool = False) -> QueryVector:
        """The vector of a question with the index that it is to be held against.

        ``patient``: what is loaded once, a model in this process, is waited for
        beyond the ``seconds``, like the first reading of the files.

        Raises:
            ServiceFailed: the endpoint failed lately, fails, or is too slow; or nothing is embedded yet.
            MissingExtra, VaultError: see the ports.
        """
        index = self._opened()
        if not len(index):
            fault = self._syncing.fault or self._known_fault() or str(getattr(index, "fault", "") or "")
            raise ServiceFailed(f"nothing is embedded yet{fault and f' ({fault})'}")
        known = self._questions.get(text)
        if known is None:
            if wait := self._asking.left():
                raise ServiceFailed(f"{self._asking.fault} (asked again in {wait:.0f} s)")
            self._load(None if patient else seconds)
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
        self._look()
        note = "vectors: not everything is embedded yet" if self._behind else ""
        return QueryVector(text, known, index, self._known_spread(), note)

    def _load(self, seconds: float | None) -> None:
        """See that what takes long the first time is there, or give up in time. What fails is met again by who asks."""
        if self._loading is None:
            self._loading = threading.Thread(target=self._warm, name="memoranda-model", daemon=True)
            self._loading.start()
        if self._loading.is_alive():
            self._loading.join(seconds)
            if self._loading.is_alive():
                raise ServiceFailed("the model is still being loaded")

    def _warm(self) -> None:
        with suppress(Exception):
            self._embedder.warm()

    def _known_spread(self) -> float:
        if not self._spread:
            with suppress(MemorandaError, OSError):
                self._spread = self._state().spread
        return self._spread

    def _look(self) -> None:
        """Look for what is not embedded, once a second at most."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_EVERY:
            self._looked = now
            with suppress(MemorandaError, SegmentDamaged, OSError):
                state, sources = self._state(), self._sources()
                lost = state.rows != len(self._opened())
                self._stale, self._behind = lost or self._differs(state, sources), lost or state.lags(sources)

    def look_after(self, changed: bool = False) -> None:
        """Have embedded, in the background, what is not. Costs next to nothing where everything is."""
        if not changed:
            self._look()
        # Nothing in here waits for whoever holds the vault: they come this way too.
        with self._starting:
            # A thread that is about to end sees this first.
            self._again = self._again or changed
            if self._closed.is_set() or self._thread is not None or (self._syncing.left() and not changed):
                return
            if not self._stale and not changed:
                return
            if self._begin is None:
                self._thread = threading.Thread(target=self._keep_up, name="memoranda-vectors", daemon=True)
                self._thread.start()
            elif time.monotonic() - self._begun > LATEST and not self._known_fault() and not self._is_taken():
                self._begun = time.monotonic()
                self._begin()

    def _is_taken(self) -> bool:
        """Whether somebody is embedding just now."""
        try:
            self._turn.acquire(0.0)
        except VaultBusy:
            return True
        except MemorandaError:  # it cannot be written here
            return True
        self._turn.release()
        return False

    def sync(self, progress: Progress | None = None, *, anew: bool = False, patience: float = 0.0) -> Synced:
        """Embed what is not embedded and wipe what is gone; ``anew``: everything, whatever there is.

        Raises:
            VaultBusy: another process does so.
            ServiceFailed, MissingExtra, VaultError.
        """
        try:
            self._turn.acquire(patience)
        except VaultBusy as error:
            raise VaultBusy("another process is embedding this vault just now; it goes on by itself") from error
        try:
            done = self._sync(progress, anew)
        except OSError as error:
            raise ServiceFailed(f"vectors could not be kept: {error}") from error
        finally:
            self._turn.release()
        self._syncing.worked()
        self._note_fault("")
        return done

    def _sync(self, progress: Progress | None, anew: bool) -> Synced:
        self._contents.refresh(self._part.levels(self._storage.vault))
        index, state = self._opened(), self._state()
        if anew:
            with self._rows:
                index.clear()
        if anew or state.rows != len(index):
            state.discard()
        sync = VectorSync(self._contents.corpus, index, self._embedder, state, self._batch, self._changing)
        done = sync.run(self._sources(), progress, self._is_over)
        self._looked = float("-inf")
        if not self._is_over():
            self._settle()
        return done

    def _is_over(self) -> bool:
        return self._closed.is_set() or not self._is_wanted()

    @contextmanager
    def _changing(self, rows: Sequence[VectorRow]) -> Iterator[list[VectorRow]]:
        """The right to change the index, and which of some rows still say what their files say.

        Who forgets something changes the files first and wipes its row after: a
        row is put in before that, or seen to be gone.
        """
        with self._contents.mutex:
            self._rows.acquire()
            try:
                if rows:
                    self._contents.refresh(self._part.levels(self._storage.vault))
                corpus = self._contents.corpus
                current = [row for row in rows if is_current(corpus, row)]
            except BaseException:
                self._rows.release()
                raise
        try:
            yield current
        finally:
            self._rows.release()

    def status(self) -> EmbeddingStatus:
        """How things stand. Raises MissingExtra, VaultError."""
        index = self._opened()
        self._contents.refresh(self._part.levels(self._storage.vault))
        detail = getattr(index, "calibration", None)
        return EmbeddingStatus(
            self.model,
            self._index_name,
            max(0, len(index) - len(index.held(REFERENCE_PARENT))),
            index.dimension,
            not self._is_stale(),
            self._syncing.fault or self._asking.fault or self._known_fault() or str(getattr(index, "fault", "") or ""),
            "" if detail is None else str(detail),
        )

    def wipe(self, addresses: Collection[str]) -> bool:
        """Wipe single rows at once; whether that was possible. Vectors of other models go whole."""
        try:
            with self._rows:
                index = self._opened()
                if getattr(index, "fault", ""):
                    return False  # it cannot tell what it holds
                index.remove(addresses)
                if is_named(os.path.join(self._opened_in, KEYS_FILE), addresses):
                    return False
                self._places().drop_others()
                # Names of files may be names of people.
                self._state().discard()
            return True
        except Exception:  # all of them can be thrown away instead
            return False

    def wipe_parents(self, parents: Collection[str]) -> bool:
        """Wipe the rows of whole documents or conversations at once; whether that was possible."""
        try:
            index = self._opened()
            held = [address for parent in parents for address in index.held(parent)]
        except Exception:  # all of them can be thrown away instead
            return False
        return self.wipe(held)

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
            self._again = False
            try:
                self.sync()
                busy = False
            except VaultBusy:
                # Another process is at it; when that is done, or dies, is seen at a later question.
                busy = True
            except Exception as error:  # nobody is there to hear it: it is kept for the status
                self._syncing.failed(str(error) or type(error).__name__)
                self._note_fault(self._syncing.fault)
                continue
            stale = not busy and self._is_stale()
            with self._starting:
                if busy or not (self._again or stale):
                    self._thread = None
                    return

    def _is_stale(self) -> bool:
        state = self._state()
        return state.rows != len(self._opened()) or self._differs(state, self._sources())

    def _differs(self, state: SyncState, sources: Mapping[str, SourceFile]) -> bool:
        vault = self._storage.vault
        read = [level for level in _LEVELS if self._contents.has_read((level,))]
        return state.differs(sources, self._part.gone(read, vault))

    def _sources(self) -> dict[str, SourceFile]:
        return self._part.own(self._contents.sources())

    def fail(self, error: Exception) -> None:
        """Note, for other processes, why what was to be embedded is not."""
        self._note_fault(str(error) or type(error).__name__)

    def _note_fault(self, fault: str) -> None:
        path = self._storage.vault.path(self._part.lock(_FAULT))
        with suppress(OSError):
            if fault:
                replace_unsynced(path, f"{time.time():.0f} {self.model}\n{fault}".encode("utf-8", "replace"))
            elif os.path.exists(path):
                os.unlink(path)

    def _known_fault(self) -> str:
        """What another process failed at lately with this model."""
        try:
            with open(self._storage.vault.path(self._part.lock(_FAULT)), encoding="utf-8", errors="replace") as stream:
                head, _, fault = stream.read(4096).partition("\n")
            when, _, model = head.partition(" ")
            return fault if model == self.model and 0 <= time.time() - float(when) < LATEST else ""
        except (OSError, ValueError):
            return ""

    def _state(self) -> SyncState:
        return SyncState(os.path.join(self._places().folder(), SYNC_STATE), [self._index_name, self.model])

    def _places(self) -> VectorSpaces:
        if self._spaces is None:
            cache = self._part.cache(self._storage.vault)
            self._storage.vault.check_inside(os.path.join(cache, "vectors"), ".cache")
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
