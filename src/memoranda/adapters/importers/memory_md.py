"""What coding agents keep in markdown: ``MEMORY.md`` with its topic files, ``CLAUDE.md``, ``AGENTS.md``.

* A topic file (front matter with ``name`` or ``description``) is one item of the category ``memory``; its
  ``metadata.type`` is the item's type.
* Of any other file, each section is an item in the category of the file's name; a list without sections
  is an item an entry.
* The lines of an index that only lead to a topic file are left out.

A folder is searched for such files. Where one holds ``MEMORY.md``, all markdown in and below it is memory.
"""

from __future__ import annotations

import re
from datetime import UTC
from functools import cache

from memoranda.adapters.importers.legal_names import FreeNames, legal_category, short_name
from memoranda.adapters.importers.markdown_files import find_files, opened_source, read_text, source_name
from memoranda.adapters.importers.moments import moment
from memoranda.adapters.importers.note_text import parts_of, settled, without_empty_headings
from memoranda.adapters.importers.properties import first_of, read_properties
from memoranda.adapters.importers.vault_links import NoteMap, NoteTarget, without_links
from memoranda.core.errors import BadName, UsageError
from memoranda.core.markdown import scan
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo

__all__ = ["read_memory_md"]

_INDEX = "memory.md"
_NAMES = frozenset(
    {_INDEX, "claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md"}
)
_ENTERED = frozenset({".claude", ".github"})
_NOT_ENTERED = frozenset({"node_modules", "__pycache__", "site-packages"})
_TOPICS = "memory"
_LEADS = r"[*_~ ]{0,8}(?:\[[^\[\]\n]{0,300}\]\(<?([^()<>\s]{1,300})>?\)|\[\[([^\[\]|#\n]{1,300}))"


@cache
def _leads() -> re.Pattern[str]:
    return re.compile(_LEADS)


def read_memory_md(path: str, zone: tzinfo = UTC) -> Iterator[ForeignItem | Problem]:
    """Read such a file, or a folder that holds some. ``zone`` is the one of times without an offset.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it is neither a markdown file nor a folder that holds such a file.
    """
    root, only = opened_source(path)
    found = [only] if only else list(find_files(root, enters=_enters))
    paths = [one for one in found if isinstance(one, str)]
    yield from (one for one in found if isinstance(one, Problem))
    wanted = paths if only else _memory_of(paths)
    if not wanted:
        raise UsageError(f"{path} holds no MEMORY.md, CLAUDE.md, AGENTS.md or the like")
    reading = _Reading(root, zone)
    for one in wanted:
        text = read_text(root, one)
        if isinstance(text, Problem):
            yield text
        else:
            yield from reading.take(one, text)
    yield from reading.items()


def _enters(folder: str) -> bool:
    name = folder.rpartition("/")[2]
    return name in _ENTERED or not (name.startswith(".") or name in _NOT_ENTERED)


def _memory_of(paths: Iterable[str]) -> list[str]:
    """The files that are memory: in or below a folder with an index, or of a known name."""
    paths = list(paths)
    folders = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2].casefold() == _INDEX}
    chosen = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        above = ["/".join(folder.split("/")[:depth]) for depth in range(folder.count("/") + 2)]
        if name.casefold() in _NAMES or any(one in folders for one in above):
            chosen.append(path)
    return chosen


