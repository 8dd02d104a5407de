"""Commands that change memory: remember, revise, rename, forget, undo."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.faces.cli.parsing import Command, fraction, json_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from memoranda.core.model import Forgotten, Redaction, Written
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands", "redactions_in_words"]

_FACTS = ("owner", "source", "ts", "type", "trust", "valid_from", "valid_to", "supersedes", "kind")


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "remember": Command(
            run=remember,
            arguments=_remember_arguments,
            description=(
                "ADDRESS is CATEGORY:NAME, or CATEGORY alone: a name is then made from the text.\n"
                "What belongs to a person, an agent or a project has user/NAME/, agent/NAME/ or\n"
                "project/ID/ in front. The text is on disk when the command returns; a vault that\n"
                "is not there yet is made, and named on stderr."
            ),
            examples=(
                (
                    'memoranda remember preferences:likes-the-sea "Likes the sea. [[trips:beach]]"',
                    "adds an item that links to another",
                ),
                ("memoranda remember preferences 喜欢海边", "a name is made: preferences:喜欢海边"),
                ("git log -5 | memoranda remember project/apollo/state:last", "the text by stdin"),
            ),
        ),
        "revise": Command(
            run=revise,
            arguments=_revise_arguments,
            description=(
                "Owner, source and links stay unless they are given anew. With --expected-hash\n"
                "(from show --json) nothing is written when the item has changed since."
            ),
            examples=(
                ('memoranda revise preferences:likes-the-sea "Likes the sea in winter."', "a new text"),
                ("memoranda revise plans:trip - < trip.md", "the text from a file"),
            ),
        ),
        "rename": Command(
            run=rename,
            arguments=_rename_arguments,
            description="Links that point at the item follow it, in one change that undo takes back.",
            examples=(("memoranda rename preferences:likes-the-sea loves-the-sea", "within its category"),),
        ),
        "forget": Command(
            run=forget,
            arguments=_forget_arguments,
            description=(
                "The text leaves the files, the index and the history; what was said about it in\n"
                "conversations is blanked. It is the one change that undo cannot take back:\n"
                "--preview shows first what would go."
            ),
            examples=(
                ("memoranda forget preferences:likes-the-sea --preview", "what would go"),
                ("memoranda forget --source turn/conv_1#4 --derived", "a turn and what was learned from it"),
                ("memoranda forget --user lin", "everything that belongs to one person"),
            ),
        ),
        "undo": Command(
            run=undo,
            arguments=_undo_arguments,
            description="Without JOURNAL-ID the newest change is meant. memoranda log lists the ids.",
            examples=(("memoranda undo", "the newest change"),),
        ),
    }


def _text_arguments(parser: Parser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="where the item is: CATEGORY:NAME")
    parser.add_argument("text", metavar="TEXT|-", nargs="*", help="the text; without it, or for -: stdin")


def _fact_arguments(parser: Parser) -> None:
    parser.add_argument("--owner", metavar="WHO", help="whom it is about: user:lin")
    parser.add_argument("--source", metavar="ADDRESS", help="where it comes from: turn/conv_1#4")
    parser.add_argument("--ts", metavar="TIME", help="when it was said or learned (ISO 8601)")
    parser.add_argument("--type", metavar="TYPE", help="profile, event, knowledge, behavior, skill or tool")
    parser.add_argument("--valid-from", metavar="TIME", help="from when on it holds")
    parser.add_argument("--valid-to", metavar="TIME", help="until when it holds")
    parser.add_argument("--supersedes", metavar="ADDRESS", help="the item that this one takes the place of")
    parser.add_argument("--trust", metavar="WORD", help="how far its source is trusted")
    parser.add_argument("--confidence", metavar="0..1", type=fraction, help="how sure it is")
    parser.add_argument("--kind", metavar="KIND", help="what kind of experience, for sharing across projects")


def _remember_arguments(parser: Parser) -> None:
    _text_arguments(parser)
    parser.add_argument(
        "--on-exists",
        choices=("conflict", "revise", "append", "rename"),
        default="conflict",
        help="when the name holds other text: refuse (default), replace it, add to it, take another name",
    )
    _fact_arguments(parser)
    parser.add_argument("--pinned", action="store_true", default=None, help="keep it whatever its value")
    json_option(parser)


def _revise_arguments(parser: Parser) -> None:
    _text_arguments(parser)
    parser.add_argument("--expected-hash", metavar="HASH", help="write only if the item still has this hash")
    parser.add_argument(
        "--drop-links", action="store_true", help="do not keep the old text's links that the new one lacks"
    )
    _fact_arguments(parser)
    parser.add_argument("--pinned", action="store_true", default=None, help="keep it whatever its value")
    parser.add_argument("--no-pinned", dest="pinned", action="store_false", help="take the pin away")
    json_option(parser)


def _rename_arguments(parser: Parser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="the item: CATEGORY:NAME")
    parser.add_argument("name", metavar="NEW-NAME", help="its new name, without the category")
    json_option(parser)


def _forget_arguments(parser: Parser) -> None:
    parser.add_argument("address", metavar="ADDRESS", nargs="?", help="the item or turn")
    parser.add_argument("--source", metavar="ADDRESS", help="a source or stage/PROJECT/STAGE, with its items")
    parser.add_argument("--user", metavar="NAME", help="a person: the memory that is theirs")
    parser.add_argument("--derived", action="store_true", help="also what else came from the same source as the item")
    parser.add_argument("--preview", action="store_true", help="only say what would go")
    json_option(parser)


def _undo_arguments(parser: Parser) -> None:
    parser.add_argument("journal_id", metavar="JOURNAL-ID", nargs="?", help="which change")
    json_option(parser)


def _facts(session: Session) -> dict[str, Any]:
    """The facts that were given, and no others."""
    given = {name: getattr(session.arguments, name) for name in (*_FACTS, "pinned", "confidence")}
    return {name: value for name, value in given.items() if value is not None}


def _as_metadata(facts: dict[str, Any]) -> dict[str, str]:
    """The facts as they are written down."""
    written = {name: str(value) for name, value in facts.items()}
    if "pinned" in written:
        written["pinned"] = written["pinned"].lower()
    return written


def remember(session: Session) -> int:
    """Add an item."""
    from memoranda.core.addresses import parse_address

    # Looked at first, so that a slip of the pen makes no vault.
    parse_address(session.arguments.address, writing=True)
    text = session.text()
    with session.open_or_create() as vault:
        return _report(
            session,
            vault.remember(session.arguments.address, text, on_exists=session.arguments.on_exists, **_facts(session)),
        )


def revise(session: Session) -> int:
    """Replace an item's text."""
    arguments = session.arguments
    text = session.text()
    with session.open() as vault:
        written = vault.revise(
            arguments.address,
            text,
            expected_hash=arguments.expected_hash,
            keep_links=not arguments.drop_links,
            **_as_metadata(_facts(session)),
        )
    return _report(session, written)


