"""One hop along the wiki-links: what the best hits point at comes right after them."""

from __future__ import annotations

from math import log

from memoranda.index.entries import address_key
from memoranda.retrieval.ranking import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.index.entries import Entry, Key
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.view import View

__all__ = ["expand"]


def expand(candidates: Sequence[Candidate], view: View, limit: int, parameters: RetrievalParameters) -> list[Candidate]:
    """The candidates with what they bring along, ``limit`` more at most.

    A superseded hit brings its successor, right before itself; every hit brings
    the entries it links to, right after itself, those first that fewer entries
    link to. What is there already, dangling or out of sight is not brought.
    """
    if not any(candidate.entry.links or candidate.outdated for candidate in candidates):
        return list(candidates)
    present = {address_key(candidate.entry.address) for candidate in candidates}
    expanded: list[Candidate] = []
    for candidate in candidates:
        room = limit - (len(expanded) - sum(not other.via for other in expanded))
        before = _successor(candidate, present)[: max(0, room)]
        after = _linked(candidate, view, present, parameters)[: max(0, room - len(before))]
        present.update(address_key(other.entry.address) for other in (*before, *after))
        expanded += (*before, candidate, *after)
    return expanded


def _successor(candidate: Candidate, present: set[Key]) -> list[Candidate]:
    gone = candidate.outdated
    if gone is None or gone.successor is None or address_key(gone.successor.address) in present:
        return []
    via = f"successor of {candidate.entry.address}"
    return [Candidate(gone.successor, candidate.score, candidate.score, candidate.weak, via=via)]


def _linked(candidate: Candidate, view: View, present: set[Key], parameters: RetrievalParameters) -> list[Candidate]:
    found: dict[Key, Candidate] = {}
    for link in candidate.entry.links:
        if not link.item:
            continue
        target = view.follow(link.category, link.item, candidate.entry)
        if target is None:
            continue
        key = address_key(target.address)
        if key in present or key in found:
            continue
        damped = candidate.score * parameters.link_share * _damping(target, view)
        via = f"[[{link.target}]] of {candidate.entry.address}"
        found[key] = Candidate(target, damped, damped, candidate.weak, via=via)
    ordered = sorted(found.values(), key=lambda other: (-other.score, other.entry.address))
    return ordered[: parameters.links_per_hit]


def _damping(target: Entry, view: View) -> float:
    """What much is linked to says little about what links to it."""
    return 1.0 / (1.0 + log(1.0 + view.inbound(target)))
