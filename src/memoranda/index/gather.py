"""From a file to the entries it holds, each with what tells whether it has changed."""

from __future__ import annotations

from memoranda.core.names import name_key
from memoranda.index.draft import Draft, fingerprint
from memoranda.index.entries import item_entry, turn_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memoranda.core.addresses import Address
    from memoranda.core.items import Category, Section
    from memoranda.core.model import Turn
    from memoranda.index.entries import Entry

__all__ = ["Drafts", "conversations", "item_print", "section_source", "turn_print", "turn_source"]


def section_source(category: Category, section: Section) -> str:
    """What the file holds of an item, blank lines behind it aside: they change with the next item."""
    return category.text[section.start : section.end].rstrip()


def turn_source(turn: Turn) -> str:
    """What the file holds of a turn."""
    return f"{turn.ts}\0{turn.speaker}\0{turn.text}"


def item_print(category: Category, section: Section) -> int:
    """The fingerprint of an item."""
    return fingerprint(section.address_name, section_source(category, section))


def turn_print(turn: Turn) -> int:
    """The fingerprint of a turn."""
    return fingerprint(turn.turn, turn_source(turn))


def conversations(turns: Iterable[Turn]) -> dict[str, dict[str, tuple[Turn, int]]]:
    """The turns of a file by conversation and id, each with its place; of one that comes twice the last counts."""
    found: dict[str, dict[str, tuple[Turn, int]]] = {}
    for order, turn in enumerate(turns):
        if not turn.forgotten:
            said = found.setdefault(turn.conversation, {})
            said.pop(turn.turn, None)
            said[turn.turn] = (turn, order)
    return found


class Drafts:
    """Gathers files into drafts, one for each partition."""

    def __init__(self, terms_of: Callable[[Entry], Sequence[str]]) -> None:
        self._terms_of = terms_of
        self._made: dict[tuple[str, str], Draft] = {}

    def all(self) -> list[Draft]:
        """What was gathered."""
        return list(self._made.values())

    def add_category(self, address: Address, relative: str, category: Category) -> int:
        """Take in a category file; how many items it holds."""
        draft = self._draft("item", str(address.scope))
        name = address.scope.prefix + address.category
        draft.begin(name, relative, f"{name}:", str(address.scope))
        scope = str(address.scope)
        for section in category.sections:
            entry = item_entry(name, section.address_name, scope, section, relative)
            draft.add(entry, section_source(category, section), self._terms_of(entry))
        return len(category.sections)

    def add_turns(self, relative: str, turns: Iterable[Turn]) -> int:
        """Take in a file of turns; how many it holds."""
        draft = self._draft("resource", "shared")
        before = len(draft)
        for conversation, said in conversations(turns).items():
            draft.begin(conversation, relative, f"turn/{conversation}#", "shared")
            for turn, order in said.values():
                entry = turn_entry(turn, order)
                draft.add(entry, turn_source(turn), self._terms_of(entry))
        return len(draft) - before

    def _draft(self, level: str, scope: str) -> Draft:
        home = (level, name_key(scope))
        if home not in self._made:
            self._made[home] = Draft(*home)
        return self._made[home]
