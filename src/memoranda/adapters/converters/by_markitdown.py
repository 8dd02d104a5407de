"""MarkItDown (extra ``kb``), for who prefers what it makes of a format."""

from __future__ import annotations

from importlib import import_module
from io import BytesIO

from memoranda.adapters.converters.markdown_text import clean
from memoranda.core.documents import Converted, NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits

__all__ = ["MarkItDownConverter", "load_markitdown"]

_EXTENSIONS = {"html": ".html", "csv": ".csv", "ipynb": ".ipynb", "text": ".txt", "markdown": ".md", "json": ".json"}


def load_markitdown(limits: Limits) -> MarkItDownConverter:
    """The converter. Raises ImportError: markitdown is not installed."""
    return MarkItDownConverter(limits)


class MarkItDownConverter:
    """Whatever MarkItDown reads, without its plug-ins and without anything fetched."""

    name = "markitdown"
    formats = ("pdf", "docx", "xlsx", "xls", "pptx", "msg", "epub", "html", "csv", "ipynb")

    def __init__(self, limits: Limits) -> None:
        from importlib.metadata import version

        self._module = import_module("markitdown")
        self.version = f"{version('markitdown')} 1"
        self._inner = self._module.MarkItDown(enable_plugins=False)

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`."""
        about = self._module.StreamInfo(extension=_EXTENSIONS.get(format, f".{format}"))
        try:
            made = self._inner.convert_stream(BytesIO(data), stream_info=about)
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # it wraps what its parsers raise, of every kind
            words = f"{type(error).__name__} {error}".lower()
            if "password" in words or "encrypt" in words:
                raise NotConverted("encrypted", "protected by a password") from error
            if "missingdependency" in words:
                raise NotConverted("unsupported", f"MarkItDown has not what it needs for {format}") from error
            raise NotConverted("corrupt", f"MarkItDown cannot read it ({type(error).__name__})") from error
        text = clean(made.markdown or "")
        if not text.strip():
            raise NotConverted("no_text" if format == "pdf" else "empty", "there is no text in it")
        return Converted(text, format, self.name, self.version, " ".join((made.title or "").split()))
