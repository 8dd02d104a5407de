"""Items that say the same in nearly the same words, found without comparing each with each.

Nobody is asked before one of two takes the other's place. So nothing is
compared by likeness: "Lin prefers tea" and "Mei prefers tea" share most of
their words. The same are texts whose words that carry a meaning are the same,
inflection apart, in the same order; with the same figures, denials and capitals.
"""

from __future__ import annotations

import re

from memoranda.core.analysis import analyze
from memoranda.core.stopwords import is_stop_character, is_stop_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["near_duplicates"]

#: What must be the same to the letter: figures, what denies, acronyms, questions.
_TELLING = re.compile(
    r"\d[\d.,:]*\d|\d|(?i:\b(?:no|not|never|none|without|cannot|nor|few|only|\w+n't)\b)|[不没無无别未勿非否]"
    r"|\b[A-Z]{2,}[\w-]*|[?？]"
)


def near_duplicates(
    texts: Sequence[str], apart: Sequence[str] = (), checkpoint: Callable[[], None] = lambda: None
) -> Iterator[tuple[int, int]]:
    """Pairs of texts that say the same, the later one first, each with the first that says so.

    Texts that differ in what ``apart`` has at their place are never the same.
    """
    first: dict[tuple[object, ...], int] = {}
    for at, text in enumerate(texts):
        checkpoint()
        said = tuple(term for term in analyze(text) if not (is_stop_word(term) or is_stop_character(term)))
        if not said:
            continue
        key = (apart[at] if apart else "", tuple(_TELLING.findall(text.rstrip(".,;。，； "))), said)
        if (other := first.setdefault(key, at)) != at:
            yield at, other
