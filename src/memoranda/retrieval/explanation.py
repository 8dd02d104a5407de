"""Why something was recalled, for people and for programs."""

from __future__ import annotations

from memoranda.core.records import asdict, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Explanation", "Factor", "LentPart", "NearPart", "TermPart"]


@dataclass(frozen=True, slots=True)
class TermPart:
    """One query term in one hit: as the query shows it, its counts, and what it added to the score."""

    term: str
    shown: str
    weight: float
    tf: int
    df: int
    idf: float
    part: float


@dataclass(frozen=True, slots=True)
class LentPart:
    """What surroundings of a hit added to its score: whose, where they stand, by which words of the query.

    ``address`` is empty for the rest of the sitting as a whole.
    """

    address: str
    where: str
    words: tuple[str, ...]
    part: float


@dataclass(frozen=True, slots=True)
class Factor:
    """What a hit's score was multiplied by, and the reason in words."""

    reason: str
    times: float


@dataclass(frozen=True, slots=True)
class NearPart:
    """What nearness added to the score: the cosine, and by how many deviations it is above unrelated texts'."""

    cosine: float
    surprise: float
    part: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a hit came to its place.

    ``terms`` are its own words, ``lent`` what stands around it adds; their sum
    times the ``factors`` is ``keyword``. ``near`` is what its meaning adds, to
    be multiplied likewise (``None`` where there is no vector of it). Then
    ``effects`` (superseded, expired, ...) were applied; ``score`` is the one it
    was ranked by. ``occurrences`` is set by exact search, ``missing`` are the
    query's terms that the hit itself does not hold.
    """

    score: float
    scope: str = "shared"
    terms: tuple[TermPart, ...] = ()
    lent: tuple[LentPart, ...] = ()
    near: NearPart | None = None
    factors: tuple[Factor, ...] = ()
    keyword: float = 0.0
    occurrences: int = 0
    links: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stop_words: tuple[str, ...] = ()
    weak: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def describe(self) -> str:
        """The same in words, a line for each thing."""
        lines = [f"score {self.score:.3f} in {self.scope} memory"]
        if self.occurrences:
            times = "once" if self.occurrences == 1 else f"{self.occurrences} times"
            lines.append(f"holds the exact text {times}")
        lines += [_term_line(part) for part in self.terms]
        lines += [_lent_line(part) for part in self.lent]
        if self.near is not None:
            lines.append(_near_line(self.near))
        lines += [
            factor.reason if factor.times == 1.0 else f"{factor.reason}: x{factor.times:.3g}" for factor in self.factors
        ]
        if self.missing:
            lines.append("does not hold: " + ", ".join(self.missing))
        if self.stop_words:
            lines.append("not asked for, too common: " + ", ".join(self.stop_words))
        lines += [f"brought along by {link}" for link in self.links]
        lines += self.effects
        if self.effects and self.keyword and self.near is None:
            lines.append(f"without that the score would be {self.keyword:.3f}")
        if self.weak:
            lines.append("weak: holds too little of the query")
        return "\n".join(lines)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _term_line(part: TermPart) -> str:
    word = f"“{part.shown}”" if part.shown == part.term else f"“{part.shown}” (as “{part.term}”)"
    times = "once" if part.tf == 1 else f"{part.tf} times"
    held = "1 entry holds it" if part.df == 1 else f"{part.df} entries hold it"
    weighed = "" if part.weight == 1.0 else f" x weight {part.weight:.2g}"
    return f"{word} {times}: +{part.part:.3f} ({held}, idf {part.idf:.2f}{weighed})"


def _lent_line(part: LentPart) -> str:
    words = ", ".join(f"“{word}”" for word in part.words)
    who = f"{part.address}, {part.where}, lends" if part.address else f"{part.where} lends"
    return f"{who} {words}: +{part.part:.3f}"


def _near_line(part: NearPart) -> str:
    chance = f", {part.surprise:.1f} standard deviations above what is unrelated" if part.surprise else ""
    return f"near in meaning (cosine {part.cosine:.2f}{chance}): {part.part:+.3f}"
