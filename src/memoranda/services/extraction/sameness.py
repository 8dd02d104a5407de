"""Whether two facts say the same, without a model: only if hardly a sign of them differs.

A repeated fact can be merged later; a new one that is taken for a repetition is
lost. So nothing is compared by likeness or by stems: "uses" and "used" are two
facts, as are "likes tea" and "likes green tea". The same are texts that differ
in case, width, white space, sentence punctuation, quotes and brackets; in
articles; in contractions with one reading; in the 的 of "我的妈妈"; in a particle
of tone at the end (啊, 呀, 哦, 嘛); in whether an adverb of time stands first or
behind the subject. All else counts, in its order: numbers, identifiers,
negations, names, question marks, titles in 《》, signs, and the comma behind a "no".
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

__all__ = ["says_the_same"]

#: Stands for a pause behind a negation: "不，喜欢茶" is not "不喜欢茶".
_PAUSE = ","
#: Encloses digits that NFKC would join to their neighbours: 10² is not 102.
_APART = "\ue000"
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad"))

#: "a few" is not "few", "once a week" is not "once week", "vitamin A" is not "vitamin".
_QUANTITIES = frozenset(["few", "little", "bit", "lot", "couple", "dozen", "hundred", "thousand", "million"])
_RATES = frozenset(["once", "twice", "thrice", "time", "times"])
_LETTERED = frozenset(
    ["vitamin", "plan", "type", "group", "class", "grade", "team", "option", "section", "hepatitis", "influenza"]
)
_NEGATIONS = frozenset(["no", "not", "never", "none", "nor", "nope", "neither", "without", "cannot"])
_NEGATING = frozenset("不没沒别別非無无莫勿未否")
#: Words that are others in capitals.
_ACRONYMS = frozenset(["it", "us", "who", "aids", "pin", "ram"])
_CONTRACTIONS = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
_ENDINGS = (("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"))
_TONES = frozenset("啊呀哦嘛")
_ADVERBS = frozenset(
    ["currently", "now", "nowadays", "usually", "often", "always", "sometimes", "today", "yesterday", "recently"]
)
_CHINESE_ADVERBS = ("现在", "目前", "最近", "平时", "今天", "昨天", "通常", "经常", "以前", "去年", "今年")
_SUBJECTS = ("用户", "我们", "你们", "他们", "她们", "我", "你", "他", "她", "它")

# Scripts whose characters stand alone; spaces between them say nothing.
_DENSE = "\u3005-\u3007\u3041-\u3096\u30a1-\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_QUOTES = "\"'“”„‘’「」『』"
_BRACKETS = "()[]{}【】〔〕"
_PAUSES = ",;.:!。—"


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    letter = rf"[^\W{_DENSE}]"
    word = rf"{letter}+(?:(?:[-.:/@\\&'+\u2013]|(?<=\d),(?=\d)){letter}+)*(?:\+\+|\#(?!\w))?"
    # Dots, colons and hyphens separate if nothing is joined to them behind; "!=" and "3 - 5" are signs.
    dropped = rf"[,;。—{re.escape(_QUOTES + _BRACKETS)}]|!(?!=)|[.:](?=[\W{_DENSE}]|\Z)|-(?=\s|\Z)"
    odd = r"[^\x00-\x7f]"
    return re.compile(rf"(?P<word>{word})|(?P<dense>[{_DENSE}])|\s+|(?P<dropped>{dropped})|(?P<sign>.)"), re.compile(
        odd
    )


def says_the_same(one: str, other: str) -> bool:
    """Whether two facts differ in nothing that could matter. True for a text and itself; order plays no part."""
    if one == other:
        return True
    first, second = _tokens(one), _tokens(other)
    if not first or not second or _differ_in_capitals(first, second, one, other):
        return False
    if [folded for folded, _ in first] == [folded for folded, _ in second]:
        return True
    return _canonical(first) == _canonical(second)


def _normal(text: str) -> str:
    if text.isascii():
        return text
    text = _patterns()[1].sub(lambda found: _kept_apart(found[0]), text.translate(_INVISIBLE))
    return unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")


def _kept_apart(letter: str) -> str:
    """A digit that is none of a number (², ½, ①), between marks."""
    return (
        f"{_APART}{letter}{_APART}" if letter.isnumeric() and not letter.isdecimal() and not _is_han(letter) else letter
    )


def _is_han(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff" or letter >= "\U00020000"


def _tokens(text: str) -> list[tuple[str, str]]:
    """All that counts of a text, in order, folded and as written."""
    found: list[tuple[str, str]] = []
    for token in _patterns()[0].finditer(_normal(text)):
        written = token[0]
        if token.lastgroup == "dropped":
            digits = bool(found) and found[-1][0][-1:].isdigit()
            if digits and written in "\"'-":
                found.append((written, written))  # 5", 5', 3 - 5
            elif written in _PAUSES and _is_negated(found):
                found.append((_PAUSE, _PAUSE))
        elif token.lastgroup:
            found.append((written.casefold(), written))
    while found and found[-1][0] == _PAUSE:
        found.pop()
    return found


def _is_negated(tokens: list[tuple[str, str]]) -> bool:
    """Whether a negation stands so near before that a pause says what it belongs to."""
    last = [folded for folded, _ in tokens[-3:]]
    if last[-1:] == [_PAUSE]:
        return False
    return not _NEGATING.isdisjoint(last) or any(word in _NEGATIONS or word.endswith("n't") for word in last[-2:])


def _differ_in_capitals(first: list[tuple[str, str]], second: list[tuple[str, str]], one: str, other: str) -> bool:
    """Whether one means the US where the other means us; text all in capitals does not tell."""
    if one.isupper() or other.isupper():
        return False

    def acronyms(tokens: list[tuple[str, str]]) -> list[bool]:
        return [written.isupper() for folded, written in tokens if folded in _ACRONYMS]

    return acronyms(first) != acronyms(second)


def _canonical(tokens: list[tuple[str, str]]) -> list[str]:
    """The tokens without what may differ, contractions written out."""
    words: list[str] = []
    for at, (folded, written) in enumerate(tokens):
        following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        if not (_is_article(at, folded, written) and _is_free(words, folded, following)):
            words += _written_out(folded)
    if len(words) > 2 and words[-1] in _TONES and _is_han(words[-2]):
        words.pop()
    return _adverb_first(_without_possessive(words))


def _is_article(at: int, folded: str, written: str) -> bool:
    return folded in ("a", "an", "the") and (at == 0 or written.islower())


def _is_free(before: list[str], article: str, following: str) -> bool:
    """Whether an article here says nothing."""
    last = before[-1] if before else ""
    if not following[:1].isalpha() or last in _RATES or last in _LETTERED or last[-1:].isdigit():
        return False
    return article == "the" or following not in _QUANTITIES


def _written_out(word: str) -> list[str]:
    if "'" not in word and word != "cannot":
        return [word]
    if word in _CONTRACTIONS:
        return _CONTRACTIONS[word].split()
    for ending, instead in _ENDINGS:
        if len(word) > len(ending) and word.endswith(ending) and word != "ain't":
            return [word[: -len(ending)], instead]
    return [word]


def _without_possessive(words: list[str]) -> list[str]:
    """Without the 的 of a pronoun that the text begins with."""
    beginning = "".join(words[:4])
    for subject in _SUBJECTS:
        size = len(subject)
        if beginning.startswith(f"{subject}的") and len(words) > size + 1 and _is_han(words[size + 1]):
            return words[:size] + words[size + 1 :]
    return words


def _adverb_first(words: list[str]) -> list[str]:
    if len(words) > 2 and words[1] in _ADVERBS and words[0].isalpha() and words[0] not in _NEGATIONS:
        return [words[1], words[0], *words[2:]]
    beginning = "".join(words[:4])
    for subject in _SUBJECTS:
        if beginning.startswith(subject):
            size = len(subject)
            if beginning[size : size + 2] in _CHINESE_ADVERBS:
                return words[size : size + 2] + words[:size] + words[size + 2 :]
    return words
