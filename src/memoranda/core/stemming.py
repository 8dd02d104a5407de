"""Porter2: the stem of an English word.

An implementation of the Snowball project's English stemmer as its definition
stands since version 3.1 (https://snowballstem.org/algorithms/english/stemmer.html).
``R1`` begins after the first consonant that follows a vowel, ``R2`` after the
next such place inside ``R1``; most endings may only be cut inside one of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    #: Endings with what takes their place, longest first.
    Endings = list[tuple[str, str]]

__all__ = ["stem"]

_CACHE_LIMIT = 20_000
_cache: dict[str, str] = {}

_VOWELS = frozenset("aeiouy")
_LI_FOLLOWS = frozenset("cdeghkmnrt")
_DOUBLES = frozenset(["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"])

#: Beginnings after which R1 starts at once, lest unlike words fall together.
_R1_BEGINNINGS = ("arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers")

_WHOLE_WORDS = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
}
_WHOLE_WORDS.update((word, word) for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes"))

_KEEP_EED = frozenset(["succ", "proc", "exc"])
_KEEP_ING = frozenset(["even", "cann", "inn", "earr", "herr", "out"])

_STEP_2 = {
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "abli": "able",
    "entli": "ent",
    "izer": "ize",
    "ization": "ize",
    "ational": "ate",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "aliti": "al",
    "alli": "al",
    "fulness": "ful",
    "ousli": "ous",
    "ousness": "ous",
    "iveness": "ive",
    "iviti": "ive",
    "biliti": "ble",
    "bli": "ble",
    "ogi": "og",
    "ogist": "og",
    "fulli": "ful",
    "lessli": "less",
    "li": "",
}
_STEP_3 = {
    "tional": "tion",
    "ational": "ate",
    "alize": "al",
    "icate": "ic",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
    "ative": "",
}
_STEP_4 = dict.fromkeys(["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"], "")
_STEP_4.update(dict.fromkeys(["ism", "ate", "iti", "ous", "ive", "ize", "ion"], ""))

# A word with another last letter has no ending that is cut.
_LAST_LETTERS = frozenset("'cdegilmnrsty")

# By their last two letters; made for the first word.
_step_2: dict[str, Endings] = {}
_step_3: dict[str, Endings] = {}
_step_4: dict[str, Endings] = {}


def stem(word: str) -> str:
    """The Porter2 stem of a lower-case English word; words of one or two letters are their own."""
    known = _cache.get(word)
    if known is None:
        known = _stem_of(word)
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        _cache[word] = known
    return known


def _stem_of(word: str) -> str:
    if len(word) < 3:
        return word
    if word in _WHOLE_WORDS:
        return _WHOLE_WORDS[word]
    word = word.removeprefix("'")
    if word[-1:] not in _LAST_LETTERS:
        return word
    if "y" in word:
        # In the marked word a "y" that is a consonant is written "Y".
        return _stem(_mark_consonants(word)).replace("Y", "y")
    return _stem(word)


def _stem(word: str) -> str:
    global _step_2, _step_3, _step_4
    if not _step_2:
        _step_3, _step_4 = _by_last_letters(_STEP_3), _by_last_letters(_STEP_4)
        _step_2 = _by_last_letters(_STEP_2)
    r1, r2 = _regions(word)
    if word[-1:] in ("s", "'", "d"):
        word = _plural(word)
    if word.endswith(("ed", "ing", "ly")):
        word = _past_and_present(word, r1)
    if word[-1:] in ("y", "Y") and len(word) > 2 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    if len(word) > r1:
        if endings := _step_2.get(word[-2:]):
            word = _derivations(word, r1, endings)
        if endings := _step_3.get(word[-2:]):
            word = _adjectives(word, r1, r2, endings)
        if endings := _step_4.get(word[-2:]):
            word = _residues(word, r2, endings)
        if word[-1:] in ("e", "l"):
            return _last_letter(word, r1, r2)
    return word


def _by_last_letters(table: Mapping[str, str]) -> dict[str, Endings]:
    found: dict[str, Endings] = {}
    for ending in sorted(table, key=len, reverse=True):
        found.setdefault(ending[-2:], []).append((ending, table[ending]))
    return found


def _mark_consonants(word: str) -> str:
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        # Read as we write: a "y" after one that was just marked is a vowel again.
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin."""
    if word.startswith(_R1_BEGINNINGS):
        r1 = next(len(beginning) for beginning in _R1_BEGINNINGS if word.startswith(beginning))
    else:
        r1 = _behind_consonant(word, 0)
    return r1, _behind_consonant(word, r1)


def _behind_consonant(word: str, at: int) -> int:
    """The place behind the first consonant that follows a vowel, from ``at`` on; the word's end if there is none."""
    size = len(word)
    while at < size and word[at] not in _VOWELS:
        at += 1
    while at < size and word[at] in _VOWELS:
        at += 1
    return at + 1 if at < size else size


def _parted(word: str, endings: Endings) -> tuple[str, str, str]:
    """The word without the longest ending that is listed, that ending, and what takes its place."""
    for ending, instead in endings:
        if word.endswith(ending):
            return word[: -len(ending)], ending, instead
    return word, "", ""


def _ends_short(word: str) -> bool:
    """Whether the word ends in a short syllable."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    if len(word) < 2:
        return False
    if word.endswith("past"):
        return True
    before, vowel, last = word[-3], word[-2], word[-1]
    return before not in _VOWELS and vowel in _VOWELS and last not in _VOWELS and last not in "wxY"


def _plural(word: str) -> str:
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            word = word[: -len(ending)]
            break
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and not _VOWELS.isdisjoint(word[:-2]):
        return word[:-1]
    return word


def _past_and_present(word: str, r1: int) -> str:
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + "ee" if len(base) >= r1 and base not in _KEEP_EED else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            break
    else:
        return word
    if ending == "ing":
        if base in _KEEP_ING:
            return word
        if len(base) == 2 and base[1] == "y" and base[0] not in _VOWELS:
            return base[0] + "ie"
    if _VOWELS.isdisjoint(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base[-2:] in _DOUBLES:
        return base if len(base) == 3 and base[0] in "aeo" else base[:-1]
    return base + "e" if len(base) == r1 and _ends_short(base) else base


def _derivations(word: str, r1: int, endings: Endings) -> str:
    base, ending, instead = _parted(word, endings)
    if len(base) < r1:
        return word
    if ending == "ogi" and not base.endswith("l"):
        return word
    if ending == "li" and base[-1:] not in _LI_FOLLOWS:
        return word
    return base + instead


def _adjectives(word: str, r1: int, r2: int, endings: Endings) -> str:
    base, ending, instead = _parted(word, endings)
    if len(base) < r1 or (ending == "ative" and len(base) < r2):
        return word
    return base + instead


def _residues(word: str, r2: int, endings: Endings) -> str:
    base, ending, _ = _parted(word, endings)
    if len(base) < r2 or (ending == "ion" and base[-1:] not in ("s", "t")):
        return word
    return base


def _last_letter(word: str, r1: int, r2: int) -> str:
    base = word[:-1]
    if word.endswith("e") and (len(base) >= r2 or (len(base) >= r1 and not _ends_short(base))):
        return base
    if word.endswith("ll") and len(base) >= r2:
        return base
    return word
