"""Parts: drafts as bytes, in memory or in a file each, ready to be put together into one segment.

A part holds what some files hold. It is what a build that was interrupted does
not have to make again, and what several processes can make at once.
"""

from __future__ import annotations

import json
import os
from array import array
from zlib import crc32

from memoranda.index.segment_format import SHARD_SHIFT, SHARDS, create, seal, unseal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from memoranda.index.draft import Draft

__all__ = ["FilePart", "Part", "encode_part", "write_part"]


class Part:
    """Drafts as named stretches of bytes; ``heads`` say the rest, a dictionary for each draft."""

    def __init__(self, heads: list[dict[str, Any]], sections: dict[str, bytes]) -> None:
        self.heads = heads
        self._sections = sections

    def section(self, draft: int, name: str) -> bytes:
        """One stretch of bytes. Raises SegmentDamaged."""
        return self._sections[f"{draft}.{name}"]

    def numbers(self, draft: int, name: str, typecode: str) -> array[Any]:
        """The same as numbers."""
        found = array(typecode)
        found.frombytes(self.section(draft, name))
        return found


class FilePart(Part):
    """A part in a file, read stretch by stretch.

    Raises:
        SegmentDamaged: it is no whole part.
        OSError: there is none.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        with open(path, "rb") as stream:
            size = int.from_bytes(stream.read(4), "little")
            head = json.loads(unseal(stream.read(size)))
            self._start = 4 + size
        super().__init__(head["heads"], {})
        #: What the worker had to say of each file.
        self.files: list[dict[str, Any]] = head["files"]
        self._places: dict[str, list[int]] = head["places"]

    def section(self, draft: int, name: str) -> bytes:
        """One stretch of bytes. Raises SegmentDamaged."""
        offset, size = self._places[f"{draft}.{name}"]
        with open(self._path, "rb") as stream:
            stream.seek(self._start + offset)
            return unseal(stream.read(size))


def encode_part(drafts: Sequence[Draft]) -> Part:
    """The drafts as one part in memory."""
    heads: list[dict[str, Any]] = []
    sections: dict[str, bytes] = {}
    for number, draft in enumerate(drafts):
        head, stretches = _encode(draft)
        heads.append(head)
        sections.update((f"{number}.{name}", data) for name, data in stretches)
    return Part(heads, sections)


def write_part(path: str, drafts: Sequence[Draft], files: Sequence[dict[str, Any]]) -> None:
    """Write a part, and what is to be known of its files, in one step. Raises OSError."""
    part = encode_part(drafts)
    places, data, offset = {}, [], 0
    for name, section in part._sections.items():
        data.append(sealed := seal(section))
        places[name] = [offset, len(sealed)]
        offset += len(sealed)
    head = seal(json.dumps({"heads": part.heads, "files": list(files), "places": places}).encode("ascii"))
    temporary = f"{path}.{os.getpid()}.tmp"
    with create(temporary) as stream:
        stream.write(len(head).to_bytes(4, "little"))
        stream.write(head)
        stream.writelines(data)
    os.replace(temporary, path)


def _encode(draft: Draft) -> tuple[dict[str, Any], Iterator[tuple[str, bytes]]]:
    head = {
        "level": draft.level,
        "scope": draft.scope,
        "documents": len(draft),
        "total": draft.total,
        "parents": draft.parents,
        "limited": draft.limited,
        "speakers": list(draft.speakers),
        "inbound": [[*key, count] for key, count in draft.inbound.items()],
    }
    return head, _stretches(draft)


def _stretches(draft: Draft) -> Iterator[tuple[str, bytes]]:
    yield "rows", b"".join(draft.rows)
    yield "row_sizes", array("I", map(len, draft.rows)).tobytes()
    yield "keys", b"".join(draft.keys)
    yield "key_sizes", array("I", map(len, draft.keys)).tobytes()
    for name in ("marks", "prints", "moments", "runs", "speaking"):
        yield name, getattr(draft, name).tobytes()
    names: list[list[bytes]] = [[] for _ in range(SHARDS)]
    counts = [array("I") for _ in range(SHARDS)]
    postings = [array("Q") for _ in range(SHARDS)]
    for term, holders in draft.postings.items():
        key = term.encode("utf-8", "surrogatepass")
        shard = crc32(key) >> SHARD_SHIFT
        names[shard].append(key)
        counts[shard].append(len(holders))
        postings[shard].extend(holders)
    for shard in range(SHARDS):
        yield f"terms{shard}", b"\n".join(names[shard])
        yield f"counts{shard}", counts[shard].tobytes()
        yield f"postings{shard}", postings[shard].tobytes()
