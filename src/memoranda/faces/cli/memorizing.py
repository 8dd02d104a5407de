"""Commands that turn conversations into memories: memorize, worker, inbox."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

from memoranda.core.errors import NotFound, ServiceFailed, UsageError
from memoranda.core.exchanges import TurnContext
from memoranda.core.model import Problem
from memoranda.faces.cli.parsing import Command, json_option
from memoranda.faces.cli.table import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.core.model import Turn
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Arguments, Parser
    from memoranda.faces.cli.session import Session
    from memoranda.services.memorize import Memorized
    from memoranda.services.worker import Tally, Worker

__all__ = ["add_context", "commands", "context_from"]

#: Seconds that a worker which is told to stop waits for the answer that it has asked for.
_GRACE = 10.0
#: How many faulty turns are listed.
_FIRST_FAULTS = 20
#: What a shell reports of a command that was ended by Ctrl-C.
_INTERRUPTED = 130


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "memorize": Command(
            run=memorize,
            arguments=_memorize_arguments,
            description=(
                "FILE holds turns of conversations as JSON lines, as `import turns` reads them. What was said\n"
                "up to the end of each answer is queued in inbox/; `memoranda worker` asks the model about it.\n"
                "What is queued or memorized already is not queued again, unless --again."
            ),
            examples=(("memoranda memorize chats.jsonl --user lin", "queue what Lin and the assistant said"),),
        ),
        "worker": Command(
            run=work,
            arguments=_worker_arguments,
            description=(
                "Asks the model that [model] in memoranda.toml names, once for each exchange in inbox/, and\n"
                "writes down what it finds worth remembering. Several may work at once. Ends on SIGTERM or\n"
                "Ctrl-C; what is not done then stays queued."
            ),
            examples=(("memoranda worker --once", "work off what is queued, and end"),),
        ),
        "inbox": Command(
            run=inbox,
            arguments=_inbox_arguments,
            description=(
                "Without ACTION: how many exchanges wait, and which ones need a look. show prints one with\n"
                "the model's reply and what was wrong; retry queues it to be asked about anew; drop removes\n"
                "it (the turns stay in resources/)."
            ),
            examples=(("memoranda inbox retry all", "ask once more about everything that was parked"),),
        ),
    }


def add_context(parser: Parser) -> None:
    """Add the options that say whose memories these are."""
    parser.add_argument("--user", metavar="NAME", default="", help="whose memories they are; written to user/NAME")
    parser.add_argument("--agent", metavar="NAME", default="", help="the agent's memory is read too")
    parser.add_argument("--project", metavar="ID", default="", help="the project's memory is read too")
    parser.add_argument(
        "--scope", metavar="SCOPE", default="", help="where they are written (else the user's, else shared)"
    )


def context_from(arguments: Arguments) -> TurnContext:
    """The context that the options describe. Raises BadName."""
    context = TurnContext(user=arguments.user, agent=arguments.agent, project=arguments.project, scope=arguments.scope)
    from memoranda.core.addresses import parse_scope

    # Looked at first, so that a slip of the pen queues nothing.
    for scope in context.read_scopes:
        parse_scope(scope)
    return context


def _memorize_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSON lines of turns; - is stdin")
    parser.add_argument("--again", action="store_true", help="also what was memorized before: ask once more")
    add_context(parser)
    json_option(parser)


def memorize(session: Session) -> int:
    """Queue conversations."""
    from memoranda.adapters.registry import read_foreign
    from memoranda.core.records import replace
    from memoranda.services.queueing import exchanges_in

    arguments, out = session.arguments, session.out
    context = context_from(arguments)
    with session.open_or_create() as vault:
        _, records = read_foreign("turns", arguments.file, vault.clock.zone())
        faults: list[Problem] = []
        turns: list[Turn] = []
        for record in records:
            (faults if isinstance(record, Problem) else turns).append(record)
        progress = out.progress("queued")
        try:
            exchanges = exchanges_in(turns, context)
            if arguments.again:
                exchanges = (replace(exchange, again=True) for exchange in exchanges)
            queued, known = vault.enqueue_all(exchanges, progress)
        finally:
            progress.clear()
    if arguments.json:
        out.json({"queued": queued, "known": known, "problems": len(faults)})
    else:
        out.line(f"{queued} queued" + (f", {known} known already" if known else ""))
        if queued:
            out.note("memoranda worker memorizes what is queued")
    for fault in faults[:_FIRST_FAULTS]:
        out.note(str(fault))
    if len(faults) > _FIRST_FAULTS:
        out.note(f"and {len(faults) - _FIRST_FAULTS} more")
    return 0 if queued or known or not faults else 1


def _worker_arguments(parser: Parser) -> None:
    parser.add_argument("--once", action="store_true", help="work off what is queued, and end")
    json_option(parser, "print what became of each exchange as a JSON object a line")


def work(session: Session) -> int:
    """Work the queue off."""
    from memoranda.adapters.language_models import language_model_for
    from memoranda.bootstrap import Vault
    from memoranda.services.extraction.schema import reply_schema
    from memoranda.services.memorize import ACTOR

    arguments, out = session.arguments, session.out
    with Vault.open(session.folder(), create=False, actor=ACTOR) as vault:
        settings = session.tell_faults(vault).settings.model
        if not settings:
            raise UsageError('no model is set: [model] in memoranda.toml, as in provider = "ollama"')
        told = _told_in_json(out) if arguments.json else _told(out)
        model = language_model_for(settings, reply_schema())
        model.warm()  # what it lacks is told before anything is tried
        worker = vault.worker(model, told)
        if not arguments.once:
            out.note(f"{len(vault.inbox.ids())} queued; Ctrl-C ends this, and nothing is lost")
        heard = _until_told_to_stop(worker, once=arguments.once)
        status = vault.status_of_queue()
    if not arguments.json:
        out.line(_in_words(worker.tally, status.queued))
    if arguments.once and worker.tally.failed and status.waiting_for:
        raise ServiceFailed(f"the model gave no reply: {status.waiting_for}; what is queued stays queued")
    return _INTERRUPTED if heard == signal.SIGINT and arguments.once else 0


def _until_told_to_stop(worker: Worker, *, once: bool) -> int | None:
    """Have the worker work in a thread, so that a signal is heard while an answer is awaited; which one was."""
    failed: list[BaseException] = []

    def drain() -> None:
        try:
            worker.drain(at_once=True) if once else worker.run()
        except BaseException as error:  # told by who waits
            failed.append(error)

    thread = threading.Thread(target=drain, name="memoranda-worker", daemon=True)
    told: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        told.append(number)
        worker.stop()

    before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        thread.start()
        while thread.is_alive() and not told:
            thread.join(0.2)
        thread.join(_GRACE)
        if thread.is_alive():
            worker.abandon()
    finally:
        for number, handler in before.items():
            with suppress(TypeError):  # it was not set from Python
                signal.signal(number, handler)
    if failed:
        raise failed[0]
    return told[0] if told else None


def _told(out: Output) -> Any:
    def told(found: Memorized) -> None:
        if found.state == "waiting":
            out.note(f"{found.id}: no reply ({found.error}); it will be asked again")
            return
        for written in found.written:
            if written.journal_id:
                out.line(f"{written.status}  {written.address}")
        for fault in found.faults:
            out.note(f"{found.id}: parked: {fault}")

    return told


def _told_in_json(out: Output) -> Any:
    from memoranda.core.records import asdict

    return lambda found: out.json(asdict(found), indent=None)


def _in_words(tally: Tally, left: int) -> str:
    parts = [f"{tally.done} memorized", f"{tally.written} items written"]
    parts += [f"{tally.parked} parked (memoranda inbox)"] if tally.parked else []
    parts += [f"{left} still queued"] if left else []
    return ", ".join(parts)


def _inbox_arguments(parser: Parser) -> None:
    parser.add_argument("action", metavar="ACTION", nargs="?", choices=("ls", "show", "retry", "drop"), default="ls",
                        help="ls, show, retry or drop")  # fmt: skip
    parser.add_argument("id", metavar="ID", nargs="?", help="one that was parked, or all")
    json_option(parser)


def inbox(session: Session) -> int:
    """Show what waits, and what needs a look."""
    arguments = session.arguments
    with session.open() as vault:
        if arguments.action == "ls":
            return _list_inbox(session, vault)
        if not arguments.id:
            raise UsageError(f"inbox {arguments.action} needs the ID of one that is parked, or all")
        parked = vault.inbox.parked()
        chosen = [one for one in parked if arguments.id in ("all", one.id)]
        chosen = chosen or [one for one in parked if one.id.startswith(arguments.id)]
        if not chosen:
            raise NotFound(f"nothing is parked under {arguments.id!r}; memoranda inbox lists what is")
        if len(chosen) > 1 and arguments.id != "all":
            raise UsageError(f"{arguments.id} could be {' or '.join(one.id for one in chosen)}; write more of it")
        if arguments.action == "show":
            for one in chosen:
                session.out.json(_as_json(one))
            return 0
        for one in chosen:
            (vault.inbox.retry if arguments.action == "retry" else vault.inbox.drop)(one.id)
        done = "queued again" if arguments.action == "retry" else "removed"
    session.out.line(f"{len(chosen)} {done}")
    return 0


def _as_json(one: Any) -> dict[str, Any]:
    from memoranda.core.exchanges import exchange_to_record

    exchange = None if one.exchange is None else exchange_to_record(one.exchange)
    return {"id": one.id, "faults": list(one.work.faults), "reply": one.work.reply, "exchange": exchange}


def _list_inbox(session: Session, vault: Vault) -> int:
    out, status, parked = session.out, vault.status_of_queue(), vault.inbox.parked()
    if session.arguments.json:
        rows = [{"id": one.id, "faults": list(one.work.faults)} for one in parked]
        out.json({"queued": status.queued, "waiting_for": status.waiting_for, "parked": rows})
        return 0
    out.line(f"{status.queued} queued" + (f" ({status.waiting_for})" if status.waiting_for else ""))
    table: list[list[str]] = []
    for one in parked:
        source = "cannot be read" if one.exchange is None else one.exchange.source
        table.append([one.id, source, "; ".join(one.work.faults)])
    for line in columns(table):
        out.line(line)
    return 0
