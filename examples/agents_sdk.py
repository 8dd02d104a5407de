"""An agent of the OpenAI Agents SDK with a history that outlives it, and memories beyond the history.

pip install 'memoranda[openai-agents,openai]'
export OPENAI_API_KEY=... CHAT_MODEL=gpt-4o-mini            # or OPENAI_BASE_URL=http://localhost:11434/v1
python examples/agents_sdk.py ~/memoranda lin chat-1        # a line is a turn; chat-1 goes on where it ended
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI, OpenAI

from memoranda import MemoryHooks, Vault
from memoranda.faces.hooks.agents_session import MemorandaSession

MODEL = os.environ.get("CHAT_MODEL", "gpt-4o-mini")


class Endpoint:
    """The model that memorizes."""

    def chat(self, messages: Any) -> str:
        done = OpenAI().chat.completions.create(model=MODEL, messages=messages)
        return done.choices[0].message.content or ""


async def main(folder: str, user: str, conversation: str) -> None:
    set_tracing_disabled(True)  # what is said stays between this machine and the endpoint
    with Vault.open(folder) as vault, MemoryHooks(vault, Endpoint()) as hooks:
        session = MemorandaSession(conversation, vault, {"user": user})  # queues what was said, too
        asked = ""

        async def instructions(context: Any, agent: Any) -> str:
            return f"You are a helpful companion.\n\n{await hooks.before_turn(asked, {'user': user}) or ''}"

        model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI())
        agent = Agent(name="companion", instructions=instructions, model=model)
        for line in sys.stdin:
            if asked := line.strip():
                print((await Runner.run(agent, asked, session=session)).final_output, flush=True)
        await asyncio.to_thread(hooks.drain, 60)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
