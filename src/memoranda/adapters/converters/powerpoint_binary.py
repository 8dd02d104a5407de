"""Old presentations (.ppt), by [MS-PPT]: the texts of the slides, in the order in which they were saved."""

from __future__ import annotations

import struct

from memoranda.adapters.converters.compound_file import CompoundFile
from memoranda.adapters.converters.markdown_text import blocks, clean, heading, marker, prose
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_ppt"]

_SLIDE_LIST, _SLIDE, _HEADER, _WIDE, _NARROW = 0x0FF0, 0x03F3, 0x0F9F, 0x0FA0, 0x0FA8
_TITLES = (0, 6)
_DEEPEST = 12


def convert_ppt(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """An old presentation: the outline's texts slide by slide; texts that stand in drawings follow behind."""
    file = CompoundFile(data)
    if "EncryptedSummary" in file:
        raise NotConverted("encrypted", "protected by a password")
    stream = file.read("PowerPoint Document")
    parts: list[str] = []
    outlined: set[str] = set()
    number, kind, title = 0, -1, ""
    drawn: dict[str, None] = {}
    for path, record, body in _records(stream, 0, len(stream), (), 0):
        in_outline = any(one & 0xFFFF == _SLIDE_LIST and one >> 16 == 0 for one in path)
        if record == _SLIDE and in_outline:
            number += 1
            parts.append(marker("slide", number))
        elif record == _HEADER and len(body) >= 4:
            kind = struct.unpack_from("<I", body, 0)[0]
        elif record in (_WIDE, _NARROW):
            text = body.decode("utf-16-le" if record == _WIDE else "latin-1", "replace")
            text = clean(text.replace("\x0b", "\n")).strip()
            if in_outline and text:
                outlined.add(text)
                title = title or (text if kind in _TITLES else "")
                parts.append(heading(2, text) if kind in _TITLES else prose(text))
            elif text and text != "*" and not any(one & 0xFFFF == 0x03F8 for one in path):  # the master's texts
                drawn[text] = None
    rest = [prose(one) for one in drawn if one not in outlined]
    said = any(one and not one.startswith("<!--") for one in parts) or rest
    return built(blocks([*parts, *rest]) if said else "", format, title=" ".join(title.split()))


def _records(
    stream: bytes, at: int, end: int, path: tuple[int, ...], depth: int
) -> Iterator[tuple[tuple[int, ...], int, bytes]]:
    """All records, with the containers (kind, and instance above it) around each."""
    while at + 8 <= end:
        version, kind, length = struct.unpack_from("<HHI", stream, at)
        begin, at = at + 8, min(at + 8 + length, end)
        if version & 15 == 15:
            if depth < _DEEPEST:
                yield from _records(stream, begin, at, (*path, (version >> 4) << 16 | kind), depth + 1)
        else:
            yield path, kind, stream[begin:at]
