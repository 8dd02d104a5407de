"""The best candidates, and what makes one: its entry, its score, and the reasons for both."""

from __future__ import annotations

from memoranda.core.records import dataclass, replace
from memoranda.index.entries import address_key
from memoranda.retrieval.validity import Outdated, reference_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.index.entries import Entry, Key
    from memoranda.index.scoring import TermScore

__all__ = ["Candidate", "Loan", "Nearness", "merge"]


@dataclass(frozen=True, slots=True)
class Loan:
    """What a hit owes to a neighbour (to the rest of its sitting, without an address), in the score."""

    address: str
    where: str
    terms: tuple[str, ...]
    part: float


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a hit is by meaning: its cosine, standard deviations above chance, and what that added to the score."""

    cosine: float
    surprise: float
    part: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry on its way to become a hit. ``base`` is its score before what no longer holds was put behind.

    ``parts`` are what its own words, ``loans`` what its surroundings are worth;
    ``factors`` are what else counted, in words, and how much, ``nearness`` is
    what its meaning is worth. These four are filled where they were asked for.
    """

    entry: Entry
    score: float
    base: float
    weak: bool = False
    parts: tuple[TermScore, ...] = ()
    occurrences: int = 0
    outdated: Outdated | None = None
    via: str = ""
    loans: tuple[Loan, ...] = ()
    factors: tuple[tuple[str, float], ...] = ()
    nearness: Nearness | None = None


def merge(candidates: Sequence[Candidate], limit: int, share: float) -> list[Candidate]:
    """The ``limit`` best of all, best first, none of them before what took its place."""
    if all(one.outdated is None and not one.entry.metadata.supersedes for one in candidates):
        return sorted(candidates, key=lambda one: (-one.score, one.entry.address))[:limit]
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
        if ceiling != candidate.score:
            candidate = replace(candidate, score=ceiling)
        ordered.append((-ceiling, depth, candidate.entry.address, candidate))
    ordered.sort(key=lambda row: row[:3])
    return [candidate for *_, candidate in ordered[:limit]]


def _superseded_among(by_key: dict[Key, Candidate], share: float) -> dict[Key, Candidate]:
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
