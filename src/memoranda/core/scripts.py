"""Tokens of any script: what the quick tests of :mod:`memoranda.core.analysis` leave open.

Scripts written without spaces stand alone character by character, or with the
marks that belong to one; letters of other scripts make words and identifiers
with what joins them; emoji are tokens of their own.
"""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.words import TermKind

__all__ = ["ASCII_WORD", "clusters", "emoji_terms", "pieces", "tokens"]

# Scripts without spaces whose characters stand alone, and those whose characters take marks.
_DENSE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua960-\ua97c"
    "\uac00-\ud7a3\ud7b0-\ud7fb\u1100-\u11ff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_CLUSTERED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u0f00\u0f40-\u0f84\u0f88-\u0fbc"
    "\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17d7\u17dc"
)
_CLUSTER_MARKS = (
    "\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f8d-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u109a-\u109d"
    "\u17b4-\u17d3"
)
# Marks and invisible joiners inside words: none of them is a letter to ``re``.
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u094f"
    "\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u2060\ufe20-\ufe2f"
) + _CLUSTER_MARKS
_EMOJI = (
    "\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u25fb-\u25fe\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f004\U0001f0cf\U0001f18e\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7ff\U0001f900-\U0001faff"
)
_TONES = "\U0001f3fb-\U0001f3ff"
_FLAGS = "\U0001f1e6-\U0001f1ff"

_JOINER = r"(?:[-.@'&]|_+|(?<=\d)[:,](?=\d))"
_WORD = rf"(?:(?<![\w.])\.(?=[A-Za-z]))?LETTERS(?:{_JOINER}LETTERS)*(?:\+\+\d*|\#(?![A-Za-z0-9]))?"
_EDGES = "-.@'&_:,"

#: A pattern of words and identifiers in ASCII.
ASCII_WORD = _WORD.replace("LETTERS", "[A-Za-z0-9]+")


@cache
def _ascii_tokens() -> re.Pattern[str]:
    return re.compile(ASCII_WORD)


@cache
def _tokens() -> re.Pattern[str]:
    word = _WORD.replace("LETTERS", f"(?:[^\\W_]+[{_MARKS}]*)+")
    emoji = f"[{_EMOJI}]\ufe0f?[{_TONES}]?"
    return re.compile(f"{word}|[{_FLAGS}]{{2}}|{emoji}(?:\u200d{emoji})*")


@cache
def _wide_runs() -> re.Pattern[str]:
    return re.compile(f"([{_DENSE}]+)|([{_CLUSTERED}]+)|([{_EMOJI}{_FLAGS}].*)")


@cache
def _clusters() -> re.Pattern[str]:
    return re.compile(f".[{_CLUSTER_MARKS}]*")


def tokens(text: str) -> list[str]:
    """The tokens of a text in NFKC; one may still hold several scripts."""
    pattern = _ascii_tokens() if text.isascii() else _tokens()
    return pattern.findall(text)


def pieces(token: str) -> Iterator[tuple[str, str]]:
    """The token cut where scripts without spaces begin and end, each piece with its kind.

    The kinds are ``word``, ``dense`` (each character stands alone), ``clustered``
    (each takes its marks along) and ``emoji``.
    """
    words, *rest = _wide_runs().split(token)
    if words := words.rstrip(_EDGES):
        yield "word", words
    for dense, clustered, emoji, between in zip(rest[::4], rest[1::4], rest[2::4], rest[3::4], strict=True):
        if dense:
            yield "dense", dense
        elif clustered:
            yield "clustered", clustered
        else:
            yield "emoji", emoji
        if between := between.lstrip("-@'&_:,+#").rstrip(_EDGES):
            yield "word", between


def clusters(run: str) -> list[str]:
    """The characters of a clustered run, each with the marks that belong to it."""
    return _clusters().findall(run)


def emoji_terms(token: str) -> list[tuple[str, str, TermKind]]:
    """Each term of an emoji, as shown, and its kind: without tone, and a joined one in parts too."""
    plain = re.sub(f"[\ufe0f{_TONES}]", "", token) or token
    if "\u200d" not in plain:
        return [(plain, token, "word")]
    parts: list[tuple[str, str, TermKind]] = [(part, part, "part") for part in plain.split("\u200d") if part]
    return [(plain, token, "whole"), *parts]
