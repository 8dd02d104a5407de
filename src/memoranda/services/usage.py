"""``usage.jsonl``: what was recalled when. Best effort, never in the way of an answer."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.storage.clock import written_moment

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
    line = _line(written_moment(storage.clock.now().replace(microsecond=0)), hits)
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(storage.vault.path("usage.jsonl"), flags, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def _line(ts: str, hits: list[str]) -> bytes:
    if all(hit.isprintable() and '"' not in hit and "\\" not in hit for hit in hits):
        # What json would write, without the time that it takes to load.
        shown = ",".join(f'"{hit}"' for hit in hits)
        return f'{{"ts":"{ts}","hits":[{shown}]}}\n'.encode()
    from memoranda.storage.jsonlines import encode_line

    return encode_line({"ts": ts, "hits": hits})
