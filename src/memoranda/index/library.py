"""Documents in the corpus of what can be found: cut into passages, and cut again when they change."""

from __future__ import annotations

import time

from memoranda.index.entries import library_of
from memoranda.index.indexed_files import Holdings, SourceFile
from memoranda.storage.documents import Documents
from memoranda.storage.files import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.core.model import Level
    from memoranda.index.corpus import Corpus
    from memoranda.index.indexed_files import IndexedFile
    from memoranda.storage.documents import DocumentFile
    from memoranda.storage.files import Stamp
    from memoranda.storage.store import Storage

__all__ = ["Library"]

#: Seconds between two looks at the documents: there may be ten thousand of them.
_PAUSE = 1.0


class Library:
    """Keeps passages equal to the documents' files. Passages are held in memory, made by each process anew."""

    def __init__(self, storage: Storage, corpus: Corpus) -> None:
        self._documents = Documents(storage.vault)
        self._corpus = corpus
        self._holdings = Holdings(corpus)
        self._known: dict[str, IndexedFile] = {}
        self._cut_by: dict[str, Stamp | None] = {}
        #: What could not be read: its stamp then, and why; empty where that is its encoding, which is no outage.
        self._unreadable: dict[str, tuple[Stamp, str]] = {}
        self._looked: float | None = None
        self._left = False

    def refresh(self, until: float | None, progress: Callable[[int, int | None], None] | None = None) -> list[str]:
        """Read what changed, at most once a second; what could not be read, in words. Raises VaultUnreadable."""
        now = time.monotonic()
        if self._looked is not None and now - self._looked < _PAUSE and not self._left:
            return []
        files = {file.relative: file for file in self._documents.files()}
        self._corpus.libraries.clear()
        for corpus in self._documents.corpora():
            if scope := self._documents.settings(corpus).scope:
                self._corpus.libraries[library_of(corpus)] = scope
        for path in [path for path in self._known if path not in files]:
            self._holdings.drop(path, self._known.pop(path))
        for path in [path for path in self._unreadable if path not in files]:
            del self._unreadable[path]
        changed = [file for file in files.values() if self._may_have_changed(file)]
        self._looked, self._left = now, False
        missing: list[str] = []
        for number, file in enumerate(changed):
            if until is not None and time.monotonic() > until:
                self._left = True
                missing.append(
                    f"knowledge: {len(changed) - number} of {len(changed)} changed documents not read in time"
                )
                break
            self._read(file)
            if progress is not None:
                progress(number + 1, len(changed))
        return [*missing, *(f"{path}: {fault}" for path, (_, fault) in self._unreadable.items() if fault)]

    def sources(self) -> dict[str, SourceFile]:
        """Every document that has been cut, as it is known."""
        level: Level = "passage"
        return {
            path: SourceFile(level, file.stamp, file.settled, tuple((level, file.scope, one) for one in file.parents))
            for path, file in self._known.items()
        }

    def _may_have_changed(self, file: DocumentFile) -> bool:
        known = self._known.get(file.relative)
        if known is None:
            return file.relative not in self._unreadable or self._unreadable[file.relative][0] != file.stamp
        as_cut = self._cut_by.get(file.relative) == file.settings
        return not known.settled or known.stamp != file.stamp or not as_cut

    def _read(self, file: DocumentFile) -> None:
        """Cut a document into passages."""
        from memoranda.core.passages import cut

        started = time.time_ns()
        try:
            text = read_bytes(file.path).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            if (known := self._known.pop(file.relative, None)) is not None:
                self._holdings.drop(file.relative, known)
            fault = str(error.strerror) if isinstance(error, OSError) else ""
            self._unreadable[file.relative] = (file.stamp, fault)
            return
        self._unreadable.pop(file.relative, None)
        settings = self._documents.settings(file.corpus)
        passages = cut(text, size=settings.size, overlap=settings.overlap)
        made = self._holdings.put_document(file, passages, self._known.get(file.relative))
        made.settled = file.stamp.is_settled(started)
        self._known[file.relative], self._cut_by[file.relative] = made, file.settings
