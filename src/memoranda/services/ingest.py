"""Taking documents in: what was found is converted elsewhere, and kept as markdown with its original beside it.

::

    docs/<corpus>/<document>.md        the markdown, with front matter that says where it comes from
    raw/<corpus>/<document>.<ext>      the original, byte for byte

A document is known by its source (the file's path) and its bytes. What is there
already is left alone, so that a run which was interrupted is simply run again.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from hashlib import sha256

from memoranda.core.documents import NotConverted
from memoranda.core.errors import NotFound, UsageError
from memoranda.core.frontmatter import front_matter_end
from memoranda.core.model import JournalEntry
from memoranda.core.names import check_identifier
from memoranda.core.records import dataclass
from memoranda.services.redaction import redact
from memoranda.storage.clock import written_moment
from memoranda.storage.documents import Documents
from memoranda.storage.files import make_folder, read_bytes, remove_file, replace_file, writing
from memoranda.storage.journal import new_change_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memoranda.core.documents import Converted
    from memoranda.storage.store import Storage

    #: Converts documents, each its bytes and its file's name; what became of each, in their order.
    Convert = Callable[[Iterable[tuple[bytes, str]]], Iterator[Converted | NotConverted]]

__all__ = ["Ingested", "KnownDocument", "Library", "files_below"]

#: Folders that hold what programs made.
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_LONGEST_NAME = 60
#: So many documents are one line of the journal.
_BATCH = 100
_FIELD = r'(?m)^([a-z_]+): ("(?:[^"\\]|\\.)*")[ \t]*$'


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document of a corpus, as its front matter tells: where it comes from, and the hash of its original."""

    id: str
    title: str = ""
    source: str = ""
    hash: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file.

    ``outcome``: ``stored``; ``unchanged``; ``changed`` (the file is another than
    when it was taken in, and what is there stays); or one of
    :data:`memoranda.core.documents.Refusal`, and ``reason`` says why.
    """

    path: str
    outcome: str
    document: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


class Library:
    """The corpora of one vault, for who puts documents in and takes them out."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._vault = storage.vault
        self._documents = Documents(storage.vault)

    def create(self, corpus: str, settings: dict[str, object]) -> bool:
        """Make a corpus with these settings (``scope``, ``size``, ``overlap``); False: it is there already.

        Raises:
            BadName: it cannot be one's name.
            VaultFull, VaultReadOnly: it was not made.
        """
        folder = self._folder("docs", corpus)
        path = os.path.join(folder, "corpus.json")
        with self._storage.locked(), writing(folder):
            if os.path.exists(path):
                return False
            make_folder(folder)
            replace_file(path, (json.dumps(settings, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))
        return True

    def known(self, corpus: str) -> list[KnownDocument]:
        """The documents of a corpus, by id. Raises VaultUnreadable."""
        return [_known(file.document, file.path) for file in self._documents.files() if file.corpus == corpus]

    def corpora(self) -> list[str]:
        """The names of all corpora. Raises VaultUnreadable."""
        return self._documents.corpora()

    def text(self, corpus: str, document: str) -> str:
        """A document's markdown. Raises NotFound."""
        with suppress(OSError):
            return read_bytes(self._path(corpus, document)).decode("utf-8", "replace")
        raise NotFound(f"there is no document {document} in {corpus}")

    def add(
        self,
        corpus: str,
        paths: Iterable[str],
        convert: Convert,
        *,
        redacted: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Iterator[Ingested]:
        """Take files in, one after the other; what became of each. What is stored is durable when it is told.

        A document with a secret in it is refused, or (``redacted``) kept without it
        and without its original.

        Raises:
            BadName: there can be no such corpus.
            VaultFull, VaultReadOnly: what was told before is kept.
        """
        self._folder("docs", corpus)
        known = self.known(corpus)
        by_source = {one.source: one for one in known}
        by_hash = {one.hash: one for one in known if one.hash}
        asked: list[tuple[str, str, str]] = []
        answers: list[Ingested | None] = []
        wanted = list(paths)

        def jobs() -> Iterator[tuple[bytes, str]]:
            for path in wanted:
                source = os.path.realpath(path)
                try:
                    data = read_bytes(path)
                except OSError as error:
                    answers.append(Ingested(path, "unsupported", "", f"could not be read ({error.strerror})"))
                    continue
                digest = sha256(data).hexdigest()
                same = by_source.get(source)
                if same is not None and same.hash != digest:
                    answers.append(Ingested(path, "changed", same.id, "it is another than what was taken in"))
                elif (there := same or by_hash.get(digest)) is not None:
                    answers.append(Ingested(path, "unchanged", there.id))
                else:
                    name = _free_id(os.path.basename(path), source)
                    by_hash[digest] = by_source[source] = KnownDocument(name, source=source, hash=digest)
                    answers.append(None)
                    asked.append((path, digest, name))
                    yield data, os.path.basename(path)

        told = done = 0
        stored: list[str] = []
        try:
            for made in convert(jobs()):
                while told < len(answers) and (answer := answers[told]) is not None:
                    told += 1
                    yield answer
                path, digest, name = asked[done]
                done, told = done + 1, told + 1
                result = self._store(corpus, name, path, digest, made, redacted)
                if result.outcome == "stored":
                    stored.append(name)
                else:
                    by_hash.pop(digest, None)
                if len(stored) >= _BATCH:
                    self._log(corpus, stored)
                if progress is not None:
                    progress(told, len(wanted))
                yield result
            yield from (answer for answer in answers[told:] if answer is not None)
        finally:
            self._log(corpus, stored)

    def remove(self, corpus: str, document: str) -> None:
        """Remove a document with its original. Raises NotFound, VaultReadOnly."""
        path = self._path(corpus, document)
        with self._storage.locked():
            if not os.path.isfile(path):
                raise NotFound(f"there is no document {document} in {corpus}")
            with writing(path):
                for raw in self._raw(corpus, document):
                    remove_file(raw)
                remove_file(path)
            self._journal("withdraw", corpus, {"documents": 1, "first": document})

    def _store(
        self, corpus: str, name: str, path: str, digest: str, made: Converted | NotConverted, redacted: bool
    ) -> Ingested:
        if isinstance(made, NotConverted):
            return Ingested(path, made.kind, "", str(made))
        markdown, found = redact(made.markdown)
        title, _ = redact(made.title)
        if found and not redacted:
            kinds = ", ".join(sorted({one.kind for one in found}))
            return Ingested(
                path, "secret", "", f"it holds a secret ({kinds}) in line {_first_change(made.markdown, markdown)}"
            )
        now = written_moment(self._storage.clock.now().replace(microsecond=0))
        fields = {
            "title": title,
            "source": os.path.realpath(path),
            "hash": f"sha256:{digest}",
            "format": made.format,
            "encoding": made.encoding,
            "converter": f"{made.converter} {made.version}".strip(),
            "converted_at": now,
        }
        rows = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items() if value)
        text = f"---\n{rows}---\n\n{markdown.strip()}\n"
        target = self._path(corpus, name)
        original = b"" if found else read_bytes(path)
        if not found and sha256(original).hexdigest() != digest:
            return Ingested(path, "changed", "", "it changed while it was converted; take it in again")
        with self._storage.locked(), writing(target):
            make_folder(os.path.dirname(target))
            if not found:
                raw = os.path.join(self._folder("raw", corpus), name + os.path.splitext(path)[1].lower())
                make_folder(os.path.dirname(raw))
                replace_file(raw, original)
            replace_file(target, text.encode("utf-8", "replace"))
        return Ingested(path, "stored", name, "", made.notes)

    def _log(self, corpus: str, stored: list[str]) -> None:
        if stored:
            with self._storage.locked():
                detail = {"documents": len(stored), "first": stored[0], "last": stored[-1]}
                self._journal("ingest", corpus, detail)
            stored.clear()

    def _journal(self, action: str, corpus: str, detail: dict[str, object]) -> None:
        ts = written_moment(self._storage.clock.now())
        entry = JournalEntry(
            new_change_id(), ts, action, actor=self._storage.actor, source=f"kb/{corpus}", detail=detail
        )
        self._storage.journal.append([entry])
        self._storage.settle()

    def _folder(self, kind: str, corpus: str) -> str:
        if check_identifier(corpus, "a corpus") != corpus or corpus.startswith("."):
            raise UsageError(f"a corpus cannot be called {corpus!r}")
        path = self._vault.path(f"{kind}/{corpus}")
        self._vault.check_inside(path, f"{kind}/{corpus}")
        return path

    def _path(self, corpus: str, document: str) -> str:
        return os.path.join(self._folder("docs", corpus), check_identifier(document, "a document") + ".md")

    def _raw(self, corpus: str, document: str) -> list[str]:
        folder = self._folder("raw", corpus)
        with suppress(OSError):
            return [os.path.join(folder, name) for name in os.listdir(folder) if os.path.splitext(name)[0] == document]
        return []


def files_below(path: str) -> Iterator[str]:
    """The files in a folder and those below it, or the one file: hidden ones, links and what programs made left out."""
    if os.path.isfile(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _LEFT_OUT)
        for name in sorted(names):
            file = os.path.join(folder, name)
            if not name.startswith(".") and os.path.isfile(file) and not os.path.islink(file):
                yield file


def _known(document: str, path: str) -> KnownDocument:
    """What a document's front matter says; a person's own has little or none."""
    head = ""
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as stream:
        head = stream.read(8192)
    end = front_matter_end(head, 0) if head.startswith("---") else 0
    fields: dict[str, str] = {}
    for key, value in re.findall(_FIELD, head[:end]):
        with suppress(ValueError):
            fields[key] = str(json.loads(value))
    return KnownDocument(
        document,
        fields.get("title", ""),
        fields.get("source", ""),
        fields.get("hash", "").removeprefix("sha256:"),
        fields.get("format", ""),
    )


def _free_id(name: str, source: str) -> str:
    """An id that sorts by the file's name and stays the same for the same source."""
    stem = re.sub(r"[^\w.-]+", "-", os.path.splitext(name)[0]).strip("-.")[:_LONGEST_NAME] or "document"
    while len(stem.encode("utf-8")) > 150:
        stem = stem[:-1]
    return f"{stem}-{sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _first_change(before: str, after: str) -> int:
    """The number of the first line that differs."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)
