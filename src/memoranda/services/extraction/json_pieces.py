"""JSON as language models write it, in pieces: each object and list is told when it closes, whatever stands around it.

One pass from left to right, without recursion, in time linear in the text. Read
leniently, because there is one meaning only: missing, surplus and wide commas,
comments, single and typographic quotes, bare keys, Python's literals, line
breaks in strings, stray closing brackets, pairs of quotes within a text. What
could be read in two ways marks its object as damaged.

A quote ends a text only if what follows may follow a text there. In valid JSON
this is every quote that is not escaped, so that valid JSON, and any beginning
of it, is read as a strict parser reads it.
"""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Single: TypeAlias = "str | bool | Odd | None"
    Value: TypeAlias = "Single | list[Single]"

__all__ = ["LIST", "NUMBER", "OBJECT", "Listener", "Odd", "Piece", "joined_halves", "read_pieces"]


class Odd:
    """A value that is no text, list, ``true``, ``false`` or ``null``: all that is kept is what it was."""

    def __init__(self, what: str) -> None:
        self.what = what


NUMBER, WORD, OBJECT, LIST = Odd("a number"), Odd("a bare word"), Odd("an object"), Odd("a list")

_NO_FIELDS: dict[str, Value] = {}  # of a list; there may be a million lists
_NO_ITEMS: list[Single] = []
_LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBERS = frozenset(["NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"])
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_DOUBLE, _SINGLE = "“”＂", "‘’"
_QUOTES = f"\"'{_DOUBLE}{_SINGLE}"


class Piece:
    """An object or a list. ``under`` is the key that it is the value of; ``mark`` belongs to the listener.

    ``fields`` holds an object's values by key, case folded, ``items`` a list's;
    lists and objects within lists are there as what they are alone. ``clash``
    is a key with two different values, ``damage`` what is doubtful, in words;
    ``text`` a value that was cut by the end. ``end`` is 0 until it closes.
    """

    __slots__ = ("clash", "damage", "end", "fields", "fresh", "is_list", "items",
                 "key", "loose", "mark", "start", "text", "under", "waiting")  # fmt: skip

    def __init__(self, start: int, is_list: bool, under: str) -> None:
        self.start, self.end, self.is_list, self.under = start, 0, is_list, under
        self.fields: dict[str, Value] = _NO_FIELDS if is_list else {}
        self.items: list[Single] = [] if is_list else _NO_ITEMS
        self.key = self.clash = self.damage = self.text = ""
        self.waiting = self.loose = False  # for the key's value; bare words among the items
        self.fresh = True  # nothing stands before the next item but the bracket or a comma
        self.mark: tuple[int, ...] = ()

    def put(self, value: Value) -> None:
        """Take the value of the key at hand, or the next item."""
        if self.is_list:
            self.items.append(LIST if isinstance(value, list) else value)
            self.fresh = False
            return
        self.clash = self.key if self.fields.get(self.key, value) != value else self.clash
        self.fields[self.key] = value
        self.waiting = False


class Listener:
    """Is told what is found. Inner pieces close before outer ones."""

    def opened(self, piece: Piece, outermost: bool) -> None:
        """An object or list begins."""

    def closed(self, piece: Piece) -> None:
        """An object or list has ended with its bracket."""

    def left_open(self, piece: Piece, at_end: bool) -> None:
        """It did not end: another began where it could not, or the text ended (inner ones are told first)."""

    def escaped(self, text: str) -> None:
        """Outside of all pieces there was JSON with its quotes escaped; here it is without."""

    def astray(self, at: int) -> None:
        """Outside of all pieces an operation's first key stands at this place."""

    def thought(self, start: int, end: int) -> None:
        """Between these places the model was thinking; what was told before, and lies there, is void."""


