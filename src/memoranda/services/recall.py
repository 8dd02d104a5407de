"""Answering a question from a vault: fresh files, the right moment, and never a fault raised."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from memoranda.core.errors import MemorandaError
from memoranda.core.records import replace
from memoranda.index.bm25 import Bm25Parameters
from memoranda.index.corpus import Corpus
from memoranda.index.entries import library_of
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.retriever import Retriever
from memoranda.services.usage import note_usage
from memoranda.storage.clock import parse_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from memoranda.core.model import Level
    from memoranda.retrieval.dense import QueryVector
    from memoranda.retrieval.result import Retrieval
    from memoranda.services.contents import Contents, Progress
    from memoranda.services.embedding import Embedding
    from memoranda.storage.store import Storage

if TYPE_CHECKING:
    Vectors = Callable[[str, float | None], QueryVector]

__all__ = ["recall"]


def recall(
    storage: Storage,
    contents: Contents,
    query: str,
    *,
    k: int,
    budget: int | None,
    levels: Sequence[Level],
    scopes: Sequence[str] | None,
    mode: str,
    as_of: str | None,
    explain: bool,
    deadline: float | None,
    corpora: Sequence[str] | None = None,
    neighbours: int = 0,
    parameters: RetrievalParameters | None = None,
    progress: Progress | None = None,
    embedding: Callable[[], Embedding | None] = lambda: None,
    corpus_vectors: Callable[[], Mapping[str, Embedding | None]] = dict,
    noted: bool = True,
) -> Retrieval:
    """Retrieve; see :meth:`memoranda.Vault.retrieve`. Raises UsageError.

    ``embedding`` gives the vault's vectors, ``corpus_vectors`` those of corpora
    that have their own; what either raises is told in the result.
    Unless ``noted`` it counts as no use of what is found.
    """
    settings = storage.vault.settings
    seconds = settings.deadline if deadline is None else deadline
    weight = None if settings.embedding is None else settings.embedding.weight
    chosen = parameters or _parameters(settings.k1, settings.b, weight)
    found_vectors, vectors = None, None
    apart: dict[str, Vectors | None] = {}
    asked_too: list[Embedding] = []
    if mode not in ("keyword", "grep") and (chosen.dense_weight > 0.0 or mode == "vector"):
        # Where no deadline was given, what is loaded once may take its time, like the first reading of the files.
        found_vectors, vectors = _vectors(embedding, patient=deadline is None)
        if "passage" in levels:
            apart, asked_too = _apart(corpus_vectors, patient=deadline is None)
    moment = None if as_of is None else parse_moment(as_of, storage.clock.zone(), end_of_day=True)

    def ask() -> Retrieval:
        if moment is not None:
            retriever = _as_of(storage, contents, chosen, levels, moment, seconds, vectors)
        else:
            missing: list[str] | None = None
            if deadline is None and not contents.has_read(levels):
                # Whatever fails here the retriever meets again, and says what is missing.
                with suppress(MemorandaError, OSError):
                    missing = contents.refresh(levels, None, progress, seconds, awaited=True)

            def refresh(left: float | None) -> list[str]:
                # What was read for the first time has been looked at just now.
                if missing is not None:
                    return missing
                return contents.refresh(levels, left, awaited=True)

            retriever = Retriever(
                contents.corpus, chosen, storage.clock, refresh, vectors, partial(_holding, storage), apart
            )
        return retriever.retrieve(
            query,
            k=k,
            budget=budget,
            levels=levels,
            scopes=scopes,
            mode=mode,
            explain=explain,
            deadline=None if seconds == float("inf") else seconds,
            as_of=moment,
            corpora=corpora,
            neighbours=neighbours,
        )

    found = contents.undamaged(ask)
    for one in (found_vectors, *asked_too):
        if one is not None:
            one.look_after()
    if settings.usage and as_of is None and noted:
        note_usage(storage, (hit.address for hit in found.hits))
    return found


def _holding(storage: Storage, text: str, seconds: float | None) -> list[str] | None:
    """The documents that hold a text as it stands, if that can be told in half of the time that is left."""
    from memoranda.storage.ripgrep import documents_holding  # few questions are exact

    return documents_holding(storage.vault, text, None if seconds is None else seconds / 2)


def _vectors(
    embedding: Callable[[], Embedding | None], *, patient: bool
) -> tuple[Embedding | None, Callable[[str, float | None], QueryVector] | None]:
    """The vault's vectors, and how a question's is had; where they are misconfigured, that is what asking tells."""
    try:
        found = embedding()
    except MemorandaError as error:
        fault = error

        def refuse(text: str, seconds: float | None) -> QueryVector:
            raise fault

        return None, refuse
    return found, None if found is None else partial(found.vector_of, patient=patient)


def _apart(
    corpus_vectors: Callable[[], Mapping[str, Embedding | None]], *, patient: bool
) -> tuple[dict[str, Vectors | None], list[Embedding]]:
    """How a question's vector is had for the partitions of corpora that have their own; and whose they are."""
    try:
        own = corpus_vectors()
    except (MemorandaError, OSError):
        return {}, []  # the status says so; words answer
    found: dict[str, Vectors | None] = {
        library_of(corpus): None if one is None else partial(one.vector_of, patient=patient)
        for corpus, one in own.items()
    }
    return found, [one for one in own.values() if one is not None]


_known: dict[tuple[float, float, float | None], RetrievalParameters] = {}


def _parameters(k1: float, b: float, weight: float | None) -> RetrievalParameters:
    known = _known.get((k1, b, weight))
    if known is None:
        known = RetrievalParameters(memory=Bm25Parameters(k1, b))
        if weight is not None:
            known = replace(known, dense_weight=weight, passage_weight=weight)
        _known[k1, b, weight] = known
    return known


def _as_of(
    storage: Storage,
    contents: Contents,
    parameters: RetrievalParameters,
    levels: Sequence[Level],
    moment: datetime,
    seconds: float,
    vectors: Callable[[str, float | None], QueryVector] | None,
) -> Retriever:
    from memoranda.services.timetravel import FixedClock, corpus_as_of, is_valid_at

    zone = storage.clock.zone()
    missing: list[str] = []
    try:
        missing += contents.refresh(levels, None, patience=seconds)
    except (MemorandaError, OSError) as error:
        missing.append(f"refresh: {error}")
    present = contents.held(levels)
    try:
        corpus = corpus_as_of(storage, present, moment, contents.corpus.segmentation)
    except (MemorandaError, OSError) as error:
        missing.append(f"history: {error}")
        corpus = Corpus(segmentation=contents.corpus.segmentation)
        for entry in present:
            if is_valid_at(entry, moment, zone):
                corpus.put(entry)
    # Documents have no history: what is there now was there then.
    corpus.libraries = dict(contents.corpus.libraries)
    return Retriever(corpus, parameters, FixedClock(moment, zone), lambda _: missing, vectors)
