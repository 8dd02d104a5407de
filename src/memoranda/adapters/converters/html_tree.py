"""HTML as a tree, forgiving as browsers are: unclosed elements, strange nesting, bounded depth."""

from __future__ import annotations

from html.parser import HTMLParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BLOCKS", "Node", "parse_html"]

#: Deeper elements are read as if they were not there; their text stays.
_DEEPEST = 180

_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())

#: Elements that begin a line of their own.
_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer "
    "form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre "
    "search section summary table tbody td tfoot th thead title tr ul"
)
BLOCKS = frozenset(_BLOCK_NAMES.split())

#: What the beginning of an element ends: elements that are open, searched up to one of those that bound it.
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset(("li",)), frozenset(("ul", "ol", "menu", "table"))),
    "dt": (frozenset(("dt", "dd")), frozenset(("dl", "table"))),
    "dd": (frozenset(("dt", "dd")), frozenset(("dl", "table"))),
    "tr": (frozenset(("tr", "td", "th", "caption")), frozenset(("table",))),
    "td": (frozenset(("td", "th")), frozenset(("tr", "table"))),
    "th": (frozenset(("td", "th")), frozenset(("tr", "table"))),
    "tbody": (frozenset(("tbody", "thead", "tfoot", "tr")), frozenset(("table",))),
    "option": (frozenset(("option",)), frozenset(("select",))),
}
_WITHIN_OTHERS = ("li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "option", "title")
_CLOSES_PARAGRAPH = BLOCKS - frozenset(_WITHIN_OTHERS)
_NOT_PAST = frozenset(("table", "td", "th"))


class Node:
    """An element. ``blocks`` says whether it, or an element in it, begins a line of its own."""

    __slots__ = ("attributes", "blocks", "children", "tag")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Node | str] = []
        self.blocks = tag in BLOCKS

    def walk(self) -> Iterator[Node]:
        """It and all elements in it, in order."""
        todo: list[Node] = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(child for child in reversed(node.children) if isinstance(child, Node))

    def text(self) -> str:
        """The text in it, as it stands."""
        pieces: list[str] = []
        todo: list[Node | str] = [self]
        while todo:
            one = todo.pop()
            if isinstance(one, str):
                pieces.append(one)
            else:
                todo.extend(reversed(one.children))
                if one.tag == "br":
                    pieces.append("\n")
        return "".join(pieces)

    def find(self, tag: str) -> Node | None:
        """The first element of that name in it."""
        return next((node for node in self.walk() if node.tag == tag), None)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("#root", {})
        self.open: list[Node] = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_startendtag(tag, attrs)
            return
        self._close_implied(tag)
        if len(self.open) < _DEEPEST:
            self.open.append(self._add(tag, attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self._close_implied(tag)
        self._add(tag, attrs)

    def _add(self, tag: str, attrs: list[tuple[str, str | None]]) -> Node:
        node = Node(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(node)
        if node.blocks:
            for one in reversed(self.open):
                if one.blocks:
                    break
                one.blocks = True
        return node

    def _close_implied(self, tag: str) -> None:
        if tag in _ENDS:
            ended, bounds = _ENDS[tag]
            for at in range(len(self.open) - 1, 0, -1):
                if self.open[at].tag in bounds:
                    break
                if self.open[at].tag in ended:
                    del self.open[at:]
                    if tag not in ("tr", "tbody"):
                        break
        elif tag in _CLOSES_PARAGRAPH:
            for at in range(len(self.open) - 1, 0, -1):
                if self.open[at].tag == "p":
                    del self.open[at:]
                    break
                if self.open[at].tag in BLOCKS:
                    break

    def handle_endtag(self, tag: str) -> None:
        for at in range(len(self.open) - 1, 0, -1):
            if self.open[at].tag == tag:
                del self.open[at:]
                return
            if self.open[at].tag in _NOT_PAST and tag not in ("table", "tr", "tbody", "thead", "tfoot"):
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA["):
            self.open[-1].children.append(data[6:])


def _without_traps(text: str) -> str:
    """The text without what the parser of the standard library reads again and again: comments, tags that never end."""
    pieces: list[str] = []
    at = 0
    while (begin := text.find("<!--", at)) >= 0:
        end = text.find("-->", begin + 4)
        pieces.append(text[at:begin])
        if end < 0:
            at = begin + 4
            text = text[:at] + text[at:].replace("<!--", "")
            break
        at = end + 3
    pieces.append(text[at:])
    text = "".join(pieces)
    last = text.rfind(">") + 1
    return text[:last] + text[last:].replace("<", "&lt;")


def parse_html(text: str) -> Node:
    """The tree of a page or of a piece of one; what cannot be understood is text."""
    builder = _Builder()
    builder.feed(_without_traps(text))
    builder.close()
    return builder.root
