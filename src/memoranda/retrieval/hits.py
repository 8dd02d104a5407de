"""A hit as the caller gets it: a candidate's entry with its score, its reasons and what stands around it."""

from __future__ import annotations

from memoranda.retrieval.explanation import Explanation, Factor, LentPart, NearPart, TermPart
from memoranda.retrieval.result import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.retrieval.query import Query
    from memoranda.retrieval.ranking import Candidate
    from memoranda.retrieval.result import Neighbour

__all__ = ["hit_of"]


def hit_of(candidate: Candidate, query: Query, around: tuple[Neighbour, ...], *, explain: bool) -> Hit:
    """A candidate as a hit; ``explain``: with its reasons."""
    entry = candidate.entry
    effects = candidate.outdated.reasons if candidate.outdated is not None else ()
    return Hit(
        address=entry.address,
        level=entry.level,
        score=candidate.score,
        text=entry.text,
        hash=entry.hash,
        ts=entry.ts or entry.metadata.ts,
        source=entry.metadata.source,
        citation=entry.citation,
        trust=entry.metadata.trust,
        weak=candidate.weak,
        via=candidate.via,
        explanation=_explanation(candidate, query, effects) if explain else None,
        speaker=entry.speaker,
        scope=entry.scope,
        effects=effects,
        around=around,
    )


def _by_words(candidate: Candidate) -> float:
    """The score before it was put behind, without what nearness added."""
    part = 0.0 if candidate.nearness is None else candidate.nearness.part
    for _, times in candidate.factors:
        part *= times
    return candidate.base - part


def _explanation(candidate: Candidate, query: Query, effects: tuple[str, ...]) -> Explanation:
    parts = tuple(
        TermPart(p.term, query.shown.get(p.term, p.term), p.weight, p.tf, p.df, p.idf, p.part) for p in candidate.parts
    )
    held = {part.term for part in parts}
    searched = bool(parts or candidate.loans)
    return Explanation(
        score=candidate.score,
        scope=candidate.entry.scope,
        terms=parts,
        lent=tuple(LentPart(one.address, one.where, one.terms, one.part) for one in candidate.loans),
        near=None if (near := candidate.nearness) is None else NearPart(near.cosine, near.surprise, near.part),
        factors=tuple(Factor(reason, times) for reason, times in candidate.factors),
        keyword=0.0 if candidate.via or candidate.occurrences else _by_words(candidate),
        occurrences=candidate.occurrences,
        links=(candidate.via,) if candidate.via else (),
        effects=effects,
        missing=tuple(query.shown[t] for t in query.weights if t in query.units and t not in held) if searched else (),
        stop_words=query.stop_words if searched else (),
        weak=candidate.weak,
    )
