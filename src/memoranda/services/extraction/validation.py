"""From what a model proposes to what may be written: each operation is taken, with flags, or refused, with a reason.

A model sees text that anybody may have written, so its reply is no more to be
trusted than that text: it adds and supersedes in one scope, never deletes, and
what it links to must be there. What is only doubtful (another language, a link
to nothing, a name that cannot be one) costs the doubtful part, not the fact.
"""

from __future__ import annotations

from memoranda.core.addresses import parse_address, parse_scope
from memoranda.core.errors import BadName
from memoranda.core.links import find_links, format_link
from memoranda.core.names import check_item_name, name_key
from memoranda.core.records import dataclass, replace
from memoranda.retrieval.rendering import strip_injected
from memoranda.services.extraction.language import other_language
from memoranda.services.extraction.sameness import says_the_same
from memoranda.services.redaction import MARK, redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from memoranda.core.addresses import Address, Scope
    from memoranda.core.exchanges import Exchange
    from memoranda.core.links import Link
    from memoranda.core.model import Item
    from memoranda.core.operations import Operation

__all__ = ["LONGEST_TEXT", "MOST_OPERATIONS", "Accepted", "Refused", "Validation"]

#: So many facts of one exchange are taken; a model that finds more is listing, not remembering.
MOST_OPERATIONS = 12
#: Characters of the longest text that is a fact and not a transcript.
LONGEST_TEXT = 2000
#: Where a fact of a type goes whose category the model left out.
_CATEGORIES = {
    "profile": "profile",
    "event": "events",
    "knowledge": "knowledge",
    "behavior": "habits",
    "skill": "skills",
    "tool": "tools",
}
_OTHER = "facts"
if TYPE_CHECKING:
    RefusedAs = Literal["ephemeral", "injected", "limit", "long", "name", "repeat", "scope", "secret", "target"]
else:
    RefusedAs = str
#: These are no faults of the reply: the rules are at work.
_AS_TOLD = frozenset({"ephemeral", "repeat"})


@dataclass(frozen=True, slots=True)
class Accepted:
    """What may be written: ``address`` is where (``merge``: the item to add to), ``older`` what it supersedes.

    ``flags`` say what is doubtful about it.
    """

    op: str
    address: Address
    text: str
    type: str = ""
    older: Address | None = None
    flags: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """What is not written, and why; ``piece`` is the beginning of its text."""

    kind: RefusedAs
    reason: str
    piece: str

    @property
    def is_fault(self) -> bool:
        """Whether a person should look at it."""
        return self.kind not in _AS_TOLD

    def __str__(self) -> str:
        return f"{self.reason}: {self.piece!r}" if self.piece else self.reason


class _No(Exception):
    """An operation that is refused; its arguments are kind and reason."""


