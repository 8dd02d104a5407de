"""Text, markdown and source code: what is readable as it is."""

from __future__ import annotations

import re
from functools import cache

from memoranda.adapters.converters.encodings import decode
from memoranda.adapters.converters.formats import LANGUAGES, extension
from memoranda.adapters.converters.markdown_text import blocks, clean, fence
from memoranda.core.documents import Converted, NotConverted
from memoranda.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.encodings import Decoded
    from memoranda.adapters.converters.limits import Limits

__all__ = ["BUILT_IN", "built", "convert_plain", "convert_source", "encoding_notes"]

#: What made a document that no other program had a part in.
BUILT_IN = "built-in"


@cache
def _first_heading() -> re.Pattern[str]:
    return re.compile(r"^ {0,3}#{1,2}[ \t]+([^\n]{1,300})", re.MULTILINE)


def built(markdown: str, format: str, *, title: str = "", encoding: str = "", notes: tuple[str, ...] = ()) -> Converted:
    """What the built-in converters return. Raises NotConverted: ``empty``, there is no text in it."""
    if not markdown.strip():
        raise NotConverted("empty", "there is no text in it")
    return Converted(markdown, format, BUILT_IN, __version__, title, encoding, notes)


def encoding_notes(decoded: Decoded) -> tuple[str, ...]:
    """What to say of a text that could not be read entirely."""
    if not decoded.unreadable:
        return ()
    return (f"{decoded.unreadable} places could not be read as {decoded.encoding}",)


def convert_plain(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """Text and markdown as they are: the byte order mark, and in text control characters, are all that goes."""
    decoded = decode(data)
    text = decoded.text
    title = ""
    if format == "markdown":
        if match := _first_heading().search(text, 0, 20_000):
            title = match[1].strip().rstrip("#").rstrip()
    else:
        text = clean(text)
    return built(text, format, title=title, encoding=decoded.encoding, notes=encoding_notes(decoded))


def convert_source(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """Source code in a fence that names its language."""
    decoded = decode(data)
    if not clean(decoded.text).strip():
        raise NotConverted("empty", "nothing but white space")
    fenced = fence(decoded.text, LANGUAGES.get(extension(name), ""))
    return built(blocks((fenced,)), format, encoding=decoded.encoding, notes=encoding_notes(decoded))
