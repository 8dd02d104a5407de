"""A segment: what some files held when it was made, partition by partition, without reading those files."""

from __future__ import annotations

import json
from bisect import bisect_right
from contextlib import contextmanager
from struct import error as struct_error
from zlib import crc32

from memoranda.core.links import find_links
from memoranda.core.metadata import EMPTY_METADATA, Metadata
from memoranda.index.entries import Entry
from memoranda.index.segment_format import SegmentDamaged, unseal
from memoranda.index.segment_reader import Column, PostingTable, SegmentFile, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from memoranda.core.model import Level

__all__ = ["Parent", "Segment", "SegmentPartition"]

#: Category, conversation or document; its file, what its entries' addresses begin with, scope as written, first entry.
Parent = tuple[str, str, str, str, int]

_RUNS_HELD = 16_384
_decode = json.JSONDecoder().raw_decode
_UNSOUND = (KeyError, TypeError, ValueError, IndexError, OverflowError, MemoryError, RecursionError, struct_error)
_COLUMNS = {
    "marks": "I",
    "prints": "Q",
    "moments": "d",
    "runs": "I",
    "speaking": "I",
}


@contextmanager
def sound() -> Iterator[None]:
    """Whatever goes wrong with what was read means that it is not what was written."""
    try:
        yield
    except _UNSOUND as error:
        raise SegmentDamaged(f"{type(error).__name__}: {error}") from error


class Segment:
    """An open segment. Raises SegmentDamaged, and so may everything that is read from it; OSError: there is none."""

    def __init__(self, path: str) -> None:
        self._file = SegmentFile(path)
        self.contents: dict[str, Any] = self._file.contents
        self._partitions: dict[tuple[str, str], SegmentPartition] = {}
        with sound():
            homes = [(level, str(scope)) for level, scope, _, _ in self.contents["partitions"]]
            self.homes: list[tuple[Level, str]] = homes
            files = [(level, scope) for level, path, stamp, settled, hash, scope in self.contents["files"]]
            if not set(files) <= set(self.homes):
                raise SegmentDamaged("files without their documents")

    def partition(self, level: Level, scope: str) -> SegmentPartition:
        """The partition of a level and scope that is in ``homes``."""
        home = (level, scope)
        if home not in self._partitions:
            with sound():
                place = self.contents["partitions"][self.homes.index(home)][2:]
                self._partitions[home] = SegmentPartition(self._file, self._file.read_json(*place), level)
        return self._partitions[home]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


