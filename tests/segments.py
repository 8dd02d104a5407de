"""Small segments for tests, made of entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from memoranda.core.analysis import analyze
from memoranda.index.draft import Draft
from memoranda.index.entries import Entry, searchable_text
from memoranda.index.parts import encode_part
from memoranda.index.segment import Segment
from memoranda.index.segment_writer import merge_table, slots_of, write_segment

__all__ = ["analyzed", "make_segment"]


def analyzed(entry: Entry) -> Sequence[str]:
    """The terms of an entry."""
    return analyze(searchable_text(entry))


def make_segment(
    path: Path,
    parts: Sequence[Sequence[Entry]],
    terms_of: Callable[[Entry], Sequence[str]] = analyzed,
) -> Segment:
    """A segment of entries, put together from parts; neighbours of one parent have to stand together."""
    encoded = []
    for entries in parts:
        drafts: dict[tuple[str, str], Draft] = {}
        for entry in entries:
            draft = drafts.setdefault((entry.level, entry.scope), Draft(entry.level, entry.scope))
            if not draft.parents or draft.parents[-1][0] != entry.parent:
                prefixes = {"item": f"{entry.parent}:", "resource": f"turn/{entry.parent}#"}
                at = entry.citation.find(":") if entry.level == "passage" else entry.citation.rfind(":")
                prefix = prefixes.get(entry.level, f"{entry.parent}#")
                draft.begin(entry.parent, entry.citation[: max(at, 0)], prefix, entry.scope)
            draft.add(entry, entry.text, terms_of(entry))
        encoded.append(encode_part(list(drafts.values())))
    slots = slots_of(encoded)
    about = {"vault": "v", "files": []}
    write_segment(str(path), encoded, about, lambda slot, table: merge_table(encoded, slots[slot], table), slots)
    return Segment(str(path))
