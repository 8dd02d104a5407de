"""Links between the notes of a folder, as Obsidian and its kin write them, rewritten to addresses.

``[[note]]``, ``[[folder/note#heading]]``, ``[[note#^block|shown]]``, ``[[#heading]]``
and embeds ``![[...]]`` point at items here where their note came along; any
other becomes the text that it shows.
"""

from __future__ import annotations

from memoranda.core.links import find_links, format_link
from memoranda.core.names import name_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NoteMap", "NoteTarget", "without_links"]


def without_links(text: str) -> str:
    """The text with every link as what it shows: for headings, which become names."""
    pieces: list[str] = []
    done = 0
    for link in find_links(text):
        pieces += (text[done : link.start], _shown(text[link.start + 2 : link.end - 2]))
        done = link.end
    return "".join((*pieces, text[done:]))


class NoteTarget:
    """Where a note went: its category, the item that stands for the whole of it, and those of its headings and blocks.

    ``item`` is ``None`` where the category as a whole stands for the note.
    """

    __slots__ = ("anchors", "category", "item", "path")

    def __init__(self, path: str, category: str, item: str | None) -> None:
        self.path = path
        self.category = category
        self.item = item
        self.anchors: dict[str, str] = {}

    @property
    def folder(self) -> str:
        """The folder that the note is in."""
        return self.path.rpartition("/")[0]

    def put(self, item: str, headings: Iterable[str], blocks: Iterable[str] = ()) -> None:
        """Note that headings and block ids stand in an item; the first of several counts."""
        for heading in headings:
            self.anchors.setdefault(_heading_key(heading), item)
        for block in blocks:
            self.anchors.setdefault("^" + block.casefold(), item)

    def find(self, anchor: str) -> str | None:
        """The item that a heading (of a path of headings the last) or ``^block`` is in; else the note's own."""
        last = anchor.rpartition("#")[2].strip()
        key = last.casefold() if last.startswith("^") else _heading_key(last)
        return self.anchors.get(key, self.item)


def _heading_key(heading: str) -> str:
    # In a link, what would end it is left out of the heading.
    return name_key("".join(" " if character in "#|^[]:" else character for character in heading))


class NoteMap:
    """The notes of one folder by path and by name."""

    def __init__(self) -> None:
        self._by_path: dict[str, NoteTarget] = {}
        self._by_name: dict[str, list[NoteTarget]] = {}

    def put(self, target: NoteTarget, *names: str) -> None:
        """Add a note; ``names`` are what it may be called beside its path and its file's name."""
        stem = target.path.rpartition(".")[0]
        self._by_path.setdefault(name_key(stem), target)
        for key in dict.fromkeys(name_key(name) for name in (stem.rpartition("/")[2], *names)):
            self._by_name.setdefault(key, []).append(target)

    def find(self, name: str, origin: NoteTarget) -> NoteTarget | None:
        """The note of that path or name: of several the one in the same folder, else the one nearest to the top."""
        wanted = name.strip().strip("/").removesuffix(".md")
        if not wanted:
            return origin if not name.strip() else None
        folder = origin.folder
        if wanted.startswith(("./", "../")):
            wanted = _joined(folder, wanted)
        if found := self._by_path.get(name_key(wanted)):
            return found
        candidates = self._by_name.get(name_key(wanted), [])
        if not candidates and "/" in wanted:
            ending = "/" + name_key(wanted)
            named = self._by_name.get(name_key(wanted.rpartition("/")[2]), [])
            candidates = [one for one in named if name_key(one.path.rpartition(".")[0]).endswith(ending)]
        return min(candidates, key=lambda one: (one.folder != folder, one.path.count("/")), default=None)

    def rewrite(self, text: str, origin: NoteTarget) -> str:
        """The text with its links pointing at items, or as plain text; links in code stay as they are."""
        pieces: list[str] = []
        done = 0
        for link in find_links(text):
            inner = text[link.start + 2 : link.end - 2]
            start = link.start - 1 if text.startswith("!", link.start - 1) and link.start > done else link.start
            pieces += (text[done:start], self._written(inner, origin))
            done = link.end
        return "".join((*pieces, text[done:])) if pieces else text

    def _written(self, inner: str, origin: NoteTarget) -> str:
        path, bar, _ = inner.partition("|")
        escape = "\\" if bar and path.endswith("\\") else ""  # inside a table
        name, _, anchor = path.removesuffix("\\").partition("#")
        said = _shown(inner)
        target = self.find(name, origin)
        if target is None:
            return said
        item = target.find(anchor) if anchor else target.item
        link = format_link(target.category, item)
        return f"{link[:-2]}{escape}|{said}]]" if said else link


def _shown(inner: str) -> str:
    """What a reader sees of a link."""
    path, _, shown = inner.partition("|")
    said = shown.strip()
    if not said or said.replace("x", "").isdecimal():  # the size of a picture is no text
        said = " > ".join(part.strip() for part in path.removesuffix("\\").split("#") if part.strip())
    return said


def _joined(folder: str, relative: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in relative.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
