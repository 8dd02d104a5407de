"""The terms of one word or identifier: folded, stemmed if English, whole and in parts."""

from __future__ import annotations

from memoranda.core.stemming import stem
from memoranda.core.stopwords import is_stop_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

__all__ = ["LONGEST_TERM", "TermKind", "described_terms", "word_terms"]

if TYPE_CHECKING:
    TermKind = Literal["word", "whole", "part", "character", "pair", "seam"]
else:
    TermKind = str

#: Characters of the longest term.
LONGEST_TERM = 64

_CLITICS = frozenset({"s", "ll", "ve", "re", "d", "m"})
_DIGITS = "0123456789"
# Kept as text: compiled when the first such word comes, then held by ``re``.
_HUMPS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_VERSION = r"^v[0-9]+(?:\.[0-9a-z]+)+$"
_PARTING = r"[^\w\u0300-\u036f\u0591-\u0dff]+|_+"


def word_terms(token: str) -> tuple[str, ...]:
    """The terms of a word or an identifier: the whole first, then its parts."""
    if plain := _plain_term(token):
        return (plain,)
    return tuple(term for term, _, _ in described_terms(token))


def _plain_term(token: str) -> str:
    """The only term of a token that is ASCII letters in usual case, or digits; empty for any other token."""
    if token.isascii():
        if token.isalpha() and (token.islower() or token[1:].islower() or token.isupper()):
            return stem(token.lower()) if len(token) <= LONGEST_TERM else token.lower()[:LONGEST_TERM]
        if token.isdigit():
            return token[:LONGEST_TERM]
    return ""


def described_terms(token: str) -> list[tuple[str, str, TermKind]]:
    """Each term of a word or an identifier, as shown, and its kind."""
    if term := _plain_term(token):
        return [(term, token.lower(), "word")]
    written, folded = token, _fold(token)
    if not any(map(str.isalnum, folded)):
        return []  # marks and signs that were cut off from their letter
    if "'" in folded:
        if is_stop_word(folded):
            return [(folded, folded, "word")]
        head, _, tail = folded.rpartition("'")
        if head and tail in _CLITICS:
            folded = head
            written = written[: written.rindex("'")]
    if _is_plain_plural(written) and stem(folded) == folded:
        return [(folded, folded, "whole"), (folded[:-1], folded[:-1], "part")]  # LLMs
    if folded.isalnum() and (folded == written or not _humped(written)) and not _seam(folded):
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
    if len(whole) > LONGEST_TERM:
        return found_parts
    return [(_stemmed_end(whole), whole, "whole"), *found_parts]


def _parts(written: str, folded: str) -> list[str]:
    parts: list[str] = []
    if folded.endswith("+") or "++" in folded:
        parts.append(folded[: folded.index("++") + 2].rpartition(".")[2])
    elif folded.endswith("#"):
        parts.append(folded.rstrip("#"))
    if folded.startswith("v") and "." in folded:
        import re

        if re.match(_VERSION, folded):
            parts.append(folded[1:])
    for piece in _pieces(written):
        lower = _fold(piece)
        humps = _humps(piece) if piece.isascii() and _humped(piece) else []
        if len(humps) > 1:
            if lower != folded:
                parts.append(lower)
            parts += [hump.lower() for hump in humps]
        elif seam := _seam(lower):
            if lower != folded:
                parts.append(lower)
            parts += seam
        else:
            parts.append(lower)
    return list(dict.fromkeys(parts))


def _pieces(written: str) -> list[str]:
    """What stands between the signs of an identifier."""
    if written.isascii():
        return "".join(letter if letter.isalnum() else " " for letter in written).split()
    import re

    return [piece for piece in re.split(_PARTING, written) if piece]


def _humps(piece: str) -> list[str]:
    import re

    return re.findall(_HUMPS, piece)


def _humped(word: str) -> bool:
    """Whether capitals inside the word mark parts (``fooBar``), not just its start or all of it."""
    return not (word.islower() or word.isupper() or word[1:].islower() or _is_plain_plural(word)) and any(
        "A" <= letter <= "Z" for letter in word
    )


def _is_plain_plural(word: str) -> bool:
    """Whether it is an abbreviation of 2 to 20 ASCII capitals with an ``s`` behind."""
    head = word[:-1]
    return word.endswith("s") and 2 <= len(head) <= 20 and head.isascii() and head.isalpha() and head.isupper()


def _seam(word: str) -> tuple[str, str] | None:
    """The parts of at least two ASCII letters before digits, or digits before letters (``covid19``)."""
    head = word.rstrip(_DIGITS)
    if head != word:
        letters, parts = head, (head, word[len(head) :])
    else:
        letters = word.lstrip(_DIGITS)
        parts = word[: len(word) - len(letters)], letters
    if len(letters) < 2 or len(letters) == len(word) or not letters.isascii() or not letters.isalpha():
        return None
    return parts if letters.islower() else None


def _stemmed(word: str) -> str:
    return stem(word) if word.isascii() and word.isalpha() and len(word) <= LONGEST_TERM else word


def _stemmed_end(whole: str) -> str:
    """The whole identifier with its last word stemmed, so that ``e-mails`` is ``e-mail``."""
    at = max(whole.rfind(mark) for mark in "-._@&")
    return whole[: at + 1] + _stemmed(whole[at + 1 :])


def _cut(term: str) -> str:
    return term[:LONGEST_TERM]


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
    import re
    import unicodedata

    bare = re.sub(_COMBINING, "", unicodedata.normalize("NFD", folded).translate(_SINGLE_LETTERS))
    return unicodedata.normalize("NFC", bare)
