"""Which encoding the bytes of a text are in: marks, what was declared, validity, then plausibility.

What is valid UTF-8 is UTF-8. Of the others, those that can decode the bytes are
compared by how likely the characters are that they make of them
(:mod:`memoranda.adapters.converters.character_classes`), summed over the text:
a dozen characters of Chinese tell GB 18030 from Big5.
"""

from __future__ import annotations

import codecs
import re

from memoranda.adapters.converters.character_classes import (
    ASCII,
    IMPOSSIBLE,
    chinese,
    japanese,
    korean,
    western,
)
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Decoded", "decode", "known_encoding", "looks_binary"]

#: So much of a text is compared, in bytes.
_SAMPLE = 16_384
#: Of the characters of a text, so many may be unreadable before another encoding is looked for.
_FEW = 0.02
#: So many characters beyond ASCII are looked at for whether they are UTF-8 by accident.
_MOST_BY_ACCIDENT = 40
#: The control characters that belong in no text: below 0x80, and as UTF-8 writes those above.
_CONTROLS = bytes({*range(0x20), 0x7F} - {0x09, 0x0A, 0x0C, 0x0D, 0x1B})
_HIGH_CONTROLS = rb"\xc2[\x80-\x84\x86-\x9f]"

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)

#: What encodings are declared as, and what is meant: the superset that is in use.
_MEANT = {
    "gb2312": "gb18030",
    "hz": "hz",
    "big5": "cp950",
    "big5-tw": "cp950",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "ms_kanji": "cp932",
    "windows-31j": "cp932",
    "euc_kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601_1987": "cp949",
    "ksc5601": "cp949",
    "iso8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "cp1252": "windows-1252",
    "unicode": "utf-16",
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the encoding it was read by (Python's name for it), and how many places could not be read."""

    text: str
    encoding: str
    unreadable: int = 0


def known_encoding(declared: str) -> str:
    """The encoding that a declared name stands for, in Python's words; empty where it is none of a text."""
    label = declared.strip().strip("\"'").lower()
    if label in _MEANT:
        return _MEANT[label]
    try:
        found = codecs.lookup(label)
        "".encode(found.name)
    except (LookupError, ValueError, UnicodeError):
        return ""
    if not getattr(found, "_is_text_encoding", True):
        return ""
    if found.name.startswith(("utf", "unicode", "raw", "idna", "puny")) and not found.name.startswith("utf-"):
        return ""
    return _MEANT.get(found.name, found.name)


def decode(data: bytes, declared: str = "") -> Decoded:
    """The text that the bytes are, byte order mark removed.

    ``declared`` is honoured where it decodes the bytes without control
    characters and they are not UTF-8 all the same. A text that no encoding decodes entirely has U+FFFD where it could
    not be read.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _tolerant(data[len(mark) :] if encoding == "gb18030" else data, encoding)
    named = known_encoding(declared) if declared else ""
    if data.isascii():
        return _seven_bits(data, named)
    if (text := _strict(data, "utf-8")) is not None and not _controls(text) and not _by_accident(data, text):
        return Decoded(text, "utf-8")
    if named and (text := _strict(data, named)) is not None and not _controls(text):
        return Decoded(text, named)
    if _mostly_utf8(data):
        return _tolerant(data, "utf-8")
    best = _likeliest(data)
    if best:
        return _tolerant(data, best)
    return _tolerant(data, named or _likeliest(data, tolerant=True) or "utf-8")


def looks_binary(data: bytes) -> bool:
    """Whether the bytes are no text in any encoding."""
    sample = data[:_SAMPLE]
    if not sample or sample.startswith(tuple(mark for mark, _ in _MARKS)):
        return False
    if sample.isascii() and not (b"\0" in sample and _likeliest(sample).startswith("utf-16")):
        return _controls(sample.decode("ascii")) > len(sample) // 100
    sample = _cut(sample, "utf-8")
    if b"\0" not in sample and (_strict(sample, "utf-8") is not None or _mostly_utf8(sample)):
        return _controls(sample.decode("utf-8", "replace")) > len(sample) // 100
    found = _likeliest(sample) or _likeliest(sample, tolerant=True)
    if not found:
        return True
    text = _cut(sample, found).decode(found, "replace")
    unreadable = text.count("\ufffd") + _controls(text)
    return unreadable > len(text) // 50 or _fit(text, found) < _worst(found) * len(text)


def _worst(encoding: str) -> float:
    """How unlikely a character of a text is on average at worst; nearly any two bytes are something in UTF-16."""
    return -10.0 if encoding.startswith("utf-16") else -12.5


def _seven_bits(data: bytes, named: str) -> Decoded:
    if b"\0" in data and (best := _likeliest(data)).startswith("utf-16"):
        return _tolerant(data, best)
    if b"\x1b$" in data and (text := _strict(data, "iso2022_jp_2")) is not None:
        return Decoded(text, "iso-2022-jp")
    if named and not named.startswith("windows") and (text := _strict(data, named)) is not None:
        return Decoded(text, "utf-8" if text.isascii() and len(text) == len(data) else named)
    return Decoded(data.decode("ascii"), "utf-8")


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _tolerant(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    lost = text.count("\ufffd") - data.count(b"\xef\xbf\xbd") if encoding.startswith("utf-8") else text.count("\ufffd")
    return Decoded(text, encoding, max(lost, 0))


def _controls(text: str) -> int:
    """How many control characters a text holds that belong in none."""
    # As bytes they are found in a tenth of the time.
    data = text.encode("utf-8", "surrogatepass")
    found = len(data) - len(data.translate(None, _CONTROLS))
    return found + (len(re.findall(_HIGH_CONTROLS, data)) if b"\xc2" in data else 0)


def _by_accident(data: bytes, text: str) -> bool:
    """Whether a few bytes that could be UTF-8, two a character, are far likelier another encoding's."""
    if len(text) - len(text.encode("ascii", "ignore")) > _MOST_BY_ACCIDENT:
        return False
    odd = [character for character in text if character > "\x7f"]
    if max(odd) > "\u07ff":
        return False
    best = _likeliest(data)
    if not best or best == "windows-1252":
        return False
    foreign = max(_score(text, western), sum(-6.0 if one >= "\u0370" else western(one) for one in odd))
    return _fit(data.decode(best, "replace"), best) > foreign + 4.0 * len(odd)


def _mostly_utf8(data: bytes) -> bool:
    """Whether the bytes beyond ASCII are UTF-8 but for a few."""
    text = data.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    right = len(text) - len(text.encode("ascii", "ignore")) - lost
    return lost <= max(1, right // 10) and right > 2


_LANGUAGE: dict[str, Callable[[str], float]] = {
    "gb18030": chinese,
    "gbk": chinese,
    "cp950": chinese,
    "cp932": japanese,
    "euc_jp": japanese,
    "cp949": korean,
    "windows-1252": western,
}
_EIGHT_BIT = ("gb18030", "cp950", "cp932", "cp949", "euc_jp", "windows-1252")


def _likeliest(data: bytes, *, tolerant: bool = False) -> str:
    """The encoding under which the text is likeliest; empty where none decodes it (but for a few places)."""
    sample = data[:_SAMPLE]
    candidates = list(_EIGHT_BIT)
    if len(data) % 2 == 0 or tolerant:
        candidates += ["utf-16-le", "utf-16-be"]
    best, most = "", IMPOSSIBLE * (len(sample) + 1)
    for encoding in candidates:
        text = _cut(sample, encoding).decode(encoding, "replace")
        lost = text.count("\ufffd")
        if lost and (not tolerant or lost > max(1, len(text) * _FEW)):
            continue
        score = _fit(text, encoding)
        if score > most:
            best, most = encoding, score
    if best == "gb18030" and not tolerant and _strict(data, "gbk") is not None:
        best = "gbk"
    if best and not tolerant and _strict(data, best) is None:
        return ""
    return best


def _cut(sample: bytes, encoding: str) -> bytes:
    """The sample without a character that its end cuts in two."""
    if len(sample) < _SAMPLE:
        return sample
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    decoder.decode(sample)
    pending = decoder.getstate()[0]
    return sample[: len(sample) - len(pending)] if pending else sample


def _fit(text: str, encoding: str) -> float:
    """How likely a text is that was read by an encoding, as a logarithm."""
    if encoding in _LANGUAGE:
        return _score(text, _LANGUAGE[encoding])
    return max(_score(text, language) for language in (chinese, japanese, korean, western))


def _score(text: str, language: Callable[[str], float]) -> float:
    return sum(ASCII if "\x20" <= one < "\x7f" else language(one) for one in text)
