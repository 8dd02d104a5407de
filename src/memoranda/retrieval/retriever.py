"""The read path: query → candidates → links → budget, within a deadline, never failing half-way."""

from __future__ import annotations

from functools import partial

from memoranda.core.addresses import parse_scope
from memoranda.core.analysis import analyze_query
from memoranda.core.errors import MemorandaError, UsageError
from memoranda.core.model import Level
from memoranda.core.records import dataclass, field
from memoranda.index.segment_format import SegmentDamaged
from memoranda.retrieval.deadline import Deadline
from memoranda.retrieval.exact import search_exact
from memoranda.retrieval.expansion import expand
from memoranda.retrieval.hits import hit_of
from memoranda.retrieval.packing import pack
from memoranda.retrieval.query import Query, bounded, read_query
from memoranda.retrieval.ranking import merge
from memoranda.retrieval.result import Retrieval
from memoranda.retrieval.search import Search
from memoranda.retrieval.timing import Dates, TimedQuery, read_timed_query
from memoranda.retrieval.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, tzinfo
    from typing import Literal, TypeVar

    from memoranda.core.ports import Clock
    from memoranda.index.corpus import Corpus
    from memoranda.index.entries import Entry
    from memoranda.retrieval.dense import QueryVector
    from memoranda.retrieval.evidence import Nearest
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.ranking import Candidate
    from memoranda.retrieval.result import Dropped, Hit, Neighbour

__all__ = ["MODES", "Mode", "Retriever"]

if TYPE_CHECKING:
    Mode = Literal["auto", "keyword", "vector", "hybrid", "grep"]
else:
    Mode = str
MODES: tuple[Mode, ...] = ("auto", "keyword", "vector", "hybrid", "grep")
LEVELS: tuple[Level, ...] = ("item", "resource", "passage")

_MOST_HITS = 1000
_MOST_NEIGHBOURS = 10
#: However late it is, ranking gets this many seconds: an answer now beats none at all.
_RANKING_SECONDS = 0.02
_OF_THE_INDEX = ("keyword", "grep", "ranking", "links", "hits")

if TYPE_CHECKING:
    _T = TypeVar("_T")
    Vectors = Callable[[str, float | None], QueryVector]


