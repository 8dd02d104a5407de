"""Each file as it stands in the corpus, and the difference that its present content makes."""

from __future__ import annotations

from memoranda.core.names import hash_name, name_key
from memoranda.core.records import dataclass, field
from memoranda.index.entries import address_key, item_entry, library_of, passage_entry, turn_entry
from memoranda.index.fingerprints import conversations, fingerprint, item_print, passage_source, turn_print

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memoranda.core.items import Category, Section
    from memoranda.core.model import Level, Turn
    from memoranda.core.passages import Passage
    from memoranda.index.corpus import Corpus
    from memoranda.index.entries import Key
    from memoranda.index.partition import Partition
    from memoranda.storage.categories import LoadedCategory
    from memoranda.storage.documents import DocumentFile
    from memoranda.storage.files import Stamp
    from memoranda.storage.snapshot import FoundFile

__all__ = ["Holdings", "IndexedFile", "SourceFile"]


@dataclass(slots=True)
class IndexedFile:
    """A file as it stands in the corpus; ``settled`` tells whether its stamp alone can be trusted.

    ``held`` are the fingerprint, number and line or order of each document, by the
    key that it has within the file; ``None`` while they are as the segment has them.
    """

    level: Level
    scope: str
    stamp: Stamp
    settled: bool
    hash: str
    held: dict[str, tuple[int, int, int]] | None = None
    parents: set[str] = field(default_factory=set)
    category: Category | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that entries come from; ``parents`` are level, scope and name of what they belong to."""

    level: Level
    stamp: Stamp
    settled: bool
    parents: tuple[tuple[Level, str, str], ...]


class Holdings:
    """Brings the documents of single files in and out of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        #: Which file an item in memory comes from: of a category in several files one has the name.
        self._holders: dict[Key, str] = {}

    def put_category(self, found: FoundFile, loaded: LoadedCategory, known: IndexedFile | None) -> IndexedFile:
        """Make the corpus hold what a category file holds. The stamp is to be set by the caller."""
        scope = name_key(str(found.address.scope))
        made = IndexedFile("item", scope, found.stamp, False, loaded.hash, {}, category=loaded.category)
        partition = self._corpus.partition("item", scope)
        before, start = self._begun(found.relative, loaded, known, partition)
        assert made.held is not None
        for number, section in enumerate(loaded.category.sections):
            if number < len(start):
                made.held[section.key] = start[number]
                continue
            mark = item_print(loaded.category, section)
            old = before.get(section.key) or before.get(f"={mark}")
            if old is not None and old[0] == mark:
                before.pop(section.key, None)
                before.pop(f"={mark}", None)
                made.held[section.key] = (mark, self._stands(partition, old, section), section.line)
                continue
            made.held[section.key] = (mark, self._put(found, section, partition, old), section.line)
            # The number may be the one of the item that was there; then it is not to be taken out.
            if old is not None and old[1] == made.held[section.key][1]:
                before.pop(section.key, None)
        self._take_out(partition, before.values())
        name = found.address.scope.prefix + found.address.category
        self._arrange(partition, name, made.held)
        made.parents = {name}
        return made

    def put_turns(self, relative: str, turns: Iterable[Turn], stamp: Stamp, known: IndexedFile | None) -> IndexedFile:
        """Make the corpus hold what a file of turns holds."""
        made = IndexedFile("resource", "shared", stamp, False, "", {})
        partition = self._corpus.partition("resource", "shared")
        before = self._before(relative, known, partition)
        assert made.held is not None
        for conversation, said in conversations(turns).items():
            lines: dict[str, tuple[int, int, int]] = {}
            for turn, order in said.values():
                mark, key = turn_print(turn), f"{conversation}\0{turn.turn}"
                old = before.get(key) or before.get(f"={mark}\0{conversation}")
                if old is not None and old[0] == mark:
                    before.pop(key, None)
                    before.pop(f"={mark}\0{conversation}", None)
                    doc = old[1]
                    if doc >= partition.stored and old[2] != order:
                        doc = self._corpus.put(turn_entry(turn, order))
                else:
                    doc = self._corpus.put(turn_entry(turn, order))
                    if old is not None and old[1] == doc:
                        before.pop(key, None)
                lines[key] = (mark, doc, order)
            self._arrange(partition, conversation, lines)
            made.held |= lines
            made.parents.add(conversation)
        self._take_out(partition, before.values())
        for gone in (known.parents if known is not None else set()) - made.parents:
            partition.forget_order(gone)
        return made

    def put_document(self, file: DocumentFile, passages: Sequence[Passage], known: IndexedFile | None) -> IndexedFile:
        """Make the corpus hold the passages of a document; those that stayed as they were cost next to nothing."""
        library = library_of(file.corpus)
        made = IndexedFile("passage", library, file.stamp, False, "", {})
        partition = self._corpus.partition("passage", library)
        before = self._before(file.relative, known, partition)
        assert made.held is not None
        for passage in passages:
            entry = passage_entry(file.corpus, file.document, passage, file.relative)
            mark = fingerprint(passage.id, passage_source(entry))
            old = before.pop(passage.id, None) or before.pop(f"={mark}", None)
            doc = old[1] if old is not None and old[::2] == (mark, passage.order) else self._corpus.put(entry)
            made.held[passage.id] = (mark, doc, passage.order)
        self._take_out(partition, before.values())
        parent = f"kb/{file.corpus}/{file.document}"
        self._arrange(partition, parent, made.held)
        made.parents = {parent}
        return made

    def drop(self, relative: str, known: IndexedFile) -> None:
        """Take out of the corpus what a file held."""
        partition = self._corpus.partition(known.level, known.scope)
        self._take_out(partition, self._before(relative, known, partition).values())
        for parent in known.parents:
            partition.forget_order(parent)
        known.held, known.category = {}, None

    def _begun(
        self, relative: str, loaded: LoadedCategory, known: IndexedFile | None, partition: Partition
    ) -> tuple[dict[str, tuple[int, int, int]], list[tuple[int, int, int]]]:
        """What the file held, and of that what its first sections are still, to the letter and line."""
        if known is None:
            return {}, []
        sections, stored = loaded.category.sections, []
        if known.held is None:
            stored = partition.stored_in(relative)
            earlier = loaded.before[1] if loaded.before is not None and loaded.before[0] == known.hash else None
        else:
            earlier = known.category
        same = 0 if earlier is None else _alike(earlier.sections, sections)
        if known.held is not None:
            before = dict(known.held)
            return before, [before.pop(section.key) for section in sections[:same]]
        if not same or len(stored) != 1 or earlier is None or len(stored[0][1]) != len(earlier.sections):
            return self._before(relative, known, partition), []
        parent, docs, marks = stored[0]
        known.parents = {parent}
        start = [
            (mark, doc, section.line) for mark, doc, section in zip(marks[:same], docs, sections[:same], strict=False)
        ]
        rest = zip(docs[same:], marks[same:], strict=True)
        return {f"={mark}": (mark, doc, -1) for doc, mark in rest}, start

    def _before(
        self, relative: str, known: IndexedFile | None, partition: Partition
    ) -> dict[str, tuple[int, int, int]]:
        """What the file held: by key, or by fingerprint where only the segment knows."""
        if known is None:
            return {}
        if known.held is not None:
            return dict(known.held)
        stored = partition.stored_in(relative)
        known.parents = {parent for parent, _, _ in stored}
        turns, passages = known.level == "resource", known.level == "passage"
        return {
            f"={mark}\0{parent}" if turns else f"={mark}": (mark, doc, doc - docs.start + 1 if passages else -1)
            for parent, docs, marks in stored
            for doc, mark in zip(docs, marks, strict=True)
        }

    def _stands(self, partition: Partition, old: tuple[int, int, int], section: Section) -> int:
        """The number of an item that is as it was, but for the line where it stands."""
        _, doc, line = old
        if doc >= partition.stored and line != section.line:
            partition.move(doc, section.line)
        return doc

    def _put(self, found: FoundFile, section: Section, partition: Partition, old: tuple[int, int, int] | None) -> int:
        category, name = found.address.scope.prefix + found.address.category, section.address_name
        key = address_key(f"{category}:{name}")
        if self._holders.get(key, found.relative) != found.relative:
            # Another file of the same category already has an item of this name.
            name = hash_name(f"{section.name}\n{section.text}")
            key = address_key(f"{category}:{name}")
        doc = self._corpus.put(item_entry(category, name, str(found.address.scope), section, found.relative))
        self._holders[key] = found.relative
        return doc

    def _take_out(self, partition: Partition, gone: Iterable[tuple[int, int, int]]) -> None:
        for _, doc, _ in gone:
            if doc < partition.stored:
                partition.retire(doc)
            elif doc in partition.entries:
                address = partition.entries[doc].address
                self._corpus.remove(address)
                self._holders.pop(address_key(address), None)

    @staticmethod
    def _arrange(partition: Partition, parent: str, lines: dict[str, tuple[int, int, int]]) -> None:
        moved = {doc: order for _, doc, order in lines.values() if doc < partition.stored}
        if moved:
            partition.arrange(parent, [doc for _, doc, _ in lines.values()], moved)
        else:
            partition.forget_order(parent)


def _alike(old: tuple[Section, ...], new: tuple[Section, ...]) -> int:
    """How many sections at the beginning are the very same objects: those that were not parsed again."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one is not other:
            break
        count += 1
    return count
