"""One query over one level: its own words, what speaks for them, what no longer holds, and whether it is enough."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from operator import attrgetter

from memoranda.core.records import dataclass, field
from memoranda.index.scoring import Scoring
from memoranda.index.segment_format import SegmentDamaged
from memoranda.retrieval.context import Surroundings, Terms
from memoranda.retrieval.evidence import Nearest, Standard
from memoranda.retrieval.ranking import Candidate, Loan
from memoranda.retrieval.validity import outdated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, tzinfo

    from memoranda.core.model import Level
    from memoranda.index.scoring import Scored, TermScore
    from memoranda.retrieval.context import Lent
    from memoranda.retrieval.deadline import Deadline
    from memoranda.retrieval.dense import QueryVector
    from memoranda.retrieval.evidence import Evidence
    from memoranda.retrieval.meaning import Meaning
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.query import Query
    from memoranda.retrieval.timing import Dates
    from memoranda.retrieval.validity import Outdated
    from memoranda.retrieval.view import View

__all__ = ["Ranked", "Search"]

#: Looked at beyond what is asked for: some of the best may no longer hold.
_SPARE = 10
#: So many of the best decide whether there is an answer at all.
_DECIDING = 10


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best of a level; or nothing, and what came nearest."""

    candidates: list[Candidate] = field(default_factory=list)
    nearest: Nearest | None = None


@dataclass(slots=True)
class _Row:
    """A document with its score; ``base`` is the one before it was put behind."""

    score: float
    number: int
    doc: int
    base: float
    gone: Outdated | None = None


