"""Commands that retrieve: recall, explain."""

from __future__ import annotations

from memoranda.core.errors import NotFound
from memoranda.faces.cli.parsing import Command, json_option, positive, whole
from memoranda.faces.cli.table import local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session
    from memoranda.retrieval.result import Hit, Retrieval

__all__ = ["commands", "show_retrieval"]


def commands() -> dict[str, Command]:
    """The commands of this module."""
    examples = (
        ("memoranda recall where did Lin want to go", "the ten best items"),
        ("memoranda recall 想去海边玩 -k 3 --level item --level resource", "items and turns"),
        ("memoranda recall coffee --render --budget 800", "for a prompt, at most 800 tokens"),
        ("memoranda recall address --as-of 2025-12-31", "what was valid then"),
        ("memoranda recall -- -x", "a query that begins with -"),
    )
    what = (
        "Words are words: a query has no syntax. No model is called and nothing leaves the\n"
        "machine. Exit code 1 when nothing matches."
    )
    return {
        "recall": Command(recall, lambda parser: _arguments(parser, explain=False), what, examples),
        "explain": Command(
            explain,
            lambda parser: _arguments(parser, explain=True),
            "The same as recall --explain.\n" + what,
            (("memoranda explain coffee in the morning", "each item with the words that found it"),),
        ),
    }


def _arguments(parser: Parser, *, explain: bool) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+", help="what to look for, in words")
    parser.add_argument("-k", metavar="N", type=positive, default=10, help="how many hits (default 10)")
    parser.add_argument("--budget", metavar="N", type=positive, help="how many tokens the hits may take")
    parser.add_argument(
        "--scope",
        metavar="S",
        action="append",
        help="whose memory: shared (the default), user/NAME, agent/NAME or project/ID; may be repeated",
    )
    parser.add_argument(
        "--level",
        choices=("item", "resource", "passage"),
        action="append",
        help="what to search: items (the default), turns, passages of documents; may be repeated",
    )
    parser.add_argument(
        "--mode",
        choices=("auto", "keyword", "vector", "hybrid", "grep"),
        default="auto",
        help="how to search (default auto)",
    )
    parser.add_argument(
        "--neighbours", metavar="N", type=whole, default=0, help="so many passages or turns around each hit (0)"
    )
    parser.add_argument("--as-of", metavar="TIME", help="what was valid then: 2026-07-10 or 2026-07-10T09:30")
    if not explain:
        parser.add_argument("--explain", action="store_true", help="say why each hit was found")
    parser.add_argument("--render", action="store_true", help="print the framed block for a prompt")
    json_option(parser)


def recall(session: Session) -> int:
    """Retrieve and print."""
    return _retrieve(session, explained=session.arguments.explain)


def explain(session: Session) -> int:
    """Retrieve and print with reasons."""
    return _retrieve(session, explained=True)


def _retrieve(session: Session, *, explained: bool) -> int:
    arguments, out = session.arguments, session.out
    levels = tuple(arguments.level or ("item",))
    with session.open() as vault:
        progress = out.progress("read")
        try:
            found = vault.retrieve(
                " ".join(arguments.query),
                k=arguments.k,
                budget=arguments.budget,
                levels=levels,
                scopes=arguments.scope,
                mode=arguments.mode,
                as_of=arguments.as_of,
                neighbours=arguments.neighbours,
                explain=explained,
                progress=progress,
            )
        finally:
            progress.clear()
        said = found.no_match and not arguments.level and vault.has_turns()
        elsewhere = [] if found.hits or arguments.scope else vault.other_scopes()
    if arguments.json:
        out.json(found.as_dict())
    elif arguments.render:
        block = found.render()
        out.raw(block if not block or block.endswith("\n") else block + "\n")
        _show_missing(out, found)
    else:
        show_retrieval(out, found)
    if elsewhere:
        named = ", ".join(elsewhere[:5]) + (f" and {len(elsewhere) - 5} more" if len(elsewhere) > 5 else "")
        out.note(f"other scopes are asked with --scope: {named}")
    if said:
        # Who asked memory alone may have meant what was said.
        out.note("what was said in conversations is asked with --level resource")
    return 0 if found.hits else NotFound.exit_code


def show_retrieval(out: Output, found: Retrieval) -> None:
    """Print the hits for people; what was dropped or could not be asked goes to stderr."""
    number = 0
    for hit in found.hits:
        if not hit.via:
            number += 1
            lead = f"{number}. "
        else:
            lead = "   ↳ "
        out.styled(lead, ("bold", hit.address), ("dim", f"  ({', '.join(_facts(hit))})"))
        indent = "   " if not hit.via else "     "
        if hit.level == "passage":
            out.styled(indent, ("cyan", hit.citation))
        for step in (-1, 1):
            if step == 1:
                said = f"{hit.speaker}: {hit.text}" if hit.speaker else hit.text
                for line in said.split("\n"):
                    out.line(f"{indent}{line}".rstrip())
            for other in (one for one in hit.around if one.step * step > 0):
                out.styled(indent, ("dim", f"{other.step:+d}  {other.citation}"))
                for line in other.text.split("\n"):
                    out.styled(("dim", f"{indent}{line}".rstrip()))
        if hit.explanation is not None:
            for line in hit.explanation.describe().split("\n"):
                out.styled(("cyan", f"{indent}· {line}" if line.strip() else ""))
    _show_missing(out, found)


def _show_missing(out: Output, found: Retrieval) -> None:
    for dropped in found.dropped:
        out.note(f"left out: {dropped.address} ({dropped.tokens} tokens: {dropped.reason})")
    if found.truncated:
        out.note("there is more; -k N shows more of it")
    for what in found.unavailable:
        out.note(f"unavailable: {what}")
    if found.no_match:
        out.note("no match")
        if found.nearest is not None:
            out.note(found.nearest.describe())
    elif not found.hits and found.dropped:
        out.note("nothing fits the budget")


def _facts(hit: Hit) -> list[str]:
    """What stands in brackets after a hit's address."""
    facts = [local_time(hit.ts), hit.source or "", f"score {hit.score:.2f}"]
    if hit.trust:
        facts.append(f"trust {hit.trust}")
    if hit.weak:
        facts.append("weak")
    facts += hit.effects
    if hit.via:
        facts.append(f"via {hit.via}")
    return [fact for fact in facts if fact]
