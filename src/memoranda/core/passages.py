"""Passages: what is ranked of a document. Its sections where they fit, else parts of them.

Only small sections under one heading share a passage; their headings stay in it.
Its length is bounded in columns (a wide character counts two): they are exact,
they add up, a person can count them, and a thousand of them hold about as much
in Chinese as in English, where characters would allow Chinese twice and more of
it, and tokens differ from model to model.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache

from memoranda.core.dividing import Packer, Piece, Unit, block_unit, prose_unit
from memoranda.core.frontmatter import front_matter_end
from memoranda.core.lines import lines
from memoranda.core.markdown import scan
from memoranda.core.names import content_hash, normalize_newlines
from memoranda.core.nesting import whole
from memoranda.core.passage_version import PASSAGES_VERSION
from memoranda.core.records import dataclass
from memoranda.core.sentences import columns, last_sentences, shown_line, shown_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.markdown import Block

    _Heading = tuple[int, str]

__all__ = ["PASSAGES_VERSION", "Passage", "cut", "searched_text"]

_SMALLEST = 40

_compiled = cache(re.compile)
_PLACE = r"[ \t]*<!--[ \t]*(page|slide|sheet|file)[ \t]+([^\r\n]{1,200}?)[ \t]*-->[ \t]*"
_PLACE_LINES = rf"(?m)^{_PLACE}\r?$"
_TITLE = r"(?mi)^title[ \t]*:[ \t]*([^\r\n]{1,1000}?)[ \t]*\r?$"
# What a paragraph ends with that does not go on behind a page's end.
_FINAL = ".!?。！？…:：;；|"
_BLANK = " \t\r\n"
_ENOUGH = 100  # characters of it that are looked at
_SHORT = 30  # columns that a title may take
_CLOSERS = "\"'”’»)]}）」』】》*_"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document.

    ``id`` is a hash of ``path`` and the passage's own text: it stays when other
    passages change; among equal ones a count follows. ``order`` counts from 1.
    ``path`` are the headings it stands under, outermost first, the document's
    title before them, without markup. ``text`` is as in the file with ``\\n`` for
    its line ends, without the lines that name places; where something was cut,
    the table's header, the fence or the items above are repeated in it. ``body``
    is where in ``text`` the headings that end ``path`` are over. ``start`` and
    ``end`` are character offsets in the file, ``first_line`` and ``last_line``
    count from 1. ``place`` is where a person finds it in the original:
    ``page 3``, ``page 3–4``, ``slide 2``, ``sheet Prices`` or nothing.
    """

    id: str
    order: int
    path: tuple[str, ...]
    text: str
    body: int
    start: int
    end: int
    first_line: int
    last_line: int
    place: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A line that says where a page, slide or sheet begins; ``inside``: a paragraph goes on behind it."""

    start: int
    end: int
    kind: str
    name: str
    inside: bool


class _Section:
    """Headings and what follows up to the next.

    ``parent`` is the path above its own heading and ``under`` the heading that
    ends it; ``heads`` are where its headings end, as far as ``path`` names them.
    ``bare``: nothing stands below them. ``apart``: it is never joined to others.
    """

    __slots__ = ("apart", "bare", "heads", "parent", "path", "under", "units")

    def __init__(self) -> None:
        self.path: tuple[str, ...] = ()
        self.parent: tuple[str, ...] = ()
        self.under: object = self  # nothing else stands under it
        self.units: list[Unit] = []
        self.heads: list[int] = []
        self.bare = True
        self.apart = False

    def join(self, other: _Section) -> None:
        """Take the section that follows; what both stand under is the path of both."""
        if self.path != self.parent:
            self.path = self.parent
            self.heads.pop()
        self.units += other.units
        self.bare = self.bare and other.bare


def cut(markdown: str, *, size: int = 1000, overlap: int = 0, title: str = "") -> list[Passage]:
    """The passages of a markdown document, in order; none for one without text.

    ``size`` bounds the text of each, in columns. With ``overlap`` a passage
    that goes on within a section begins with the last sentences of the one
    before, as many whole ones as fit into so many columns. ``title`` is the
    document's, where it is known from elsewhere; else front matter may name it.

    Raises:
        ValueError: ``size`` is less than 40, or ``overlap`` is negative or more than half of it.
    """
    if size < _SMALLEST or not 0 <= overlap <= size // 2:
        raise ValueError(f"size must be 40 columns or more, overlap at most half of it: {size}, {overlap}")
    document = _Document(markdown, title)
    passages: list[Passage] = []
    line_starts = [start for start, _, _ in lines(markdown)]
    counts: dict[str, int] = {}
    for section in _joined(markdown, document.sections, size - overlap):
        packer = Packer(markdown, size - overlap, _compiled(_PLACE_LINES))
        for unit in section.units:
            packer.add(unit)
        packer.flush()
        before: Piece | None = None
        for piece in packer.pieces:
            head = section.heads[-1] if section.heads else 0
            body = head if piece.start < head <= piece.end else piece.start
            own = document.read(body, piece.end).lstrip("\n")
            key = content_hash("\n".join((*section.path, "", own)))[:12]
            counts[key] = counts.get(key, 0) + 1
            start = piece.start
            if overlap and before is not None and not (before.behind or piece.before):
                start = last_sentences(markdown, before.start, start, overlap)
            heading = document.read(piece.start, body) + "\n" if body > piece.start else ""
            text = piece.before + document.read(start, piece.end) + normalize_newlines(piece.behind)
            passages.append(
                Passage(
                    id=key if counts[key] == 1 else f"{key}-{counts[key]}",
                    order=len(passages) + 1,
                    path=section.path,
                    text=normalize_newlines(text),
                    body=min(len(heading), len(text)),
                    start=start,
                    end=piece.end,
                    first_line=bisect_right(line_starts, start),
                    last_line=bisect_right(line_starts, piece.end - 1),
                    place=document.place(start, piece.end),
                )
            )
            before = piece
    return passages


def searched_text(passage: Passage) -> str:
    """What is searched of a passage: its path on a line of its own, then its text with links as they are shown."""
    text = shown_text(passage.text[passage.body :].strip("\n"))
    return "\n".join(filter(None, (" › ".join(passage.path), text)))


class _Document:
    """The sections of a document, and the places that it names."""

    def __init__(self, text: str, title: str) -> None:
        self.text = text
        self.marks: list[_Mark] = []
        self.sections: list[_Section] = []
        self._starts: list[int] = []
        self._nested = whole(text)
        self._headings: list[_Heading] = []
        self._first: _Heading | None = None
        self._level = 0
        start = 1 if text.startswith("\ufeff") else 0
        self._done = front_matter_end(text, start) if text.startswith("---", start) else start
        found = None if title else _compiled(_TITLE).search(text, start, self._done)
        self._title = shown_line(title.strip() or (found[1].strip("\"'") if found else ""))
        self._open: _Section | None = None
        self._paragraph = False  # the last thing was a paragraph
        self._goes_on = False  # the next one is its rest
        blocks = [block for block in scan(text) if block.kind != "front-matter"]
        for at, block in enumerate(blocks):
            self._gap(block.start)
            self._take(block, blocks[at + 1] if at + 1 < len(blocks) else None)
            self._done = block.end
        self._gap(len(text))
        self._starts = [mark.start for mark in self.marks]

    def _gap(self, end: int) -> None:
        """What stands between blocks: blank lines, or definitions of links and notes."""
        piece = self.text[self._done : end]
        if piece.strip():
            start = self._done + len(piece) - len(piece.lstrip("\r\n"))
            self._section().units.append(prose_unit(start, self._done + len(piece.rstrip())))
            self._section().bare = False
            self._paragraph = self._goes_on = False

    def _take(self, block: Block, following: Block | None) -> None:
        text, end = self.text, block.start + len(self.text[block.start : block.end].rstrip())
        goes_on, self._goes_on = self._goes_on, False
        if block.kind == "heading":
            self._heading(block, end)
        elif block.kind == "html" and (found := _compiled(_PLACE).fullmatch(text, block.start, end)):
            self._goes_on = found[1] == "page" and self._paragraph and self._runs_on(following)
            self.marks.append(_Mark(block.start, block.end, found[1], found[2], self._goes_on))
            if found[1] != "page":
                self._elsewhere()
        else:
            section = self._section()
            if goes_on:
                section.units[-1] = prose_unit(section.units[-1].start, end)
            else:
                section.units.append(block_unit(self._nested, block, block.start, end))
            section.bare = False
        self._paragraph = block.kind == "paragraph"

    def _runs_on(self, following: Block | None) -> bool:
        """Whether the paragraph before a page's beginning goes on in the block behind it."""
        if following is None or following.kind != "paragraph" or self._open is None:
            return False
        unit = self._open.units[-1]
        before = self.text[max(unit.start, unit.end - _ENOUGH) : unit.end].rstrip(_CLOSERS)
        first = self.text[following.start : min(following.end, following.start + _ENOUGH)].lstrip()[:1]
        if not before or before[-1] in _FINAL or not first.isalpha():
            return False
        # Scripts without capitals do not tell a title from a text that goes on, but its length does.
        return first.islower() or (not first.isupper() and columns(before) >= _SHORT)

    def _section(self) -> _Section:
        if self._open is None:
            self._open = _Section()
            self._open.path = self._open.parent = self._path(self._headings)
            self._open.apart = True
            self.sections.append(self._open)
        return self._open

    def _heading(self, block: Block, end: int) -> None:
        while self._headings and self._headings[-1][0] >= block.level:
            self._headings.pop()
        if self._open is None or not (self._open.bare and self._open.heads and self._level < block.level):
            apart = self._open is None and bool(self.sections)
            self._open = None
            self._section().apart = apart
        section = self._section()
        section.parent = self._path(self._headings)
        section.under = self._headings[-1] if self._headings else None
        self._headings.append((block.level, shown_line(block.text)))
        self._first = self._first or self._headings[0]
        section.path = self._path(self._headings)
        section.units.append(block_unit(self._nested, block, block.start, end))
        section.heads.append(end)
        self._level = block.level

    def _elsewhere(self) -> None:
        """A slide or a sheet begins: of the headings the document's first stays above it, if it is the highest."""
        self._open = None
        if self._headings and (self._headings[0] is not self._first or self._headings[0][0] > 1):
            self._headings = []
        del self._headings[1:]

    def _path(self, headings: list[_Heading]) -> tuple[str, ...]:
        path = [text for _, text in headings if text]
        if self._title and (not path or path[0].casefold() != self._title.casefold()):
            path.insert(0, self._title)
        return tuple(path)

    def read(self, start: int, end: int) -> str:
        """A slice of the file as a passage holds it: without the lines that name places."""
        at = bisect_left(self._starts, start)
        read = ""
        while at < len(self.marks) and self.marks[at].start < end:
            mark = self.marks[at]
            before = self.text[start : mark.start]
            if before.strip():
                read += before.rstrip(_BLANK).lstrip("\r\n") + ("\n" if mark.inside else "\n\n")
            start, at = mark.end, at + 1
        rest = self.text[start:end].rstrip(_BLANK)
        return normalize_newlines(read + (rest.lstrip("\r\n") if read else rest))

    def place(self, start: int, end: int) -> str:
        """The places that ``start`` to ``end`` stand in."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_left(self._starts, end) - 1
        if last < 0:
            return ""
        here, there = self.marks[max(first, 0)], self.marks[last]
        if here is there:
            return f"{here.kind} {here.name}"
        return f"{here.kind} {here.name}–{'' if here.kind == there.kind else there.kind + ' '}{there.name}"


def _joined(text: str, sections: list[_Section], size: int) -> list[_Section]:
    """The sections, small ones joined to their neighbours under the same heading.

    Two are joined up to half a passage if one is less than a fifth, and up to a
    whole passage where nothing but headings stands in either.
    """
    joined: list[_Section] = []
    before = 0
    for section in sections:
        last = joined[-1] if joined else None
        own = columns(text, section.units[0].start, section.units[-1].end)
        if last is not None and last.under is section.under and not section.apart:
            both = before + own + columns(text, last.units[-1].end, section.units[0].start)
            bare = last.bare and section.bare
            if both <= (size if bare else size // 2) and (bare or min(before, own) < size // 5):
                last.join(section)
                before = both
                continue
        joined.append(section)
        before = own
    return joined