class SegmentPartition:
    """One level of one scope as it is on disk. Documents are numbered from 0, in the order of their files."""

    def __init__(self, file: SegmentFile, head: dict[str, Any], level: Level) -> None:
        self._file, self._level = file, level
        self.documents: int = head["documents"]
        self.total_length: int = head["total"]
        self.parents: list[Parent] = [tuple(parent) for parent in head["parents"]]
        self.limited: list[int] = head["limited"]
        self._speakers: list[tuple[str, int]] = [tuple(speaker) for speaker in head["speakers"]]
        self._firsts = [parent[4] for parent in self.parents]
        whole = self._firsts[:1] == [0] if self.documents or self._firsts else True
        if not whole or sorted(self._firsts) != self._firsts or min(self.documents, self.total_length) < 0:
            raise SegmentDamaged("no order of documents")
        self._rows: int = head["rows"]
        places: dict[str, int] = head["columns"]
        self._places = Column(file, places["places"], "Q", self.documents + 1)
        columns = {name: Column(file, places[name], code, self.documents) for name, code in _COLUMNS.items()}
        self._marks, self._prints, self._moments = columns["marks"], columns["prints"], columns["moments"]
        self._runs, self._speaking = columns["runs"], columns["speaking"]
        self._dated = (
            Column(file, places["dated_moments"], "d", head["dated"]),
            Column(file, places["dated_docs"], "I", head["dated"]),
        )
        self._keys = Table(file, head["keys"])
        self._inbound = Table(file, head["inbound"])
        self._terms = PostingTable(file, head["terms"])
        self._whole_runs: dict[int, range] = {}
        self._by_name: dict[str, list[int]] | None = None
        self._by_path: dict[str, list[int]] | None = None

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        found = self._terms.find(term)
        return 0 if found is None else found[1]

    def columns(self, term: str) -> tuple[Sequence[int], Sequence[int]] | None:
        """The documents that hold the term, ascending, and their codes."""
        return self._terms.columns(term)

    def codes(self, term: str, docs: Collection[int]) -> list[tuple[int, int]]:
        """Of these documents, those that hold the term, with their codes."""
        return self._terms.codes(term, docs)

    def bounds(self, term: str) -> tuple[int, int]:
        """The most times that a document holds the term, and the length of the shortest that does."""
        found = self._terms.find(term)
        return (0, 0) if found is None else (found[0], found[2])

    def terms(self) -> Iterator[str]:
        """Every term."""
        return self._terms.terms()

    def entry(self, doc: int, order: int | None = None) -> Entry:
        """A document as it was; ``order`` is where it stands now, if that is known to be elsewhere."""
        start, end = self._places[doc], self._places[doc + 1]
        try:
            data = unseal(self._file.read(self._rows + start, end - start))
            row, _ = _decode(data.decode("utf-8", "surrogatepass"))
            label, text, hashed, line, ts, speaker, pairs, *cited = row
            # Of a passage the row says what its citation ends with.
            ending = str(cited[0]) if self._level == "passage" else ""
        except (ValueError, IndexError) as error:
            raise SegmentDamaged(str(error)) from error
        parent, path, prefix, scope, _ = self.parents[self.parent_at(doc)]
        line = line if order is None else order
        address, is_item = prefix + label, self._level == "item"
        return Entry(
            address=address,
            level=self._level,
            scope=scope,
            category=parent.removeprefix("kb/") if ending else parent,
            name=label if is_item else "",
            text=text,
            hash=hashed,
            metadata=Metadata(tuple(zip(pairs[::2], pairs[1::2], strict=True))) if pairs else EMPTY_METADATA,
            links=find_links(text) if self._level != "resource" and "[[" in text else (),
            citation=f"{path}:{line}" if is_item else path + ending if ending else address,
            speaker=speaker,
            ts=ts,
            order=line,
            parent=parent,
        )

    def parent_at(self, doc: int) -> int:
        """Which of the ``parents`` a document belongs to."""
        return bisect_right(self._firsts, doc) - 1

    def documents_of(self, parent: int) -> range:
        """The documents of a parent."""
        end = self._firsts[parent + 1] if parent + 1 < len(self._firsts) else self.documents
        return range(self._firsts[parent], end)

    def parents_in(self, path: str) -> list[int]:
        """The parents whose documents are in a file."""
        if self._by_path is None:
            self._by_path = _numbered(parent[1] for parent in self.parents)
        return self._by_path.get(path, [])

    def parents_named(self, name: str) -> list[int]:
        """The parents of this name."""
        if self._by_name is None:
            self._by_name = _numbered(parent[0] for parent in self.parents)
        return self._by_name.get(name, [])

    def prints(self, docs: range) -> list[int]:
        """The fingerprints of neighbouring documents (:func:`memoranda.index.fingerprints.fingerprint`)."""
        return self._prints.slice(docs.start, docs.stop) if docs else []

    def find(self, key: bytes) -> int | None:
        """The document under an encoded key."""
        found = self._keys.find(key, crc32(key))
        return None if found is None else found[0]

    def inbound(self, key: bytes) -> int:
        """How many documents link to a key."""
        found = self._inbound.find(key, crc32(key))
        return 0 if found is None else found[0]

    def tie(self, doc: int) -> int:
        """The checksum of a document's address."""
        return int(self._marks[doc])

    def speakers(self) -> dict[str, int]:
        """Everyone who speaks, with a number of documents."""
        return {name: count for name, count in self._speakers if name}

    def speaker(self, doc: int) -> str:
        """Who speaks in a document; empty for nobody."""
        try:
            name: str = self._speakers[self._speaking[doc]][0]
            return name
        except IndexError:
            raise SegmentDamaged("no such speaker") from None

    def moment(self, doc: int) -> float | None:
        """When it was, in seconds since 1970."""
        moment = self._moments[doc]
        return None if moment == float("-inf") else moment

    def run(self, doc: int) -> range:
        """The documents of one sitting, without a look at what has changed since."""
        first = self._runs[doc]
        known = self._whole_runs.get(first)
        if known is not None:
            return known
        documents = self.documents_of(self.parent_at(doc))
        # The first documents of later runs ascend: the end is where they begin to differ.
        low, high = doc + 1, documents.stop
        while low < high:
            middle = (low + high) // 2
            if self._runs[middle] == first:
                low = middle + 1
            else:
                high = middle
        if len(self._whole_runs) >= _RUNS_HELD:
            self._whole_runs.clear()
        known = self._whole_runs[first] = range(first, low)
        return known

    def dated(self, begin: float, until: float) -> Iterator[tuple[float, int]]:
        """Moment and document of what lies in a time, the newest first."""
        moments, docs = self._dated
        first = _first_at(moments, begin)
        for at in range(_first_at(moments, until) - 1, first - 1, -1):
            yield moments[at], docs[at]


def _numbered(names: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        found.setdefault(name, []).append(number)
    return found


def _first_at(moments: Column, moment: float) -> int:
    low, high = 0, moments.count
    while low < high:
        middle = (low + high) // 2
        if moments[middle] < moment:
            low = middle + 1
        else:
            high = middle
    return low
