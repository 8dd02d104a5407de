"""What a document is: by its bytes first, by its name where they leave it open."""

from __future__ import annotations

import re
from functools import cache

from memoranda.adapters.converters.archives import Archive
from memoranda.adapters.converters.compound_file import SIGNATURE, CompoundFile
from memoranda.adapters.converters.encodings import decode, looks_binary
from memoranda.core.documents import NotConverted
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits

__all__ = ["BY_NAME", "LANGUAGES", "Recognised", "extension", "may_be_plain", "recognise"]


@dataclass(frozen=True, slots=True)
class Recognised:
    """A document's format, and what there is to say about it in words."""

    format: str
    notes: tuple[str, ...] = ()


_SAME_WORD = (
    "bash c css cue dart diff dockerfile elixir go graphql groovy haskell ini java less lua makefile nim php proto r "
    "scala scss sh sql svelte swift toml vue xml yaml zig"
)

#: Source code by extension: the word behind a fence.
LANGUAGES = {
    **{one: one for one in _SAME_WORD.split()},
    **{"bat": "bat", "cc": "cpp", "cfg": "ini", "clj": "clojure", "conf": "ini", "cpp": "cpp", "cs": "csharp"},
    **{"cxx": "cpp", "erl": "erlang", "ex": "elixir", "exs": "elixir", "f90": "fortran", "fs": "fsharp", "h": "c"},
    **{"hpp": "cpp", "hs": "haskell", "jl": "julia", "js": "javascript", "json5": "json5", "jsonc": "jsonc"},
    **{"jsx": "jsx", "kt": "kotlin", "m": "matlab", "ml": "ocaml", "mjs": "javascript", "patch": "diff", "pl": "perl"},
    **{"pm": "perl", "properties": "ini", "ps1": "powershell", "py": "python", "pyi": "python", "rb": "ruby"},
    **{"rs": "rust", "tex": "latex", "tf": "hcl", "ts": "typescript", "tsx": "tsx", "v": "verilog", "vb": "vb"},
    **{"xsd": "xml", "xsl": "xml", "yml": "yaml", "zsh": "zsh", "bib": "bibtex", "ino": "cpp", "mm": "objectivec"},
}

#: Formats by extension. What is here is checked against the bytes.
BY_NAME = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mkdn", "mdx", "qmd", "rmd"), "markdown"),
    **dict.fromkeys(("txt", "text", "log", "rst", "adoc", "asciidoc", "org", "srt", "vtt", "textile", "me"), "text"),
    **dict.fromkeys(("html", "htm", "xhtml", "xht", "shtml"), "html"),
    **{"csv": "csv", "tsv": "csv", "tab": "csv", "json": "json", "geojson": "json", "jsonl": "jsonl"},
    **{"ndjson": "jsonl", "ipynb": "ipynb", "eml": "eml", "mht": "eml", "mhtml": "eml", "msg": "msg", "pdf": "pdf"},
    **{"docx": "docx", "docm": "docx", "dotx": "docx", "dotm": "docx", "xlsx": "xlsx", "xlsm": "xlsx", "xltx": "xlsx"},
    **{"pptx": "pptx", "pptm": "pptx", "ppsx": "pptx", "potx": "pptx", "epub": "epub", "odt": "odt", "ott": "odt"},
    **{"ods": "ods", "odp": "odp", "doc": "doc", "dot": "doc", "xls": "xls", "xlt": "xls", "ppt": "ppt", "rtf": "rtf"},
    **{"zip": "zip", "pages": "iwork", "numbers": "iwork", "key": "iwork"},
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "tif", "tiff", "bmp", "webp"), "image"),
    **dict.fromkeys(LANGUAGES, "source"),
}

#: Formats that are text; every other has bytes to be known by.
_TEXTUAL = frozenset(("markdown", "text", "html", "csv", "json", "jsonl", "ipynb", "eml", "source", "rtf"))
_PACKED = (
    (b"\x1f\x8b", "gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
)
_KNOWN = (
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"ID3", "sound"),
    (b"OggS", "sound"),
    (b"fLaC", "sound"),
    (b"\x00asm", "program"),
)
_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OFFICE = {"docx": "word/", "xlsx": "xl/", "pptx": "ppt/"}
_OPEN_DOCUMENT = {"text": "odt", "spreadsheet": "ods", "presentation": "odp", "text-template": "odt"}
#: How zip members are packed that everybody can unpack.
_USUAL_PACKING = (0, 8, 9, 12, 14)


@cache
def _html_begins() -> re.Pattern[str]:
    return re.compile(
        r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I
    )


@cache
def _header_line() -> re.Pattern[str]:
    return re.compile(
        r"(?:from|to|cc|subject|date|message-id|mime-version|received|return-path|delivered-to|content-type|x-[\w-]{1,40}):",
        re.I,
    )


def extension(name: str) -> str:
    """The last part of a file's name, in small letters; the whole name for ``Makefile`` and its like."""
    last = name.replace("\\", "/").rpartition("/")[2].lower()
    stem, dot, end = last.rpartition(".")
    return end if dot and stem else last if last in LANGUAGES else ""


