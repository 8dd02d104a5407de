"""Finding and rewriting what points at an item, wherever it stands: wiki-links, and references in metadata."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from memoranda.core.addresses import SHARED, Address
from memoranda.core.errors import BadText, Conflict, UsageError, VaultUnreadable
from memoranda.core.items import parse
from memoranda.core.links import Link, find_links, retarget
from memoranda.core.metadata import format_comment
from memoranda.core.names import name_key
from memoranda.core.records import dataclass
from memoranda.storage.history import ItemChange, ItemState
from memoranda.storage.snapshot import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.core.addresses import Scope
    from memoranda.core.items import Category
    from memoranda.core.metadata import Metadata
    from memoranda.core.sections import Section
    from memoranda.storage.store import Storage
    from memoranda.storage.transaction import OpenCategory, Transaction

__all__ = [
    "REFERENCES",
    "Forget",
    "Retarget",
    "item_key",
    "points_at",
    "reference_link",
    "retarget_links",
    "rewrite_pointers",
]

Choose = Callable[[Link], bool]

#: Metadata that names another item.
REFERENCES = ("supersedes", "superseded_by", "source")
#: What is left of a link that was all there was of an item.
_LEFT_BEHIND = "…"
_REFERENCE = r"\s*!?(?:\[\[)?([^\[\]|]*)(?:\|[^\]]*)?(?:\]\])?\s*"


@dataclass(frozen=True, slots=True)
class Retarget:
    """Pointers that follow an item to its new name; all else that was written stays."""

    new: Address

    def texts(self, text: str, choose: Choose) -> Iterator[str]:
        """The text as it is to be."""
        bare = (self.new.name or "").removeprefix("^")

        def target(link: Link) -> str | None:
            mark = "^" if link.item is not None and link.item.startswith("^") else ""
            return f"{link.category}:{mark}{bare}" if choose(link) else None

        yield retarget(text, target)

    def metadata(self, metadata: Metadata, key: str) -> Metadata:
        """The metadata whose ``key`` pointed at the item."""
        return metadata.with_values(**{key: str(self.new)})


@dataclass(frozen=True, slots=True)
class Forget:
    """Pointers that go with their item: links are replaced by what they showed."""

    def texts(self, text: str, choose: Choose) -> Iterator[str]:
        """The text as it is to be, and how else if items would vanish with their only link."""
        yield _without_links(text, choose, "")
        yield _without_links(text, choose, _LEFT_BEHIND)

    def metadata(self, metadata: Metadata, key: str) -> Metadata:
        """The metadata without ``key``."""
        return metadata.with_values(**{key: None})


def item_key(name: str | None) -> str:
    """The form under which items' names are compared: a block id is the same with and without its caret."""
    return name_key((name or "").removeprefix("^"))


def points_at(link: Link, scope: Scope, category: str, target: Address, shadowed: Callable[[Scope], bool]) -> bool:
    """Whether a link in ``category`` of ``scope`` means ``target``.

    A link without a scope means an item of its own scope if there is one
    (``shadowed`` tells), else one of shared memory.
    """
    if link.item is None or item_key(link.item) != item_key(target.name):
        return False
    named = name_key(link.category or (scope.prefix + category))
    full = name_key(target.scope.prefix + target.category)
    if named.startswith("shared/"):
        return target.scope == SHARED and named.removeprefix("shared/") == full
    if named == full:
        return target.scope != SHARED or scope == SHARED or not link.category or not shadowed(scope)
    return name_key(scope.prefix) + named == full


def reference_link(reference: str) -> Link | None:
    """A reference in metadata (an address, a link, or a name in the same category) read as a link."""
    found = re.fullmatch(_REFERENCE, reference)
    target = (found.group(1) if found else reference).strip()
    category, *name = re.split("[:：#]", target, maxsplit=1)
    if not name:
        category, name = "", [category]
    return Link(target, category.strip(), name[0].strip(), None, 0, 0) if name[0].strip() else None


def rewrite_pointers(
    transaction: Transaction, storage: Storage, pending: Iterable[Address], target: Address, how: Retarget | Forget
) -> list[str]:
    """Rewrite every link and reference that means ``target``; returns the addresses of the items that changed,
    and the paths of files where that was outside every item.

    ``pending`` are the categories that the transaction may have changed already.

    Raises:
        BadText: in some file the rewritten links would change what counts as an item.
    """
    changed: list[str] = []

    def shadowed(scope: Scope) -> bool:
        with suppress(Conflict, UsageError):
            return transaction.open(Address(scope, target.category), target.name).get(target.name or "") is not None
        return False

    for opened in _pointing_files(transaction, storage, pending, target):
        scope, category = opened.address.scope, opened.address.category

        def choose(link: Link, scope: Scope = scope, category: str = category) -> bool:
            return points_at(link, scope, category, target, shadowed)

        changed += _rewrite_links(opened, how.texts(opened.text(), choose))
        if _may_refer(opened.text(), target):
            changed += _rewrite_references(opened, choose, how)
    return list(dict.fromkeys(changed))