def read_pieces(text: str, listener: Listener) -> None:
    """Tell the listener of every object and list in the text."""
    _Scanner(text, listener).run()


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    space, quotes = r"[\s\ufeff\u200b\u2060]*", rf"[\"'{_DOUBLE}{_SINGLE}]"
    key = rf"{quotes}[A-Za-z_]{{1,40}}{quotes}\s*[:：]"
    return {
        "space": re.compile(space),
        "outside": re.compile(rf"[\[{{]|</?think(?:ing)?>|{quotes}op{quotes}\s*:", re.IGNORECASE),
        "object": re.compile(rf"\s*\{{\s*{quotes}"),
        "layer": re.compile(r"[\[{](?:\s|\\[nrt])*(?:[\[{](?:\s|\\[nrt])*)?\\+\""),
        "tag": re.compile(r"</think(?:ing)?>", re.IGNORECASE),
        '"': re.compile(r"[\"\\]"),
        "'": re.compile(r"['\\]"),
        _DOUBLE: re.compile(rf"[{_DOUBLE}\\]"),
        _SINGLE: re.compile(rf"[{_SINGLE}\\]"),
        "after value": re.compile(rf"{space}(?:[,}}\]]|//|/\*|\Z|(?:，\s*)?{key})"),
        "after item": re.compile(rf"{space}(?:[,}}\]]|//|/\*|\Z)"),
        "key end": re.compile(r"[\"\\\n]"),
        "colon": re.compile(rf"{space}[:：]"),
        "odd key": re.compile(rf"{quotes}([^\"'{_DOUBLE}{_SINGLE}\n:{{}}\[\],]{{1,40}}){quotes}\s*[:：]"),
        "bare key": re.compile(r"([A-Za-z_]\w{0,39})\s*:"),
        "start": re.compile(rf"(\}}\s*(?:,\s*)?)\{{\s*{quotes}op(?:eration)?{quotes}\s*:", re.IGNORECASE),
        "word": re.compile(rf"[^\s,{{}}\[\]\"{_DOUBLE}<]+"),
        "number": re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z"),
        "junk": re.compile(rf"[^{{}}\[\],\"'{_DOUBLE}{_SINGLE}<\\/]+"),
        "escape": re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL),
    }  # fmt: skip


