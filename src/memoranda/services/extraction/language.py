"""Whether a fact was written in another language than what was said, told by the scripts alone.

Names, terms, code, numbers and quotations in another script are part of any
language, so they do not count; nor does what was itself said. Languages that
share a script (English and French) are not told apart, but for Chinese and Japanese.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["other_language"]

#: How many words make clear what language a text is in: two may be a name, or a term.
_CLEAR = 2.5
#: Of all words of a fact, how many are of its language at least.
_SHARE = 0.7
#: So many words of a language, if they are so large a part of all, or so many, make it one that was said too.
_SAID_TOO, _SAID_SHARE, _SAID_MUCH = 1.5, 0.1, 8.0
#: A capitalized word may be a name.
_NAME = 0.5
#: Of the characters of a Japanese text, how many are Kana at least.
_KANA_SHARE = 0.15
#: Frequent characters of Chinese that Japanese does not have, or writes otherwise.
_CHINESE = frozenset("这们你她吗呢很说欢爱过还对个时为现间语习东车见问给让从這們嗎妳")

# Scripts with words, and those without spaces with what one character is worth in words, about.
_ALPHABETS = {
    "latin": "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "hebrew": "\u0590-\u05ff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "indic": "\u0900-\u0dff",
    "hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
}
_DENSE = {
    "han": ("\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", 0.55),
    "kana": ("\u3041-\u3096\u30a1-\u30fa\u30fc", 0.5),
    "thai": ("\u0e01-\u0e4e", 0.25),
}

_CODE = r"```[^`]*```|`[^`\n]*`|\[\[[^\[\]\n]*\]\]|[A-Za-z][A-Za-z0-9+.-]{0,20}://[!-~]+"
_QUOTED = r"[“「『《〈][^“「『《〈”」』》〉\n]{0,200}[”」』》〉]|\"[^\"\n]{0,200}\""
_SIGNS = r"0-9_./\\@#$%&=+~:-"


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    scripts = [f"(?P<{name}>[{letters}]+)" for name, letters in _ALPHABETS.items()]
    scripts += [f"(?P<{name}>[{letters}]+)" for name, (letters, _) in _DENSE.items()]
    return {
        "code": re.compile(_CODE),
        "quoted": re.compile(_QUOTED),
        "token": re.compile(f"[A-Za-z{_SIGNS}]+"),
        "word": re.compile("|".join(scripts)),
    }


def other_language(fact: str, said: str) -> bool:
    """Whether a fact is in a language in which nothing of what was said is; false where either is short, or unclear."""
    spoken = _languages(_plain(said), "")
    if max(spoken.values(), default=0.0) < _CLEAR:
        return False
    plain = _plain(_patterns()["quoted"].sub(" ", fact))
    written = _languages(plain, said.casefold())
    language = max(written, key=lambda one: written[one], default="")
    if not language or written[language] < max(_CLEAR, _SHARE * sum(written.values())):
        return False
    if language == "chinese" and "japanese" in spoken and _CHINESE.isdisjoint(plain):
        return False  # Japanese may be written without Kana
    words = spoken.get(language, 0.0)
    enough = words >= _SAID_MUCH or words >= _SAID_SHARE * sum(spoken.values())
    return not (words >= _SAID_TOO and enough)


def _plain(text: str) -> str:
    """The text without code, links, addresses and identifiers."""
    text = _patterns()["code"].sub(" ", text)
    return _patterns()["token"].sub(lambda token: _as_words(token[0]), text)


def _as_words(token: str) -> str:
    """A token's words; none if it is an identifier, a path, a number, ..."""
    words = token.strip("./:-~&+=").split("-")
    is_plain = all(word.isalpha() and (word[1:].islower() or len(word) == 1) for word in words)
    return f" {' '.join(words)} " if is_plain else " "


def _languages(text: str, known: str) -> dict[str, float]:
    """How many words of each language a text has, about; words and runs that stand in ``known`` do not count."""
    words = _patterns()["word"]
    known_words = {word[0] for word in words.finditer(known)}
    found: dict[str, float] = {}
    lengths = {"han": 0, "kana": 0, "thai": 0}
    for word in words.finditer(text):
        script, letters = word.lastgroup or "", word[0].casefold()
        if letters in known_words:
            continue
        if script in _DENSE:
            lengths[script] += len(letters)
        else:
            found[script] = found.get(script, 0.0) + (_NAME if word[0][0].isupper() else 1.0)
    worth = {script: length * _DENSE[script][1] for script, length in lengths.items()}
    is_japanese = lengths["kana"] and lengths["kana"] >= _KANA_SHARE * (lengths["kana"] + lengths["han"])
    found["japanese" if is_japanese else "chinese"] = worth["han"] + worth["kana"]
    found["thai"] = worth["thai"]
    return {language: weight for language, weight in found.items() if weight}
