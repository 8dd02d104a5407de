"""Commands that print what is there: ls, show."""

from __future__ import annotations

from memoranda.core.errors import NotFound, UsageError
from memoranda.faces.cli.parsing import Command, json_option
from memoranda.faces.cli.table import columns, first_line, local_time
from memoranda.faces.cli.turns import turn_record, turns_with_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.core.model import Item
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands", "item_record"]


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "ls": Command(
            run=ls,
            arguments=_ls_arguments,
            description=(
                "Without CATEGORY: every category of every scope with its number of items. With one:\n"
                "its items, with their date and first line."
            ),
            examples=(
                ("memoranda ls", "all categories"),
                ("memoranda ls user/lin/preferences", "the items of one"),
                ("memoranda ls --scope project/apollo", "the categories of one project"),
            ),
        ),
        "show": Command(
            run=show,
            arguments=_show_arguments,
            description=(
                "CATEGORY prints the file as it is. CATEGORY:NAME prints one item: its text, then\n"
                "what is known about it. turn/CONVERSATION#TURN prints one turn, turn/CONVERSATION\n"
                "all of them. Exit code 1 when there is no such thing."
            ),
            examples=(
                ("memoranda show preferences", "the file"),
                ("memoranda show preferences:likes-the-sea --text", "the item's text alone"),
                ("memoranda show home:address --as-of 2025-12-31", "what it said then"),
                ("memoranda show turn/conv_1#4", "what was said"),
            ),
        ),
    }


def _ls_arguments(parser: Parser) -> None:
    parser.add_argument("category", metavar="CATEGORY", nargs="?", help="whose items are listed")
    parser.add_argument("--scope", metavar="S", help="only shared, user/NAME, agent/NAME or project/ID")
    json_option(parser)


def _show_arguments(parser: Parser) -> None:
    parser.add_argument("address", metavar="CATEGORY|ADDRESS", help="what to print")
    parser.add_argument("--as-of", metavar="TIME", help="an item as it was then")
    parser.add_argument("--text", action="store_true", help="the text alone")
    json_option(parser)


def item_record(item: Item) -> dict[str, Any]:
    """An item as JSON shows it."""
    metadata: dict[str, str] = {}
    for key, value in item.metadata.pairs:
        metadata.setdefault(key, value)
    return {
        "address": str(item.address),
        "scope": str(item.address.scope),
        "category": item.address.category,
        "name": item.name,
        "text": item.text,
        "hash": item.hash,
        "metadata": metadata,
        "links": [link.target for link in item.links],
        "path": item.path,
        "line": item.line,
    }


def ls(session: Session) -> int:
    """List categories, or the items of one."""
    if session.arguments.category is not None:
        return _list_items(session)
    out = session.out
    with session.open() as vault:
        found = vault.categories(scope=session.arguments.scope)
        session.tell_unread(vault)
    if session.arguments.json:
        out.json(
            [
                {
                    "address": c.address,
                    "scope": c.scope,
                    "category": c.category,
                    "path": c.path,
                    "items": c.items,
                    "names": list(c.names),
                }
                for c in found
            ]
        )
        return 0
    rows = [[c.address, str(c.items), ", ".join(c.names)] for c in found]
    for line in columns(rows, limit=out.columns, right=(1,)):
        out.line(line)
    if not found:
        out.note("no category yet")
    return 0


def _list_items(session: Session) -> int:
    from memoranda.core.addresses import parse_address

    arguments, out = session.arguments, session.out
    address = parse_address(arguments.category)
    if address.name is not None:
        raise UsageError(f"ls lists a category; memoranda show {arguments.category} prints the item")
    with session.open() as vault:
        if arguments.scope is not None and not address.scope.name:
            from memoranda.core.addresses import Address, parse_scope

            address = Address(parse_scope(arguments.scope), address.category)
        items = vault.items(str(address))
        if not items:
            # Says what is wrong with the file, or that there is none.
            vault.read_category(str(address))
    if arguments.json:
        out.json([item_record(item) for item in items])
        return 0
    rows = [[str(item.address), local_time(item.metadata.ts)[:10], first_line(item.text)] for item in items]
    for line in columns(rows, limit=out.columns):
        out.line(line)
    if not items:
        out.note("no item in it")
    return 0


def show(session: Session) -> int:
    """Print a category, an item, a turn or a conversation."""
    from memoranda.core.addresses import parse_address

    address: str = session.arguments.address
    if address.startswith("turn/"):
        return _show_turns(session, address)
    if parse_address(address).name is None:
        return _show_category(session, address)
    with session.open() as vault:
        item = vault.get(address, as_of=session.arguments.as_of)
    if item is None:
        when = f" as of {session.arguments.as_of}" if session.arguments.as_of else ""
        raise NotFound(f"there is no item {address}{when}")
    out = session.out
    if session.arguments.json:
        out.json(item_record(item))
        return 0
    if session.arguments.text:
        out.text(item.text + "\n")
        return 0
    out.styled(("bold", str(item.address)))
    out.text(f"\n{item.text}\n\n")
    facts = [[key, value] for key, value in item.metadata.pairs]
    facts += [["hash", item.hash], ["file", f"{item.path}:{item.line}" if item.line else item.path]]
    for line in columns([row for row in facts if row[1]]):
        out.styled(("dim", line))
    return 0


def _show_category(session: Session, address: str) -> int:
    if session.arguments.as_of is not None:
        raise UsageError("--as-of shows one item as it was: CATEGORY:NAME")
    with session.open() as vault:
        text = vault.read_category(address)
    if session.arguments.json:
        session.out.json({"address": address, "text": text})
    else:
        session.out.text(text)
    return 0


def _show_turns(session: Session, address: str) -> int:
    from memoranda.core.addresses import parse_turn

    parsed = parse_turn(address)
    if parsed is None:
        raise UsageError(f"a turn's address is turn/CONVERSATION#TURN, not {address!r}")
    if session.arguments.as_of is not None:
        raise UsageError("--as-of shows one item as it was; what was said stays said")
    with session.open() as vault:
        if parsed.turn is None:
            turns = [turn for _, _, turn in turns_with_lines(vault, parsed.conversation)]
        else:
            turn = vault.turn(address)
            turns = [] if turn is None else [turn]
    if not turns:
        raise NotFound(f"there is no {address}")
    out = session.out
    if session.arguments.json:
        out.json(turn_record(turns[0]) if parsed.turn is not None else [turn_record(t) for t in turns])
        return 0
    for number, turn in enumerate(turns):
        if not session.arguments.text:
            facts = [fact for fact in (local_time(turn.ts), turn.speaker or turn.role) if fact]
            head = f"  ({', '.join(facts)})" if facts else ""
            out.raw("\n" if number else "")
            out.styled(("bold", f"turn/{turn.conversation}#{turn.turn}"), ("dim", head))
        out.text(turn.text + "\n")
    return 0
