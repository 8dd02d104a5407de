"""The memory folder of wikimem: ``## name`` sections, and a diary by day.

::

    wiki/<category>.md (also memory/<category>.md, or the files directly)
    diary/YYYY-MM-DD.md     with ## HH:MM entries, in local time

Of wiki entries with one name its own program shows the last. Here the last
keeps the name and the earlier ones get ``-2``, ``-3`` and a problem each. In a
diary two entries of one minute are two events. Text that belongs to no entry
is reported with its place.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime, time
from functools import cache

from memoranda.adapters.importers.legal_names import FreeNames, legal_category, legal_name
from memoranda.adapters.importers.markdown_files import find_files, opened_source, read_text
from memoranda.core.errors import BadName
from memoranda.core.items import parse
from memoranda.core.model import Problem
from memoranda.core.names import clean_name, name_key
from memoranda.services.intake import ForeignItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from memoranda.core.items import Category, Section
    from memoranda.core.metadata import Metadata

__all__ = ["read_wikimem"]

_LAYOUT = ("memory", "wiki", "diary")
_INDEX = "MEMORY.md"
_PASSED_ON = frozenset({"metadata", "merge-marker", "unclosed"})


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


_TIME = r"(\d{1,2})[:：](\d{2})(?:[:：](\d{2}))?\Z"
_GENERATED = r"(?i)<!--(?:(?!-->)[\s\S]){0,400}?(?:generated|do not edit|自动生成)|<!--\s*memoranda:(?:index|begin)"
_TITLE_OR_BLANK = r"[ \t\ufeff]*(?:#(?:[ \t].*)?|<!--.*-->[ \t]*)?\Z"


def _day(stem: str) -> date | None:
    try:
        return date.fromisoformat(stem)
    except ValueError:
        return None


def _moment(day: date, heading: str, zone: tzinfo) -> tuple[str, str | None]:
    """The name and the time (ISO 8601) of a diary entry; a heading that is no time gives the day alone."""
    found = _pattern(_TIME).match(heading.strip())
    try:
        at = time(int(found[1]), int(found[2]), int(found[3] or 0)) if found else None
    except ValueError:
        at = None
    if at is None:
        return heading, day.isoformat()
    moment = datetime.combine(day, at, zone).astimezone(UTC)
    shown = at.strftime("%H:%M:%S" if found and found[3] else "%H:%M")
    return shown, moment.replace(tzinfo=None).isoformat() + "Z"


def _loose_text(category: Category, path: str) -> Iterator[Problem]:
    """Text beside the entries that says more than a title."""
    text = category.text
    done = 0
    for start, end in [*((s.start, s.end) for s in category.sections), (len(text), len(text))]:
        lines = text[done:start].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        loose = [n for n, line in enumerate(lines) if not _pattern(_TITLE_OR_BLANK).match(line)]
        if loose:
            before = text[:done].replace("\r\n", "\n").replace("\r", "\n").count("\n")
            what = f"{len(loose)} line{'s' if len(loose) > 1 else ''} of text"
            yield Problem(path, before + loose[0] + 1, "no-entry", f"{what} under no '##' heading: not imported")
        done = end


def _headings(category: Category) -> list[tuple[Section, str]]:
    """Level-2 sections with their headings, in file order."""
    return [(section, section.name.strip()) for section in category.sections if section.form == "section"]


def _wiki_entries(category: Category, where: str, path: str) -> Iterator[ForeignItem | Problem]:
    entries = [(section, heading, legal_name(heading)) for section, heading in _headings(category)]
    last = {name_key(name): section for section, _, name in entries if name is not None}
    names = FreeNames([name for _, _, name in entries if name is not None])
    for section, heading, name in entries:
        if name is None:
            yield ForeignItem(where, None, section.text, section.metadata, path, section.line)
            continue
        if name != clean_name(heading):
            yield Problem(path, section.line, "bad-name", f"{heading!r} cannot be a name: imported as {name!r}")
        shown = last[name_key(name)]
        if shown is section:
            yield ForeignItem(where, name, section.text, section.metadata, path, section.line)
            continue
        message = f"{heading!r} stands again in line {shown.line}, which is the one that counts"
        if shown.text == section.text:
            yield Problem(path, section.line, "duplicate", f"{message}; the text is the same, so it is left out")
            continue
        other = names.free(name)
        yield Problem(path, section.line, "duplicate", f"{message}; this one is imported as {other!r}")
        yield ForeignItem(where, other, section.text, section.metadata, path, section.line)


def _diary_entries(
    category: Category, where: str, path: str, day: date, zone: tzinfo
) -> Iterator[ForeignItem | Problem]:
    moments = [(section, *_moment(day, heading, zone)) for section, heading in _headings(category)]
    names = FreeNames([name for _, name, _ in moments])
    seen: set[str] = set()
    for section, heading, ts in moments:
        name = legal_name(heading)
        if name is not None and name_key(name) in seen:
            name = names.free(name)
        elif name is not None:
            seen.add(name_key(name))
        metadata: Metadata = section.metadata
        if not metadata.ts:
            metadata = metadata.with_values(ts=ts)
        yield ForeignItem(where, name, section.text, metadata, path, section.line)


def _markdown_files(root: str) -> Iterator[str | Problem]:
    """Paths relative to ``root`` of the markdown files that may hold memory, sorted; then what could not be read."""
    laid_out = any(os.path.isdir(os.path.join(root, name)) for name in _LAYOUT)
    for path in find_files(root, suffixes=(".md",)):
        if isinstance(path, Problem) or not laid_out or path == _INDEX or path.split("/")[0] in _LAYOUT:
            yield path


def _entries(text: str, path: str, in_diary: bool, zone: tzinfo) -> Iterator[ForeignItem | Problem]:
    parts = path.split("/")
    if parts[-1] == _INDEX and _pattern(_GENERATED).search(text):
        yield Problem(path, 0, "skipped", "a generated index, not memory: left out")
        return
    category = parse(text)
    for line, kind, message in category.problems:
        if kind in _PASSED_ON:
            yield Problem(path, line, kind, message)
    while len(parts) > 1 and parts[0] in ("memory", "wiki"):
        parts = parts[1:]
    stem = parts[-1][: -len(".md")]
    day = _day(stem) if in_diary or parts[0] == "diary" else None
    if not _headings(category):
        yield Problem(path, 0, "skipped", "no '##' entry in it: nothing to import")
        return
    yield from _loose_text(category, path)
    if day is not None:
        yield from _diary_entries(category, f"diary/{day.isoformat()}", path, day, zone)
        return
    wanted = "memory" if parts[-1] == _INDEX else "/".join([*parts[:-1], stem])
    try:
        where = legal_category(wanted)
    except BadName as error:
        yield Problem(path, 0, "bad-name", f"{error}: left out")
        return
    if where != clean_name(wanted):
        yield Problem(path, 0, "bad-name", f"{wanted!r} cannot be a category: imported as {where!r}")
    yield from _wiki_entries(category, where, path)


def read_wikimem(path: str, zone: tzinfo = UTC) -> Iterator[ForeignItem | Problem]:
    """Read a wikimem folder (or one of its files). The source is only read, links out of it are not followed.

    ``zone`` is the one whose wall clock the diary's headings show; it serves
    only entries whose comment holds no ``ts``.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it is neither a folder nor a markdown file.
    """
    root, only = opened_source(path, (".md",))
    in_diary = os.path.basename(root) == "diary"
    for found in _markdown_files(root) if only is None else (only,):
        if isinstance(found, Problem):
            yield found
            continue
        text = read_text(root, found)
        if isinstance(text, Problem):
            yield text
        else:
            yield from _entries(text, found, in_diary, zone)
