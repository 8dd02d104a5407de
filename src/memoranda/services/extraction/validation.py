"""From what a model proposes to what may be written: each operation is taken, with flags, or refused, with a reason.

A model sees text that anybody may have written, so its reply is no more to be
trusted than that text: it adds and supersedes in one scope, never deletes, and
what it links to must be there. What is only doubtful (another language, a link
to nothing, a name that cannot be one) costs the doubtful part, not the fact.
"""

from __future__ import annotations

from memoranda.core.addresses import parse_address, parse_scope
from memoranda.core.errors import BadName
from memoranda.core.names import check_item_name, name_key
from memoranda.core.records import dataclass, replace
from memoranda.retrieval.rendering import clean_text, strip_injected
from memoranda.services.extraction.language import other_language
from memoranda.services.extraction.linked import Links, plain
from memoranda.services.extraction.sameness import says_the_same
from memoranda.services.redaction import MARK, redact
from memoranda.services.remember import is_news

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Literal

    from memoranda.core.addresses import Address, Scope
    from memoranda.core.exchanges import Exchange
    from memoranda.core.model import Item
    from memoranda.core.operations import Operation

    RefusedAs = Literal["ephemeral", "injected", "limit", "long", "name", "repeat", "scope", "secret", "target"]
else:
    RefusedAs = str

__all__ = ["LONGEST_TEXT", "MOST_OPERATIONS", "Accepted", "Refused", "Validation"]

#: So many facts of one exchange are taken; a model that finds more is listing, not remembering.
MOST_OPERATIONS = 12
#: Characters of the longest text that is a fact and not a transcript.
LONGEST_TEXT = 2000
#: So many operations of one reply are looked at.
_MOST_LOOKED_AT = 200
#: So many items that took each other's place are followed.
_SUCCESSORS = 20
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
#: These are no faults of the reply: the rules are at work.
_AS_TOLD = frozenset({"ephemeral", "repeat"})


