"""Taking documents in from the command line, and making them again: progress, and the table at the end."""

from __future__ import annotations

import os

from memoranda.core.errors import MemorandaError, NotFound, UsageError
from memoranda.faces.cli.table import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.adapters.converters.pool import ConverterPool
    from memoranda.core.documents import Converted, NotConverted
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.session import Session
    from memoranda.services.document_sources import Source
    from memoranda.services.library import Library
    from memoranda.services.source_lookup import Ingested

__all__ = ["add", "check_paths", "reconvert"]

#: The converter that holds neural models, and the address space that these want.
_LARGE, _LARGE_MEMORY = "docling", 16 << 30
_SCHEMES = ("http://", "https://")
#: What the last line counts, in this order; everything else was skipped.
_COUNTED = ("stored", "unchanged", "replaced", "converted")


def check_paths(words: list[str]) -> None:
    """See that each is a file, a folder or an address. Raises NotFound, UsageError."""
    for path in words:
        if path.lower().startswith(_SCHEMES):
            continue
        path = os.path.expanduser(path)
        if not os.path.lexists(path):
            raise NotFound(f"there is no file or folder {path}")
        if not (os.path.isfile(path) or os.path.isdir(path)):
            raise UsageError(f"{path} is neither a file nor a folder")


def add(session: Session, library: Library, corpus: str, vault: str) -> int:
    """Take in what the arguments name."""
    arguments = session.arguments
    progress = session.out.progress("documents")
    results = _Results(session.out, whole=arguments.json)
    # Counted first and walked again: held at hand, the paths would take what the folder has of them.
    total = sum(_count(word, vault) for word in arguments.words)
    sources = (source for word in arguments.words for source in _sources(word, vault))
    with _pool(library, corpus) as pool:
        try:
            for result in library.add(
                corpus,
                sources,
                lambda jobs: _converted(pool, jobs),
                redacted=arguments.redact,
                replacing=arguments.replace,
                overwriting=arguments.force,
                progress=progress,
                total=total,
            ):
                results.take(result)
        except BaseException:
            progress.clear()
            session.out.note(f"cut short after {results.total} of {total}: run it again to go on")
            raise
        finally:
            progress.clear()
            results.end()
    return results.report("nothing to take in")


def reconvert(session: Session, library: Library, corpus: str) -> int:
    """Make the documents that the arguments name, or all, again."""
    arguments = session.arguments
    documents = arguments.words
    if documents and all(one.startswith("kb/") for one in documents):
        from memoranda.core.addresses import parse_document

        corpus = parse_document(documents[0])[0]
        documents = [parse_document(one)[1] for one in documents]
    if corpus not in library.corpora():
        raise NotFound(f"there is no corpus {corpus}")
    progress = session.out.progress("documents")
    total = len(documents) or len(library.known(corpus))
    results = _Results(session.out, whole=arguments.json)
    with _pool(library, corpus) as pool:
        try:
            for result in library.reconvert(
                corpus, documents, lambda jobs: _converted(pool, jobs), overwriting=arguments.force
            ):
                results.take(result)
                progress(results.total, total)
        finally:
            progress.clear()
            results.end()
    return results.report("nothing to convert")


def _pool(library: Library, corpus: str) -> ConverterPool:
    from memoranda.adapters.converters.limits import Limits
    from memoranda.adapters.converters.pool import ConverterPool
    from memoranda.core.records import replace

    settings = library.settings(corpus)
    limits = Limits(size=settings.max_size)
    if _LARGE in dict(settings.converters).values():
        limits = replace(limits, memory=_LARGE_MEMORY)
    return ConverterPool(limits=limits, choices=dict(settings.converters))


def _sources(word: str, vault: str) -> Iterator[Source]:
    if word.lower().startswith(_SCHEMES):
        yield _fetched(word)
        return
    from memoranda.services.document_sources import sources_below

    yield from sources_below(os.path.expanduser(word), vault)


def _count(word: str, vault: str) -> int:
    return 1 if word.lower().startswith(_SCHEMES) else sum(1 for _ in _sources(word, vault))


def _fetched(url: str) -> Source:
    from memoranda.adapters.fetching import fetch
    from memoranda.core.documents import NotConverted
    from memoranda.services.document_sources import Source
    from memoranda.services.redaction import redact

    shown = redact(url)[0]  # it is kept with the document
    try:
        got = fetch(url)
    except NotConverted as fault:
        return Source(shown, shown, fault=fault)
    return Source(shown, shown, got.data, got.name)


def _converted(pool: ConverterPool, jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
    from memoranda.adapters.converters.pool import Job
    from memoranda.core.documents import NotConverted

    for result in pool.convert_many(Job(data, name) for data, name in jobs):
        yield result.converted or result.refused or NotConverted("corrupt", "it could not be converted")


class _Results:
    """What became of the files of a run: counts, and what has to be told of single ones (``whole``: all, at once)."""

    def __init__(self, out: Output, *, whole: bool) -> None:
        self.total = 0
        self._out, self._whole = out, whole
        self._counts = dict.fromkeys(_COUNTED, 0)
        self._kept: list[Ingested] = []
        self._skipped = 0

    def take(self, result: Ingested) -> None:
        """Count one."""
        fine = result.outcome in self._counts
        if fine:
            self._counts[result.outcome] += 1
        self._skipped += not fine
        if self._whole:
            from memoranda.core.records import asdict

            self._out.raw(",\n" if self.total else "[\n")
            self._out.json(asdict(result), indent=None, end="")
        elif not fine or result.notes:
            self._kept.append(result)
        self.total += 1

    def end(self) -> None:
        """Close the list that was begun, however the run ended."""
        if self._whole:
            self._out.raw("\n]\n" if self.total else "[]\n")

    def report(self, nothing: str) -> int:
        """Print the table: what was skipped and why, then how many of what. The exit code."""
        if not self._whole:
            for result in self._kept:
                for note in result.notes:
                    self._out.note(f"{result.path}: {note}")
            skipped = [one for one in self._kept if one.outcome not in self._counts]
            for line in columns([[one.outcome, one.path, one.reason] for one in skipped]):
                self._out.line(line)
            told = [f"{count} {outcome}" for outcome, count in self._counts.items() if count]
            told += [f"{self._skipped} skipped"] if self._skipped else []
            self._out.line(", ".join(told) or nothing)
        return MemorandaError.exit_code if self.total and self._skipped == self.total else 0
