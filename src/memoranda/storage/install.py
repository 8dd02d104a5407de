"""Putting a file's new content in place without losing what somebody saved meanwhile.

A person's editor takes no lock. The new content is exchanged with the file in
one step, and what came out is compared with what was read: a save that slipped
in between is put back at once and merged. Where the system has no exchange
(macOS, Windows, some network folders) the file is compared right before it is
replaced; a save within those microseconds is lost there.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress

from memoranda.core.edits import common_start
from memoranda.core.errors import ChangedUnderneath
from memoranda.core.merge import merge
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    create_only,
    exchange,
    make_folder,
    read_bytes,
    sync_folder,
    write_temporary,
)

__all__ = ["ChangedMeanwhile", "install", "uninstall"]

#: Seconds for which a file that somebody keeps saving is tried.
_PATIENCE = 10.0
#: After so many attempts the content is synced once it is in place instead of before:
#: a file that is saved every millisecond leaves no time for a sync in between.
_SYNCED_ATTEMPTS = 4


class ChangedMeanwhile(Exception):
    """The file appeared, vanished or changed before anything was put in place; read it again."""


def install(path: str, data: bytes, expected: bytes | None, temporary: str | None = None) -> bytes:
    """Put ``data`` where ``expected`` was read (``None``: where no file was); return what is there now.

    That is ``data``, or ``data`` merged with what somebody saved meanwhile.
    ``temporary`` may hold ``data`` already, synced, in the same folder.

    Raises:
        ChangedMeanwhile: nothing was put in place.
        ChangedUnderneath: somebody changed the same lines; theirs stand.
        OSError: as the system says.
    """
    folder = os.path.dirname(path)
    if temporary is None:
        make_folder(folder)
        temporary = write_temporary(folder, data, like=path)
    try:
        if expected is None:
            try:
                create_only(temporary, path)
            except FileExistsError:
                raise ChangedMeanwhile(path) from None
            sync_folder(folder)
            return data
        return _swap(path, data, expected, temporary)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _swap(path: str, ours: bytes, expected: bytes, temporary: str) -> bytes:
    """Exchange until what came out is what was expected; merge whatever was saved in between."""
    synced = True
    until = time.monotonic() + _PATIENCE
    attempt = 0
    with ExitStack() as kept:
        while time.monotonic() < until:
            theirs = _present(path)
            if theirs != expected:
                # A save that came while we were syncing is merged while it is still in place.
                ours = _merged(path, expected, ours, theirs)
                expected = theirs
                attempt += 1
                synced = attempt < _SYNCED_ATTEMPTS
                if attempt == _SYNCED_ATTEMPTS:
                    kept.callback(_remove_quietly, _keep(temporary))
                _rewrite(temporary, ours, path, sync=synced)
                continue
            if not _exchanged(temporary, path):
                os.replace(temporary, path)
                return _settled(path, ours, synced)
            displaced = read_bytes(temporary)
            if displaced == expected:
                return _settled(path, ours, synced)
            # A save came within the microseconds since that look. It goes back at once, so that nobody
            # reads a file without it and saves that; then it is merged like any other.
            _exchanged(temporary, path)
            newest = read_bytes(temporary)
            if newest != ours:
                # And another one since: the newer stays in place, the older goes into what we write.
                _exchanged(temporary, path)
                placed = ours
                ours = _merged(path, expected, ours, displaced, aside=temporary)
                if common_start(newest, placed) > common_start(newest, expected):
                    # It was made from what we had put there for a moment, so it holds our change already.
                    ours = _merged(path, placed, ours, newest)
                    expected = newest
            _rewrite(temporary, ours, path, sync=synced)
    raise ChangedUnderneath(f"{path} does not stop changing; nothing was written")


def _settled(path: str, data: bytes, synced: bool) -> bytes:
    if not synced:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    sync_folder(os.path.dirname(path))
    return data


def _keep(temporary: str) -> str:
    """A second name for the synced content, until what replaces it is synced too (see :mod:`.recovery`)."""
    kept = os.path.join(os.path.dirname(temporary), f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}.tmp")
    os.rename(temporary, kept)
    return kept


def _remove_quietly(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _present(path: str) -> bytes:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        raise ChangedMeanwhile(path) from None


def _exchanged(temporary: str, path: str) -> bool:
    try:
        return exchange(temporary, path)
    except FileNotFoundError:
        if os.path.lexists(temporary):
            raise ChangedMeanwhile(path) from None
        raise


def _rewrite(temporary: str, data: bytes, like: str, *, sync: bool) -> None:
    os.replace(write_temporary(os.path.dirname(temporary), data, like=like, sync=sync), temporary)


def _merged(path: str, base: bytes, ours: bytes, theirs: bytes, aside: str | None = None) -> bytes:
    """Both changes together. Raises ChangedUnderneath; what lies in ``aside`` is then kept as a copy."""
    # Most of a large file is alike in all three: only the lines behind that are merged.
    same = base.rfind(b"\n", 0, min(common_start(base, ours), common_start(base, theirs))) + 1
    try:
        found = merge(*(text[same:].decode("utf-8") for text in (base, ours, theirs)))
        if not found.conflict:
            return base[:same] + found.text.encode("utf-8")
    except UnicodeDecodeError:
        pass
    if aside is not None:
        os.rename(aside, conflict_copy(path))
    raise ChangedUnderneath(f"{path} was changed in the same place meanwhile; nothing was written")


def conflict_copy(path: str) -> str:
    """A name beside ``path`` for content that could not be merged; ``check`` lists it."""
    stem = path[: -len(".md")] if path.endswith(".md") else path
    return f"{stem}.conflict-{os.urandom(4).hex()}.md"


def uninstall(path: str, expected: bytes) -> None:
    """Remove a file that holds ``expected``.

    Raises:
        ChangedMeanwhile: it holds something else; it is where it was.
        OSError: as the system says.
    """
    folder = os.path.dirname(path)
    aside = os.path.join(folder, f".memoranda-{os.urandom(8).hex()}.tmp")
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return
    if read_bytes(aside) != expected:
        try:
            create_only(aside, path)
        except FileExistsError:
            os.rename(aside, conflict_copy(path))
        raise ChangedMeanwhile(path)
    os.unlink(aside)
    sync_folder(folder)
