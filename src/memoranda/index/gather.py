"""From files to drafts: every document that they hold, with its terms and what tells whether it has changed."""

from __future__ import annotations

from memoranda.core.names import name_key
from memoranda.index.draft import Draft
from memoranda.index.entries import item_entry, library_of, passage_entry, turn_entry
from memoranda.index.fingerprints import conversations, passage_source, section_source, turn_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memoranda.core.addresses import Address
    from memoranda.core.items import Category
    from memoranda.core.model import Turn
    from memoranda.core.passages import Passage
    from memoranda.index.entries import Entry

__all__ = ["Drafts"]


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

    def add_document(self, corpus: str, document: str, relative: str, passages: Sequence[Passage]) -> int:
        """Take in a document as it was cut; how many passages it holds."""
        library = library_of(corpus)
        draft = self._draft("passage", library)
        parent = f"kb/{corpus}/{document}"
        draft.begin(parent, relative, f"{parent}#", library)
        for passage in passages:
            entry = passage_entry(corpus, document, passage, relative)
            draft.add(entry, passage_source(entry), self._terms_of(entry))
        return len(passages)

    def _draft(self, level: str, scope: str) -> Draft:
        home = (level, name_key(scope))
        if home not in self._made:
            self._made[home] = Draft(*home)
        return self._made[home]