def retarget_links(opened: OpenCategory, moved: Callable[[Section, Link], str | None]) -> list[ItemChange]:
    """Lead links in a file's items elsewhere; ``moved`` gives the new target, or ``None`` to leave a link.

    Raises BadText: what counts as an item would change.
    """
    category = parse(opened.text())
    sections = {section.start: section for section in category.sections}
    pieces, at = [], 0
    for piece in category.slices():
        section = sections.get(at)
        at += len(piece)
        if section is not None and "[[" in piece:
            piece = retarget(piece, partial(moved, section))
        pieces.append(piece)
    before = len(opened.changes)
    _rewrite_links(opened, iter(["".join(pieces)]))
    return opened.changes[before:]


def _pointing_files(
    transaction: Transaction, storage: Storage, pending: Iterable[Address], target: Address
) -> Iterator[OpenCategory]:
    """The category files that may point at ``target``, those only pending included."""
    seen: set[str] = set()
    for found in scan(storage.vault).files.values():
        with suppress(Conflict, VaultUnreadable):
            loaded = storage.reader.read(found.path)
            if loaded is not None and _may_mention(loaded.category.text, target):
                seen.add(found.relative)
                yield transaction.open_path(found.address, found.relative, found.path)
    for address in pending:
        opened = transaction.open(address)
        if opened.relative not in seen:
            seen.add(opened.relative)
            yield opened


def _may_mention(text: str, target: Address) -> bool:
    """Whether the first word of the name stands in the text at all: a cheap test that most files fail."""
    return _first_word(target) in _folded(text)


def _may_refer(text: str, target: Address) -> bool:
    """Whether the first word of the name stands behind a reference's key: most files need not be taken apart."""
    plain = re.split("--|%", _first_word(target))[0]  # these are written otherwise in metadata
    pattern = rf"(?:{'|'.join(REFERENCES)})[ \t]*=[^|>\n]*{re.escape(plain)}"
    return re.search(pattern, _folded(text)) is not None


def _first_word(target: Address) -> str:
    return item_key(target.name).partition(" ")[0]


def _folded(text: str) -> str:
    """The text in the form of names' keys, but for its white space."""
    if text.isascii():
        return text.casefold()
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _without_links(text: str, choose: Choose, otherwise: str) -> str:
    pieces, done = [], 0
    for link in find_links(text):
        if choose(link):
            start = link.start - 1 if text[link.start - 1 : link.start] == "!" else link.start
            shown = link.shown or otherwise
            if not shown and text[start - 1 : start] == " " and text[link.end : link.end + 1] in ("", " ", "\n", "\r"):
                start = max(done, start - 1)
            pieces += [text[done:start], shown]
            done = link.end
    return "".join([*pieces, text[done:]])


def _rewrite_links(opened: OpenCategory, texts: Iterator[str]) -> list[str]:
    """Put the first text in place that has the same items in the same order; returns what changed, for people."""
    old = opened.text()
    if "[[" not in old:
        return []
    known: Category | None = None
    for text in texts:
        if text == old:
            return []
        known = known or parse(old)
        found = parse(text)
        before, after = known.sections, found.sections
        if len(before) != len(after) or any(
            one.text and not other.text for one, other in zip(before, after, strict=True)
        ):
            continue
        changes = [
            ItemChange(opened.relative, _state(one), _state(other))
            for one, other in zip(before, after, strict=True)
            if (one.text, one.address_name) != (other.text, other.address_name)
        ]
        # A change outside every item is one too.
        opened.put_text(text, changes or [ItemChange(opened.relative, None, None)])
        told = [str(opened.address.named(change.after.name)) for change in changes if change.after is not None]
        return told if _outside(known) == _outside(found) else [*told, opened.relative]
    raise BadText(f"the links in {opened.relative} cannot be rewritten without changing what counts as an item")


def _outside(category: Category) -> str:
    """What stands in no item."""
    starts = {section.start for section in category.sections}
    pieces, at = [], 0
    for piece in category.slices():
        if at not in starts:
            pieces.append(piece)
        at += len(piece)
    return "".join(pieces)


def _rewrite_references(opened: OpenCategory, choose: Choose, how: Retarget | Forget) -> list[str]:
    changed = []
    for section in parse(opened.text()).sections if opened.changes else opened.category.sections:
        metadata = section.metadata
        for key in REFERENCES:
            value = metadata.get(key)
            if not value or (key == "source" and ":" not in value and "：" not in value):
                continue
            link = reference_link(value)
            if link is not None and choose(link):
                metadata = how.metadata(metadata, key)
        if metadata != section.metadata:
            changed.append(str(opened.address.named(opened.set_metadata(section.address_name, metadata).name)))
    return changed


def _state(section: Section) -> ItemState:
    comment = format_comment(section.metadata) if section.metadata else ""
    return ItemState(section.address_name, section.text, comment)
