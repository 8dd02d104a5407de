"""A project of Basic Memory: a folder of markdown notes with observations and relations.

::

    ---
    title: Coffee
    type: note
    ---
    ## Observations
    - [method] Pour over keeps the flavour #brewing (at home)
    ## Relations
    - requires [[Grinding]]

A note's folder is its category, or its ``type`` where it is in none. Each
observation is an item there, its word in brackets the item's type, with a link
to the note's own item. That one has the note's title, and everything in it
that is no observation: its relations too, whose links point at the notes' items.
"""

from __future__ import annotations

import re
from datetime import UTC
from functools import cache

from memoranda.adapters.importers.legal_names import FreeNames, legal_category, short_name
from memoranda.adapters.importers.markdown_files import find_files, opened_source, read_text
from memoranda.adapters.importers.moments import moment
from memoranda.adapters.importers.note_text import settled, without_empty_headings
from memoranda.adapters.importers.properties import first_of, read_properties, texts_of
from memoranda.adapters.importers.vault_links import NoteMap, NoteTarget
from memoranda.core.errors import BadName
from memoranda.core.links import format_link
from memoranda.core.markdown import scan
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Problem
from memoranda.core.records import dataclass
from memoranda.services.intake import ForeignItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from memoranda.adapters.importers.properties import Properties

__all__ = ["read_basic_memory"]

_OBSERVATION = r"\[([^\[\]()\n]{1,80})\][ \t]+(?=\S)"
_TASKS = frozenset({"", "x", "-", "/", "?", "!", ">"})
_TIMES = ("created", "created_at", "date")


@cache
def _observation() -> re.Pattern[str]:
    return re.compile(_OBSERVATION)


@dataclass(frozen=True, slots=True)
class _Observation:
    """One observation: its word in brackets, what it says, and its line in the file."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class _Note:
    """One note: where it goes, what it says beside its observations, and what is known of all of it."""

    path: str
    title: str
    target: NoteTarget
    own: str
    line: int
    observations: tuple[_Observation, ...]
    values: dict[str, str | None]
    tags: str


def read_basic_memory(path: str, zone: tzinfo = UTC) -> Iterator[ForeignItem | Problem]:
    """Read the folder of a project, or one note. ``zone`` is the one of times without an offset.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it is neither a folder nor a markdown file.
    """
    root, only = opened_source(path)
    names: dict[str, FreeNames] = {}
    known = NoteMap()
    notes: list[_Note] = []
    for found in find_files(root) if only is None else (only,):
        note = found if isinstance(found, Problem) else _note(root, found, zone, names)
        if isinstance(note, Problem):
            yield note
            continue
        known.put(note.target, note.title, note.values["permalink"] or note.title)
        notes.append(note)
    for note in notes:
        yield from _items(note, known, names[note.target.category])


def _note(root: str, path: str, zone: tzinfo, names: dict[str, FreeNames]) -> _Note | Problem:
    text = read_text(root, path)
    if isinstance(text, Problem):
        return text
    properties, start = read_properties(text)
    stem = path.rpartition(".")[0]
    title = first_of(properties, "title") or stem.rpartition("/")[2]
    kind = first_of(properties, "type") or "note"
    try:
        category = legal_category(stem.rpartition("/")[0] or kind.replace("/", "-"))
    except BadName as error:
        return Problem(path, 0, "bad-name", f"{error}: left out")
    shift = text.count("\n", 0, start)
    rest, observations = _parted(text[start:].replace("\r\n", "\n").replace("\r", "\n"), shift)
    own = settled(without_empty_headings(rest, title))
    if not own and not observations:
        return Problem(path, 0, "empty", "the note is empty: left out")
    taken = names.setdefault(category, FreeNames())
    item = taken.take(short_name(title) or "note") if own else None
    return _Note(
        path,
        title,
        NoteTarget(path, category, item),
        own,
        shift + 1,
        tuple(observations),
        _described(path, title, properties, zone),
        ", ".join(tag.lstrip("#") for tag in texts_of(properties, "tags")),
    )


def _parted(body: str, shift: int) -> tuple[str, list[_Observation]]:
    """The text without its observations, and those; both anywhere in the note but in code."""
    shifted = "\n" + body
    observations: list[_Observation] = []
    pieces: list[str] = []
    done = 0
    for block in scan(shifted):
        if block.kind != "item":
            continue
        mark = _observation().match(shifted, block.content, block.end)
        if mark is None or mark[1].strip().casefold() in _TASKS:
            continue
        width = block.content - (shifted.rfind("\n", 0, block.content) + 1)
        first, *more = shifted[mark.end() : block.end].rstrip().split("\n")
        lines = [first, *(line[min(width, len(line) - len(line.lstrip(" "))) :] for line in more)]
        if text := settled("\n".join(lines)):
            observations.append(_Observation(mark[1].strip(), text, block.line - 1 + shift))
        pieces.append(shifted[done : block.start])
        done = block.end
    return "".join((*pieces, shifted[done:])).strip("\n"), observations


def _described(path: str, title: str, properties: Properties, zone: tzinfo) -> dict[str, str | None]:
    times = (moment(first_of(properties, key), zone) for key in _TIMES)
    permalink = first_of(properties, "permalink")
    return {
        "source": f"basic-memory/{permalink or path}",
        "ts": next(filter(None, times), None),
        "type": first_of(properties, "type") or None,
        "note": " ".join(title.split()),
        "permalink": permalink or None,
    }


def _items(note: _Note, known: NoteMap, names: FreeNames) -> Iterator[ForeignItem]:
    target = note.target
    shared = {key: value for key, value in note.values.items() if value and key != "permalink"}
    if target.item is not None:
        values = {key: value for key, value in shared.items() if key != "note"}
        metadata = EMPTY_METADATA.with_values(**values, **({"tags": note.tags} if note.tags else {}))
        text = known.rewrite(note.own, target)
        yield ForeignItem(target.category, target.item, text, metadata, note.path, note.line, named=True)
    for one in note.observations:
        text = known.rewrite(one.text, target)
        name = names.take_made(text)
        if target.item is not None:
            text = f"{text}{_joint(text)}{format_link(target.category, target.item)}"
        metadata = EMPTY_METADATA.with_values(**{**shared, "type": one.kind})
        yield ForeignItem(target.category, name, text, metadata, note.path, one.line)


def _joint(text: str) -> str:
    """What goes between a text and the link behind it: of several lines the last may be a list or a fence."""
    return "\n\n" if "\n" in text else " "