class Validation:
    """Checks the operations of one reply.

    ``find`` gives an item by its address, ``near`` items whose text is like a
    given one, ``style`` is how links are written.
    """

    def __init__(
        self,
        exchange: Exchange,
        find: Callable[[Address], Item | None],
        near: Callable[[str], Iterable[Item]],
        style: Literal["colon", "hash"] = "colon",
    ) -> None:
        self._said = "\n".join(turn.text for turn in exchange.turns)
        self._owner, self._source = exchange.owner, exchange.source
        self._scope: Scope = parse_scope(exchange.scope)
        self._scopes = [parse_scope(scope) for scope in exchange.scopes]
        self._find, self._near, self._style = find, near, style
        self._coming: dict[tuple[str, str, str], str] = {}

    def check(self, operations: Iterable[Operation]) -> list[Accepted | Refused]:
        """Every operation but those that skip: accepted or refused, in their order."""
        wanted = [one for one in operations if one.op != "skip"]
        for one in wanted[:MOST_OPERATIONS]:
            # What the same reply adds may be linked to, wherever in it that stands.
            try:
                address, _ = self._placed(one)
            except (_No, BadName):
                continue
            if address.name is not None:
                self._coming.setdefault(address.key, "")
        found: list[Accepted | Refused] = []
        for number, one in enumerate(wanted):
            try:
                if number >= MOST_OPERATIONS:
                    raise _No("limit", f"more than {MOST_OPERATIONS} facts of one exchange")
                found.append(self._checked(one))
            except _No as refused:
                kind, reason = refused.args
                # Of a text with a secret nothing is shown, not even where somebody lists faults.
                piece = "" if kind == "secret" else _beginning(one.text or one.target)
                found.append(Refused(kind, reason, piece))
        return found

    def _checked(self, one: Operation) -> Accepted:
        text = one.text.strip()
        everything = "\n".join((text, one.name, one.category, one.target, *one.links))
        if strip_injected(everything) != everything:
            raise _No("injected", "it repeats a recalled block")
        # A reply is written down redacted; and what is left of a secret is nothing to remember.
        if MARK in everything or redact(everything)[1]:
            raise _No("secret", "it holds a secret")
        if one.ephemeral:
            raise _No("ephemeral", "the model says that it will not matter for long")
        if len(text) > LONGEST_TEXT:
            raise _No("long", f"it has {len(text):,} characters, more than {LONGEST_TEXT:,}")
        target = self._target(one) if one.op in ("merge", "supersede") else None
        address, flags = self._placed(one) if target is None else self._beside(one, target)
        text, linked = self._linked(text, one.links, "" if target is None else target.text)
        flags = (*flags, *linked)
        if other_language(text, self._said):
            flags = (*flags, "other-language")
        self._refuse_repeat(text, target)
        accepted = Accepted(one.op, address, text, one.type, None, flags, one.about)
        if target is not None and one.op == "supersede":
            accepted = replace(accepted, older=parse_address(str(target.address)))
        self._coming[address.key] = text
        return accepted

    def _placed(self, one: Operation) -> tuple[Address, tuple[str, ...]]:
        """Where a new item goes; a name that cannot be one is left to be made."""
        category, name = one.category.strip().strip("[]"), one.name.strip()
        flags: tuple[str, ...] = ()
        if ":" in category or "：" in category:
            at = min(at for at in (category.find(":"), category.find("：")) if at >= 0)
            category, name = category[:at], name or category[at + 1 :]
        if not category:
            category, flags = _CATEGORIES.get(one.type, _OTHER), ("category",)
        try:
            address = parse_address(
                category if category.startswith(self._scope.prefix) else self._scope.prefix + category
            )
        except BadName as error:
            raise _No("name", str(error)) from None
        if address.scope != self._scope:
            raise _No("scope", f"{category} is outside of {self._scope}")
        if not name:
            return address, flags
        try:
            return address.named(check_item_name(name)), flags
        except BadName:
            return address, (*flags, "name")

    def _target(self, one: Operation) -> Item:
        try:
            wanted = parse_address(one.target.strip().removeprefix("[[").removesuffix("]]"))
        except BadName as error:
            raise _No("target", str(error)) from None
        if wanted.name is None:
            raise _No("target", f"{one.target} is a category, not an item")
        for scope in dict.fromkeys((wanted.scope, self._scope)):
            found = self._find(replace(wanted, scope=scope))
            if found is not None:
                if found.address.scope != self._scope:
                    raise _No("scope", f"{found.address} is outside of {self._scope}")
                return found
        raise _No("target", f"there is no {one.target}")

    def _beside(self, one: Operation, target: Item) -> tuple[Address, tuple[str, ...]]:
        if one.op == "merge":
            return target.address, ()
        placed = one if one.category.strip() else replace(one, category=target.address.category)
        address, flags = self._placed(placed)
        if address.key == target.address.key:
            # The older one keeps its name; the new one gets a free one beside it.
            return address.named(f"{target.name.lstrip('~^')}-2"), flags
        return address, flags

    def _refuse_repeat(self, text: str, target: Item | None) -> None:
        text = _without_links(text)
        for address, other in self._coming.items():
            if other and _is_said_in(text, other):
                raise _No("repeat", f"the same reply says so already, as {address[1]}:{address[2]}")
        for item in (*([] if target is None else [target]), *self._near(text)):
            if item.metadata.superseded_by and item.metadata.source != self._source:
                continue  # what was true before may be true again
            owner = item.metadata.owner
            if owner is not None and self._owner is not None and name_key(owner) != name_key(self._owner):
                continue
            if _is_said_in(text, item.text):
                raise _No("repeat", f"{item.address} says so already")

    def _linked(self, text: str, links: Iterable[str], older: str) -> tuple[str, tuple[str, ...]]:
        """The text with the links that lead somewhere, and a flag if one led nowhere.

        What an ``older`` text links to is left as it is: somebody wanted it so.
        """
        dangling = False
        present: set[tuple[str, str]] = set()
        wanted = {link.key for link in find_links(older)}
        for link in reversed(find_links(text)):
            if link.key in wanted:
                present.add(link.key)
            elif link.item is None or self._leads_to(link.category, link.item) is None:
                dangling = True
                shown = link.shown or link.item or link.category
                text = f"{text[: link.start].removesuffix('!')}{shown}{text[link.end :]}"
            else:
                present.add(link.key)
        added = []
        for written in links:
            for link in _as_links(written):
                address = None if link.item is None else self._leads_to(link.category, link.item)
                if address is None or address.name is None:
                    dangling = True
                    continue
                category = (
                    address.category
                    if address.scope in (self._scope, _SHARED)
                    else f"{address.scope}/{address.category}"
                )
                key = (name_key(category), name_key(address.name))
                if key not in present and link.key not in present:
                    present |= {key, link.key}
                    added.append(format_link(category, address.name, None, self._style))
        return " ".join((text, *added)), ("unlinked",) if dangling else ()

    def _leads_to(self, category: str, item: str) -> Address | None:
        """The item that a link written in the scope leads to; also one that the same reply adds."""
        try:
            wanted = parse_address(f"{category}:{item}")
        except BadName:
            return None
        for scope in (
            dict.fromkeys((wanted.scope, self._scope, *self._scopes)) if wanted.scope == _SHARED else (wanted.scope,)
        ):
            address = replace(wanted, scope=scope)
            if scope not in (self._scope, _SHARED, *self._scopes):
                continue
            if scope == self._scope and address.key in self._coming:
                return address
            found = self._find(address)
            if found is not None:
                return found.address
        return None


_SHARED = parse_scope("shared")


def _as_links(written: str) -> tuple[Link, ...]:
    bare = written.strip().removeprefix("[[").removesuffix("]]")
    return find_links(f"[[{bare}]]")


def _is_said_in(text: str, other: str) -> bool:
    """Whether another text, or a paragraph or line of it, says the same: items grow by what is merged into them."""
    other = _without_links(other)
    pieces = dict.fromkeys((other, *other.split("\n\n"), *other.split("\n")))
    return any(piece.strip() and says_the_same(text, piece) for piece in pieces)


def _without_links(text: str) -> str:
    for link in reversed(find_links(text)):
        text = f"{text[: link.start]}{text[link.end :]}"
    return text


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
