"""Finding and rewriting the wiki-links that point at an item, wherever they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from memoranda.core.addresses import SHARED, Address, Scope
from memoranda.core.errors import Conflict, VaultUnreadable
from memoranda.core.links import Link, find_links, retarget
from memoranda.core.names import name_key
from memoranda.storage.history import ItemChange, ItemState
from memoranda.storage.snapshot import FoundFile, scan
from memoranda.storage.store import Storage
from memoranda.storage.transaction import OpenCategory, Transaction

__all__ = ["files_with_links", "points_at", "removed_links", "renamed_links", "retarget_links", "rewrite_links"]

Choose = Callable[[Link], bool]


def files_with_links(storage: Storage) -> Iterator[FoundFile]:
    """The category files that hold any link at all."""
    for found in scan(storage.vault).files.values():
        with suppress(Conflict, VaultUnreadable):
            loaded = storage.reader.read(found.path)
            if loaded is not None and b"[[" in loaded.data:
                yield found


def points_at(link: Link, scope: Scope, category: str, target: Address, shadowed: Callable[[Scope], bool]) -> bool:
    """Whether a link in ``category`` of ``scope`` means ``target``.

    A link without a scope means an item of its own scope if there is one
    (``shadowed`` tells), else one of shared memory.
    """
    if link.item is None or name_key(link.item.removeprefix("^")) != name_key((target.name or "").removeprefix("^")):
        return False
    named = link.category or (scope.prefix + category)
    full = name_key(target.scope.prefix + target.category)
    if name_key(named) == full:
        return target.scope != SHARED or scope == SHARED or not link.category or not shadowed(scope)
    return name_key(scope.prefix + named) == full


def rewrite_links(
    transaction: Transaction, storage: Storage, target: Address, rewrite: Callable[[str, Choose], str]
) -> list[str]:
    """Rewrite every link that means ``target``; returns the addresses of the items that changed.

    ``rewrite`` is given a file's text and what chooses the links to rewrite.
    """
    changed: list[str] = []

    def shadowed(scope: Scope) -> bool:
        return transaction.open(Address(scope, target.category), target.name).get(target.name or "") is not None

    for found in files_with_links(storage):
        opened = transaction.open_path(found.address, found.relative, found.path)
        scope, category = found.address.scope, found.address.category

        def choose(link: Link, scope: Scope = scope, category: str = category) -> bool:
            return points_at(link, scope, category, target, shadowed)

        text = opened.text()
        if (result := rewrite(text, choose)) != text:
            changed += _rewrite(opened, result)
    return changed


def renamed_links(new_name: str) -> Callable[[str, Choose], str]:
    """Links that keep all but the item's name."""

    def rewrite(text: str, choose: Choose) -> str:
        return retarget(text, lambda link: f"{link.category}:{new_name}" if choose(link) else None)

    return rewrite


def retarget_links(text: str, targets: dict[str, str]) -> str:
    """The text with links to some targets led to others."""
    return retarget(text, lambda link: targets.get(link.target))


def removed_links(text: str, choose: Choose) -> str:
    """Links replaced by what they showed; nothing where they showed only the name."""
    pieces, done = [], 0
    for link in find_links(text):
        if choose(link):
            start = link.start - 1 if text[link.start - 1 : link.start] == "!" else link.start
            pieces += [text[done:start], link.shown or ""]
            done = link.end
    return "".join([*pieces, text[done:]])


def _rewrite(opened: OpenCategory, text: str) -> list[str]:
    from memoranda.core.items import parse
    from memoranda.core.metadata import format_comment

    before, after = parse(opened.text()), parse(text)
    changes = []
    for old, new in zip(before.sections, after.sections, strict=True):
        if old.text != new.text:
            states = [
                ItemState(s.address_name, s.text, format_comment(s.metadata) if s.metadata else "") for s in (old, new)
            ]
            changes.append(ItemChange(opened.relative, states[0], states[1]))
    opened.put_text(text, changes)
    return [str(opened.address.named(change.after.name)) for change in changes if change.after is not None]
