"""Rewriting a vault's segment, here or in a process of its own."""

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
) -> bool:
    """Make a segment of the files as they are; False: the cache cannot be written, or the files do not hold still.

    What a person changed by hand is journalled before, unless that is much.
    ``segmentation``: what cuts Chinese into words, if anything does.

    Raises:
        VaultUnreadable: the vault as a whole may not be read.
    """
    vault = storage.vault
    accounting = Accounting(storage)
    try:
        vault.check_inside(vault.path(".cache"), ".cache")
        if not os.path.isdir(vault.path(".cache")):
            # It is made together with what else is kept there.
            with storage.locked(_LOCK_PATIENCE):
                pass
        with Builder(vault.path(".cache"), progress, segmentation) as builder:
            for _ in range(_ATTEMPTS):
                snapshot = scan(vault)
                builder.gather([*_categories(snapshot), *_conversations(resources)])
                for path, file in builder.files.items():
                    if file["level"] == "item":
                        accounting.note(snapshot.files[path], file["hash"])
                accounted = accounting.settle(snapshot, awaited=True)
                files = [
                    [f["level"], path, f["stamp"], f["settled"], f["hash"], f["scope"]]
                    for path, f in builder.files.items()
                ]
                shaped = made_with(segmentation)
                about = {"vault": vault.id, "made_with": shaped, "files": files, "accounted": accounted}
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
    """Rebuild the ``segment`` or the ``journal`` of the vault at ``root``, out of the way of who waits for answers.

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
        if what == "segment":
            done = rebuild(storage, resources, segmentation=segmentation)
        else:
            done = account(storage, resources, segmentation)
        return 0 if done else 1
    except (MemorandaError, OSError):
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
