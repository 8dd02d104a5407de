"""Docling, where it is installed and chosen: better tables out of PDF, at the price of models and seconds a page."""

from __future__ import annotations

from importlib import import_module
from io import BytesIO

from memoranda.adapters.converters.markdown_text import blocks, clean, marker
from memoranda.core.documents import Converted, NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits

__all__ = ["DoclingConverter", "load_docling"]


def load_docling(limits: Limits) -> DoclingConverter:
    """The converter. Raises ImportError: docling is not installed."""
    return DoclingConverter(limits)


class DoclingConverter:
    """Whatever Docling reads. Its models must be there already: nothing is fetched."""

    name = "docling"
    formats = ("pdf", "docx", "pptx", "xlsx", "html")

    def __init__(self, limits: Limits) -> None:
        from importlib.metadata import version

        self._inner = import_module("docling.document_converter").DocumentConverter()
        self.version = f"{version('docling')} 1"

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`."""
        stream = import_module("docling.datamodel.base_models").DocumentStream
        try:
            made = self._inner.convert(stream(name=f"document.{format}", stream=BytesIO(data))).document
            count = len(made.pages or ()) if format == "pdf" else 0
            if count:
                pages = [made.export_to_markdown(page_no=number) for number in range(1, count + 1)]
                parts = [part for number, page in enumerate(pages, 1) for part in (marker("page", number), page)]
                said = any(map(str.strip, pages))
            else:
                parts = [made.export_to_markdown()]
                said = bool(parts[0].strip())
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # it wraps what its parsers and models raise, of every kind
            raise NotConverted("corrupt", f"Docling cannot read it ({type(error).__name__})") from error
        if not said:
            raise NotConverted("no_text" if format == "pdf" else "empty", "there is no text in it")
        return Converted(blocks(map(clean, parts)), format, self.name, self.version)
