"""From text to terms: what the keyword index holds and what a query asks for.

Text is brought to NFKC and read once, token by token:

* words (letters, digits and their marks): case and accents folded, English stemmed;
* identifiers (``DEC-0054``, ``C++``, ``.NET``, ``node.js``, ``fooBar``, ``2024-07-21``): whole and in parts;
* scripts written without spaces (Chinese, Japanese, Korean, Thai, ...): characters and pairs of neighbours;
* emoji.

Everything else (punctuation, operators, quotes) separates. There is no query
syntax: a query is text.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from operator import add

from memoranda.core.records import dataclass
from memoranda.core.stemming import stem
from memoranda.core.stopwords import is_stop_character, is_stop_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

__all__ = ["ANALYSIS_VERSION", "QueryTerm", "TermKind", "analyze", "analyze_query"]

#: To be raised with every change of what a text's terms are; an index of another version is rebuilt.
ANALYSIS_VERSION = 1

if TYPE_CHECKING:
    TermKind = Literal["word", "whole", "part", "character", "pair", "seam"]
else:
    TermKind = str

_LONGEST_TERM = 64
_CACHE_LIMIT = 100_000
_cache: dict[str, tuple[str, ...]] = {}

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

# Apostrophes, dots and the like join what stands on both sides, a colon or comma only digits.
_JOINER = r"(?:[-.@'&]|_+|(?<=\d)[:,](?=\d))"
_WORD = rf"(?:(?<![\w.])\.(?=[A-Za-z]))?LETTERS(?:{_JOINER}LETTERS)*(?:\+\+\d*|\#(?![A-Za-z0-9]))?"
_EDGES = "-.@'&_:,"
_FIRST_WIDE = "\u0e01"

_ascii_tokens: Callable[[str], list[str]] | None = None
_tokens: Callable[[str], list[str]] | None = None
_wide_runs: Callable[[str], list[str]] | None = None


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a query.

    ``shown`` is how it stands in the query. Terms of one ``unit`` (an
    identifier and its parts) come from one word; what cannot stand for a word,
    a ``character`` of a longer run or a ``seam`` (a pair with a function word
    on one side), has the unit -1.
    """

    term: str
    shown: str
    kind: TermKind
    unit: int
    stop: bool = False


def analyze(text: str) -> list[str]:
    """The terms of a text, duplicates kept; words in their order."""
    terms: list[str] = []
    known = _cache.get
    for token in _split(text):
        found = known(token)
        terms += _learn(token) if found is None else found
    return terms


def analyze_query(text: str) -> list[QueryTerm]:
    """The terms of a query with what is known about each, duplicates kept."""
    found: list[QueryTerm] = []
    unit = 0
    for token in _split(text):
        for term, shown, kind, stop, opens in _described(token):
            unit += opens
            found.append(QueryTerm(term, shown, kind, -1 if kind in ("character", "seam") else unit, stop))
    return found


def _split(text: str) -> list[str]:
    """The tokens of a text; one may still hold several scripts."""
    global _ascii_tokens, _tokens
    if text.isascii():
        if _ascii_tokens is None:
            _ascii_tokens = re.compile(_WORD.replace("LETTERS", "[A-Za-z0-9]+")).findall
        return _ascii_tokens(text)
    if _tokens is None:
        word = _WORD.replace("LETTERS", f"(?:[^\\W_]+[{_MARKS}]*)+")
        emoji = f"[{_EMOJI}]\ufe0f?[{_TONES}]?"
        _tokens = re.compile(f"{word}|[{_FLAGS}]{{2}}|{emoji}(?:\u200d{emoji})*").findall
    return _tokens(unicodedata.normalize("NFKC", text).replace("’", "'").replace("\u2010", "-"))


def _learn(token: str) -> tuple[str, ...] | list[str]:
    """The terms of a token that was not seen before."""
    if max(token) < _FIRST_WIDE:
        return _learn_word(token)
    found: list[str] = []
    for script, piece in _pieces(token):
        if script == "word":
            found += _cache.get(piece) or _learn_word(piece)
        elif script == "emoji":
            found += (term for term, _, _ in _emoji(piece))
        else:
            run = piece if script == "dense" else _clusters(piece)
            found += run
            found += map(add, run, run[1:])
    return found


def _learn_word(word: str) -> tuple[str, ...]:
    terms = tuple(term for term, _, _ in _word(word))
    if len(word) <= _LONGEST_TERM:
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        _cache[word] = terms
    return terms


def _described(token: str) -> Iterator[tuple[str, str, TermKind, bool, bool]]:
    """Each term of a token, as shown, its kind, whether it is a stop word, whether it opens a unit."""
    for script, piece in _pieces(token):
        if script in ("dense", "clustered"):
            yield from _pairs(piece if script == "dense" else _clusters(piece))
            continue
        for at, (term, shown, kind) in enumerate(_emoji(piece) if script == "emoji" else _word(piece)):
            yield term, shown, kind, is_stop_word(shown), at == 0


def _pairs(characters: str | list[str]) -> Iterator[tuple[str, str, TermKind, bool, bool]]:
    if len(characters) == 1:
        yield characters[0], characters[0], "word", is_stop_character(characters[0]), True
        return
    for character in characters:
        yield character, character, "character", is_stop_character(character), False
    for first, second in pairwise(characters):
        empty = is_stop_character(first) + is_stop_character(second)
        stop = empty == 2 or is_stop_word(first + second)
        yield first + second, first + second, "seam" if empty == 1 else "pair", stop, empty != 1