class _Reading:
    """The files of one source: topics first, for others link to them."""

    def __init__(self, root: str, zone: tzinfo) -> None:
        self._root = root
        self._zone = zone
        self._names: dict[str, FreeNames] = {}
        self._known = NoteMap()
        self._topics: list[tuple[str, NoteTarget, str, dict[str, str | None], int]] = []
        self._files: list[tuple[str, str, int]] = []

    def take(self, path: str, text: str) -> Iterator[Problem]:
        """Note a file, and if it is a topic what it will be."""
        properties, start = read_properties(text)
        body = text[start:].replace("\r\n", "\n").replace("\r", "\n")
        shift = text.count("\n", 0, start)
        name, description = first_of(properties, "name"), first_of(properties, "description")
        folder, _, file = path.rpartition("/")
        if not (name or description) or file.casefold() in _NAMES:
            self._files.append((path, body, shift))
            return
        try:
            category = legal_category(f"{folder}/{_TOPICS}".lstrip("/"))
        except BadName as error:
            yield Problem(path, 0, "bad-name", f"{error}: left out")
            return
        stem = file.rpartition(".")[0]
        names, wanted = self._taken(category), short_name(name) or short_name(stem)
        item = names.take(wanted) if wanted else names.take_made(description)
        own = without_empty_headings(body, name or stem)
        whole = own if description in own else f"{description}\n\n{own}".strip()
        values = {
            "source": self._source(path),
            "ts": moment(first_of(properties, "created", "date", "updated"), self._zone),
            "type": first_of(properties, "metadata.type", "type") or None,
        }
        target = NoteTarget(path, category, item)
        self._known.put(target, *filter(None, (name,)))
        self._topics.append((path, target, whole, values, shift + 1))

    def _taken(self, category: str) -> FreeNames:
        return self._names.setdefault(category, FreeNames())

    def _source(self, path: str) -> str:
        return f"memory-md/{source_name(self._root, path)}"

    def items(self) -> Iterator[ForeignItem | Problem]:
        """Everything that was taken, as items."""
        for path, target, text, values, line in self._topics:
            metadata = EMPTY_METADATA.with_values(**{key: value for key, value in values.items() if value})
            if written := settled(self._known.rewrite(text, target)):
                yield ForeignItem(target.category, target.item, written, metadata, path, line, named=True)
            else:
                yield Problem(path, 0, "empty", "the file is empty: left out")
        for path, body, shift in self._files:
            yield from self._sections(path, body, shift)

    def _sections(self, path: str, body: str, shift: int) -> Iterator[ForeignItem | Problem]:
        """The sections of a file, and what stands before them."""
        stem = path.rpartition(".")[0]
        try:
            category = legal_category("/".join([*stem.split("/")[:-1], stem.rpartition("/")[2].casefold()]))
        except BadName as error:
            yield Problem(path, 0, "bad-name", f"{error}: left out")
            return
        metadata = EMPTY_METADATA.with_values(source=self._source(path))
        target = NoteTarget(path, category, None)
        names = self._taken(category)
        parts = parts_of(body)
        headed = any(part.level == 2 for part in parts)
        for at, part in enumerate(parts):
            text, leading = self._without_index(part.text, path)
            title = at < 2 and part.level < 2  # before any section: the text below the file's title
            if not text.strip():
                if part.level == 2 and not leading:
                    yield Problem(path, part.line + shift, "empty", f"no text under {part.heading!r}: left out")
                continue
            pieces = [(text, part.line)] if headed and not title else _entries(text, part.text_line)
            for piece, line in pieces:
                written = settled(self._known.rewrite(piece, target))
                if not written:
                    continue
                heading = short_name(without_links(part.heading or ""))
                entry = len(pieces) > 1 or (not headed and _is_entry(text))
                if entry:
                    name = names.take_made(written)
                else:
                    name = names.take(heading or short_name(stem.rpartition("/")[2]) or "memory")
                yield ForeignItem(category, name, written, metadata, path, line + shift, named=not entry)

    def _without_index(self, text: str, path: str) -> tuple[str, int]:
        """The text without entries that lead to a topic, and how many those were."""
        shifted = "\n" + text
        pieces: list[str] = []
        done = leading = 0
        origin = NoteTarget(path, "", None)
        for block in scan(shifted):
            if block.kind != "item":
                continue
            link = _leads().match(shifted, block.content, block.end)
            goal = None if link is None else link[1] or link[2]
            if goal is None or "://" in goal:
                continue
            found = self._known.find(goal if "/" in goal or link is None or link[2] else f"./{goal}", origin)
            if found is not None and found is not origin:
                # Empty lines in its place: what follows keeps its line.
                pieces += (shifted[done : block.start], "\n" * shifted.count("\n", block.start, block.end))
                done = block.end
                leading += 1
        return "".join((*pieces, shifted[done:]))[1:], leading


def _entries(text: str, line: int) -> list[tuple[str, int]]:
    """The text cut into the entries of its lists, and what stands between them."""
    shifted = "\n" + text
    pieces: list[tuple[str, int]] = []
    loose: list[str] = []
    loose_line = 0
    for block in scan(shifted):
        here = shifted[block.start : block.end].strip("\n")
        if block.kind == "item":
            width = block.content - (shifted.rfind("\n", 0, block.content) + 1)
            first, *more = shifted[block.content : block.end].rstrip().split("\n")
            lines = [first, *(row[min(width, len(row) - len(row.lstrip(" "))) :] for row in more)]
            pieces.append(("\n".join(lines), line + block.line - 2))
        elif block.kind != "rule":
            loose_line = loose_line or line + block.line - 2
            loose.append(here)
    if loose:
        pieces.insert(0, ("\n\n".join(loose), loose_line))
    return [(piece, at) for piece, at in pieces if piece.strip()]


def _is_entry(text: str) -> bool:
    blocks = scan("\n" + text)
    return bool(blocks) and all(block.kind == "item" for block in blocks)
