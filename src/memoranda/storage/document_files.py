"""One document on disk: its markdown with front matter, its original, and what both were before a change.

::

    docs/<corpus>/<document>.md                              the markdown
    raw/<corpus>/<document>.<ext>                            the original, byte for byte
    history/kb/<corpus>/<change>/docs/<document>.md          what the change replaced
    history/kb/<corpus>/<change>/raw/<document>.<ext>
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

from memoranda.core.errors import NotFound, UsageError
from memoranda.core.frontmatter import front_matter_end
from memoranda.core.names import check_identifier, content_hash, normalize_newlines
from memoranda.core.records import dataclass
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    exchange,
    make_folder,
    read_bytes,
    remove_file,
    sync_folder,
    write_temporary,
    writing,
)
from memoranda.storage.parallel import in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memoranda.storage.vault import VaultFolder

__all__ = ["DocumentFiles", "DocumentHead", "NewDocument", "read_head", "split_document"]

_ENDING = ".md"
_HEAD_BYTES = 8192
_FIELD = r'(?m)^([a-z_]+): ("(?:[^"\\]|\\.)*")[ \t]*\r?$'


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """What a document's front matter says; a person's own has little or none of it.

    ``hash`` is the SHA-256 of the original, ``converted_hash`` the content hash
    of the markdown as the converter made it: another one now is a person's edit.
    """

    title: str = ""
    source: str = ""
    hash: str = ""
    format: str = ""
    encoding: str = ""
    converter: str = ""
    converted_at: str = ""
    converted_hash: str = ""

    def document(self, body: str) -> bytes:
        """The whole file, with ``body`` below; its hash is put in."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields["hash"] = self.hash and f"sha256:{self.hash}"
        fields["converted_hash"] = content_hash(body)
        rows = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items() if value)
        return f"---\n{rows}---\n\n{body}\n".encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to be put: its file's bytes, and its original's with its ending (``None``: none is kept).

    ``expected`` are the bytes that it is to replace (``None``: whatever there is).
    """

    id: str
    markdown: bytes
    original: bytes | None = None
    ending: str = ""
    expected: bytes | None = None


def split_document(text: str) -> tuple[DocumentHead, str]:
    """What a document's front matter says, and its markdown without that."""
    head, end = _head_of(text)
    return head, normalize_newlines(text[end:]).strip("\n")


def read_head(path: str) -> DocumentHead:
    """What the front matter of the document at ``path`` says; nothing where it cannot be read."""
    with suppress(OSError), open(path, "rb") as stream:
        return _head_of(stream.read(_HEAD_BYTES).decode("utf-8", "replace"))[0]
    return DocumentHead()


def _head_of(text: str) -> tuple[DocumentHead, int]:
    """What the front matter says, and where it ends."""
    start = 1 if text.startswith("\ufeff") else 0
    end = front_matter_end(text, start) if text.startswith("---", start) else start
    fields: dict[str, str] = {}
    for key, value in re.findall(_FIELD, text[:end]):
        with suppress(ValueError):
            fields[key] = str(json.loads(value))
    fields["hash"] = fields.get("hash", "").removeprefix("sha256:")
    return DocumentHead(**{name: fields.get(name, "") for name in DocumentHead.__slots__}), end


@dataclass(slots=True)
class _Made:
    """A document that is to be put: the temporaries of its markdown and its original, and their places."""

    new: NewDocument
    target: str
    markdown: str
    original: str
    original_target: str

    def write(self, docs: str, raw: str) -> None:
        """Write the temporaries, durably. Raises OSError."""
        if self.new.original is not None:
            self.original = write_temporary(raw, self.new.original)
        self.markdown = write_temporary(docs, self.new.markdown, like=self.target)


