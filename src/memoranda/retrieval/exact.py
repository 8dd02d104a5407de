"""Exact search: entries that hold the query as it stands, letter case and character width aside."""

from __future__ import annotations

from memoranda.index.entries import fold_exact
from memoranda.retrieval.ranking import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.model import Level
    from memoranda.retrieval.deadline import Deadline
    from memoranda.retrieval.view import View

__all__ = ["search_exact"]

_CHECK_EVERY = 256


def search_exact(view: View, level: Level, text: str, deadline: Deadline) -> list[Candidate]:
    """Every visible entry of a level that holds ``text``; the score is how often."""
    wanted = fold_exact(text)
    if not wanted:
        return []
    found = []
    for at, (partition, doc, entry) in enumerate(view.entries(view.level(level)), start=1):
        if occurrences := partition.folded(doc).count(wanted):
            found.append(Candidate(entry, float(occurrences), float(occurrences), occurrences=occurrences))
        if at % _CHECK_EVERY == 0 and deadline.passed():
            break
    return found
