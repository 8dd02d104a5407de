"""Documents of many formats, made from nothing: as small as the formats allow."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import pairwise

__all__ = ["RELATIONS", "compound", "doc", "docx", "epub", "msg", "odt", "package", "pdf", "pptx", "xlsx", "zipped"]

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def zipped(members: Mapping[str, str | bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    held = BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return held.getvalue()


def package(members: Mapping[str, str | bytes], related: Mapping[str, Sequence[tuple[str, str, str]]]) -> bytes:
    """An Office package; ``related`` are id, kind and target of what a part points at, ``http`` targets outside."""
    every: dict[str, str | bytes] = {"[Content_Types].xml": _TYPES, **members}
    for part, goals in related.items():
        folder, _, name = part.rpartition("/")
        lines = "".join(
            f'<Relationship Id="{key}" Type="{RELATIONS}/{kind}" Target="{target}"'
            + (' TargetMode="External"/>' if target.startswith("http") else "/>")
            for key, kind, target in goals
        )
        every[f"{folder}/_rels/{name}.rels"] = f"<Relationships>{lines}</Relationships>"
    return zipped(every)


def docx(body: str, *, related: Sequence[tuple[str, str, str]] = (), **parts: str) -> bytes:
    """A Word document; further parts by name without ``.xml``: ``styles="<w:styles>..."``."""
    root = f'xmlns:w="urn:w" xmlns:r="{RELATIONS}" xmlns:mc="urn:mc" xmlns:wp="urn:wp"'
    members = {f"word/{name}.xml": text.replace(">", f" {root}>", 1) for name, text in parts.items()}
    members["word/document.xml"] = f"<w:document {root}><w:body>{body}</w:body></w:document>"
    goals = [(f"p{at}", name, f"{name}.xml") for at, name in enumerate(parts)]
    return package(members, {"word/document.xml": [*goals, *related]})


def xlsx(sheets: Mapping[str, str], *, styles: str = "", strings: Sequence[str] = (), settings: str = "") -> bytes:
    """A workbook: rows of XML by sheet."""
    listed = "".join(f'<sheet name="{name}" r:id="s{at}"/>' for at, name in enumerate(sheets))
    members: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook xmlns:r="{RELATIONS}">{settings}<sheets>{listed}</sheets></workbook>',
        "xl/styles.xml": f"<styleSheet>{styles}</styleSheet>",
        "xl/sharedStrings.xml": "<sst>" + "".join(f"<si>{one}</si>" for one in strings) + "</sst>",
    }
    goals = [("st", "styles", "styles.xml"), ("ss", "sharedStrings", "sharedStrings.xml")]
    for at, rows in enumerate(sheets.values()):
        members[f"xl/sheet{at}.xml"] = f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
        goals.append((f"s{at}", "worksheet", f"sheet{at}.xml"))
    return package(members, {"xl/workbook.xml": goals})


def pptx(
    slides: Sequence[str], *, notes: Mapping[int, str] | None = None, charts: Mapping[int, str] | None = None
) -> bytes:
    """A presentation: shapes of XML by slide; notes and a chart (``c1``) by the number of the slide, from 0."""
    names = f'xmlns:p="urn:p" xmlns:a="urn:a" xmlns:c="urn:c" xmlns:r="{RELATIONS}"'
    listed = "".join(f'<p:sldId id="{at + 256}" r:id="s{at}"/>' for at in range(len(slides)))
    members: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    }
    related = {"ppt/presentation.xml": [(f"s{at}", "slide", f"slides/s{at}.xml") for at in range(len(slides))]}
    for at, shapes in enumerate(slides):
        members[f"ppt/slides/s{at}.xml"] = f"<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        goals = related.setdefault(f"ppt/slides/s{at}.xml", [])
        if notes and at in notes:
            members[f"ppt/notes/n{at}.xml"] = (
                f'<p:notes {names}><p:sp><p:nvSpPr><p:nvPr><p:ph type="body"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r>'
                f"<a:t>{notes[at]}</a:t></a:r></a:p></p:txBody></p:sp></p:notes>"
            )
            goals.append(("n1", "notesSlide", f"../notes/n{at}.xml"))
        if charts and at in charts:
            members[f"ppt/charts/c{at}.xml"] = f"<c:chartSpace {names}>{charts[at]}</c:chartSpace>"
            goals.append(("c1", "chart", f"../charts/c{at}.xml"))
    return package(members, related)


def epub(chapters: Mapping[str, str], *, title: str = "书", extra: Mapping[str, str] | None = None) -> bytes:
    """A book: pages by file name, in the order in which they are read."""
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in sorted(chapters)
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="O/b.opf"/></rootfiles></container>',
            "O/b.opf": f'<package xmlns:dc="urn:dc"><metadata><dc:title>{title}</dc:title></metadata>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"O/{name}": text for name, text in chapters.items()},
            **(extra or {}),
        }
    )


def odt(content: str, kind: str = "text", manifest: str = "") -> bytes:
    """An OpenDocument file of that kind."""
    names = 'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:draw="urn:d" xmlns:svg="urn:s"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {names}><office:body><office:{kind}>{content}</office:{kind}>"
            "</office:body></office:document-content>",
            **({"META-INF/manifest.xml": manifest} if manifest else {}),
        }
    )


#: Which way letters run so that they stand upright on a page that is shown turned.
_UPRIGHT = {0: b"1 0 0 1", 90: b"0 1 -1 0", 180: b"-1 0 0 -1", 270: b"0 -1 1 0"}


def pdf(pages: Sequence[Sequence[tuple[float, float, float, str]]], *, end: bool = True, rotate: int = 0) -> bytes:
    """A PDF: on each page, texts at x and y in Helvetica of a size; upright where the page is turned."""
    objects = [b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]
    root = 2 * len(pages) + 2
    kids = []
    for page in pages:
        drawn = b"".join(
            b"BT /F1 %.1f Tf %s %.1f %.1f Tm (%s) Tj ET\n"
            % (
                size,
                _UPRIGHT[rotate],
                x,
                y,
                text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)"),
            )
            for x, y, size, text in page
        )
        objects.append(b"<</Length %d>>stream\n" % len(drawn) + drawn + b"\nendstream")
        objects.append(
            b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 612 792]/Rotate %d/Contents %d 0 R"
            b"/Resources<</Font<</F1 1 0 R>>>>>>" % (root, rotate, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects.append(b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), b" ".join(kids)))
    objects.append(b"<</Type/Catalog/Pages %d 0 R>>" % root)
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n" % number + one + b"\nendobj\n"
    if not end:
        return bytes(written)
    table = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer<</Size %d/Root %d 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(objects), table)
    return bytes(written)


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file with streams by path, one storage deep; small streams lie in the small stream."""
    last, free = 0xFFFFFFFE, 0xFFFFFFFF
    sectors: list[bytes] = []
    fat: list[int] = []

    def put(data: bytes) -> int:
        count = max((len(data) + 511) // 512, 1)
        first = len(sectors)
        for at in range(count):
            sectors.append(data[at * 512 : (at + 1) * 512].ljust(512, b"\0"))
            fat.append(last if at == count - 1 else first + at + 1)
        return first

    mini, mini_fat = b"", []
    entries: list[list[object]] = [["Root Entry", 5, free, 0, 0]]
    folders: dict[str, int] = {}
    siblings: dict[int, list[int]] = {0: []}
    for path, data in streams.items():
        folder, _, name = path.rpartition("/")
        if folder and folder not in folders:
            folders[folder] = len(entries)
            siblings[0].append(len(entries))
            siblings[len(entries)] = []
            entries.append([folder, 1, free, 0, 0])
        if len(data) < 4096:
            start, count = len(mini_fat), max((len(data) + 63) // 64, 1)
            mini_fat += [start + at + 1 for at in range(count - 1)] + [last]
            mini += data.ljust(count * 64, b"\0")
        else:
            start = put(data)
        siblings[folders[folder] if folder else 0].append(len(entries))
        entries.append([name, 2, free, start, len(data)])
    entries[0][3:] = [put(mini), len(mini)]
    rights = {}
    for parent, children in siblings.items():  # a tree that leans to the right
        if children:
            entries[parent][2] = children[0]
        rights |= dict(pairwise(children))
    raw = b""
    for at, (name, kind, child, start, size) in enumerate(entries):
        coded = str(name).encode("utf-16-le")
        raw += coded.ljust(64, b"\0") + struct.pack("<HBB", len(coded) + 2, kind, 1)
        raw += struct.pack("<III", free, rights.get(at, free), child) + bytes(36) + struct.pack("<IQ", start, size)
    directory = put(raw)
    small = put(b"".join(struct.pack("<I", one) for one in mini_fat).ljust(512, b"\xff"))
    own = (len(fat) + 128) // 127
    first = len(sectors)
    fat += [0xFFFFFFFD] * own
    table = b"".join(struct.pack("<I", one) for one in fat).ljust(own * 512, b"\xff")
    sectors += [table[at * 512 : (at + 1) * 512] for at in range(own)]
    places = [first + at for at in range(own)]
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6) + bytes(10)
    head += struct.pack("<IIIIIIIII", own, directory, 0, 4096, small, 1, last, 0, places[0])
    head += struct.pack(f"<{108}I", *(places[1:] + [free] * (109 - own)))
    return head + b"".join(sectors)


def doc(text: str, *, encrypted: bool = False, wide: bool = True) -> bytes:
    """An old Word document of one piece."""
    coded = text.encode("utf-16-le" if wide else "cp1252")
    begin = 2048
    where = begin if wide else begin * 2 | 0x40000000
    plan = struct.pack("<II", 0, len(text)) + struct.pack("<HIH", 0, where, 0)
    clx = b"\x02" + struct.pack("<I", len(plan)) + plan
    head = struct.pack("<HH", 0xA5EC, 193) + bytes(6) + struct.pack("<H", 0x200 | (0x100 if encrypted else 0))
    head = head.ljust(32, b"\0") + struct.pack("<H", 14) + bytes(28) + struct.pack("<H", 22)
    head += (bytes(12) + struct.pack("<i", len(text))).ljust(88, b"\0") + struct.pack("<H", 93)
    head += bytes(33 * 8) + struct.pack("<II", 0, len(clx))
    return compound({"WordDocument": head.ljust(begin, b"\0") + coded.ljust(4096, b"\0"), "1Table": clx})


def msg(properties: Mapping[str, str], attachments: Sequence[str] = ()) -> bytes:
    """An Outlook message: texts by the number of their property."""
    streams = {f"__substg1.0_{key}001F": text.encode("utf-16-le") for key, text in properties.items()}
    streams["__properties_version1.0"] = bytes(32)
    for at, name in enumerate(attachments):
        streams[f"__attach_version1.0_#{at:08}/__substg1.0_3707001F"] = name.encode("utf-16-le")
    return compound(streams)
