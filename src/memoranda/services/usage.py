"""``usage.jsonl``: what was recalled when. Best effort, never in the way of an answer."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.storage.clock import written_moment
from memoranda.storage.jsonlines import encode_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memoranda.storage.store import Storage

__all__ = ["note_usage"]


def note_usage(storage: Storage, addresses: Iterable[str]) -> None:
    """Append one line with the addresses; the question itself is not kept."""
    hits = list(addresses)
    if not hits:
        return
    line = encode_line({"ts": written_moment(storage.clock.now().replace(microsecond=0)), "hits": hits})
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(storage.vault.path("usage.jsonl"), flags, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
