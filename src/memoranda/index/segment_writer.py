"""Putting parts together into a segment: documents one after the other, terms merged table by table."""

from __future__ import annotations

import itertools
import json
import os
from array import array
from zlib import crc32

from memoranda.core.records import dataclass
from memoranda.index.bm25 import LENGTH_MASK
from memoranda.index.draft import NO_MOMENT
from memoranda.index.segment_format import (
    ENTRY,
    HEADER,
    LOW_WORD,
    MAGIC,
    NUMBER,
    SHARDS,
    VERSION,
    create,
    encode_column,
    encode_table,
    seal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import IO, Any

    from memoranda.index.parts import Part

__all__ = ["KEYS", "DuplicateKeys", "Slot", "TableBytes", "merge_table", "slots_of", "write_segment"]

#: The table that stands behind those of the terms.
KEYS = SHARDS


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a partition comes from: the parts that have it, which of their drafts it is, its first document there."""

    level: str
    scope: str
    sources: tuple[tuple[int, int, int], ...]
    documents: int


@dataclass(frozen=True, slots=True)
class TableBytes:
    """A table ready to be written: its buckets, the column of their places, and the postings they point into."""

    buckets: bytes
    places: bytes
    count: int
    postings: bytes = b""


class DuplicateKeys(Exception):
    """Several documents have one address, or several files one conversation; ``docs`` are some of each such file."""

    def __init__(self, slot: Slot, docs: Sequence[int]) -> None:
        super().__init__(f"{len(docs)} documents share their addresses")
        self.home = (slot.level, slot.scope)
        self.docs = tuple(docs)


def slots_of(parts: Sequence[Part]) -> list[Slot]:
    """The partitions that some parts make together, in the order in which they are met."""
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for at, part in enumerate(parts):
        for number, head in enumerate(part.heads):
            home = (head["level"], head["scope"])
            first = sizes.get(home, 0)
            found.setdefault(home, []).append((at, number, first))
            sizes[home] = first + head["documents"]
    return [Slot(*home, tuple(sources), sizes[home]) for home, sources in found.items()]


def merge_table(parts: Sequence[Part], slot: Slot, shard: int) -> TableBytes:
    """One table of a partition: a share of its terms, or (:data:`KEYS`) the addresses.

    Raises:
        DuplicateKeys: an address comes twice.
        SegmentDamaged: a part is not what was written.
    """
    return _merge_keys(parts, slot) if shard == KEYS else _merge_terms(parts, slot, shard)


def _merge_terms(parts: Sequence[Part], slot: Slot, shard: int) -> TableBytes:
    # A term that stands once has its posting alone: most do.
    merged: dict[bytes, array[int] | int] = {}
    for at, number, first in slot.sources:
        part = parts[at]
        names = part.section(number, f"terms{shard}")
        if not names and not part.section(number, f"counts{shard}"):
            continue
        words = part.numbers(number, f"postings{shard}", "Q")
        if first:
            shift = first << 32
            words = array("Q", [word + shift for word in words])
        end = 0
        for name, count in zip(names.split(b"\n"), part.numbers(number, f"counts{shard}", "I"), strict=True):
            start, end = end, end + count
            known = merged.get(name)
            if known is None:
                merged[name] = words[start] if count == 1 else words[start:end]
            elif isinstance(known, int):
                merged[name] = joined = array("Q", [known])
                joined.extend(words[start:end])
            else:
                known.extend(words[start:end])
    postings: list[bytes] = []
    buckets, places = encode_table(_term_entries(merged, postings), len(merged))
    return TableBytes(buckets, places, len(merged), b"".join(postings))


def _term_entries(merged: Mapping[bytes, array[int] | int], postings: list[bytes]) -> Iterator[tuple[int, bytes]]:
    offset, pack = 0, ENTRY.pack
    for name, words in merged.items():
        if isinstance(words, int):
            # The only posting stands in the place of its place.
            code = words & 0xFFFF_FFFF
            yield crc32(name), pack(len(name), code >> 20, 1, code & LENGTH_MASK, 0, words) + name
            continue
        df = len(words)
        data = words.tobytes()
        halves = array("I")
        halves.frombytes(data)
        codes = halves[LOW_WORD::2]
        most = max(codes) >> 20
        shortest = min(codes) & LENGTH_MASK if most == 1 else min([code & LENGTH_MASK for code in codes])
        yield crc32(name), pack(len(name), most, df, shortest, crc32(data), offset) + name
        postings.append(data)
        offset += len(data)


def _merge_keys(parts: Sequence[Part], slot: Slot) -> TableBytes:
    docs: dict[bytes, int] = {}
    twice: list[int] = []
    for at, number, first in slot.sources:
        keys, end = parts[at].section(number, "keys"), 0
        for doc, size in enumerate(parts[at].numbers(number, "key_sizes", "I"), first):
            start, end = end, end + size
            key = keys[start:end]
            if (other := docs.setdefault(key, doc)) != doc:
                twice += (other, doc)
    twice += _parents_twice(parts, slot)
    if twice:
        raise DuplicateKeys(slot, sorted(set(twice)))
    pack = NUMBER.pack
    entries = ((crc32(key), pack(len(key), doc) + key) for key, doc in docs.items())
    buckets, places = encode_table(entries, len(docs))
    return TableBytes(buckets, places, len(docs))


def _parents_twice(parts: Sequence[Part], slot: Slot) -> list[int]:
    firsts: dict[str, int] = {}
    twice: list[int] = []
    for at, number, first in slot.sources:
        for parent in parts[at].heads[number]["parents"]:
            doc = parent[4] + first
            if (other := firsts.setdefault(parent[0], doc)) != doc:
                twice += (other, doc)
    return twice


def write_segment(
    path: str,
    parts: Sequence[Part],
    contents: Mapping[str, Any],
    table: Callable[[int, int], TableBytes],
    slots: Sequence[Slot],
) -> None:
    """Write a segment in one step. ``table`` gives a partition's tables by their numbers.

    Raises:
        OSError: it could not be written.
        SegmentDamaged: a part is not what was written.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with create(temporary) as stream:
            stream.write(bytes(HEADER.size + 4))
            homes = [[slot.level, slot.scope, *_write_partition(stream, parts, slot, number, table)]
                     for number, slot in enumerate(slots)]  # fmt: skip
            place = _write_json(stream, {**contents, "partitions": homes})
            stream.seek(0)
            stream.write(seal(HEADER.pack(MAGIC, VERSION, *place)))
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _write_partition(
    stream: IO[bytes],
    parts: Sequence[Part],
    slot: Slot,
    number: int,
    table: Callable[[int, int], TableBytes],
) -> tuple[int, int]:
    """Write all of a partition; where its head is."""
    speakers, speaking = _speakers(parts, slot)
    sources = [(parts[at], draft, first, parts[at].heads[draft]) for at, draft, first in slot.sources]
    moments = _numbers(sources, "moments", "d")
    marks = _numbers(sources, "marks", "I")
    timed = sorted((moment, marks[doc], doc) for doc, moment in enumerate(moments) if moment != NO_MOMENT)
    dated = [doc for _, _, doc in timed]
    head: dict[str, Any] = {
        "documents": slot.documents,
        "total": sum(source[3]["total"] for source in sources),
        "parents": [[*p[:4], p[4] + first] for _, _, first, at in sources for p in at["parents"]],
        "limited": [doc + first for _, _, first, at in sources for doc in at["limited"]],
        "speakers": speakers,
        "dated": len(dated),
    }
    head["rows"] = stream.tell()
    stream.writelines(part.section(draft, "rows") for part, draft, _, _ in sources)
    sizes = itertools.chain.from_iterable(part.numbers(draft, "row_sizes", "I") for part, draft, _, _ in sources)
    columns: list[tuple[str, array[Any]]] = [
        ("places", array("Q", itertools.accumulate(sizes, initial=0))),
        ("marks", marks),
        ("prints", _numbers(sources, "prints", "Q")),
        ("moments", moments),
        ("runs", _shifted(sources, "runs")),
        ("speaking", speaking),
        ("dated_docs", array("I", dated)),
        ("dated_moments", array("d", [moments[doc] for doc in dated])),
    ]
    head["columns"] = {name: _write(stream, encode_column(numbers)) for name, numbers in columns}
    head["keys"] = _write_table(stream, table(number, KEYS))[:3]
    head["inbound"] = _write_table(stream, _inbound(at for *_, at in sources))[:3]
    head["terms"] = [_write_table(stream, table(number, shard)) for shard in range(SHARDS)]
    return _write_json(stream, head)


def _write(stream: IO[bytes], data: bytes) -> int:
    place = stream.tell()
    stream.write(data)
    return place


def _write_json(stream: IO[bytes], value: Mapping[str, Any]) -> tuple[int, int]:
    data = seal(json.dumps(value, separators=(",", ":")).encode("ascii"))
    return _write(stream, data), len(data)


def _write_table(stream: IO[bytes], made: TableBytes) -> list[int]:
    """Where the buckets, their places and the postings are, and how many buckets."""
    from memoranda.index.segment_format import bucket_count

    postings = _write(stream, made.postings)
    return [_write(stream, made.buckets), _write(stream, made.places), bucket_count(made.count), postings]


def _inbound(heads: Iterable[Mapping[str, Any]]) -> TableBytes:
    counts: dict[bytes, int] = {}
    for head in heads:
        for category, name, count in head["inbound"]:
            key = f"{category}\0{name}".encode("utf-8", "surrogatepass")
            counts[key] = counts.get(key, 0) + count
    entries = ((crc32(key), NUMBER.pack(len(key), count) + key) for key, count in counts.items())
    buckets, places = encode_table(entries, len(counts))
    return TableBytes(buckets, places, len(counts))


def _numbers(sources: Any, name: str, typecode: str) -> array[Any]:
    found = array(typecode)
    for part, draft, _, _ in sources:
        found.extend(part.numbers(draft, name, typecode))
    return found


def _shifted(sources: Any, name: str) -> array[int]:
    found = array("I")
    for part, draft, first, _ in sources:
        numbers = part.numbers(draft, name, "I")
        found.extend(array("I", [number + first for number in numbers]) if first else numbers)
    return found


def _speakers(parts: Sequence[Part], slot: Slot) -> tuple[list[list[Any]], array[int]]:
    """Every speaker with a number of documents, and for each document which of them it is."""
    numbers: dict[str, int] = {}
    speaking = array("I")
    for at, draft, _ in slot.sources:
        local = [numbers.setdefault(name, len(numbers)) for name in parts[at].heads[draft]["speakers"]]
        speaking.extend(array("I", map(local.__getitem__, parts[at].numbers(draft, "speaking", "I"))))
    counts = [0] * len(numbers)
    for speaker in speaking:
        counts[speaker] += 1
    return [[name, counts[number]] for name, number in numbers.items()], speaking
