"""How much of a query a hit holds, and whether that is enough to speak at all.

Every word of the query counts the same, known or not; what is rare counts half
as much again, an identifier as much as several words, what only a neighbour
holds as much as the neighbour lends. The
more is asked for, the more of it must be there, though not in proportion: by
the square root. In a small vault little is found by chance, so less is enough.
"""

from __future__ import annotations

from math import log, sqrt

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from typing import Any

    from memoranda.retrieval.parameters import RetrievalParameters

__all__ = ["Evidence", "Nearest", "Standard", "scale"]

#: From here on come the scripts that are written without spaces.
_FIRST_DENSE = "\u2e80"
#: Of a long query, a whole message say, no more has to be there than of one of so many words.
_MOST_ASKED = 12.0
_RARE = 1.5
#: An identifier alone is enough, whatever else is asked for: nothing holds one by chance.
_IDENTIFIER = 4.0
#: In so few documents anything may be common.
_FEW_DOCUMENTS = 4
#: A term is rare that stands in one of so many documents, or in one alone.
_RARE_AMONG = 1000


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much of the query a hit holds, in words, and whether it holds any of it itself."""

    words: float
    own: bool


@dataclass(frozen=True, slots=True)
class Nearest:
    """What came nearest where nothing was near enough: of ``asked`` words it holds ``words``, ``needed`` are wanted.

    ``meaning`` says in words what was nearest by meaning, where there are vectors.
    """

    address: str
    words: float
    needed: float
    asked: float
    held: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    meaning: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {
            "address": self.address,
            "words": self.words,
            "needed": self.needed,
            "asked": self.asked,
            "held": list(self.held),
            "missing": list(self.missing),
            "meaning": self.meaning,
        }

    def describe(self) -> str:
        """The same in words."""
        holds = "holds " + ", ".join(f"“{word}”" for word in self.held) if self.held else "holds none of the words"
        lacks = f", does not hold {', '.join(f'“{word}”' for word in self.missing)}" if self.missing else ""
        return (
            f"nearest was {self.address}: {holds}{lacks}; that counts as {self.words:.1f} of {self.asked:.1f} words, "
            f"{self.needed:.1f} are needed{self.meaning and f'; {self.meaning}'}"
        )


class Standard:
    """What one query asks of a hit, in a corpus of so many documents."""

    __slots__ = ("_weights", "asked", "bar", "is_short", "needed")

    def __init__(
        self,
        evidence: Mapping[str, float],
        frequencies: Mapping[str, int],
        documents: int,
        parameters: RetrievalParameters,
        identifiers: Container[str] = (),
        parts: Container[str] = (),
    ) -> None:
        """``evidence`` is how much each term of the query counts, ``frequencies`` in how many documents it stands."""
        rare = max(1, documents // _RARE_AMONG)
        self._weights = {
            term: _IDENTIFIER
            if term in identifiers
            else evidence.get(term, 0.0) * (_RARE if frequency <= rare else 1.0)
            for term, frequency in frequencies.items()
            # What is common to all identifiers tells none from another.
            if not (term in parts and frequency * 2 > documents > _FEW_DOCUMENTS)
        }
        #: Words that are asked for.
        self.asked = sum(evidence.values())
        #: Below so many words a hit is weak.
        self.needed = _needed(self.asked, parameters.floor)
        known = self.asked - _of_unknown_script(evidence, frequencies)
        #: Below so many, with no hit above, there is nothing.
        self.bar = _needed(known, parameters.floor) * scale(documents, parameters.small_vault, parameters.large_vault)
        #: Whether so little is asked for that any of it will do.
        self.is_short = known <= parameters.few_words

    def weigh(self, shares: Iterable[tuple[str, bool, float]]) -> Evidence:
        """The evidence of a hit: ``shares`` are its terms, whether each is its own, and how far it counts."""
        words, own = 0.0, False
        for term, is_own, share in shares:
            weight = self._weights.get(term, 0.0)
            words += weight * share
            own = own or (is_own and weight > 0.0)
        return Evidence(words, own)

    def is_weak(self, found: Evidence) -> bool:
        """Whether a hit holds too little to be relied on."""
        return found.words < self.needed

    def is_met(self, best: Sequence[Evidence]) -> bool:
        """Whether any of the best hits speaks for an answer; a word or two that are there always do."""
        return any((found.words >= self.bar and found.words) or (self.is_short and found.own) for found in best)


def _needed(asked: float, floor: float) -> float:
    return floor * sqrt(min(asked, _MOST_ASKED))


def _of_unknown_script(evidence: Mapping[str, float], frequencies: Mapping[str, int]) -> float:
    """What is asked for in Chinese or the like, where not a character of it stands anywhere.

    A question in another language than the texts can be met by its names alone.
    """
    dense = [term for term in evidence if term[:1] >= _FIRST_DENSE]
    return 0.0 if any(term in frequencies for term in dense) else sum(evidence[term] for term in dense)


def scale(documents: int, small: int, large: int) -> float:
    """From 0 for a small corpus to 1 for a large one, by the logarithm of its size."""
    if documents <= small:
        return 0.0
    if documents >= large:
        return 1.0
    return log(documents / small) / log(large / small)
