"""PDF by pdfium (package pypdfium2): page by page, in reading order, pages marked."""

from __future__ import annotations

from importlib import import_module

from memoranda.adapters.converters.markdown_text import blocks, clean, marker, one_line
from memoranda.adapters.converters.pdf_layout import Segment, body_size, page_blocks, words_of
from memoranda.core.documents import Converted, NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.adapters.converters.limits import Limits

__all__ = ["PdfiumConverter", "load_pdfium", "open_pdf", "page_segments"]

#: Codes of pdfium for why a document could not be opened.
_PASSWORD, _SECURITY = 4, 5
_SOFT_HYPHEN = "\u00ad"
#: What fonts of bold letters have in their names, those of TeX too.
_BOLD = (b"bold", b"black", b"heavy", b"-medi", b"cmbx", b"sfbx")
#: Letters that were set as one: those of Unicode, and where old fonts of TeX have them.
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ft", 0xFB06: "st",
              0x0B: "ff", 0x0C: "fi", 0x0E: "ffi", 0x0F: "ffl", 0x21B5: "ff"}  # fmt: skip
#: A gap this many times the size of the letters parts a line in two segments.
_GAP = 1.2


def load_pdfium(limits: Limits) -> PdfiumConverter:
    """The converter. Raises ImportError: pypdfium2 is not installed."""
    return PdfiumConverter(limits)


