"""A vault of Obsidian: a folder of notes in markdown.

A note is a category by its path (``Folder/Note.md`` is ``Folder/Note``). Its
sections (headings of level 2, and of level 1 beside them) are its items; a note
without any is one item of the note's name, and so is the text before the first
section. What its properties say:

* ``created``, ``date created``, ``date`` ... become ``ts``, ``tags`` and ``aliases`` metadata of every item;
* all others but bookkeeping stand as ``key: value`` below the text of the note's own item, for they are
  often all that a note consists of.

Links between notes become addresses, embeds links; a link to what did not come
along becomes the text it shows. Hidden folders (``.obsidian``, ``.trash``) and the
folder of templates are left out, as are canvases, bases and attachments.
"""

from __future__ import annotations

import os
import re
from datetime import UTC
from functools import cache

from memoranda.adapters.importers.json_exports import decode_json
from memoranda.adapters.importers.legal_names import FreeNames, legal_category, short_name
from memoranda.adapters.importers.markdown_files import find_files, opened_source, read_text, source_name
from memoranda.adapters.importers.moments import moment
from memoranda.adapters.importers.note_text import parts_of, settled, without_empty_headings
from memoranda.adapters.importers.properties import first_of, read_properties, texts_of
from memoranda.adapters.importers.vault_links import NoteMap, NoteTarget, without_links
from memoranda.core.errors import BadName
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Problem
from memoranda.core.names import name_key
from memoranda.services.intake import ForeignItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from memoranda.adapters.importers.note_text import Part
    from memoranda.adapters.importers.properties import Properties
    from memoranda.core.metadata import Metadata

__all__ = ["read_obsidian"]

_CREATED = ("created", "date created", "created at", "created_at", "creation date", "date", "published")
_TAGS = ("tags", "tag")
_ALIASES = ("aliases", "alias")
# Of a note's appearance, or said by the note's place already.
_BOOKKEEPING = frozenset(
    {
        *_CREATED[:-1],
        *_TAGS,
        *_ALIASES,
        "cssclass",
        "cssclasses",
        "publish",
        "permalink",
        "date modified",
        "modified",
        "updated",
        "updated at",
        "updated_at",
        "last modified",
    }
)
_TEMPLATES = frozenset({"templates", "template", "_templates", "模板"})
_BLOCK_ID = r"(?m)(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$"


@cache
def _block_id() -> re.Pattern[str]:
    return re.compile(_BLOCK_ID)


class _Note:
    """One note that will be items: its parts by item name, and what is known of all of them."""

    __slots__ = ("metadata", "parts", "path", "shift", "target")

    def __init__(self, path: str, target: NoteTarget, metadata: Metadata, shift: int) -> None:
        self.path = path
        self.target = target
        self.metadata = metadata
        self.shift = shift
        self.parts: list[tuple[str, str, int]] = []


def read_obsidian(path: str, zone: tzinfo = UTC) -> Iterator[ForeignItem | Problem]:
    """Read a vault of Obsidian, a folder of it, or one note. ``zone`` is the one of times without an offset.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it is neither a folder nor a markdown file.
    """
    root, only = opened_source(path)
    templates = {} if only else _template_folders(root)
    notes: list[_Note] = []
    known = NoteMap()
    left_out = 0
    for found in find_files(root) if only is None else (only,):
        if isinstance(found, Problem):
            yield found
            continue
        if any(name_key(found).startswith(folder + "/") for folder in templates):
            left_out += 1
            continue
        text = read_text(root, found)
        if isinstance(text, Problem):
            yield text
            continue
        yield from _take(root, found, text, zone, notes, known)
    if left_out:
        yield Problem(", ".join(sorted(templates.values())), 0, "skipped", f"templates, not notes: {left_out} left out")
    for note in notes:
        for name, body, line in note.parts:
            written = known.rewrite(body, note.target)
            yield ForeignItem(note.target.category, name, written, note.metadata, note.path, line, named=True)


