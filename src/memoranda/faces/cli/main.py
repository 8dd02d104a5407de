"""The command line's entry: which command is meant, and what becomes of its errors.

The command is looked up before anything else is imported, so that a call pays
only for the modules of its own command.
"""

from __future__ import annotations

import gc
import os
import sys

from memoranda.core.errors import MemorandaError, UsageError, VaultError
from memoranda.faces.cli.output import Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.faces.cli.parsing import Command, Parser

__all__ = ["COMMANDS", "GROUPS", "load", "main", "overview"]

#: name -> (module of this package, group, one line of help)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("keeping", "Start", "make a vault, or say that it is one already"),
    "demo": ("demo", "Start", "show recall at work on a small made-up memory"),
    "remember": ("writing", "Write", "add an item of memory"),
    "revise": ("writing", "Write", "put a new text in the place of an item's text"),
    "rename": ("writing", "Write", "give an item another name and mend the links to it"),
    "forget": ("writing", "Write", "remove an item, a source or a person for good"),
    "undo": ("writing", "Write", "take a change back"),
    "memorize": ("memorizing", "Write", "queue conversations, to be turned into memories"),
    "worker": ("memorizing", "Write", "turn what is queued into memories, by a model"),
    "choices": ("choosing", "Keep", "list the questions that wait for you, and answer them"),
    "sleep": ("sleeping", "Keep", "consolidate: from stages to projects to what holds everywhere"),
    "inbox": ("memorizing", "Keep", "say what is queued, and what needs a person's look"),
    "stage": ("staging", "Write", "keep what is said and done in one stage of work"),
    "recall": ("recalling", "Read", "find what is remembered about something"),
    "explain": ("recalling", "Read", "recall, and say why each item was found"),
    "ls": ("reading", "Read", "list the categories, or the items of one"),
    "show": ("reading", "Read", "print a category, an item or a turn"),
    "grep": ("searching", "Read", "find the lines that match a regular expression"),
    "graph": ("searching", "Read", "draw the links between items"),
    "log": ("history", "Read", "list what has been changed, when and by whom"),
    "status": ("keeping", "Keep", "say what the vault holds and how it is"),
    "check": ("keeping", "Keep", "list the faults in the vault's files"),
    "reindex": ("keeping", "Keep", "build the index anew from the files"),
    "migrate": ("keeping", "Keep", "bring an older vault to this program's format"),
    "project": ("staging", "Keep", "say which project a folder belongs to, and why"),
    "kb": ("knowledge", "Exchange", "take in documents of many formats, to be searched by passages"),
    "import": ("importing", "Exchange", "take in conversations or another program's memory"),
    "export": ("importing", "Exchange", "print everything as JSON"),
    "hook": ("hooking", "Exchange", "give a host's sessions this memory (Claude Code)"),
}

GROUPS = ("Start", "Write", "Read", "Keep", "Exchange")

#: Exit codes beside those of :mod:`memoranda.core.errors`.
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141


#: So many new objects are looked through for garbage at once: a short run never comes to it.
_GARBAGE = 200_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises but for ``SystemExit`` by ``--help``.

    Without ``argv`` it is the process's own, which ends with the command.
    """
    if argv is not None or not hasattr(gc, "freeze"):
        return _main(list(sys.argv[1:] if argv is None else argv))
    gc.set_threshold(_GARBAGE)
    try:
        return _main(sys.argv[1:])
    finally:
        # What is left ends with the process: looking for garbage in it would take a tenth of a recall's time.
        gc.freeze()


def _main(argv: list[str]) -> int:
    out = Output.standard()
    try:
        try:
            code = _run(argv, out)
        finally:
            out.flush()
    except BrokenPipeError:
        out.abandon()
        return EXIT_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except MemorandaError as error:
        out.error(str(error))
        # A host takes a hook's exit code for an order: 2 would withhold what the user said.
        return 0 if _is_hook_of_a_session(argv) else error.exit_code
    except OSError as error:
        return _system_error(error, out)
    except Exception as error:
        if os.environ.get("MEMORANDA_DEBUG"):
            raise
        out.error(f"internal error: {type(error).__name__}: {error} (MEMORANDA_DEBUG=1 shows where)")
        return EXIT_INTERNAL
    return code


def _is_hook_of_a_session(argv: list[str]) -> bool:
    """Whether an event of a host's session is handled, not a command of a person."""
    return "hook" in argv[:3] and not {"install", "uninstall", "-h", "--help"} & set(argv) and not sys.stdin.isatty()


