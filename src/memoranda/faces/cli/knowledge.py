"""The command ``kb``: documents taken in, listed, read and removed. They are searched by ``recall --level passage``."""

from __future__ import annotations

import os

from memoranda.core.errors import MemorandaError, NotFound, UsageError
from memoranda.faces.cli.parsing import Command, json_option, positive
from memoranda.faces.cli.table import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.core.documents import Converted
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session
    from memoranda.services.ingest import Ingested, Library

__all__ = ["commands"]

_ACTIONS = ("create", "add", "ls", "read", "rm")
_FINE = frozenset({"stored", "unchanged"})


def commands() -> dict[str, Command]:
    """The command of this module."""
    return {
        "kb": Command(
            run=kb,
            arguments=_arguments,
            description=(
                "create NAME      a corpus; --scope says whose it is, --size how large its passages are\n"
                "add PATH...      convert files and folders to markdown and keep them in --corpus\n"
                "ls [NAME]        the corpora, or the documents of one\n"
                "read ID          print a document's markdown\n"
                "rm ID...         remove documents with their originals\n\n"
                "What is there already is left alone: an interrupted run is simply run again. The originals stay\n"
                "as they are; a copy lies in raw/. A document that holds a secret is refused unless --redact."
            ),
            examples=(
                ("memoranda kb add ~/papers --corpus papers", "every document in a folder"),
                ("memoranda kb ls papers", "what is there"),
            ),
        )
    }


def _arguments(parser: Parser) -> None:
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help=", ".join(_ACTIONS))
    parser.add_argument("words", metavar="NAME|PATH|ID", nargs="*", help="what it is about")
    parser.add_argument("--corpus", metavar="NAME", default="main", help="which corpus (else main)")
    parser.add_argument("--scope", metavar="SCOPE", default="shared", help="create: whose it is (else shared)")
    parser.add_argument("--size", metavar="N", type=positive, default=1000, help="create: columns of a passage (1000)")
    parser.add_argument("--overlap", metavar="N", type=positive, default=0, help="create: columns repeated (0)")
    parser.add_argument("--redact", action="store_true", help="add: take secrets out, and keep no original of those")
    json_option(parser)


def kb(session: Session) -> int:
    """Run one action."""
    arguments = session.arguments
    action, words = arguments.action, arguments.words
    if action != "ls" and not words:
        raise UsageError(
            f"kb {action} needs {'a name' if action == 'create' else 'a path' if action == 'add' else 'an id'}"
        )
    if action == "add":
        for path in map(os.path.expanduser, words):
            if not os.path.exists(path):
                raise NotFound(f"there is no file or folder {path}")
            if not (os.path.isfile(path) or os.path.isdir(path)):
                raise UsageError(f"{path} is neither a file nor a folder")
    opened = session.open_or_create() if action in ("create", "add") else session.open()
    with opened as vault:
        library = vault.library
        if action == "create":
            return _create(session, library, words[0])
        if action == "add":
            return _add(session, library)
        if action == "ls":
            return _list(session, library, words)
        for document in words:
            if action == "rm":
                library.remove(arguments.corpus, document)
            else:
                session.out.text(library.text(arguments.corpus, document))
    if action == "rm":
        session.out.line(f"{len(words)} removed")
    return 0


def _create(session: Session, library: Library, name: str) -> int:
    from memoranda.core.addresses import parse_scope

    arguments = session.arguments
    scope = str(parse_scope(arguments.scope))
    if arguments.overlap > arguments.size // 2 or arguments.size < 40:
        raise UsageError("--size is 40 or more, --overlap at most half of it")
    made = library.create(name, {"scope": scope, "size": arguments.size, "overlap": arguments.overlap})
    session.out.line(f"{'made' if made else 'is there already:'} docs/{name}")
    return 0


def _add(session: Session, library: Library) -> int:
    from memoranda.adapters.converters.pool import ConverterPool, Job
    from memoranda.core.documents import NotConverted
    from memoranda.services.ingest import files_below

    arguments, out = session.arguments, session.out
    paths = [file for path in arguments.words for file in files_below(os.path.expanduser(path))]
    progress = out.progress("documents")
    results: list[Ingested] = []
    with ConverterPool() as pool:

        def converted(jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
            for result in pool.convert_many(Job(data, name) for data, name in jobs):
                yield result.converted or result.refused or NotConverted("corrupt", "it could not be converted")

        try:
            for result in library.add(arguments.corpus, paths, converted, redacted=arguments.redact, progress=progress):
                results.append(result)
        finally:
            progress.clear()
    _report(out, results, json=arguments.json)
    if results and not any(result.outcome in _FINE for result in results):
        return MemorandaError.exit_code
    return 0


def _report(out: Output, results: list[Ingested], *, json: bool) -> None:
    from memoranda.core.records import asdict

    if json:
        out.json([asdict(result) for result in results])
        return
    counts: dict[str, int] = {}
    for result in results:
        counts[result.outcome] = counts.get(result.outcome, 0) + 1
        if result.outcome not in _FINE:
            out.note(f"{result.path}: {result.outcome}: {result.reason}")
        for note in result.notes:
            out.note(f"{result.path}: {note}")
    out.line(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "nothing to take in")


def _list(session: Session, library: Library, words: list[str]) -> int:
    out = session.out
    rows: list[list[str]] = []
    if words:
        known = library.known(words[0])
        if not known and words[0] not in library.corpora():
            raise NotFound(f"there is no corpus {words[0]}")
        rows = [[one.id, one.format or "markdown", one.title or one.source] for one in known]
    else:
        rows = [[corpus, str(len(library.known(corpus)))] for corpus in library.corpora()]
    if session.arguments.json:
        out.json(rows)
        return 0
    for line in columns(rows):
        out.line(line)
    return 0
