"""Conversations of ChatGPT, from its export: ``conversations.json``, or the folder or zip archive that holds it.

A conversation is a tree: every edited question and every answer that was made
anew is a branch. Kept is the branch that was open last, from ``current_node`` up to
the root; how many turns stand on others is noted as ``other_branches`` on the first turn.
Kept are the user's and the assistant's words. Tools, system messages, hidden
messages, thoughts and calls of tools are left out; an image, a recording or a
file is named in its place.
"""

from __future__ import annotations

import re
from datetime import UTC
from functools import cache

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

__all__ = ["read_chatgpt"]

_ROLES = frozenset({"user", "assistant"})
_UNSPOKEN = frozenset(
    {
        "thoughts",
        "reasoning_recap",
        "user_editable_context",
        "model_editable_context",
        "execution_output",
        "system_error",
        "tether_browsing_display",
        "tether_quote",
        "tool_call",
        "tool_result",
    }
)
# References to sources stand between characters of the private use area; they point at nothing outside.
_CITATION = "\ue200[^\ue200\ue201]{0,4000}\ue201"


@cache
def _citation() -> re.Pattern[str]:
    return re.compile(_CITATION)


def read_chatgpt(path: str, zone: tzinfo = UTC) -> Iterator[Turn | Problem]:
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
        mapping = conversation.get("mapping") if isinstance(conversation, dict) else None
        if not isinstance(mapping, dict):
            yield Problem(found.path, found.line, "record", "no conversation of ChatGPT: it has no 'mapping'")
            continue
        branch = _branch(mapping, conversation.get("current_node"))
        spoken = [one for key in branch if (one := _spoken(key, mapping[key], zone))]
        on_it = set(branch)
        others = sum(1 for key, node in mapping.items() if key not in on_it and _spoken(key, node, zone))
        identifier = conversation_id(conversation, "conversation_id", "id")
        yield from turns_of(identifier, conversation.get("title"), spoken, others)


def _branch(mapping: dict[str, Any], current: object) -> list[str]:
    """The ids of the nodes from the root to the current one; a cycle ends where it closes."""
    key: object = current if isinstance(current, str) and current in mapping else _last(mapping, "")
    branch: list[str] = []
    seen: set[str] = set()
    while isinstance(key, str) and key in mapping and key not in seen:
        seen.add(key)
        branch.append(key)
        node = mapping[key]
        key = node.get("parent") if isinstance(node, dict) else None
    return branch[::-1]


def _last(mapping: dict[str, Any], default: str) -> str:
    """Of the nodes without one below them the newest; for a conversation that does not say which was open."""
    nodes = [node for node in mapping.values() if isinstance(node, dict)]
    parents = {parent for node in nodes if isinstance(parent := node.get("parent"), str)}
    leaves = [key for key in mapping if key not in parents] or list(mapping)
    # Of equally new ones the last.
    return max(reversed(leaves), key=lambda key: _time(mapping[key]), default=default)


def _time(node: object) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    value = message.get("create_time") if isinstance(message, dict) else None
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 53):
        return float(value)
    return 0.0


def _spoken(key: str, node: object, zone: tzinfo) -> Spoken | None:
    """What a node says that is to be kept; ``None`` if it says nothing."""
    message = node.get("message") if isinstance(node, dict) else None
    if not isinstance(node, dict) or not isinstance(message, dict):
        return None
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else None
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if not isinstance(role, str) or role not in _ROLES or message.get("recipient") not in (None, "", "all"):
        return None
    if metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        return None
    text = _text(message.get("content"), metadata)
    if not text:
        return None
    identifier = message.get("id")
    ts = moment(message.get("create_time"), zone) or moment(node.get("create_time"), zone) or ""
    return Spoken(identifier if isinstance(identifier, str) and identifier.strip() else key, role, text, ts)


def _text(content: object, metadata: dict[str, Any]) -> str:
    """The words of a message, with what cannot be kept named."""
    kind = content.get("content_type") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(kind, str | None) or kind in _UNSPOKEN:
        return ""
    parts = content.get("parts")
    pieces = [_part(part) for part in parts] if isinstance(parts, list) else []
    if not pieces and isinstance(content.get("text"), str):
        pieces = [content["text"]]
        if kind == "code":
            pieces = [_fenced(content["text"], content.get("language"))]
    attachments = metadata.get("attachments")
    for one in attachments if isinstance(attachments, list) else ():
        name, kind = (one.get("name"), one.get("mime_type")) if isinstance(one, dict) else (None, None)
        shown_already = isinstance(kind, str) and kind.startswith("image/") and "[image]" in pieces
        if isinstance(name, str) and name.strip() and not shown_already:
            pieces.append(f"[file: {' '.join(name.split())}]")
    return _citation().sub("", joined(pieces)).strip()


def _fenced(code: str, language: object) -> str:
    name = language if isinstance(language, str) and language.isalnum() and language != "unknown" else ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}{name}\n{code}\n{fence}" if code.strip() else ""


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    kind = part.get("content_type")
    if not isinstance(kind, str) or kind in _UNSPOKEN:
        return ""
    text = part.get("text")
    if isinstance(text, str) and text.strip():
        return text
    for word in ("image", "video", "audio"):
        if word in kind:
            return f"[{word}]"
    return "" if kind == "text" else f"[{' '.join(kind.split())[:40]}]"
