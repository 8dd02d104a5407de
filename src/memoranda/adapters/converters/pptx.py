"""Presentations (.pptx): each slide under its marker, with its tables, charts and speaker's notes."""

from __future__ import annotations

from memoranda.adapters.converters.archives import RELATION, Archive
from memoranda.adapters.converters.markdown_text import blocks, heading, item, marker, one_line, picture, prose, table
from memoranda.adapters.converters.packages import main_part, package_title, relations, without_fallbacks
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_pptx"]

_TITLES = ("title", "ctrTitle")
_DEEPEST = 20


def convert_pptx(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A presentation; slides that are hidden are there too, and said."""
    archive = Archive(data, limits)
    part = main_part(archive, "ppt/presentation.xml")
    known = relations(archive, part)
    listed = archive.xml(part).find("sldIdLst")
    parts: list[str] = []
    notes: list[str] = []
    first, said = "", False
    for number, one in enumerate(listed if listed is not None else (), 1):
        goal = known.get(one.get(RELATION + "id", ""))
        if goal is None or not archive.find(goal.target):
            notes.append(f"slide {number} is missing")
            continue
        try:
            slide = _Slide(archive, goal.target)
            found = slide.parts()
        except NotConverted as fault:
            if fault.kind == "unsafe":
                raise
            notes.append(f"slide {number} could not be read: {fault}")
            continue
        if slide.hidden:
            notes.append(f"slide {number} is hidden")
        first = first or slide.title
        parts += [marker("slide", number), *found]
        said = said or any(found)
    if not said:
        parts = []
    return built(blocks(parts), format, title=package_title(archive) or first, notes=tuple(notes))


class _Slide:
    def __init__(self, archive: Archive, part: str) -> None:
        self._archive = archive
        self._known = relations(archive, part)
        self._root = archive.xml(part)
        self.hidden = self._root.get("show") in ("0", "false")
        self.title = ""

    def parts(self) -> list[str]:
        without_fallbacks(self._root)
        tree = self._root.find("cSld/spTree")
        found = self._shapes(tree, 0) if tree is not None else []
        title = heading(2, self.title)
        return [title, *found, *self._notes()]

    def _shapes(self, tree: Element, depth: int) -> list[str]:
        found: list[str] = []
        for shape in tree:
            if shape.tag == "sp":
                found += self._text_shape(shape)
            elif shape.tag in ("grpSp", "AlternateContent", "Choice", "Fallback") and depth < _DEEPEST:
                found += self._shapes(shape, depth + 1)
            elif shape.tag == "pic":
                about = shape.find("nvPicPr/cNvPr")
                found.append(picture(about.get("descr", "") if about is not None else ""))
            elif shape.tag == "graphicFrame":
                found += self._graphic(shape)
        return found

    def _text_shape(self, shape: Element) -> list[str]:
        holder = shape.find("nvSpPr/nvPr/ph")
        kind = holder.get("type", "body") if holder is not None else ""
        if kind == "sldNum":
            return []
        body = shape.find("txBody")
        if body is None:
            return []
        if kind in _TITLES and not self.title:
            self.title = one_line(" ".join(_text(one) for one in body.iter("p")))
            return []
        return _paragraphs(body, listed=kind in ("body", "obj"))

    def _graphic(self, frame: Element) -> list[str]:
        found: list[str] = []
        for grid in frame.iter("tbl"):
            rows = [row.findall("tc") for row in grid.iter("tr")]
            found.append(table([[" ".join(_text(one) for one in cell.iter("p")) for cell in row] for row in rows]))
        for chart in frame.iter("chart"):
            if (root := self._related(chart.get(RELATION + "id", ""))) is not None:
                found += _chart(root)
        for diagram in frame.iter("relIds"):
            if (root := self._related(diagram.get(RELATION + "dm", ""))) is not None:
                found += _diagram(root)
        return found

    def _related(self, key: str) -> Element | None:
        goal = self._known.get(key)
        if goal is None or goal.outside or not self._archive.find(goal.target):
            return None
        return self._archive.xml(goal.target)

    def _notes(self) -> list[str]:
        for goal in self._known.values():
            if goal.kind == "notesSlide" and self._archive.find(goal.target):
                found: list[str] = []
                for shape in self._archive.xml(goal.target).iter("sp"):
                    holder, body = shape.find("nvSpPr/nvPr/ph"), shape.find("txBody")
                    if holder is not None and holder.get("type") == "body" and body is not None:
                        found += _paragraphs(body, listed=False)
                return ["Notes:", *found] if any(found) else []
        return []


def _text(paragraph: Element) -> str:
    """A paragraph's text; vertical tabs and breaks are line ends."""
    pieces: list[str] = []
    for one in paragraph.iter():
        if one.tag == "t":
            pieces.append((one.text or "").replace("_x000B_", "\n").replace("\v", "\n"))
        elif one.tag == "br":
            pieces.append("\n")
        elif one.tag == "tab":
            pieces.append("\t")
    return "".join(pieces)


def _paragraphs(body: Element, *, listed: bool) -> list[str]:
    """The paragraphs of a shape; where there are several in a placeholder for lists, as a list."""
    found: list[tuple[int, str, bool]] = []
    for one in body.iter("p"):
        text = "\n".join(line.strip() for line in _text(one).split("\n")).strip()
        if text:
            about = one.find("pPr")
            level = about.get("lvl", "0") if about is not None else "0"
            plain = about is not None and about.find("buNone") is not None
            found.append((int(level) if level.isdigit() and len(level) < 3 else 0, text, plain))
    if not listed or len(found) < 2 or all(plain for _, _, plain in found):
        return [prose(text) for _, text, _ in found]
    return ["\n".join(item(prose(text), depth=level) for level, text, _ in found)]


def _chart(root: Element) -> list[str]:
    """A chart as a table: categories down, series across."""
    title = root.find("chart/title")
    series = list(root.iter("ser"))
    names = [" ".join(one.text or "" for one in ser.findall("tx//v")) for ser in series]
    labels: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for ser in series:
        for key in ("cat", "xVal"):
            labels |= _points(ser.find(key))
        columns.append(_points(ser.find("val")) or _points(ser.find("yVal")))
    numbers = sorted(set(labels).union(*columns)) if columns else []
    rows = [["", *names], *([labels.get(at, ""), *(one.get(at, "") for one in columns)] for at in numbers)]
    words = " ".join(_text(one) for one in title.iter("p")) if title is not None else ""
    return [f"Chart: {one_line(words)}" if words.strip() else "", table(rows) if numbers else ""]


def _points(element: Element | None) -> dict[int, str]:
    found = {}
    for one in element.iter("pt") if element is not None else ():
        place = one.get("idx", "")
        if place.isascii() and place.isdigit() and len(place) < 9:
            found[int(place)] = one.findtext("v") or ""
    return found


def _diagram(root: Element) -> list[str]:
    """The texts of a diagram, in the order in which they are kept."""
    found = [text for one in root.iter("p") if (text := one_line(_text(one)))]
    return ["\n".join(item(prose(text)) for text in found)] if found else []
