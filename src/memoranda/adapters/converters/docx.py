"""Word documents (.docx): headings, lists with their numbers, tables, code, links, notes and comments."""

from __future__ import annotations

from memoranda.adapters.converters.archives import RELATION, Archive
from memoranda.adapters.converters.docx_styles import Numbering, Style, is_monospaced, read_styles, value_of
from memoranda.adapters.converters.markdown_text import (
    blocks,
    clean,
    fence,
    heading,
    item,
    one_line,
    picture,
    prose,
    table,
)
from memoranda.adapters.converters.packages import main_part, package_title, relations, without_fallbacks
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_docx"]

_AROUND_NAMES = "ins smartTag sdt sdtContent customXml fldSimple AlternateContent Choice Fallback moveTo dir bdo"
_AROUND = frozenset(_AROUND_NAMES.split())
_DEEPEST = 12


def convert_docx(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A Word document. Text that was struck out in tracked changes is left out; pictures are their descriptions."""
    archive = Archive(data, limits)
    writer = _Writer(archive, main_part(archive, "word/document.xml"))
    markdown = blocks(writer.document())
    return built(markdown, format, title=package_title(archive) or writer.title, notes=tuple(writer.notes))


class _Writer:
    def __init__(self, archive: Archive, part: str) -> None:
        self._archive = archive
        self._part = part
        self._relations = relations(archive, part)
        self._styles: dict[str, Style] = {}
        styles = self._related("styles")
        if styles is not None:
            self._styles = read_styles(styles)
        self._numbering = Numbering(self._related("numbering"))
        self._noted: dict[tuple[str, str], int] = {}
        self._boxes: list[Element] = []
        self.title = ""
        self.notes: list[str] = []

    def _related(self, kind: str) -> Element | None:
        """The part of that kind; ``None`` where there is none or it cannot be read."""
        for one in self._relations.values():
            if one.kind == kind and not one.outside:
                try:
                    return self._archive.xml(one.target)
                except NotConverted as fault:
                    if fault.kind == "unsafe":
                        raise
        return None

    def document(self) -> list[str]:
        root = self._archive.xml(self._part)
        body = root.find("body")
        if body is None:
            raise NotConverted("corrupt", "damaged: a Word document without a body")
        without_fallbacks(root)
        found = self._blocks(body, 0)
        for kind in ("footnote", "endnote"):
            found += self._notes_of(kind)
        return found + self._comments()

    def _blocks(self, parent: Element, depth: int) -> list[str]:
        found: list[str] = []
        items: list[str] = []
        code: list[tuple[str, str]] = []

        def flush() -> None:
            if items:
                found.append("\n".join(items))
                items.clear()
            if code:
                found.append(_code(code))
                code.clear()

        for child in _inner(parent, "p", "tbl"):
            if child.tag == "tbl":
                flush()
                if depth < _DEEPEST:
                    found.append(self._table(child, depth))
            elif child.tag == "p":
                kind, text = self._paragraph(child)
                if kind in ("code", "monospaced"):
                    if items:
                        flush()
                    code.append((kind, text))
                elif kind == "item":
                    if code:
                        flush()
                    items.append(text)
                elif text or self._boxes:
                    flush()
                    found.append(text)
                boxes, self._boxes = self._boxes, []
                if boxes and depth < _DEEPEST:
                    flush()
                    for box in boxes:
                        found += self._blocks(box, depth + 1)
        flush()
        return found

    def _paragraph(self, paragraph: Element) -> tuple[str, str]:
        """What it is (``item``, ``code``, ``monospaced`` or nothing of these) and its markdown."""
        properties = paragraph.find("pPr")
        style = self._styles.get(value_of(properties, "pStyle"), Style())
        text = self._inline(paragraph)
        if style.code:
            return "code", clean(text)
        level = style.level
        outline = value_of(properties, "outlineLvl")
        if not level and outline.isdigit() and int(outline) < 9:
            level = int(outline) + 1
        own = properties.find("numPr") if properties is not None else None
        number = value_of(own, "numId", style.number) if own is not None else style.number
        place = value_of(own, "ilvl")
        depth = min(int(place), 8) if place.isdigit() else style.depth
        if not text.strip():
            return "", ""
        label = self._numbering.label(number, depth)
        if level:
            if not self.title:
                self.title = one_line(text)
            prefix = f"{label} " if label and label != "-" else ""
            return "", heading(level, prefix + text)
        if label is None and is_monospaced(paragraph):
            return "monospaced", clean(text)
        text = prose("\n".join(line.strip() for line in text.split("\n"))).strip("\n")
        if label is None:
            return "", text
        return "item", item(text, depth=depth, label=_list_label(label))

    def _inline(self, parent: Element) -> str:
        pieces: list[str] = []
        for child in parent:
            tag = child.tag
            if tag == "r":
                self._run(child, pieces)
            elif tag == "hyperlink":
                text = self._inline(child)
                goal = self._relations.get(child.get(RELATION + "id", ""))
                pieces.append(_link(text, goal.target if goal is not None and goal.outside else ""))
            elif tag in _AROUND:
                pieces.append(self._inline(child))
            elif tag in ("oMath", "oMathPara"):
                pieces.append("".join(one.text or "" for one in child.iter("t")))
        return "".join(pieces)

    def _run(self, run: Element, pieces: list[str]) -> None:
        for child in run:
            tag = child.tag
            if tag == "t":
                pieces.append(child.text or "")
            elif tag in ("tab", "ptab"):
                pieces.append("\t")
            elif tag in ("br", "cr"):
                pieces.append("\n")
            elif tag == "noBreakHyphen":
                pieces.append("-")
            elif tag in ("footnoteReference", "endnoteReference"):
                key = (tag.removesuffix("Reference"), child.get("id", ""))
                pieces.append(f"[^{self._noted.setdefault(key, len(self._noted) + 1)}]")
            elif tag in ("drawing", "pict", "object", "AlternateContent"):
                described = dict.fromkeys(one.get("descr", "") for one in child.iter("docPr"))
                pieces += [picture(words) for words in described if words]
                self._boxes += child.iter("txbxContent")
            elif tag == "ruby":
                pieces += [one.text or "" for base in child.iter("rubyBase") for one in base.iter("t")]

    def _table(self, element: Element, depth: int) -> str:
        rows: list[list[str]] = []
        for row in _inner(element, "tr"):
            cells: list[str] = []
            for cell in _inner(row, "tc"):
                inner = self._blocks(cell, depth + 1)
                span = value_of(cell, "tcPr/gridSpan")
                cells.append(" ".join(inner))
                cells += [""] * (min(int(span), 60) - 1 if span.isdigit() else 0)
            rows.append(cells)
        return table(rows)

    def _notes_of(self, kind: str) -> list[str]:
        root = self._related(kind + "s")
        if root is None:
            return []
        found = {one.get("id", ""): one for one in root.iter(kind)}
        return [
            f"[^{number}]: " + " ".join(one_line(text) for text in self._blocks(found[key], 1))
            for (own, key), number in self._noted.items()
            if own == kind and key in found
        ]

    def _comments(self) -> list[str]:
        root = self._related("comments")
        said = []
        for one in root.iter("comment") if root is not None else ():
            text = " ".join(one_line(part) for part in self._blocks(one, 1))
            if text:
                said.append(item(f"{one_line(one.get('author', '')) or 'someone'}: {text}"))
        return ["Comments:", "\n".join(said)] if said else []


def _inner(parent: Element, *tags: str) -> list[Element]:
    """The elements of these names in another, in order, out of what is put around them."""
    found: list[Element] = []
    todo = list(reversed(parent))
    while todo:
        one = todo.pop()
        if one.tag in tags:
            found.append(one)
        elif one.tag in _AROUND:
            todo.extend(reversed(one))
    return found


def _code(lines: list[tuple[str, str]]) -> str:
    """Code, unless it is a single line that is only set in such a font."""
    (kind, text), *rest = lines
    if not rest and kind == "monospaced" and "\n" not in text and not any(one in text for one in "=;{}<>|$"):
        return prose(text.strip())
    return fence("\n".join(text for _, text in lines))


def _list_label(label: str) -> str:
    """A label that markdown takes for one; others are put behind a dash."""
    if label.endswith((".", ")")) and label[:-1].isascii() and label[:-1].isdigit():
        return label
    return "-" if label in ("-", "") else f"- {label}"


def _link(text: str, target: str) -> str:
    words = one_line(text)
    if not words or not target.lower().startswith(("http://", "https://")) or any(one in target for one in " <>()"):
        return text
    return text if words == target or "[" in words else f"[{words}]({target})"
