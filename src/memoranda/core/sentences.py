"""Prose by sentences: where it may be cut (behind one, else behind a clause or a word), and what a reader sees of it.

Offsets are character offsets. Lengths are columns, as on a terminal: a wide
character (Chinese, Japanese, Korean, full-width forms, emoji) counts two, any
other one. What must not be cut (inline code, links, addresses) is masked first.
Every function is linear in what it is given.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.links import find_links
from memoranda.core.prose import prose

__all__ = [
    "columns",
    "last_sentences",
    "masked_spans",
    "reach",
    "sentence_starts",
    "shown_line",
    "shown_text",
    "whole_character",
    "word_break",
]

# Each is compiled when the first text comes that needs it.
_compiled = cache(re.compile)

# East Asian Width "W" and "F", by whole blocks.
_WIDE = (
    r"[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f"
    r"\uff01-\uff60\uffe0-\uffe6\U0001f300-\U0001faff\U00020000-\U0003ffff]+"
)

# Han, hiragana and their punctuation: written without spaces. Katakana and Hangul keep together like Latin words.
_DENSE = (
    r"\u2e80-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65\U00020000-\U0003ffff"
)
_OPENING = r"（［｛「『【〔〖《〈“‘(\[{"
_CLOSING = (
    r"，、。．！？；：…‥—～·）］｝」』】〕〗》〉”’%％℃.,!?;:)\]}"
    r"々〻ゝゞぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮー"
)

_INLINE_LINK = (
    r"\[(?:[^\[\]]|\[[^\[\]]{0,200}\]){0,400}\]"
    r"\([^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,1000})?(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
)
_SPANS = (
    r"!?\[\[[^\[\]\n]{1,400}\]\]"
    rf"|!?{_INLINE_LINK}|!?\[[^\[\]]{{0,400}}\]\[[^\[\]\n]{{0,100}}\]"
    r"|<[A-Za-z/][^<>\n]{0,500}>"
    r"|(?:https?://|www\.)[!-~]*[!-~](?<![.,;:!?)'\"\]*_])"
)

_QUOTES_BEHIND = r"[”’」』）】》〉〕〗］)\]\"'»*_]*"
_SENTENCE_ENDS = (
    # Wide marks need no space behind them, but no comma either.
    rf"(?<![。！？；｡…‥])(?:[。！？；｡][。！？；｡…‥!?]*|…[…!?！？。]*(?=[”’」』）]*[{_DENSE}]))"
    rf"{_QUOTES_BEHIND}(?![，、,：:。！？；｡…‥”’」』）】》〉〕〗］)\]\"'»*_])"
    rf"|(?<=[{_DENSE}])[.!?]{_QUOTES_BEHIND}(?=[\u3400-\u4dbf\u4e00-\u9fff\u3041-\u3096])"
    # Narrow ones do; then marks of notes may follow.
    rf"|((?<![.!?…])[.!?…؟۔।॥]+{_QUOTES_BEHIND}(?:\[\^?\w{{1,20}}\])?)(?=\s)"
    # A line that a person ended.
    r"|(?<! ) {2,}\n|\\\n"
)
_WHITE = r"\s*"

# Never the last word of a sentence, and seldom enough to be taken for none before a number.
_BEFORE_NAMES = (
    " mr mrs ms dr prof st mt rev gen col sgt capt lt gov sen rep hon pres messrs mme mlle sr sra vs viz cf al co ibid"
    " fig figs eq eqs sec ed eds ref refs eg ie bzw vgl abb "
)
_BEFORE_NUMBERS = (
    " no nos nr p pp vol vols ch art par approx ca tel ext jan feb mar apr jun jul aug sep sept oct nov dec "
)
_LONGEST_ABBREVIATION = 24

_CLAUSE_ENDS = rf"[，、；：]{_QUOTES_BEHIND}|——|[,;:|>]\s+|>(?=<)|\s[–—-]\s+|\n[ \t]*"
_WORD_ENDS = rf"\s(?=\S)|[{_DENSE}](?<![{_OPENING}])(?=[^\s{_CLOSING}])|[^\s{_OPENING}](?=[{_DENSE}])(?=[^{_CLOSING}])"

_SHOWN_LINK = (
    r"!?\[((?:\[[^\[\]]*\]|[^\[\]])*)\]"
    r"(?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:[ \t]+\"[^\"]*\")?\)|\[[^\[\]]*\])"
)
_EMPHASIS = r"(?<!\w)(\*\*\*|\*\*|\*|___|__|_)(?=\S)([^*_]+?)(?<=\S)\1(?!\w)|(`+)([^`]+)\3"
_LONGEST_LINE = 200

#: So many marks on one character are kept together; more are nobody's writing.
_MOST_MARKS = 40


def columns(text: str, start: int = 0, end: int | None = None) -> int:
    """The columns that ``text[start:end]`` takes, line ends counted as one each."""
    piece = text[start:end]
    if piece.isascii():
        return len(piece)
    return 2 * len(piece) - len(_compiled(_WIDE).sub("", piece))


def reach(text: str, start: int, end: int, room: int) -> int:
    """The last offset up to ``end`` so that the text from ``start`` to it takes no more than ``room`` columns."""
    high = min(end, start + room)
    if columns(text, start, high) <= room:
        return high
    low = start + room // 2
    left = room - columns(text, start, low)
    while low < high:
        middle = (low + high + 1) // 2
        width = columns(text, low, middle)
        if width <= left:
            low, left = middle, left - width
        else:
            high = middle - 1
    return low


def masked_spans(text: str) -> str:
    """The text with ``x`` for every character of inline code, links, tags and addresses."""
    if "`" in text:
        text = _without_code(text)
    if "[" in text or "<" in text or "http" in text or "www." in text:
        text = _compiled(_SPANS).sub(lambda found: "x" * (found.end() - found.start()), text)
    return text


def _without_code(text: str) -> str:
    """Inline code masked: a run of backticks up to the next run of the same length."""
    runs = list(_compiled("`+").finditer(text))
    later: dict[int, list[int]] = {}
    for at in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[at][0]), []).append(at)
    out: list[str] = []
    done = at = 0
    while at < len(runs):
        run = runs[at]
        same = later[len(run[0])]
        while same and same[-1] <= at:
            same.pop()
        escaped = run.start() > 0 and text[run.start() - 1] == "\\"
        if same and not escaped:
            at = same[-1]
            out += (text[done : run.start()], "x" * (runs[at].end() - run.start()))
            done = runs[at].end()
        at += 1
    return "".join((*out, text[done:]))


def sentence_starts(masked: str) -> list[int]:
    """Where sentences begin, the first left out: behind the white space that follows a sentence's end.

    English marks end one only before white space, unless a small letter follows
    or what stands before is an abbreviation, an initial or a list's number;
    Chinese and Japanese marks end one with the quotes and brackets that close
    behind them. Where both readings are possible the text stays together.
    """
    starts: list[int] = []
    white = _compiled(_WHITE)
    for found in _compiled(_SENTENCE_ENDS).finditer(masked):
        after = white.match(masked, found.end())
        start = after.end() if after else found.end()
        if start == len(masked) or (starts and starts[-1] >= start):
            continue
        if found[1] is not None and (masked[start].islower() or _abbreviated(masked, found.start(), found[1], start)):
            continue
        starts.append(start)
    return starts


def _abbreviated(masked: str, dot: int, mark: str, following: int) -> bool:
    """Whether the one full stop at ``dot`` belongs to the word before it."""
    if mark[0] != "." or mark[1:2] == ".":
        return False
    begin, lowest = dot, max(0, dot - _LONGEST_ABBREVIATION)
    while begin > lowest and (masked[begin - 1].isalnum() or masked[begin - 1] == "."):
        begin -= 1
    word = masked[begin:dot]
    if word.isdecimal():
        line = masked.rfind("\n", max(0, begin - 4), begin) + 1
        return (line > 0 or begin < 4) and not masked[line:begin].strip()
    parts = word.split(".")
    if all(part.isalpha() and part.isascii() and len(part) <= (1 if len(parts) == 1 else 2) for part in parts):
        return True
    key = f" {word.lower()} "
    return key in _BEFORE_NAMES or (key in _BEFORE_NUMBERS and masked[following].isdecimal())


def word_break(masked: str, start: int, limit: int) -> int:
    """Where to cut a sentence that goes on behind ``limit``; ``start`` if a single word reaches so far.

    Behind the last clause, if that leaves no less than half; else behind the
    last word. A character written without spaces is a word, but keeps the
    marks that close behind it or open before it.
    """
    cut = start
    for found in _compiled(_CLAUSE_ENDS).finditer(masked, (start + limit) // 2, limit):
        if found.end() <= limit:
            cut = found.end()
    if cut > start and not (cut < len(masked) and masked[cut] in _CLOSING and not masked[cut - 1].isspace()):
        return cut
    if limit < len(masked) and masked[limit].isspace():
        return limit
    cut = start
    # One character more is seen, so that what follows the limit can forbid it.
    for found in _compiled(_WORD_ENDS).finditer(masked, start, min(limit + 1, len(masked))):
        if found.end() <= limit:
            cut = found.end()
    return cut


def whole_character(text: str, start: int, cut: int) -> int:
    """The nearest place up to ``cut``, and behind ``start``, that parts no character as people see it.

    Combining marks, joined emoji, flags, halves of a surrogate pair, jamo of
    one syllable and ``\\r\\n`` stay together, within reason.
    """
    at = cut
    lowest = max(start, cut - _MOST_MARKS)
    while at > lowest and at < len(text) and _joined(text, at):
        at -= 1
    return at if at > lowest or (at > start and not _joined(text, at)) else cut


def _joined(text: str, at: int) -> bool:
    from unicodedata import category, combining

    before, behind = text[at - 1], text[at]
    if behind < "\u0300":
        return before == "\r" and behind == "\n"
    if combining(behind) or category(behind) in ("Mn", "Mc", "Me") or behind == "\u200d" or before == "\u200d":
        return True
    if "\U0001f3fb" <= behind <= "\U0001f3ff" or "\U000e0020" <= behind <= "\U000e007f":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= behind <= "\udfff":
        return True
    if "\u1160" <= behind <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    if "\U0001f1e6" <= behind <= "\U0001f1ff":
        flags = at
        while flags > 0 and at - flags < _MOST_MARKS and "\U0001f1e6" <= text[flags - 1] <= "\U0001f1ff":
            flags -= 1
        return (at - flags) % 2 == 1
    return False


def last_sentences(text: str, start: int, end: int, room: int) -> int:
    """Where the last whole sentences of ``text[start:end]`` begin that take up to ``room`` columns; else ``end``."""
    begin = max(start, end - room)
    for at in sentence_starts(masked_spans(text[begin:end])):
        if columns(text, begin + at, end) <= room:
            return begin + at
    return end


def shown_line(text: str) -> str:
    """A heading as it is shown, in one line, without emphasis and links; what passes 200 characters is cut off."""
    shown = shown_text(text[: 4 * _LONGEST_LINE])
    shown = " ".join(_compiled(_EMPHASIS).sub(lambda found: found[2] or found[4], shown).split())
    return shown if len(shown) <= _LONGEST_LINE else shown[: _LONGEST_LINE - 1].rstrip() + "…"


def shown_text(text: str) -> str:
    """The text with its links as a reader sees them; those in code stay as they are."""
    if "[" not in text:
        return text
    edits: list[tuple[int, int, str]] = [(link.start, link.end, link.shown or link.target) for link in find_links(text)]
    for piece in prose(text, holding="]"):
        for found in _compiled(_SHOWN_LINK).finditer(piece.masked):
            first, last = piece.outer(found.start()), piece.outer(found.end() - 1) + 1
            label = piece.text[found.start(1) : found.end(1)]
            edits.append((first, last, _compiled(_SHOWN_LINK).sub(lambda inner: str(inner[1]), label)))
    edits.sort(key=lambda edit: (edit[0], -edit[1]))
    out: list[str] = []
    done = 0
    for start, end, label in edits:
        if start >= done:
            out += (text[done:start], label)
            done = end
    return "".join((*out, text[done:]))
