"""What of an entry is embedded, and what tells whether that has changed."""

from __future__ import annotations

from memoranda.core.names import name_key
from memoranda.core.vectors import VectorRow
from memoranda.index.entries import when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.index.entries import Entry

__all__ = ["digest_of", "embedded_text", "home_of", "parent_of", "row_of"]

_SPACES = str.maketrans("-_", "  ")


def embedded_text(entry: Entry) -> str:
    """Of an item its name in words and its text, of a turn when and by whom it was said, of a passage its text.

    A date and a speaker in front are what a model needs to tell one turn of a
    conversation from the next; links stand there as the words that they show.
    """
    text = entry.text
    for link in reversed(entry.links):
        if text.startswith("[[", link.start):
            shown = link.shown or (link.item or link.category).removeprefix("^").translate(_SPACES)
            text = f"{text[: link.start]}{shown}{text[link.end :]}"
    if entry.level == "item":
        named = entry.name and not entry.name.startswith(("~", "^"))
        return f"{entry.name.translate(_SPACES)}: {text}" if named else text
    day = when(entry)[:10]
    said = f"{entry.speaker}: {text}" if entry.speaker else text
    return f"[{day}] {said}" if day else said


def digest_of(text: str) -> str:
    """32 hexadecimal digits that tell what was embedded."""
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def home_of(level: str, scope: str) -> str:
    """The home of what belongs to a level and scope."""
    return f"{level} {name_key(scope)}"


def parent_of(entry: Entry) -> str:
    """What an entry belongs to: its category, or its conversation or document as no category is named."""
    if entry.level == "item":
        return name_key(entry.parent)
    return entry.address.rpartition("#")[0]


def row_of(entry: Entry, text: str) -> VectorRow:
    """The row under which the vector of ``text`` is kept."""
    return VectorRow(entry.address, parent_of(entry), home_of(entry.level, entry.scope), digest_of(text))
