"""The command ``kb``: documents taken in, searched, listed, read, converted again and removed."""

from __future__ import annotations

from memoranda.core.errors import Conflict, NotFound, UsageError
from memoranda.faces.cli.parsing import Command, json_option, positive, whole
from memoranda.faces.cli.table import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda import Vault
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session
    from memoranda.services.library import CorpusStatus, Library

__all__ = ["commands"]

_ACTIONS = ("create", "configure", "add", "search", "ls", "status", "read", "reconvert", "reindex", "rm")
_WITHOUT_WORDS = ("ls", "status", "reconvert", "reindex")
_MAKING = ("create", "add")
_MAIN = "main"


def commands() -> dict[str, Command]:
    """The command of this module."""
    return {
        "kb": Command(
            run=kb,
            arguments=_arguments,
            description=(
                "create NAME      a corpus; --scope says whose it is, --size how large its passages are\n"
                "configure NAME   change that: --scope --size --overlap --max-size --converter --embedding\n"
                "add WHAT...      convert files, folders and web pages to markdown and keep them in --corpus\n"
                "search QUERY     the passages that answer it, each with where it stands\n"
                "ls [NAME]        the corpora, or the documents of one\n"
                "status [NAME]    what is there, what was skipped and why, what was edited by hand\n"
                "read ID          print a document's markdown\n"
                "reconvert [ID]   make documents again from their originals (none named: all)\n"
                "reindex          throw away everything derived and make it again\n"
                "rm ID...         remove documents, their originals and their history, for good\n\n"
                "What is there already is left alone: an interrupted run is simply run again. A file that changed\n"
                "since is taken in with --replace; what was there goes into history, and undo brings it back.\n"
                "Your own files stay as they are; a copy lies in raw/. A document with a secret is refused unless\n"
                "--redact. Of folders, hidden files, links and what .gitignore or .memorandaignore name are left out."
            ),
            examples=(
                ("memoranda kb add ~/papers --corpus papers", "every document in a folder"),
                ("memoranda kb search how are invoices paid", "passages with page and line"),
                ("memoranda kb add https://example.org/guide.html", "one web page"),
                ("memoranda kb status papers", "what was skipped, and why"),
            ),
        )
    }


def _arguments(parser: Parser) -> None:
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help=", ".join(_ACTIONS))
    parser.add_argument("words", metavar="NAME|PATH|URL|ID|QUERY", nargs="*", help="what it is about")
    parser.add_argument("--corpus", metavar="NAME", help=f"which corpus (else {_MAIN}; search: all that may be seen)")
    parser.add_argument("--scope", metavar="SCOPE", help="create, configure, search: whose it is (else shared)")
    parser.add_argument("--size", metavar="N", type=positive, help="create, configure: columns of a passage (1000)")
    parser.add_argument("--overlap", metavar="N", type=whole, help="create, configure: columns repeated (0)")
    parser.add_argument("--max-size", metavar="MB", type=positive, help="create, configure: of one document (200)")
    parser.add_argument(
        "--converter", metavar="FORMAT=NAME", action="append", help="create, configure: such as docx=pandoc"
    )
    parser.add_argument(
        "--embedding",
        metavar="KEY=VALUE",
        action="append",
        help="create, configure: what embeds it: provider=, model=, base_url=, key=; none; default",
    )
    parser.add_argument("--redact", action="store_true", help="add: take secrets out, and keep no original of those")
    parser.add_argument("--replace", action="store_true", help="add: take in what changed since")
    parser.add_argument(
        "--force", action="store_true", help="add --replace, reconvert: overwrite what was edited by hand"
    )
    parser.add_argument("-k", metavar="N", type=positive, default=10, help="search: how many hits (10)")
    parser.add_argument(
        "--mode", choices=("auto", "keyword", "vector", "hybrid", "grep"), default="auto", help="search: how (auto)"
    )
    parser.add_argument("--neighbours", metavar="N", type=whole, default=0, help="search: passages around a hit (0)")
    parser.add_argument("--explain", action="store_true", help="search: say why each hit was found")
    json_option(parser)


