"""Commands that look after the vault: init, status, check, reindex, migrate."""

from __future__ import annotations

import os

from memoranda.core.errors import Conflict, MemorandaError, UsageError
from memoranda.faces.cli.parsing import Command, json_option
from memoranda.faces.cli.table import columns, local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]

#: Seconds that a command waits for another process that is embedding.
_PATIENCE = 600.0


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "init": Command(
            run=init,
            arguments=_init_arguments,
            description=(
                "DIR is the vault's folder; files that are there already stay as they are. --obsidian\n"
                "makes tools write links in the form that Obsidian follows, [[category#item]]."
            ),
            examples=(
                ("memoranda init", "the default vault"),
                ("memoranda init notes --obsidian", "inside a folder of Obsidian notes"),
            ),
        ),
        "status": Command(
            run=status,
            arguments=json_option,
            description="Counts, the last change, the state of the index, and faults worth a look.",
            examples=(("memoranda status --json", "for a script"),),
        ),
        "check": Command(
            run=check,
            arguments=_check_arguments,
            description=(
                "PATH:LINE: what is wrong. Nothing is changed without --repair, and --repair changes\n"
                "only what it can put right without loss. Faults do not stop the rest of the vault\n"
                "from working, and the exit code is 0 with faults and without."
            ),
            examples=(("memoranda check --json", "path, line, kind, message, repairable"),),
        ),
        "reindex": Command(
            run=reindex,
            arguments=_reindex_arguments,
            description=(
                "The index is derived from the files; this is never needed, and never harmful.\n"
                "Vectors, which take longest to make, are looked after with --vectors alone: what is\n"
                "not embedded is embedded now, and what is gone is taken out."
            ),
            examples=(
                ("memoranda reindex --vectors", "embed what is new, with progress"),
                ("memoranda reindex --vectors --anew", "embed everything again"),
            ),
        ),
        "migrate": Command(
            run=migrate,
            arguments=json_option,
            description="An older vault says by itself that it is needed.",
        ),
    }


def _init_arguments(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", nargs="?", help="the folder (default: the default vault)")
    parser.add_argument("--obsidian", action="store_true", help="write links as [[category#item]]")
    json_option(parser)


def _reindex_arguments(parser: Parser) -> None:
    parser.add_argument("--vectors", action="store_true", help="the vectors, and nothing else")
    parser.add_argument("--anew", action="store_true", help="with --vectors: embed what is embedded already, too")
    json_option(parser)


def _check_arguments(parser: Parser) -> None:
    parser.add_argument("--repair", action="store_true", help="put right what can be without loss")
    json_option(parser)


def init(session: Session) -> int:
    """Make a vault."""
    from memoranda.bootstrap import Vault

    arguments, out = session.arguments, session.out
    folder = session.folder() if arguments.directory is None else arguments.directory
    with Vault.open(folder, create=True) as vault:
        root, identity, new = vault.root, vault.id, vault.is_new
        if arguments.obsidian and vault.settings.link_style != "hash":
            _set_link_style(root)
    if arguments.json:
        out.json({"root": root, "id": identity, "new": new})
    else:
        out.line(f"{'new vault' if new else 'vault'}: {root}")
    return 0


def _set_link_style(root: str) -> None:
    """Write the one setting into a settings file of its own; a person's file is theirs to change.

    Raises:
        Conflict: there is a settings file already.
    """
    from memoranda.storage.settings import SETTINGS_FILE

    path = os.path.join(root, SETTINGS_FILE)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Conflict(f'{path} is there already: write link_style = "hash" into it') from None
    with open(descriptor, "wb") as stream:
        stream.write(b'# Links in the form that Obsidian follows: [[category#item]]\nlink_style = "hash"\n')
        stream.flush()
        os.fsync(descriptor)


def _show_status(out: Output, values: dict[str, Any]) -> None:
    rows = []
    for key, value in values.items():
        if isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value)) or "none"
        elif isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
        elif value is None or value == "":
            value = "none"
        elif key == "last_change":
            value = local_time(value)
        rows.append([key.replace("_", " "), str(value)])
    for line in columns(rows):
        out.line(line)


def status(session: Session) -> int:
    """Say what the vault holds."""
    with session.open() as vault:
        values = vault.status().as_dict()
        vectors = _vectors(vault)
        session.tell_unread(vault)
    if session.arguments.json:
        session.out.json(values | ({} if vectors is None else {"vectors": vectors}))
    else:
        _show_status(session.out, values | {f"vectors_{key}": value for key, value in (vectors or {}).items()})
    return 0


def _vectors(vault: Vault) -> dict[str, Any] | None:
    """How the vectors stand; what hinders that is told, for the rest of the status matters too."""
    try:
        found = vault.embedding_status()
    except MemorandaError as error:
        return {"fault": str(error)}
    return None if found is None else found.as_dict()


def check(session: Session) -> int:
    """List faults."""
    from memoranda.core.records import asdict

    arguments, out = session.arguments, session.out
    with session.open() as vault:
        problems = vault.check(repair=arguments.repair)
    if arguments.json:
        out.json([asdict(problem) for problem in problems])
        return 0
    for problem in problems:
        where = f"{problem.path}:{problem.line}" if problem.line else problem.path
        can = "  (--repair can put this right)" if problem.repairable and not arguments.repair else ""
        out.styled(("cyan", where), f": {problem.message}", ("dim", can))
    count = len(problems)
    out.note("no fault found" if not count else f"{count} fault{'s' if count > 1 else ''}")
    return 0


def reindex(session: Session) -> int:
    """Build the index anew."""
    if session.arguments.vectors:
        return _reindex_vectors(session)
    if session.arguments.anew:
        raise UsageError("--anew goes with --vectors")
    with session.open() as vault:
        progress = session.out.progress("read")
        try:
            values = vault.reindex(progress).as_dict()
        finally:
            progress.clear()
    if session.arguments.json:
        session.out.json(values)
    else:
        _show_status(session.out, values)
    return 0


def _reindex_vectors(session: Session) -> int:
    with session.open() as vault:
        progress = session.out.progress("embedded")
        try:
            done = vault.embed(progress, anew=session.arguments.anew, patience=_PATIENCE)
        finally:
            progress.clear()
        status = vault.embedding_status()
    values = {"embedded": done.embedded, "removed": done.removed}
    if session.arguments.json:
        session.out.json(values | ({} if status is None else {"vectors": status.as_dict()}))
    else:
        _show_status(session.out, values | ({} if status is None else status.as_dict()))
    return 0


def migrate(session: Session) -> int:
    """Bring the vault to the present format."""
    from memoranda.services.migrate import migrate as migrated

    done = list(migrated(session.folder()))
    if session.arguments.json:
        session.out.json(done)
        return 0
    for step in done:
        session.out.line(step)
    if not done:
        session.out.note("nothing to do: the vault has this program's format")
    return 0
