"""The command ``choices``: questions that wait for a person, shown, answered and taken back."""

from __future__ import annotations

import sys

from memoranda.core.errors import UsageError
from memoranda.faces.cli.parsing import Command, json_option
from memoranda.faces.cli.table import local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.core.choices import Choice
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]

_ACTIONS = ("ls", "show", "answer", "cancel")
#: Who answers here.
_PERSON = "user"
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def commands() -> dict[str, Command]:
    """The command of this module."""
    return {
        "choices": Command(
            run=choices,
            arguments=_arguments,
            description=(
                "ls                   the questions that wait (the default); --all: answered ones, too\n"
                "show ID              one question, with what it is about\n"
                "answer ID OPTION...  answer it, by an option's number or text; --text: a remark, or an edit's text\n"
                "cancel ID            take it back: nothing follows from it\n\n"
                "As much of an ID as no other begins with is enough. A person answers, on a terminal: no agent\n"
                "answers its own question. Each is answered once; who comes second is told who was first."
            ),
            examples=(
                ("memoranda choices", "what waits"),
                ("memoranda choices answer 1jy0g4rk7q2 1", "take its first option"),
            ),
        )
    }


def _arguments(parser: Parser) -> None:
    parser.add_argument("action", metavar="ACTION", nargs="?", choices=_ACTIONS, default="ls", help=", ".join(_ACTIONS))
    parser.add_argument("words", metavar="ID|OPTION", nargs="*", help="which question, and for answer what")
    parser.add_argument("--text", metavar="TEXT", default="", help="answer: a remark, or the text of an edit")
    parser.add_argument("--all", action="store_true", help="ls: those that are not open any more, too")
    json_option(parser)


def choices(session: Session) -> int:
    """Do one of the actions."""
    arguments = session.arguments
    action, words = arguments.action, arguments.words
    if action == "ls" and words:
        raise UsageError(f"choices ls takes no {words[0]!r}; choices show ID shows one")
    if action != "ls" and not words:
        raise UsageError(f"choices {action} needs the ID of a question; memoranda choices lists them")
    if action in ("show", "cancel") and len(words) > 1:
        raise UsageError(f"choices {action} takes one ID")
    if action == "answer" and not (sys.stdin is not None and sys.stdin.isatty()):
        raise UsageError("a person answers, on a terminal: stdin is none")
    with session.open() as vault:
        if action == "ls":
            return _list(session, vault)
        if action == "show":
            return _show(session, vault, words[0])
        if action == "answer":
            choice = _answer(vault, words[0], words[1:], arguments.text)
        else:
            choice = vault.choices.cancel(words[0], by=_PERSON)
    if arguments.json:
        session.out.json(_as_json(choice))
    else:
        session.out.line(f"{choice.id} {choice.outcome}")
    return 0


def _answer(vault: Vault, id: str, words: list[str], text: str) -> Choice:
    from memoranda.core.choices import option_meant

    choice = vault.choices.get(id)
    if choice.type == "edit":
        if words and text:
            raise UsageError("an edit is answered by one text")
        return vault.choices.answer(choice.id, (), by=_PERSON, channel="terminal", text=text or " ".join(words))
    whole = option_meant(choice.options, " ".join(words))
    meant = [whole] if whole is not None else [option_meant(choice.options, word) or word for word in words]
    return vault.choices.answer(choice.id, meant, by=_PERSON, channel="terminal", text=text)


def _list(session: Session, vault: Vault) -> int:
    out = session.out
    waiting = vault.choices.open()
    found = vault.choices.all() if session.arguments.all else waiting
    now = vault.clock.now()
    for problem in vault.choices.problems():
        out.note(f"{problem.path} {problem.message}; it is left out")
    if session.arguments.json:
        out.json([_as_json(choice) for choice in found])
        return 0
    for choice in found:
        _tell(out, choice, now)
    if not found:
        out.note("no question was asked yet" if session.arguments.all else "no question waits for you")
    return 0


def _show(session: Session, vault: Vault, id: str) -> int:
    choice = vault.choices.get(id)
    if session.arguments.json:
        session.out.json(_as_json(choice))
        return 0
    out = session.out
    _tell(out, choice, vault.clock.now())
    if choice.subject:
        out.line(f"   about: {choice.subject}")
    if choice.effect:
        import json

        out.line(f"   effect: {json.dumps(choice.effect, ensure_ascii=False)}")
    for line in choice.context.split("\n") if choice.context else ():
        out.line(f"   | {line}")
    return 0


def _tell(out: Output, choice: Choice, now: datetime) -> None:
    """One question in a few lines."""
    asker = ", ".join(choice.askers) or choice.source_agent or "somebody"
    often = f", {choice.asked} times" if choice.asked > 1 else ""
    out.styled(("bold", choice.id), ("dim", f"  {_age(choice, now)} ago  {asker} asks{often}:"))
    # A second line of the question must not pass for an option.
    out.line("   " + choice.question.replace("\n", "\n   | "))
    for number, option in enumerate(choice.options, 1):
        mark = "*" if option in choice.answer else " "
        out.styled(f"  {mark}", ("cyan", str(number)), f" {option}")
    if choice.is_open:
        if choice.multi:
            out.styled(("dim", "   several may be chosen"))
        if choice.type == "edit":
            out.styled(("dim", "   to be answered by a text"))
        if ends := _end_of_time(choice):
            out.styled(("dim", f"   {ends}"))
    else:
        out.line(f"   {choice.outcome}{'' if choice.applied else '; not carried out yet'}")
        if choice.text and choice.answer:
            out.line(f"   {choice.text}")


def _end_of_time(choice: Choice) -> str:
    """What happens when nobody answers, and when."""
    default, expires = ", ".join(choice.default), choice.expires
    if expires is None:
        return f"default: {default}, but it waits for you for ever" if default else ""
    when = local_time(expires.isoformat())
    return f"default: {default}, from {when} on" if default else f"lapses at {when}"


def _age(choice: Choice, now: datetime) -> str:
    """How long ago it was asked, in its largest unit."""
    seconds = int(choice.age(now).total_seconds())
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{max(seconds, 0)} s"


def _as_json(choice: Choice) -> dict[str, Any]:
    """A choice as JSON shows it: what its file says, and when its time is up."""
    from memoranda.core.choices import choice_to_record
    from memoranda.storage.clock import written_moment

    expires = choice.expires
    return choice_to_record(choice) | {"expires": None if expires is None else written_moment(expires)}