def _system_error(error: OSError, out: Output) -> int:
    """A fault of the file system that no floor below has named."""
    if error.filename is None and out.failed:
        out.abandon()
        out.error(f"the output could not be written: {error.strerror or error}")
        return MemorandaError.exit_code
    where = f"{error.filename}: " if error.filename is not None else ""
    out.error(f"{where}{error.strerror or error}")
    return VaultError.exit_code


def _run(argv: list[str], out: Output) -> int:
    leading, name, rest = _split(argv)
    if "--version" in leading:
        from memoranda.version import __version__

        out.raw(f"memoranda {__version__}\n")
        return 0
    if name == "help":
        # `memoranda help recall` is what many people type.
        leading, name, rest = [*leading, "--help"], (rest[0] if rest else None), []
    if name is None:
        asked = "-h" in leading or "--help" in leading
        text = overview()
        if not asked:
            out.note(text.rstrip("\n"), lines=True)
            return UsageError.exit_code
        out.raw(text)
        return 0
    command, parser = load(name)
    from memoranda.faces.cli.session import Session

    return command.run(Session(parser.parse(leading + rest), out))


def _split(argv: list[str]) -> tuple[list[str], str | None, list[str]]:
    """The options before the command, the command, and what follows it.

    Raises:
        UsageError: an option stands before the command that belongs after it.
    """
    leading: list[str] = []
    position = 0
    while position < len(argv):
        word = argv[position]
        if not word.startswith("-") or word == "-":
            return leading, word, argv[position + 1 :]
        leading.append(word)
        position += 1
        if word in ("-C", "--vault"):
            if position == len(argv):
                raise UsageError(f"{word} needs a folder")
            leading.append(argv[position])
            position += 1
        elif word not in ("-h", "--help", "--version") and not word.startswith(("-C", "--vault=")):
            raise UsageError(f"{word} is no option that stands before a command: memoranda --help lists them")
    return leading, None, []


def load(name: str) -> tuple[Command, Parser]:
    """One command and its parser.

    Raises:
        UsageError: there is no such command; the message names the nearest.
    """
    if name not in COMMANDS:
        raise UsageError(f"no such command: {name!r}{_nearest(name)}; memoranda --help lists them")
    from memoranda.faces.cli.parsing import Parser

    module, _, summary = COMMANDS[name]
    # As importlib.import_module does it, which would be a module more to load.
    command: Command = __import__(f"memoranda.faces.cli.{module}", fromlist=["commands"]).commands()[name]
    return command, Parser(name, summary, command)


def _nearest(name: str) -> str:
    from memoranda.faces.cli.parsing import did_you_mean

    # Words that other programs use for the same thing.
    synonyms = {
        "remember": "add append store save put",
        "revise": "edit update set",
        "rename": "mv move",
        "forget": "rm delete remove",
        "recall": "search find query retrieve ask",
        "show": "cat get read",
        "ls": "list",
        "log": "history journal",
        "undo": "revert",
        "init": "new create",
        "status": "info",
        "choices": "choice questions answer decide",
        "check": "doctor verify fsck lint",
        "reindex": "rebuild index",
        "import": "load",
        "export": "dump",
    }
    meant = next((own for own, words in synonyms.items() if name.casefold() in words.split()), None)
    return f" (did you mean {meant}?)" if meant else did_you_mean(name, COMMANDS)


def overview() -> str:
    """The help of the program as a whole."""
    lines = [
        "usage: memoranda [-C DIR] COMMAND ...",
        "",
        "Long-term memory for people and their agents, in plain markdown files.",
    ]
    for group in GROUPS:
        lines += ["", f"{group}:"]
        lines += [f"  {name:<10}{row[2]}" for name, row in COMMANDS.items() if row[1] == group]
    lines += [
        "",
        "Options:",
        "  -C DIR, --vault DIR   the vault's folder (else MEMORANDA_VAULT, else ~/memoranda)",
        "  -h, --help            this text; after a command: that command's options",
        "  --version             the program's version",
        "",
        "Exit codes: 0 done, 1 nothing found, 2 wrong use, 3 conflict, 4 vault unreadable,",
        "5 optional part not installed, 6 outside service failed.",
        "",
        'Start with:  memoranda remember preferences "Likes the sea."  &&  memoranda recall sea',
    ]
    return "\n".join(lines) + "\n"
