"""Chinese by words: what a text's terms are where somebody chose a segmenter.

As :mod:`memoranda.core.analysis`, but within a run of Han characters the pairs
of neighbours give way to the segmenter's words of two characters or more. The
single characters stay, and so does everything that is not Han: kana and Hangul,
and the pairs that they make with a Han character beside them.
"""

from __future__ import annotations

from memoranda.core.analysis import QueryTerm, analyze, analyze_query
from memoranda.core.stopwords import is_stop_character, is_stop_word
from memoranda.core.words import LONGEST_TERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from memoranda.core.ports import Segmenter

__all__ = ["SEGMENTATION_VERSION", "segmented_query", "segmented_terms"]

#: To be raised with every change of what is made of a segmenter's words; an index of another version is rebuilt.
SEGMENTATION_VERSION = 1

# With the sign of repetition and the round zero; NFKC leaves a few characters of the compatibility block.
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_runs: re.Pattern[str] | None = None
_pair: re.Pattern[str]


def segmented_terms(text: str, segmenter: Segmenter) -> list[str]:
    """The terms of a text, duplicates kept: those of :func:`memoranda.core.analysis.analyze`, then Chinese words."""
    terms = analyze(text)
    runs = _han_runs(text)
    if not runs:
        return terms
    terms = [term for term in terms if not _is_han_pair(term)]
    terms += _words(runs, segmenter)
    return terms


def segmented_query(text: str, segmenter: Segmenter) -> list[QueryTerm]:
    """The terms of a query with what is known about each, duplicates kept; Chinese words come last."""
    terms = analyze_query(text)
    runs = _han_runs(text)
    if not runs:
        return terms
    terms = [term for term in terms if not _is_han_pair(term.term)]
    unit = max((term.unit for term in terms if term.unit > 0), default=0)
    for word in _words(runs, segmenter):
        unit += 1
        stop = is_stop_word(word) or all(map(is_stop_character, word))
        terms.append(QueryTerm(word, word, "word", unit, stop))
    return terms


def _words(runs: list[str], segmenter: Segmenter) -> Iterator[str]:
    for run in runs:
        for word in segmenter.cut(run):
            if len(word) > 1:
                yield word[:LONGEST_TERM]


def _han_runs(text: str) -> list[str]:
    """The runs of two Han characters or more, in NFKC."""
    if text.isascii():
        return []
    import unicodedata

    global _runs, _pair
    if _runs is None:
        import re

        _pair = re.compile(f"[{_HAN}]{{2}}")
        _runs = re.compile(f"[{_HAN}]{{2,}}")
    return _runs.findall(unicodedata.normalize("NFKC", text))


def _is_han_pair(term: str) -> bool:
    # Nothing else makes a term of two Han characters.
    return len(term) == 2 and not term.isascii() and _pair.fullmatch(term) is not None
