"""A chat in the terminal that remembers across runs: plain Python, and any endpoint that speaks OpenAI's language.

    pip install 'memoranda[openai]'
    export OPENAI_API_KEY=...                      # a local server instead: export OPENAI_BASE_URL=http://localhost:11434/v1
    export CHAT_MODEL=gpt-4o-mini
    python examples/chat_loop.py ~/memoranda lin   # the vault, and whose memory it is; a line is a turn

Where the vault's memoranda.toml has a [model], that one is asked instead.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from memoranda import MemoryHooks, Vault
from memoranda.adapters.language_models import language_model_for


class Endpoint:
    """Anything with ``chat(messages) -> str`` is a model; this one is OpenAI's client."""

    def __init__(self) -> None:
        from openai import OpenAI

        self._client = OpenAI()
        self._model = os.environ.get("CHAT_MODEL", "gpt-4o-mini")

    def chat(self, messages: Any) -> str:
        done = self._client.chat.completions.create(model=self._model, messages=messages)
        return done.choices[0].message.content or ""


def main(folder: str, user: str) -> None:
    with Vault.open(folder) as vault:
        chosen = vault.settings.model
        model = language_model_for(chosen) if chosen else Endpoint()
        with MemoryHooks(vault, model) as hooks:
            said: list[dict[str, str]] = []
            for line in sys.stdin:
                text, context = line.strip(), {"conversation": "terminal", "user": user}
                if not text:
                    continue
                known = hooks.on_before_turn(text, context)  # None where nothing is remembered about it
                system = f"You are a helpful companion.\n\n{known or ''}".strip()
                said.append({"role": "user", "content": text})
                answer = model.chat([{"role": "system", "content": system}, *said])
                said.append({"role": "assistant", "content": answer})
                print(answer, flush=True)
                hooks.on_after_turn(text, answer, context)  # on disk when it returns; memorized in the background
            hooks.drain(60)  # a process that ends at once leaves the rest for its next run


if __name__ == "__main__":
    main(*sys.argv[1:])
