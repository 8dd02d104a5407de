"""An honest language model without a model: it replies as it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["ScriptedModel"]

Reply = str | Exception | Callable[[str], str]


class ScriptedModel:
    """Replies by the next of its ``script``, and when that is through, by ``usual``.

    An entry is a text, an exception that is raised, or a function of the last
    user message. What it was asked is in ``calls``.
    """

    def __init__(self, *script: Reply, usual: Reply = "ok") -> None:
        self.script: list[Reply] = list(script)
        self.usual = usual
        self.calls: list[list[dict[str, str]]] = []

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        self.calls.append([dict(message) for message in messages])
        reply = self.script.pop(0) if self.script else self.usual
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return reply
        return reply(next((m["content"] for m in reversed(messages) if m["role"] == "user"), ""))
