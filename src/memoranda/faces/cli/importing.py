"""Commands that exchange with the world outside: import, export."""

from __future__ import annotations

import os

from memoranda.core.errors import Conflict, MemorandaError, NotFound, UsageError, VaultUnreadable
from memoranda.faces.cli.memorizing import add_context, context_from
from memoranda.faces.cli.parsing import Command, did_you_mean, json_option
from memoranda.faces.cli.writing import redactions_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.bootstrap import Vault
    from memoranda.core.exchanges import TurnContext
    from memoranda.core.model import Imported
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]

#: How many problems are listed.
_FIRST = 20


def commands() -> dict[str, Command]:
    """The commands of this module."""
    from memoranda.adapters.registry import IMPORT_FORMATS

    return {
        "import": Command(
            run=import_,
            arguments=_import_arguments,
            description=(
                "FORMAT is one of:\n"
                + "\n".join(f"  {name:<14}{known.reads}" for name, known in IMPORT_FORMATS.items())
                + "\nPATH stays as it is. Importing the same again adds nothing. A faulty record is named\n"
                "on stderr and the rest goes on; the exit code is non-zero when every record failed."
            ),
            examples=(
                ("memoranda import turns chats.jsonl", "conversations as they were said"),
                ("memoranda import obsidian ~/notes --dry-run", "what would be added; nothing is written"),
                ("memoranda import chatgpt export.zip --memorize --user lin", "and queue it to be memorized"),
            ),
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
    parser.add_argument("--dry-run", action="store_true", help="only say what would be added; write nothing")
    parser.add_argument("--memorize", action="store_true", help="queue conversations too, for memoranda worker")
    add_context(parser)
    json_option(parser)


def import_(session: Session) -> int:
    """Take in another program's memory."""
    arguments, out = session.arguments, session.out
    # Looked at first, so that a slip of the pen makes no vault.
    _check_format(arguments.format)
    context = context_from(arguments) if arguments.memorize else None
    if context is None and (arguments.user or arguments.agent or arguments.project or arguments.scope):
        raise UsageError("--user, --agent, --project and --scope go with --memorize")
    path = os.path.expanduser(arguments.path)
    if path != "-" and not os.path.lexists(path):
        raise NotFound(f"there is no file or folder {arguments.path}")
    if arguments.dry_run:
        imported = _tried(session, path, context)
    else:
        with session.open_or_create() as vault:
            imported = _imported(session, vault, path, context)
    _report(out, imported, json=arguments.json, dry_run=arguments.dry_run)
    return _exit_code(imported)


def _imported(session: Session, vault: Vault, path: str, context: TurnContext | None) -> Imported:
    arguments = session.arguments
    progress = session.out.progress("looked at" if arguments.dry_run else "imported")
    try:
        return vault.import_from(arguments.format, path, progress=progress, dry_run=arguments.dry_run, memorize=context)
    finally:
        progress.clear()


def _tried(session: Session, path: str, context: TurnContext | None) -> Imported:
    """What an import would do. A vault that is not there yet is not made: an empty one elsewhere stands for it."""
    try:
        vault = session.open()
    except VaultUnreadable:
        if not _may_become_a_vault(os.path.expanduser(session.folder())):
            raise
    else:
        # Not closed: closing a vault brings its overview up to date, and that is writing.
        return _imported(session, vault, path, context)
    from tempfile import TemporaryDirectory

    from memoranda.bootstrap import Vault

    with TemporaryDirectory(prefix="memoranda-dry-run-") as empty:
        return _imported(session, Vault.open(empty), path, context)


def _may_become_a_vault(folder: str) -> bool:
    """Whether there is nothing yet, or a folder in which an import would make a vault."""
    if not os.path.lexists(folder):
        return True
    usable = os.path.isdir(folder) and os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    return usable and not os.path.lexists(os.path.join(folder, "vault.json"))


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


def _report(out: Output, imported: Imported, *, json: bool, dry_run: bool) -> None:
    if json:
        from memoranda.core.records import asdict

        out.json(asdict(imported) | {"total": imported.total} | ({"dry_run": True} if dry_run else {}))
    else:
        counts = [
            f"{imported.added} {'to add' if dry_run else 'added'}",
            f"{imported.unchanged} unchanged",
            f"{imported.conflicts} in conflict",
            f"{imported.skipped} skipped",
            f"{imported.queued} queued to be memorized",
        ]
        told = ", ".join(count for count in counts if not count.startswith("0 ")) or "nothing to import"
        out.line(f"{told} (dry run: nothing was written)" if dry_run else told)
    problems = imported.problems[:_FIRST]
    for problem in problems:
        out.note(str(problem))
    if len(problems) < len(imported.problems):
        out.note(f"and {len(imported.problems) - len(problems)} more")
    if imported.redactions:
        when = "would be" if dry_run else "were"
        out.note(f"secrets {when} taken out before writing: {redactions_in_words(imported.redactions)}")


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
