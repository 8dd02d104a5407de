"""Claude Code's hooks: what each event of a session reads from memory, or queues to be memorized.

=================  ================================================================
``session-start``  an overview of what is remembered; what waits for a person's look
``prompt``         what is remembered about what the person has just written
``stop``           queues what was said, the answer that has just ended included
``pre-compact``    queues what was said, all but the answer that is under way
``session-end``    queues whatever is left
=================  ================================================================

Claude Code hands each a JSON object (``session_id``, ``transcript_path``,
``prompt``, ...) and reads one back. A session is never held up by a fault:
whatever goes wrong is told in one line, and nothing else is said. What these
hooks queue is found in the session's transcript, a file of JSON lines that is
read line by line, however long it is. A turn's id is the ``uuid`` of its line,
so that nothing is queued twice.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from memoranda.core.errors import MemorandaError, NotFound, UsageError
from memoranda.core.exchanges import Exchange
from memoranda.core.model import Turn
from memoranda.core.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeGuard

    from memoranda.bootstrap import Vault
    from memoranda.core.exchanges import TurnContext

__all__ = ["EVENTS", "read_exchanges", "run_hook"]

#: What an action is called in Claude Code's settings.
EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}

#: Tokens of what is recalled for a prompt. Claude Code shortens what is longer than 10,000 characters.
_BUDGET = 800
#: Seconds for everything, reading the files for the first time included: a person waits.
_DEADLINE = 2.0
#: Characters of a prompt that memory is asked about; of more, the beginning and the end.
_LONGEST_QUESTION = 4000
#: Characters of the overview, its frame included, and how many names of a category it has at most.
_LONGEST_OVERVIEW, _FRAME = 1500, 260
_NAMES, _LONGEST_NAME = 4, 40
#: Bytes of a transcript's line; a longer one holds an image or a file, and is passed over.
_LONGEST_LINE = 4 << 20
#: Turns that are memorized together.
_MOST_TURNS = 64
_LONGEST_ID = 200

#: Only lines that hold what a tool said have this key; a text cannot hold it, for its quotes are escaped.
_TOOL_RESULT = b'"toolUseResult"'
_LEFT_OUT = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
#: What the program itself writes in the person's place.
_NOT_SAID = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "[Request interrupted by user",
)
_REMINDER, _END_OF_REMINDER = "<system-reminder>", "</system-reminder>"


def run_hook(
    action: str, data: bytes, folder: str, context: TurnContext, told: Callable[[str], None]
) -> dict[str, Any] | None:
    """What Claude Code is to be answered at one of :data:`EVENTS`; ``None``: nothing.

    ``data`` is what it sent, ``folder`` the vault, which must be there. Never
    raises: ``told`` hears of a fault in one line without secrets.
    """
    try:
        given = _read_input(data)
        if action == "stop" and given.get("stop_hook_active") is True:
            # Another hook has it go on: what it says until then is queued with the next stop.
            return None
        from memoranda.bootstrap import Vault

        vault = Vault.open(folder, create=False, background="process")
        try:
            if action == "prompt":
                return _recalled(vault, given, context, told)
            if action == "session-start":
                return _overview(vault, context)
            _queue(vault, action, given, context)
        finally:
            with suppress(Exception):
                vault.close()
    except Exception as error:  # nothing that happens here may hold up a session
        line = str(error) if isinstance(error, MemorandaError) else f"{type(error).__name__}: {error}"
        told(_one_line(line))
    return None


def _one_line(text: str) -> str:
    from memoranda.services.redaction import redact

    return redact(" ".join(text.split())[:300])[0]


def _read_input(data: bytes) -> dict[str, Any]:
    try:
        given = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise UsageError("a hook reads a JSON object on stdin, and this is none") from None
    if not isinstance(given, dict):
        raise UsageError("a hook reads a JSON object on stdin, and this is none")
    return given


def _recalled(
    vault: Vault, given: dict[str, Any], context: TurnContext, told: Callable[[str], None]
) -> dict[str, Any] | None:
    prompt = given.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return None
    if len(prompt) > _LONGEST_QUESTION:
        half = _LONGEST_QUESTION // 2
        prompt = f"{prompt[:half]} {prompt[-half:]}"
    seconds = max(_DEADLINE, vault.settings.deadline)
    found = vault.retrieve(prompt, budget=_BUDGET, scopes=context.read_scopes, deadline=seconds)
    if found.unavailable:
        told(_one_line(f"not asked: {'; '.join(found.unavailable)}"))
    return _context("prompt", found.render())


def _context(action: str, text: str) -> dict[str, Any] | None:
    if not text:
        return None
    return {"hookSpecificOutput": {"hookEventName": EVENTS[action], "additionalContext": text}}


def _overview(vault: Vault, context: TurnContext) -> dict[str, Any] | None:
    """The categories with their numbers of items, the largest first, and what waits for a person's look."""
    from memoranda.retrieval.rendering import render_block
    from memoranda.retrieval.result import Hit

    found = [one for scope in context.read_scopes for one in vault.categories(scope) if one.items]
    lines = ["What is remembered, by category (items: some of their names)"]
    length = _FRAME + len(lines[0])
    for number, one in enumerate(sorted(found, key=lambda one: -one.items)):
        named = [_shortened(name) for name in one.names if not name.startswith("~")][-_NAMES:]
        line = f"{_shortened(one.address)} ({one.items}{': ' if named else ''}{', '.join(named)})"
        length += len(line) + 3  # indented, and a line end
        if length > _LONGEST_OVERVIEW:
            lines.append(f"and {len(found) - number} more")
            break
        lines.append(line)
    # The same frame as around what is recalled: names are data that anybody may have written.
    block = render_block([Hit("memory", "item", 0.0, "\n".join(lines), "")]) if found else ""
    answer = _context("session-start", block) or {}
    if waiting := vault.inbox.parked_count():
        few = "1 exchange needs" if waiting == 1 else f"{waiting} exchanges need"
        answer["systemMessage"] = f"memoranda: {few} a look before being memorized (memoranda inbox)"
    return answer or None


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def _queue(vault: Vault, action: str, given: dict[str, Any], context: TurnContext) -> None:
    path, session = given.get("transcript_path"), given.get("session_id")
    if not isinstance(path, str) or not path:
        raise UsageError("there is no transcript_path in what the hook was sent")
    path = os.path.expanduser(path)
    if not os.path.isfile(path):
        raise NotFound(f"there is no transcript {path}")
    if not isinstance(session, str) or not _is_id(session):
        session = os.path.basename(path).removesuffix(".jsonl")
    last = given.get("last_assistant_message")
    found = read_exchanges(
        path, session, context, ended=action != "pre-compact", last=last.strip() if isinstance(last, str) else ""
    )
    vault.enqueue_all(_unknown(vault, found))
    if vault.settings.model and vault.inbox.ids():
        from memoranda.index.build_pool import begin_in_background

        begin_in_background("memoranda", "-C", vault.root, "worker", "--once")


