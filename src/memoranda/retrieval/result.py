"""What a retrieval gives back."""

from __future__ import annotations

from memoranda.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo
    from typing import Any

    from memoranda.core.model import Level
    from memoranda.retrieval.evidence import Nearest
    from memoranda.retrieval.explanation import Explanation

__all__ = ["Dropped", "Hit", "Neighbour", "Retrieval"]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What stands ``step`` places after a hit in its document or conversation (-1: right before it)."""

    address: str
    step: int
    text: str
    citation: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {"address": self.address, "step": self.step, "text": self.text, "citation": self.citation}


@dataclass(frozen=True, slots=True)
class Hit:
    """One recalled entry.

    ``citation`` is where a person finds it, ``source`` where it came from;
    ``weak`` marks a hit that holds little of the query; ``via`` says which
    link brought it along and is empty for a direct hit; ``effects`` are reasons
    for caution (superseded, expired); ``around`` are its neighbours, in their
    order, where they were asked for.
    """

    address: str
    level: Level
    score: float
    text: str
    hash: str
    ts: str | None = None
    source: str | None = None
    citation: str = ""
    trust: str | None = None
    weak: bool = False
    via: str = ""
    explanation: Explanation | None = None
    speaker: str = ""
    scope: str = "shared"
    effects: tuple[str, ...] = ()
    around: tuple[Neighbour, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {
            "address": self.address,
            "level": self.level,
            "score": self.score,
            "text": self.text,
            "hash": self.hash,
            "ts": self.ts,
            "speaker": self.speaker,
            "scope": self.scope,
            "source": self.source,
            "citation": self.citation,
            "trust": self.trust,
            "weak": self.weak,
            "via": self.via,
            "effects": list(self.effects),
            "around": [one.as_dict() for one in self.around],
            "explanation": None if self.explanation is None else self.explanation.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit that was left out: how many tokens it would have taken, and why."""

    address: str
    tokens: int
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {"address": self.address, "tokens": self.tokens, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The hits of a query, best first, each one's linked entries right after it.

    ``no_match`` says that nothing in what may be seen has to do with the query;
    without it, empty ``hits`` mean that none fitted the budget. ``nearest``
    says, where reasons were asked for, what came nearest to having to do with
    it. ``unavailable`` names, in words, what could not be asked or was cut short;
    ``truncated`` says of an exact search that more holds the text than was asked for.
    """

    query: str
    hits: list[Hit]
    dropped: list[Dropped] = field(default_factory=list)
    unavailable: list[str] = field(default_factory=list)
    no_match: bool = False
    as_of: str | None = None
    nearest: Nearest | None = None
    zone: tzinfo | None = field(default=None, compare=False, repr=False)
    truncated: bool = False

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __bool__(self) -> bool:
        """Whether there is any hit."""
        return bool(self.hits)

    def render(self) -> str:
        """The hits as a framed block for a prompt; empty when there are none."""
        from memoranda.retrieval.rendering import render_block

        return render_block(self.hits, self.zone)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {
            "query": self.query,
            "hits": [hit.as_dict() for hit in self.hits],
            "dropped": [dropped.as_dict() for dropped in self.dropped],
            "unavailable": list(self.unavailable),
            "no_match": self.no_match,
            "as_of": self.as_of,
            "nearest": None if self.nearest is None else self.nearest.as_dict(),
            "truncated": self.truncated,
        }
