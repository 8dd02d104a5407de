"""What tells whether a document is as it was indexed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memoranda.core.items import Category, Section
    from memoranda.core.model import Turn
    from memoranda.index.entries import Entry

__all__ = [
    "conversations",
    "fingerprint",
    "item_print",
    "passage_source",
    "section_source",
    "turn_print",
    "turn_source",
]


def fingerprint(label: str, raw: str) -> int:
    """64 bits that tell whether what a file holds of an entry is what was indexed."""
    import hashlib

    digest = hashlib.blake2b(f"{label}\0{raw}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def section_source(category: Category, section: Section) -> str:
    """What the file holds of an item, blank lines behind it aside: they change with the next item."""
    return category.text[section.start : section.end].rstrip()


def turn_source(turn: Turn) -> str:
    """What the file holds of a turn."""
    return f"{turn.ts}\0{turn.speaker}\0{turn.text}"


def passage_source(passage: Entry) -> str:
    """What is known of a passage: its text, and where it stands."""
    return f"{passage.citation}\0{passage.text}"


def item_print(category: Category, section: Section) -> int:
    """The fingerprint of an item."""
    return fingerprint(section.address_name, section_source(category, section))


def turn_print(turn: Turn) -> int:
    """The fingerprint of a turn."""
    return fingerprint(turn.turn, turn_source(turn))


def conversations(turns: Iterable[Turn]) -> dict[str, dict[str, tuple[Turn, int]]]:
    """The turns of a file that say something, by conversation and id, each with its place.

    Of one that comes twice the last counts. A turn without a text (a call of a
    tool, one that was forgotten) answers no question.
    """
    found: dict[str, dict[str, tuple[Turn, int]]] = {}
    for order, turn in enumerate(turns):
        said = found.setdefault(turn.conversation, {})
        said.pop(turn.turn, None)
        if turn.text and not turn.text.isspace():
            said[turn.turn] = (turn, order)
    return {conversation: said for conversation, said in found.items() if said}