def kb(session: Session) -> int:
    """Do one of the actions."""
    arguments = session.arguments
    action, words = arguments.action, arguments.words
    if not words and action not in _WITHOUT_WORDS:
        raise UsageError(f"kb {action} needs something to work on")
    if action in ("create", "configure", "ls", "status") and len(words) > 1:
        raise UsageError(f"kb {action} takes one name")
    if action == "add":
        from memoranda.faces.cli.ingesting import check_paths

        check_paths(words)
    opened = session.open_or_create() if action in _MAKING else session.open()
    with opened as vault:
        return _run(session, vault, action, words)


def _run(session: Session, vault: Vault, action: str, words: list[str]) -> int:
    library, corpus = vault.library, session.arguments.corpus or _MAIN
    if action in ("create", "configure"):
        return _configure(session, library, action, words[0])
    if action == "add":
        from memoranda.faces.cli.ingesting import add

        return add(session, library, corpus, vault.root)
    if action == "reconvert":
        from memoranda.faces.cli.ingesting import reconvert

        return reconvert(session, library, corpus)
    if action == "search":
        return _search(session, vault)
    if action == "ls":
        return _list(session, library, words)
    if action == "status":
        return _status(session, library, words or library.corpora())
    if action == "reindex":
        progress = session.out.progress("read")
        try:
            vault.reindex(progress)
        finally:
            progress.clear()
        session.out.line("made again from the files")
        return 0
    if action == "rm":
        by_corpus: dict[str, list[str]] = {}
        for where, document in _documents(words, corpus):
            by_corpus.setdefault(where, []).append(document)
        for where, documents in by_corpus.items():
            library.remove(where, documents)
        session.out.line(f"{len(words)} removed")
        return 0
    for where, document in _documents(words, corpus):
        session.out.text(library.text(where, document))
    return 0


def _documents(words: list[str], corpus: str) -> list[tuple[str, str]]:
    """Documents by id, or by the address that a search shows."""
    from memoranda.core.addresses import parse_document

    return [parse_document(word) if word.startswith("kb/") else (corpus, word) for word in words]


def _configure(session: Session, library: Library, action: str, name: str) -> int:
    arguments = session.arguments
    settings: dict[str, object] = {}
    if arguments.scope is not None or action == "create":
        from memoranda.core.addresses import parse_scope

        settings["scope"] = str(parse_scope(arguments.scope or "shared"))
    for key in ("size", "overlap"):
        if getattr(arguments, key) is not None:
            settings[key] = getattr(arguments, key)
    if arguments.max_size is not None:
        settings["max_size"] = arguments.max_size << 20
    if arguments.converter:
        from memoranda.adapters.converters.choosing import check_choices

        pairs = [one.partition("=") for one in arguments.converter]
        if not all(format and mark for format, mark, _ in pairs):
            raise UsageError("--converter takes FORMAT=NAME, and FORMAT= for the usual one")
        chosen = dict(library.settings(name).converters) | {format: made for format, _, made in pairs}
        # FORMAT= goes back to the usual one.
        chosen = {format: made for format, made in chosen.items() if made}
        check_choices(chosen)
        settings["converters"] = chosen or None
    if arguments.embedding:
        settings["embedding"] = _embedding(arguments.embedding)
    if action == "configure":
        if name not in library.corpora():
            raise NotFound(f"there is no corpus {name}; kb create makes one")
        if not settings:
            raise UsageError("kb configure needs a setting")
        library.configure(name, settings)
        session.out.line(f"set: docs/{name}/corpus.json")
        return 0
    if not library.create(name, settings):
        raise Conflict(f"there is a corpus {name} already; kb configure changes it")
    session.out.line(f"made docs/{name}")
    return 0


