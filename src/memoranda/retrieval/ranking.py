"""From a query to the best entries: keyword candidates, weak ones marked, outdated ones put behind."""

from __future__ import annotations

from memoranda.core.records import dataclass, replace
from memoranda.index.bm25 import inverse_document_frequency
from memoranda.index.entries import address_key
from memoranda.index.scoring import Scoring
from memoranda.retrieval.validity import Outdated, outdated, reference_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from memoranda.core.model import Level
    from memoranda.index.entries import Entry, Key
    from memoranda.index.partition import Partition
    from memoranda.index.scoring import Scored, TermScore
    from memoranda.retrieval.deadline import Deadline
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.query import Query
    from memoranda.retrieval.view import View

__all__ = ["Candidate", "merge", "rank_keyword"]

#: Looked at beyond what is asked for: some of the best may no longer hold.
_SPARE = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry on its way to become a hit. ``base`` is its score before any effect was applied."""

    entry: Entry
    score: float
    base: float
    weak: bool = False
    parts: tuple[TermScore, ...] = ()
    occurrences: int = 0
    outdated: Outdated | None = None
    via: str = ""


def rank_keyword(
    view: View,
    level: Level,
    query: Query,
    limit: int,
    parameters: RetrievalParameters,
    moment: tuple[datetime, tzinfo],
    deadline: Deadline,
) -> list[Candidate]:
    """The ``limit`` best entries of one level that hold a term of the query.

    ``moment`` is the time (and the user's zone) at which entries have to hold.
    """
    partitions = view.level(level)
    indexes = [partition.index for partition in partitions]
    scoring = Scoring(indexes, query.weights, parameters.bm25(level))
    keep, visible = None, view.visible
    if visible is not None:

        def keep(number: int, doc: int) -> bool:
            return visible(partitions[number].entries[doc])

    def tie(number: int, doc: int) -> int:
        return partitions[number].tie(doc)

    size = limit + _SPARE
    while True:
        pool = scoring.pool(size, tie=tie, keep=keep, expired=deadline.passed)
        faded = _fade(partitions, pool, view, moment, parameters.outdated_share)
        scored = [(faded[n, doc][0] if (n, doc) in faded else score, n, doc) for n, doc, score in map(_row, pool)]
        scored.sort(key=lambda row: (-row[0], row[1], row[2]))
        # What fell back must not keep out what was not looked at.
        if len(pool) < size or len(scored) <= limit or scored[limit - 1][0] >= pool[-1].score or deadline.missed:
            break
        size *= 4
    chosen = scored[: limit + _SPARE]
    # Out of time, a hit without its reasons is still a hit.
    parts = {} if deadline.missed else scoring.parts((number, doc) for _, number, doc in chosen)
    mass = _idf_mass(scoring, query.weights)
    candidates = []
    for score, number, doc in chosen:
        found = tuple(parts.get((number, doc), ()))
        _, base, gone = faded.get((number, doc), (score, score, None))
        weak = bool(found) and _is_weak(query, found, mass, parameters)
        candidates.append(Candidate(partitions[number].entries[doc], score, base, weak, found, outdated=gone))
    candidates.sort(key=lambda candidate: (-candidate.score, candidate.entry.address))
    return candidates[:limit]


def _row(one: Scored) -> tuple[int, int, float]:
    return one.index, one.doc, one.score


def merge(candidates: Sequence[Candidate], limit: int, share: float) -> list[Candidate]:
    """The ``limit`` best of all, best first, none of them before what took its place."""
    by_key = {address_key(candidate.entry.address): candidate for candidate in candidates}
    by_key.update(_superseded_among(by_key, share))
    successors: dict[Key, Key] = {}
    for key, candidate in by_key.items():
        if candidate.outdated is not None and candidate.outdated.successor is not None:
            successor = address_key(candidate.outdated.successor.address)
            if successor in by_key:
                successors[key] = successor
    ordered = []
    for key, candidate in by_key.items():
        ceiling, depth = candidate.score, 0
        seen = {key}
        at = key
        while (at := successors.get(at, at)) not in seen:
            seen.add(at)
            depth += 1
            ceiling = min(ceiling, by_key[at].score)
        ordered.append((-ceiling, depth, candidate.entry.address, replace(candidate, score=ceiling)))
    ordered.sort(key=lambda row: row[:3])
    return [candidate for *_, candidate in ordered[:limit]]


def _superseded_among(by_key: Mapping[Key, Candidate], share: float) -> dict[Key, Candidate]:
    """Those that another candidate says it supersedes, though they do not say so themselves."""
    changed: dict[Key, Candidate] = {}
    for key, newer in by_key.items():
        reference = newer.entry.metadata.supersedes
        if not reference:
            continue
        for old_key in reference_keys(reference, newer.entry):
            older = by_key.get(old_key)
            if older is not None and old_key != key and older.outdated is None:
                reason = Outdated((f"superseded by {newer.entry.address}",), newer.entry)
                changed[old_key] = replace(older, score=older.score * share, outdated=reason)
                break
    return changed


def _fade(
    partitions: Sequence[Partition],
    pool: Sequence[Scored],
    view: View,
    moment: tuple[datetime, tzinfo],
    share: float,
) -> dict[tuple[int, int], tuple[float, float, Outdated]]:
    """What no longer holds: its lowered score, the one before, and why."""
    faded: dict[tuple[int, int], tuple[float, float, Outdated]] = {}
    for one in pool:
        partition = partitions[one.index]
        if one.doc in partition.limited:
            gone = outdated(partition.entries[one.doc], view, *moment)
            if gone is not None:
                faded[one.index, one.doc] = (one.score * share, one.score, gone)
    return faded


def _idf_mass(scoring: Scoring, weights: Mapping[str, float]) -> float:
    held = scoring.frequencies()
    return sum(
        weight * inverse_document_frequency(scoring.documents, held.get(term, 0)) for term, weight in weights.items()
    )


def _is_weak(query: Query, parts: Sequence[TermScore], mass: float, parameters: RetrievalParameters) -> bool:
    if query.words < parameters.weak_words:
        return False
    matched = {query.units[part.term] for part in parts if part.term in query.units}
    held = sum(part.weight * part.idf for part in parts)
    return len(matched) <= 1 and held < parameters.weak_share * mass
