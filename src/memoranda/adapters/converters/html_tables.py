"""The rows of an HTML table, cells that span several put into each."""

from __future__ import annotations

from memoranda.adapters.converters.html_tree import Node

__all__ = ["rows_of"]

#: Wider tables are cut off in their spans, never in their cells.
_WIDEST = 200


def rows_of(table: Node) -> tuple[Node | None, list[list[tuple[Node | None, bool]]]]:
    """The caption and the rows of a table, tables in it left alone.

    Each cell comes with whether it stands in the row above already. Where a cell
    spans several columns the others are ``None``.
    """
    caption: Node | None = None
    rows: list[list[tuple[Node | None, bool]]] = []
    hanging: dict[int, tuple[Node, int]] = {}
    for child in _parts(table):
        if child.tag == "caption":
            caption = caption or child
            continue
        row: list[tuple[Node | None, bool]] = []
        cells = [cell for cell in child.children if isinstance(cell, Node) and cell.tag in ("td", "th")]
        next_hanging: dict[int, tuple[Node, int]] = {}
        for cell in cells:
            _fill(row, hanging, next_hanging)
            down, across = _span(cell, "rowspan"), _span(cell, "colspan")
            if down > 1:
                next_hanging[len(row)] = (cell, down - 1)
            row.append((cell, False))
            row += [(None, False)] * min(across - 1, max(_WIDEST - len(row), 0))
        _fill(row, hanging, next_hanging)
        hanging = next_hanging
        if row:
            rows.append(row)
    return caption, rows


def _fill(
    row: list[tuple[Node | None, bool]], hanging: dict[int, tuple[Node, int]], next_hanging: dict[int, tuple[Node, int]]
) -> None:
    """Put in the cells that hang down from rows above where the row has come to."""
    while len(row) in hanging:
        at = len(row)
        cell, left = hanging.pop(at)
        if left > 1:
            next_hanging[at] = (cell, left - 1)
        row.append((cell, True))


def _parts(table: Node) -> list[Node]:
    """The caption and the rows, out of their groups; cells that stand in no row are one."""
    found: list[Node] = []
    for child in table.children:
        if not isinstance(child, Node):
            continue
        if child.tag in ("tr", "caption"):
            found.append(child)
        elif child.tag in ("td", "th"):
            row = Node("tr", {})
            row.children.append(child)
            found.append(row)
        elif child.tag in ("thead", "tbody", "tfoot", "form"):
            found += _parts(child)
    return found


def _span(cell: Node, name: str) -> int:
    text = cell.attributes.get(name, "").strip()
    return min(max(int(text), 1), 1000) if text.isascii() and text.isdigit() and len(text) < 6 else 1
