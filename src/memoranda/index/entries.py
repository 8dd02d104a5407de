"""What can be retrieved: an item, a turn or a passage as the index holds it, its keys and its searched text."""

from __future__ import annotations

import re

from memoranda.core.links import find_links
from memoranda.core.metadata import EMPTY_METADATA, Metadata
from memoranda.core.names import content_hash, name_key
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memoranda.core.items import Section
    from memoranda.core.links import Link
    from memoranda.core.model import Level, Turn
    from memoranda.core.passages import Passage

__all__ = [
    "ASKS",
    "HEADINGS",
    "PLACE",
    "Entry",
    "Key",
    "address_key",
    "encode_key",
    "fold_exact",
    "indexed_terms",
    "item_entry",
    "library_of",
    "link_keys",
    "passage_entry",
    "searchable_text",
    "turn_entry",
    "when",
]

#: The term of texts that end in a question. No analysis gives it, so that no query asks for it.
ASKS = "?"

#: What two addresses of the same thing have in common: category with its scope, and name.
Key = tuple[str, str]

#: The metadata of a passage: the headings that it stands under, and its page, slide or sheet.
HEADINGS, PLACE = "headings", "place"

_SCOPED = ("user/", "agent/", "project/")
_ORDERED = ("turn/", "kb/")
_COLON = "[:：]"
_QUESTION_MARKS = ("?", "？", "؟", "⁇", "⁈")
_AFTER_QUESTION = " \t\r\n\"'”’»)]}）」』】》*_~!！.…"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is ranked: an item, a turn or a passage.

    ``citation`` says where a person finds it (``memory/preferences.md:7``);
    ``order`` and ``parent`` place what belongs to a sequence.
    """

    address: str
    level: Level
    scope: str
    category: str
    name: str
    text: str
    hash: str
    metadata: Metadata = EMPTY_METADATA
    links: tuple[Link, ...] = ()
    citation: str = ""
    speaker: str = ""
    ts: str = ""
    order: int = 0
    parent: str = ""


def address_key(address: str) -> Key:
    """The key of an address: of an item, a turn (``turn/c#4``) or a passage (``kb/c/doc#3``)."""
    if address.startswith(_ORDERED):
        category, _, name = address.rpartition("#")
        return (category, name)  # ids compare as written
    category, *rest = re.split(_COLON, address, maxsplit=1)
    name = rest[0] if rest else ""
    return (name_key(category).removeprefix("shared/"), name_key(name).removeprefix("^"))


def when(entry: Entry) -> str:
    """When it was said or happened; of what holds from some time on, that time."""
    return entry.metadata.valid_from or entry.ts


def encode_key(key: Key) -> bytes:
    """An entry's key as tables hold it."""
    return f"{key[0]}\0{key[1]}".encode("utf-8", "surrogatepass")


def link_keys(category: str, item: str, source: Entry) -> tuple[Key, ...]:
    """Where a link written in ``source`` may lead, first choice first; the last one is as written.

    Without a scope it means the source's own scope, then shared memory; without
    a category, the source's own category.
    """
    if category.startswith(_ORDERED):
        return ((category, item),)
    name = name_key(item).removeprefix("^")
    path = name_key(category)
    if not path:
        return ((address_key(source.address)[0], name),)
    if path.startswith("shared/"):
        return ((path.removeprefix("shared/"), name),)
    own = name_key(source.scope)
    if own == "shared" or (path.startswith(_SCOPED) and path.count("/") > 1):
        return ((path, name),)
    return ((f"{own}/{path}", name), (path, name))


def searchable_text(entry: Entry) -> str:
    """What is searched of an entry: its name, headings or speaker, then its text with links as they are shown."""
    text = entry.text
    for link in reversed(entry.links):
        if link.shown and text.startswith("[[", link.start):
            text = f"{text[: link.start]}{link.shown}{text[link.end :]}"
    if entry.level == "passage":
        return f"{entry.metadata.get(HEADINGS) or ''}\n{text}"
    if entry.speaker:
        return f"{entry.speaker}: {text}"
    # A name made of a hash, and the number of a turn or passage, say nothing.
    named = entry.level == "item" and not entry.name.startswith("~")
    return f"{entry.name.removeprefix('^')}\n{text}" if named else text


def indexed_terms(entry: Entry, analyzer: Callable[[str], Sequence[str]]) -> Sequence[str]:
    """The terms of an entry: those of its searched text, and :data:`ASKS` if it ends in a question."""
    terms = analyzer(searchable_text(entry))
    return [*terms, ASKS] if entry.text.rstrip(_AFTER_QUESTION).endswith(_QUESTION_MARKS) else terms


def fold_exact(text: str) -> str:
    """Text as exact search compares it: NFKC, case folded."""
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def item_entry(category: str, name: str, scope: str, section: Section, relative: str) -> Entry:
    """The entry of an item in the corpus; ``category`` is its category with the scope in front."""
    metadata = section.metadata
    text = section.text
    return Entry(
        address=f"{category}:{name}",
        level="item",
        scope=scope,
        category=category,
        name=name,
        text=text,
        hash=section.hash,
        metadata=metadata,
        links=find_links(text) if "[[" in text else (),
        citation=f"{relative}:{section.line}",
        ts=metadata.ts or "",
        order=section.line,
        parent=category,
    )


def turn_entry(turn: Turn, order: int) -> Entry:
    """The entry of a turn in the corpus."""
    address = f"turn/{turn.conversation}#{turn.turn}"
    return Entry(
        address=address,
        level="resource",
        scope="shared",
        category=turn.conversation,
        name="",
        text=turn.text,
        hash=content_hash(turn.text),
        metadata=EMPTY_METADATA,
        links=(),
        citation=address,
        speaker=turn.speaker,
        ts=turn.ts,
        order=order,
        parent=turn.conversation,
    )


def library_of(corpus: str) -> str:
    """The scope of a corpus's partition: its statistics are its own."""
    return name_key(f"kb/{corpus}")


def passage_entry(corpus: str, document: str, passage: Passage, relative: str) -> Entry:
    """The entry of a passage of a document, whose file is ``relative``."""
    parent = f"kb/{corpus}/{document}"
    said = (HEADINGS, " › ".join(passage.path)), (PLACE, passage.place)
    lines = f"{passage.first_line}-{passage.last_line}"
    where = ", ".join(filter(None, (said[0][1], passage.place)))
    return Entry(
        address=f"{parent}#{passage.id}",
        level="passage",
        scope=library_of(corpus),
        category=f"{corpus}/{document}",
        name="",
        text=passage.text,
        hash=content_hash(passage.text),
        metadata=Metadata(tuple(pair for pair in said if pair[1])),
        links=find_links(passage.text) if "[[" in passage.text else (),
        citation=f"{relative}:{lines}" + (f" ({where})" if where else ""),
        order=passage.order,
        parent=parent,
    )
