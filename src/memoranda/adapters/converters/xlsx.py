"""Workbooks (.xlsx): each sheet under its marker, each run of rows without a gap a table."""

from __future__ import annotations

from memoranda.adapters.converters.archives import RELATION, Archive, read_xml_stream
from memoranda.adapters.converters.markdown_text import blocks, heading, marker, one_line, table
from memoranda.adapters.converters.packages import main_part, package_title, relations
from memoranda.adapters.converters.plain import built
from memoranda.adapters.converters.xlsx_cells import column_of, kinds_of_styles, shown_number
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_xlsx", "sheet_parts"]

_WIDEST = 16_384


def convert_xlsx(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A workbook: values as they are shown; a formula without a value as the formula."""
    archive = Archive(data, limits)
    part = main_part(archive, "xl/workbook.xml")
    book = archive.xml(part)
    known = relations(archive, part)
    related = {one.kind: one.target for one in known.values() if not one.outside}
    shared = _shared_strings(archive, related.get("sharedStrings", ""))
    styles = related.get("styles", "")
    kinds = kinds_of_styles(archive.xml(styles) if archive.find(styles) else None)
    properties = book.find("workbookPr")
    from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    parts: list[str] = []
    empty: list[str] = []
    notes: list[str] = []
    for sheet in book.iter("sheet"):
        title = one_line(sheet.get("name", ""))
        goal = known.get(sheet.get(RELATION + "id", ""))
        if goal is None or goal.kind != "worksheet":
            notes.append(f"sheet {title} holds no cells" if goal is not None else f"sheet {title} is missing")
            continue
        rows = _rows(archive.read(goal.target), goal.target, shared, kinds, from_1904)
        if found := sheet_parts(title, rows):
            parts += found
        else:
            empty.append(title)
    if empty and parts:
        notes.append("empty sheets: " + ", ".join(empty))
    return built(blocks(parts), format, title=package_title(archive), notes=tuple(notes))


def sheet_parts(title: str, rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    """A sheet's marker, heading and tables; nothing where no cell holds anything."""
    parts: list[str] = []
    run: list[list[str]] = []
    before = 0
    for number, cells in rows:
        if run and number > before + 1:
            parts.append(table(run))
            run = []
        if any(cells):
            run.append(cells)
            before = number
    parts.append(table(run))
    parts = [one for one in parts if one]
    return [marker("sheet", title), heading(2, title), *parts] if parts else []


def _shared_strings(archive: Archive, part: str) -> list[str]:
    if not archive.find(part):
        return []
    return [_rich(one) for one in read_xml_stream(archive.read(part), "si", part)]


def _rich(element: Element) -> str:
    """The text of a string, in one piece or several; readings of Japanese above it left out."""
    return "".join(
        one.text or ""
        for child in element
        if child.tag in ("t", "r")
        for one in ([child] if child.tag == "t" else child.iter("t"))
    ).replace("_x000D_", "")


def _rows(
    data: bytes, part: str, shared: list[str], kinds: list[str], from_1904: bool
) -> Iterator[tuple[int, list[str]]]:
    number = 0
    for row in read_xml_stream(data, "row", part):
        named = row.get("r", "")
        number = int(named) if named.isascii() and named.isdigit() and len(named) < 9 else number + 1
        cells: list[str] = []
        for cell in row.iter("c"):
            at = column_of(cell.get("r", ""))
            if at < 0:
                at = len(cells)
            if at >= _WIDEST:
                raise NotConverted("corrupt", "damaged: a cell stands beyond the last column")
            cells += [""] * (at + 1 - len(cells))
            cells[at] = _shown(cell, shared, kinds, from_1904)
        yield number, cells


def _shown(cell: Element, shared: list[str], kinds: list[str], from_1904: bool) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find("is")
        return _rich(inline) if inline is not None else ""
    value = cell.findtext("v")
    if value is None or value == "":
        formula = (cell.findtext("f") or "").strip()
        return f"={formula}" if formula else ""
    if kind == "s":
        return shared[int(value)] if value.strip().isdigit() and int(value) < len(shared) else ""
    if kind == "b":
        return "TRUE" if value.strip() == "1" else "FALSE"
    if kind != "n":
        return value
    style = cell.get("s", "")
    place = int(style) if style.isascii() and style.isdigit() else 0
    return shown_number(value.strip(), kinds[place] if place < len(kinds) else "", from_1904)
