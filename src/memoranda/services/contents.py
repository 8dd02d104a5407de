"""What the vault holds at this moment, item by item: the corpus with what keeps it equal to the files."""

from __future__ import annotations

import os
import threading
from _weakrefset import WeakSet  # weakref's, without the rest of weakref
from collections.abc import Callable
from contextlib import contextmanager

from memoranda.core.addresses import parse_address
from memoranda.core.errors import Conflict, NotFound
from memoranda.core.model import Item
from memoranda.core.names import hash_name, name_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import TypeVar

    from memoranda.core.addresses import Address, Scope
    from memoranda.core.items import Section
    from memoranda.core.model import Level
    from memoranda.index.corpus import Corpus
    from memoranda.index.entries import Entry
    from memoranda.index.indexed_files import SourceFile
    from memoranda.index.refresh import Refresher
    from memoranda.index.segmenting import Segmentation
    from memoranda.storage.categories import LoadedCategory
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage

__all__ = ["Contents", "Progress", "as_item"]


if TYPE_CHECKING:
    T = TypeVar("T")

Progress = Callable[[int, "int | None"], None]
_BUSY = "memory: another thread is changing it; answered from what was read before"


class Contents:
    """Items and turns as the files hold them now. Safe from several threads.

    ``mutex`` is what a host's threads share: whoever writes holds it too.
    ``segmenting`` gives what cuts Chinese into words, where somebody chose that.
    """

    def __init__(self, storage: Storage, resources: Resources) -> None:
        self.mutex = threading.RLock()
        _OPEN.add(self)
        self._storage = storage
        self._resources = resources
        self._made: tuple[Corpus, Refresher] | None = None
        self._with_segment = True
        self.segmenting: Callable[[], Segmentation] | None = None

    def _parts(self) -> tuple[Corpus, Refresher]:
        """The corpus and what fills it, made where first needed: listing and showing never do."""
        with self.mutex:
            if self._made is None:
                from memoranda.index.corpus import Corpus
                from memoranda.index.refresh import Refresher

                corpus = Corpus(segmentation=None if self.segmenting is None else self.segmenting())
                self._made = (corpus, Refresher(self._storage, self._resources, corpus, self._with_segment))
            return self._made

    @property
    def corpus(self) -> Corpus:
        """What has been read, ready to be searched."""
        return (self._made or self._parts())[0]

    @property
    def _refresher(self) -> Refresher:
        return (self._made or self._parts())[1]

    def refresh(
        self,
        levels: Sequence[Level] = ("item",),
        seconds: float | None = None,
        progress: Progress | None = None,
        patience: float | None = None,
        awaited: bool = False,
    ) -> list[str]:
        """Read what changed; returns in words what could not be asked.

        ``seconds`` bounds the reading, ``patience`` (default: the same) the
        wait for a thread that is writing; ``None``: as long as it takes.
        ``awaited``: see :meth:`memoranda.index.refresh.Refresher.refresh`.

        Raises:
            VaultUnreadable: the vault as a whole may not be read.
        """
        wait = seconds if patience is None else patience
        if not self.mutex.acquire(timeout=-1 if wait is None else max(wait, 0.0)):
            return [_BUSY]
        try:
            return self.undamaged(lambda: self._refresher.refresh(levels, seconds, progress, awaited))
        finally:
            self.mutex.release()

    def undamaged(self, work: Callable[[], T]) -> T:
        """What ``work`` gives. Where it meets a damaged segment that is thrown away, and ``work`` done once more.

        Where it does so again, this process goes on without one.
        """
        from memoranda.index.segment_format import SegmentDamaged

        levels: tuple[Level, ...] = ()
        for attempt in range(3):
            try:
                if attempt and levels:
                    with self.mutex:
                        self._refresher.refresh(levels)
                return work()
            except SegmentDamaged:
                with self.mutex:
                    levels = tuple(self._refresher.loaded) or levels
                    self._refresher.discard_segment()
                    self._made, self._with_segment = None, attempt < 1
        return work()

    def has_read(self, levels: Sequence[Level]) -> bool:
        """Whether these levels have been read in full at least once."""
        return self._refresher.loaded.issuperset(levels)

    def sources(self) -> dict[str, SourceFile]:
        """The files that have been read, as they are known. May raise SegmentDamaged."""
        with self.mutex:
            return self._refresher.sources()

    def held(self, levels: Sequence[Level]) -> list[Entry]:
        """The entries as last read."""

        def read() -> list[Entry]:
            with self.corpus.lock:
                return [e for p in self.corpus.partitions(tuple(levels)) for e in p.entries.values()]

        return self.undamaged(read)

    def items(self, category: Address | None = None, scope: Scope | None = None) -> list[Entry]:
        """All items now, or those of a category or scope, in file order. Raises VaultUnreadable."""
        self.refresh()
        entries = self.held(("item",))
        if category is not None:
            entries = [e for e in entries if parse_address(e.address).key[:2] == category.key[:2]]
        if scope is not None:
            entries = [e for e in entries if name_key(e.scope) == name_key(str(scope))]
        return sorted(entries, key=lambda e: (e.scope, e.category, e.citation.rpartition(":")[0], e.order))

    def find(self, wanted: Address) -> Entry | None:
        """One item now, without a look at any other category. Raises VaultUnreadable."""
        with self.mutex:
            for relative, address, loaded in self._files(wanted):
                name = wanted.name or ""
                section = loaded.category.find(name)
                if section is None and name.startswith("~"):
                    # Hidden behind an item of the same name in another file of the category.
                    same = (s for s in loaded.category.sections if hash_name(f"{s.name}\n{s.text}") == name)
                    section = next(same, None)
                    if section is not None:
                        return _entry(address, name, section, relative)
                if section is not None:
                    return _entry(address, section.address_name, section, relative)
        return None

    def find_as_of(self, wanted: Address, moment: datetime) -> Entry | None:
        """One item as it was known at a moment. Raises VaultUnreadable."""
        from memoranda.services.timetravel import entries_as_of

        present = self.find(wanted)
        with self.mutex:
            found = entries_as_of(self._storage, [] if present is None else [present], moment)
            return next((entry for entry in found if parse_address(entry.address).key == wanted.key), None)

    def text_of(self, category: Address) -> str:
        """A category's text as it is.

        Raises:
            NotFound: there is no such file.
            Conflict: it is not UTF-8.
        """
        with self.mutex:
            files = self._storage.vault.category_files(category)
            texts = [loaded.category.text for _, path in files if (loaded := self._storage.reader.read(path))]
        if not texts:
            raise NotFound(f"there is no category {category}")
        return "".join(texts)

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Start anew from the files; what is read inside is what counts from now on."""
        with self.mutex:
            self._made = None
            yield

    def _files(self, wanted: Address) -> Iterator[tuple[str, Address, LoadedCategory]]:
        vault = self._storage.vault
        root = vault.memory_root(wanted.scope)
        for relative, path in vault.category_files(wanted):
            try:
                loaded = self._storage.reader.read(path)
            except Conflict:
                continue
            if loaded is not None:
                yield relative, vault.address_of(root, relative) or wanted, loaded


def _start_over() -> None:
    """In a forked child: the threads that were reading are the parent's."""
    for contents in list(_OPEN):
        if contents.mutex.acquire(blocking=False):
            contents.mutex.release()
        else:
            contents.mutex = threading.RLock()
            contents._made = None


_OPEN: WeakSet[Contents] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)


def _entry(address: Address, name: str, section: Section, relative: str) -> Entry:
    from memoranda.index.entries import item_entry

    return item_entry(address.scope.prefix + address.category, name, str(address.scope), section, relative)


def as_item(entry: Entry) -> Item:
    """An entry as what callers get."""
    path, _, line = entry.citation.rpartition(":")
    number = int(line) if line.isdigit() and path else 0
    where = path if number else entry.citation
    return Item(parse_address(entry.address), entry.text, entry.metadata, entry.links, entry.hash, where, number)