def recognise(data: bytes, name: str, limits: Limits) -> Recognised:
    """The format of a document.

    Raises:
        NotConverted: ``empty``, ``encrypted``, ``unsafe`` (an archive), ``corrupt`` (its name promises a format that
            its bytes do not keep) or ``unsupported``.
    """
    if not data:
        raise NotConverted("empty", "the file is empty: 0 bytes")
    end = extension(name)
    named = BY_NAME.get(end, "")
    found = _by_bytes(data, named, end, limits)
    if not found:
        if looks_binary(data):
            raise _unknown_binary(data, named, end)
        found = _by_text(data, named)
    if found == named or not named or {found, named} <= {"text", "source", "markdown"}:
        return Recognised(found)
    return Recognised(found, (f"named .{end}, but it is {found}",))


def may_be_plain(data: bytes, name: str) -> bool:
    """Whether it may be text or markdown, so that :func:`recognise` has no archive to open and nothing to parse."""
    named = BY_NAME.get(extension(name), "")
    return named in ("", "text", "markdown") and not data.startswith((*_ZIP, SIGNATURE))


def _by_bytes(data: bytes, named: str, end: str, limits: Limits) -> str:
    if data.startswith(_ZIP):
        return _zip_kind(Archive(data, limits), named, end)
    if data.startswith(SIGNATURE):
        return _compound_kind(CompoundFile(data))
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.lstrip(b" \t\r\n").startswith(b"{\\rtf"):
        return "rtf"
    if (
        data.startswith(_IMAGES)
        or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
        or (data[:2] == b"BM" and end == "bmp")
    ):
        return "image"
    return ""


def _zip_kind(archive: Archive, named: str, end: str) -> str:
    names = archive.names
    if "mimetype" in names:
        kind = archive.read("mimetype")[:100].decode("ascii", "replace").strip()
        if kind == "application/epub+zip":
            return "epub"
        if kind.startswith("application/vnd.oasis.opendocument."):
            kind = kind.rpartition(".")[2]
            if kind in _OPEN_DOCUMENT:
                return _OPEN_DOCUMENT[kind]
            raise NotConverted("unsupported", f"an OpenDocument {kind}: save it as PDF")
    if "META-INF/container.xml" in names:
        return "epub"
    if "[Content_Types].xml" in names:
        for kind, folder in _OFFICE.items():
            parts = [one for one in names if one.lower().startswith(folder)]
            if any(one.endswith(".xml") for one in parts) and (named not in _OFFICE or kind == named or len(parts) > 1):
                _has_main_part(archive, kind)
                return kind
            if any(one.endswith("workbook.bin") for one in parts):
                raise NotConverted("unsupported", "a binary workbook (.xlsb): save it as .xlsx")
    if named == "iwork" or any(one.endswith(".iwa") for one in names):
        if any(packing not in _USUAL_PACKING for packing in archive.packings) or any(
            one.endswith((".iwpv2", ".iwph")) for one in names
        ):
            raise NotConverted("encrypted", "protected by a password")
        raise NotConverted("unsupported", f"an iWork document ({end or 'pages'}): export it as PDF or Word")
    if named in ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"):
        raise NotConverted("corrupt", f"damaged: a zip archive without the parts of a .{end}")
    return "zip"


_MAIN_PARTS = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}


def _has_main_part(archive: Archive, kind: str) -> None:
    if not archive.find(_MAIN_PARTS[kind]) and "_rels/.rels" not in archive.names:
        raise NotConverted("corrupt", f"damaged: there is no {_MAIN_PARTS[kind]} in it")


def _compound_kind(file: CompoundFile) -> str:
    streams = set(file)
    if "EncryptedPackage" in streams:
        raise NotConverted("encrypted", "protected by a password")
    if "WordDocument" in streams:
        return "doc"
    if streams & {"Workbook", "Book"}:
        return "xls"
    if "PowerPoint Document" in streams:
        return "ppt"
    if "__properties_version1.0" in streams:
        return "msg"
    raise NotConverted("unsupported", "an Office file of a kind that is not known")


def _unknown_binary(data: bytes, named: str, end: str) -> NotConverted:
    for mark, what in _PACKED:
        if data.startswith(mark):
            return NotConverted("unsupported", f"a {what}: unpack it first")
    for mark, what in _KNOWN:
        if data.startswith(mark):
            return NotConverted("unsupported", f"no document: a {what}")
    if data[4:8] == b"ftyp":
        return NotConverted("unsupported", "no document: sound, film or a HEIC picture")
    if named and named not in _TEXTUAL:
        return NotConverted("corrupt", f"damaged, or no .{end} at all: its first bytes belong to no known format")
    if named:
        return NotConverted("corrupt", f"named .{end}, but its bytes are no text")
    return NotConverted("unsupported", "binary data of an unknown format")


def _by_text(data: bytes, named: str) -> str:
    """The format of what is text."""
    sample = decode(data[:4096]).text
    if not sample.strip() and not decode(data).text.strip():
        raise NotConverted("empty", "nothing but white space")
    if named in ("markdown", "source", "csv", "json", "jsonl", "ipynb", "html", "eml"):
        if named in ("csv", "json", "jsonl", "ipynb") and _html_begins().match(sample):
            return "html"
        return named
    if _html_begins().match(sample):
        return "html"
    if _is_mail(sample) and named != "text":
        return "eml"
    return "text"


def _is_mail(sample: str) -> bool:
    found = set()
    for line in sample.split("\n")[:40]:
        if not line.strip():
            break
        if match := _header_line().match(line):
            found.add(match[0].lower())
        elif line[0] not in " \t" and ":" not in line:
            return False
    return "from:" in found and len(found) >= 3
