"""How the systems that memoranda is compared with cut text into tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from memoranda.core.analysis import analyze

__all__ = ["Tokenizer", "bigrams", "our_tokens", "words"]

Tokenizer = Callable[[str], list[str]]

_WORD = re.compile(r"\w+")
_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+|[^\\W\u3400-\u4dbf\u4e00-\u9fff]+")


def words(text: str) -> list[str]:
    """Runs of letters and digits, lower-case."""
    return _WORD.findall(text.lower())


def bigrams(text: str) -> list[str]:
    """Pairs of neighbouring Chinese characters (a lone one stands for itself); other words lower-case."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        if "\u3400" <= run[0] <= "\u9fff" and len(run) > 1:
            found += (first + second for first, second in pairwise(run))
        else:
            found.append(run)
    return found


def our_tokens(text: str) -> list[str]:
    """memoranda's own terms without blanks in them, for a comparison of engines alone."""
    return analyze(text)
