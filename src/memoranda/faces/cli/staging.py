"""The commands about stages of work and the project they belong to: stage, project."""

from __future__ import annotations

import os

from memoranda.core.errors import Conflict, NotFound, UsageError
from memoranda.faces.cli.parsing import Command, json_option
from memoranda.faces.cli.table import clip, columns, first_line, local_time
from memoranda.faces.cli.writing import redactions_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.core.model import Redaction
    from memoranda.core.stages import StageRecord
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session
    from memoranda.storage.stage_files import StageSummary

__all__ = ["commands"]

_ACTIONS = ("start", "note", "end", "ls", "show")
_ROLES = ("user", "assistant", "tool")
_WIDEST = 60


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "stage": Command(
            run=stage,
            arguments=_stage_arguments,
            description=(
                "start NAME       begin a stage of work, or go on with one that was left open\n"
                "note NAME TEXT   add a note (TEXT -: from stdin); with --role what somebody said\n"
                "end NAME         end it: all of it is in one readable file then; --summary says what came of it\n"
                "ls               the stages of the project (of all, where the present folder belongs to none)\n"
                "show NAME        what is in it, ended or not\n\n"
                "Without --project it is the project of the present folder; `memoranda project` says which that is.\n"
                "A stage lies in projects/PROJECT/stages/ of the vault. Secrets are replaced before it is written."
            ),
            examples=(
                ("memoranda stage start design --project shop", "begin"),
                ('memoranda stage note design "Prices are kept in cents."', "add a note"),
                ("memoranda stage end design", "end it; sleep makes memories of what ended"),
            ),
        ),
        "project": Command(
            run=project,
            arguments=_project_arguments,
            description=(
                "A file .memoranda-project in the folder or above it holds the id; else it is made of the URL of the\n"
                "git remote origin, so that all clones and worktrees are one project. --create gives a folder or a\n"
                "repository that has neither an id of its own. The vault is not looked at."
            ),
            examples=(("memoranda project --create", "give the present folder an id"),),
        ),
    }


def _stage_arguments(parser: Parser) -> None:
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help=", ".join(_ACTIONS))
    parser.add_argument("name", metavar="NAME", nargs="?", help="the stage")
    parser.add_argument("text", metavar="TEXT", nargs="*", help="note: the text; none or - reads stdin")
    parser.add_argument("--project", metavar="ID", help="whose stage it is (else the present folder's project)")
    parser.add_argument("--agent", metavar="NAME", default="", help="start: who works")
    parser.add_argument("--role", choices=_ROLES, help="note: it was said, by whom")
    parser.add_argument("--summary", metavar="TEXT", default="", help="end: what came of it")
    json_option(parser)


def stage(session: Session) -> int:
    """Do one of the actions."""
    arguments = session.arguments
    action, name = arguments.action, arguments.name
    if action != "ls" and not name:
        raise UsageError(f"stage {action} needs the NAME of a stage")
    if action == "ls" and name:
        raise UsageError("stage ls takes no name; stage show prints one")
    if action != "note" and arguments.text:
        raise UsageError(f"stage {action} takes one name; a summary stands after --summary")
    if action == "ls":
        return _list(session)
    whose = arguments.project or _present().id
    if action == "start":
        return _start(session, whose)
    if action == "note":
        return _note(session, whose)
    return _end(session, whose) if action == "end" else _show(session, whose)


def _present() -> Any:
    from memoranda.services.project_identity import identify

    return identify(os.getcwd())


def _start(session: Session, whose: str) -> int:
    arguments, out = session.arguments, session.out
    with session.open_or_create() as vault:
        begun = vault.stage(arguments.name, project=whose, agent=arguments.agent)
        count = len(begun.records)
        begun.close()
    if arguments.json:
        out.json({"project": begun.project, "stage": begun.name, "agent": begun.agent, "begun": begun.begun,
                  "records": count})  # fmt: skip
    else:
        out.line(f"{begun.source}  " + (f"goes on, {_counted(count)}" if count else "begun"))
    return 0


def _note(session: Session, whose: str) -> int:
    arguments = session.arguments
    text = session.text()
    with session.open() as vault:
        _check_open(vault, whose, arguments.name)
        noted = vault.stage(arguments.name, project=whose)
        try:
            found = noted.say(text, role=arguments.role) if arguments.role else noted.note(text)
            count = len(noted.records)
        finally:
            noted.close()
    _tell_redactions(session, found)
    if arguments.json:
        session.out.json({"project": noted.project, "stage": noted.name, "records": count})
    else:
        session.out.line(f"{noted.source}#{count}")
    return 0


