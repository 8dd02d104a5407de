"""Making a segment from the files: gathered part by part, in several processes where that pays, then put together.

What was gathered lies in ``.cache/build`` until the segment stands: a build that
was interrupted goes on from there, for the files that are still as they were.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from bisect import bisect_right
from contextlib import suppress

from memoranda.core.records import dataclass
from memoranda.index.build_pool import BuildPool, usable_cores
from memoranda.index.build_tasks import find_tables
from memoranda.index.parts import FilePart
from memoranda.index.segment_format import SHARDS, SegmentDamaged
from memoranda.index.segment_keeper import build_folder, made_with
from memoranda.index.segment_writer import KEYS, DuplicateKeys, Slot, merge_table, slots_of, write_segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any

    from memoranda.index.build_tasks import TablePlace
    from memoranda.index.segment_keeper import Kind
    from memoranda.index.segmenting import Segmentation

__all__ = ["Builder", "Source"]

#: From so many bytes of files on, other processes are worth their start.
_SHARED_WORK = 1_500_000
_SMALLEST_PART, _LARGEST_PART = 500_000, 8_000_000
#: Of so many documents a partition's tables are worth handing out.
_SHARED_TABLES = 5_000
_BATCHES = 4
#: Seconds after which nobody is still writing a file.
_ABANDONED = 600.0
#: Seconds after which nobody goes on with an interrupted build.
_FORGOTTEN = 86_400.0


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be indexed: its level, where it is, its category's address, and its stamp (four numbers).

    Of a document ``cut`` is by what size and overlap.
    """

    level: str
    relative: str
    path: str
    address: str
    stamp: tuple[int, int, int, int]
    cut: tuple[int, ...] = ()