@dataclass(frozen=True, slots=True)
class Accepted:
    """What may be written: ``address`` is where, ``older`` what it supersedes.

    ``op`` is ``add``, ``merge`` (the text goes behind the item at ``address``),
    or ``mark`` (the item at ``address`` says it already, and takes the place of
    ``older``). ``flags`` say what is doubtful.
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
    """An operation that is refused: kind, reason, and the item that says it already."""

    def __init__(self, kind: RefusedAs, reason: str, item: Item | None = None) -> None:
        super().__init__(reason)
        self.kind, self.item = kind, item


class Validation:
    """Checks the operations of one reply.

    ``find`` gives an item by its address, as it stands once what was accepted
    before has been written; ``near`` items whose text is like a given one;
    ``style`` is how links are written.
    """

    def __init__(
        self,
        exchange: Exchange,
        find: Callable[[Address], Item | None],
        near: Callable[[str], Iterable[Item]],
        style: Literal["colon", "hash"] = "colon",
    ) -> None:
        self._exchange = exchange
        self._said = "\n".join(turn.text for turn in exchange.turns)
        self._scope: Scope = parse_scope(exchange.scope)
        self._find, self._near = find, near
        self.links = Links(self._scope, [parse_scope(scope) for scope in exchange.scopes], find, style)
        self._texts: list[tuple[Address, str]] = []

    def check(self, operations: Iterable[Operation]) -> Iterator[Accepted | Refused]:
        """Every operation but those that skip: accepted or refused, in their order.

        Each is checked when it is asked for: whoever writes one before asking
        for the next has that one found.
        """
        wanted = [one for one in operations if one.op != "skip"]
        for one in wanted[:_MOST_LOOKED_AT]:
            # What the same reply adds may be linked to, wherever in it that stands.
            try:
                address, _ = self._placed(one)
            except (_No, BadName):
                continue
            if address.name is not None and one.op == "add" and not one.ephemeral:
                self.links.coming.add(address.key)
        taken = 0
        for one in wanted[:_MOST_LOOKED_AT]:
            try:
                if taken >= MOST_OPERATIONS:
                    raise _No("limit", f"more than {MOST_OPERATIONS} facts of one exchange")
                found = self._checked(one)
                taken += 1
                yield found
            except _No as refused:
                # Of a text with a secret nothing is shown, not even where somebody lists faults.
                piece = "" if refused.kind == "secret" else _beginning(one.text or one.target)
                yield Refused(refused.kind, str(refused), piece)
        if len(wanted) > _MOST_LOOKED_AT:
            yield Refused("limit", f"{len(wanted) - _MOST_LOOKED_AT} further operations were not looked at", "")

    def _checked(self, one: Operation) -> Accepted:
        everything = "\n".join((one.text, f"{one.name}: {one.text}", one.category, one.about, one.target, *one.links))
        if strip_injected(everything) != everything:
            raise _No("injected", "it repeats a recalled block")
        # A reply is written down redacted; and what is left of a secret is nothing to remember.
        if MARK in everything or redact(everything)[1]:
            raise _No("secret", "it holds a secret")
        if one.ephemeral:
            raise _No("ephemeral", "the model says that it will not matter for long")
        text = clean_text(one.text).strip()
        if len(text) > LONGEST_TEXT:
            raise _No("long", f"it has {len(text):,} characters, more than {LONGEST_TEXT:,}")
        target = self._target(one) if one.op in ("merge", "supersede") else None
        flags: tuple[str, ...] = ()
        links = one.links
        if target is not None and not self._may_change(one.op, target):
            # It stays as it is, and what is said about it stands beside it.
            links, flags = (*links, str(target.address)), ("beside",)
            one, target = replace(one, op="add", category=one.category or target.address.category), None
        if one.op == "merge" and target is not None:
            address = target.address
        else:
            address, more = self._placed(one if target is None else _beside(one, target))
            flags = (*flags, *more)
        text, dangling = self.links.checked(text, links, "" if target is None else target.text)
        flags = (*flags, *(["unlinked"] if dangling else []))
        if other_language(text, self._said):
            flags = (*flags, "other-language")
        older = target.address if target is not None and one.op == "supersede" else None
        try:
            self._refuse_repeat(one, text, target)
        except _No as repeat:
            if older is None or repeat.item is None or repeat.item.address.key == older.key:
                raise
            return Accepted("mark", repeat.item.address, "", one.type, older)
        self._texts.append((address, text))
        op = "merge" if one.op == "merge" else "add"
        return Accepted(op, address, text, one.type, older, flags, clean_text(one.about).strip())

    def _placed(self, one: Operation) -> tuple[Address, tuple[str, ...]]:
        """Where a new item goes; a name that cannot be one is left to be made."""
        category, name = one.category.strip().strip("[]"), clean_text(one.name).strip()
        flags: tuple[str, ...] = ()
        if ":" in category or "：" in category:
            at = min(at for at in (category.find(":"), category.find("：")) if at >= 0)
            category, name = category[:at], name or category[at + 1 :]
        if not category:
            category, flags = _CATEGORIES.get(one.type, _OTHER), ("category",)
        if clean_text(category) != category:
            raise _No("name", "the category holds characters that cannot be seen")
        inside = category.startswith(self._scope.prefix)
        try:
            address = parse_address(category if inside else self._scope.prefix + category)
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
        """The item that is meant: of the scope first, and of those that took each other's place the last."""
        try:
            wanted = parse_address(one.target.strip().removeprefix("[[").removesuffix("]]"))
        except BadName as error:
            raise _No("target", str(error)) from None
        if wanted.name is None:
            raise _No("target", f"{one.target} is a category, not an item")
        own = [self._scope, wanted.scope] if wanted.scope == parse_scope("shared") else [wanted.scope]
        found = next((item for scope in own if (item := self._find(replace(wanted, scope=scope))) is not None), None)
        if found is None:
            raise _No("target", f"there is no {one.target}")
        if str(found.address.scope) not in (str(self._scope), *self._exchange.scopes):
            raise _No("scope", f"{found.address} is outside of {self._scope}")
        for _ in range(_SUCCESSORS):
            if one.op != "supersede" or not found.metadata.superseded_by:
                break
            try:
                later = self._find(parse_address(found.metadata.superseded_by))
            except BadName:
                break
            if later is None or later.address.scope != found.address.scope:
                break
            found = later
        ts = self._exchange.ts
        if one.op == "supersede" and ts and found.metadata.ts and found.metadata.ts > ts:
            raise _No("target", f"{found.address} is of a later day than this")
        return found

    def _may_change(self, op: str, target: Item) -> bool:
        """Whether a model may touch it: not in another scope, and it adds to nothing that a person vouches for."""
        if target.address.scope != self._scope:
            return False
        return op == "supersede" or not (target.metadata.trust or target.metadata.get("pinned"))

    def _refuse_repeat(self, one: Operation, text: str, target: Item | None) -> None:
        text = plain(text)
        for address, other in self._texts:
            if says_the_same(text, plain(other)):
                raise _No("repeat", f"the same reply says so already, as {address}")
        said = {"source": self._exchange.source, "ts": self._exchange.ts, "type": one.type}
        owner = self._exchange.owner
        for item in (*([] if target is None else [target]), *self._near(text)):
            theirs = item.metadata.owner
            if theirs is not None and owner is not None and name_key(theirs) != name_key(owner):
                continue
            if not is_news(item, said) and _is_said_in(text, item):
                raise _No("repeat", f"{item.address} says so already", item)


def _beside(one: Operation, target: Item) -> Operation:
    """The operation with its own place: beside the item that it supersedes, whose name stays that item's."""
    category = one.category.strip() or target.address.scope.prefix + target.address.category
    same = name_key(one.name.strip()) == name_key(target.name)
    return replace(one, category=category, name=f"{target.name.lstrip('~^')}-2" if same else one.name)


def _is_said_in(text: str, item: Item) -> bool:
    """Whether an item says the same: all of it, or a paragraph of one that grew by what was merged into it."""
    pieces = [item.text, *(item.text.split("\n\n") if item.metadata.get("also_from") else ())]
    return any(says_the_same(text, plain(piece)) for piece in pieces)


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
