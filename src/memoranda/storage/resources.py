"""Level 0: conversations as they were said, one file of JSON lines each under ``resources/<yyyy-mm>/``."""

from __future__ import annotations

import os

from memoranda.core.errors import OutsideVault
from memoranda.core.model import Turn
from memoranda.core.names import check_identifier, content_hash, is_category, is_conflict_copy
from memoranda.core.records import dataclass
from memoranda.storage.files import Stamp, reading, writing
from memoranda.storage.standing import is_month

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from memoranda.storage.jsonlines import JsonLines, Record
    from memoranda.storage.vault import VaultFolder

__all__ = ["ConversationFile", "Resources", "StagedTurns", "bytes_digest", "turn_from_record"]

_FOLDER = "resources"
_UNSAFE = r'[%\\/:：*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]'
_OWN = frozenset({"conversation", "turn", "text", "ts", "speaker", "role", "forgotten"})


@dataclass(frozen=True, slots=True)
class ConversationFile:
    """One file of turns and its stamp."""

    relative: str
    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class StagedTurns:
    """Lines that are to stand from byte ``start`` of a file."""

    relative: str
    start: int
    data: bytes

    def as_extra(self) -> Record:
        """What a write-ahead record says of them."""
        end = self.start + len(self.data)
        return {"path": self.relative, "start": self.start, "end": end, "hash": bytes_digest(self.data)}


def _lines(path: str) -> JsonLines:
    from memoranda.storage.jsonlines import JsonLines  # who asks items alone reads no turns

    return JsonLines(path)


def bytes_digest(data: bytes) -> str:
    """SHA-256 in hexadecimal, by which added turns are recognised."""
    import hashlib  # loads OpenSSL

    return hashlib.sha256(data).hexdigest()


class Resources:
    """Reads and appends turns. Writers hold the vault's lock."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._folder = vault.path(_FOLDER)

    def files(self) -> Iterator[ConversationFile]:
        """Every file of turns, oldest month first. Raises VaultUnreadable."""
        for month in self._months():
            folder = os.path.join(self._folder, month)
            with reading(folder), os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda e: e.name)
            for entry in entries:
                if not entry.name.endswith(".jsonl") or entry.name.startswith(".") or is_conflict_copy(entry.name):
                    continue
                relative = f"{_FOLDER}/{month}/{entry.name}"
                try:
                    self._vault.check_inside(entry.path, relative)
                    if entry.is_file():
                        yield ConversationFile(relative, entry.path, Stamp.of(entry.stat()))
                except (OutsideVault, OSError):
                    continue

    def _months(self) -> list[str]:
        with reading(self._folder):
            try:
                names = os.listdir(self._folder)
            except FileNotFoundError:
                return []
        return sorted(n for n in names if is_month(n) and os.path.isdir(os.path.join(self._folder, n)))

    def read(self, path: str) -> list[Turn]:
        """The turns of one file in order; lines that are no turns are passed over. Raises VaultUnreadable."""
        with reading(path):
            found = (turn_from_record(record) for record in _lines(path).read())
            return [turn for turn in found if turn is not None]

    def find(self, conversation: str) -> str | None:
        """The file that holds a conversation, by its name."""
        name = _file_name(conversation)
        for month in self._months():
            path = os.path.join(self._folder, month, name)
            if os.path.isfile(path):
                self._vault.check_inside(path, f"{_FOLDER}/{month}/{name}")
                return path
        return None

    def turns(self, conversation: str) -> list[Turn]:
        """A conversation's turns in order; empty if it is not known."""
        path = self.find(conversation)
        if path is None:
            return []
        return [turn for turn in self.read(path) if turn.conversation == conversation]

    def stage(self, conversation: str, turns: Iterable[Turn], month: str) -> StagedTurns:
        """Prepare turns to be added to a conversation; a new one goes into ``month`` (``2026-07``). Nothing is written.

        Raises:
            VaultUnreadable, OutsideVault.
        """
        path = self.find(conversation) or os.path.join(self._folder, month, _file_name(conversation))
        relative = f"{_FOLDER}/{os.path.basename(os.path.dirname(path))}/{os.path.basename(path)}"
        self._vault.check_inside(path, relative)
        with writing(path):
            start = _lines(path).mend()
        from memoranda.storage.jsonlines import encode_line

        return StagedTurns(relative, start, b"".join(encode_line(_to_record(turn)) for turn in turns))

    def append(self, staged: StagedTurns) -> None:
        """Write what was staged, durably.

        Raises:
            VaultFull, VaultReadOnly: nothing was written.
        """
        path = self._vault.path(staged.relative)
        with writing(path):
            _lines(path).append_bytes(staged.data)

    def blank(self, chosen: Callable[[Turn], bool]) -> list[str]:
        """Take the text out of the chosen turns, leaving a tombstone by id; returns their addresses.

        Raises:
            VaultFull, VaultReadOnly.
        """
        blanked: list[str] = []

        def change(record: Record) -> Record | None:
            turn = turn_from_record(record)
            if turn is None or turn.forgotten or not chosen(turn):
                return record
            blanked.append(f"turn/{turn.conversation}#{turn.turn}")
            return {"conversation": turn.conversation, "turn": turn.turn, "forgotten": True}

        for file in list(self.files()):
            with writing(file.path):
                lines = _lines(file.path)
                if lines.rewrite(change) and os.path.exists(lines.torn_path):
                    os.unlink(lines.torn_path)
        return blanked

    def bury(self, turns: Iterable[tuple[str, str]], month: str) -> None:
        """Leave a tombstone for turns that were never brought in; those that are there are left alone.

        Raises:
            VaultFull, VaultReadOnly.
        """
        by_conversation: dict[str, list[str]] = {}
        for conversation, turn in sorted(turns):
            by_conversation.setdefault(conversation, []).append(turn)
        for conversation, wanted in by_conversation.items():
            known = {turn.turn for turn in self.turns(conversation)}
            fresh = [Turn(conversation, turn, "", forgotten=True) for turn in wanted if turn not in known]
            if fresh:
                self.append(self.stage(conversation, fresh, month))

    def torn(self) -> list[tuple[str, int]]:
        """The files that hold lines which are no turns, with how many."""
        found = []
        for file in self.files():
            with reading(file.path):
                lines = _lines(file.path)
                broken = lines.torn() + sum(1 for record in lines.read() if turn_from_record(record) is None)
            if broken:
                found.append((file.relative, broken))
        return found


