"""Old Word documents (.doc), by [MS-DOC]: the text of the document's pieces, without its formatting."""

from __future__ import annotations

import struct

from memoranda.adapters.converters.compound_file import CompoundFile
from memoranda.adapters.converters.markdown_text import blocks, clean, prose, table
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_doc"]

_MAGIC = 0xA5EC
_CELL = "\x07"


def convert_doc(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """An old Word document: paragraphs and tables; headings and lists cannot be told from paragraphs."""
    file = CompoundFile(data)
    stream = file.read("WordDocument")
    try:
        text = _text(file, stream)
    except (struct.error, IndexError) as error:
        raise NotConverted("corrupt", "damaged or cut off: a Word document whose pieces cannot be read") from error
    return built(blocks(_parts(text)), format, notes=("an old .doc: headings and lists are read as paragraphs",))


def _text(file: CompoundFile, stream: bytes) -> str:
    magic, version = struct.unpack_from("<HH", stream, 0)
    flags = struct.unpack_from("<H", stream, 10)[0]
    if magic != _MAGIC or version < 101:
        raise NotConverted("unsupported", "a Word document from before 1997: save it as .docx")
    if flags & 0x100:
        raise NotConverted("encrypted", "protected by a password")
    tables = file.read("1Table" if flags & 0x200 else "0Table")
    # FibRgLw97 and FibRgFcLcb97 stand behind two counted blocks.
    words = struct.unpack_from("<H", stream, 32)[0]
    longs_at = 34 + 2 * words
    longs = struct.unpack_from("<H", stream, longs_at)[0]
    characters = struct.unpack_from("<i", stream, longs_at + 2 + 3 * 4)[0]
    pairs_at = longs_at + 2 + 4 * longs + 2
    begin, size = struct.unpack_from("<II", stream, pairs_at + 33 * 8)
    return "".join(_pieces(stream, tables[begin : begin + size]))[: max(characters, 0)]


def _pieces(stream: bytes, clx: bytes) -> list[str]:
    """The text of the piece table, in order."""
    at = 0
    while at < len(clx) and clx[at] == 1:  # formatting that the pieces share
        at += 3 + struct.unpack_from("<h", clx, at + 1)[0]
        if at < 3:
            raise IndexError
    if at >= len(clx) or clx[at] != 2:
        raise IndexError
    plan = clx[at + 5 : at + 5 + struct.unpack_from("<I", clx, at + 1)[0]]
    count = (len(plan) - 4) // 12
    places = struct.unpack_from(f"<{count + 1}I", plan, 0)
    found = []
    for one in range(count):
        where = struct.unpack_from("<I", plan, 4 * (count + 1) + 8 * one + 2)[0]
        length = places[one + 1] - places[one]
        if not 0 <= length <= len(stream):
            raise IndexError
        if where & 0x40000000:  # one byte a character
            begin = (where & 0x3FFFFFFF) // 2
            found.append(stream[begin : begin + length].decode("cp1252", "replace"))
        else:
            found.append(stream[where : where + 2 * length].decode("utf-16-le", "replace"))
    return found


def _parts(text: str) -> list[str]:
    """Paragraphs and tables. A cell ends with a mark, and a row with one more."""
    parts: list[str] = []
    rows: list[list[str]] = []
    cells: list[str] = []
    paragraphs = _shown(text).replace("\x0c", "\r").split("\r")
    for paragraph in paragraphs:
        *ended, rest = paragraph.split(_CELL)
        for cell in ended:
            if cell or not cells:
                cells.append(cell)
            else:
                rows.append(cells)
                cells = []
        if not ended and not cells and rest.strip():
            parts.append(table(rows))
            rows = []
        if rest.strip():
            if ended and not cells:
                parts.append(table(rows))
                rows = []
            if cells:
                cells[-1] += " " + rest
            else:
                parts.append(prose(clean(rest).strip()))
    if cells:
        rows.append(cells)
    return [*parts, table(rows)]


def _shown(text: str) -> str:
    """The text without the instructions of fields: between the marks that begin a field and those before its result."""
    shown: list[str] = []
    hidden = 0
    for one in text:
        if one == "\x13":
            hidden += 1
        elif one == "\x14":
            hidden = max(hidden - 1, 0)
        elif one == "\x15" or hidden:
            continue
        else:
            shown.append({"\x1e": "-", "\x1f": "", "\x0b": "\n", "\xa0": " "}.get(one, one))
    return "".join(shown)
