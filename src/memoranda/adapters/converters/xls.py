"""Old workbooks (.xls) by xlrd (extra ``kb``): sheets and cells as those of .xlsx."""

from __future__ import annotations

from importlib import import_module

from memoranda.adapters.converters.markdown_text import blocks
from memoranda.adapters.converters.xlsx import sheet_parts
from memoranda.core.documents import Converted, NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memoranda.adapters.converters.limits import Limits

__all__ = ["XlrdConverter", "load_xlrd"]


def load_xlrd(limits: Limits) -> XlrdConverter:
    """The converter. Raises ImportError: xlrd is not installed."""
    return XlrdConverter(limits)


class XlrdConverter:
    """Workbooks from before 2007."""

    name = "xlrd"
    formats = ("xls",)

    def __init__(self, limits: Limits) -> None:
        xlrd = import_module("xlrd")
        self.version = f"{xlrd.__version__} 1"

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`."""
        import os

        xlrd = import_module("xlrd")
        try:
            with open(os.devnull, "w") as log:
                book = xlrd.open_workbook(file_contents=data, logfile=log)
        except xlrd.XLRDError as error:
            if "encrypt" in str(error).lower():
                raise NotConverted("encrypted", "protected by a password") from error
            raise NotConverted("corrupt", "damaged: the workbook cannot be read") from error
        except (AssertionError, IndexError, KeyError, TypeError, ValueError, UnicodeError, LookupError) as error:
            raise NotConverted("corrupt", "damaged: the workbook cannot be read") from error
        parts: list[str] = []
        empty: list[str] = []
        for sheet in book.sheets():
            found = sheet_parts(sheet.name, _rows(book, sheet))
            parts += found
            if not found:
                empty.append(sheet.name)
        if not parts:
            raise NotConverted("empty", "no cell of it holds anything")
        notes = ("empty sheets: " + ", ".join(empty),) if empty else ()
        return Converted(blocks(parts), format, self.name, self.version, notes=notes)


def _rows(book: Any, sheet: Any) -> Iterator[tuple[int, list[str]]]:
    for number in range(sheet.nrows):
        yield number + 1, [_shown(book, cell) for cell in sheet.row(number)]


def _shown(book: Any, cell: Any) -> str:
    xlrd = import_module("xlrd")
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            when = xlrd.xldate_as_datetime(cell.value, book.datemode)
        except (xlrd.XLDateError, OverflowError, ValueError):
            return str(cell.value)
        return f"{when:%H:%M}" if cell.value < 1 else f"{when:%Y-%m-%d %H:%M:%S}".removesuffix(" 00:00:00")
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return format(cell.value, ".15g")
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    return str(cell.value)
