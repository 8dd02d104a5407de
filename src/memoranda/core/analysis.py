"""From text to terms: what the keyword index holds and what a query asks for.

Text is brought to NFKC and read once, token by token:

* words (letters, digits and their marks): case and accents folded, English stemmed;
* identifiers (``DEC-0054``, ``C++``, ``.NET``, ``node.js``, ``fooBar``, ``2024-07-21``): whole and in parts;
* scripts written without spaces (Chinese, Japanese, Korean, Thai, ...): characters and pairs of neighbours;
* emoji.

Everything else (punctuation, operators, quotes) separates. There is no query
syntax: a query is text. No token goes beyond white space, so that the terms of
what stands between white space are remembered.
"""

from __future__ import annotations

from itertools import chain, groupby, pairwise
from operator import add

from memoranda.core.records import dataclass
from memoranda.core.stopwords import is_stop_character, is_stop_word
from memoranda.core.words import LONGEST_TERM, TermKind, described_terms, word_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["ANALYSIS_VERSION", "QueryTerm", "TermKind", "analyze", "analyze_query"]

#: To be raised with every change of what a text's terms are; an index of another version is rebuilt.
ANALYSIS_VERSION = 1

_CACHE_LIMIT = 50_000
_LONGEST_WIDE = 8
_FIRST_WIDE = "\u0e01"
# Chinese, Japanese and Korean characters that stand alone and that NFKC leaves as they are, beside each other too.
_DENSE = "\u3005\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"

# Between white space: marks that are in no token when they stand first, or last.
_OPENING = "!\"#$%&'()*+,-/:;<=>?@[\\]^`{|}~"
_CLOSING = "!\"$%&'()*,-./:;<=>?@[\\]^_`{|}~"
# Wide marks that separate whatever stands beside them, as a space does, and those that do not between digits.
_WIDE_MARKS = "。、？！；“”（）《》「」『』【】〈〉—–─·・／～％"
_WIDE_JOINERS = (("，", ","), ("：", ":"))


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
    for found in map(_terms.__getitem__, text.split()):
        terms += found
    return terms


def analyze_query(text: str) -> list[QueryTerm]:
    """The terms of a query with what is known about each, duplicates kept."""
    found: list[QueryTerm] = []
    unit = 0
    for token in chain.from_iterable(map(_tokens, _normal(_parted(text)).split())):
        for term, shown, kind, stop, opens in _described(token):
            unit += opens
            found.append(QueryTerm(term, shown, kind, -1 if kind in ("character", "seam") else unit, stop))
    return found


def _parted(text: str) -> str:
    """The text with a space for every wide mark that separates."""
    for mark in _WIDE_MARKS:
        text = text.replace(mark, " ")
    return text


def _normal(text: str) -> str:
    """The text in NFKC, with one kind of apostrophe and hyphen."""
    if text.isascii():
        return text
    import unicodedata

    for mark, plain in _WIDE_JOINERS:  # NFKC takes long over them
        text = text.replace(mark, plain)
    return unicodedata.normalize("NFKC", text).replace("’", "'").replace("\u2010", "-")


class _Terms(dict[str, "Sequence[str]"]):
    """The terms of what stands between white space, remembered; what was asked for lately stays when room is made."""

    __slots__ = ("before", "words")

    def __init__(self) -> None:
        self.before: dict[str, Sequence[str]] = {}
        self.words: dict[str, Sequence[str]] = {}

    def __missing__(self, chunk: str) -> Sequence[str]:
        if chunk.isascii():
            longest = LONGEST_TERM
        else:  # sentences without spaces hardly come again
            longest = _LONGEST_WIDE if chunk >= _FIRST_WIDE or _is_wide(chunk) else LONGEST_TERM
        terms = self.before.get(chunk)
        if terms is None:
            terms = self._of_ascii(chunk) if chunk.isascii() else self._of_any(chunk)
        if len(chunk) <= longest:
            if len(self) >= _CACHE_LIMIT:
                self.before = dict(self)
                self.clear()
            self[chunk] = terms
        return terms

    def _of_ascii(self, chunk: str) -> Sequence[str]:
        if chunk.isalnum():
            return word_terms(chunk)
        core = chunk.rstrip(_CLOSING).lstrip(_OPENING)
        if core != chunk:
            return self[core] if core else ()
        if "-" in chunk and (terms := self._of_hyphened(chunk)):
            return terms
        return tuple(chain.from_iterable(map(self._of_word, _tokens(chunk))))

    def _of_any(self, chunk: str) -> Sequence[str]:
        terms: list[str] = []
        runs = _plain_runs(chunk)
        if runs is not None:
            self._add_runs(terms, runs)
            return terms
        for part in _parted(chunk).split():
            if (runs := _plain_runs(part)) is not None:
                self._add_runs(terms, runs)
            else:
                for token in _scanned(_normal(part)):
                    self._add_token(terms, token)
        return terms

    def _of_hyphened(self, identifier: str) -> Sequence[str]:
        """The terms of words and numbers with single hyphens between; none if it is not that, or a part has parts."""
        terms: dict[str, str] = {}
        last = ""
        for part in identifier.split("-"):
            if part.isdigit():
                last = terms[part] = part[:LONGEST_TERM]
            elif part.isalnum() and len(found := self[part]) == 1:
                last = terms[part.lower()] = found[0]
            else:
                return ()
        if len(identifier) > LONGEST_TERM:
            return tuple(terms.values())
        head, hyphen, _ = identifier.lower().rpartition("-")
        return (head + hyphen + last, *terms.values())

    def _of_word(self, word: str) -> Sequence[str]:
        if word.isascii() and word.isalnum():
            return self[word]
        terms = self.words.get(word)
        if terms is None:
            terms = word_terms(word)
            if len(word) <= LONGEST_TERM:
                if len(self.words) >= _CACHE_LIMIT:
                    self.words.clear()
                self.words[word] = terms
        return terms

    def _add_runs(self, terms: list[str], runs: list[str]) -> None:
        for run in runs:
            if run.isascii():
                terms += self._of_word(run)
            else:
                characters = list(run)
                terms += characters
                terms += map(add, characters, characters[1:])

    def _add_token(self, terms: list[str], token: str) -> None:
        if not _is_wide(token):
            terms += self._of_word(token)
            return
        from memoranda.core import scripts

        for script, piece in scripts.pieces(token):
            if script == "word":
                terms += self._of_word(piece)
            elif script == "emoji":
                terms += (term for term, _, _ in scripts.emoji_terms(piece))
            else:
                characters = list(piece) if script == "dense" else scripts.clusters(piece)
                terms += characters
                terms += map(add, characters, characters[1:])


