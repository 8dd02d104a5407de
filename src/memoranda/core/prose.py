"""Where inline markup counts: the text of a document without its code and comments."""

from __future__ import annotations

import re
from bisect import bisect_left

from memoranda.core.markdown import scan
from memoranda.core.nesting import open_item, open_quote, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.markdown import Block
    from memoranda.core.nesting import Nested

__all__ = ["Prose", "prose"]

_DEEPEST = 32  # containers in containers beyond this are read as plain paragraphs
_INLINE = r"\\[\\`<]|`+|<!--"
_VERBATIM_HTML = r"(?i)[ \t]*<(?:(?:script|pre|style|textarea)\b|\?|!(?!--))"


class Prose:
    """One run of prose.

    ``text`` is as written, ``masked`` the same with ``x`` for code and line
    ends for comments; ``nested.outer(base + offset)`` is where it came from.
    """

    __slots__ = ("_base", "_nested", "masked", "text")

    def __init__(self, text: str, masked: str, nested: Nested, base: int) -> None:
        self.text = text
        self.masked = masked
        self._nested = nested
        self._base = base

    def outer(self, offset: int) -> int:
        """Where the character at ``offset`` stands in the whole document."""
        return self._nested.outer(self._base + offset)


def prose(text: str, holding: str = "") -> Iterator[Prose]:
    """The runs of prose of a markdown document that hold ``holding``, in order."""
    return _walk(whole(text), holding, 0)


def _walk(nested: Nested, holding: str, depth: int) -> Iterator[Prose]:
    text = nested.text
    for block in scan(text):
        if text.find(holding, block.start, block.end) < 0 or block.kind in ("fence", "indented", "rule"):
            continue
        if block.kind in ("item", "quote") and depth < _DEEPEST:
            is_item = block.kind == "item"
            inside = open_item(nested, block, columns=True) if is_item else open_quote(nested, block)
            yield from _walk(inside, holding, depth + 1)
            continue
        piece = text[block.start : block.end]
        yield Prose(piece, _masked(piece, block), nested, block.start)


def _masked(piece: str, block: Block) -> str:
    if block.kind == "front-matter":
        return piece
    if block.kind == "html":
        return "\n" * len(piece) if re.match(_VERBATIM_HTML, piece) else _without_comments(piece)
    if "`" not in piece and "<!--" not in piece:
        return piece
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", piece):
        ticks.setdefault(len(run.group()), []).append(run.start())
    inline = re.compile(_INLINE)
    out: list[str] = []
    done = at = 0
    while found := inline.search(piece, at):
        at = found.end()
        mark = found.group()
        if mark[0] == "`":
            closers = ticks.get(len(mark), [])
            next_one = bisect_left(closers, at)
            if next_one == len(closers):
                continue
            at, filler = closers[next_one] + len(mark), "x"
        elif mark == "<!--":
            close = _comment_end(piece, found.start())
            if close < 0:
                continue
            at, filler = close, "\n"
        else:
            continue
        out += (piece[done : found.start()], filler * (at - found.start()))
        done = at
    return "".join((*out, piece[done:]))


def _comment_end(piece: str, start: int) -> int:
    for short in ("<!-->", "<!--->"):
        if piece.startswith(short, start):
            return start + len(short)
    close = piece.find("-->", start + 4)
    return close + 3 if close >= 0 else -1


def _without_comments(piece: str) -> str:
    out: list[str] = []
    done = 0
    while (start := piece.find("<!--", done)) >= 0:
        close = piece.find("-->", start + 2)
        end = close + 3 if close >= 0 else len(piece)
        out += (piece[done:start], "\n" * (end - start))
        done = end
    return "".join((*out, piece[done:]))
