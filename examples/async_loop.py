"""The same for a host with an event loop: recalling and queueing hold nothing up.

    pip install 'memoranda[openai]'
    export OPENAI_API_KEY=... CHAT_MODEL=gpt-4o-mini    # or OPENAI_BASE_URL=http://localhost:11434/v1
    python examples/async_loop.py ~/memoranda lin mo    # the vault, and two people who talk at the same time

A line of stdin is said by both.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from openai import AsyncOpenAI, OpenAI

from memoranda import MemoryHooks, Vault

MODEL = os.environ.get("CHAT_MODEL", "gpt-4o-mini")


class Endpoint:
    """The model that memorizes: it is asked by a thread of its own, so it need not be async."""

    def chat(self, messages: Any) -> str:
        done = OpenAI().chat.completions.create(model=MODEL, messages=messages)
        return done.choices[0].message.content or ""


async def turn(hooks: MemoryHooks, client: AsyncOpenAI, user: str, text: str) -> str:
    context = {"conversation": f"chat-of-{user}", "user": user}
    known = await hooks.before_turn(text, context)
    system = f"You talk to {user}.\n\n{known or ''}"
    messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    done = await client.chat.completions.create(model=MODEL, messages=messages)
    answer = done.choices[0].message.content or ""
    await hooks.after_turn(text, answer, context)
    return f"{user}: {answer}"


async def main(folder: str, *users: str) -> None:
    with Vault.open(folder) as vault, MemoryHooks(vault, Endpoint()) as hooks:
        async with AsyncOpenAI() as client:
            for line in sys.stdin:
                if text := line.strip():
                    answers = await asyncio.gather(*(turn(hooks, client, user, text) for user in users))
                    print(*answers, sep="\n", flush=True)
        await asyncio.to_thread(hooks.drain, 60)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
