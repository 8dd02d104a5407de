"""What a query asks for: its terms with their weights, function words left out."""

from __future__ import annotations

from math import log

from memoranda.core.analysis import analyze_query
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memoranda.core.analysis import QueryTerm, TermKind

__all__ = ["Query", "QueryWeights", "bounded", "read_query"]

_LONGEST_QUERY = 100 * 1024

# What terms count as evidence. Pairs of characters overlap: two of them, or a
# pair with its characters, make about one word.
_EVIDENCE = {"word": 1.0, "whole": 1.0, "part": 0.5, "pair": 0.6, "character": 0.3, "seam": 0.3}


@dataclass(frozen=True, slots=True)
class QueryWeights:
    """How much each kind of term counts.

    An identifier's parts find it when it is written otherwise, but the whole
    must win; a single character of a Chinese word says little alone.
    """

    word: float = 1.0
    whole: float = 1.0
    part: float = 0.5
    pair: float = 1.0
    character: float = 0.5
    seam: float = 0.5

    def of(self, kind: TermKind) -> float:
        """The weight of one kind of term."""
        weight: float = getattr(self, kind)
        return weight


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the index is asked.

    ``weights`` are the terms that are asked for, ``shown`` how each stands in
    the query, ``units`` the word a term comes from (none for what is no word
    by itself), ``evidence`` how much it counts, in words, that a document holds
    a term; ``stop_words`` what was left out; ``identifiers`` are terms such as
    ``DEC-0054`` that nothing holds by chance, ``parts`` what such a term is
    made of.
    """

    text: str
    weights: Mapping[str, float]
    shown: Mapping[str, str]
    units: Mapping[str, int]
    evidence: Mapping[str, float]
    stop_words: tuple[str, ...] = ()
    identifiers: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether there is any term to ask for."""
        return bool(self.weights)


def read_query(
    text: str, weights: QueryWeights | None = None, analysis: Callable[[str], list[QueryTerm]] = analyze_query
) -> Query:
    """Analyse a query, as the texts were. Of a query that holds only function words, all are asked for."""
    weights = weights or QueryWeights()
    terms = analysis(text)
    kept = [term for term in terms if not term.stop]
    stop_words = () if not kept else tuple(dict.fromkeys(term.shown for term in terms if term.stop))
    asked: dict[str, float] = {}
    counts: dict[str, int] = {}
    shown: dict[str, str] = {}
    units: dict[str, int] = {}
    evidence: dict[str, float] = {}
    for term in kept or terms:
        asked[term.term] = max(asked.get(term.term, 0.0), weights.of(term.kind))
        evidence[term.term] = max(evidence.get(term.term, 0.0), _EVIDENCE[term.kind])
        counts[term.term] = counts.get(term.term, 0) + 1
        shown.setdefault(term.term, term.shown)
        # A repeated word is one word.
        if term.unit >= 0 and term.term not in units:
            units[term.term] = term.unit
    for term_text, count in counts.items():
        if count > 1:
            asked[term_text] *= 1.0 + log(count)
    parts = frozenset(term.term for term in kept if term.kind == "part")
    identifiers = frozenset(term.term for term in kept if term.kind == "whole" and _is_identifier(term.shown))
    return Query(text, asked, shown, units, evidence, stop_words, identifiers, parts)


def _is_identifier(shown: str) -> bool:
    """Whether a word is a number, a version or a sign of its own, and not two words with a hyphen."""
    return not all(character.isalpha() or character in "-'’" for character in shown)


def bounded(query: str) -> tuple[str, list[str]]:
    """A query as far as it is read, and what is to be told of that."""
    if len(query) * 4 <= _LONGEST_QUERY:
        return query, []
    encoded = query.encode("utf-8", "surrogatepass")
    if len(encoded) <= _LONGEST_QUERY:
        return query, []
    note = f"query: only its first {_LONGEST_QUERY // 1024} KB of {-(-len(encoded) // 1024)} were read"
    return encoded[:_LONGEST_QUERY].decode("utf-8", "ignore"), [note]