def joined_halves(text: str) -> str:
    """The text with halves of a character (surrogates) joined; one alone is U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _unescaped(raw: str) -> str:
    """A string's text. An escape that is none is text."""

    def plain(found: re.Match[str]) -> str:
        escape = found[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _ESCAPES.get(escape, found[0])

    return joined_halves(_patterns()["escape"].sub(plain, raw))


class _Scanner:
    def __init__(self, text: str, listener: Listener) -> None:
        self.text, self.listener, self.at, self.size = text, listener, 0, len(text)
        self.open: list[Piece] = []
        self.objects = 0  # how many of the open pieces are objects
        self.patterns = _patterns()
        self.may_close_thought = self.may_close_comment = True
        self.start = -1  # of the operation that was found last
        self.first = self._after_space(0)

    def run(self) -> None:
        while self.at < self.size:
            if not self.open:
                self._outside()
                continue
            self._skip()
            if self.at < self.size:
                piece = self.open[-1]
                step = self._in_list if piece.is_list else self._value if piece.waiting else self._key
                step(piece, self.text[self.at])
        while self.open:
            self.listener.left_open(self._pop(), True)

    # Outside of all pieces.

    def _outside(self) -> None:
        found = self.patterns["outside"].search(self.text, self.at)
        self.at = found.start() if found else self.size
        if found is None:
            return
        if found[0][0] == "<":
            self._tag(found[0], found.end())
        elif found[0] not in "[{":
            self.listener.astray(self.at)
            self.at = found.end()
        elif self.patterns["layer"].match(self.text, self.at):
            end = self._quote('"', self.at)
            self.listener.escaped(_unescaped(self.text[self.at : end]))
            self.at = end + 1
        else:
            self._push(found[0] == "[")

    def _tag(self, tag: str, end: int) -> None:
        """A thought begins or ends here; one that only ends began with the text."""
        if tag.startswith("</"):
            self.open.clear()
            self.objects = 0
            self.listener.thought(0, self.at)
        elif self.may_close_thought and (close := self.patterns["tag"].search(self.text, end)):
            self.listener.thought(end, close.start())
            end = close.end()
        elif self.at == self.first:
            self.listener.thought(end, self.size)
            end = self.size
        else:
            self.may_close_thought = False
        self.at = end

    def _closing_tag(self) -> bool:
        """Whether a thought ends here, within what looked like a piece."""
        if found := self.patterns["tag"].match(self.text, self.at):
            self._tag(found[0], found.end())
        return found is not None

    # Inside a piece.

    def _after_space(self, at: int) -> int:
        found = self.patterns["space"].match(self.text, at)
        return found.end() if found else at

    def _skip(self) -> None:
        """Go past white space and comments."""
        while True:
            self.at = self._after_space(self.at)
            if self.text.startswith("//", self.at):
                end = self.text.find("\n", self.at)
            elif self.text.startswith("/*", self.at):
                end = self.text.find("*/", self.at + 2) if self.may_close_comment else -1
                self.may_close_comment = end >= 0
                end = end + 2 if end >= 0 else self.at + 2
            else:
                return
            self.at = end if end >= 0 else self.size

    def _in_list(self, piece: Piece, mark: str) -> None:
        if mark == ",":
            piece.fresh = True
            self.at += 1
        elif mark == "]":
            self._close()
        elif mark == "}":
            if self.objects:
                while self.open[-1].is_list:
                    self.listener.left_open(self._pop(), False)
                    self.open[-1].put(LIST)
                self.open[-1].damage = "a list is left open"
            else:
                self.at += 1
        elif mark in "[{":
            self._push(mark == "[")
        elif mark in _QUOTES and piece.fresh:
            self._item(piece, mark)
        elif mark != "<" or not self._closing_tag():
            self._word(piece)

    def _item(self, piece: Piece, mark: str) -> None:
        start = self.at + 1
        end = self._quote(mark, start)
        self.at = end + 1
        if end < self.size and self.patterns["after item"].match(self.text, end + 1):
            piece.put(_unescaped(self.text[start:end]))
        elif self._next_start(start) < end or self.patterns["object"].match(self.text, start):
            self.at = start  # a stray quote
            piece.put(WORD)
        elif end < self.size:
            piece.put(WORD)

    def _value(self, piece: Piece, mark: str) -> None:
        if mark in _QUOTES:
            self._string(piece, mark)
        elif mark in "[{":
            self._push(mark == "[")
        elif mark in ",}]":
            piece.damage = "a key has no value"
            piece.waiting = False
        elif mark != "<" or not self._closing_tag():
            self._word(piece)

    def _word(self, piece: Piece) -> None:
        """A value without quotes."""
        found = self.patterns["word"].match(self.text, self.at)
        self.at, word = (found.end(), found[0]) if found else (self.at + 1, "")
        if word in _LITERALS:
            piece.put(_LITERALS[word])
        elif word in _NUMBERS or self.patterns["number"].match(word):
            piece.put(NUMBER)
        else:
            piece.put(WORD)
            piece.loose = True

    def _key(self, piece: Piece, mark: str) -> None:
        if mark in ",，]":
            self.at += 1
        elif mark == "}":
            self._close()
        elif mark == "{":
            self.listener.left_open(self._pop(), False)
        elif (found := self._found_key(piece, mark)) is not None:
            piece.key, self.at = found[0].strip().casefold(), found[1]
            piece.waiting = True
        elif mark != "<" or not self._closing_tag():
            piece.damage = piece.damage or "it is not clear where a text ends"
            junk = self.patterns["junk"].match(self.text, self.at)
            self.at = junk.end() if junk else self.at + (2 if mark == "\\" else 1)

    def _found_key(self, piece: Piece, mark: str) -> tuple[str, int] | None:
        """The key that stands here, and where its value may begin."""
        if mark == '"':
            end = self._quote(mark, self.at + 1, "key end")
            colon = self.patterns["colon"].match(self.text, end + 1) if self.text.startswith(mark, end) else None
            return (_unescaped(self.text[self.at + 1 : end]), colon.end()) if colon else None
        if mark in _QUOTES:
            found = self.patterns["odd key"].match(self.text, self.at)
        else:  # in what is damaged, a word before a colon is hardly a key
            found = None if piece.damage else self.patterns["bare key"].match(self.text, self.at)
        return (found[1], found.end()) if found else None

    def _string(self, piece: Piece, mark: str) -> None:
        """A text as a value: to the first quote behind which something may follow."""
        start = self.at + 1
        end, inner = self._quote(mark, start), []
        while not self.patterns["after value"].match(self.text, end + 1) or end >= self.size:
            if self._next_start(start) < end:  # it was left open: another operation has begun
                self.listener.left_open(self._pop(), False)
                self.at = self.start
                return
            if end >= self.size:
                break
            inner.append(end)
            end = self._quote(mark, end + 1)
        if end >= self.size:
            piece.text, self.at = _unescaped(self.text[start:]), self.size
            return
        if inner and not self._are_pairs(mark, inner):
            piece.damage = "quotes within a text are not escaped"
        piece.put(_unescaped(self.text[start:end]))
        self.at = end + 1

    def _quote(self, mark: str, at: int, pattern: str = "") -> int:
        """Where the next quote of this kind stands that is not escaped (or a line break, for keys); else the end."""
        pattern = pattern or (_DOUBLE if mark in _DOUBLE else _SINGLE if mark in _SINGLE else mark)
        search = self.patterns[pattern].search
        while found := search(self.text, at):
            if found[0] != "\\":
                return found.start()
            at = found.start() + 2
        return self.size

    def _are_pairs(self, mark: str, inner: list[int]) -> bool:
        """Whether quotes within a text enclose words, or are apostrophes, so that they end nothing."""
        text = self.text
        if mark in "'‘’" and all(text[at - 1].isalpha() and text[at + 1].isalpha() for at in inner):
            return True
        pairs = [text[first + 1 : last] for first, last in zip(inner[::2], inner[1::2], strict=False)]
        return len(inner) % 2 == 0 and all(pair and pair == pair.strip() for pair in pairs)

    def _next_start(self, at: int) -> int:
        """Where an operation begins behind a brace, from this place on; else the end. Asked for places in order."""
        if self.start < at:
            found = self.patterns["start"].search(self.text, at)
            self.start = found.end(1) if found else self.size
        return self.start

    # Beginning and ending.

    def _push(self, is_list: bool) -> None:
        above = self.open[-1] if self.open else None
        piece = Piece(self.at, is_list, above.key if above and not above.is_list else "")
        self.open.append(piece)
        self.objects += not is_list
        self.listener.opened(piece, above is None)
        self.at += 1

    def _pop(self) -> Piece:
        piece = self.open.pop()
        self.objects -= not piece.is_list
        return piece

    def _close(self) -> None:
        piece = self._pop()
        self.at += 1
        piece.end = self.at
        if not piece.is_list and self._text_goes_on():
            piece.damage = piece.damage or "it is not clear where a text ends"
        self.listener.closed(piece)
        if self.open:
            self.open[-1].put(piece.items if piece.is_list else OBJECT)

    def _text_goes_on(self) -> bool:
        """Whether behind a brace stands what cannot: then the brace was part of a text, and its quote ended nothing."""
        after = self._after_space(self.at)
        if after == self.size or "\n" in self.text[self.at : after]:
            return False
        in_list = bool(self.open) and self.open[-1].is_list
        return self.text[after] in f'"{_DOUBLE}' or (in_list and self.text[after].isalnum())
