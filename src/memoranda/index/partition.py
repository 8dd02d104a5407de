"""One level of one scope: its documents, their order, and what is known of each without reading it."""

from __future__ import annotations

import zlib
from bisect import bisect_left

from memoranda.core.names import name_key
from memoranda.index.entries import fold_exact, link_keys, searchable_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from memoranda.core.model import Level
    from memoranda.core.ports import KeywordIndex
    from memoranda.index.entries import Entry, Key

__all__ = ["SESSION_GAP", "Partition", "moment_of", "speaker_key"]

#: Turns further apart than this, in seconds, are not of one sitting.
SESSION_GAP = 3600.0


class Partition:
    """The documents of one level of one scope.

    ``inbound`` counts, for every key that is linked to, the entries that link
    to it; ``limited`` are the documents that may be superseded or expired;
    ``speakers`` counts documents by who speaks (:func:`speaker_key`).
    """

    def __init__(self, level: Level, scope: str, index: KeywordIndex) -> None:
        self.level = level
        self.scope = scope
        self.index = index
        self.entries: dict[int, Entry] = {}
        self.by_key: dict[Key, int] = {}
        self.inbound: dict[Key, int] = {}
        self.limited: set[int] = set()
        self.speakers: dict[str, int] = {}
        self._next_doc = 0
        self._members: dict[str, dict[int, None]] = {}
        self._runs: dict[str, dict[int, tuple[Sequence[int], int]]] = {}
        self._dated: list[tuple[float, int]] | None = None
        self._folded: dict[int, str] = {}

    def put(self, key: Key, entry: Entry, terms: Sequence[str] | None) -> None:
        """Add an entry or replace the one of the same key; ``terms`` is None where its searched text is the same."""
        doc = self.by_key.get(key)
        if doc is None:
            doc = self._next_doc
            self._next_doc += 1
            self.by_key[key] = doc
        else:
            self._count(self.entries[doc], -1)
        self.entries[doc] = entry
        self._count(entry, 1)
        self._members.setdefault(entry.parent, {})[doc] = None
        self._runs.pop(entry.parent, None)
        self._dated = None
        if entry.metadata.superseded_by or entry.metadata.valid_to:
            self.limited.add(doc)
        else:
            self.limited.discard(doc)
        if terms is not None:
            self._folded.pop(doc, None)
            self.index.put(doc, terms)

    def remove(self, key: Key) -> None:
        """Take an entry out."""
        doc = self.by_key.pop(key)
        entry = self.entries.pop(doc)
        self._count(entry, -1)
        self.index.remove(doc)
        self.limited.discard(doc)
        self._folded.pop(doc, None)
        self._dated = None
        self._runs.pop(entry.parent, None)
        members = self._members[entry.parent]
        del members[doc]
        if not members:
            del self._members[entry.parent]

    def folded(self, doc: int) -> str:
        """Name, speaker and text of a document for exact search: NFKC, case folded; made once."""
        known = self._folded.get(doc)
        if known is None:
            known = self._folded[doc] = fold_exact(searchable_text(self.entries[doc]))
        return known

    def tie(self, doc: int) -> int:
        """A number of the document's own by which equal scores are told apart, the same wherever it is stored."""
        return zlib.crc32(self.entries[doc].address.encode("utf-8", "surrogatepass"))

    def speaker(self, doc: int) -> str:
        """Who speaks there, as ``speakers`` has it; empty for nobody."""
        return speaker_key(self.entries[doc].speaker)

    def moment(self, doc: int) -> float | None:
        """When it was said or happened, in seconds since 1970; a time without a zone counts as UTC."""
        return moment_of(self.entries[doc].ts)

    def run(self, doc: int) -> tuple[Sequence[int], int]:
        """The documents of one sitting in their order, and where among them this one stands.

        They have one parent, and no gap of :data:`SESSION_GAP` between the times of neighbours.
        """
        parent = self.entries[doc].parent
        runs = self._runs.get(parent)
        if runs is None:
            runs = self._runs[parent] = self._lined_up(parent)
        return runs[doc]

    def dated(self, begin: float, until: float) -> Iterator[int]:
        """The documents of a time, ``begin`` included and ``until`` not, the newest first."""
        if self._dated is None:
            moments = ((self.moment(doc), doc) for doc in self.entries)
            self._dated = sorted((moment, doc) for moment, doc in moments if moment is not None)
        first = bisect_left(self._dated, (begin, -1))
        for at in range(bisect_left(self._dated, (until, -1)) - 1, first - 1, -1):
            yield self._dated[at][1]

    def _lined_up(self, parent: str) -> dict[int, tuple[Sequence[int], int]]:
        found: dict[int, tuple[Sequence[int], int]] = {}
        run: list[int] = []
        before: float | None = None
        for doc in sorted(self._members[parent], key=lambda doc: (self.entries[doc].order, doc)):
            moment = self.moment(doc)
            if moment is not None and before is not None and abs(moment - before) > SESSION_GAP:
                run = []
            before = moment if moment is not None else before
            run.append(doc)
            found[doc] = (run, len(run) - 1)
        return found

    def _count(self, entry: Entry, by: int) -> None:
        if entry.speaker:
            speaker = speaker_key(entry.speaker)
            _tally(self.speakers, speaker, by)
        for key in {link_keys(link.category, link.item, entry) for link in entry.links if link.item}:
            # Counted under the last choice, the one without a scope: who asks decides where it leads.
            _tally(self.inbound, key[-1], by)


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


def _tally(counts: dict[Any, int], key: object, by: int) -> None:
    count = counts.get(key, 0) + by
    if count > 0:
        counts[key] = count
    else:
        counts.pop(key, None)