def _unknown(vault: Vault, exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """The exchanges without the turns that are queued or memorized: an answer may have gone on since."""
    known = vault.inbox.memorized()
    for _, queued in vault.inbox.all():
        known.update((queued.conversation, turn.turn) for turn in queued.turns)
    for exchange in exchanges:
        fresh = tuple(turn for turn in exchange.turns if (turn.conversation, turn.turn) not in known)
        if fresh:
            known.update((turn.conversation, turn.turn) for turn in fresh)
            yield replace(exchange, turns=fresh)


def read_exchanges(
    path: str, session: str, context: TurnContext, *, ended: bool = True, last: str = ""
) -> Iterator[Exchange]:
    """The exchanges of a transcript: what was said up to the end of each answer, tools' work left out.

    The newest is among them if the answer has ``ended``, and is the one that
    the caller knows of (``last``; empty: whatever stands there). Raises OSError.
    """
    waiting: list[Turn] = []
    for turn in _turns(path, session, context):
        if waiting:
            answered = waiting[-1].role == "assistant" and turn.role != "assistant"
            if answered or len(waiting) >= _MOST_TURNS or waiting[0].conversation != turn.conversation:
                yield _exchange(waiting, context)
                waiting = []
        waiting.append(turn)
    # The transcript is written by another hand, which may be late.
    if waiting and ended and waiting[-1].role == "assistant" and (not last or last.endswith(waiting[-1].text)):
        yield _exchange(waiting, context)


def _exchange(turns: list[Turn], context: TurnContext) -> Exchange:
    return Exchange(turns[0].conversation, tuple(turns), context.written_scope, context.read_scopes, context.owner)


def _turns(path: str, session: str, context: TurnContext) -> Iterator[Turn]:
    speakers = {"user": context.speaker or context.user, "assistant": context.assistant or context.agent}
    for record in _records(path):
        role, uuid, message = record.get("type"), record.get("uuid"), record.get("message")
        if role not in ("user", "assistant") or not _is_id(uuid) or not isinstance(message, dict):
            continue
        if any(record.get(key) is True for key in _LEFT_OUT) or message.get("model") == "<synthetic>":
            continue
        text = _text(message.get("content"), role)
        if text:
            own = record.get("sessionId")
            conversation = own if _is_id(own) else session
            yield Turn(conversation, uuid, text, _moment(record.get("timestamp")), speakers[role], role)


def _records(path: str) -> Iterator[dict[str, Any]]:
    """The lines of a transcript that are JSON objects and hold no tool's result, one at a time."""
    with open(path, "rb") as file:
        while line := file.readline(_LONGEST_LINE):
            if not line.endswith(b"\n") and len(line) == _LONGEST_LINE:
                while (rest := file.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                continue
            if _TOOL_RESULT in line:
                continue
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict):
                    yield record


def _text(content: Any, role: str) -> str:
    """What was said, without what tools were asked and answered, and without what the program added."""
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
        if any(block.get("type") == "tool_result" for block in blocks):
            return ""
        texts = [block.get("text") for block in blocks if block.get("type") == "text"]
        content = "\n\n".join(text for text in texts if isinstance(text, str))
    said: str = content.strip() if isinstance(content, str) else ""
    if role == "user":
        said = _without_reminders(said).strip()
        if said.startswith(_NOT_SAID):
            return ""
    return said


def _without_reminders(text: str) -> str:
    kept, at = [], 0
    while (start := text.find(_REMINDER, at)) >= 0:
        end = text.find(_END_OF_REMINDER, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(_END_OF_REMINDER)
    return "".join((*kept, text[at:]))


def _moment(value: Any) -> str:
    """When it was said; empty where that means nothing."""
    if isinstance(value, str) and value:
        from datetime import UTC

        from memoranda.storage.clock import parse_moment

        with suppress(UsageError):
            parse_moment(value, UTC)
            return value
    return ""


def _is_id(value: Any) -> TypeGuard[str]:
    """Whether it can be the id of a turn or a conversation."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_ID:
        return False
    return value.isascii() and value.replace("-", "").replace("_", "").isalnum()
