"""What stands inside a list item or a quote, as a text of its own that remembers where it came from."""

from __future__ import annotations

import re
from bisect import bisect_right

from memoranda.core.lines import lines
from memoranda.core.markdown_leaves import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.markdown import Block

__all__ = ["Nested", "content_column", "item_lines", "open_item", "open_quote", "whole"]

#: Columns of indentation that are left, start and end of what follows them.
_Slice = tuple[int, int, int]
#: What may open blocks in a line: marks of quotes and of list items, and the space around them.
_OPENERS = r"(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*"


class Nested:
    """A text made of pieces of a larger one.

    ``text`` begins with an empty line of its own (``lead`` is its length) when it
    was cut out of a container, so that nothing in it can be taken for front matter.
    """

    __slots__ = ("_places", "_starts", "lead", "text")

    def __init__(self, text: str, starts: list[int], places: list[int], lead: int) -> None:
        self.text = text
        self.lead = lead
        self._starts = starts
        self._places = places

    def outer(self, offset: int) -> int:
        """Where the character at ``offset`` stands in the outermost text."""
        at = bisect_right(self._starts, offset) - 1
        return self._places[at] + offset - self._starts[at]


def whole(text: str) -> Nested:
    """The outermost text itself."""
    return Nested(text, [0], [0], 0)


def content_column(text: str, block: Block) -> int:
    """By how many columns the content of a list item is indented."""
    stop = block.content
    if stop == len(text) or text[stop] in "\r\n":  # nothing behind the marker: one space is implied
        marker = text[block.start : stop].rstrip(" \t")
        return _columns(text, block.start, block.start + len(marker)) + 1
    return _columns(text, block.start, stop)


def _columns(text: str, start: int, stop: int) -> int:
    column = 0
    for character in text[start:stop]:
        column += 4 - column % 4 if character == "\t" else 1
    return column


def item_lines(text: str, block: Block) -> Iterator[tuple[int, int, int]]:
    """A list item's lines without marker and indentation: start, end of content, end with the line ending."""
    width = content_column(text, block)
    start = block.content
    for begin, stop, end in lines(text, block.start, block.end):
        if begin > block.start:
            start, column = begin, 0
            while start < stop and column < width and text[start] in " \t":
                column += 4 - column % 4 if text[start] == "\t" else 1
                start += 1
        yield start, stop, end


def open_item(outside: Nested, block: Block, *, columns: bool = False) -> Nested:
    """The content of a list item of ``outside``.

    With ``columns`` tabs in the indentation become the spaces they stand for, as
    the rules of markdown see it; without, every character stays as written.
    """
    text = outside.text
    slices = [(0, start, end) for start, _, end in item_lines(text, block)]
    if columns and text.find("\t", block.start, block.end) >= 0:
        slices = list(_item_columns(text, block))
    return _opened(outside, slices)


def open_quote(outside: Nested, block: Block) -> Nested:
    """The content of a block quote of ``outside``, tabs in its indentation as spaces."""
    return _opened(outside, list(_quote_columns(outside.text, block)))


def _item_columns(text: str, block: Block) -> Iterator[_Slice]:
    width = content_column(text, block)
    for begin, stop, end in lines(text, block.start, block.end):
        if begin == block.start:
            first, spaces = measure(text, block.content, stop, _columns(text, begin, block.content))
            yield from _slices(text, begin, spaces, first, stop, end)
        else:
            first, indent = measure(text, begin, stop, 0)
            yield from _slices(text, begin, max(indent - width, 0), first, stop, end)


def _quote_columns(text: str, block: Block) -> Iterator[_Slice]:
    for begin, stop, end in lines(text, block.start, block.end):
        first, indent = measure(text, begin, stop, 0)
        if indent < 4 and text.startswith(">", first, stop):
            first, spaces = measure(text, first + 1, stop, indent + 1)
            yield from _slices(text, begin, max(spaces - 1, 0), first, stop, end)
        else:
            yield indent, first, end  # goes on with the paragraph above without a mark


def _slices(text: str, begin: int, spaces: int, first: int, stop: int, end: int) -> Iterator[_Slice]:
    """A line from ``first`` on, after so many spaces; tabs among what may open blocks reach as far as they did."""
    at, place = first, first
    if text.find("\t", first, stop) >= 0:
        column = _columns(text, begin, first)
        found = re.compile(_OPENERS).match(text, first, stop)
        for place in range(first, found.end() if found else first):
            width = 4 - column % 4 if text[place] == "\t" else 1
            column += width
            if text[place] == "\t":
                yield spaces, at, place
                spaces, at = width, place + 1
    yield spaces, at, end


def _opened(outside: Nested, slices: list[_Slice]) -> Nested:
    pieces, starts, places, size = ["\n"], [0], [0], 1
    for spaces, start, end in slices:
        starts.append(size)
        places.append(outside.outer(start) - spaces)
        pieces.append(" " * spaces + outside.text[start:end])
        size += spaces + end - start
    return Nested("".join(pieces), starts, places, 1)
