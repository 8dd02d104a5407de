"""HTML as markdown: the content of the page, without what surrounds it."""

from __future__ import annotations

import re
from functools import cache
from textwrap import dedent

from memoranda.adapters.converters.encodings import decode
from memoranda.adapters.converters.html_tables import rows_of
from memoranda.adapters.converters.html_tree import Node, parse_html
from memoranda.adapters.converters.markdown_text import (
    blocks,
    code_span,
    fence,
    heading,
    indented,
    item,
    one_line,
    picture,
    prose,
    table,
)
from memoranda.adapters.converters.plain import built, encoding_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_html", "html_blocks", "html_charset"]

_LEFT_OUT_NAMES = (
    "script style noscript template svg canvas nav iframe object embed applet audio video button select input "
    "textarea datalist dialog head title meta link base map frame search"
)
_LEFT_OUT = frozenset(_LEFT_OUT_NAMES.split())
_LEFT_OUT_ROLES = frozenset(("navigation", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog"))
_CODE = frozenset(("code", "kbd", "samp", "tt", "var"))
_LISTS = frozenset(("ul", "ol", "menu"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
#: A page's main element is all that counts, where it holds so much of the page's text.
_MAIN_SHARE = 0.25
_LONGEST_LINK = 400


@cache
def _charset() -> re.Pattern[bytes]:
    return re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([\w.:-]{2,40})""", re.I)


@cache
def _hidden_style() -> re.Pattern[str]:
    return re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def html_charset(data: bytes) -> str:
    """The encoding that a page declares in its first bytes; empty where it declares none."""
    found = _charset().search(data[:4096])
    return found[1].decode("ascii") if found else ""


def convert_html(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A page: headings, lists, tables, links and code. Scripts, styles and navigation are left out."""
    decoded = decode(data, html_charset(data))
    markdown, title = html_blocks(decoded.text)
    return built(markdown, format, title=title, encoding=decoded.encoding, notes=encoding_notes(decoded))


def html_blocks(text: str, *, whole: bool = False) -> tuple[str, str]:
    """The page as markdown, and its title. ``whole``: its main element is not looked for, headers and footers stay."""
    root = parse_html(text)
    titled = root.find("title")
    title = one_line(titled.text()) if titled is not None else ""
    content = root if whole else _content(root)
    return blocks(_Writer(whole).blocks_of(content)), title


def _content(root: Node) -> Node:
    body = root.find("body") or root
    found = [node for node in body.walk() if node.tag == "main" or node.attributes.get("role") == "main"]
    if found and len(_visible(found[0])) >= _MAIN_SHARE * len(_visible(body)):
        return found[0]
    return body


def _visible(node: Node) -> str:
    return "".join("".join(_visible_pieces(node)).split())


def _visible_pieces(node: Node) -> list[str]:
    pieces: list[str] = []
    todo: list[Node | str] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            pieces.append(one)
        elif not _left_out(one):
            todo.extend(one.children)
    return pieces


def _left_out(node: Node) -> bool:
    about = node.attributes
    return (
        node.tag in _LEFT_OUT
        or "hidden" in about
        or about.get("role") in _LEFT_OUT_ROLES
        or ("style" in about and _hidden_style().search(about["style"]) is not None)
    )


class _Writer:
    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def blocks_of(self, node: Node) -> list[str]:
        """The blocks in an element."""
        found: list[str] = []
        line: list[str] = []
        for child in node.children:
            if isinstance(child, str):
                line.append(_collapsed(child))
            elif _left_out(child):
                continue
            elif child.blocks:
                _flush(line, found)
                found += self._block(child)
            else:
                line.append(self._inline(child))
        _flush(line, found)
        return found

    def _block(self, node: Node) -> list[str]:
        tag = node.tag
        if tag in _HEADINGS:
            return [heading(int(tag[1]), self._words(node))]
        if tag in _LISTS:
            return self._list(node)
        if tag == "pre":
            return [fence(dedent(node.text().strip("\n").rstrip()), _language(node))] if node.text().strip() else []
        if tag == "table":
            return self._table(node)
        if tag == "blockquote":
            quoted = blocks(self.blocks_of(node)).rstrip("\n")
            return [indented(quoted.replace("\n\n", "\n>\n"), "> ").replace("> >\n", ">\n")] if quoted else []
        if tag in ("dd", "li"):
            inner = blocks(self.blocks_of(node)).rstrip("\n")
            return [item(inner)] if inner else []
        if tag == "footer" and not self._whole:
            return []
        return self.blocks_of(node)

    def _words(self, node: Node) -> str:
        """All text of an element on one line."""
        return " ".join(one.replace("\n", " ") for one in self.blocks_of(node)) if node.blocks else self._inline(node)

    def _list(self, node: Node) -> list[str]:
        number = _number(node.attributes.get("start", ""), 1)
        items: list[str] = []
        loose: list[str] = []
        for child in node.children:
            if isinstance(child, str):
                loose += [prose(words)] if (words := one_line(child)) else []
            elif _left_out(child) or _is_language_link(child):
                continue
            elif child.tag in _LISTS:  # a list right in a list: meant as the item's before
                items += [indented(one, "    ") for one in self._list(child)]
            else:
                inner = blocks(self.blocks_of(child)).rstrip("\n").replace("\n\n", "\n")
                if inner:
                    items.append(item(inner, label=f"{number}." if node.tag == "ol" else "-"))
                    number += 1
        return ["\n".join(loose + items)] if loose or items else []

    def _table(self, node: Node) -> list[str]:
        found: list[str] = []
        simple: list[list[str]] = []
        caption, rows = rows_of(node)
        if caption is not None:
            found += self.blocks_of(caption)
        for row in rows:
            if any(cell is not None and _is_laid_out(cell) for cell, _ in row) or len(rows) == 1 == len(row):
                found.append(table(simple))
                simple = []
                for cell, repeated in row:
                    if cell is not None and not repeated:
                        found += self.blocks_of(cell)
            else:
                simple.append([self._words(cell) if cell is not None else "" for cell, _ in row])
        found.append(table(simple))
        return found

    def _inline(self, node: Node) -> str:
        tag = node.tag
        if tag == "br":
            return "\n"
        if tag == "wbr":
            return ""
        if tag == "img":
            return picture(node.attributes.get("alt", ""))
        if tag in _CODE and tag != "var":
            return _around(node.text(), code_span(node.text()))
        pieces = [
            _collapsed(child) if isinstance(child, str) else self._inline(child)
            for child in node.children
            if isinstance(child, str) or not _left_out(child)
        ]
        text = "".join(pieces)
        return _around(text, _link(text, node.attributes.get("href", ""))) if tag == "a" else text


def _collapsed(text: str) -> str:
    """Runs of white space as one space, those at the ends too."""
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return (" " if text[0].isspace() else "") + words + (" " if text[-1].isspace() else "")


def _around(text: str, written: str) -> str:
    """The white space around a text, put around what is written for it."""
    if not written:
        return " " if text else ""
    return (" " if text[:1].isspace() else "") + written + (" " if text[-1:].isspace() else "")


def _flush(line: list[str], found: list[str]) -> None:
    text = "\n".join(" ".join(one.split()) for one in "".join(line).split("\n")).strip("\n")
    line.clear()
    if text.strip():
        found.append(prose(re.sub(r"\n{2,}", "\n\n", text)))


def _link(text: str, target: str) -> str:
    """A link that leads somewhere from here; any other is its text."""
    words, target = one_line(text), target.strip()
    if not words or not target.lower().startswith(("http://", "https://", "mailto:")):
        return words
    if (
        len(target) > _LONGEST_LINK
        or any(one in target for one in " \n\t<>()")
        or "](" in words
        or words.startswith("[")
    ):
        return words
    if target.removeprefix("mailto:") == words:
        return words
    return f"[{words}]({target})"


def _is_language_link(node: Node) -> bool:
    """Whether a list's item only leads to the page in another language."""
    link = node.find("a")
    return link is not None and "hreflang" in link.attributes and len(one_line(node.text())) <= 60


def _is_laid_out(cell: Node) -> bool:
    """Whether a cell is there for the layout: it holds headings, lists, code or tables, or a page of text."""
    return cell.blocks and any(
        one.tag in _LISTS or one.tag in _HEADINGS or one.tag in ("table", "pre", "blockquote") for one in cell.walk()
    )


def _language(node: Node) -> str:
    for one in node.walk():
        for word in one.attributes.get("class", "").split():
            for mark in ("language-", "lang-", "highlight-source-", "brush:"):
                if word.startswith(mark):
                    return "".join(c for c in word[len(mark) :].lower() if c.isalnum() or c in "+#-")[:20]
    return ""


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else otherwise
