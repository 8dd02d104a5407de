"""The command that shows the program at work: demo."""

from __future__ import annotations

import os

from memoranda.core.errors import UsageError
from memoranda.faces.cli.parsing import Command
from memoranda.faces.cli.recalling import show_retrieval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session

__all__ = ["commands"]

_QUESTIONS = 3
_HITS = 2


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "demo": Command(
            run=demo,
            arguments=_arguments,
            description=(
                "Fills a folder of its own with a small made-up memory, asks it three questions and\n"
                "says why each answer was found. The folder is removed at the end unless --keep names\n"
                "one. Nothing leaves the machine and no other vault is touched."
            ),
            examples=(("memoranda demo --keep /tmp/demo", "and look around in it afterwards"),),
        )
    }


def _arguments(parser: Parser) -> None:
    parser.add_argument("--keep", metavar="DIR", help="make the vault in this new or empty folder and leave it")


def demo(session: Session) -> int:
    """Make the demonstration's vault, ask, and tidy up."""
    if session.arguments.vault is not None:
        raise UsageError("demo makes a vault of its own; --keep DIR says where")
    kept: str | None = session.arguments.keep
    if kept is not None:
        folder = os.path.abspath(os.path.expanduser(kept))
        if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
            raise UsageError(f"{folder} is not empty; --keep takes a new folder")
        return _shown(session, folder, keep=True)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="memoranda-demo-") as made:
        return _shown(session, os.path.join(made, "vault"), keep=False)


def _shown(session: Session, folder: str, *, keep: bool) -> int:
    from memoranda.bootstrap import Vault
    from memoranda.demo import QUERIES, demo_turns

    out = session.out
    with Vault.open(folder) as vault:
        _fill(vault.root)
        vault.import_turns(demo_turns())
        counts = vault.status()
        out.line(f"A made-up vault of {counts.items} items and {counts.turns} turns: {vault.root}")
        for query in QUERIES[:_QUESTIONS]:
            out.line()
            out.styled(("bold", f'$ memoranda explain "{query}" -k {_HITS}'))
            show_retrieval(out, vault.retrieve(query, k=_HITS, explain=True))
        root = vault.root
    out.line()
    if keep:
        out.line("The vault stays. Try next:")
        for words in ("ls", "graph", "recall coffee", 'remember preferences "Likes short answers."'):
            out.line(f"  memoranda -C {_quoted(root)} {words}")
    else:
        out.line("The vault is gone again. Try next:")
        out.line("  memoranda demo --keep memoranda-demo")
        out.line('  memoranda remember preferences "Likes short answers."')
        out.line("  memoranda recall how should answers be")
    return 0


def _quoted(path: str) -> str:
    from shlex import quote

    return quote(path) if os.name == "posix" else f'"{path}"'


def _fill(root: str) -> None:
    """Write the demonstration's files as a person's editor would."""
    from memoranda.demo import demo_files

    for relative, data in demo_files():
        path = os.path.join(root, *relative.split("/"))
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)