def _pieces(token: str) -> Iterator[tuple[str, str]]:
    """The token cut where scripts without spaces begin and end, each piece with its kind."""
    global _wide_runs
    if max(token) < _FIRST_WIDE:
        yield "word", token
        return
    if _wide_runs is None:
        _wide_runs = re.compile(f"([{_DENSE}]+)|([{_CLUSTERED}]+)|([{_EMOJI}{_FLAGS}].*)").split
    words, *rest = _wide_runs(token)
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


def _clusters(run: str) -> list[str]:
    """The run's characters, each with the marks that belong to it."""
    return re.findall(f".[{_CLUSTER_MARKS}]*", run)


def _emoji(token: str) -> list[tuple[str, str, TermKind]]:
    plain = re.sub(f"[\ufe0f{_TONES}]", "", token) or token
    if "\u200d" not in plain:
        return [(plain, token, "word")]
    parts: list[tuple[str, str, TermKind]] = [(part, part, "part") for part in plain.split("\u200d") if part]
    return [(plain, token, "whole"), *parts]


# Kept as text: compiled when the first such word comes, then held by ``re``.
_CLITIC = "^(.+)'(?:s|ll|ve|re|d|m)$"
_HUMPS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_SEAM = r"^(?:([a-z]{2,})([0-9]+)|([0-9]+)([a-z]{2,}))$"
_VERSION = r"^v[0-9]+(?:\.[0-9a-z]+)+$"
_PARTING = r"[^\w\u0300-\u036f\u0591-\u0dff]+|_+"
_PLAIN_PLURAL = "^[A-Z]{2,20}s$"


def _word(token: str) -> list[tuple[str, str, TermKind]]:
    """The terms of a word or an identifier: the whole first, then its parts."""
    written, folded = token, _fold(token)
    if not any(map(str.isalnum, folded)):
        return []  # marks and signs that were cut off from their letter
    if "'" in folded:
        if is_stop_word(folded):
            return [(folded, folded, "word")]
        if found := re.match(_CLITIC, folded):
            folded = found.group(1)
            written = written[: written.rindex("'")]
    if re.match(_PLAIN_PLURAL, written) and stem(folded) == folded:
        return [(folded, folded, "whole"), (folded[:-1], folded[:-1], "part")]  # LLMs
    if folded.isalnum() and (folded == written or not _humped(written)) and not _mixed(folded):
        return [(_cut(_stemmed(folded)), folded, "word")]
    whole = folded.replace("'", "")
    if ":" not in whole and "," in whole:
        whole = whole.replace(",", "")
    parts = _parts(written, folded)
    if len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts) and "." in whole:
        joined = whole.replace(".", "")  # U.S.A. is USA, but U.S. is not "us"
        return [(_cut(whole if is_stop_word(joined) else joined), whole, "word")]
    if parts == [whole] or not parts:
        return [(_cut(_stemmed(whole)), whole, "word")]
    found_parts: list[tuple[str, str, TermKind]] = [(_cut(_stemmed(part)), part, "part") for part in parts]
    if len(whole) > _LONGEST_TERM:
        return found_parts
    return [(_stemmed_end(whole), whole, "whole"), *found_parts]


def _parts(written: str, folded: str) -> list[str]:
    parts: list[str] = []
    if folded.endswith("+") or "++" in folded:
        parts.append(folded[: folded.index("++") + 2].rpartition(".")[2])
    elif folded.endswith("#"):
        parts.append(folded.rstrip("#"))
    if re.match(_VERSION, folded):
        parts.append(folded[1:])
    for piece in re.split(_PARTING, written):
        if not piece:
            continue
        lower = _fold(piece)
        humps = re.findall(_HUMPS, piece) if piece.isascii() and _humped(piece) else []
        if len(humps) > 1:
            if lower != folded:
                parts.append(lower)
            parts += [hump.lower() for hump in humps]
        elif found := re.match(_SEAM, lower):
            if lower != folded:
                parts.append(lower)
            parts += [part for part in found.groups() if part]
        else:
            parts.append(lower)
    return list(dict.fromkeys(parts))


def _humped(word: str) -> bool:
    """Whether capitals inside the word mark parts (``fooBar``), not just its start or all of it."""
    return not (word.islower() or word.isupper() or word[1:].islower() or re.match(_PLAIN_PLURAL, word)) and any(
        "A" <= letter <= "Z" for letter in word
    )


def _mixed(word: str) -> bool:
    return word.isascii() and not word.isalpha() and re.match(_SEAM, word) is not None


def _stemmed(word: str) -> str:
    return stem(word) if word.isascii() and word.isalpha() and len(word) <= _LONGEST_TERM else word


def _stemmed_end(whole: str) -> str:
    """The whole identifier with its last word stemmed, so that ``e-mails`` is ``e-mail``."""
    at = max(whole.rfind(mark) for mark in "-._@&")
    return whole[: at + 1] + _stemmed(whole[at + 1 :])


def _cut(term: str) -> str:
    return term[:_LONGEST_TERM]


_SINGLE_LETTERS = {
    0xF8: "o",
    0x142: "l",
    0x111: "d",
    0x127: "h",
    0x131: "i",
    0xE6: "ae",
    0x153: "oe",
    0xFE: "th",
    0xF0: "d",
    0x640: None,  # the Arabic stroke that only stretches a word
    0xAD: None,
    0x200C: None,
    0x200D: None,
    0x2060: None,
}
_COMBINING = (
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f]+"
)


def _fold(word: str) -> str:
    """Case and accents folded. Cyrillic keeps its letters (й is not и) but for ё and stress marks."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    if any("\u0400" <= letter <= "\u052f" for letter in folded):
        folded = folded.replace("ё", "е").replace("\u0301", "")
        return folded.translate(_SINGLE_LETTERS)
    bare = re.sub(_COMBINING, "", unicodedata.normalize("NFD", folded).translate(_SINGLE_LETTERS))
    return unicodedata.normalize("NFC", bare)
