"""The command that ties memoranda to a host's hooks: hook."""

from __future__ import annotations

import sys

from memoranda.core.exchanges import TurnContext
from memoranda.faces.cli.memorizing import add_context, context_from
from memoranda.faces.cli.parsing import Command
from memoranda.faces.hooks.claude_code import EVENTS, run_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.faces.cli.parsing import Arguments, Parser
    from memoranda.faces.cli.session import Session
    from memoranda.faces.hooks.claude_settings import Change

__all__ = ["commands", "hook"]

_HOSTS = ("claude-code",)
#: Bytes that a hook reads from its host: far more than any prompt has.
_LONGEST_INPUT = 16 << 20


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "hook": Command(
            run=hook,
            arguments=_hook_arguments,
            description=(
                "install puts hooks into Claude Code's settings: each session then begins with an overview of\n"
                "what is remembered, each prompt comes with what is remembered about it, and what was said is\n"
                "queued in inbox/ (and memorized in the background, where [model] is set). A copy of the\n"
                "settings is made first; uninstall takes out these hooks and nothing else. The other actions\n"
                "are what the hooks call: they read the event as JSON on stdin, and a fault never holds up\n"
                "the session."
            ),
            examples=(
                ("memoranda hook claude-code install --user lin --dry-run", "show what would be added"),
                ("memoranda hook claude-code install --user lin", "give Claude Code Lin's memory"),
                ("memoranda hook claude-code uninstall", "take it away again"),
            ),
        ),
    }


def _hook_arguments(parser: Parser) -> None:
    parser.add_argument("host", metavar="HOST", choices=_HOSTS, help="claude-code")
    parser.add_argument("action", metavar="ACTION", choices=("install", "uninstall", *EVENTS),
                        help=f"install, uninstall; or an event: {', '.join(EVENTS)}")  # fmt: skip
    add_context(parser)
    parser.add_argument("--settings", metavar="FILE", default="", help="edit this file (else ~/.claude/settings.json)")
    parser.add_argument("--project-settings", action="store_true", help="edit ./.claude/settings.json")
    parser.add_argument("--dry-run", action="store_true", help="show what install or uninstall would change")


def hook(session: Session) -> int:
    """Answer a host's event, or put the hooks into its settings."""
    arguments = session.arguments
    if arguments.action in EVENTS:
        return _answer(session)
    from memoranda.faces.hooks import claude_settings

    path = claude_settings.settings_path(arguments.settings, project=arguments.project_settings)
    if arguments.action == "uninstall":
        change = claude_settings.uninstall(path, dry_run=arguments.dry_run)
        return _tell(session, change, "no hook of memoranda is there")
    context_from(arguments)
    options = _options(arguments)
    change = claude_settings.install(
        path, claude_settings.commands_for(_program(session), options), dry_run=arguments.dry_run
    )
    if not arguments.dry_run:
        with session.open_or_create():
            pass
    return _tell(session, change, "the hooks are there already")


def _answer(session: Session) -> int:
    """Always 0: another code would hold up the session, or stop it."""
    arguments, out = session.arguments, session.out
    try:
        data = b"" if sys.stdin is None else sys.stdin.buffer.read(_LONGEST_INPUT)
        context = TurnContext(
            user=arguments.user, agent=arguments.agent, project=arguments.project, scope=arguments.scope
        )
        answer = run_hook(arguments.action, data, session.folder(), context, lambda line: out.error(line))
        if answer is not None:
            out.json(answer, indent=None)
    except Exception as error:
        out.error(f"{type(error).__name__}: {error}")
    return 0


def _program(session: Session) -> list[str]:
    """How the hooks call this program, with the vault.

    The user's own settings get whole paths, for a hook's folder and PATH are
    not this shell's. A project's settings are shared with others, whose paths
    are not these: they get the program's name, and a vault only if one was given.
    """
    import os
    import shutil

    folder = os.path.abspath(os.path.expanduser(session.folder()))
    if session.arguments.project_settings:
        return ["memoranda", *(["-C", folder] if session.arguments.vault else [])]
    found = shutil.which("memoranda")
    program = [os.path.abspath(found)] if found else [sys.executable or "python3", "-m", "memoranda"]
    return [*program, "-C", folder]


def _options(arguments: Arguments) -> list[str]:
    named = (("--user", arguments.user), ("--project", arguments.project), ("--agent", arguments.agent))
    return [word for option, value in (*named, ("--scope", arguments.scope)) if value for word in (option, value)]


def _tell(session: Session, change: Change, nothing: str) -> int:
    out = session.out
    if not change:
        out.line(f"{change.path}: {nothing}; nothing to change")
        return 0
    would = "would change " if session.arguments.dry_run else "changed "
    out.line(would + change.path)
    for mark, pairs in (("-", change.removed), ("+", change.added)):
        for event, command in pairs:
            out.line(f"{mark} {event}: {command}")
    if change.backup:
        out.line(f"the file as it was: {change.backup}")
    return 0
