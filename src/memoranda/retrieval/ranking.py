"""From a query to the best entries: keyword candidates, weak ones marked, outdated ones put behind."""

from __future__ import annotations

from memoranda.core.records import dataclass, replace
from memoranda.index.bm25 import best, explain, inverse_document_frequency, score
from memoranda.index.corpus import address_key
from memoranda.retrieval.validity import Outdated, outdated, reference_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from memoranda.core.model import Level
    from memoranda.core.ports import KeywordIndex
    from memoranda.index.bm25 import TermScore
    from memoranda.index.corpus import Entry, Key, Partition
    from memoranda.retrieval.deadline import Deadline
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.query import Query
    from memoranda.retrieval.view import View

__all__ = ["Candidate", "merge", "rank_keyword"]


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
    bm25 = parameters.bm25(level)
    scores = score(indexes, query.weights, bm25, deadline.passed)
    if view.visible is not None:
        _hide(partitions, scores, view.visible)
    faded = _fade(partitions, scores, view, moment, parameters.outdated_share)
    chosen = best(scores, limit, lambda number, doc: partitions[number].entries[doc].address)
    places = [(one.index, one.doc) for one in chosen]
    # Out of time, a hit without its reasons is still a hit.
    parts = {} if deadline.missed else explain(indexes, places, query.weights, bm25)
    mass = _idf_mass(indexes, query.weights)
    candidates = []
    for one, place in zip(chosen, places, strict=True):
        found = tuple(parts.get(place, ()))
        base, gone = faded.get(place, (one.score, None))
        weak = bool(found) and _is_weak(query, found, mass, parameters)
        entry = partitions[one.index].entries[one.doc]
        candidates.append(Candidate(entry, one.score, base, weak, found, outdated=gone))
    return candidates


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


def _hide(
    partitions: Sequence[Partition], scores: Sequence[dict[int, float]], visible: Callable[[Entry], bool]
) -> None:
    for partition, found in zip(partitions, scores, strict=True):
        for doc in [doc for doc in found if not visible(partition.entries[doc])]:
            del found[doc]


def _fade(
    partitions: Sequence[Partition],
    scores: Sequence[dict[int, float]],
    view: View,
    moment: tuple[datetime, tzinfo],
    share: float,
) -> dict[tuple[int, int], tuple[float, Outdated]]:
    """Lower the scores of what no longer holds; what each was before, and why."""
    faded: dict[tuple[int, int], tuple[float, Outdated]] = {}
    for number, (partition, found) in enumerate(zip(partitions, scores, strict=True)):
        for doc in partition.limited & found.keys():
            gone = outdated(partition.entries[doc], view, *moment)
            if gone is not None:
                faded[number, doc] = (found[doc], gone)
                found[doc] *= share
    return faded


def _idf_mass(indexes: Sequence[KeywordIndex], weights: Mapping[str, float]) -> float:
    documents = sum(map(len, indexes))
    return sum(
        weight * inverse_document_frequency(documents, sum(ix.document_frequency(term) for ix in indexes))
        for term, weight in weights.items()
    )


def _is_weak(query: Query, parts: Sequence[TermScore], mass: float, parameters: RetrievalParameters) -> bool:
    if query.words < parameters.weak_words:
        return False
    matched = {query.units[part.term] for part in parts if part.term in query.units}
    held = sum(part.weight * part.idf for part in parts)
    return len(matched) <= 1 and held < parameters.weak_share * mass
