"""Links in what a model proposes: those that lead somewhere stay, all others become what they showed."""

from __future__ import annotations

from memoranda.core.addresses import parse_address, parse_scope
from memoranda.core.errors import BadName
from memoranda.core.links import find_links, format_link, retarget
from memoranda.core.names import name_key
from memoranda.core.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from memoranda.core.addresses import Address, Scope
    from memoranda.core.links import Link
    from memoranda.core.model import Item

    Key = tuple[str, str, str]

__all__ = ["Links", "plain"]

_SHARED = parse_scope("shared")
#: So many links of one operation are looked at.
_MOST = 12
_ENDS = tuple(".!?。！？…)）」』”\"'")


class Links:
    """The links of one reply. ``coming`` holds the keys of what the same reply is going to add."""

    def __init__(
        self,
        scope: Scope,
        scopes: Sequence[Scope],
        find: Callable[[Address], Item | None],
        style: Literal["colon", "hash"],
    ) -> None:
        self.coming: set[Key] = set()
        self._scope, self._scopes = scope, scopes
        self._find, self._style = find, style

    def checked(self, text: str, links: Iterable[str], older: str) -> tuple[str, bool]:
        """The text with the links that lead somewhere, and whether one led nowhere.

        What an ``older`` text links to is left as it is: somebody wanted it so.
        """
        dangling = False
        present: set[tuple[str, str]] = set()
        wanted = {link.key for link in find_links(older)}
        for link in reversed(find_links(text)):
            if link.key in wanted or (link.item is not None and self._leads_to(link.category, link.item) is not None):
                present.add(link.key)
            else:
                dangling = True
                text = f"{text[: link.start].removesuffix('!')}{_shown(link)}{text[link.end :]}"
        added = []
        for written in list(links)[:_MOST]:
            for link in find_links(f"[[{written.strip().removeprefix('[[').removesuffix(']]')}]]"):
                address = None if link.item is None else self._leads_to(link.category, link.item)
                if address is None or address.name is None:
                    dangling = True
                    continue
                near = address.scope in (self._scope, _SHARED)
                category = address.category if near else f"{address.scope}/{address.category}"
                key = (name_key(category), name_key(address.name))
                if key not in present and link.key not in present:
                    present |= {key, link.key}
                    added.append(format_link(category, address.name, None, self._style))
        return " ".join((text, *added)), dangling

    def settled(self, text: str, written: Mapping[Key, Address]) -> str:
        """The text with links to what the same reply was to add: to where it was written, or shown plain."""

        def key_of(link: Link) -> Key | None:
            try:
                key = None if link.item is None else parse_address(f"{link.category}:{link.item}").key
            except BadName:
                return None
            own = None if key is None else (name_key(str(self._scope)), *key[1:])
            return own if own in self.coming else None

        for link in reversed(find_links(text)):
            key = key_of(link)
            if key is not None and key not in written and self._leads_to(link.category, link.item or "", False) is None:
                text = f"{text[: link.start]}{_shown(link)}{text[link.end :]}".rstrip()

        def target(link: Link) -> str | None:
            key = key_of(link)
            address = None if key is None else written[key]
            renamed = address is not None and key is not None and name_key(address.name or "") != key[2]
            return f"{link.category}:{address.name}" if address is not None and renamed else None

        return retarget(text, target)

    def _leads_to(self, category: str, item: str, coming: bool = True) -> Address | None:
        """The item that a link written in the scope leads to; with ``coming`` also one that the same reply adds."""
        try:
            wanted = parse_address(f"{category}:{item}")
        except BadName:
            return None
        own = (wanted.scope,) if wanted.scope != _SHARED else (self._scope, _SHARED, *self._scopes)
        for scope in dict.fromkeys(own):
            if scope not in (self._scope, _SHARED, *self._scopes):
                continue
            address = replace(wanted, scope=scope)
            if coming and scope == self._scope and address.key in self.coming:
                return address
            found = self._find(address)
            if found is not None:
                return found.address
        return None


def plain(text: str) -> str:
    """The text as it is read: links that follow its last sentence left out, others as they are shown."""
    text = text.rstrip()
    while text.endswith("]]"):
        links = find_links(text)
        before = text[: links[-1].start].rstrip() if links and links[-1].end == len(text) else ""
        if not before.endswith((*_ENDS, "]]")):
            break
        text = before
    for link in reversed(find_links(text)):
        text = f"{text[: link.start]}{_shown(link)}{text[link.end :]}"
    return text


def _shown(link: Link) -> str:
    return link.shown or link.item or link.category
