"""Which converter reads which format: a table that is read before anything is imported."""

from __future__ import annotations

from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import NotConverted
from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass
from memoranda.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memoranda.core.documents import Converted
    from memoranda.core.ports import Converter

__all__ = ["CONVERTERS", "IN_PROCESS", "ConverterPackage", "check_choices", "convert_here", "converter_for"]

#: Formats that need no process of their own: their bytes are decoded and little more.
IN_PROCESS = frozenset(("text", "markdown"))

_HOME = "memoranda.adapters.converters."


@dataclass(frozen=True, slots=True)
class ConverterPackage:
    """One converter: the first of the table that reads a format and is installed is asked, unless another is chosen.

    ``function`` of a ``built_in`` one converts; of others it makes the converter
    and raises ImportError where it needs what is not there. ``needs`` says what
    to install.
    """

    name: str
    module: str
    function: str
    formats: tuple[str, ...]
    needs: str = ""
    built_in: bool = False
    only_chosen: bool = False

    def load(self, limits: Limits) -> Converter:
        """The converter. Raises ImportError: what it needs is not installed."""
        from importlib import import_module

        found = getattr(import_module(_HOME + self.module), self.function)
        if self.built_in:
            return _BuiltIn(self.formats, found, limits)
        made: Converter = found(limits)
        return made


class _BuiltIn:
    """A function of the package as a converter."""

    name = "built-in"
    version = __version__

    def __init__(
        self, formats: tuple[str, ...], function: Callable[[bytes, str, str, Limits], Converted], limits: Limits
    ) -> None:
        self.formats = formats
        self._function = function
        self._limits = limits

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        return self._function(data, format, name, self._limits)


def _built_in(module: str, function: str, *formats: str) -> ConverterPackage:
    return ConverterPackage("built-in", module, function, formats, built_in=True)


_KB = "pip install 'memoranda[kb]'"

#: Converters in the order in which they are asked.
CONVERTERS = (
    _built_in("plain", "convert_plain", "text", "markdown"),
    _built_in("plain", "convert_source", "source"),
    _built_in("structured", "convert_csv", "csv"),
    _built_in("structured", "convert_json", "json"),
    _built_in("structured", "convert_json_lines", "jsonl"),
    _built_in("structured", "convert_notebook", "ipynb"),
    _built_in("html", "convert_html", "html"),
    _built_in("mail", "convert_mail", "eml"),
    _built_in("outlook", "convert_msg", "msg"),
    _built_in("rtf", "convert_rtf", "rtf"),
    _built_in("docx", "convert_docx", "docx"),
    _built_in("xlsx", "convert_xlsx", "xlsx"),
    _built_in("pptx", "convert_pptx", "pptx"),
    _built_in("epub", "convert_epub", "epub"),
    _built_in("opendocument", "convert_opendocument", "odt", "ods", "odp"),
    _built_in("word_binary", "convert_doc", "doc"),
    _built_in("powerpoint_binary", "convert_ppt", "ppt"),
    ConverterPackage("pdfium", "pdf", "load_pdfium", ("pdf",), _KB),
    ConverterPackage("xlrd", "xls", "load_xlrd", ("xls",), _KB),
    ConverterPackage("tesseract", "by_program", "load_tesseract", ("image", "scan"), "the program tesseract"),
    ConverterPackage(
        "markitdown",
        "by_markitdown",
        "load_markitdown",
        ("pdf", "docx", "xlsx", "xls", "pptx", "msg", "epub", "html", "csv", "ipynb"),
        _KB,
    ),
    ConverterPackage(
        "pandoc",
        "by_program",
        "load_pandoc",
        ("docx", "odt", "epub", "rtf", "html", "ipynb"),
        "the program pandoc",
        only_chosen=True,
    ),
    ConverterPackage(
        "docling",
        "by_docling",
        "load_docling",
        ("pdf", "docx", "pptx", "xlsx", "html"),
        "pip install docling",
        only_chosen=True,
    ),
)


def check_choices(choices: Mapping[str, str]) -> None:
    """See that each format has a converter of the name that was chosen for it. Raises UsageError: it has not."""
    for format, name in choices.items():
        able = [one.name for one in CONVERTERS if format in one.formats]
        if name not in able:
            known = f"there are for it: {', '.join(able)}" if able else "there is no such format"
            raise UsageError(f"there is no converter {name!r} of {format}; {known}")


def converter_for(format: str, limits: Limits, choices: Mapping[str, str] | None = None) -> Converter:
    """The converter of a format.

    Raises:
        NotConverted: ``unsupported``, or ``no_text`` for pictures: what it needs is not installed, and is named.
    """
    if format == "zip":
        from memoranda.adapters.converters.bundle import BundleConverter

        return BundleConverter(limits, lambda kind, inner: converter_for(kind, inner, choices))
    chosen = (choices or {}).get(format, "")
    wanted = ""
    for one in CONVERTERS:
        if format not in one.formats or (one.name != chosen if chosen else one.only_chosen):
            continue
        try:
            return one.load(limits)
        except ImportError:
            wanted = wanted or one.needs
    if format in ("image", "scan"):
        raise NotConverted("no_text", f"a picture: reading it needs {wanted}")
    raise NotConverted("unsupported", f"reading {format} needs {wanted}" if wanted else f"{format} cannot be read")


def convert_here(
    data: bytes, format: str, name: str, limits: Limits, choices: Mapping[str, str] | None = None
) -> Converted:
    """Convert in this process, however long it takes. A PDF without text is read by OCR where that is installed.

    Raises:
        NotConverted: it cannot be taken in.
    """
    try:
        return converter_for(format, limits, choices).convert(data, format, name)
    except NotConverted as fault:
        if fault.kind != "no_text" or format != "pdf":
            raise
        try:
            reader = converter_for("scan", limits)
        except NotConverted:
            raise fault from None
        return reader.convert(data, "scan", name)
