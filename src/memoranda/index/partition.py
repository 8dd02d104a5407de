"""One level of one scope: its documents, their order, and what is known of each without reading it."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from heapq import merge

from memoranda.core.names import name_key
from memoranda.core.records import replace
from memoranda.index.bm25 import Bm25Index
from memoranda.index.entries import fold_exact, link_keys, searchable_text, when
from memoranda.index.holdings import Counts, Entries, Keys
from memoranda.index.layered import LayeredIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memoranda.core.model import Level
    from memoranda.core.ports import KeywordIndex
    from memoranda.index.entries import Entry, Key
    from memoranda.index.segment import SegmentPartition

__all__ = ["SESSION_GAP", "Partition", "is_limited", "moment_of", "speaker_key"]

#: Turns further apart than this, in seconds, are not of one sitting.
SESSION_GAP = 3600.0


class Partition:
    """The documents of one level of one scope: those of a segment by their numbers, all others by higher ones.

    Where a document is kept makes no difference to any answer, nor does its
    number. ``limited`` are the documents that may be superseded or expired;
    ``speakers`` counts documents by who speaks (:func:`speaker_key`).
    """

    def __init__(
        self,
        level: Level,
        scope: str,
        terms_of: Callable[[Entry], Sequence[str]],
        base: SegmentPartition | None = None,
    ) -> None:
        self.level = level
        self.scope = scope
        self._base = base
        #: How many documents the segment has: the first number of those in memory.
        self.stored = 0 if base is None else base.documents
        self._terms_of = terms_of
        self.index: KeywordIndex
        self.limited: set[int] = set()
        self.speakers: dict[str, int] = {}
        if base is None:
            self.index = Bm25Index()
        else:
            self.index = LayeredIndex(base, lambda doc: terms_of(self.entries[doc]))
            self.limited.update(base.limited)
            self.speakers.update(base.speakers())
        self._gone: set[int] = set()
        self._orders: dict[int, int] = {}
        self.entries = Entries(base, self._gone, self._orders)
        self.by_key = Keys(base, self._gone)
        self.inbound = Counts(base)
        self._next_doc = self.stored
        self._members: dict[str, dict[int, None]] = {}
        self._arranged: dict[str, Sequence[int]] = {}
        self._runs: dict[str, dict[int, tuple[Sequence[int], int]]] = {}
        self._dated: list[tuple[float, int, int]] | None = None
        self._folded: dict[int, str] = {}

    def put(self, key: Key, entry: Entry, *, same_text: bool = False) -> int:
        """Add an entry or replace the one of the same key; its number.

        ``same_text`` says that what is searched of it is the same as before.
        """
        # Analysed before anything changes: if that fails, the old entry stands.
        doc = self.by_key.get(key)
        keeps_terms = same_text and doc is not None and doc >= self.stored
        terms = None if keeps_terms else self._terms_of(entry)
        if doc is not None and doc < self.stored:
            self.retire(doc)
            doc = None
        if doc is None:
            doc = self._next_doc
            self._next_doc += 1
            self.by_key.put(key, doc)
        else:
            before = self.entries[doc]
            self._count(before, -1)
            if before.parent != entry.parent:
                self._leave(doc, before.parent)
        self.entries.put(doc, entry)
        self._count(entry, 1)
        self._members.setdefault(entry.parent, {})[doc] = None
        self._moved(entry.parent)
        if is_limited(entry):
            self.limited.add(doc)
        else:
            self.limited.discard(doc)
        if terms is not None:
            self._folded.pop(doc, None)
            self.index.put(doc, terms)
        return doc

    def remove(self, key: Key) -> None:
        """Take an entry out."""
        doc = self.by_key[key]
        if doc < self.stored:
            self.retire(doc)
            return
        self.by_key.remove(key)
        entry = self.entries.remove(doc)
        self._count(entry, -1)
        self.index.remove(doc)
        self.limited.discard(doc)
        self._folded.pop(doc, None)
        self._leave(doc, entry.parent)

    def retire(self, doc: int) -> None:
        """Take one of the segment's documents out; done already, it is ignored."""
        if doc not in self._gone:
            entry = self.entries[doc]
            self.index.remove(doc)
            self._gone.add(doc)
            self._count(entry, -1)
            self.limited.discard(doc)
            self._moved(entry.parent)

    def move(self, doc: int, line: int) -> None:
        """Note that an item in memory stands in another line of its file."""
        entry = self.entries[doc]
        path = entry.citation.rpartition(":")[0]
        self.entries.put(doc, replace(entry, order=line, citation=f"{path}:{line}"))
        self._runs.pop(entry.parent, None)

    def stored_in(self, path: str) -> list[tuple[str, range, list[int]]]:
        """Of each parent that the segment has in a file: its documents and their fingerprints."""
        base = self._base
        if base is None:
            return []
        found = [(base.parents[number][0], base.documents_of(number)) for number in base.parents_in(path)]
        return [(parent, docs, base.prints(docs)) for parent, docs in found]

    def parents_by_file(self) -> dict[str, set[str]]:
        """The parents that the segment has in each file."""
        found: dict[str, set[str]] = {}
        for parent, path, *_ in () if self._base is None else self._base.parents:
            found.setdefault(path, set()).add(parent)
        return found

    def of_parent(self, parent: str) -> list[int]:
        """The documents of a category, conversation or document."""
        found = list(self._members.get(parent, ()))
        base = self._base
        if base is not None:
            stored = base.parents_named(parent)
            found += [doc for number in stored for doc in base.documents_of(number) if doc not in self._gone]
        return found

    def arrange(self, parent: str, docs: Sequence[int], orders: Mapping[int, int]) -> None:
        """In which order the documents of a parent stand now, and where those of the segment do if not as before."""
        self._arranged[parent] = docs
        self._orders.update(orders)
        self._runs.pop(parent, None)

    def forget_order(self, parent: str) -> None:
        """The parent's documents are gone, or stand where their entries say."""
        self._arranged.pop(parent, None)
        self._runs.pop(parent, None)

    def folded(self, doc: int) -> str:
        """Name, speaker and text of a document for exact search: NFKC, case folded."""
        known = self._folded.get(doc)
        if known is None:
            known = fold_exact(searchable_text(self.entries[doc]))
            if doc >= self.stored:
                self._folded[doc] = known
        return known

    def tie(self, doc: int) -> int:
        """A number of the document's own by which equal scores are told apart, the same wherever it is stored."""
        if self._base is not None and doc < self.stored:
            return self._base.tie(doc)
        return zlib.crc32(self.entries[doc].address.encode("utf-8", "surrogatepass"))

    def speaker(self, doc: int) -> str:
        """Who speaks there, as ``speakers`` has it; empty for nobody."""
        if self._base is not None and doc < self.stored:
            return self._base.speaker(doc)
        return speaker_key(self.entries[doc].speaker)

    def moment(self, doc: int) -> float | None:
        """When it was said or happened, in seconds since 1970; a time without a zone counts as UTC."""
        if self._base is not None and doc < self.stored:
            return self._base.moment(doc)
        return moment_of(when(self.entries[doc]))

    def run(self, doc: int) -> tuple[Sequence[int], int]:
        """The documents of one sitting in their order, and where among them this one stands.

        They have one parent, and no gap of :data:`SESSION_GAP` between the times of neighbours.
        """
        base = self._base
        if base is not None and doc < self.stored:
            parent = base.parents[base.parent_at(doc)][0] if self._arranged or self._gone else ""
            if parent not in self._arranged:
                whole = base.run(doc)
                if not self._gone:
                    return whole, doc - whole.start
                left = [other for other in whole if other not in self._gone]
                return left, left.index(doc)
        else:
            parent = self.entries[doc].parent
        runs = self._runs.get(parent)
        if runs is None:
            runs = self._runs[parent] = self._lined_up(parent)
        return runs.get(doc) or ((doc,), 0)

    def dated(self, begin: float, until: float) -> Iterator[int]:
        """The documents of a time, ``begin`` included and ``until`` not, the newest first."""
        if self._dated is None:
            moments = ((moment_of(when(entry)), doc) for doc, entry in self.entries.own())
            # Of one moment in an order of their own, wherever they are stored.
            self._dated = sorted((moment, self.tie(doc), doc) for moment, doc in moments if moment is not None)
        first, last = bisect_left(self._dated, (begin,)), bisect_left(self._dated, (until,))
        own = (self._dated[at] for at in range(last - 1, first - 1, -1))
        base = self._base
        stored = () if base is None else ((moment, base.tie(doc), doc) for moment, doc in base.dated(begin, until))
        for _, _, doc in merge(own, stored, reverse=True):
            if doc not in self._gone:
                yield doc

    def _lined_up(self, parent: str) -> dict[int, tuple[Sequence[int], int]]:
        found: dict[int, tuple[Sequence[int], int]] = {}
        run: list[int] = []
        before: float | None = None
        docs = self._arranged.get(parent)
        if docs is None:
            docs = sorted(self._members[parent], key=lambda doc: (self.entries[doc].order, doc))
        for doc in docs:
            moment = self.moment(doc)
            if moment is not None and before is not None and abs(moment - before) > SESSION_GAP:
                run = []
            before = moment if moment is not None else before
            run.append(doc)
            found[doc] = (run, len(run) - 1)
        return found

    def _leave(self, doc: int, parent: str) -> None:
        self._moved(parent)
        members = self._members[parent]
        del members[doc]
        if not members:
            del self._members[parent]

    def _moved(self, parent: str) -> None:
        self._dated = None
        self._runs.pop(parent, None)

    def _count(self, entry: Entry, by: int) -> None:
        if entry.speaker:
            speaker = speaker_key(entry.speaker)
            count = self.speakers.get(speaker, 0) + by
            if count > 0:
                self.speakers[speaker] = count
            else:
                self.speakers.pop(speaker, None)
        if entry.links:
            for key in {link_keys(link.category, link.item, entry)[-1] for link in entry.links if link.item}:
                # Counted under the last choice, the one without a scope: who asks decides where it leads.
                self.inbound.add(key, by)


def is_limited(entry: Entry) -> bool:
    """Whether an entry may have been superseded, or have had its time."""
    return bool(entry.metadata.superseded_by or entry.metadata.valid_to)


def speaker_key(speaker: str) -> str:
    """A speaker's name as it is compared."""
    return name_key(speaker) if speaker else ""


def moment_of(ts: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 time; one without a zone counts as UTC; ``None`` if it is no time."""
    if not ts:
        return None
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(ts)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