def _template_folders(root: str) -> dict[str, str]:
    """The folders that hold templates, by their keys: those that the vault's settings name, else those called so."""
    named: dict[str, str] = {}
    for place, key in (
        (".obsidian/templates.json", "folder"),
        (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
    ):
        text = read_text(root, place) if os.path.isfile(os.path.join(root, *place.split("/"))) else None
        settings = decode_json(text, place, 1) if isinstance(text, str) else None
        folder = settings.get(key) if isinstance(settings, dict) else None
        if isinstance(folder, str) and folder.strip(" /"):
            named[name_key(folder.strip(" /"))] = folder.strip(" /")
    if named:
        return named
    folders = [name for name in os.listdir(root) if name_key(name) in _TEMPLATES]
    return {name_key(name): name for name in folders if os.path.isdir(os.path.join(root, name))}


def _take(root: str, path: str, text: str, zone: tzinfo, notes: list[_Note], known: NoteMap) -> Iterator[Problem]:
    """Cut a note into what will be its items."""
    properties, start = read_properties(text)
    stem = path.rpartition(".")[0]
    title = stem.rpartition("/")[2]
    try:
        category = legal_category(stem)
    except BadName as error:
        yield Problem(path, 0, "bad-name", f"{error}: left out")
        return
    shift = text.count("\n", 0, start)
    body = text[start:].replace("\r\n", "\n").replace("\r", "\n")
    own, sections, empty = _cut(body, title)
    if name_key(first_of(properties, "title")) == name_key(title):
        del properties["title"]
    own = "\n\n".join(filter(None, (settled(own), _listed(properties))))
    name = short_name(title) or "note"
    target = NoteTarget(path, category, name if own else None)
    note = _Note(path, target, _described(source_name(root, path), properties, zone), shift)
    names = FreeNames([name] if own else [])
    if own:
        note.parts.append((name, own, 1))
        target.put(name, [title, *_inner_headings(body if not sections else own)], _block_id().findall(own))
    for part in sections:
        item = names.take(short_name(without_links(part.heading or "")) or f"{name} {part.line + shift}")
        note.parts.append((item, settled(part.text), part.line + shift))
        target.put(item, [part.heading or "", *part.within], _block_id().findall(part.text))
    if not note.parts:
        yield Problem(path, 0, "empty", "the note is empty: left out")
        return
    if empty:
        which = ", ".join(repr(part.heading) for part in empty[:3])
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        yield Problem(path, empty[0].line + shift, "empty", f"no text under {which}{more}: left out")
    if len(note.parts) == 1:
        target.item = note.parts[0][0]
    known.put(target)
    notes.append(note)


def _cut(body: str, title: str) -> tuple[str, list[Part], list[Part]]:
    """What the note itself says, its sections, and headings with nothing below them."""
    parts = parts_of(body)
    if not any(part.level == 2 for part in parts):
        return without_empty_headings(body, title), [], []
    own, *others = parts
    intro = own.text.strip("\n") if own.text.strip() else ""
    if others and others[0].level == 1 and not intro and name_key(others[0].heading or "") == name_key(title):
        intro = others.pop(0).text.strip("\n")
    sections = [part for part in others if settled(part.text)]
    # A title over sections of its own is not empty.
    empty = [
        part
        for at, part in enumerate(others)
        if not settled(part.text) and not (part.level == 1 and at + 1 < len(others) and others[at + 1].level == 2)
    ]
    return intro if intro.strip() else "", sections, empty


def _inner_headings(text: str) -> list[str]:
    return [heading for part in parts_of(text) for heading in (part.heading, *part.within) if heading]


def _listed(properties: Properties) -> str:
    """The properties that say something, a line each."""
    lines: list[str] = []
    for key, value in properties.items():
        shown = ", ".join(value) if isinstance(value, list) else " ".join(value.split())
        if shown and key not in _BOOKKEEPING and "{{" not in shown:
            lines.append(f"- {key}: {shown}")
    return "\n".join(lines)


def _described(source: str, properties: Properties, zone: tzinfo) -> Metadata:
    times = (moment(first_of(properties, key), zone) for key in _CREATED)
    values = {
        "source": f"obsidian/{source}",
        "ts": next(filter(None, times), None),
        "tags": ", ".join(tag.lstrip("#") for tag in texts_of(properties, *_TAGS)) or None,
        "aliases": ", ".join(texts_of(properties, *_ALIASES)) or None,
    }
    return EMPTY_METADATA.with_values(**{key: value for key, value in values.items() if value})