class Builder:
    """One build in a vault's ``.cache``, which must be there. To be used in a ``with`` block.

    Calls raise OSError where the cache cannot be written, and SegmentDamaged
    where somebody else was at work in it.
    """

    def __init__(
        self,
        cache: str,
        progress: Callable[[int, int | None], None] | None = None,
        segmentation: Segmentation | None = None,
        kind: Kind = "keywords",
    ) -> None:
        self._folder = os.path.join(cache, build_folder(kind))
        self._target = os.path.join(cache, f"{kind}.segment")
        # Two builds at once are no harm: the parts are the same, and each puts its own segment in place.
        self._new = f"{self._target}.{os.getpid()}.new"
        self._progress = progress
        self._made_with = made_with(segmentation, kind)
        #: What a task has beside its files and where to: by what its texts are cut.
        self._cut_by = {} if segmentation is None else {"segmentation": list(segmentation.origin)}
        self._pool = BuildPool(0)
        self._parts: list[FilePart] = []
        self._paths: list[str] = []
        self._refused: set[str] = set()
        #: What was found of each file, by relative path: ``stamp``, ``settled``, ``hash``, ``level``, ``scope``.
        self.files: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Builder:
        self._sweep()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, trace)
        if isinstance(error, (SegmentDamaged, OSError)):
            # What was gathered is not to be trusted, or there is no room for it: the next build begins anew.
            self.abandon()

    def gather(self, sources: Sequence[Source]) -> None:
        """Read the files, but for those that an earlier call or an interrupted build read as they are now."""
        sources = sorted((s for s in sources if s.relative not in self._refused), key=lambda s: (s.level, s.relative))
        total = sum(source.stamp[1] for source in sources)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        if total >= _SHARED_WORK and not self._pool.workers:
            self._pool = BuildPool(usable_cores())
        chunks = list(_chunks(sources, total))
        self._paths = [os.path.join(self._folder, f"{_name_of(chunk, self._made_with)}.part") for chunk in chunks]
        missing = [at for at, path in enumerate(self._paths) if not _is_part(path)]
        done = total - sum(source.stamp[1] for at in missing for source in chunks[at])
        tasks: list[dict[str, Any]] = [
            {"sources": [_row(source) for source in chunks[at]], "out": self._paths[at], **self._cut_by}
            for at in missing
        ]
        for number, _ in self._pool.run(tasks):
            done += sum(source.stamp[1] for source in chunks[missing[number]])
            if self._progress is not None:
                # In hundredths: the last tenth is putting it together.
                self._progress(done * 90 // max(total, 1), 100)
        self._parts = [FilePart(path) for path in self._paths]
        self.files = {file["path"]: file for part in self._parts for file in part.files}

    def assemble(self, contents: Mapping[str, Any]) -> bool:
        """Put the parts together, ready to be installed; False: some files are to be left out, gather again first.

        ``contents`` is what the segment is to say of itself.
        """
        slots = slots_of(self._parts)
        try:
            tables = self._shared_tables(slots)
            write_segment(
                self._new,
                self._parts,
                contents,
                lambda slot, shard: (
                    tables[slot, shard].read()
                    if (slot, shard) in tables
                    else merge_table(self._parts, slots[slot], shard)
                ),
                slots,
            )
        except _Refused:
            return False
        except DuplicateKeys as found:
            self._refuse(found.docs, found.home, slots)
            return False
        return True

    def install(self) -> None:
        """Put what was assembled in place of the present segment, and remove what it was made of."""
        os.replace(self._new, self._target)
        self._remove_parts()

    def abandon(self) -> None:
        """Remove what was made so far."""
        with suppress(OSError):
            os.unlink(self._new)
        self._remove_parts()

    def _remove_parts(self) -> None:
        import shutil

        shutil.rmtree(self._folder, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what builds that were killed left half-written, and what lies in the way."""
        import shutil

        if os.path.islink(self._folder) or os.path.isfile(self._folder):
            os.unlink(self._folder)
        for target in (self._target, self._new):
            if os.path.isdir(target) and not os.path.islink(target):
                shutil.rmtree(target)
        for folder in (os.path.dirname(self._target), self._folder):
            with suppress(OSError), os.scandir(folder) as listing:
                for entry in list(listing):
                    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    kept = _FORGOTTEN if entry.name.endswith(".part") else _ABANDONED
                    if entry.name.endswith((".tmp", ".tables", ".new", ".part")) and age > kept:
                        os.unlink(entry.path)

    def _shared_tables(self, slots: Sequence[Slot]) -> dict[tuple[int, int], TablePlace]:
        """The tables of large partitions, where other processes can make them."""
        tasks: list[dict[str, Any]] = []
        for number, slot in enumerate(slots):
            if slot.documents < _SHARED_TABLES or self._pool.workers < 2:
                continue
            for batch in range(_BATCHES):
                shards = [*range(batch, SHARDS, _BATCHES), *([KEYS] if batch == 0 else [])]
                out = os.path.join(self._folder, f"{number}-{batch}.tables")
                tasks.append({"parts": self._paths, "tables": [[number, shard] for shard in shards], "out": out})
        made: dict[tuple[int, int], TablePlace] = {}
        for at, answer in self._pool.run(tasks):
            if "duplicates" in answer:
                self._refuse(answer["duplicates"], answer["home"], slots)
                raise _Refused
            made.update(find_tables(tasks[at]["out"]))
        return made

    def _refuse(self, docs: Sequence[int], home: Sequence[str], slots: Sequence[Slot]) -> None:
        """Leave out the files of some documents: they are read anew by every process."""
        (slot,) = (slot for slot in slots if [slot.level, slot.scope] == list(home))
        for at, draft, first in slot.sources:
            head = self._parts[at].heads[draft]
            firsts = [parent[4] + first for parent in head["parents"]]
            inside = [doc for doc in docs if first <= doc < first + head["documents"]]
            self._refused.update(head["parents"][bisect_right(firsts, doc) - 1][1] for doc in inside)


class _Refused(Exception):
    """Some files are to be left out."""


def _chunks(sources: Sequence[Source], total: int) -> Iterator[list[Source]]:
    """The sources in stretches of about the same size."""
    limit = max(_SMALLEST_PART, min(_LARGEST_PART, total // 8 + 1))
    chunk: list[Source] = []
    size = 0
    for source in sources:
        if chunk and size + source.stamp[1] > limit:
            yield chunk
            chunk, size = [], 0
        chunk.append(source)
        size += source.stamp[1]
    if chunk:
        yield chunk


def _row(source: Source) -> dict[str, Any]:
    row: dict[str, Any] = {
        "level": source.level,
        "relative": source.relative,
        "path": source.path,
        "address": source.address,
        "stamp": list(source.stamp),
    }
    return {**row, "cut": list(source.cut)} if source.cut else row


def _name_of(chunk: Sequence[Source], shaped: Sequence[int | str]) -> str:
    """Of the same files as they are now, analysed alike, the same name."""
    text = json.dumps([shaped, [_row(source) for source in chunk]])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _is_part(path: str) -> bool:
    with suppress(OSError, SegmentDamaged, ValueError, KeyError):
        FilePart(path)
        return True
    return False