def _end(session: Session, whose: str) -> int:
    arguments = session.arguments
    with session.open() as vault:
        _check_open(vault, whose, arguments.name)
        ending = vault.stage(arguments.name, project=whose)
        try:
            archive = ending.end(arguments.summary)
        finally:
            ending.close()
        path = f"projects/{archive.project}/stages/{archive.stage}.json"
    _tell_redactions(session, ending.redactions)
    if arguments.json:
        session.out.json({"project": archive.project, "stage": archive.stage, "records": len(archive.records),
                          "path": path})  # fmt: skip
    else:
        session.out.line(f"{archive.source}  ended, {_counted(len(archive.records))} in {path}")
    return 0


def _check_open(vault: Vault, whose: str, name: str) -> None:
    """See that there is something to go on with: a slip of the pen begins no stage."""
    try:
        found = vault.stage_archive(whose, name)
    except NotFound:
        raise NotFound(f"there is no stage {name} of project {whose}; memoranda stage start begins one") from None
    if found.ended:
        raise Conflict(f"stage {found.stage} of project {found.project} has ended")


def _list(session: Session) -> int:
    arguments, out = session.arguments, session.out
    whose = arguments.project
    if not whose:
        try:
            whose = _present().id
        except NotFound:
            whose = None
    with session.open() as vault:
        found = vault.stages(whose)
    if arguments.json:
        from memoranda.core.records import asdict

        out.json([asdict(one) for one in found])
        return 0
    for line in columns([_row(one) for one in found], limit=out.columns):
        out.line(line)
    if not found:
        out.note(f"project {whose} has no stages" if whose else "there are no stages")
    return 0 if found else NotFound.exit_code


def _row(one: StageSummary) -> list[str]:
    state = one.problem or (f"ended {local_time(one.ended)}" if one.ended else "open")
    return [f"{one.project}/{one.stage}", _counted(one.records), local_time(one.begun), one.agent, state]


def _show(session: Session, whose: str) -> int:
    out = session.out
    with session.open() as vault:
        found = vault.stage_archive(whose, session.arguments.name)
    if session.arguments.json:
        from memoranda.core.stages import header_of, record_to_json

        out.json({**header_of(found), "records": [record_to_json(record) for record in found.records]})
        return 0
    state = f"ended {local_time(found.ended)}" if found.ended else "open"
    begun = f"begun {local_time(found.begun)}" if found.begun else ""
    out.styled(("bold", found.source), "  " + ", ".join(filter(None, (begun, state, found.agent))))
    if found.summary:
        out.line(found.summary)
    for number, record in enumerate(found.records, 1):
        out.styled(("dim", f"#{number} {local_time(record.ts)}"), f" {_who(record)}")
        for line in (record.text or clip(first_line(record.result), _WIDEST * 2)).split("\n"):
            out.line(f"  {line}")
    return 0


def _who(record: StageRecord) -> str:
    if record.forgotten:
        return "(forgotten)"
    if record.kind != "tool":
        return record.speaker or record.role or record.kind
    if record.arguments is None:
        return record.tool
    import json

    return f"{record.tool} {clip(json.dumps(record.arguments, ensure_ascii=False), _WIDEST)}"


def _counted(number: int) -> str:
    return f"{number} record" if number == 1 else f"{number} records"


def _tell_redactions(session: Session, found: tuple[Redaction, ...]) -> None:
    if found:
        session.out.note(f"secrets were taken out before writing: {redactions_in_words(found)}")


def _project_arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="the folder (else the present one)")
    parser.add_argument("--create", action="store_true", help="give it an id if nothing tells one")
    json_option(parser)


_HOW = {
    "id-file": "from {root}/.memoranda-project",
    "git-remote": "from the git remote origin of {root}",
    "git-id-file": "from memoranda-project in the git folder of {root}",
}


def project(session: Session) -> int:
    """Say which project a folder belongs to."""
    from memoranda.services.project_identity import identify

    arguments = session.arguments
    found = identify(arguments.folder, create=arguments.create)
    if arguments.json:
        session.out.json({"id": found.id, "root": found.root, "how": found.how})
        return 0
    session.out.line(found.id)
    session.out.note(_HOW[found.how].format(root=found.root))
    return 0
