"""A category file within a transaction: what was read, and what is to become of it."""

from __future__ import annotations

from memoranda.core.editing import CategoryEditor
from memoranda.core.errors import BadText, ChangedUnderneath
from memoranda.core.items import parse
from memoranda.core.metadata import EMPTY_METADATA, format_comment
from memoranda.core.records import dataclass, field
from memoranda.storage.history import ItemChange, ItemState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.addresses import Address
    from memoranda.core.editing import CurrentItem
    from memoranda.core.items import Category
    from memoranda.core.metadata import Metadata
    from memoranda.storage.categories import LoadedCategory

__all__ = ["OpenCategory"]


def _comment(metadata: Metadata) -> str:
    return format_comment(metadata) if metadata else ""


def _state(item: CurrentItem) -> ItemState:
    return ItemState(item.name, item.text, _comment(item.metadata))


@dataclass(slots=True)
class OpenCategory:
    """A category file within a transaction: what was read, and what is to become of it."""

    address: Address
    loaded: LoadedCategory | None
    relative: str
    path: str
    category: Category
    editor: CategoryEditor
    changes: list[ItemChange] = field(default_factory=list)
    rebased: bool = False
    trusted: bool = False
    removed: bool = False

    @property
    def data(self) -> bytes | None:
        """The file's bytes as read; ``None`` if there was no file."""
        return None if self.loaded is None else self.loaded.data

    @property
    def hash(self) -> str | None:
        """The hash of :attr:`data`."""
        return None if self.loaded is None else self.loaded.hash

    def get(self, name: str) -> CurrentItem | None:
        """The item as it stands now, pending changes included."""
        return self.editor.get(name)

    def add(self, name: str, text: str, metadata: Metadata = EMPTY_METADATA) -> CurrentItem:
        """Add an item. Raises NameTaken, BadText, ChangedUnderneath."""
        self.editor.add(name, text, metadata)
        return self._changed(None, name)

    def replace(self, name: str, text: str, metadata: Metadata | None = None) -> CurrentItem:
        """Change an item's text, and its metadata if given. Raises BadText."""
        before = self._present(name)
        self.editor.replace(name, text, metadata)
        if self.editor.get(name) is None:
            # An item that is named by its text's hash has another name after the change.
            name = self.editor.find_text(text, (metadata or before.metadata).owner) or name
        return self._changed(before, name)

    def rename(self, name: str, new_name: str) -> CurrentItem:
        """Change an item's name. Raises NameTaken, BadText."""
        before = self._present(name)
        self.editor.rename(name, new_name)
        return self._changed(before, new_name)

    def set_metadata(self, name: str, metadata: Metadata) -> CurrentItem:
        """Change an item's metadata comment."""
        before = self._present(name)
        self.editor.set_metadata(name, metadata)
        return self._changed(before, name)

    def remove(self, name: str) -> CurrentItem:
        """Take an item out; returns it as it was."""
        before = self._present(name)
        self.editor.remove(name)
        self.changes.append(ItemChange(self.relative, _state(before), None))
        return before

    def put_text(self, text: str, changes: list[ItemChange], *, trusted: bool = False) -> None:
        """Replace the file's whole text; further changes go on from there.

        ``trusted`` text (what ``undo`` restores) is not checked for meaning what the changes say.
        """
        self.editor = CategoryEditor(parse(text), self.address.category.rpartition("/")[2])
        self.rebased = True
        self.trusted = self.trusted or trusted
        self.changes.extend(changes)

    def put_nothing(self, changes: list[ItemChange]) -> None:
        """Remove the file: for ``undo`` of the change that created it."""
        self.removed = True
        self.changes.extend(changes)

    def _present(self, name: str) -> CurrentItem:
        found = self.editor.get(name)
        if found is None:
            raise ChangedUnderneath(f"{self.address.named(name)} is not there any more")
        return found

    def _changed(self, before: CurrentItem | None, name: str) -> CurrentItem:
        after = self.editor.get(name)
        if after is None:
            raise BadText(f"{name!r} would not be found again after this change")
        self.changes.append(ItemChange(self.relative, None if before is None else _state(before), _state(after)))
        return after

    def tells_all(self, category: Category) -> bool:
        """Whether the changes alone tell which items ``category``, the file's new content, has.

        Not where names stand twice or items have none: a change of one may give another its address.
        """
        if self.trusted or self.category.problems or category.problems:
            return False
        states = (state for change in self.changes for state in (change.before, change.after) if state is not None)
        return not any(state.name.startswith("~") for state in states)

    def text(self) -> str:
        """The file's text after the pending changes."""
        return self.editor.text()
