"""The command over what happened: log."""

from __future__ import annotations

from memoranda.faces.cli.parsing import Command, json_option, positive
from memoranda.faces.cli.table import columns, local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memoranda.core.model import JournalEntry
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]

_SHOWN_BEFORE_FOLLOWING = 10


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "log": Command(
            run=log,
            arguments=_log_arguments,
            description=(
                "One line a change, the newest last: id, time, action, what, who. The id is what undo\n"
                "takes. The journal holds hashes, never texts."
            ),
            examples=(
                ("memoranda log -n 20", "the last twenty changes"),
                ("memoranda log -f", "the last ten, then every new one as it comes (Ctrl-C ends it)"),
            ),
        )
    }


def _log_arguments(parser: Parser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="go on with new changes as they come")
    parser.add_argument("-n", metavar="N", type=positive, help="only the last N (default: all; with -f: ten)")
    json_option(parser, "print JSON: an array, with -f one object a line")


def log(session: Session) -> int:
    """List changes."""
    arguments, out = session.arguments, session.out
    limit: int | None = arguments.n or (_SHOWN_BEFORE_FOLLOWING if arguments.follow else None)
    with session.open() as vault:
        entries = vault.log(limit)
        if not arguments.follow:
            if arguments.json:
                out.json([entry_record(entry) for entry in entries])
            else:
                _show(out, entries)
                if not entries:
                    out.note("no change yet")
            return 0
        seen = {entry.id for entry in entries}
        for entry in entries:
            _show_followed(out, entry, json=arguments.json)
        out.flush()
        for entry in vault.follow():
            if entry.id in seen:
                continue
            _show_followed(out, entry, json=arguments.json)
            out.flush()
    return 0


def entry_record(entry: JournalEntry) -> dict[str, Any]:
    """A line of the journal as JSON shows it."""
    from memoranda.core.records import asdict

    return asdict(entry)


def _row(entry: JournalEntry) -> list[str]:
    prefix = "" if entry.scope == "shared" or entry.category is None else f"{entry.scope}/"
    what = f"{prefix}{entry.category or ''}" + (f":{entry.item}" if entry.item else "")
    source = f"from {entry.source}" if entry.source else ""
    return [entry.id, local_time(entry.ts, seconds=True), entry.action, what, entry.actor, source]


def _show(out: Output, entries: Sequence[JournalEntry]) -> None:
    for line in columns([_row(entry) for entry in entries], limit=out.columns):
        out.line(line)


def _show_followed(out: Output, entry: JournalEntry, *, json: bool) -> None:
    if json:
        out.json(entry_record(entry), indent=None)
    else:
        out.line("  ".join(cell for cell in _row(entry) if cell))
