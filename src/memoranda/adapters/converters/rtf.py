"""Rich text (.rtf): its text, headings by their outline level, its tables."""

from __future__ import annotations

import re
from functools import cache

from memoranda.adapters.converters.encodings import known_encoding
from memoranda.adapters.converters.markdown_text import blocks, heading, prose, table
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_rtf", "rtf_blocks", "unpacked_rtf"]

#: Groups that hold no text of the document.
_HIDDEN_NAMES = (
    "fonttbl colortbl stylesheet info pict object listtable listoverridetable revtbl rsidtbl generator themedata "
    "colorschememapping latentstyles datastore xmlnstbl filetbl fldinst header headerl headerr headerf footer "
    "footerl footerr footerf mmathPr wgrffmtfilter datafield bkmkstart bkmkend nonshppict pntext xe tc template"
)
_HIDDEN = frozenset(_HIDDEN_NAMES.split())
_SIGNS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
    "emspace": " ", "enspace": " ", "tab": "\t", "line": "\n", "lbr": "\n", "softline": "\n",
}  # fmt: skip
_ESCAPED = {"~": " ", "_": "-", "\n": "\n", "\r": "\n", "\\": "\\", "{": "{", "}": "}"}
_CHARSETS = {128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258",
             177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip
_DEEPEST = 2000


@cache
def _token() -> re.Pattern[str]:
    coded, word, sign = r"\\'([0-9a-fA-F]{2})", r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?", r"\\([^a-zA-Z])"
    return re.compile(rf"{coded}|{word}|{sign}|([{{}}])|[\r\n]+|([^\\{{}}\r\n]+)")


def convert_rtf(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A rich text."""
    return built(rtf_blocks(data), format)


def rtf_blocks(data: bytes) -> str:
    """Rich text as markdown. Raises NotConverted: it is none."""
    text = data.decode("latin-1").lstrip()
    if not text.startswith("{\\rtf"):
        raise NotConverted("corrupt", "no rich text: it does not begin as one")
    reader = _Reader(text)
    reader.read()
    return blocks(reader.parts)


class _State:
    """What belongs to a group and ends with it."""

    __slots__ = ("font", "hidden", "level", "skip", "table")

    def __init__(self, font: str, hidden: bool, skip: int, level: int, table: bool) -> None:
        self.font, self.hidden, self.skip, self.level, self.table = font, hidden, skip, level, table

    def copy(self) -> _State:
        return _State(self.font, self.hidden, self.skip, self.level, self.table)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._code_page = "cp1252"
        self._fonts: dict[str, str] = {}
        self._state = _State("", False, 1, 0, False)
        self._stack: list[_State] = []
        self._line: list[str] = []
        self._bytes = bytearray()
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._waiting = 0
        self._high = 0
        self.parts: list[str] = []

    def read(self) -> None:
        after_open = starred = False
        at, text = 0, self._text
        while match := _token().match(text, at):
            at = match.end()
            code, word, number, sign, brace, plain = match.groups()
            if code is not None:
                if not self._skipped():
                    self._bytes.append(int(code, 16))
                after_open = False
                continue
            if brace == "{":
                self._flush_bytes()
                if len(self._stack) > _DEEPEST:
                    raise NotConverted("unsafe", "rich text that is nested too deeply")
                self._stack.append(self._state)
                self._state = self._state.copy()
                after_open, starred = True, False
                continue
            if brace == "}":
                self._flush_bytes()
                if self._stack:
                    self._state = self._stack.pop()
            elif sign is not None:
                if sign == "*" and after_open:
                    starred = True
                    continue
                self._add(_ESCAPED.get(sign, ""))
            elif word is not None:
                if after_open and (starred or word in _HIDDEN):
                    self._state.hidden = not (starred and word in ("shptxt", "shpinst", "fldrslt"))
                    self._state.hidden = self._state.hidden or word in _HIDDEN
                if word == "bin":
                    at += max(int(number or 0), 0)
                self._word(word, int(number) if number else None)
            elif plain is not None:
                self._add(plain)
            after_open = starred = False
        self._end_paragraph()
        self._end_table()

    def _skipped(self) -> bool:
        """Whether what comes stands in for a character of Unicode that was there already."""
        if self._waiting:
            self._waiting -= 1
            return True
        return False

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        if word == "u" and number is not None:
            self._flush_bytes()
            self._unicode(number & 0xFFFF)
            self._waiting = state.skip
            return
        if word == "uc":
            state.skip = min(max(number or 0, 0), 8)
        elif word == "f" and number is not None:
            self._flush_bytes()
            state.font = str(number)
        elif word == "fcharset" and number is not None:
            self._fonts[state.font] = _CHARSETS.get(number, "")
        elif word == "ansicpg" and number is not None:
            self._code_page = {936: "gb18030", 65001: "utf-8"}.get(number, known_encoding(f"cp{number}") or "cp1252")
        elif word in _SIGNS:
            self._add(_SIGNS[word])
        elif word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word == "pard":
            state.level, state.table = 0, False
        elif word == "outlinelevel" and number is not None:
            state.level = number + 1 if 0 <= number < 9 else 0
        elif word in ("intbl", "trowd"):
            state.table = True
        elif word in ("cell", "nestcell"):
            self._cells.append(self._taken())
        elif word in ("row", "nestrow") and self._cells:
            self._rows.append(self._cells)
            self._cells = []

    def _unicode(self, code: int) -> None:
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            if self._high:
                self._put(chr(0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00))
            self._high = 0
        else:
            self._put(chr(code))

    def _add(self, text: str) -> None:
        self._flush_bytes()
        if self._waiting:
            gone = min(self._waiting, len(text))
            self._waiting -= gone
            text = text[gone:]
        self._put(text)

    def _put(self, text: str) -> None:
        if not self._state.hidden and text:
            self._line.append(text)

    def _flush_bytes(self) -> None:
        if self._bytes:
            self._put(self._decoded())
            self._bytes.clear()

    def _decoded(self) -> str:
        """The bytes by the font's character set; by the document's code page, or Windows-1252, where it names none."""
        named = self._fonts.get(self._state.font)
        try:
            return self._bytes.decode(named or self._code_page)
        except UnicodeDecodeError:
            return self._bytes.decode(named or "cp1252", "replace")

    def _taken(self) -> str:
        self._flush_bytes()
        text = "\n".join(" ".join(one.split()) for one in "".join(self._line).split("\n")).strip()
        self._line.clear()
        return text

    def _end_paragraph(self) -> None:
        if self._state.table or self._cells:  # paragraphs within a cell
            self._flush_bytes()
            self._line.append("\n")
            return
        text = self._taken()
        if text:
            self._end_table()
            self.parts.append(heading(self._state.level, text) if self._state.level else prose(text))

    def _end_table(self) -> None:
        if self._cells:
            self._rows.append(self._cells)
            self._cells = []
        if self._rows:
            self.parts.append(table(self._rows))
            self._rows = []
        if text := self._taken():
            self.parts.append(prose(text))


#: What the packing of [MS-OXRTFCP] takes to be there before the first byte.
_BEFORE = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    + b"\r\n"
    + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def unpacked_rtf(data: bytes) -> bytes:
    """Rich text out of Outlook's packing: runs of literals and references into the last 4,096 bytes."""
    if len(data) < 16 or data[8:12] not in (b"LZFu", b"MELA"):
        raise NotConverted("corrupt", "no packed rich text")
    if data[8:12] == b"MELA":
        return data[16:]
    size = min(int.from_bytes(data[4:8], "little"), 64 << 20)
    window = bytearray(_BEFORE.ljust(4096, b" "))
    place, written = len(_BEFORE), bytearray()
    at, end = 16, len(data)
    while at < end and len(written) < size:
        flags = data[at]
        at += 1
        for bit in range(8):
            if at >= end:
                break
            if not flags >> bit & 1:
                taken = data[at : at + 1]
                at += 1
            else:
                pair = int.from_bytes(data[at : at + 2], "big")
                at += 2
                begin, length = pair >> 4, (pair & 15) + 2
                if begin == place:
                    return bytes(written)
                taken = b""
                for step in range(length):
                    one = window[(begin + step) % 4096]
                    window[(place + step) % 4096] = one
                    taken += bytes((one,))
            for one in taken:
                window[place] = one
                place = (place + 1) % 4096
            written += taken
    return bytes(written)