def _embedding(said: list[str]) -> dict[str, str] | None:
    """What ``--embedding`` says as ``corpus.json`` has it. Raises UsageError."""
    if said == ["default"]:
        return None
    if said == ["none"]:
        return {"provider": "none"}
    pairs = [one.partition("=") for one in said]
    if not all(mark and key for key, mark, _ in pairs):
        raise UsageError("--embedding takes KEY=VALUE (provider=ollama), none or default")
    table = {key: value for key, _, value in pairs}
    if table.get("provider") != "none":
        from memoranda.adapters.embedders import load_embedder
        from memoranda.storage.embedding_settings import read_embedding

        load_embedder(read_embedding(table, "--embedding"))
    return table


def _search(session: Session, vault: Vault) -> int:
    from memoranda.faces.cli.recalling import show_retrieval

    arguments, out = session.arguments, session.out
    if arguments.corpus is not None and arguments.corpus not in vault.library.corpora():
        raise NotFound(f"there is no corpus {arguments.corpus}")
    progress = out.progress("read")
    try:
        found = vault.retrieve(
            " ".join(arguments.words),
            k=arguments.k,
            levels=("passage",),
            scopes=None if arguments.scope is None else (arguments.scope,),
            mode=arguments.mode,
            explain=arguments.explain,
            corpora=None if arguments.corpus is None else (arguments.corpus,),
            neighbours=arguments.neighbours,
            progress=progress,
        )
    finally:
        progress.clear()
    if arguments.json:
        out.json(found.as_dict())
    else:
        show_retrieval(out, found)
        if not found.hits and arguments.corpus is not None:
            scope = vault.library.settings(arguments.corpus).scope
            if scope != (arguments.scope or "shared"):
                out.note(
                    f"{arguments.corpus} belongs to {scope or 'nobody: see kb status'}; --scope says for whom you ask"
                )
    return 0 if found.hits else NotFound.exit_code


def _list(session: Session, library: Library, words: list[str]) -> int:
    out = session.out
    rows: list[list[str]] = []
    if words:
        known = library.known(words[0])
        if not known and words[0] not in library.corpora():
            raise NotFound(f"there is no corpus {words[0]}")
        rows = [
            [one.id, one.head.format or "markdown", one.head.encoding, one.head.title or one.head.source]
            for one in known
        ]
    else:
        rows = [[corpus, str(len(library.known(corpus)))] for corpus in library.corpora()]
    if session.arguments.json:
        out.json(rows)
        return 0
    for line in columns(rows):
        out.line(line)
    return 0


def _status(session: Session, library: Library, names: list[str]) -> int:
    found = [library.status(name) for name in names]
    if session.arguments.json:
        session.out.json([_as_dict(one) for one in found])
        return 0
    out = session.out
    for one in found:
        settings = one.settings
        out.styled(("bold", one.corpus), f"  {len(one.documents)} documents, {len(one.skipped)} skipped")
        out.line(f"  scope {settings.scope or '?'}, passages of {settings.size} columns, overlap {settings.overlap}")
        if settings.embedding:
            out.line(f"  embedded by {' '.join(filter(None, (settings.embedding.provider, settings.embedding.model)))}")
        for fault in settings.faults:
            out.line(f"  corpus.json: {fault}")
        for document in one.edited:
            out.line(f"  edited by hand: {document}")
        for document in one.without_original:
            out.line(f"  without its original: {document}")
        for line in columns([[skipped.outcome, skipped.path, skipped.reason] for skipped in one.skipped]):
            out.line(f"  {line}")
    if not found:
        out.note("there is no corpus yet; memoranda kb add PATH makes one")
    return 0


def _as_dict(status: CorpusStatus) -> dict[str, object]:
    from memoranda.core.records import asdict

    formats: dict[str, int] = {}
    for one in status.documents:
        format = one.head.format or "markdown"
        formats[format] = formats.get(format, 0) + 1
    return {
        "corpus": status.corpus,
        "documents": len(status.documents),
        "formats": formats,
        "settings": asdict(status.settings),
        "skipped": [asdict(one) for one in status.skipped],
        "edited": list(status.edited),
        "without_original": list(status.without_original),
    }
