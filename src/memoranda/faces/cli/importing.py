"""Commands that exchange with the world outside: import, export."""

from __future__ import annotations

import os

from memoranda.core.errors import Conflict, MemorandaError, NotFound, UsageError
from memoranda.faces.cli.parsing import Command, did_you_mean, json_option
from memoranda.faces.cli.writing import redactions_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.model import Imported
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]


def commands() -> dict[str, Command]:
    """The commands of this module."""
    from memoranda.adapters.registry import IMPORT_FORMATS

    return {
        "import": Command(
            run=import_,
            arguments=_import_arguments,
            description=(
                "FORMAT is one of:\n"
                + "\n".join(f"  {name:<10}{known.reads}" for name, known in IMPORT_FORMATS.items())
                + "\nPATH stays as it is. Importing the same again adds nothing. A faulty record is named\n"
                "on stderr and the rest goes on; the exit code is non-zero when every record failed."
            ),
            examples=(("memoranda import turns chats.jsonl", "conversations as they were said"),),
        ),
        "export": Command(
            run=export,
            arguments=lambda parser: json_option(parser, "one JSON array instead of one object a line"),
            description="Every item and every turn, one JSON object a line.",
            examples=(("memoranda export > memory.jsonl", "everything"),),
        ),
    }


def _import_arguments(parser: Parser) -> None:
    parser.add_argument("format", metavar="FORMAT", help="what is read: one of those above")
    parser.add_argument("path", metavar="PATH", help="the file or folder; - is stdin (turns)")
    json_option(parser)


def import_(session: Session) -> int:
    """Take in another program's memory."""
    arguments, out = session.arguments, session.out
    # Looked at first, so that a slip of the pen makes no vault.
    _check_format(arguments.format)
    path = os.path.expanduser(arguments.path)
    if path != "-" and not os.path.lexists(path):
        raise NotFound(f"there is no file or folder {arguments.path}")
    with session.open_or_create() as vault:
        progress = out.progress("imported")
        try:
            imported = vault.import_from(arguments.format, path, progress=progress)
        finally:
            progress.clear()
    _report(out, imported, json=arguments.json)
    return _exit_code(imported)


def _check_format(name: str) -> None:
    """Raise UsageError for an unknown format, before a vault is made for it."""
    from memoranda.adapters.registry import IMPORT_FORMATS

    if name.strip().casefold() not in IMPORT_FORMATS:
        near = did_you_mean(name, IMPORT_FORMATS)
        raise UsageError(f"no such format: {name!r}{near}; known: {', '.join(IMPORT_FORMATS)}")


def _exit_code(imported: Imported) -> int:
    """0 unless every record failed."""
    if imported.added or imported.unchanged:
        return 0
    if imported.conflicts:
        return Conflict.exit_code
    return MemorandaError.exit_code if imported.problems or imported.skipped else 0


def _report(out: Output, imported: Imported, *, json: bool) -> None:
    if json:
        from memoranda.core.records import asdict

        out.json(asdict(imported) | {"total": imported.total})
    else:
        counts = [
            f"{imported.added} added",
            f"{imported.unchanged} unchanged",
            f"{imported.conflicts} in conflict",
            f"{imported.skipped} skipped",
        ]
        out.line(", ".join(count for count in counts if not count.startswith("0 ")) or "nothing to import")
    for problem in imported.problems:
        out.note(str(problem))
    if imported.redactions:
        out.note(f"secrets were taken out before writing: {redactions_in_words(imported.redactions)}")


def export(session: Session) -> int:
    """Print every item and turn."""
    out = session.out
    with session.open() as vault:
        if session.arguments.json:
            out.json(list(vault.export()))
        else:
            for record in vault.export():
                out.json(record, indent=None)
        session.tell_unread(vault)
    return 0
