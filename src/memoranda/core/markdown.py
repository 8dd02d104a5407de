"""The block structure of markdown, top level only, by the rules of CommonMark 0.31.

A line scanner: it says where the headings, paragraphs, list items, fences ...
of a text begin and end, and never builds a tree. Quotes and list items are
followed inwards as far as needed to know where they end. Lines end at ``\\n``,
``\\r\\n`` or a lone ``\\r`` and nowhere else. Link reference definitions are no
blocks; YAML front matter is one. The time is linear in the text's length.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.lines import line_at, line_pattern, lines
from memoranda.core.markdown_leaves import (
    atx_heading,
    atx_text,
    definition_lines,
    fence_closes,
    fence_opens,
    html_begins,
    html_ends,
    list_marker,
    measure,
    setext_level,
    simple_block,
)
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Block", "line_at", "lines", "scan", "scan_from"]

_BOM = "\ufeff"
_MAY_BEGIN = frozenset("#`~*+_=<>-0123456789")


@cache
def _rule_run(mark: str) -> re.Pattern[str]:
    return re.compile(rf"[{mark} \t]*")


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block; a list is its items, one by one.

    ``kind`` is ``heading``, ``paragraph``, ``item``, ``fence``, ``indented``,
    ``html``, ``quote``, ``rule`` or ``front-matter``. ``start`` and ``end`` are
    character offsets of whole lines, the last line's ending included and
    trailing blank lines left out; ``line`` counts from 1. ``level`` and ``text``
    (raw inline text) belong to headings. ``content`` is where the content of an
    item (behind its marker) or the text of a heading begins, else ``start``.
    ``closed`` is false for a fence, or an HTML block that does not end at a
    blank line, which the text's end cut short.
    """

    kind: str
    start: int
    end: int
    line: int
    level: int = 0
    text: str = ""
    content: int = 0
    closed: bool = True


def scan(text: str) -> list[Block]:
    """The top-level blocks of ``text`` in order. Never raises."""
    return scan_from(text, 0, 1)[0]


def scan_from(
    text: str, start: int, line_number: int, until: Callable[[str, int], object] | None = None
) -> tuple[list[Block], int]:
    """The top-level blocks from a line on at which nothing is open, and where the scan ended.

    With ``until``, which wants a text without ``\\r``, it ends before the next
    heading behind ``start`` that is written ``## `` and for which ``until(text,
    offset)`` is true. At column 0 only a fence or HTML block that is open, and
    in no container, makes anything else than a heading of such a line.
    """
    scanner = _Scanner(text, start, line_number, lone=until is None and text.count("\r") != text.count("\r\n"))
    pos = scanner.front_matter() if start == 0 else start
    simple, line, size = simple_block().match, line_pattern().match, len(text)
    while pos < size:
        if until and text.startswith("## ", pos) and pos > start and not scanner.hides_headings() and until(text, pos):
            break
        found = None if scanner.stack or scanner.leaf else simple(text, pos)
        if found is None:
            found = line(text, pos)
            assert found is not None  # the pattern matches at every offset
            scanner.feed(pos, found.end(1), found.end())
        elif (which := found.lastindex) == 3:
            heading = atx_text(found[2] or "")
            content = found.start(2) if found[2] is not None else found.end(1)
            scanner.add("heading", pos, found.end(3), len(found[1]), heading, content)
        elif which == 4:
            scanner.add("paragraph", pos, found.end(4), 0, "", pos)
        elif which == 5:
            scanner.add("html", pos, found.end(5), 0, "", pos)
        elif which == 7:
            scanner.add("item", pos, found.end(7), 0, "", found.end(6))
        pos = found.end()
    scanner.finish()
    return scanner.blocks, pos