_terms = _Terms()
_is_odd: Callable[[str], object] | None = None
_is_joined: Callable[[str], object]
_runs: Callable[[str], list[str]]


def _plain_runs(chunk: str) -> list[str] | None:
    """The runs of dense characters and the ASCII words between them, if there is nothing else; ``None`` if there is.

    ``chunk`` need not be in NFKC: of what is found here it would change nothing.
    """
    global _is_odd, _is_joined, _runs
    if _is_odd is None:
        import re

        from memoranda.core.scripts import ASCII_WORD

        _runs = re.compile(f"[{_DENSE}]+|{ASCII_WORD}").findall
        # Behind a dense character these belong to the word; between digits these do once they are in NFKC.
        _is_joined = re.compile(rf"[{_DENSE}](?:\.[A-Za-z0-9]|\+\+[0-9])|[0-9][，：][0-9]").search
        _is_odd = re.compile(f"[^!-~，：{_WIDE_MARKS}{_DENSE}]").search
    if _is_odd(chunk):
        return None
    runs = _runs(chunk)
    return None if any(map(str.isascii, runs)) and _is_joined(chunk) else runs


def _tokens(chunk: str) -> list[str]:
    """The tokens of what stands between white space, in NFKC; one may still hold several scripts."""
    core = chunk.rstrip(_CLOSING).lstrip(_OPENING)
    if not core:
        return []
    if core.isascii():
        joined = core.replace("-", "'").replace(".", "'").replace("@", "'").replace("&", "'")
        if all(map(str.isalnum, joined.split("'"))):
            return [core]
    elif _is_wide(core) and (found := _mixed_tokens(core)):
        return found
    elif core.isalnum():
        return [core]
    return _scanned(chunk)


def _scanned(text: str) -> list[str]:
    from memoranda.core import scripts

    return scripts.tokens(text)


def _mixed_tokens(chunk: str) -> list[str]:
    """The tokens of dense characters with ASCII between, without a pattern; none if there is anything else."""
    found: list[str] = []
    for is_dense, characters in groupby(chunk, _is_dense):
        run = "".join(characters)
        if is_dense:
            found.append(run)
        elif run.isascii() and not run.startswith((".", "++")):
            found += _tokens(run)
        else:
            return []
    return found


def _is_dense(character: str) -> bool:
    return (
        "\u4e00" <= character <= "\u9fff"
        or "\u3041" <= character <= "\u3096"
        or "\u30a1" <= character <= "\u30fa"
        or "\uac00" <= character <= "\ud7a3"
        or "\u3400" <= character <= "\u4dbf"
        or character in "\u3005\u3007\u30fc"
    )


def _is_wide(token: str) -> bool:
    """Whether it may hold a script without spaces, or emoji."""
    return not token.isascii() and max(token) >= _FIRST_WIDE


def _described(token: str) -> Iterator[tuple[str, str, TermKind, bool, bool]]:
    """Each term of a token, as shown, its kind, whether it is a stop word, whether it opens a unit."""
    if not _is_wide(token):
        yield from _words(described_terms(token))
        return
    if all(map(_is_dense, token)):
        yield from _pairs(token)
        return
    from memoranda.core import scripts

    for script, piece in scripts.pieces(token):
        if script == "dense":
            yield from _pairs(piece)
        elif script == "clustered":
            yield from _pairs(scripts.clusters(piece))
        else:
            yield from _words(scripts.emoji_terms(piece) if script == "emoji" else described_terms(piece))


def _words(terms: list[tuple[str, str, TermKind]]) -> Iterator[tuple[str, str, TermKind, bool, bool]]:
    for at, (term, shown, kind) in enumerate(terms):
        yield term, shown, kind, is_stop_word(shown), at == 0


def _pairs(characters: str | list[str]) -> Iterator[tuple[str, str, TermKind, bool, bool]]:
    if len(characters) == 1:
        yield characters[0], characters[0], "word", is_stop_character(characters[0]), True
        return
    stops = list(map(is_stop_character, characters))
    for character, stop in zip(characters, stops, strict=True):
        yield character, character, "character", stop, False
    for (first, second), (empty_first, empty_second) in zip(pairwise(characters), pairwise(stops), strict=True):
        pair = first + second
        is_seam = empty_first != empty_second
        stop = (empty_first and empty_second) or is_stop_word(pair)
        yield pair, pair, "seam" if is_seam else "pair", stop, not is_seam
