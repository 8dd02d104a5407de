"""How a command declares its arguments, and how they are read.

Each argument is declared once, in the words of :mod:`argparse`. What most
people write is read here, from the declarations alone; for help, for wrong use
and for rarer ways of writing (``-k3``, options between the words)
:mod:`.usage` makes argparse's own parser of them, which has the last word.
Loading that would be a tenth of what a recall takes.
"""

from __future__ import annotations

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from memoranda.faces.cli.session import Session

__all__ = ["Argument", "Arguments", "Command", "Parser", "did_you_mean", "fraction", "json_option", "positive", "whole"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how its arguments are added, what runs it, and what its help says.

    ``run`` returns the exit code. ``examples`` are (command line, what it does).
    """

    run: Callable[[Session], int]
    arguments: Callable[[Parser], None]
    description: str
    examples: tuple[tuple[str, str], ...] = ()


class Arguments:
    """What was read: an attribute for each argument."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Argument:
    """One declared argument: its names, and the options of :meth:`argparse.ArgumentParser.add_argument`."""

    def __init__(self, names: tuple[str, ...], options: dict[str, Any]) -> None:
        self.names = names
        self.options = options
        self.is_option = names[0].startswith("-")
        self.action: str = options.get("action", "store")
        #: Whether it is followed by a value.
        self.is_valued = self.action in ("store", "append")
        longest = next((name for name in names if name.startswith("--")), names[0])
        self.dest: str = options.get("dest") or longest.lstrip("-").replace("-", "_")
        self.nargs: str | None = options.get("nargs")

    @property
    def default(self) -> Any:
        """Its value where it is not given."""
        if "default" not in self.options and not self.is_valued:
            return self.action == "store_false"
        return self.options.get("default")

    def converted(self, word: str) -> Any:
        """The word as its value. Raises ValueError for one that it does not take."""
        convert = self.options.get("type")
        try:
            value = word if convert is None else convert(word)
        except Exception as error:  # whatever it is, argparse finds the words for it
            raise ValueError(word) from error
        choices = self.options.get("choices")
        if choices is not None and value not in choices:
            raise ValueError(word)
        return value


class Parser:
    """The arguments of one command."""

    def __init__(self, name: str, summary: str, command: Command) -> None:
        self.name = name
        self.summary = summary
        self.command = command
        self.arguments: list[Argument] = []
        self.add_argument(
            "-C", "--vault", metavar="DIR", help="the vault's folder (else MEMORANDA_VAULT, else ~/memoranda)"
        )
        command.arguments(self)

    def add_argument(self, *names: str, **options: Any) -> None:
        """Declare an argument; see :meth:`argparse.ArgumentParser.add_argument`."""
        self.arguments.append(Argument(names, options))

    def parse(self, words: list[str]) -> Arguments:
        """Read the arguments; ``--help`` prints the help and leaves.

        Raises:
            UsageError: they are not what the command takes.
        """
        try:
            return Arguments(self._read(words))
        except ValueError:
            from memoranda.faces.cli.usage import full_parser

            return Arguments(vars(full_parser(self).parse(words)))

    def format_help(self) -> str:
        """What ``--help`` prints."""
        from memoranda.faces.cli.usage import full_parser

        return full_parser(self).format_help()

    def _read(self, words: list[str]) -> dict[str, Any]:
        """The values of arguments that are written plainly. Raises ValueError for any others."""
        options = {name: argument for argument in self.arguments if argument.is_option for name in argument.names}
        values: dict[str, Any] = {}
        for argument in self.arguments:
            values.setdefault(argument.dest, argument.default)
        plain: list[str] = []
        ended = 0
        position = 0
        while position < len(words):
            word = words[position]
            position += 1
            if not word.startswith("-") or word == "-":
                if plain and ended != position - 1:
                    raise ValueError("options between the words")
                plain.append(word)
                ended = position
                continue
            if word == "--":
                rest = words[position:]
                if not rest or "--" in rest or (plain and ended != position - 1):
                    raise ValueError(word)
                plain += rest
                break
            name, equals, value = word.partition("=")
            known = options.get(name)
            if known is None or (equals and not (known.is_valued and name.startswith("--"))):
                raise ValueError(word)
            if known.is_valued and not equals:
                if position == len(words) or (words[position].startswith("-") and words[position] != "-"):
                    raise ValueError(word)
                value = words[position]
                position += 1
            _take(values, known, value)
        self._distribute(plain, values)
        return values

    def _distribute(self, words: list[str], values: dict[str, Any]) -> None:
        """Give the words to the arguments without a name; only the last of these may take several or none."""
        for argument in self.arguments:
            if argument.is_option:
                continue
            if argument.nargs in ("*", "+"):
                taken, words = words, []
                values[argument.dest] = [argument.converted(word) for word in taken]
                if not taken and argument.nargs == "+":
                    raise ValueError(argument.dest)
            elif words:
                values[argument.dest] = argument.converted(words[0])
                words = words[1:]
            elif argument.nargs != "?":
                raise ValueError(argument.dest)
        if words:
            raise ValueError(words[0])


def _take(values: dict[str, Any], argument: Argument, word: str) -> None:
    if argument.action == "append":
        values[argument.dest] = [*(values[argument.dest] or ()), argument.converted(word)]
    elif argument.is_valued:
        values[argument.dest] = argument.converted(word)
    else:
        values[argument.dest] = argument.action == "store_true"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean X?)``, or nothing when no known word is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


def json_option(parser: Parser, what: str = "print JSON instead of text for people") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=what)


def positive(text: str) -> int:
    """An argument that counts something: a whole number from 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        from argparse import ArgumentTypeError  # wrong use alone pays for it

        raise ArgumentTypeError(f"a whole number from 1 is wanted, not {text!r}")
    return number


def whole(text: str) -> int:
    """An argument that counts something, perhaps nothing: a whole number from 0."""
    return 0 if text.strip() == "0" else positive(text)


def fraction(text: str) -> float:
    """An argument between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        from argparse import ArgumentTypeError  # wrong use alone pays for it

        raise ArgumentTypeError(f"a number from 0 to 1 is wanted, not {text!r}")
    return number
