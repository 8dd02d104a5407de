"""Rewriting a vault's segments, here or in a process of their own."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from memoranda.core.errors import MemorandaError
from memoranda.index.accounting import Accounting
from memoranda.index.build import Builder, Source
from memoranda.index.crowding import crowded
from memoranda.index.segment_keeper import made_with
from memoranda.storage.files import Stamp
from memoranda.storage.snapshot import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from memoranda.index.segment_keeper import Kind
    from memoranda.index.segmenting import Segmentation
    from memoranda.storage.resources import Resources
    from memoranda.storage.snapshot import Snapshot
    from memoranda.storage.store import Storage

__all__ = ["account", "main", "rebuild"]

_ATTEMPTS = 4
_LOCK_PATIENCE = 5.0


def rebuild(
    storage: Storage,
    resources: Resources,
    progress: Callable[[int, int | None], None] | None = None,
    segmentation: Segmentation | None = None,
    kind: Kind = "keywords",
) -> bool:
    """Make a segment of the files as they are; False: the cache cannot be written, or the files do not hold still.

    What a person changed by hand in memory is journalled before, unless that is
    much. ``segmentation``: what cuts Chinese into words, if anything does.

    Raises:
        VaultUnreadable: the vault as a whole may not be read.
    """
    vault = storage.vault
    gather = _gather_memory(storage, resources) if kind == "keywords" else _gather_documents(storage)
    try:
        vault.check_inside(vault.path(".cache"), ".cache")
        if not os.path.isdir(vault.path(".cache")):
            # It is made together with what else is kept there.
            with storage.locked(_LOCK_PATIENCE):
                pass
        with Builder(vault.path(".cache"), progress, segmentation, kind) as builder:
            for _ in range(_ATTEMPTS):
                about = {"vault": vault.id, "made_with": made_with(segmentation, kind), **gather(builder)}
                if not builder.assemble(about):
                    continue
                # Whoever forgets something holds the lock until it is out of the files and of the cache.
                with storage.locked(_LOCK_PATIENCE):
                    if all(_is_as_read(storage, path, f["stamp"]) for path, f in builder.files.items()):
                        builder.install()
                        return True
            builder.abandon()
    except Exception:  # a segment is a convenience: whatever hinders it must not hinder who wants an answer
        return False
    return False


def _gather_memory(storage: Storage, resources: Resources) -> Callable[[Builder], dict[str, Any]]:
    accounting = Accounting(storage)

    def gather(builder: Builder) -> dict[str, Any]:
        snapshot = scan(storage.vault)
        builder.gather([*_categories(snapshot), *_conversations(resources)])
        for path, file in builder.files.items():
            if file["level"] == "item":
                accounting.note(snapshot.files[path], file["hash"])
        accounted = accounting.settle(snapshot, awaited=True)
        files = [
            [f["level"], path, f["stamp"], f["settled"], f["hash"], f["scope"]] for path, f in builder.files.items()
        ]
        return {"files": files, "accounted": accounted}

    return gather


def _gather_documents(storage: Storage) -> Callable[[Builder], dict[str, Any]]:
    from memoranda.index.shelves import Shelf, look
    from memoranda.storage.documents import Documents

    def gather(builder: Builder) -> dict[str, Any]:
        documents = Documents(storage.vault)
        shelves = {}
        for corpus in documents.corpora():
            settings = documents.settings(corpus)
            shelves[corpus] = Shelf([settings.size, settings.overlap])
        found = look(storage.vault, shelves).changed
        builder.gather(
            [
                Source("passage", file.relative, file.path, "", _numbers(file.stamp), tuple(shelves[file.corpus].cut))
                for file in found
            ]
        )
        left_out = {}
        for file in found:
            known = builder.files.get(file.relative)
            if known is None:
                left_out[file.relative] = list(file.stamp)
            else:
                row = [*known["stamp"], int(known["settled"])]
                shelves[file.corpus].rows[os.path.basename(file.path)] = row
        kept = {corpus: [shelf.cut, shelf.rows] for corpus, shelf in shelves.items()}
        return {"files": [], "documents": kept, "left_out": left_out}

    return gather


def _categories(snapshot: Snapshot) -> Iterable[Source]:
    apart = {found.relative for files in crowded(snapshot).values() for found in files}
    for found in snapshot.files.values():
        if found.relative not in apart:
            yield Source("item", found.relative, found.path, str(found.address), _numbers(found.stamp))


def _conversations(resources: Resources) -> Iterable[Source]:
    for file in resources.files():
        yield Source("resource", file.relative, file.path, "", _numbers(file.stamp))


def _numbers(stamp: Stamp) -> tuple[int, int, int, int]:
    return stamp.inode, stamp.size, stamp.mtime_ns, stamp.ctime_ns


def _is_as_read(storage: Storage, relative: str, numbers: list[int]) -> bool:
    try:
        return Stamp.of(os.stat(storage.vault.absolute(relative))) == Stamp(*numbers)
    except OSError:
        return False


def account(storage: Storage, resources: Resources, segmentation: Segmentation | None = None) -> bool:
    """Journal what a person changed by hand, however much it is; whether all of it is journalled."""
    from memoranda.index.corpus import Corpus
    from memoranda.index.refresh import Refresher

    Refresher(storage, resources, Corpus(segmentation=segmentation)).refresh(("item",))
    return True


def main(what: str, root: str, *origin: str) -> int:
    """Make the segment of ``keywords`` or ``passages``, or the ``journal``, of the vault at ``root``.

    Out of the way of who waits for answers.

    ``origin`` is that of the vault's :class:`memoranda.index.segmenting.Segmentation`, if it has one.
    """
    from memoranda.storage.clock import SystemClock
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage
    from memoranda.storage.vault import VaultFolder

    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(10)
    try:
        folder = VaultFolder(root, create=False)
        storage, resources = Storage.at(folder, SystemClock(), "user"), Resources(folder)
        segmentation = None
        if origin:
            from memoranda.index.segmenting import load_segmentation

            segmentation = load_segmentation(*origin)
        if what == "journal":
            done = account(storage, resources, segmentation)
        else:
            kind: Kind = "passages" if what == "passages" else "keywords"
            done = rebuild(storage, resources, segmentation=segmentation, kind=kind)
        return 0 if done else 1
    except (MemorandaError, OSError):
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
