"""The two kinds of work that a build consists of, each from files to a file, so that any process can do it."""

from __future__ import annotations

import json
import os
import time

from memoranda.core.addresses import parse_address
from memoranda.core.analysis import analyze
from memoranda.core.errors import Conflict, VaultUnreadable
from memoranda.core.items import parse
from memoranda.core.records import dataclass
from memoranda.index.entries import indexed_terms, library_of
from memoranda.index.gather import Drafts
from memoranda.index.parts import FilePart, write_part
from memoranda.index.segment_format import SegmentDamaged, create, seal, unseal
from memoranda.index.segment_writer import DuplicateKeys, TableBytes, merge_table, slots_of
from memoranda.storage.categories import bytes_hash
from memoranda.storage.files import Stamp, read_bytes
from memoranda.storage.jsonlines import JsonLines
from memoranda.storage.resources import turn_from_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from memoranda.index.entries import Entry

__all__ = ["TablePlace", "find_tables", "perform"]


def perform(task: dict[str, Any]) -> dict[str, Any]:
    """Do one task; what is to be told of it.

    ``{"sources": [...], "out": path}`` gathers files into a part;
    ``{"parts": [...], "tables": [[partition, table], ...], "out": path}`` merges
    tables of parts. Faults of single files are told, not raised. With
    ``"segmentation": [loader, argument]`` texts are analysed by that.

    Raises:
        MissingExtra: no such segmentation can be loaded here.
        OSError: ``out`` could not be written.
        SegmentDamaged: a part is not what was written.
    """
    if "sources" in task:
        return _gather(task["sources"], task["out"], task.get("segmentation"))
    try:
        return _make_tables([FilePart(path) for path in task["parts"]], task["tables"], task["out"])
    except DuplicateKeys as found:
        return {"duplicates": found.docs, "home": found.home}


def _terms_of(entry: Entry) -> Sequence[str]:
    return indexed_terms(entry, analyze)


def _terms_by(origin: Sequence[str]) -> Callable[[Entry], Sequence[str]]:
    from memoranda.index.segmenting import load_segmentation

    segmented = load_segmentation(*origin).terms
    return lambda entry: indexed_terms(entry, segmented)


def _gather(sources: Sequence[dict[str, Any]], out: str, origin: Sequence[str] | None) -> dict[str, Any]:
    drafts, files = Drafts(_terms_by(origin) if origin else _terms_of), []
    for source in sources:
        started = time.time_ns()
        seen = Stamp(*source["stamp"])
        hashed, count = "", 0
        try:
            if source["level"] == "passage":
                count = _add_document(drafts, source)
                stamp = Stamp.of(os.stat(source["path"]))
            elif source["level"] == "item":
                data = read_bytes(source["path"])
                category = parse(data.decode("utf-8"))
                hashed = bytes_hash(data)
                stamp = Stamp.of(os.stat(source["path"]))
                count = drafts.add_category(parse_address(source["address"]), source["relative"], category)
            else:
                turns = [t for t in map(turn_from_record, JsonLines(source["path"]).read()) if t is not None]
                stamp = Stamp.of(os.stat(source["path"]))
                count = drafts.add_turns(source["relative"], turns)
        except (OSError, UnicodeDecodeError, VaultUnreadable, Conflict):
            continue  # who reads the vault meets it again, and says so
        settled = stamp == seen and stamp.is_settled(started)
        row = [stamp.inode, stamp.size, stamp.mtime_ns, stamp.ctime_ns]
        files.append(
            {"level": source["level"], "path": source["relative"], "stamp": row, "settled": settled, "hash": hashed}
            | {"scope": _scope(source), "count": count}
        )
    write_part(out, drafts.all(), files)
    return {"files": len(files)}


def _add_document(drafts: Drafts, source: dict[str, Any]) -> int:
    from memoranda.core.passages import cut

    size, overlap = source["cut"]
    passages = cut(read_bytes(source["path"]).decode("utf-8"), size=size, overlap=overlap)
    corpus, name = source["relative"].split("/")[-2:]
    return drafts.add_document(corpus, name.removesuffix(".md"), source["relative"], passages)


def _scope(source: dict[str, Any]) -> str:
    from memoranda.core.names import name_key

    if source["level"] == "passage":
        return library_of(source["relative"].split("/")[-2])
    return name_key(str(parse_address(source["address"]).scope)) if source["level"] == "item" else "shared"


def _make_tables(parts: Sequence[FilePart], tables: Sequence[Sequence[int]], out: str) -> dict[str, Any]:
    slots = slots_of(parts)
    heads, data = [], []
    for slot, shard in tables:
        made = merge_table(parts, slots[slot], shard)
        pieces = [seal(made.buckets), seal(made.places), seal(made.postings)]
        heads.append([slot, shard, made.count, *map(len, pieces)])
        data += pieces
    head = seal(json.dumps(heads).encode("ascii"))
    with create(out) as stream:
        stream.write(len(head).to_bytes(4, "little"))
        stream.write(head)
        stream.writelines(data)
    return {"tables": len(heads)}


def find_tables(path: str) -> Iterator[tuple[tuple[int, int], TablePlace]]:
    """Where the tables in a file are, by partition and number. Raises OSError, SegmentDamaged."""
    with open(path, "rb") as stream:
        size = int.from_bytes(stream.read(4), "little")
        try:
            heads = json.loads(unseal(stream.read(size)))
        except ValueError as error:
            raise SegmentDamaged(str(error)) from error
    offset = 4 + size
    for slot, shard, count, *sizes in heads:
        yield (slot, shard), TablePlace(path, offset, count, tuple(sizes))
        offset += sum(sizes)


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A table in a file."""

    path: str
    offset: int
    count: int
    sizes: tuple[int, ...]

    def read(self) -> TableBytes:
        """The table. Raises OSError, SegmentDamaged."""
        with open(self.path, "rb") as stream:
            stream.seek(self.offset)
            buckets, places, postings = (unseal(stream.read(size)) for size in self.sizes)
        return TableBytes(buckets, places, self.count, postings)
