"""The parts of a category file, and how each one is addressed."""

from __future__ import annotations

from memoranda.core.lines import blank_lines
from memoranda.core.names import (
    clean_name,
    content_hash,
    hash_name,
    is_item_name,
    name_key,
    normalize_newlines,
    stored_key,
)
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.core.metadata import Metadata

__all__ = ["Category", "Naming", "Section", "blank_lines", "body_of", "dominant_newline", "trimmed"]

_WHITE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Section:
    """One item of a category file. All offsets are into the file's text.

    Attributes:
        name: As written: the heading's raw text, the block id without ``^``, the
            ``name=`` of the comment; empty for a block without any.
        address_name: What it is addressed by: the name as stored, ``^id``, or ``~hash``.
        key: Under which :meth:`Category.find` has it.
        start: Where the heading or block begins.
        end: Where it ends, blank lines behind it included.
        body_start: Where the text begins.
        body_end: Where the text ends; the block id and a comment at either end are outside.
        comment: The slice of the metadata comment.
        metadata: What the comment says.
        line: Where it begins, counted from 1.
        form: ``section``, ``list`` or ``paragraph``.
        text: The text without comment, block id and list indentation, with ``\\n`` line endings.
        content: Where the heading's text or the list item's content begins.
        head_end: Where the heading's lines end; for a block the same as ``content``.
        block_id: The slice of `` ^id`` with the space before it.
    """

    name: str
    address_name: str
    key: str
    start: int
    end: int
    body_start: int
    body_end: int
    comment: tuple[int, int] | None
    metadata: Metadata
    line: int
    form: str
    text: str
    content: int
    head_end: int
    block_id: tuple[int, int] | None = None

    @property
    def hash(self) -> str:
        """The content hash of the text."""
        return content_hash(self.text)

    @property
    def is_whole(self) -> bool:
        """Whether the text is one slice of the file, with no comment or block id inside it."""
        within = [span for span in (self.comment, self.block_id) if span is not None]
        return all(not (self.body_start < end and start < self.body_end) for start, end in within)


class Category:
    """A category file, taken apart without loss.

    Attributes:
        text: The whole file.
        sections: Its items, in file order.
        problems: What is wrong in it, as (line counted from 1, kind, message).
        headed: Whether its items are level-2 sections (else list items and paragraphs).
        newline: The line ending that most lines have; ``\\n`` when there is none.
        open_at: Where a fence or HTML block begins that the end of the file cut short.
    """

    __slots__ = ("_by_key", "headed", "newline", "open_at", "problems", "sections", "text")

    def __init__(
        self,
        text: str,
        sections: tuple[Section, ...] = (),
        problems: tuple[tuple[int, str, str], ...] = (),
        headed: bool = False,
        open_at: int | None = None,
    ) -> None:
        self.text = text
        self.sections = sections
        self.problems = problems
        self.headed = headed
        self.newline = dominant_newline(text)
        self.open_at = open_at
        self._by_key: dict[str, Section] | None = None

    def find(self, name: str) -> Section | None:
        """The item of that name, however it is written; a block id with or without its ``^``."""
        if self._by_key is None:
            self._by_key = {section.key: section for section in self.sections}
        return self._by_key.get(self.key(name))

    def key(self, name: str) -> str:
        """The key under which an item of that name is found."""
        return name_key(name) if self.headed else name_key(name.strip().removeprefix("^"))

    def slices(self) -> Iterator[str]:
        """Pieces of the text, items and what lies between them, that make it up again."""
        done = 0
        for section in self.sections:
            if section.start > done:
                yield self.text[done : section.start]
            yield self.text[section.start : section.end]
            done = section.end
        if done < len(self.text):
            yield self.text[done:]


class Naming:
    """Hands out the addresses of one file's items, and notes what is wrong with their names.

    ``taken`` holds the keys and hash addresses that are not free any more, with their lines.
    """

    def __init__(self, problems: list[tuple[int, str, str]], taken: dict[str, int] | None = None) -> None:
        self.taken: dict[str, int] = {} if taken is None else taken
        self._problems = problems
        self._counts: dict[str, int] = {}

    def named(self, name: str, text: str, line: int, hashed: str, mark: str = "") -> tuple[str, str]:
        """Address and key of an item with a name of its own; ``mark`` is ``^`` for a block id.

        ``hashed`` is what identifies the item when the name cannot be used.
        """
        if not is_item_name(name):
            address = self.unnamed(hashed, line)
            shown = f"{name!r} cannot be a name" if name.strip() else "a heading without a name"
            self._problems.append((line, "bad-name", f"{shown}; the item is addressed as {address[0]}"))
            return address
        stored = clean_name(name)
        key = stored_key(stored)
        first = self.taken.get(key)
        if first is not None:
            address = self.unnamed(hashed, line)
            message = f"{name!r} already stands in line {first}; this one is addressed as {address[0]}"
            self._problems.append((line, "duplicate-name", message))
            return address
        self.taken[key] = line
        return mark + stored, key

    def unnamed(self, hashed: str, line: int) -> tuple[str, str]:
        """Address and key of an item that is known by the hash of ``hashed``."""
        base = address = hash_name(hashed)
        count = self._counts.get(base, 1)
        while address in self.taken:
            count += 1
            address = f"{base}-{count}"
        self._counts[base] = count
        self.taken[address] = line
        return address, address


def dominant_newline(text: str) -> str:
    """The line ending that most lines of the text have."""
    if "\r" not in text:
        return "\n"
    both = text.count("\r\n")
    counts = {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    return max(counts, key=lambda newline: counts[newline])


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The slice without blank lines before it and white space behind it.

    Indentation of the first line stays, for it may mean code or a nested
    list, unless it is of three spaces at most before a single line.
    """
    first = blank_lines(text, start, end)
    while end > first and text[end - 1] in _WHITE:
        end -= 1
    if text.startswith(" ", first) and text.find("\n", first, end) < 0 and text.find("\r", first, end) < 0:
        indented = first
        while text.startswith(" ", indented):
            indented += 1
        if indented - first < 4 and not text.startswith("\t", indented):
            first = indented
    return first, max(first, end)


def body_of(
    text: str, start: int, end: int, comment: tuple[int, int] | None, block_id: tuple[int, int] | None
) -> tuple[int, int, str]:
    """Where the text of an item begins and ends in ``text[start:end]``, and the text itself."""
    first, last = trimmed(text, start, end)
    if comment is not None and start <= comment[0] < end:
        head, tail = trimmed(text, start, comment[0]), trimmed(text, comment[1], end)
        if tail[0] == tail[1]:
            first, last = head
        elif head[0] == head[1]:
            first, last = tail
        else:
            before = _without_id(text, *head, block_id)
            whole = f"{before}\n\n{_without_id(text, *tail, block_id)}"
            return head[0], tail[1], normalize_newlines(whole)
    if block_id is not None and block_id[1] == last:
        first, last = trimmed(text, first, block_id[0])
        block_id = None
    return first, last, normalize_newlines(_without_id(text, first, last, block_id))


def _without_id(text: str, start: int, end: int, block_id: tuple[int, int] | None) -> str:
    if block_id is None or not start <= block_id[0] < end:
        return text[start:end]
    return text[start : block_id[0]].rstrip(_WHITE) + text[block_id[1] : end]
