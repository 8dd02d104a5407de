"""Commands over everything at once: grep, graph."""

from __future__ import annotations

import os

from memoranda.core.errors import NotFound, UsageError
from memoranda.faces.cli.parsing import Command, json_option
from memoranda.faces.cli.turns import turns_with_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from memoranda.bootstrap import Vault
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "grep": Command(
            run=grep,
            arguments=_grep_arguments,
            description=(
                "Searches the lines of every category file (headings and what stands between items\n"
                "included) and of every turn, and prints PATH:LINE:TEXT. PATTERN is a regular\n"
                "expression of Python. Exit code 1 when no line matches."
            ),
            examples=(
                ("memoranda grep -i 'sea|海'", "either word, upper or lower case"),
                ("memoranda grep '\\[\\[trips:'", "every line that links into trips"),
            ),
        ),
        "graph": Command(
            run=graph,
            arguments=_graph_arguments,
            description="Items are nodes, wiki-links are edges. Mermaid text goes into any markdown page.",
            examples=(
                ("memoranda graph > links.mmd", "for Mermaid"),
                ("memoranda graph --json", "nodes and edges as JSON"),
            ),
        ),
    }


def _grep_arguments(parser: Parser) -> None:
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="upper and lower case are the same")
    json_option(parser)


def _graph_arguments(parser: Parser) -> None:
    parser.add_argument("--format", choices=("mermaid", "json"), default="mermaid", help="default mermaid")
    json_option(parser, "the same as --format json")


def _compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    import re

    try:
        return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        at = "" if error.pos is None else f" at character {error.pos + 1}"
        raise UsageError(f"the pattern is no regular expression: {error.msg}{at}") from None
    except (OverflowError, RecursionError) as error:
        raise UsageError(f"the pattern is no regular expression: {error}") from None


def grep(session: Session) -> int:
    """Print the lines that match."""
    arguments, out = session.arguments, session.out
    pattern = _compiled(arguments.pattern, arguments.ignore_case)
    found = []
    matched = False
    with session.open() as vault:
        for path, number, line in _lines(vault):
            if not pattern.search(line):
                continue
            matched = True
            if arguments.json:
                found.append({"path": path, "line": number, "text": line})
            else:
                out.styled(("cyan", path), f":{number}:{line}")
        session.tell_unread(vault)
    if arguments.json:
        out.json(found)
    return 0 if matched else NotFound.exit_code


def _lines(vault: Vault) -> Iterator[tuple[str, int, str]]:
    """Every line of the category files, then of the turns, as (path, line in the file, text)."""
    from memoranda.core.names import normalize_newlines

    for category in vault.categories():
        path = os.path.join(vault.root, *category.path.split("/"))
        if os.path.exists(path):
            # One file at a time: two names of one category (café in two Unicode forms) count lines apart.
            with open(path, "rb") as stream:
                text = stream.read().decode("utf-8-sig", "replace")
        else:
            text = vault.read_category(category.address)
        for number, line in enumerate(normalize_newlines(text).split("\n"), start=1):
            yield category.path, number, line
    for path, number, turn in turns_with_lines(vault):
        for line in normalize_newlines(turn.text).split("\n"):
            yield path, number, line


def graph(session: Session) -> int:
    """Print nodes and edges."""
    arguments, out = session.arguments, session.out
    with session.open() as vault:
        drawn = vault.graph()
    if arguments.json or arguments.format == "json":
        out.json(drawn.to_json())
    else:
        text = drawn.to_mermaid()
        out.text(text if text.endswith("\n") else text + "\n")
    return 0
