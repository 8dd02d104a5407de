"""Putting a file's new content in place without losing what somebody saved meanwhile.

A person's editor takes no lock. The new content is exchanged with the file in
one step, and what came out is compared with what was read: a save that slipped
in between is merged and put in place again. Where the system has no exchange
(macOS, Windows, some network folders) the file is compared right before it is
replaced; a save within those microseconds is lost there.
"""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.errors import ChangedUnderneath
from memoranda.core.merge import merge
from memoranda.storage.files import (
    create_only,
    exchange,
    make_folder,
    read_bytes,
    sync_folder,
    write_temporary,
)

__all__ = ["ChangedMeanwhile", "install", "uninstall"]

_ATTEMPTS = 100


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
    folder = os.path.dirname(path)
    for _ in range(_ATTEMPTS):
        try:
            if not exchange(temporary, path):
                return _replace(path, ours, expected, temporary)
        except FileNotFoundError:
            if os.path.lexists(temporary):
                raise ChangedMeanwhile(path) from None
            raise
        theirs = read_bytes(temporary)
        if theirs == expected:
            sync_folder(folder)
            return ours
        merged = _merge(expected, ours, theirs)
        if merged is None:
            _give_back(path, ours, temporary)
            raise ChangedUnderneath(f"{path} was changed in the same place meanwhile; nothing was written")
        fresh = write_temporary(folder, merged, like=path)
        # Their save is in `merged`, synced, before the only other copy of it goes.
        os.replace(fresh, temporary)
        expected, ours = ours, merged
    raise ChangedUnderneath(f"{path} does not stop changing")


def _merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    try:
        found = merge(base.decode("utf-8"), ours.decode("utf-8"), theirs.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    return None if found.conflict else found.text.encode("utf-8")


def _give_back(path: str, ours: bytes, temporary: str) -> None:
    """Put the person's content (in ``temporary``) back; a still newer save of theirs stays in place."""
    exchange(temporary, path)
    if read_bytes(temporary) != ours:
        exchange(temporary, path)
        stem = path[: -len(".md")] if path.endswith(".md") else path
        os.rename(temporary, f"{stem}.conflict-{os.urandom(4).hex()}.md")
    sync_folder(os.path.dirname(path))


def _replace(path: str, ours: bytes, expected: bytes, temporary: str) -> bytes:
    try:
        if read_bytes(path) != expected:
            raise ChangedMeanwhile(path)
    except FileNotFoundError:
        raise ChangedMeanwhile(path) from None
    os.replace(temporary, path)
    sync_folder(os.path.dirname(path))
    return ours


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
            stem = path[: -len(".md")] if path.endswith(".md") else path
            os.rename(aside, f"{stem}.conflict-{os.urandom(4).hex()}.md")
        raise ChangedMeanwhile(path)
    os.unlink(aside)
    sync_folder(folder)