def _file_name(conversation: str) -> str:
    """A file name that is legal everywhere; what is not is percent-encoded, and a long one is cut and hashed."""
    import re

    def encoded(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found.group().encode("utf-8", "surrogatepass"))

    safe = re.sub(_UNSAFE, encoded, conversation)
    safe = safe.strip() or "%"
    if safe.startswith(".") or is_category(safe[:40].rstrip(" .") or "%") is None:
        # A hidden file, or the name of a Windows device.
        safe = f"%{safe[0].encode('utf-8').hex().upper()}{safe[1:]}"
    if safe.endswith("."):
        safe += "%"
    if len(safe.encode("utf-8")) > 180:
        safe = f"{safe[:40].rstrip(' .')}%{content_hash(conversation)}"
    return f"{check_identifier(safe, 'a conversation')}.jsonl"


def turn_from_record(record: Record) -> Turn | None:
    """Read one line; ``None`` where it is no turn."""

    def text(key: str) -> str:
        value = record.get(key)
        return value if isinstance(value, str) else ""

    conversation, turn = text("conversation"), record.get("turn")
    if not conversation or not isinstance(turn, (str, int)) or isinstance(turn, bool):
        return None
    extra: dict[str, Any] = {key: value for key, value in record.items() if key not in _OWN}
    return Turn(
        conversation=conversation,
        turn=str(turn),
        text=text("text"),
        ts=text("ts"),
        speaker=text("speaker"),
        role=text("role"),
        extra=extra,
        forgotten=record.get("forgotten") is True,
    )


def _to_record(turn: Turn) -> Record:
    row: Record = {"conversation": turn.conversation, "turn": turn.turn}
    if turn.forgotten:
        return {**row, "forgotten": True}
    row |= {"ts": turn.ts, "speaker": turn.speaker}
    row |= {"role": turn.role, "text": turn.text, **turn.extra}
    return {key: value for key, value in row.items() if value != "" or key == "text" or key in turn.extra}
