"""What a segment is made of: the documents of some files, partition by partition, gathered in one pass."""

from __future__ import annotations

import json.encoder
from array import array
from collections import Counter, defaultdict
from zlib import crc32

from memoranda.core.names import name_key
from memoranda.index.bm25 import ONE_MORE, pack
from memoranda.index.entries import address_key, encode_key, link_keys, when
from memoranda.index.fingerprints import fingerprint
from memoranda.index.partition import SESSION_GAP, is_limited, moment_of, speaker_key
from memoranda.index.segment_format import seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.index.entries import Entry, Key

__all__ = ["NO_MOMENT", "Draft"]

#: Stands for no time in a column of times; sorts before every real one.
NO_MOMENT = float("-inf")

#: From here on a term may stand more often in a document than a code can say.
_MANY_TERMS = 4000

_quoted = json.encoder.encode_basestring


class Draft:
    """The documents of one partition, in the order of their files."""

    def __init__(self, level: str, scope: str) -> None:
        self.level = level
        self.scope = scope
        #: For each category, conversation or document: what it is, and its first document.
        self.parents: list[tuple[str, str, str, str, int]] = []
        self.rows: list[bytes] = []
        self.keys: list[bytes] = []
        self.marks = array("I")
        self.prints = array("Q")
        self.moments = array("d")
        self.runs = array("I")
        self.speakers: dict[str, int] = {}
        self.speaking = array("I")
        self.limited: list[int] = []
        self.inbound: Counter[Key] = Counter()
        self.postings: defaultdict[str, list[int]] = defaultdict(list)
        self.total = 0
        self._category_key = ""
        self._path = ""
        self._label_at = 0
        self._moment: float | None = None
        self._dates: dict[str, float | None] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def begin(self, parent: str, path: str, prefix: str, scope: str) -> None:
        """The documents that follow belong to a category or the like; their addresses begin with ``prefix``."""
        self.parents.append((parent, path, prefix, scope, len(self.rows)))
        self._category_key = address_key(prefix)[0]
        self._path = path
        self._label_at = len(prefix)
        self._moment = None

    def add(self, entry: Entry, raw: str, terms: Sequence[str]) -> None:
        """Add a document of the parent begun last; ``raw`` is what the file holds of it."""
        doc = len(self.rows)
        label = entry.address[self._label_at :]
        pairs = [word for pair in entry.metadata.pairs for word in pair]
        # Where a passage stands is more than its place in the order: lines, headings, a page.
        cited = f",{_quoted(entry.citation.removeprefix(self._path))}" if entry.level == "passage" else ""
        row = (
            f"[{_quoted(label)},{_quoted(entry.text)},{_quoted(entry.hash)},{entry.order},"
            f"{_quoted(entry.ts)},{_quoted(entry.speaker)},[{','.join(map(_quoted, pairs))}]{cited}]"
        )
        self.rows.append(seal(row.encode("utf-8", "surrogatepass")))
        name = name_key(label).removeprefix("^") if entry.level == "item" else label
        self.keys.append(encode_key((self._category_key, name)))
        self.marks.append(crc32(entry.address.encode("utf-8", "surrogatepass")))
        self.prints.append(fingerprint(label, raw))
        self._place_in_time(doc, when(entry) if pairs else entry.ts)
        # Nobody is the speaker of the empty name.
        self.speaking.append(self.speakers.setdefault(speaker_key(entry.speaker), len(self.speakers)))
        if ("superseded_by" in pairs or "valid_to" in pairs) and is_limited(entry):
            self.limited.append(doc)
        if entry.links:
            linked = {link_keys(link.category, link.item, entry)[-1] for link in entry.links if link.item}
            self.inbound.update(linked)
        self._count(doc, terms)

    def _place_in_time(self, doc: int, ts: str) -> None:
        if ts in self._dates:
            moment = self._dates[ts]
        else:
            moment = self._dates[ts] = moment_of(ts)
        self.moments.append(NO_MOMENT if moment is None else moment)
        before = self._moment
        starts = doc == self.parents[-1][4] or (
            moment is not None and before is not None and abs(moment - before) > SESSION_GAP
        )
        self.runs.append(doc if starts else self.runs[-1])
        if moment is not None:
            self._moment = moment

    def _count(self, doc: int, terms: Sequence[str]) -> None:
        length = len(terms)
        self.total += length
        postings, place = self.postings, doc << 32
        once = place | pack(1, length)
        if length < _MANY_TERMS:
            for holders in map(postings.__getitem__, terms):
                if holders and holders[-1] >= place:
                    holders[-1] += ONE_MORE
                else:
                    holders.append(once)
            return
        for term, count in Counter(terms).items():
            postings[term].append(place | pack(count, length))
