"""Help, usage and the words for wrong use: the whole parser of a command, made by :mod:`argparse`.

Only who asks for help, or writes what :mod:`.parsing` does not read itself, pays for it.
"""

from __future__ import annotations

import argparse
import os

from memoranda.core.errors import UsageError
from memoranda.faces.cli.parsing import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from memoranda.faces.cli.parsing import Parser

__all__ = ["FullParser", "full_parser", "option_names", "usage", "wrapped"]

_WIDEST_HELP = 100


def _help_width() -> int:
    """Columns for help; asked here because argparse would import ``shutil`` for it."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return min(int(columns), _WIDEST_HELP)
    try:
        return min(os.get_terminal_size(1).columns or 80, _WIDEST_HELP)
    except (OSError, ValueError):
        return 80


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """The same text from every version of Python."""

    def __init__(self, prog: str, **options: object) -> None:
        super().__init__(prog, max_help_position=26, width=max(_help_width() - 2, 38))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return option_names(action)


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "|".join(str(choice) for choice in action.choices)
    return action.dest.upper().replace("_", "-")


def option_names(action: argparse.Action) -> str:
    """An argument as help shows it: ``-k N, --limit N`` is shown as ``-k, --limit N``."""
    if not action.option_strings:
        return _metavar(action)
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {_metavar(action)}"


def usage(parser: argparse.ArgumentParser) -> str:
    """The command with its arguments in one line, those common to all commands left out."""
    parts = [parser.prog]
    for action in parser._actions:
        if action.dest in ("help", "vault"):
            continue
        shown = _metavar(action)
        if not action.option_strings:
            optional = action.nargs in ("?", "*")
            more = "..." if action.nargs in ("+", "*") else ""
            parts.append(f"[{shown}]" if optional else f"{shown}{more}")
            continue
        name = action.option_strings[0]
        part = f"[{name}]" if action.nargs == 0 else f"[{name} {shown}]"
        parts.append(part + ("..." if isinstance(action, argparse._AppendAction) else ""))
    return " ".join(parts)


class FullParser(argparse.ArgumentParser):
    """An argument parser whose errors are :class:`UsageError`, with the nearest option named."""

    def parse(self, words: list[str]) -> argparse.Namespace:
        """Read the arguments.

        Raises:
            UsageError: they are not what the command takes.
        """
        options = words[: words.index("--")] if "--" in words else words
        known = [name for action in self._actions for name in action.option_strings]
        for word in options:
            # Looked for first: argparse would rather complain of what is missing.
            if self._is_unknown_option(word, known):
                hint = did_you_mean(word.partition("=")[0], known) if word.startswith("--") else ""
                self.error(f"no such option: {word!r}{hint}; text that begins with - stands after --")
        if "--" not in words and any(action.nargs == "*" for action in self._actions):
            # Words that may be none are taken for none by argparse where an option stands before them.
            return self.parse_intermixed_args(words)
        return self.parse_args(words)

    @staticmethod
    def _is_unknown_option(word: str, known: list[str]) -> bool:
        if len(word) < 2 or word[0] != "-" or _is_number(word):
            return False
        if " " in word:
            # A sentence such as "-C is a language" must not become the option -C.
            return word[:2] in known
        return word.partition("=")[0] not in known and (word.startswith("--") or word[:2] not in known)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and leaving."""
        more = message.removeprefix("unrecognized arguments: ")
        if more != message:
            message = f"more arguments than it takes: {more}"
        raise UsageError(f"{message} ({self.prog} --help shows the use)")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def full_parser(parser: Parser) -> FullParser:
    """The parser of one command, from the same declarations."""
    epilog = ""
    if parser.command.examples:
        rows = [f"  {line}\n      {what}" for line, what in parser.command.examples]
        epilog = "examples:\n" + "\n".join(rows)
    full = FullParser(
        prog=f"memoranda {parser.name}",
        description=f"{parser.summary[0].upper()}{parser.summary[1:]}.\n\n{parser.command.description}",
        epilog=epilog,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    for argument in parser.arguments:
        full.add_argument(*argument.names, **argument.options)
    head = "usage: "
    full.usage = wrapped(usage(full), _help_width() - len(head), " " * (len(head) + 4)).replace("%", "%%")
    return full


def wrapped(line: str, width: int, indent: str) -> str:
    """A usage line broken between arguments; lines after the first are indented."""
    lines = [""]
    for part in _parts(line):
        if lines[-1] and len(lines[-1]) + 1 + len(part) > width:
            lines.append(indent + part)
        else:
            lines[-1] = f"{lines[-1]} {part}" if lines[-1] else part
    return "\n".join(lines)


def _parts(line: str) -> list[str]:
    """Split at spaces that stand outside of brackets."""
    parts, depth, current = [], 0, ""
    for char in line:
        depth += (char == "[") - (char == "]")
        if char == " " and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current]