def rename(session: Session) -> int:
    """Give an item another name."""
    with session.open() as vault:
        return _report(session, vault.rename(session.arguments.address, session.arguments.name))


def undo(session: Session) -> int:
    """Take a change back."""
    with session.open() as vault:
        written = vault.undo(session.arguments.journal_id)
    if session.arguments.json or not written.notes:
        return _report(session, written)
    for note in written.notes:
        session.out.styled(("green", "undone"), f": {note}")
    return 0


def redactions_in_words(redactions: Iterable[Redaction]) -> str:
    """``2 x api key, 1 x password``."""
    return ", ".join(f"{redaction.count} x {redaction.kind}" for redaction in redactions)


def _report(session: Session, written: Written) -> int:
    """Print what was written."""
    out = session.out
    if session.arguments.json:
        from memoranda.core.records import asdict

        out.json(asdict(written))
    else:
        undo_hint = f"  ({written.journal_id})" if written.journal_id else ""
        out.styled(("green", str(written.status)), f" {written.address}", ("dim", undo_hint))
    for note in written.notes:
        out.note(note)
    if written.redactions:
        out.note(f"secrets were taken out before writing: {redactions_in_words(written.redactions)}")
    return 0


def forget(session: Session) -> int:
    """Remove an item, a source or a person for good."""
    arguments = session.arguments
    given = [value for value in (arguments.address, arguments.source, arguments.user) if value is not None]
    if len(given) != 1:
        raise UsageError("forget takes one of ADDRESS, --source ADDRESS and --user NAME")
    with session.open() as vault:
        forgotten = vault.forget(
            arguments.address,
            source=arguments.source,
            user=arguments.user,
            derived=arguments.derived,
            preview=arguments.preview,
        )
    if arguments.json:
        from memoranda.core.records import asdict

        session.out.json(asdict(forgotten))
    else:
        _show_forgotten(session, forgotten)
    for warning in forgotten.warnings:
        session.out.note(f"warning: {warning}")
    return 0


def _show_forgotten(session: Session, forgotten: Forgotten) -> None:
    out = session.out
    verb = "would forget" if forgotten.preview else "forgot"
    for address in (*forgotten.items, *forgotten.turns):
        out.styled(("yellow", verb), f" {address}")
    for link in forgotten.links:
        out.styled(("dim", f"{'would remove' if forgotten.preview else 'removed'} the link to it in {link}"))
    for choice in forgotten.choices:
        out.styled(("dim", f"{'would remove' if forgotten.preview else 'removed'} the question {choice} about it"))
    for stage in forgotten.stages:
        out.styled(("dim", f"{'would blank' if forgotten.preview else 'blanked'} what {stage} holds of it"))
    if forgotten.history_records and not forgotten.preview:
        out.styled(("dim", f"records of history blanked: {forgotten.history_records}"))
    if forgotten.preview:
        out.note("nothing was changed; without --preview this cannot be undone")
