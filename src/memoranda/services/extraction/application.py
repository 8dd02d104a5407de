"""Carrying out what was accepted of a reply: all of it one change, each part upon what the parts before it made."""

from __future__ import annotations

from memoranda.core.addresses import parse_address
from memoranda.core.errors import Conflict, NotFound, UsageError
from memoranda.core.model import Item
from memoranda.core.records import dataclass
from memoranda.services.extraction.validation import Accepted, Refused, Validation
from memoranda.services.remember import extend, mark_superseded, relink, remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal

    from memoranda.core.addresses import Address
    from memoranda.core.exchanges import Exchange
    from memoranda.core.model import Written
    from memoranda.core.operations import Operation
    from memoranda.services.writer import Writer
    from memoranda.storage.transaction import Transaction

__all__ = ["ACTOR", "Applied", "apply"]

#: Who the journal says has written.
ACTOR = "memorize"


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of each operation, and what was written."""

    checked: tuple[Accepted | Refused, ...]
    written: tuple[Written, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """What a person should look at, in words."""
        return tuple(str(one) for one in self.checked if isinstance(one, Refused) and one.is_fault)


def apply(
    writer: Writer,
    exchange: Exchange,
    operations: Iterable[Operation],
    change: str,
    near: Callable[[str], Iterable[Item]],
    before: Callable[[Applied], None],
) -> Applied:
    """Carry out the operations as the change of that id; ``before`` hears of all of it right before it is made.

    ``near`` gives items whose text is like a given one. Needs the vault's lock.

    Raises:
        VaultError, Conflict: nothing was written.
    """
    style: Literal["colon", "hash"] = "hash" if writer.storage.vault.settings.link_style == "hash" else "colon"
    checked: list[Accepted | Refused] = []
    written: list[Written] = []
    placed: dict[tuple[str, str, str], Address] = {}
    with writer.batch("memorize", change) as transaction:
        validation = Validation(exchange, lambda one: _pending(transaction, one), near, style)
        for one in validation.check(operations):
            if isinstance(one, Accepted):
                try:
                    done = _write(writer, exchange, one)
                except (UsageError, Conflict, NotFound) as error:
                    one = Refused("name", str(error), one.text[:80])
                else:
                    written.append(done)
                    placed[one.address.key] = parse_address(done.address)
            checked.append(one)
        for address in dict.fromkeys(done.address for done in written if done.journal_id):
            relink(writer, address, lambda text: validation.links.settled(text, placed))
        applied = Applied(tuple(checked), tuple(written))
        if any(done.journal_id for done in written):
            writer.run("memorize", lambda transaction: _log(transaction, exchange, checked))
        before(applied)
    return applied


def _pending(transaction: Transaction, address: Address) -> Item | None:
    """The item as the change under way leaves it."""
    try:
        category = transaction.open(address, address.name)
    except (UsageError, Conflict):
        return None
    found = category.get(address.name or "")
    if found is None:
        return None
    return Item(category.address.named(found.name), found.text, found.metadata, hash=found.hash, path=category.relative)


def _write(writer: Writer, exchange: Exchange, one: Accepted) -> Written:
    if one.op == "mark":
        return mark_superseded(writer, str(one.older), str(one.address))
    if one.op == "merge":
        return extend(writer, str(one.address), one.text, exchange.source)
    fields: dict[str, object] = {
        "owner": exchange.owner,
        "source": exchange.source,
        "ts": exchange.ts or None,
        "type": one.type or None,
        "actor": ACTOR,
        "supersedes": None if one.older is None else str(one.older),
        "about": one.about if one.about not in ("user", exchange.owner) else None,
        "flags": " ".join(sorted(set(one.flags))) or None,
    }
    return remember(writer, str(one.address), one.text, on_exists="rename", fields=fields)


def _log(transaction: Transaction, exchange: Exchange, checked: Sequence[Accepted | Refused]) -> None:
    """The line that tells what came of the exchange, without a word of what was said."""
    refused: dict[str, int] = {}
    for one in checked:
        if isinstance(one, Refused):
            refused[one.kind] = refused.get(one.kind, 0) + 1
    detail: dict[str, Any] = {"operations": sum(isinstance(one, Accepted) for one in checked)}
    flags = sorted({flag for one in checked if isinstance(one, Accepted) for flag in one.flags})
    detail |= {"refused": refused} if refused else {}
    detail |= {"flags": flags} if flags else {}
    transaction.log("memorize", source=exchange.source, detail=detail)
