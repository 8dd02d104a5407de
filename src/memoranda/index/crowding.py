"""Categories that lie in several files, such as ``Notes.md`` beside ``notes.md``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.snapshot import FoundFile, Snapshot

__all__ = ["crowded"]


def crowded(snapshot: Snapshot) -> dict[tuple[str, str, str], list[FoundFile]]:
    """The categories that lie in several files: which of them has a name depends on the others."""
    members: dict[tuple[str, str, str], list[FoundFile]] = {}
    for found in snapshot.files.values():
        members.setdefault(found.address.key, []).append(found)
    return {key: files for key, files in members.items() if len(files) > 1}
