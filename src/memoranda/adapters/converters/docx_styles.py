"""What paragraphs of a Word document are by their styles: headings, code, numbered or bulleted."""

from __future__ import annotations

import re

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Numbering", "Style", "is_monospaced", "read_styles", "value_of"]

_CODE_NAMES = frozenset(
    ("source code", "code", "code block", "html preformatted", "preformatted text", "plain code", "verbatim", "代码")
)
_MONOSPACED = ("courier", "consolas", "menlo", "monaco", "mono", "source code", "fira code", "lucida console")
_DIGITS = "〇一二三四五六七八九"


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its headings' ``level`` (0: none; the title's is 1), ``number`` and ``depth`` of its list."""

    level: int = 0
    title: bool = False
    code: bool = False
    number: str = ""
    depth: int = 0


def value_of(element: Element | None, path: str, otherwise: str = "") -> str:
    """The ``val`` of an element below another."""
    found = element.find(path) if element is not None else None
    return otherwise if found is None else found.get("val", otherwise)


def read_styles(root: Element) -> dict[str, Style]:
    """Paragraph styles by id, with what they inherit."""
    raw = {one.get("styleId", ""): one for one in root.iter("style") if one.get("type", "paragraph") == "paragraph"}
    return {key: _style(key, raw) for key in raw}


def _style(key: str, raw: dict[str, Element]) -> Style:
    level, title, code, number, depth = 0, False, False, "", -1
    seen: set[str] = set()
    while key in raw and key not in seen:
        seen.add(key)
        one = raw[key]
        name = value_of(one, "name").lower()
        if not level:
            outline = value_of(one, "pPr/outlineLvl")
            if match := re.fullmatch(r"(?:heading|标题|überschrift|titre) ?([1-9])", name):
                level = int(match[1])
            elif outline.isdigit() and int(outline) < 9:
                level = int(outline) + 1
        title = title or name in ("title", "标题")
        code = code or name in _CODE_NAMES
        numbered = one.find("pPr/numPr")
        if numbered is not None:
            number = number or value_of(numbered, "numId")
            if depth < 0 and (found := value_of(numbered, "ilvl")).isdigit():
                depth = int(found)
        key = value_of(one, "basedOn")
    if level and depth < 0 and number:
        depth = level - 1
    return Style(1 if title else level, title, code and not level, number, max(depth, 0))


def is_monospaced(paragraph: Element) -> bool:
    """Whether every run of a paragraph that holds text names a font as code is set in."""
    runs = [run for run in paragraph.iter("r") if any((one.text or "").strip() for one in run.iter("t"))]
    return bool(runs) and all(_is_mono(run.find("rPr/rFonts")) for run in runs)


def _is_mono(fonts: Element | None) -> bool:
    font = fonts.get("ascii", "").lower() if fonts is not None else ""
    return any(name in font for name in _MONOSPACED)


class Numbering:
    """Counts the paragraphs of numbered lists, as they come."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._abstract: dict[str, str] = {}
        self._counts: dict[str, list[int]] = {}
        if root is None:
            return
        for one in root.iter("abstractNum"):
            self._levels[one.get("abstractNumId", "")] = {
                int(level.get("ilvl", "0") or 0): (
                    value_of(level, "numFmt", "decimal"),
                    value_of(level, "lvlText"),
                    _whole(value_of(level, "start"), 1),
                )
                for level in one.iter("lvl")
                if level.get("ilvl", "0").isdigit()
            }
        for one in root.iter("num"):
            self._abstract[one.get("numId", "")] = value_of(one, "abstractNumId")

    def label(self, number: str, depth: int) -> str | None:
        """The next label at that depth of a list: ``"-"`` for a bullet, ``""`` for none; ``None``: it is no list."""
        if number in ("", "0") or number not in self._abstract:
            return None
        abstract = self._abstract[number]
        levels = self._levels.get(abstract, {})
        format, text, _ = levels.get(depth, ("bullet", "", 1))
        counts = self._counts.setdefault(abstract, [])
        while len(counts) <= depth:
            counts.append(levels.get(len(counts), ("", "", 1))[2] - 1)
        counts[depth] += 1
        del counts[depth + 1 :]
        if format == "bullet":
            return "-"
        if format == "none":
            return ""

        def written(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            return _numeral(max(counts[at], 1), levels.get(at, ("decimal", "", 1))[0]) if at < len(counts) else ""

        return re.sub(r"%([1-9])", written, text).strip()


def _whole(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise


def _numeral(number: int, format: str) -> str:
    if format in ("lowerLetter", "upperLetter") and number <= 702:
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(97 + rest) + letters
        return letters if format == "lowerLetter" else letters.upper()
    if format in ("lowerRoman", "upperRoman") and number < 4000:
        values = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
        letters = ""
        for value, sign in (*values, (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
            letters += sign * (number // value)
            number %= value
        return letters if format == "lowerRoman" else letters.upper()
    if format.startswith(("chinese", "japaneseCounting", "ideographDigital", "taiwanese")) and number < 100:
        tens, ones = divmod(number, 10)
        return ("" if tens < 2 else _DIGITS[tens]) + ("十" if tens else "") + (_DIGITS[ones] if ones else "")
    return str(number)
