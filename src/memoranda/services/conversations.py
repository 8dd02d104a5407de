"""Conversations: bringing turns in, once and only once, and taking an import back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC

from memoranda.core.errors import CannotUndo, UsageError
from memoranda.core.model import Imported, JournalEntry, Problem, Redaction, Turn
from memoranda.core.names import normalize_newlines
from memoranda.core.records import replace
from memoranda.retrieval.rendering import strip_injected
from memoranda.services.cleaning import without_secrets
from memoranda.services.redaction import redact
from memoranda.storage.clock import parse_moment, written_moment
from memoranda.storage.files import read_bytes, remove_file, replace_file, writing
from memoranda.storage.history import ChangeRecord
from memoranda.storage.journal import new_change_id, to_record
from memoranda.storage.resources import bytes_digest, turn_from_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage

__all__ = ["Progress", "as_kept", "import_turns", "take_back_turns"]

Progress = Callable[[int, "int | None"], None]
_FORBIDDEN_IN_ID = frozenset("/\n\r\0")


def import_turns(
    storage: Storage,
    resources: Resources,
    turns: Iterable[Turn | Problem | Mapping[str, Any]],
    progress: Progress | None = None,
    *,
    dry_run: bool = False,
) -> Imported:
    """Keep turns as they were said; see :meth:`memoranda.Vault.import_turns`."""
    groups: dict[str, list[Turn]] = {}
    problems: list[Problem] = []
    redactions: dict[str, int] = {}
    for number, record in enumerate(turns, 1):
        clean, found = as_kept(record)
        if isinstance(clean, Problem):
            problems.append(clean if clean is record else replace(clean, line=number))
            continue
        for redaction in found:
            redactions[redaction.kind] = redactions.get(redaction.kind, 0) + redaction.count
        groups.setdefault(clean.conversation, []).append(clean)
        if progress is not None and number % 500 == 0:
            progress(number, None)
    counts = {"added": 0, "unchanged": 0, "conflicts": 0}
    done = 0
    for conversation, said in groups.items():
        if dry_run:
            fresh, unchanged, conflicting = _sorted_out(resources, conversation, said)
            added = len(fresh)
        else:
            added, unchanged, conflicting = _import_conversation(storage, resources, conversation, said)
        counts["added"] += added
        counts["unchanged"] += unchanged
        counts["conflicts"] += len(conflicting)
        problems += conflicting
        done += len(said)
        if progress is not None:
            progress(done, sum(map(len, groups.values())))
    return Imported(
        **counts,
        skipped=len(problems) - counts["conflicts"],
        problems=tuple(problems),
        redactions=tuple(Redaction(kind, count) for kind, count in redactions.items()),
    )


def as_kept(record: Turn | Problem | Mapping[str, Any]) -> tuple[Turn | Problem, list[Redaction]]:
    """A turn as it may be kept, without secrets and recalled blocks, and what those were; or what is wrong with it."""
    turn = _turn(record)
    return (turn, []) if isinstance(turn, Problem) else _clean(turn)


def _turn(record: Turn | Problem | Mapping[str, Any]) -> Turn | Problem:
    if isinstance(record, Problem):
        return record
    if not isinstance(record, Turn | Mapping):
        return Problem("turns", 0, "turn", f"a turn is a mapping, not {type(record).__name__}")
    turn = record if isinstance(record, Turn) else turn_from_record(dict(record))
    if turn is None:
        return Problem("turns", 0, "turn", "a turn needs at least conversation, turn and text")
    for what, identifier in (("conversation", turn.conversation), ("turn", turn.turn)):
        forbidden = any(sign in _FORBIDDEN_IN_ID or "\ud800" <= sign <= "\udfff" for sign in identifier)
        if forbidden or not identifier.strip() or (what == "turn" and "#" in identifier):
            return Problem("turns", 0, "turn", f"{identifier!r} cannot be the id of a {what}")
    if turn.ts:
        try:
            parse_moment(turn.ts, UTC)
        except UsageError as error:
            return Problem("turns", 0, "ts", str(error))
    if turn.extra and not _is_json(turn.extra):
        return Problem("turns", 0, "turn", "a turn may hold nothing but what JSON can")
    if not isinstance(record, Turn) and not isinstance(record.get("text"), str):
        return Problem("turns", 0, "turn", "a turn's text must be a string")
    return turn


def _is_json(value: Any) -> bool:
    import json

    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _clean(turn: Turn) -> tuple[Turn | Problem, list[Redaction]]:
    """The turn as it may be kept: no secrets, and nothing that was only recalled into it."""
    for what, identifier in (("conversation", turn.conversation), ("turn", turn.turn)):
        if redact(identifier)[1]:
            return Problem("turns", 0, "turn", f"the id of the {what} holds a secret; give it another id"), []
    found: list[Redaction] = []
    text = without_secrets(turn.text, found, lambda text: strip_injected(normalize_newlines(text)))
    speaker, role = without_secrets(turn.speaker, found), without_secrets(turn.role, found)
    return Turn(turn.conversation, turn.turn, text, turn.ts, speaker, role, without_secrets(turn.extra, found)), found


def _import_conversation(
    storage: Storage, resources: Resources, conversation: str, said: list[Turn]
) -> tuple[int, int, list[Problem]]:
    with storage.locked():
        fresh, unchanged, problems = _sorted_out(resources, conversation, said)
        if fresh:
            _append(storage, resources, conversation, fresh)
        return len(fresh), unchanged, problems


def _sorted_out(resources: Resources, conversation: str, said: list[Turn]) -> tuple[list[Turn], int, list[Problem]]:
    """The turns that are new, how many are known, and those that are known with other text."""
    known = {turn.turn: turn for turn in resources.turns(conversation)}
    fresh: list[Turn] = []
    problems: list[Problem] = []
    unchanged = 0
    for turn in said:
        present = known.get(turn.turn)
        if present is None:
            known[turn.turn] = turn
            fresh.append(turn)
        elif present.forgotten or (present.text, present.speaker) == (turn.text, turn.speaker):
            # A forgotten turn stays forgotten, however often it is brought again.
            unchanged += 1
        else:
            message = f"turn/{conversation}#{turn.turn} is kept with other text; that text stays"
            problems.append(Problem("turns", 0, "conflict", message))
    return fresh, unchanged, problems


def _append(storage: Storage, resources: Resources, conversation: str, fresh: list[Turn]) -> None:
    now = storage.clock.now()
    zone = storage.clock.zone()
    first = next((turn.ts for turn in fresh if turn.ts), "")
    month = (parse_moment(first, zone) if first else now).astimezone(zone).strftime("%Y-%m")
    staged = resources.stage(conversation, fresh, month)
    change, ts = new_change_id(), written_moment(now)
    detail = {"conversation": conversation, "turns": len(fresh), "first": fresh[0].turn, "last": fresh[-1].turn}
    entry = JournalEntry(change, ts, "import", actor=storage.actor, source=f"turn/{conversation}", detail=detail)
    extra = {"turns": staged.as_extra()}
    storage.history.append(ChangeRecord(change, ts, "import", journal=(to_record(entry),), extra=extra))
    resources.append(staged)
    storage.journal.append([entry])
    storage.settle()


def take_back_turns(storage: Storage, turns: Mapping[str, Any]) -> list[str]:
    """Remove the bytes that an import added, if they are still there. Needs the lock.

    Raises:
        CannotUndo: they have changed since.
        VaultReadOnly, VaultFull: nothing was removed.
    """
    relative = str(turns.get("path", ""))
    path = storage.vault.path(relative)
    storage.vault.check_inside(path, relative)
    start, end = int(turns.get("start", 0)), int(turns.get("end", 0))
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise CannotUndo(f"{relative} cannot be read any more ({error.strerror})") from error
    at = _where(data, start, end - start, str(turns.get("hash", "")))
    if at is None and len(data) <= start:
        # An undo that a crash cut short had come this far.
        return [f"the turns of {relative} are gone already"]
    if at is None:
        raise CannotUndo(f"{relative} has changed since; the turns cannot be told apart any more")
    taken, rest = data[at : at + end - start], data[:at] + data[at + end - start :]
    with writing(path):
        if rest:
            replace_file(path, rest)
        else:
            remove_file(path)
    number = taken.count(b"\n")
    return [f"took back {number} turns of {relative}"]


def _where(data: bytes, start: int, length: int, digest: str) -> int | None:
    """Where the lines stand that were added at ``start``: there, or further up since others before them went."""
    start = min(start, data.rfind(b"\n") + 1)
    while True:
        # Lines end with a line end: most places are told by one byte.
        if data[start + length - 1 : start + length] == b"\n" and bytes_digest(data[start : start + length]) == digest:
            return start
        if start == 0:
            return None
        start = data.rfind(b"\n", 0, start - 1) + 1
