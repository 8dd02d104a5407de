"""What stands before and after a hit in its document or conversation, for who wants to read on."""

from __future__ import annotations

from memoranda.index.entries import address_key
from memoranda.retrieval.result import Neighbour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.index.entries import Entry
    from memoranda.retrieval.ranking import Candidate
    from memoranda.retrieval.view import View

__all__ = ["neighbours_of"]


def neighbours_of(candidates: Sequence[Candidate], view: View, count: int) -> dict[str, tuple[Neighbour, ...]]:
    """Up to ``count`` neighbours on each side of every candidate that has an order, by its address."""
    found: dict[str, tuple[Neighbour, ...]] = {}
    for candidate in candidates:
        if candidate.entry.level != "item":
            found[candidate.entry.address] = tuple(_around(candidate.entry, view, count))
    return found


def _around(entry: Entry, view: View, count: int) -> Iterator[Neighbour]:
    key = address_key(entry.address)
    for partition in view.level(entry.level):
        if (doc := partition.by_key.get(key)) is None:
            continue
        run, at = partition.run(doc)
        for place in range(max(0, at - count), min(len(run), at + count + 1)):
            other = partition.entries[run[place]]
            if place != at and view.sees(other):
                yield Neighbour(other.address, place - at, other.text, other.citation)
        return
