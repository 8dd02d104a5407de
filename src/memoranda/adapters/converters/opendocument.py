"""OpenDocument: texts (.odt), spreadsheets (.ods) and presentations (.odp)."""

from __future__ import annotations

from memoranda.adapters.converters.archives import Archive
from memoranda.adapters.converters.markdown_text import (
    blocks,
    heading,
    indented,
    item,
    marker,
    one_line,
    picture,
    prose,
    table,
)
from memoranda.adapters.converters.plain import built
from memoranda.adapters.converters.xlsx import sheet_parts
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_opendocument"]

_LEFT_OUT_NAMES = (
    "tracked-changes annotation annotation-end sequence-decls forms table-of-content-source index-title-template "
    "variable-decls user-field-decls script"
)
_LEFT_OUT = frozenset(_LEFT_OUT_NAMES.split())
_WIDEST = 16_384
_DEEPEST = 30


def convert_opendocument(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A text, spreadsheet or presentation of LibreOffice and others."""
    archive = Archive(data, limits)
    manifest = archive.xml("META-INF/manifest.xml") if archive.find("META-INF/manifest.xml") else None
    if manifest is not None and next(manifest.iter("encryption-data"), None) is not None:
        raise NotConverted("encrypted", "protected by a password")
    body = archive.xml("content.xml").find("body")
    if body is None or not len(body):
        raise NotConverted("corrupt", "damaged: an OpenDocument file without a body")
    content = body[0]
    title = _title(archive)
    if format == "ods":
        parts = [part for one in content.findall("table") for part in sheet_parts(one.get("name", ""), _rows(one))]
    elif format == "odp":
        parts = []
        for number, page in enumerate(content.findall("page"), 1):
            found = _blocks(page, 0)
            parts += [marker("slide", number), *found] if any(found) else []
    else:
        parts = _blocks(content, 0)
        title = title or next((one_line("".join(_pieces(one))) for one in content.iter("h")), "")
    return built(blocks(parts), format, title=title)


def _title(archive: Archive) -> str:
    if not archive.find("meta.xml"):
        return ""
    return one_line(next((one.text or "" for one in archive.xml("meta.xml").iter("title")), ""))


def _blocks(parent: Element, depth: int) -> list[str]:
    found: list[str] = []
    for child in parent:
        if child.tag in _LEFT_OUT or depth > _DEEPEST:
            continue
        if child.tag == "h":
            level = child.get("outline-level", "1")
            found.append(heading(int(level) if level.isdigit() and len(level) < 3 else 1, _words(child)))
        elif child.tag == "p":
            found.append(prose(_words(child)))
            found += [part for box in _boxes(child) for part in _blocks(box, depth + 1)]
        elif child.tag == "list":
            found.append(_list(child, depth))
        elif child.tag == "table":
            found.append(table(cells for _, cells in _rows(child)))
        elif child.tag == "notes":
            found += ["Notes:", *written] if any(written := _blocks(child, depth + 1)) else []
        elif child.tag in ("desc", "title") and parent.tag == "frame":
            found.append(picture(child.text or ""))
        else:
            found += _blocks(child, depth + 1)
    return found


def _boxes(paragraph: Element) -> Iterator[Element]:
    """Frames anchored in a paragraph: pictures and text boxes."""
    todo = list(reversed(paragraph))
    while todo:
        one = todo.pop()
        if one.tag in ("frame", "custom-shape"):
            yield one
        elif one.tag not in _LEFT_OUT:
            todo.extend(reversed(one))


def _words(element: Element) -> str:
    return "\n".join(" ".join(line.split()) for line in "".join(_pieces(element)).split("\n")).strip()


def _pieces(element: Element) -> Iterator[str]:
    """The text of a paragraph in order; notes in brackets, frames apart."""
    todo: list[Element | str] = [element]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            yield one
            continue
        if one.tag == "s":
            yield " "
        elif one.tag == "tab":
            yield "\t"
        elif one.tag == "line-break":
            yield "\n"
        if one is not element and (one.tag in _LEFT_OUT or one.tag in ("frame", "custom-shape", "note-citation")):
            continue
        if one.tag == "note":
            yield " ("
            todo.append(")")
        if one.text:
            yield one.text
        for child in reversed(one):
            if child.tail:
                todo.append(child.tail)
            todo.append(child)


def _list(element: Element, depth: int) -> str:
    items: list[str] = []
    for one in element:
        if one.tag not in ("list-item", "list-header") or depth > _DEEPEST:
            continue
        lines: list[str] = []
        for child in one:
            if child.tag == "list":
                lines.append(indented(_list(child, depth + 1), "    "))
            elif child.tag in ("p", "h") and (words := _words(child)):
                lines.append(indented(prose(words), "  ") if lines else item(prose(words)))
        items += [line for line in lines if line.strip()]
    return "\n".join(items)


def _rows(element: Element) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their numbers; cells and rows that repeat only as far as they hold anything."""
    number = 0
    for row in element.iter("table-row"):
        cells: list[str] = []
        waiting = 0
        for cell in row:
            if cell.tag not in ("table-cell", "covered-table-cell"):
                continue
            times = _times(cell, "number-columns-repeated")
            text = " ".join(_words(one) for one in cell.iter("p"))
            if not text:
                waiting += times
            elif len(cells) + waiting < _WIDEST:
                cells += [""] * waiting + [text] * min(times, 100)
                waiting = 0
        number += 1
        yield number, cells
        number += _times(row, "number-rows-repeated") - 1


def _times(element: Element, name: str) -> int:
    text = element.get(name, "")
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 8 else 1
