"""Documents in the corpus of what can be found: cut into passages, and cut again when they change."""

from __future__ import annotations

import time

from memoranda.index.entries import library_of
from memoranda.index.indexed_files import Holdings, IndexedFile, SourceFile
from memoranda.index.segment import sound
from memoranda.index.segment_keeper import SegmentKeeper
from memoranda.index.shelves import Shelf, look
from memoranda.storage.documents import Documents
from memoranda.storage.files import Stamp, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memoranda.core.model import Level
    from memoranda.index.corpus import Corpus
    from memoranda.index.shelves import Look
    from memoranda.storage.documents import DocumentFile
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage

__all__ = ["Library"]

#: Seconds between two looks at the documents: there may be ten thousand of them.
_PAUSE = 1.0
#: What cutting a document may take, at the worst that is usual.
_SECONDS_A_BYTE = 1e-6
_LEVEL: Level = "passage"


class Library:
    """Keeps passages equal to the documents' files. One a process and vault; not for several threads at once.

    What the vault's segment of passages holds is taken from there; documents that
    are not as it has them are read, and held in memory over it.
    """

    def __init__(self, storage: Storage, resources: Resources, corpus: Corpus, with_segment: bool = True) -> None:
        self._vault = storage.vault
        self._documents = Documents(storage.vault)
        self._corpus = corpus
        self._holdings = Holdings(corpus)
        self._keeper = SegmentKeeper(storage, resources, corpus.segmentation, "passages")
        self._with_segment = with_segment
        #: Every document that has been cut, by corpus and file.
        self._shelves: dict[str, Shelf] = {}
        #: Those of them that are not as the segment has them, by path.
        self._held: dict[str, IndexedFile] = {}
        #: How many bytes of documents only the segment still has.
        self._lost = 0
        #: What could not be read, by path: its row then, and why; empty where that is its encoding, which is no outage.
        self._unreadable: dict[str, tuple[list[int], str]] = {}
        #: What could not be read when the segment was made, by path: another would not have it either.
        self._left_out: dict[str, list[int]] = {}
        self._sources: dict[str, SourceFile] | None = None
        self._looked: float | None = None
        self._left = False

    def refresh(self, until: float | None, progress: Callable[[int, int | None], None] | None = None) -> list[str]:
        """Read what changed, where time is short at most once a second; what could not be read, in words.

        Raises:
            VaultUnreadable: what there is cannot be looked at; the corpus stays as it was.
            SegmentDamaged: start anew, without the segment.
        """
        now = time.monotonic()
        if self._looked is None or (self._with_segment and self._keeper.has_rewritten()):
            self._take_segment()
        elif until is not None and now - self._looked < _PAUSE and not self._left:
            return []
        found = self._look()
        changed = [file for file in found.changed if not self._is_known_unreadable(file)]
        if until is None and self._make_segment(changed, found.total, progress):
            found = self._look()
            changed = found.changed
        self._looked, self._left = now, False
        for corpus, name in found.gone:
            self._take_out(corpus, name)
        still = {file.relative for file in found.changed}
        self._unreadable = {path: known for path, known in self._unreadable.items() if path in still}
        missing = self._read_all(changed, until, progress)
        if changed or found.gone:
            self._sources = None
            if self._with_segment:
                # What is too long to be read while somebody waits is read by another process.
                self._keeper.rewrite_later(found.total if self._left else self._loose(), found.total)
        return [*missing, *(f"{path}: {fault}" for path, (_, fault) in self._unreadable.items() if fault)]

    def sources(self) -> dict[str, SourceFile]:
        """Every document that has been cut, as it is known."""
        if self._sources is None:
            self._sources = {
                f"docs/{corpus}/{name}": SourceFile(
                    _LEVEL,
                    Stamp(*row[:4]),
                    row[4] == 1,
                    ((_LEVEL, library_of(corpus), f"kb/{corpus}/{name.removesuffix('.md')}"),),
                )
                for corpus, shelf in self._shelves.items()
                for name, row in shelf.rows.items()
            }
        return self._sources

    def discard_segment(self) -> None:
        """The segment may be damaged: remove it."""
        self._keeper.discard()

    def _take_segment(self) -> None:
        """Hold what the segment holds, and nothing else, until the files have been looked at."""
        segment = self._keeper.open() if self._with_segment else None
        if segment is None:
            return
        with sound():
            shelves = {
                corpus: Shelf(list(cut), dict(rows)) for corpus, (cut, rows) in segment.contents["documents"].items()
            }
            self._left_out = dict(segment.contents["left_out"])
        self._corpus.adopt(segment, (_LEVEL,))
        self._holdings = Holdings(self._corpus)
        self._shelves, self._held, self._unreadable = shelves, {}, {}
        self._lost, self._sources = 0, None

    def _look(self) -> Look:
        """Whose knowledge each corpus is, how it is to be cut, and which documents are not as they are known."""
        whose: dict[str, str] = {}
        corpora = self._documents.corpora()
        for corpus in corpora:
            settings = self._documents.settings(corpus)
            library = library_of(corpus)
            # Of two that differ by case alone, in whosoever's view, neither may be taken for the other.
            whose[library] = settings.scope if whose.get(library, settings.scope) == settings.scope else ""
            shelf = self._shelves.setdefault(corpus, Shelf())
            cut = [settings.size, settings.overlap]
            if shelf.cut != cut:
                shelf.cut, self._sources = cut, None
                for row in shelf.rows.values():
                    row[4] = 0  # whatever its stamp, it is to be cut anew
        self._corpus.libraries = {library: scope for library, scope in whose.items() if scope}
        found = look(self._vault, {corpus: self._shelves[corpus] for corpus in corpora})
        for corpus in self._shelves.keys() - set(corpora):
            found.gone += [(corpus, name) for name in self._shelves[corpus].rows]
        return found

    def _make_segment(
        self, changed: Sequence[DocumentFile], total: int, progress: Callable[[int, int | None], None] | None
    ) -> bool:
        """Where much is to be read, let a segment be made of it; whether there is a new one."""
        unread = [file.stamp.size for file in changed if self._left_out.get(file.relative) != list(file.stamp)]
        if not unread or not self._with_segment or not self._keeper.make_now(sum(unread), total, progress):
            return False
        self._take_segment()
        return True

    def _read_all(
        self,
        changed: Sequence[DocumentFile],
        until: float | None,
        progress: Callable[[int, int | None], None] | None,
    ) -> list[str]:
        late = 0
        for number, file in enumerate(changed):
            needed = file.stamp.size * _SECONDS_A_BYTE if self._with_segment else 0.0
            if until is not None and time.monotonic() + needed > until:
                late += 1
                continue
            self._read(file)
            if progress is not None:
                progress(number + 1, len(changed))
        if not late:
            return []
        self._left = True
        return [f"knowledge: {late} of {len(changed)} changed documents not read in time"]

    def _read(self, file: DocumentFile) -> None:
        """Cut a document into passages."""
        from memoranda.core.passages import cut

        started = time.time_ns()
        name = f"{file.document}.md"
        row = [*file.stamp, int(file.stamp.is_settled(started))]
        try:
            text = read_bytes(file.path).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._take_out(file.corpus, name)
            fault = str(error.strerror) if isinstance(error, OSError) else ""
            self._unreadable[file.relative] = (row, fault)
            return
        self._unreadable.pop(file.relative, None)
        shelf = self._shelves[file.corpus]
        size, overlap = shelf.cut
        passages = cut(text, size=size, overlap=overlap)
        made = self._holdings.put_document(file, passages, self._known(file.corpus, name))
        made.settled = row[4] == 1
        self._held[file.relative], shelf.rows[name] = made, row

    def _known(self, corpus: str, name: str) -> IndexedFile | None:
        """A document's file as it stands in the corpus, if it does."""
        relative = f"docs/{corpus}/{name}"
        row = self._shelves[corpus].rows.get(name)
        if row is None or relative in self._held:
            return self._held.get(relative)
        return IndexedFile(_LEVEL, library_of(corpus), Stamp(*row[:4]), row[4] == 1, "")

    def _take_out(self, corpus: str, name: str) -> None:
        known = self._known(corpus, name)
        if known is not None:
            if known.held is None:
                self._lost += known.stamp.size
            relative = f"docs/{corpus}/{name}"
            self._holdings.drop(relative, known)
            self._held.pop(relative, None)
            del self._shelves[corpus].rows[name]

    def _is_known_unreadable(self, file: DocumentFile) -> bool:
        known = self._unreadable.get(file.relative)
        return known is not None and known[0] == [*file.stamp, 1]

    def _loose(self) -> int:
        """How many bytes every new process has to read anew, or to take out of what the segment has."""
        loose: int = sum(file.stamp.size for file in self._held.values())
        return self._lost + loose
