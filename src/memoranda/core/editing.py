"""Changes to one category file that touch only the slices they mean to change."""

from __future__ import annotations

from memoranda.core.assembly import assemble
from memoranda.core.bodies import check_body, read_body, with_block_id
from memoranda.core.edits import Edit, splice
from memoranda.core.errors import BadText, ChangedUnderneath, NameTaken, NotFound
from memoranda.core.items import parse
from memoranda.core.names import check_item_name, content_hash, is_item_name, name_key
from memoranda.core.pending import Pending, written_block
from memoranda.core.records import dataclass
from memoranda.core.sections import Section
from memoranda.core.verification import verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.bodies import Body
    from memoranda.core.metadata import Metadata
    from memoranda.core.sections import Category

__all__ = ["CategoryEditor", "CurrentItem", "Edit", "check_body", "splice"]


@dataclass(frozen=True, slots=True)
class CurrentItem:
    """An item as it stands, pending changes included. ``name`` is what it is addressed by."""

    name: str
    text: str
    metadata: Metadata
    hash: str


class CategoryEditor:
    """Collects changes to one category against the text it was parsed from.

    Every operation costs time for its own item only; :meth:`edits` costs one
    pass, and checks that the new file holds just what was meant.
    """

    def __init__(self, category: Category, title: str) -> None:
        self._category = category
        self._title = title
        self._items: dict[int, Pending] = {}  # by the section's start
        self._added: list[Pending] = []
        self._by_key: dict[str, Pending | None] = {}  # over category.find; None: no longer there
        self._by_text: dict[str, list[Section | Pending]] | None = None
        self._asked = False
        self._hidden: dict[str, list[Section]] | None = None
        self._numbers: dict[str, int] = {}
        self._listed = 0
        self._done: tuple[Edit, ...] | None = None
        self._as_blocks = not category.headed and bool(category.sections)

    def get(self, name: str) -> CurrentItem | None:
        """The item of that name as it stands now; ``None`` if there is none."""
        found = self._find(name)
        if found is None:
            return None
        address = found.address_name if isinstance(found, Section) else found.address
        return CurrentItem(address, found.text, found.metadata, content_hash(found.text))

    def find_text(self, text: str, owner: str | None, *, any_owner: bool = False) -> str | None:
        """The address of an item of the same (or any) owner with the same text, but for white space and NFC."""
        if self._by_text is None and not self._asked:
            # The first question, most often the only one, is mostly answered by a search of the file.
            self._asked = True
            if not self._items and not self._added and not _may_hold(self._category.text, text):
                return None
        if self._by_text is None:
            self._by_text = {}
            for section in self._category.sections:
                self._note_text(self._items.get(section.start) or section)
            for item in self._added:
                self._note_text(item)
        wanted = _collapsed(text)
        for candidate in self._by_text.get(wanted, ()):
            now = candidate
            if isinstance(candidate, Section):
                now = self._items.get(candidate.start, candidate)
            if isinstance(now, Pending) and (now.removed or _collapsed(now.text) != wanted):
                continue
            if any_owner or now.metadata.owner == owner:
                return now.address if isinstance(now, Pending) else now.address_name
        return None

    def name_of(self, text: str) -> str | None:
        """The address of an item with exactly this text, one changed here first."""
        wanted = read_body(text).text
        for item in reversed([*self._items.values(), *self._added]):
            if not item.removed and item.text == wanted:
                return item.address
        for section in self._category.sections:
            if section.start not in self._items and section.text == wanted:
                return section.address_name
        return None

    def free_name(self, wanted: str) -> str:
        """``wanted`` if no item has that name, else ``wanted-2``, ``wanted-3`` ..."""
        clean = check_item_name(wanted)
        if self._find(clean) is None:
            return clean
        key = name_key(clean)
        number = self._numbers.get(key, 2)
        while self._find(f"{clean}-{number}") is not None:
            number += 1
        self._numbers[key] = number
        return f"{clean}-{number}"

    def add(self, name: str, text: str, metadata: Metadata) -> None:
        """Append an item.

        Raises:
            BadName: it cannot be a name.
            NameTaken: the category has an item of that name.
            BadText: the text would change the items around it.
            ChangedUnderneath: the file ends within an open fence or comment.
        """
        clean = check_item_name(name)
        if self._find(clean) is not None:
            raise NameTaken(f"the name {clean!r} is taken")
        self._check_end()
        body = check_body(text)
        item = Pending(None, clean, clean, body.text, metadata)
        item.put_text(body)
        if self._as_blocks:
            self._as_block(item)
        self._changed()
        self._added.append(item)
        self._by_key[self._category.key(clean)] = item
        if self._by_text is not None:
            self._note_text(item)

    def replace(self, name: str, text: str, metadata: Metadata | None = None) -> None:
        """Give an item another text, and other metadata if any is given.

        Raises:
            NotFound: there is no such item.
            BadText: the text would change the items around it.
        """
        body = check_body(text)
        self._put_text(self._pending(name), body, metadata, relinked=False)

    def relink(self, name: str, text: str) -> None:
        """Give an item the same text with other links, line by line where that is possible.

        Unlike :meth:`replace` it lets pass whatever else a person wrote there.

        Raises:
            NotFound: there is no such item.
        """
        self._put_text(self._pending(name), read_body(text), None, relinked=True)

    def set_metadata(self, name: str, metadata: Metadata) -> None:
        """Give an item other metadata; its comment keeps what does not change.

        Raises:
            NotFound: there is no such item.
            ChangedUnderneath: the item ends within an open fence or comment.
        """
        item = self._pending(name)
        if item.section is self._last_open() and item.section is not None and metadata != item.metadata:
            self._check_end()
        item.metadata = metadata
        self._changed()

    def rename(self, name: str, new_name: str) -> None:
        """Give an item another name.

        Raises:
            NotFound: there is no such item.
            BadName: it cannot be a name.
            NameTaken: another item has that name.
        """
        clean = check_item_name(new_name)
        item = self._pending(name)
        holder = self._find(clean)
        if holder is not None and holder is not item:
            raise NameTaken(f"the name {clean!r} is taken")
        old = self._key_of(item)
        item.put_name(clean)
        if item.section is None and self._as_blocks:
            self._as_block(item)
        if old != self._category.key(clean):
            self._free(old)
        self._by_key[self._category.key(clean)] = item
        self._changed()

    def remove(self, name: str) -> None:
        """Take an item out; every byte of its neighbours stays.

        Raises:
            NotFound: there is no such item.
        """
        item = self._pending(name)
        item.removed = True
        self._free(self._key_of(item))
        self._changed()

    def text(self) -> str:
        """The whole file after all changes. Raises what :meth:`edits` raises."""
        return splice(self._category.text, self.edits())

    def edits(self) -> tuple[Edit, ...]:
        """The changes as edits of the text that was parsed: in order, without overlap, additions last.

        Raises:
            BadText: the new file would not hold just what was meant.
        """
        if self._done is not None:
            return self._done
        category = self._category
        index_of = {section.start: index for index, section in enumerate(category.sections)}
        changed = {index_of[start]: item for start, item in self._items.items()}
        added = [item for item in self._added if not item.removed]
        edits = assemble(category, self._title, changed, added)
        verify(category, edits, changed, added)
        self._done = tuple(edits)
        return self._done

    def _changed(self) -> None:
        self._done = None

    def _find(self, name: str) -> Section | Pending | None:
        key = self._category.key(name)
        if key in self._by_key:
            return self._by_key[key]
        section = self._category.find(name)
        return None if section is None else self._items.get(section.start, section)

    def _pending(self, name: str) -> Pending:
        found = self._find(name)
        if found is None:
            raise NotFound(f"there is no item {name!r}")
        return self._item_of(found) if isinstance(found, Section) else found

    def _item_of(self, section: Section) -> Pending:
        item = self._items.get(section.start)
        if item is None:
            item = self._items[section.start] = Pending.of(section)
        return item

    def _key_of(self, item: Pending) -> str:
        return self._category.key(item.address)

    def _free(self, key: str) -> None:
        """Nobody has the name any more, unless a second item of that name was hidden behind the first."""
        self._by_key[key] = None
        if self._hidden is None:
            self._hidden = {}
            for section in self._category.sections:
                if section.name and section.address_name.startswith("~") and is_item_name(section.name):
                    self._hidden.setdefault(self._category.key(section.name), []).append(section)
        for section in self._hidden.get(key, ()):
            item = self._item_of(section)
            if not item.removed and not item.renamed:
                item.unhide()
                self._by_key[key] = item
                return

    def _put_text(self, item: Pending, body: Body, metadata: Metadata | None, *, relinked: bool) -> None:
        old = self._key_of(item)
        item.put_text(body, relinked=relinked)
        if metadata is not None:
            item.metadata = metadata
        if item.section is None and self._as_blocks:
            self._as_block(item)
        if self._key_of(item) != old:
            # Addressed by the hash of its text: the old address keeps working in this editor.
            self._by_key[old] = item
            base, number = item.address, 1
            while (holder := self._find(item.address)) is not None and holder is not item:
                number += 1
                item.address = f"{base}-{number}"
            self._by_key[self._key_of(item)] = item
        if self._by_text is not None:
            self._note_text(item)
        self._changed()

    def _note_text(self, item: Section | Pending) -> None:
        assert self._by_text is not None
        self._by_text.setdefault(_collapsed(item.text), []).append(item)

    def _last_open(self) -> Section | None:
        """The item in which a fence or comment is open to the end of the file."""
        category = self._category
        last = category.sections[-1] if category.sections else None
        if last is None or category.open_at is None or not last.start <= category.open_at < last.end:
            return None
        return last

    def _check_end(self) -> None:
        category = self._category
        if category.open_at is None:
            return
        last = self._last_open()
        if last is not None and (item := self._items.get(last.start)) and (item.removed or item.text_changed):
            return
        line = next(line for line, kind, _ in category.problems if kind == "unclosed")
        raise ChangedUnderneath(
            f"a fence or HTML comment is open from line {line} to the end of the file: close it first"
        )

    def _as_block(self, item: Pending) -> None:
        """Decide how a new item of a file without sections is written, and see that it reads back."""
        last = self._category.sections[-1]
        item.style = "comment" if with_block_id(item.body, item.name) is None else "id"
        if last.form == "list" or not item.body.is_paragraph:
            item.marker = item.marker or self._marker(last)
        found = parse("\n" + written_block(item, "\n")).sections
        if len(found) != 1 or found[0].text != item.text or found[0].name != item.name:
            raise BadText(
                f"as a {'list item' if item.marker else 'paragraph'} the text of {item.name!r} "
                "would not read back as it is: begin and end it with a plain sentence"
            )
        item.address = found[0].address_name

    def _marker(self, last: Section) -> str:
        if last.form != "list":
            return "-"
        marker = self._category.text[last.start : last.content].strip(" \t\r\n")
        if len(marker) == 1:
            return marker
        self._listed += 1
        return f"{min(int(marker[:-1]) + self._listed, 999_999_999)}{marker[-1]}"


def _collapsed(text: str) -> str:
    from unicodedata import normalize

    return " ".join(normalize("NFC", text).split())


def _may_hold(text: str, wanted: str) -> bool:
    """Whether a file may hold the wanted text: false only if its longest word is nowhere in it."""
    from unicodedata import is_normalized

    if not (is_normalized("NFC", wanted) and is_normalized("NFC", text)):
        return True
    return max(wanted.split(), key=len, default="") in text
