"""Questions that nothing answers: one conversation's questions asked of another, with the speakers' names taken out.

With its own questions beside them, a system can be asked two things at once:
does it stay silent where nothing answers, and does it still answer where
something does?
"""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from collections.abc import Sequence

from memoranda_bench.datasets.model import Collection, DataSet, Question, SetSkipped

__all__ = ["SOURCES", "asked_elsewhere", "speakers", "without_names"]

#: The sets that the unanswerable questions are made of.
SOURCES = ("locomo", "locomo-zh")


def without_names(question: str, names: Names[str]) -> str:
    """The question with every name taken out, possessives (``'s``, ``的``) included.

    >>> without_names("What is Ana's dog called?", {"Ana"})
    'What is dog called?'
    """
    if not names:
        return question
    # A Chinese character is a word character too, so \\b would not end a name before one.
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found = rf"(?<![A-Za-z])(?:{any_name})(?![A-Za-z])(?:['’]s(?![A-Za-z])|['’](?=\s)|的)?"
    bare = re.sub(found, " ", question, flags=re.IGNORECASE)
    return re.sub(r"\s+([?,.!;:])", r"\1", " ".join(bare.split()))


def asked_elsewhere(source: DataSet) -> DataSet:
    """The set with each conversation's questions followed by those of the one before it (cyclic), made unanswerable.

    An unanswerable question has nothing relevant; its category is kept.

    Raises:
        SetSkipped: there is one conversation only.
    """
    if len(source.collections) < 2:
        raise SetSkipped(f"unanswerable: {source.name} has one conversation, and questions come from another one")
    made: list[Collection] = []
    for place, here in enumerate(source.collections):
        other = source.collections[place - 1]
        names = speakers(here) | speakers(other)
        strange = tuple(Question(without_names(q.text, names), {}, q.category) for q in other.questions)
        questions: Sequence[Question] = here.questions + tuple(q for q in strange if q.text)
        made.append(Collection(here.name, here.number, here.documents, tuple(questions), here.dropped))
    return DataSet("unanswerable", source.language, tuple(made), source.tuned)


def speakers(conversation: Collection) -> set[str]:
    """Who speaks in a conversation."""
    return {document.speaker for document in conversation.documents if document.speaker}