class Search:
    """One query over one level.

    ``moment`` is the time (and the user's zone) at which entries have to hold,
    ``dates`` is what the query says of times; ``only_times``: it asks for
    nothing else. ``explain`` asks for reasons. With a ``vector`` of the query
    what is near it by meaning counts too; without ``words``, nothing else does.
    """

    def __init__(
        self,
        view: View,
        level: Level,
        query: Query,
        parameters: RetrievalParameters,
        moment: tuple[datetime, tzinfo],
        deadline: Deadline,
        *,
        dates: Dates | None = None,
        only_times: bool = False,
        explain: bool = False,
        vector: QueryVector | None = None,
        words: bool = True,
    ) -> None:
        parameters = parameters.on(level)
        self._view, self._query, self._parameters = view, query, parameters
        self._moment, self._deadline, self._explain = moment, deadline, explain
        self._context = parameters.context(level)
        self._partitions = view.level(level)
        self._dates, self._only_times = dates, only_times
        indexes = [partition.index for partition in self._partitions]
        bm25 = parameters.bm25(level)
        self._scoring = Scoring(indexes, self._query.weights, bm25)
        self._terms = Terms(self._scoring, bm25)
        self._speaker = self._named()
        self._around: dict[int, Surroundings] = {}
        self._vector, self._words = vector, words
        self._meaning: Meaning | None = None
        #: Why vectors had no part, where that is a fault.
        self.fault = ""
        self._keep: Callable[[int, int], bool] | None = None
        if (visible := view.visible) is not None:
            partitions = self._partitions
            self._keep = lambda number, doc: visible(partitions[number].entries[doc])

    def best(self, limit: int) -> Ranked:
        """The ``limit`` best entries; none if there is too little of the query in any.

        A query for a time and nothing else is answered by what is dated in it,
        the newest first; so is one of few words that are not there.
        """
        if self._only_times and (listed := self._dated(limit, weak=False)):
            return Ranked(listed)
        if self._vector is not None:
            self._meaning = self._near(self._vector)
        rows = self._rows(limit)
        standard = Standard(
            self._query.evidence,
            self._scoring.frequencies(),
            self._scoring.documents,
            self._parameters,
            self._query.identifiers,
            self._query.parts,
        )
        # Out of time, a hit without its reasons is still a hit.
        late = self._deadline.missed or (self._terms.are_many and self._deadline.passed())
        found = [] if late else [self._evidence(standard, row) for row in rows[: max(limit, _DECIDING)]]
        if not late and not standard.is_met([*found[:_DECIDING], *self._by_words(standard)]):
            near = [at for at in range(len(found)) if self._is_near(rows[at])]
            if not near:
                if standard.is_short and (listed := self._dated(limit, weak=True)):
                    return Ranked(listed)
                return Ranked(nearest=self._nearest(standard, rows, found) if self._explain else None)
            # No words speak for an answer: what is near does, and nothing beside it.
            rows, found = [rows[at] for at in near], [found[at] for at in near]
        parts: dict[tuple[int, int], list[TermScore]] = {}
        if self._explain and not late:
            parts = self._scoring.parts((row.number, row.doc) for row in rows[:limit])
        return Ranked(
            [
                self._candidate(
                    row,
                    not late and standard.is_weak(found[at]) and not self._is_surely_near(row),
                    tuple(parts.get((row.number, row.doc), ())),
                )
                for at, row in enumerate(rows[:limit])
            ]
        )

    def _dated(self, limit: int, *, weak: bool) -> list[Candidate]:
        """What is dated inside the times that are named, the newest first."""
        # Of one moment, in the order in which it was said.
        found: list[tuple[float, tuple[int, int, int], int, int]] = []
        dates = self._dates
        if dates is None:
            return []
        for number, partition in enumerate(self._partitions):
            for doc in dates.inside(partition, long=self._only_times):
                if self._keep is None or self._keep(number, doc):
                    run, at = partition.run(doc)
                    said = (partition.tie(run[0]), at, partition.tie(doc))
                    found.append((-(partition.moment(doc) or 0.0), said, number, doc))
        candidates = []
        for place, (_, _, number, doc) in enumerate(sorted(found)[:limit]):
            partition = self._partitions[number]
            entry = partition.entries[doc]
            score = base = 1.0 / (1.0 + place)
            gone = outdated(entry, self._view, *self._moment) if doc in partition.limited else None
            if gone is not None:
                score *= self._parameters.outdated_share
            factors = ((dates.reason(partition, doc), 1.0),) if self._explain else ()
            candidates.append(Candidate(entry, score, base, weak, outdated=gone, factors=factors))
        return candidates

    def _rows(self, limit: int) -> list[_Row]:
        """Every document looked at, best first."""
        context, partitions = self._context, self._partitions
        wide = bool(context) or bool(self._speaker) or self._dates is not None
        size = max(limit + _SPARE, context.pool if wide else 0)

        def tie(number: int, doc: int) -> int:
            return partitions[number].tie(doc)

        while True:
            pool = self._scoring.pool(size, tie=tie, keep=self._keep, expired=self._deadline.passed)
            rows, faded = self._placed(pool, max(limit + _SPARE, _DECIDING))
            # What fell back must not keep out what was not looked at.
            if not faded or len(pool) < size or len(rows) <= limit or self._deadline.missed:
                break
            if rows[limit - 1].score >= pool[-1].score:
                break
            size *= 4
        return self._settled(rows, max(limit, _DECIDING))

    def _placed(self, pool: Sequence[Scored], cut: int) -> tuple[list[_Row], bool]:
        """Of the pool and what stands around it the best ``cut`` and more, best first; whether any was put behind."""
        own: dict[int, dict[int, float]] = {}
        for one in pool:
            own.setdefault(one.index, {})[one.doc] = one.score
        keep = self._keep
        if self._dates is not None:
            self._dates.let_in(self._partitions, self._scoring, own, keep)
        if self._meaning is not None:
            self._meaning.let_in(own)
        found: list[tuple[float, int, int]] = []
        for number in sorted(own):
            sees = None if keep is None else partial(keep, number)
            partition = self._partitions[number]
            around = self._around[number] = Surroundings(partition, own[number], self._terms, self._context, sees)
            found += [(score, number, doc) for doc, score in around.scores(own[number])]
        found = [one for one in found if one[0] > 0.0] if self._meaning is None else self._meaning.fuse(found)
        return self._weighed(self._hopeful(found, cut))

    def _near(self, vector: QueryVector) -> Meaning | None:
        """What is near by meaning; ``None``, and a word of why, where the index of vectors fails."""
        from memoranda.retrieval.meaning import Meaning

        scoring, context, parameters = self._scoring, self._context, self._parameters
        try:
            return Meaning(vector, self._partitions, scoring, context, parameters, self._keep, words=self._words)
        except SegmentDamaged:
            raise
        except Exception as error:  # whatever an engine does, the words are there
            self.fault = f"{type(error).__name__}: {error}"
            return None

    def _by_words(self, standard: Standard) -> list[Evidence]:
        """What speaks for the first hit by words, wherever meaning has put it."""
        place = None if self._meaning is None else self._meaning.first_by_words
        return [] if place is None else [standard.weigh(self._around[place[0]].shares(place[1]))]

    def _is_near(self, row: _Row) -> bool:
        return self._meaning is not None and self._meaning.is_near((row.number, row.doc))

    def _is_surely_near(self, row: _Row) -> bool:
        return self._meaning is not None and self._meaning.is_surely_near((row.number, row.doc))

    def _hopeful(self, found: list[tuple[float, int, int]], cut: int) -> list[tuple[float, int, int]]:
        """Those that may be among the best ``cut`` after all, whatever else counts for or against them."""
        if len(found) <= cut:
            return found
        most, least = self._spread()
        if most == least:
            return found
        import heapq

        last = heapq.nlargest(cut, (score for score, _, _ in found))[-1] * least
        return [one for one in found if one[0] * most >= last]

    def _spread(self) -> tuple[float, float]:
        """The most and the least that a score may be multiplied by."""
        parameters = self._parameters
        factors = [self._context.asking]
        if self._speaker:
            factors.append(parameters.named)
        if self._dates is not None:
            factors += (parameters.dated, parameters.loosely_dated)
        if any(partition.limited for partition in self._partitions):
            factors.append(parameters.outdated_share)
        most = least = 1.0
        for factor in factors:
            most, least = most * max(1.0, factor), least * min(1.0, factor)
        return most, least

    def _weighed(self, found: list[tuple[float, int, int]]) -> tuple[list[_Row], bool]:
        """The documents with all that counts, best first; whether any was put behind."""
        rows: list[_Row] = []
        faded = False
        plain = self._context.asking == 1.0 and not self._speaker and self._dates is None
        for score, number, doc in found:
            score = base = score if plain else score * self._factor(number, doc)
            gone = None
            partition = self._partitions[number]
            if doc in partition.limited:
                entry = partition.entries[doc]
                gone = outdated(entry, self._view, *self._moment)
                if gone is not None and self._dates is not None and self._dates.held_then(entry, gone):
                    # Asked for a time when it held: it is what was asked for.
                    gone = None
                    if self._dates.of(partition, doc) is None:
                        score = base = base * self._parameters.dated
                if gone is not None:
                    score, faded = base * self._parameters.outdated_share, True
            rows.append(_Row(score, number, doc, base, gone))
        rows.sort(key=attrgetter("score"), reverse=True)
        return rows, faded

    def _settled(self, rows: list[_Row], cut: int) -> list[_Row]:
        """The best ``cut``; equal ones by their address, and never by how documents are numbered."""
        if len(rows) > cut:
            last = rows[cut - 1].score
            level = [row for row in rows if row.score == last]
            if rows[cut].score == last:
                level.sort(key=lambda row: self._partitions[row.number].tie(row.doc))
            rows = [row for row in rows if row.score > last] + level
        rows = rows[:cut]
        for before, row in pairwise(rows):
            if before.score == row.score:
                rows.sort(key=lambda row: (-row.score, self._partitions[row.number].entries[row.doc].address))
                break
        return rows

    def _factor(self, number: int, doc: int) -> float:
        """What a document's score is multiplied by."""
        factor = 1.0
        if self._context.asking != 1.0 and self._around[number].asks(doc):
            factor *= self._context.asking
        if self._speaker and self._partitions[number].speaker(doc) == self._speaker:
            factor *= self._parameters.named
        if self._dates is not None:
            factor *= self._dates.factor(self._partitions[number], doc)
        return factor

    def _factors(self, number: int, doc: int) -> tuple[tuple[str, float], ...]:
        """The same, one by one, in words."""
        found: list[tuple[str, float]] = []
        if self._speaker and self._partitions[number].speaker(doc) == self._speaker:
            speaker = self._partitions[number].entries[doc].speaker
            found.append((f"said by {speaker}, who is named", self._parameters.named))
        if self._dates is not None and (reason := self._dates.reason(self._partitions[number], doc)):
            found.append((reason, self._dates.factor(self._partitions[number], doc)))
        if self._context.asking != 1.0 and self._around[number].asks(doc):
            found.append(("ends in a question itself", self._context.asking))
        return tuple(found)

    def _named(self) -> str:
        """The one speaker who is named in the query, if there is one."""
        if self._parameters.named == 1.0 or not any(partition.speakers for partition in self._partitions):
            return ""
        # Items have no speakers: what asks them alone need not load this.
        from memoranda.retrieval.speakers import named_speaker

        words = {self._query.shown[term] for term in self._query.weights}
        speakers = dict.fromkeys(speaker for partition in self._partitions for speaker in partition.speakers)
        return named_speaker(self._query.text.casefold(), words, speakers)

    def _evidence(self, standard: Standard, row: _Row) -> Evidence:
        return standard.weigh(self._around[row.number].shares(row.doc))

    def _candidate(self, row: _Row, weak: bool, parts: tuple[TermScore, ...]) -> Candidate:
        entry = self._partitions[row.number].entries[row.doc]
        if not self._explain:
            return Candidate(entry, row.score, row.base, weak, outdated=row.gone)
        loans = tuple(self._loan(row.number, lent) for lent in self._around[row.number].lent(row.doc))
        factors = self._factors(row.number, row.doc)
        nearness = None if self._meaning is None else self._meaning.nearness((row.number, row.doc))
        return Candidate(entry, row.score, row.base, weak, parts, 0, row.gone, "", loans, factors, nearness)

    def _loan(self, number: int, lent: Lent) -> Loan:
        terms = tuple(self._query.shown.get(term, term) for term in lent.terms)
        if lent.doc is None:
            return Loan("", "the rest of its sitting", terms, lent.part)
        count = "" if abs(lent.step) == 1 else f"{abs(lent.step)} places "
        side = "before" if lent.step < 0 else "after"
        where = f"the question {side} it" if lent.asks and lent.step == -1 else f"{count}{side} it"
        return Loan(self._partitions[number].entries[lent.doc].address, where, terms, lent.part)

    def _nearest(self, standard: Standard, rows: Sequence[_Row], found: Sequence[Evidence]) -> Nearest | None:
        """Of what is not near enough, that which holds the most."""
        if not rows:
            return None
        row, evidence = max(zip(rows, found, strict=False), key=lambda pair: pair[1].words)
        held = {term for term, own, _ in self._around[row.number].shares(row.doc) if own}
        words = [term for term in self._query.weights if term in self._query.units]
        shown = self._query.shown
        return Nearest(
            self._partitions[row.number].entries[row.doc].address,
            evidence.words,
            standard.bar,
            standard.asked,
            tuple(shown[term] for term in words if term in held),
            tuple(shown[term] for term in words if term not in held),
            "" if self._meaning is None else self._meaning.describe_nearest(),
        )