class _Scanner:
    """What is open at a line: containers from the outside in, and at most one leaf.

    ``stack`` holds 0 for a quote, for a list item the columns its content is
    indented by. ``quotes`` are the places of the quotes in it. ``hollow``: the
    innermost container is an item whose first line was blank.
    """

    __slots__ = (
        "_content", "_counted", "_fence", "_hollow", "_html", "_kind", "_last", "_line", "_lone",
        "_paragraph", "_quotes", "_start", "blocks", "leaf", "stack", "text",
    )  # fmt: skip

    def __init__(self, text: str, start: int, line: int, lone: bool) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.stack: list[int] = []
        self.leaf = ""
        self._quotes: list[int] = []
        self._hollow = False
        self._fence = self._html = ""
        self._paragraph: list[tuple[int, int, int]] = []
        self._kind = ""
        self._start = self._content = self._last = 0
        self._counted, self._line = start, line
        self._lone = lone

    def front_matter(self) -> int:
        """Take a BOM and YAML front matter; where the rest begins."""
        start = 1 if self.text.startswith(_BOM) else 0
        if not self.text.startswith("---", start):
            return start
        from memoranda.core.frontmatter import front_matter_end

        end = front_matter_end(self.text, start)
        if end > start:
            self.add("front-matter", start, end, 0, "", start)
        return end

    def hides_headings(self) -> bool:
        """Whether a line at column 0 is text whatever it holds."""
        return not self.stack and self.leaf in ("fence", "html")

    def add(self, kind: str, start: int, end: int, level: int, text: str, content: int, closed: bool = True) -> None:
        """Note a finished block."""
        self._line += self.text.count("\n", self._counted, start)
        if self._lone:
            self._line += self.text.count("\r", self._counted, start)
            self._line -= self.text.count("\r\n", self._counted, start)
        self._counted = start
        self.blocks.append(Block(kind, start, end, self._line, level, text, content, closed))

    def finish(self) -> None:
        """The text is over."""
        cut = self.leaf == "fence" or (self.leaf == "html" and self._html not in ("block", "tag"))
        self._close(0, closed=bool(self.stack) or not cut)

    def feed(self, start: int, stop: int, end: int) -> None:
        """Take one line: its start, the end of its content, its end."""
        text, stack = self.text, self.stack
        first, indent = measure(text, start, stop, 0)
        column = depth = seen = 0
        while depth < len(stack):
            if first == stop:
                # Blank: items go on, quotes end, and an item begins with one blank line at most.
                depth = self._quotes[seen] if seen < len(self._quotes) else len(stack) - self._hollow
                break
            width = stack[depth]
            if width:
                if indent < width:
                    break
                column, indent = column + width, indent - width
            elif indent < 4 and text[first] == ">":
                first, indent, column = self._behind_quote_mark(first, stop, column + indent)
                seen += 1
            else:
                break
            depth += 1
        if seen:  # also a lone ">" belongs to its quote
            self._last = end
        whole, blank = depth == len(stack), first == stop
        if whole and self.leaf in ("fence", "html"):
            self._verbatim(first, stop, indent, end)
            return
        if whole and self.leaf == "indented":
            if blank:
                return
            if indent >= 4:
                self._last = end
                return
            self._close(depth)
        if blank:
            if not whole or self.leaf == "paragraph":
                self._close(depth)
            return
        self._begin(start, first, stop, end, indent, column, depth)
        self._last = end

    def _behind_quote_mark(self, mark: int, stop: int, column: int) -> tuple[int, int, int]:
        first, indent = measure(self.text, mark + 1, stop, column + 1)
        return (first, indent - 1, column + 2) if indent else (first, 0, column + 1)

    def _verbatim(self, first: int, stop: int, indent: int, end: int) -> None:
        """A line of an open fence or HTML block."""
        if self.leaf == "fence":
            done = indent < 4 and fence_closes(self.text, first, stop, self._fence)
        elif self._html in ("block", "tag"):
            if first == stop:
                self._close(len(self.stack))
                return
            done = False
        else:
            done = html_ends(self.text, first, stop, self._html)
        if first < stop or not self.stack:
            self._last = end
        if done:
            self._close(len(self.stack))

    def _begin(self, start: int, first: int, stop: int, end: int, indent: int, column: int, depth: int) -> None:
        """Open the blocks that begin in a line whose rest is not blank, or go on with the paragraph."""
        text, stack, ruled_out = self.text, self.stack, 0
        while first < stop:
            if indent >= 4:
                if self.leaf == "paragraph":
                    break
                self._open_leaf("indented", depth, start)
                return
            mark = text[first]
            if mark not in _MAY_BEGIN:
                break
            if mark == ">":
                self._open(depth, start, 0, start)
                first, indent, column = self._behind_quote_mark(first, stop, column + indent)
                depth = len(stack)
                continue
            if mark == "#":
                if heading := atx_heading(text, first, stop):
                    self._single("heading", depth, start, end, *heading)
                    return
                break
            if mark in "`~":
                if fence := fence_opens(text, first, stop):
                    self._open_leaf("fence", depth, start)
                    self._fence = fence
                    return
                break
            if mark == "<":
                html = html_begins(text, first, stop)
                if not html or (html == "tag" and self.leaf == "paragraph"):
                    break
                self._open_leaf("html", depth, start)
                self._html = html
                if html_ends(text, first, stop, html):
                    self._last = end
                    self._close(len(stack))
                return
            inside = self.leaf == "paragraph" and depth == len(stack)
            if inside and mark in "=-" and (level := setext_level(text, first, stop)):
                if self._underline(level, end):
                    return
                inside = False
            if mark in "*_-" and first >= ruled_out:
                ruled_out = _rule_run(mark).match(text, first, stop).end()  # type: ignore[union-attr]
                if ruled_out == stop and text.count(mark, first, stop) >= 3:
                    self._single("rule", depth, start, end, 0, "", start)
                    return
            length = list_marker(text, first, stop)
            if not length:
                break
            behind = first + length
            content, spaces = measure(text, behind, stop, column + indent + length)
            if inside and (content == stop or (length > 1 and int(text[first : behind - 1]) != 1)):
                break
            padding = 1 if content == stop or spaces > 4 else spaces
            width = indent + length + padding
            self._open(depth, start, width, content if content == stop or spaces < 5 else behind + 1)
            self._hollow = content == stop
            first, indent, column, depth = content, spaces - padding, column + width, len(stack)
        if first < stop:
            if self.leaf != "paragraph":
                self._open_leaf("paragraph", depth, start)
                self._paragraph = []
            self._paragraph.append((start, first, stop))

    def _underline(self, level: int, end: int) -> bool:
        """Turn the open paragraph into a heading, unless nothing but definitions stands in it."""
        taken = self._definitions()
        rest = self._paragraph[taken:]
        if rest and not self.stack:
            text = " ".join(self.text[first:stop].strip(" \t") for _, first, stop in rest)
            self.add("heading", rest[0][0], end, level, text, rest[0][1])
        self.leaf = ""
        return bool(rest)

    def _definitions(self) -> int:
        if self.text[self._paragraph[0][1]] != "[":
            return 0
        return definition_lines([self.text[first:stop] for _, first, stop in self._paragraph])

    def _open(self, depth: int, start: int, width: int, content: int) -> None:
        """Open a quote (``width`` 0) or a list item inside the ``depth`` outer containers."""
        self._close(depth)
        if not self.stack:
            self._kind, self._start, self._content = "item" if width else "quote", start, content
        if not width:
            self._quotes.append(len(self.stack))
        self.stack.append(width)

    def _open_leaf(self, leaf: str, depth: int, start: int) -> None:
        self._close(depth)
        self.leaf = leaf
        if not self.stack:
            self._kind, self._start, self._content = leaf, start, start

    def _single(self, kind: str, depth: int, start: int, end: int, level: int, text: str, content: int) -> None:
        """A leaf of one line."""
        self._close(depth)
        if not self.stack:
            self.add(kind, start, end, level, text, content)

    def _close(self, depth: int, closed: bool = True) -> None:
        """Close the leaf and all but the ``depth`` outer containers."""
        if depth == 0 and (self.stack or self.leaf):
            start, content = self._start, self._content
            taken = self._definitions() if self._kind == "paragraph" else 0
            if taken:
                rest = self._paragraph[taken:]
                start = content = rest[0][0] if rest else self._last
            if start < self._last:
                self.add(self._kind, start, self._last, 0, "", content, closed)
        self.leaf, self._hollow = "", False
        del self.stack[depth:]
        while self._quotes and self._quotes[-1] >= depth:
            self._quotes.pop()
