"""Wiki-links in an item's text: finding, writing and retargeting them.

``[[category:item]]``, ``[[category#item]]`` (the form Obsidian follows),
``[[category:item|shown]]``, full-width ``：``, a scope in front
(``[[user/lin/preferences:likes]]``), ``[[category#^block]]``, a whole category
``[[category]]`` and the category at hand ``[[:item]]``, ``[[#item]]``. Embeds
(``![[...]]``) count. Links in code and comments, and escaped ones, are text.
"""

from __future__ import annotations

from memoranda.core.names import name_key
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping
    from typing import Literal

__all__ = ["Link", "LinkStyle", "find_links", "format_link", "retarget"]

if TYPE_CHECKING:
    LinkStyle = Literal["colon", "hash"]
else:
    LinkStyle = str

_LINK = r"\[\[(?!\[)(?!\]\])([^\[\]\r\n]*(?:(?:\[(?!\[)|\](?!\]))[^\[\]\r\n]*)*)\]\]"

_link_pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A wiki-link. ``start`` and ``end`` are offsets of the whole ``[[...]]`` in the text it was found in.

    ``category`` may begin with a scope and is empty for the category at hand;
    ``item`` is ``None`` for a whole category; ``target`` is both with ``:``
    between them, whichever separator was written.
    """

    target: str
    category: str
    item: str | None
    shown: str | None
    start: int
    end: int

    @property
    def key(self) -> tuple[str, str]:
        """What links to the same item have in common: the keys of category (with scope) and item."""
        return (name_key(self.category.removeprefix("shared/")), name_key(self.item or ""))


def find_links(text: str) -> tuple[Link, ...]:
    """All links of a markdown text, in order; what cannot be a link is text."""
    if "[[" not in text:
        return ()
    return tuple(link for link, _ in _found(text))


def format_link(category: str, item: str | None, shown: str | None = None, style: LinkStyle = "colon") -> str:
    """A link as it is written; an empty ``category`` means the category at hand."""
    target = category if item is None else f"{category}{'#' if style == 'hash' else ':'}{item}"
    return f"[[{target}]]" if shown is None else f"[[{target}|{shown}]]"


def retarget(text: str, change: Mapping[tuple[str, str], str] | Callable[[Link], str | None]) -> str:
    """The text with some links pointing elsewhere.

    ``change`` gives a link's new target (``category:item``), by
    :attr:`Link.key` or by the link itself; ``None`` leaves it. Shown text,
    separator, spacing and every other byte stay.
    """
    if "[[" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for link, inner in _found(text):
        new = change(link) if callable(change) else change.get(link.key)
        if new is None or new == link.target:
            continue
        first = link.start + 2
        pieces += (text[done:first], _retargeted(inner, new))
        done = first + len(inner)
    return "".join((*pieces, text[done:])) if pieces else text


def _found(text: str) -> Iterator[tuple[Link, str]]:
    """Every link with what stands between its brackets."""
    if _may_hold_code(text):
        from memoranda.core.prose import prose

        for piece in prose(text, holding="[["):
            yield from _found_in(piece.text, piece.masked, piece.outer)
    else:
        yield from _found_in(text, text, None)


def _may_hold_code(text: str) -> bool:
    """Whether the block structure matters at all: a cheap test that most items fail."""
    return "`" in text or "<" in text or "~~~" in text or "\t" in text or "    " in text


def _found_in(text: str, masked: str, outer: Callable[[int], int] | None) -> Iterator[tuple[Link, str]]:
    global _link_pattern
    if _link_pattern is None:
        import re

        _link_pattern = re.compile(_LINK)
    at = 0
    while match := _link_pattern.search(masked, at):
        first, at = match.span()
        if _escaped(masked, first):
            at = first + 1
            continue
        inner = match.group(1)
        if masked.startswith("]", at) and inner.count("[") > inner.count("]"):
            at += 1  # [[tools:vim [editor]]]: the name ends with a bracket
        inner = text[first + 2 : at - 2]
        if "[[" in inner or "]]" in inner:
            continue  # in code within the brackets
        start = outer(first) if outer else first
        if link := _link(inner, start, start + at - first):
            yield link, inner


def _escaped(text: str, at: int) -> bool:
    before = at
    while before > 0 and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1


def _parted(inner: str) -> tuple[str, str]:
    """Where a link points to, and the rest: the bar and what is shown. Inside a table Obsidian writes ``\\|``."""
    bar = inner.find("|")
    if bar > 0 and inner[bar - 1] == "\\":
        bar -= 1
    return (inner, "") if bar < 0 else (inner[:bar], inner[bar:])


def _split(path: str) -> tuple[str, str, str]:
    """Category, separator and item; the last two are empty for a whole category."""
    at = min((at for at in map(path.find, ":：#") if at >= 0), default=-1)
    return (path, "", "") if at < 0 else (path[:at], path[at], path[at + 1 :])


def _link(inner: str, start: int, end: int) -> Link | None:
    path, rest = _parted(inner)
    category, separator, item = _split(path)
    category = category.strip()
    name = item.strip() if separator else None
    if name == "" or not (category or name):
        return None
    target = category if name is None else f"{category}:{name}"
    label = rest.lstrip("\\")[1:].strip().replace("\\|", "|") if rest else None
    return Link(target, category, name, label, start, end)


def _retargeted(inner: str, new: str) -> str:
    path, shown = _parted(inner)
    head, separator, tail = _split(path)
    category, wanted, item = _split(new)
    if not wanted:
        return _exchanged(path, category) + shown
    if not separator:
        return f"{_exchanged(path, category)}:{item}{shown}"
    return _exchanged(head, category) + separator + _exchanged(tail, item) + shown


def _exchanged(written: str, new: str) -> str:
    """``new`` with the white space that stood around what was written."""
    core = written.strip()
    if not core:
        return new + written
    lead = written[: written.index(core)]
    return lead + new + written[len(lead) + len(core) :]