class DocumentFiles:
    """The files of documents. Writers hold the vault's lock."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault

    def folder(self, kind: str, corpus: str) -> str:
        """``docs/<corpus>`` or ``raw/<corpus>``. Raises BadName, UsageError, OutsideVault."""
        if check_identifier(corpus, "a corpus") != corpus or corpus.startswith("."):
            raise UsageError(f"a corpus cannot be called {corpus!r}")
        path = self._vault.path(f"{kind}/{corpus}")
        self._vault.check_inside(path, f"{kind}/{corpus}")
        return path

    def markdown(self, corpus: str, document: str) -> str:
        """The path of a document's markdown. Raises BadName, UsageError, OutsideVault."""
        return self._markdown_in(self.folder("docs", corpus), corpus, document)

    def _markdown_in(self, docs: str, corpus: str, document: str) -> str:
        """The same where the folder is known to be inside: looking that up costs more than all the rest."""
        name = check_identifier(document, "a document") + _ENDING
        path = os.path.join(docs, name)
        if os.path.islink(path):
            self._vault.check_inside(path, f"docs/{corpus}/{name}")
        return path

    def exists(self, corpus: str, document: str) -> bool:
        """Whether there is such a document."""
        return os.path.isfile(self.markdown(corpus, document))

    def present(self, corpus: str, documents: Iterable[str]) -> dict[str, bytes]:
        """The files of those of the documents that are there. Raises OSError."""
        docs = self.folder("docs", corpus)
        paths = {document: self._markdown_in(docs, corpus, document) for document in documents}
        return {document: read_bytes(path) for document, path in paths.items() if os.path.isfile(path)}

    def read(self, corpus: str, document: str) -> str:
        """A document's file. Raises NotFound."""
        with suppress(OSError):
            return read_bytes(self.markdown(corpus, document)).decode("utf-8", "replace")
        raise NotFound(f"there is no document {document} in {corpus}")

    def digest(self, corpus: str, document: str, *, before: str = "") -> str | None:
        """The content hash of a document's file, now or ``before`` a change; ``None`` where it was not there."""
        kept = os.path.join(self._kept(before, corpus), "docs", document + _ENDING) if before else ""
        with suppress(OSError):
            return content_hash(read_bytes(kept or self.markdown(corpus, document)).decode("utf-8", "replace"))
        return None

    def original(self, corpus: str, document: str) -> str | None:
        """The path of a document's original, where one was kept."""
        return next(_named(self.folder("raw", corpus), document), None)

    def documents_left(self, corpus: str) -> set[str]:
        """The documents of which anything is left: markdown, an original, or an earlier version."""
        found: set[str] = set()
        docs = [self.folder("docs", corpus), *(one for one in self._versions(corpus) if one.endswith("docs"))]
        for folder in docs:
            with suppress(OSError):
                found |= {name.removesuffix(_ENDING) for name in os.listdir(folder) if name.endswith(_ENDING)}
        with suppress(OSError):
            for name in os.listdir(self.folder("raw", corpus)):
                if not {name, os.path.splitext(name)[0]} & found:
                    found.add(os.path.splitext(name)[0])
        return {name for name in found if not name.startswith(".")}

    def put(self, corpus: str, documents: Sequence[NewDocument]) -> set[str]:
        """Put documents with their originals, all durable when this returns; those that were not.

        That is what is not any more as it was ``expected``: a person saved it just now.

        Raises VaultFull, VaultReadOnly: some of them may be there.
        """
        docs, raw = self.folder("docs", corpus), self.folder("raw", corpus)
        made: list[_Made] = []
        kept_out: set[str] = set()
        with writing(docs):
            make_folder(docs)
            try:
                made = [
                    _Made(one, self._markdown_in(docs, corpus, one.id), "", "", f"{raw}/{one.id}{one.ending}")
                    for one in documents
                ]
                if any(one.original is not None for one in documents):
                    make_folder(raw)
                in_threads(lambda each: each.write(docs, raw), made)
                for each in made:
                    if not self._put(each, raw):
                        kept_out.add(each.new.id)
            finally:
                for each in made:
                    for temporary in filter(None, (each.original, each.markdown)):
                        with suppress(OSError):
                            os.unlink(temporary)
            sync_folder(docs)
            if any(each.original for each in made):
                sync_folder(raw)
        return kept_out

    def _put(self, made: _Made, raw: str) -> bool:
        """Put one document, the original first; False, and nothing is done, where it is not as it was expected."""
        was_there, exchanged = os.path.exists(made.target), False
        if made.original:
            had_original = os.path.exists(made.original_target)
            exchanged = had_original and exchange(made.original, made.original_target)
            if not exchanged:
                os.replace(made.original, made.original_target)
        if not _swap(made.markdown, made.target, made.new.expected):
            if exchanged:
                exchange(made.original, made.original_target)
            elif made.original and not had_original:
                os.unlink(made.original_target)
            return False
        if was_there:
            for former in list(_named(raw, made.new.id)):
                # Its new version has another ending, or none is kept.
                if not made.original or former != made.original_target:
                    os.unlink(former)
        return True

    def set_aside(self, change: str, corpus: str, documents: Iterable[str]) -> None:
        """Keep documents and originals as they are now, as what ``change`` will have replaced. Raises VaultFull."""
        kept, docs = self._kept(change, corpus), self.folder("docs", corpus)
        originals = _by_document(self.folder("raw", corpus))
        moves: dict[str, str] = {}
        for document in documents:
            moves |= {path: os.path.join(kept, "raw", os.path.basename(path)) for path in originals.get(document, ())}
            if os.path.isfile(path := self._markdown_in(docs, corpus, document)):
                moves[path] = os.path.join(kept, "docs", os.path.basename(path))
        folders = {os.path.dirname(target) for target in moves.values()}

        def copy(move: tuple[str, str]) -> None:
            os.replace(write_temporary(os.path.dirname(move[1]), read_bytes(move[0])), move[1])

        with writing(kept):
            for folder in folders:
                make_folder(folder)
            in_threads(copy, list(moves.items()))
            for folder in folders:
                sync_folder(folder)

    def bring_back(self, change: str, corpus: str, document: str) -> None:
        """Put a document back as it was before ``change``: away, where it was not there. Raises VaultFull."""
        kept = self._kept(change, corpus)
        path = os.path.join(kept, "docs", document + _ENDING)
        if not os.path.isfile(path):
            self.take_out(corpus, document)
            return
        original = next(_named(os.path.join(kept, "raw"), document), None)
        ending = "" if original is None else os.path.basename(original)[len(document) :]
        data = None if original is None else read_bytes(original)
        self.put(corpus, [NewDocument(document, read_bytes(path), data, ending)])

    def take_out(self, corpus: str, document: str) -> None:
        """Remove a document and its original; what it was before earlier changes stays. Raises VaultReadOnly."""
        for _, path in self._files(corpus, document):
            with writing(path):
                remove_file(path)

    def erase(self, corpus: str, document: str) -> None:
        """Remove a document, its original, and all that they ever were; the document last. Raises VaultReadOnly."""
        for folder in self._versions(corpus):
            for path in list(_named(folder, document)):
                with writing(path):
                    remove_file(path)
            with suppress(OSError):
                os.rmdir(folder)
                os.rmdir(os.path.dirname(folder))
        self.take_out(corpus, document)

    def clear_temporaries(self, corpus: str) -> None:
        """Remove what a crash left half-written; with the lock nobody is writing. Raises VaultReadOnly."""
        for folder in (self.folder("docs", corpus), self.folder("raw", corpus), *self._versions(corpus)):
            with suppress(OSError):
                for name in os.listdir(folder):
                    if name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp"):
                        os.unlink(os.path.join(folder, name))

    def _versions(self, corpus: str) -> list[str]:
        """The folders of earlier versions."""
        changes = self._kept("", corpus)
        found: list[str] = []
        with suppress(OSError):
            for change in sorted(os.listdir(changes)):
                found += [os.path.join(self._kept(change, corpus), kind) for kind in ("docs", "raw")]
        return [folder for folder in found if os.path.isdir(folder)]

    def _files(self, corpus: str, document: str) -> list[tuple[str, str]]:
        document = check_identifier(document, "a document")
        found = [("raw", path) for path in _named(self.folder("raw", corpus), document)]
        if self.exists(corpus, document):
            found.append(("docs", self.markdown(corpus, document)))
        return found

    def _kept(self, change: str, corpus: str) -> str:
        relative = f"history/kb/{corpus}/{change}".rstrip("/")
        path = self._vault.path(relative)
        self._vault.check_inside(path, relative)
        return path


def _by_document(folder: str) -> dict[str, list[str]]:
    """The originals in a folder, by whose they are: by name without an ending, and whole where there is none."""
    found: dict[str, list[str]] = {}
    with suppress(OSError):
        for name in os.listdir(folder):
            for document in {name, os.path.splitext(name)[0]}:
                found.setdefault(document, []).append(os.path.join(folder, name))
    return found


def _named(folder: str, document: str) -> Iterator[str]:
    """The files in a folder that are named so, whatever their ending."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        stem, ending = os.path.splitext(name)
        if name == document or (stem == document and ending):
            yield os.path.join(folder, name)


def _swap(temporary: str, target: str, expected: bytes | None) -> bool:
    """Put a file in another's place, if that is as it was expected; whether it was. The temporary may be left."""
    if expected is None:
        os.replace(temporary, target)
        return True
    try:
        if read_bytes(target) != expected:
            return False
        if not exchange(temporary, target):
            os.replace(temporary, target)
            return True
        if read_bytes(temporary) == expected:
            return True
        exchange(temporary, target)  # a save slipped in between: it goes back
    except FileNotFoundError:
        pass
    return False
