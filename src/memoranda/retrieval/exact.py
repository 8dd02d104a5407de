"""Exact search: entries that hold the query as it stands, letter case and character width aside."""

from __future__ import annotations

from memoranda.index.entries import fold_exact
from memoranda.retrieval.ranking import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from memoranda.core.model import Level
    from memoranda.index.entries import Entry
    from memoranda.index.partition import Partition
    from memoranda.retrieval.deadline import Deadline
    from memoranda.retrieval.view import View

__all__ = ["search_exact"]

_CHECK_EVERY = 256


def search_exact(
    view: View, level: Level, text: str, deadline: Deadline, first: Collection[str] = ()
) -> list[Candidate]:
    """Every visible entry of a level that holds ``text``; the score is how often.

    What belongs to the parents named ``first`` is looked at first: they are
    known to hold it, and time may be short for the others.
    """
    wanted = fold_exact(text)
    if not wanted:
        return []
    found: list[Candidate] = []
    partitions = view.level(level)
    seen: set[tuple[int, int]] = set()
    for number, partition in enumerate(partitions):
        for parent in first:
            for doc in partition.of_parent(parent):
                seen.add((number, doc))
                entry = partition.entries[doc]
                if view.sees(entry):
                    _count(partition, doc, entry, wanted, found)
    looked = 0
    for number, partition in enumerate(partitions):
        for _, doc, entry in view.entries((partition,)):
            if (number, doc) in seen:
                continue
            _count(partition, doc, entry, wanted, found)
            looked += 1
            if looked % _CHECK_EVERY == 0 and deadline.passed():
                return found
    return found


def _count(partition: Partition, doc: int, entry: Entry, wanted: str, found: list[Candidate]) -> None:
    if occurrences := partition.folded(doc).count(wanted):
        found.append(Candidate(entry, float(occurrences), float(occurrences), occurrences=occurrences))