class PdfiumConverter:
    """PDF with a text in it; a scan is refused, and said to be one."""

    name = "pdfium"
    formats = ("pdf",)

    def __init__(self, limits: Limits) -> None:
        pypdfium2 = import_module("pypdfium2")
        self.version = f"{pypdfium2.PYPDFIUM_INFO} 1"

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`."""
        document = open_pdf(data)
        try:
            pages = [page_segments(document, number) for number in range(len(document))]
            title = _title(document)
        finally:
            document.close()
        if not any(one.text.strip() for page in pages for one in page):
            count = "1 page" if len(pages) == 1 else f"{len(pages)} pages"
            raise NotConverted("no_text", f"a scan or pictures: none of its {count} holds text (it needs OCR)")
        size, known = body_size(pages), words_of(pages)
        parts: list[str] = []
        without: list[int] = []
        for number, page in enumerate(pages, 1):
            found = page_blocks(page, size, known)
            parts += [marker("page", number), *found]
            if not found:
                without.append(number)
        if not title:
            title = next((one.lstrip("# ") for one in parts if one.startswith("#")), "")
        return Converted(blocks(parts), "pdf", self.name, self.version, title, notes=_said_of(without))


def _said_of(without: list[int]) -> tuple[str, ...]:
    if not without:
        return ()
    shown = ", ".join(map(str, without[:20])) + (", ..." if len(without) > 20 else "")
    return (f"pages without text: {shown}" if len(without) > 1 else f"page {shown} holds no text",)


def open_pdf(data: bytes) -> Any:
    """The document as pypdfium2 has it. Raises NotConverted: encrypted, cut off or damaged."""
    pypdfium2 = import_module("pypdfium2")
    if b"startxref" not in data[-(1 << 20) :] and b"startxref" not in data:
        raise NotConverted("corrupt", "cut off: the end of the PDF is missing")
    try:
        document = pypdfium2.PdfDocument(data)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in (_PASSWORD, _SECURITY) or "assword" in str(error):
            raise NotConverted("encrypted", "protected by a password") from error
        raise NotConverted("corrupt", "damaged: the PDF cannot be opened") from error
    if not pages:
        raise NotConverted("corrupt", "damaged: a PDF without pages")
    return document


def _title(document: Any) -> str:
    found = one_line(str(document.get_metadata_dict().get("Title") or ""))
    lowered = found.casefold()
    empty = lowered.startswith(("microsoft ", "untitled", "(anonymous)", "(unspecified)"))
    return "" if empty or lowered.endswith((".doc", ".docx", ".dvi", ".tex", ".indd")) else found


def page_segments(document: Any, number: int) -> list[Segment]:
    """The segments of a page, counted from 0; none where the page cannot be read."""
    pypdfium2 = import_module("pypdfium2")
    try:
        page = document[number]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:
        return []
    try:
        return _Walk(text.raw, page.get_rotation(), page.get_size()).segments()
    finally:
        text.close()
        page.close()


class _Walk:
    """Goes along a page's characters in the order pdfium gives them and cuts them into segments."""

    def __init__(self, raw: Any, rotation: int, size: tuple[float, float]) -> None:
        self._raw, self._rotation = raw, rotation
        self._width, self._height = size
        self._found: list[Segment] = []
        self._letters: list[str] = []
        self._box = [0.0, 0.0, 0.0, 0.0]
        self._size = self._right = self._base = 0.0
        self._bold = False
        self._sideways: list[str] = []

    def segments(self) -> list[Segment]:
        from ctypes import byref

        pdfium = import_module("pypdfium2.raw")
        raw, box, generated = self._raw, pdfium.FS_RECTF(), pdfium.FPDFText_IsGenerated
        angle = pdfium.FPDFText_GetCharAngle
        unicode, loose, reference = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox, byref(box)
        for at in range(pdfium.FPDFText_CountChars(raw)):
            code = unicode(raw, at)
            if code == 10 or code == 13:
                self._end()
            elif code == 2:
                self._letters.append(_SOFT_HYPHEN)
            elif code == 32 and generated(raw, at):
                self._letters.append(" ")
            elif loose(raw, at, reference):
                letter = _LIGATURES.get(code) or chr(code if code < 0xD800 or 0xDFFF < code < 0xFFFE else 0xFFFD)
                left, bottom, right, top = box.left, box.bottom, box.right, box.top
                if self._rotation:
                    left, bottom, right, top = self._turned(left, bottom, right, top)
                elif abs(bottom - self._base) > 0.1 and 0.5 < angle(raw, at) % 3.14159265 < 2.64:
                    self._end()
                    self._sideways.append(letter)
                    continue
                self._put(letter, at, left, bottom, right, top)
        self._end()
        if aside := clean("".join(self._sideways)).strip():
            self._found.append(Segment(aside, 0.0, 0.0, -1e6, -1e6 + 1, 1.0, False))
        return self._found

    def _turned(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Left, bottom, right and top as the page is shown."""
        if self._rotation == 90:
            return bottom, self._height - right, top, self._height - left
        if self._rotation == 180:
            return self._width - right, self._height - top, self._width - left, self._height - bottom
        return self._width - top, left, self._width - bottom, right

    def _put(self, letter: str, at: int, left: float, bottom: float, right: float, top: float) -> None:
        size = top - bottom
        if size < 0.5:
            size = _font_size(self._raw, at)
            bottom, top = bottom - 0.2 * size, bottom + 0.8 * size
        if self._letters and self._size:
            step = left - self._right
            if abs(bottom - self._base) > 0.5 * self._size or step > _GAP * self._size or step < -2.0 * self._size:
                self._end()
        if not self._size:
            if letter.isspace():
                return
            self._box = [left, bottom, right, top]
            self._size, self._base = size, bottom
            self._bold = _is_bold(self._raw, at)
        if not letter.isspace():
            self._right = right
            box = self._box
            box[0], box[1] = min(box[0], left), min(box[1], bottom)
            box[2], box[3] = max(box[2], right), max(box[3], top)
        self._letters.append(letter)

    def _end(self) -> None:
        text = "".join(self._letters)
        broken = text.rstrip().endswith(_SOFT_HYPHEN)
        text = clean(text).strip() + (_SOFT_HYPHEN if broken else "")
        if text and self._size:
            self._found.append(
                Segment(text, self._box[0], self._box[2], self._box[1], self._box[3], self._size, self._bold)
            )
        self._letters.clear()
        self._size = 0.0


def _font_size(raw: Any, at: int) -> float:
    pdfium = import_module("pypdfium2.raw")
    return float(pdfium.FPDFText_GetFontSize(raw, at)) or 1.0


def _is_bold(raw: Any, at: int) -> bool:
    from ctypes import byref, c_int, create_string_buffer

    pdfium = import_module("pypdfium2.raw")
    name = create_string_buffer(128)
    length = pdfium.FPDFText_GetFontInfo(raw, at, name, 128, byref(c_int()))
    return 0 < length <= 128 and any(word in name.value.lower() for word in _BOLD)
