"""Conversations as they were said, with the line of the file that each turn stands on."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.core.model import Turn

__all__ = ["turn_record", "turns_with_lines"]


def turns_with_lines(vault: Vault, conversation: str | None = None) -> Iterator[tuple[str, int, Turn]]:
    """Every turn that was not forgotten (or those of one conversation), as (path in the vault, line, turn)."""
    import json

    from memoranda.storage.resources import turn_from_record

    known = vault.conversations()
    paths = {c.path: None for c in known if conversation is None or c.conversation == conversation}
    for path in paths:
        with open(os.path.join(vault.root, *path.split("/")), "rb") as stream:
            # A binary stream ends its lines at b"\n" alone.
            for number, line in enumerate(stream, start=1):
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                turn = turn_from_record(record) if isinstance(record, dict) else None
                if turn is None or turn.forgotten:
                    continue
                if conversation is None or turn.conversation == conversation:
                    yield path, number, turn


def turn_record(turn: Turn) -> dict[str, Any]:
    """A turn as JSON shows it: the ``turns`` format, with its address in front."""
    record: dict[str, Any] = {
        "address": f"turn/{turn.conversation}#{turn.turn}",
        "conversation": turn.conversation,
        "turn": turn.turn,
        "ts": turn.ts,
        "speaker": turn.speaker,
        "role": turn.role,
        "text": turn.text,
    }
    return record | {key: value for key, value in turn.extra.items() if key not in record}
