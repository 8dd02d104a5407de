"""What stands inside a list item or a quote, as a text of its own that remembers where it came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from memoranda.core.markdown import Block, lines

__all__ = ["Nested", "content_column", "item_lines", "open_item", "open_quote", "whole"]

_QUOTE_MARK = re.compile(r" {0,3}>[ \t]?")


class Nested:
    """A text made of pieces of a larger one.

    ``text`` begins with a line of its own (``lead``) when it was cut out of a
    container, so that nothing in it can be taken for front matter.
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
    column = _columns(text, block.start, block.content)
    stop = block.content
    if stop == len(text) or text[stop] in "\r\n":  # nothing behind the marker: one space is implied
        marker = text[block.start : stop].rstrip(" \t")
        return _columns(text, block.start, block.start + len(marker)) + 1
    return column


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


def _quote_lines(text: str, block: Block) -> Iterator[tuple[int, int, int]]:
    for begin, stop, end in lines(text, block.start, block.end):
        mark = _QUOTE_MARK.match(text, begin, stop)
        yield (mark.end() if mark else begin), stop, end


def _opened(outside: Nested, slices: Iterator[tuple[int, int, int]]) -> Nested:
    pieces, starts, places, size = ["\n"], [0], [0], 1
    for start, _, end in slices:
        starts.append(size)
        places.append(outside.outer(start))
        pieces.append(outside.text[start:end])
        size += end - start
    return Nested("".join(pieces), starts, places, 1)


def open_item(outside: Nested, block: Block) -> Nested:
    """The content of a list item of ``outside``."""
    return _opened(outside, item_lines(outside.text, block))


def open_quote(outside: Nested, block: Block) -> Nested:
    """The content of a block quote of ``outside``."""
    return _opened(outside, _quote_lines(outside.text, block))