@dataclass(slots=True)
class _Asked:
    """One call, validated, and what it has met on its way."""

    text: str
    k: int
    budget: int | None
    levels: tuple[Level, ...]
    scopes: tuple[str, ...]
    mode: Mode
    explain: bool
    deadline: Deadline
    now: datetime
    zone: tzinfo
    visible: Callable[[Entry], bool] | None
    corpora: tuple[str, ...] | None = None
    neighbours: int = 0
    timed: TimedQuery = field(default_factory=lambda: TimedQuery(Query("", {}, {}, {}, {})))
    query: Query = field(default_factory=lambda: Query("", {}, {}, {}, {}))
    dates: Dates | None = None
    unavailable: list[str] = field(default_factory=list)
    nearest: Nearest | None = None
    vector: QueryVector | None = None
    #: The same for corpora that have vectors of their own, by the scope of their partition.
    apart: dict[str, QueryVector | None] = field(default_factory=dict)
    failed: bool = False
    #: Whether a segment on disk has a part in the answer: it may be what fails.
    stored: bool = False
    #: Whether exact search found more than is asked for.
    truncated: bool = False
    #: Documents that hold the text as it stands.
    holding: Sequence[str] | None = None
    #: What stands around each hit, by its address.
    around: dict[str, tuple[Neighbour, ...]] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Whether the text is looked for as it stands: on demand, and where nothing of it is a word."""
        return self.mode == "grep" or (self.mode == "auto" and not self.timed)

    def stage(self, name: str, work: Callable[[], _T], otherwise: _T) -> _T:
        """What ``work`` gives, or ``otherwise`` and a note when it fails."""
        try:
            return work()
        except SegmentDamaged:
            raise  # it is thrown away, and the question asked again
        except Exception as error:  # a broken stage must not break the conversation
            if self.stored and name.startswith(_OF_THE_INDEX):
                raise SegmentDamaged(f"{name}: {type(error).__name__}: {error}") from error
            self.failed = True
            self.unavailable.append(f"{name}: {type(error).__name__}: {error}")
            return otherwise


class Retriever:
    """Answers queries over a corpus.

    ``refresh`` is called before each answer with the seconds left (``None``: no
    limit); it brings the corpus up to date and returns, in words, what could
    not be reached. It may raise: then the corpus answers as it is. ``vectors``
    gives the vector of a question, in so many seconds (``None``: however long
    it takes), or raises: then keywords answer, and the result says so. ``holding``
    names the documents that hold a text as it stands, if it can tell in time.
    ``apart`` gives, by the scope of their partition, the vectors of corpora that
    have their own (``None``: words alone).
    """

    def __init__(
        self,
        corpus: Corpus,
        parameters: RetrievalParameters,
        clock: Clock,
        refresh: Callable[[float | None], Sequence[str]] | None = None,
        vectors: Callable[[str, float | None], QueryVector] | None = None,
        holding: Callable[[str, float | None], Sequence[str] | None] | None = None,
        apart: Mapping[str, Vectors | None] | None = None,
    ) -> None:
        self._corpus = corpus
        self._parameters = parameters
        self._clock = clock
        self._refresh = refresh
        self._vectors = vectors
        self._holding = holding
        self._apart = apart or {}

    def retrieve(
        self,
        query: str,
        *,
        k: int = 10,
        budget: int | None = None,
        levels: Sequence[str] = ("item",),
        scopes: Sequence[str] | None = None,
        mode: str = "auto",
        explain: bool = False,
        deadline: float | None = 0.3,
        visible: Callable[[Entry], bool] | None = None,
        as_of: datetime | None = None,
        corpora: Sequence[str] | None = None,
        neighbours: int = 0,
    ) -> Retrieval:
        """The ``k`` best entries for a query, with what they link to (``k`` more at most).

        ``budget`` bounds the rendered block in tokens, ``deadline`` the wait in
        seconds. ``scopes`` is what may be seen (``None``: shared memory only).
        ``visible`` leaves out single entries; ``as_of`` is the time at which
        entries have to hold (``None``: now). Of documents only those in the
        named ``corpora`` are looked at. So many ``neighbours`` on each side
        come with each turn and passage; the budget does not count them.

        Raises:
            UsageError: an argument that has no meaning. Nothing else: what
                fails on the way is named in the result's ``unavailable``.
        """
        asked = self._validated(query, k, budget, levels, scopes, mode, explain, deadline, visible, as_of)
        asked.corpora = None if corpora is None else tuple(corpora)
        if type(neighbours) is not int or not 0 <= neighbours <= _MOST_NEIGHBOURS:
            raise UsageError(f"neighbours are a whole number from 0 to {_MOST_NEIGHBOURS}, not {neighbours!r}")
        asked.neighbours = neighbours
        as_of_text = None if as_of is None else as_of.isoformat()
        if not asked.text.strip():
            return Retrieval(asked.text, [], no_match=True, as_of=as_of_text, zone=asked.zone)
        asked.timed = self._read(asked)
        if self._refresh is not None:
            refresh, left = self._refresh, asked.deadline.left()
            asked.unavailable += asked.stage("refresh", lambda: list(refresh(left)), [])
        seen = set()
        if self._apart and "passage" in asked.levels:
            seen = {one.scope for one in self._corpus.partitions(("passage",), asked.scopes, asked.corpora)}
            asked.apart = {
                library: None if vectors is None else self._vector(asked, vectors)
                for library, vectors in self._apart.items()
                if library in seen
            }
        if asked.levels != ("passage",) or seen != asked.apart.keys() or not seen:
            asked.vector = self._vector(asked, self._vectors)
        if self._holding is not None and "passage" in asked.levels and asked.is_exact:
            holding, seconds = self._holding, asked.deadline.left()
            asked.holding = asked.stage("grep", lambda: holding(asked.text, seconds), asked.holding)
        candidates = self._candidates(asked)
        no_hits: list[Hit] = []
        hits = asked.stage("hits", lambda: [self._hit(one, asked) for one in candidates], no_hits)
        nothing: tuple[list[Hit], list[Dropped]] = ([], [])
        kept, dropped = asked.stage("budget", lambda: pack(hits, asked.budget, asked.zone), nothing)
        return Retrieval(
            asked.text,
            kept,
            dropped,
            list(dict.fromkeys(asked.unavailable)),
            no_match=not hits and not asked.failed,
            as_of=as_of_text,
            nearest=None if hits else asked.nearest,
            zone=asked.zone,
            truncated=asked.truncated,
        )

    @staticmethod
    def _hit(candidate: Candidate, asked: _Asked) -> Hit:
        around = asked.around.get(candidate.entry.address, ())
        return hit_of(candidate, asked.query, around, explain=asked.explain)

    def _read(self, asked: _Asked) -> TimedQuery:
        """What is asked for; without its times, should they be what fails."""
        weights, segmentation = self._parameters.weights, self._corpus.segmentation
        analysis = analyze_query if segmentation is None else segmentation.query
        timed = asked.stage(
            "times", lambda: read_timed_query(asked.text, asked.now, asked.zone, weights, analysis), asked.timed
        )
        if timed is asked.timed:
            return asked.stage("query", lambda: TimedQuery(read_query(asked.text, weights, analysis)), timed)
        return timed

    def _vector(self, asked: _Asked, vectors: Vectors | None) -> QueryVector | None:
        """The question's vector, where one is wanted and to be had in time."""
        if asked.mode in ("keyword", "grep") or (asked.mode == "auto" and not asked.timed):
            return None
        if vectors is None:
            if asked.mode != "auto":
                asked.unavailable.append("vectors: not configured; keyword answered")
            return None
        left = asked.deadline.left()
        try:
            vector = vectors(asked.text, None if left is None else max(0.0, left - _RANKING_SECONDS))
            if vector.note:
                asked.unavailable.append(vector.note)
            return vector
        except Exception as error:  # whatever an endpoint does must not break the conversation
            asked.unavailable.append(f"vectors: {_in_words(error)}; keyword answered")
            return None

    def _candidates(self, asked: _Asked) -> list[Candidate]:
        """Ranked and expanded, under the corpus's lock."""
        left = asked.deadline.left()
        wait = -1.0 if left is None else max(left, _RANKING_SECONDS)
        if not self._corpus.lock.acquire(timeout=wait):
            asked.failed = True
            asked.unavailable.append("memory: another call was changing it for too long")
            return []
        try:
            return asked.stage("ranking", lambda: self._ranked(asked), [])
        finally:
            self._corpus.lock.release()

    def _ranked(self, asked: _Asked) -> list[Candidate]:
        asked.stored = self._corpus.is_stored
        view = View(self._corpus.partitions(asked.levels, asked.scopes, asked.corpora), asked.visible)
        late = asked.deadline.at_least(_RANKING_SECONDS)
        exact = asked.is_exact
        asked.query = asked.timed.plain
        if asked.timed.times and not exact:
            asked.dates = asked.stage("times", lambda: self._dated(asked, view), None)
        found: list[Candidate] = []
        for level in asked.levels:
            name = f"{'grep' if exact else 'keyword'} over {level}s"
            found += asked.stage(name, partial(self._found, asked, view, level, late, exact), [])
        if late.missed:
            # The documents that hold it are known then, but for odd spellings.
            told = exact and asked.holding is not None and asked.levels == ("passage",)
            rest = "what is in other spellings (full-width letters, ligatures)" if told else "everything"
            asked.unavailable.append(f"ranking: out of time, not {rest} was looked at")
        best = merge(found, asked.k, self._parameters.outdated_share)
        asked.truncated = exact and len(found) > asked.k
        if asked.neighbours:
            from memoranda.retrieval.neighbours import neighbours_of  # few ask for them

            asked.around = asked.stage("neighbours", lambda: neighbours_of(best, view, asked.neighbours), {})
        return asked.stage("links", lambda: expand(best, view, asked.k, self._parameters), best)

    def _dated(self, asked: _Asked, view: View) -> Dates:
        """What is dated in the times that the query names; if anything is, they are not looked for as words."""
        dates = Dates(asked.timed.times, view.partitions, self._parameters, asked.zone)
        if dates.are_met and asked.timed.resolved is not None:
            asked.query = asked.timed.resolved
        return dates

    def _found(self, asked: _Asked, view: View, level: Level, late: Deadline, exact: bool) -> list[Candidate]:
        if exact:
            return search_exact(view, level, asked.text, late, (asked.holding or ()) if level == "passage" else ())
        views = [(view, asked.vector)]
        if level == "passage" and asked.apart:
            # What is in another space is a search of its own.
            views = [
                (View([one], asked.visible), asked.apart[one.scope])
                for one in view.level(level)
                if one.scope in asked.apart
            ]
            rest = [one for one in view.partitions if one.level != level or one.scope not in asked.apart]
            views.append((View(rest, asked.visible), asked.vector))
        return [one for part, vector in views for one in self._searched(asked, part, level, late, vector)]

    def _searched(
        self, asked: _Asked, view: View, level: Level, late: Deadline, vector: QueryVector | None
    ) -> list[Candidate]:
        """What words and one space of vectors find."""
        moment = (asked.now, asked.zone)
        search = Search(
            view,
            level,
            asked.query,
            self._parameters,
            moment,
            late,
            dates=asked.dates,
            only_times=asked.dates is not None and asked.timed.only_times,
            explain=asked.explain,
            vector=vector,
            words=asked.mode != "vector" or vector is None,
        )
        ranked = search.best(asked.k)
        if search.fault:
            asked.unavailable.append(f"vectors: {search.fault}; keyword answered")
        asked.nearest = asked.nearest or ranked.nearest
        return ranked.candidates

    def _validated(
        self,
        query: str,
        k: int,
        budget: int | None,
        levels: Sequence[str],
        scopes: Sequence[str] | None,
        mode: str,
        explain: bool,
        deadline: float | None,
        visible: Callable[[Entry], bool] | None,
        as_of: datetime | None,
    ) -> _Asked:
        if not isinstance(query, str):
            raise UsageError(f"a query is text, not {type(query).__name__}")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= _MOST_HITS:
            raise UsageError(f"k is a whole number from 1 to {_MOST_HITS}, not {k!r}")
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
            raise UsageError(f"a budget is a number of tokens, 0 or more, not {budget!r}")
        if deadline is not None and (not isinstance(deadline, (int, float)) or not deadline >= 0):
            raise UsageError(f"a deadline is a number of seconds, 0 or more, not {deadline!r}")
        if as_of is not None and as_of.tzinfo is None:
            raise UsageError("as_of needs a time with a zone")
        text, notes = bounded(query)
        zone = self._clock.zone()
        return _Asked(
            text,
            k,
            budget,
            _levels(levels),
            _scopes(scopes),
            _mode(mode),
            explain,
            Deadline(deadline),
            as_of or self._clock.now(),
            zone,
            visible,
            unavailable=notes,
        )


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, MemorandaError) else f"{type(error).__name__}: {error}"


def _levels(levels: Sequence[str]) -> tuple[Level, ...]:
    named = (levels,) if isinstance(levels, str) else tuple(levels)
    chosen = tuple(level for level in LEVELS if level in named)
    unknown = [level for level in named if level not in LEVELS]
    if unknown or not chosen:
        raise UsageError(f"levels are {', '.join(LEVELS)}, not {unknown[0] if unknown else 'none'!r}")
    return chosen


def _scopes(scopes: Sequence[str] | None) -> tuple[str, ...]:
    if scopes is None:
        return ("shared",)
    named = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    return tuple(str(parse_scope(scope)) for scope in named)


def _mode(mode: str) -> Mode:
    for known in MODES:
        if mode == known:
            return known
    raise UsageError(f"a mode is one of {', '.join(MODES)}, not {mode!r}")
