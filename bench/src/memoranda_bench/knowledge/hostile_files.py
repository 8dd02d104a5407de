"""Files that would harm a careless program: bombs, long documents, names that lead out of an archive."""

from __future__ import annotations

import os
import random
import zipfile
from collections.abc import Callable, Iterator

from memoranda_bench.speed.words import english

__all__ = ["CELL", "ESCAPED", "FILES", "PAGES", "write_pdf"]

#: What a bomb would be unpacked.
EXPANDED = 1 << 30
#: A little less than what archives may be unpacked.
_NEARLY = 480 << 20
PAGES = 500
#: Characters of the one long cell.
CELL = 21_000
#: What no file outside of the archive may be called.
ESCAPED = "escaped-from-the-archive"

_CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_LAUGHS = 9


def _docx(path: str, document: Iterator[bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        with archive.open("word/document.xml", "w") as stream:
            for piece in document:
                stream.write(piece)


def _bomb(path: str, seed: int) -> None:
    """A valid document whose text is the same word all over."""
    paragraph = b"<w:p><w:r><w:t>" + b"bomb " * 200_000 + b"</w:t></w:r></w:p>"

    def document() -> Iterator[bytes]:
        yield f'<?xml version="1.0"?><w:document xmlns:w="{_WORD}"><w:body>'.encode()
        for _ in range(-(-EXPANDED // len(paragraph))):
            yield paragraph
        yield b"</w:body></w:document>"

    _docx(path, document())


def _near_limits(path: str, seed: int) -> None:
    """Valid as well, and under what an archive is refused for at once: it is unpacked and read."""
    chance, drawer = random.Random(f"near {seed}"), english(seed)

    def document() -> Iterator[bytes]:
        yield f'<?xml version="1.0"?><w:document xmlns:w="{_WORD}"><w:body>'.encode()
        made = 0
        while made < _NEARLY:
            [word] = drawer.draw(chance, 1)
            # One word is packed about a hundred times as small.
            paragraph = f"<w:p><w:r><w:t>{f'{word} ' * (900 // (len(word) + 1))}</w:t></w:r></w:p>".encode()
            made += len(paragraph)
            yield paragraph
        yield b"</w:body></w:document>"

    _docx(path, document())


def _laughs() -> str:
    """Entities made of ten entities each: a billion words."""
    lines = ['<!ENTITY lol0 "lol">']
    for level in range(1, _LAUGHS + 1):
        lines.append(f'<!ENTITY lol{level} "{f"&lol{level - 1};" * 10}">')
    return "\n".join(lines)


def _laughing_xml(path: str, seed: int) -> None:
    text = f'<?xml version="1.0"?>\n<!DOCTYPE lolz [\n{_laughs()}\n]>\n<lolz>&lol{_LAUGHS};</lolz>\n'
    _write(path, text.encode())


def _laughing_svg(path: str, seed: int) -> None:
    picture = f'<svg xmlns="http://www.w3.org/2000/svg"><text>&lol{_LAUGHS};</text></svg>'
    _write(path, f'<?xml version="1.0"?>\n<!DOCTYPE svg [\n{_laughs()}\n]>\n{picture}\n'.encode())


def _laughing_docx(path: str, seed: int) -> None:
    body = f"<w:body><w:p><w:r><w:t>&lol{_LAUGHS};</w:t></w:r></w:p></w:body>"
    text = f'<?xml version="1.0"?><!DOCTYPE w [{_laughs()}]><w:document xmlns:w="{_WORD}">{body}</w:document>'
    _docx(path, iter([text.encode()]))


def _long_pdf(path: str, seed: int) -> None:
    chance, drawer = random.Random(f"pdf {seed}"), english(seed)
    pages = []
    for number in range(1, PAGES + 1):
        lines = [" ".join(drawer.draw(chance, 10)).capitalize() + "." for _ in range(30)]
        pages.append([f"Chapter {number} speaks of marker{number:04}.", *lines])
    write_pdf(path, pages)


def write_pdf(path: str, pages: list[list[str]]) -> None:
    """A minimal PDF: lines of ASCII text in Helvetica, one after the other down each page."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for lines in pages:
        shown = "".join(f"({_escaped(line)}) Tj T*\n" for line in lines)
        content = f"BT /F1 11 Tf 14 TL 56 780 Td\n{shown}ET".encode("ascii")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        resources = "<< /Font << /F1 3 0 R >> >>"
        page = f"/MediaBox [0 0 595 842] /Resources {resources} /Contents {len(objects)} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R {page} >>".encode("ascii"))
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode("ascii")
    data, places = bytearray(b"%PDF-1.4\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        data += b"%010d 00000 n \n" % place
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    _write(path, bytes(data))


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _wide_table(path: str, seed: int) -> None:
    chance, drawer = random.Random(f"table {seed}"), english(seed)
    cell = ""
    while len(cell) < CELL:
        cell += " ".join(drawer.draw(chance, 12)).capitalize() + ". "
    rows = ["| name | remarks |", "| --- | --- |", "| short | nothing |", f"| long | {cell[:CELL]} |", "| last | end |"]
    _write(path, ("# Remarks\n\n" + "\n".join(rows) + "\n").encode())


def _traversal(path: str, seed: int) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.txt", "A harmless text that may be read.\n")
        archive.writestr(f"../../{ESCAPED}-1.txt", "outside\n")
        archive.writestr(os.path.join(os.path.dirname(path), f"{ESCAPED}-2.txt"), "outside\n")
        archive.writestr(f"..\\..\\{ESCAPED}-3.txt", "outside\n")


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(data)


#: By the file's name: what writes it, and what is told of it.
FILES: dict[str, tuple[Callable[[str, int], None], str]] = {
    "bomb.docx": (_bomb, "expands to 1 GB"),
    "near.docx": (_near_limits, f"expands to {_NEARLY >> 20} MB, about a hundred times as much"),
    "laughs.xml": (_laughing_xml, "a billion laughs"),
    "laughs.svg": (_laughing_svg, "a billion laughs in a picture"),
    "laughs.docx": (_laughing_docx, "a billion laughs in a part of a docx"),
    "long.pdf": (_long_pdf, f"{PAGES} pages with text on each"),
    "table.md": (_wide_table, f"a table with one cell of {CELL:,} characters"),
    "traversal.zip": (_traversal, "names that lead out of the archive"),
}
