"""Conversations of Claude.ai, from its export: ``conversations.json``, or the folder or zip archive that holds it.

Messages come in the order of their times, for the export does not promise
one. Kept are what people and the assistant said; thoughts, calls of tools and their
results are left out. Files and images are named in their place; the text of an attachment
follows its name if it has 4000 characters at most.
"""

from __future__ import annotations

from datetime import UTC

from memoranda.adapters.importers.json_exports import read_export
from memoranda.adapters.importers.moments import moment
from memoranda.adapters.importers.spoken import Spoken, conversation_id, holds_conversations, joined, turns_of
from memoranda.core.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo
    from typing import Any

    from memoranda.core.model import Turn

__all__ = ["LONGEST_ATTACHMENT", "read_claude"]

#: The text of a longer attachment is not kept, in characters.
LONGEST_ATTACHMENT = 4000

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_TEXTS = ("text", "voice_note")
_TOOLS = ("tool_use", "tool_result")


def read_claude(path: str, zone: tzinfo = UTC) -> Iterator[Turn | Problem]:
    """Read the conversations of an export. ``zone`` is the one of times without an offset.

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it cannot be read, or holds no ``conversations.json``.
    """
    for found in read_export(path, holds_conversations):
        if isinstance(found, Problem):
            yield found
            continue
        conversation = found.value
        messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(messages, list):
            yield Problem(found.path, found.line, "record", "no conversation of Claude.ai: it has no 'chat_messages'")
            continue
        ordered = _ordered([message for message in messages if isinstance(message, dict)], zone)
        spoken = [one for number, message in enumerate(ordered, 1) if (one := _spoken(message, number, zone))]
        title = conversation.get("name") or conversation.get("title")
        yield from turns_of(conversation_id(conversation, "uuid", "id"), title, spoken)


def _ordered(messages: list[dict[str, Any]], zone: tzinfo) -> list[dict[str, Any]]:
    """By time where every message has one, else by ``index`` where every one has that, else as they stand."""
    times = [moment(message.get("created_at"), zone) for message in messages]
    if all(times):
        from memoranda.storage.clock import parse_moment

        moments = [parse_moment(ts or "", zone) for ts in times]
        return [messages[at] for at in sorted(range(len(messages)), key=lambda at: moments[at])]
    numbers = [message.get("index") for message in messages]
    if all(isinstance(number, (int, float)) and number == number for number in numbers):
        return sorted(messages, key=lambda message: message["index"])
    return messages


def _spoken(message: dict[str, Any], number: int, zone: tzinfo) -> Spoken | None:
    sender = message.get("sender") or message.get("role")
    role = _ROLES.get(sender) if isinstance(sender, str) else None
    if role is None:
        return None
    text = joined([_words(message), *_attached(message)])
    if not text:
        return None
    identifier = message.get("uuid") or message.get("id")
    ts = moment(message.get("created_at"), zone) or ""
    return Spoken(identifier if isinstance(identifier, str) else str(number), role, text, ts)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _words(message: dict[str, Any]) -> str:
    """What was said: the text blocks, or the whole text of a message without any."""
    blocks = _blocks(message)
    texts = [b["text"] for b in blocks if b.get("type") in _TEXTS and isinstance(b.get("text"), str)]
    if texts:
        return joined(texts)
    # Of a message that is only a tool's, the text is a notice that it cannot be shown.
    text = message.get("text")
    if not isinstance(text, str) or any(block.get("type") in _TOOLS for block in blocks):
        return ""
    return text


def _name(one: dict[str, Any]) -> str:
    name = one.get("file_name")
    return " ".join(name.split()) if isinstance(name, str) else ""


def _attached(message: dict[str, Any]) -> list[str]:
    """The files that came with a message, by name; short texts in full."""
    pieces: list[str] = []
    named: set[str] = set()
    attachments = message.get("attachments")
    for one in attachments if isinstance(attachments, list) else ():
        if isinstance(one, dict):
            text = one.get("extracted_content")
            kept = text if isinstance(text, str) and len(text) <= LONGEST_ATTACHMENT else ""
            name = _name(one) or "pasted text"
            named.add(name)
            pieces += [f"[file: {name}]", kept]
    files = message.get("files")
    blocks = [block for block in _blocks(message) if block.get("type") in ("file", "image", "document")]
    for one in [*blocks, *(files if isinstance(files, list) else ())]:
        if isinstance(one, dict) and (name := _name(one)) not in named:
            kind = "image" if one.get("type") == "image" else "file"
            pieces.append(f"[{kind}: {name}]" if name else f"[{kind}]")
            named.add(name or kind)
    return pieces
