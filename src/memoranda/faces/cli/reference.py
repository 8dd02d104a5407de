"""Writes the reference of the command line: ``python -m memoranda.faces.cli.reference > docs/cli.md``."""

from __future__ import annotations

import sys

from memoranda.faces.cli.main import COMMANDS, GROUPS, load
from memoranda.faces.cli.usage import full_parser, option_names, usage, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from memoranda.faces.cli.parsing import Command, Parser

__all__ = ["reference"]

_OPENING = """\
# The command line

<!-- Written by `python -m memoranda.faces.cli.reference > docs/cli.md`; a test holds it to the program. -->

`memoranda [-C DIR] COMMAND ...` works on one vault: the folder given with `-C DIR` or `--vault DIR` (before or
after the command), else the one that `MEMORANDA_VAULT` names, else `~/memoranda`. `remember` and `import` make
a vault that is not there yet and name it; every other command but `init` and `demo` then ends with exit code
4. After a command `-h` or `--help` shows its use.

Results go to stdout, everything said about them to stderr. Output is UTF-8 whatever the locale. Colour is
used only on a terminal, and not when `NO_COLOR` is set. With `--json` a result is one JSON value (with
`log -f` and plain `export` one object a line); an error is one line on stderr all the same, and stdout stays
empty. Control characters in what is stored are shown written out (`\\x1b`) to people, and kept in JSON.

Text that begins with `-` stands after `--`: `memoranda recall -- -x`.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | done |
| 1 | nothing found |
| 2 | wrong use |
| 3 | conflict: the vault holds something else than was believed; nothing was written |
| 4 | the vault cannot be used: absent, unreadable, read-only, full, busy, or of another format |
| 5 | an optional part is not installed; the message names it |
| 6 | a service outside failed |
| 70 | a fault of the program itself (`MEMORANDA_DEBUG=1` shows where) |
| 130 | ended by Ctrl-C |
| 141 | whoever read the output has stopped reading |
"""


def reference() -> str:
    """The whole page."""
    parts = [_OPENING]
    for group in GROUPS:
        parts.append(f"\n## {group}\n")
        for name, row in COMMANDS.items():
            if row[1] == group:
                parts.append(_section(name, row[2], *load(name)))
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(action: argparse.Action) -> str:
    return f"| `{_cell(option_names(action))}` | {_cell(action.help or '')} |\n"


def _section(name: str, summary: str, command: Command, parser: Parser) -> str:
    full = full_parser(parser)
    shown = wrapped(usage(full), 100, "    ")
    text = [f"\n### {name}\n\n{summary[0].upper()}{summary[1:]}.\n\n```\n{shown}\n```\n"]
    if command.description:
        text.append(f"\n{_prose(command.description)}\n")
    rows = [_row(action) for action in full._actions if action.dest not in ("help", "vault")]
    if rows:
        text.append("\n| argument | |\n| --- | --- |\n" + "".join(rows))
    if command.examples:
        text.append("\n```sh\n")
        text += [f"{line}  # {what}\n" for line, what in command.examples]
        text.append("```\n")
    return "".join(text)


def _prose(description: str) -> str:
    """The description as markdown: set-off lines become a list."""
    lines: list[str] = []
    for line in description.split("\n"):
        if line.startswith("  "):
            word, _, rest = line.strip().partition(" ")
            if lines and not lines[-1].startswith("- "):
                lines.append("")
            lines.append(f"- `{word}`: {rest.strip()}")
        else:
            if lines and lines[-1].startswith("- "):
                lines.append("")
            lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(reference())
