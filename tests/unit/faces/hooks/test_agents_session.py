"""``MemorandaSession``: a history that comes back as it was, and exchanges that are queued once."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda import Vault
from memoranda.core.errors import BadName, UsageError
from memoranda.faces.hooks.agents_session import MemorandaSession

T = TypeVar("T")
needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("agents") is None, reason="the extra openai-agents is not installed"
)

ASKED = {"role": "user", "content": "I moved to Xiamen."}
CALLED = {"type": "function_call", "call_id": "call_AbC123", "name": "weather", "arguments": '{"city":"厦门"}'}
GAVE = {"type": "function_call_output", "call_id": "call_AbC123", "output": "sunny\r\n  28°"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo" + "aB3_-" * 50}
ANSWERED = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "It is sunny there.", "annotations": [], "logprobs": None}],
}  # fmt: skip
TALK = [ASKED, THOUGHT, CALLED, GAVE, ANSWERED]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault") as opened:
        yield opened


@pytest.fixture
def session(vault: Vault) -> MemorandaSession:
    return MemorandaSession("chat-7", vault, {"user": "lin"})


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def queued(vault: Vault) -> list[list[tuple[str, str]]]:
    return [[(turn.role, turn.text) for turn in exchange.turns] for _, exchange in vault.inbox.all()]


class TestHistory:
    def test_items_come_back_as_they_were(self, session: MemorandaSession) -> None:
        assert run(session.get_items()) == []
        run(session.add_items(TALK[:1]))
        run(session.add_items(TALK[1:]))
        run(session.add_items([]))
        assert run(session.get_items()) == TALK

    def test_another_process_reads_the_same(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items(TALK))
        other = MemorandaSession("chat-7", vault.sibling("other"))
        assert run(other.get_items()) == TALK
        assert run(MemorandaSession("chat-8", vault).get_items()) == []

    @pytest.mark.parametrize(("limit", "expected"), [(2, TALK[-2:]), (99, TALK), (0, []), (-1, TALK), (None, TALK)])
    def test_a_limit_gives_the_newest(self, session: MemorandaSession, limit: int | None, expected: list[Any]) -> None:
        run(session.add_items(TALK))
        assert run(session.get_items(limit)) == expected

    def test_the_sessions_own_limit_holds_where_none_is_given(self, vault: Vault) -> None:
        class Settings:
            limit = 1

        session = MemorandaSession("chat-7", vault, session_settings=Settings())
        run(session.add_items(TALK))
        assert run(session.get_items()) == TALK[-1:]
        assert run(session.get_items(3)) == TALK[-3:]

    def test_pop_takes_the_newest_off(self, session: MemorandaSession, vault: Vault) -> None:
        assert run(session.pop_item()) is None
        run(session.add_items(TALK[:2]))
        assert [run(session.pop_item()) for _ in range(3)] == [TALK[1], TALK[0], None]
        run(session.add_items(TALK[:1]))
        assert run(session.get_items()) == TALK[:1]

    def test_clear_begins_anew_and_loses_nothing_that_was_said(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.clear_session())
        assert vault.turns("chat-7") == []
        run(session.add_items(TALK))
        run(session.clear_session())
        assert run(session.get_items()) == []
        assert "Xiamen" in vault.turns("chat-7")[0].text
        run(session.add_items(TALK[:1]))
        assert run(session.get_items()) == TALK[:1]

    def test_what_is_forgotten_is_gone_from_the_history(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items(TALK))
        vault.forget(source=f"turn/chat-7#{vault.turns('chat-7')[0].turn}")
        assert run(session.get_items()) == TALK[1:4]  # the answer was queued with it, and went with it
        assert "Xiamen" not in "".join(path.read_text() for path in Path(vault.root).rglob("*.jsonl"))

    def test_an_undone_import_is_gone_too(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items(TALK[:1]))
        run(session.add_items(TALK[1:]))
        vault.undo()
        assert run(session.get_items()) == TALK[:1]

    def test_a_secret_is_replaced_and_nothing_else(self, session: MemorandaSession, vault: Vault) -> None:
        key = "sk-proj-" + "a1B2" * 10
        run(session.add_items([{"role": "user", "content": f"Use {key} there."}, GAVE]))
        first, second = run(session.get_items())
        assert first["content"].startswith("Use [redacted")
        assert second == GAVE
        assert key not in "".join(path.read_text() for path in Path(vault.root).rglob("*.jsonl"))

    @pytest.mark.parametrize("session_id", ["user/lin", "a\nb", "100%", "会话 #1", "a" * 300, ".", "con"])
    def test_any_id_will_do(self, vault: Vault, session_id: str) -> None:
        session = MemorandaSession(session_id, vault)
        run(session.add_items(TALK))
        assert run(session.get_items()) == TALK
        assert session.session_id == session_id

    def test_ids_that_look_alike_are_not_mixed_up(self, vault: Vault) -> None:
        run(MemorandaSession("a/b", vault).add_items(TALK))
        assert run(MemorandaSession("a%2Fb", vault).get_items()) == []

    def test_what_means_nothing_is_refused(self, session: MemorandaSession, vault: Vault) -> None:
        with pytest.raises(UsageError):
            MemorandaSession(" ", vault)
        with pytest.raises(UsageError):
            MemorandaSession("x", vault, {"usr": "lin"})
        with pytest.raises(BadName):
            MemorandaSession("x", vault, {"user": "a/b"})
        with pytest.raises(TypeError):
            run(session.add_items([ASKED, {"x": object()}]))
        assert run(session.get_items()) == []

    def test_many_at_once_lose_nothing(self, vault: Vault) -> None:
        sessions = [MemorandaSession("chat-7", vault), MemorandaSession("chat-7", vault.sibling("other"))]

        async def all_of_them() -> list[Any]:
            items = [{"role": "system", "content": f"{n}"} for n in range(20)]
            await asyncio.gather(*(sessions[n % 2].add_items([item]) for n, item in enumerate(items)))
            return await sessions[0].get_items()

        assert sorted(int(item["content"]) for item in run(all_of_them())) == list(range(20))

    def test_who_stops_waiting_does_not_stop_the_writing(self, session: MemorandaSession) -> None:
        async def cancelled() -> None:
            busy = threading.Event()
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
            other = asyncio.create_task(asyncio.to_thread(busy.wait, 30))
            await asyncio.sleep(0)
            task = asyncio.create_task(session.add_items(TALK[:1]))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            busy.set()
            await other

        run(cancelled())
        assert run(session.get_items()) == TALK[:1]

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(
            st.dictionaries(
                st.sampled_from(["role", "type", "content", "id", "extra"]) | st.text(max_size=5),
                st.recursive(
                    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
                    max_leaves=4,
                ),
                max_size=4,
            ),
            max_size=4,
        )
    )
    def test_whatever_the_items_hold_they_come_back(self, vault: Vault, items: list[Any]) -> None:
        session = MemorandaSession("laws", vault)
        run(session.clear_session())
        run(session.add_items(items))
        assert run(session.get_items()) == json.loads(json.dumps(items))


class TestQueueing:
    def test_an_exchange_is_queued_where_its_answer_ends(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items(TALK[:1]))
        run(session.add_items(TALK[1:4]))
        assert queued(vault) == []
        run(session.add_items(TALK[4:]))
        assert queued(vault) == [[("user", "I moved to Xiamen."), ("assistant", "It is sunny there.")]]
        (_, exchange), *_ = vault.inbox.all()
        assert (exchange.conversation, exchange.scope, exchange.owner) == ("chat-7", "user/lin", "user:lin")
        assert [vault.turn(f"turn/chat-7#{turn.turn}") is not None for turn in exchange.turns] == [True, True]

    def test_each_exchange_once_and_what_follows_alone(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items([ASKED, ANSWERED]))
        run(session.add_items([{**ANSWERED, "content": "And warm."}]))
        run(session.add_items([{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Gladly."}]))
        assert queued(vault) == [
            [("user", "I moved to Xiamen."), ("assistant", "It is sunny there.")],
            [("assistant", "And warm.")],
            [("user", "Thanks."), ("assistant", "Gladly.")],
        ]

    def test_an_answer_with_a_call_behind_it_is_not_the_end(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items([ASKED, {**ANSWERED, "content": "I look."}, CALLED]))
        assert queued(vault) == []

    def test_a_question_of_another_process_belongs_to_it(self, session: MemorandaSession, vault: Vault) -> None:
        run(session.add_items([ASKED]))
        run(MemorandaSession("chat-7", vault, {"user": "lin"}).add_items([ANSWERED]))
        assert queued(vault) == [[("user", "I moved to Xiamen."), ("assistant", "It is sunny there.")]]

    def test_it_can_be_left_out(self, vault: Vault) -> None:
        run(MemorandaSession("chat-7", vault, memorize=False).add_items([ASKED, ANSWERED]))
        assert queued(vault) == []

    def test_a_queue_that_fails_does_not_lose_the_history(
        self, session: MemorandaSession, vault: Vault, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def full(*_: Any, **__: Any) -> None:
            raise OSError("no room")

        monkeypatch.setattr(Vault, "enqueue", full)
        run(session.add_items([ASKED, ANSWERED]))
        assert run(session.get_items()) == [ASKED, ANSWERED]
        assert "will not be memorized" in caplog.text


@needs_sdk
class TestWithTheSdk:
    def test_it_is_a_session(self, session: MemorandaSession) -> None:
        from agents import Session

        assert isinstance(session, Session)

    def test_an_agent_reads_and_writes_it(self, vault: Vault) -> None:
        from agents import Agent, Runner, set_tracing_disabled
        from agents.items import ModelResponse
        from agents.models.interface import Model
        from agents.usage import Usage
        from openai.types.responses import ResponseOutputMessage, ResponseOutputText

        asked: list[list[Any]] = []

        class Echo(Model):
            async def get_response(self, *arguments: Any, **named: Any) -> ModelResponse:
                given = named.get("input", arguments[1] if len(arguments) > 1 else None)
                asked.append(list(given) if isinstance(given, list) else [given])
                text = ResponseOutputText(type="output_text", text=f"answer {len(asked)}", annotations=[])
                message = ResponseOutputMessage(
                    id="m", type="message", role="assistant", status="completed", content=[text]
                )
                return ModelResponse(output=[message], usage=Usage(), response_id=None)

            def stream_response(self, *_: Any, **__: Any) -> Any:
                raise NotImplementedError

        set_tracing_disabled(True)

        async def talk() -> list[str]:
            agent = Agent(name="echo", model=Echo())
            session = MemorandaSession("chat-7", vault, {"user": "lin"})
            first = await Runner.run(agent, "I moved to Xiamen.", session=session)
            second = await Runner.run(agent, "Where do I live?", session=MemorandaSession("chat-7", vault))
            return [first.final_output, second.final_output]

        assert run(talk()) == ["answer 1", "answer 2"]
        assert [item["role"] for item in asked[1]] == ["user", "assistant", "user"]
        assert queued(vault) == [
            [("user", "I moved to Xiamen."), ("assistant", "answer 1")],
            [("user", "Where do I live?"), ("assistant", "answer 2")],
        ]

    def test_it_holds_the_same_as_the_sdks_own(self, vault: Vault) -> None:
        from agents import SQLiteSession

        async def told(session: Any) -> list[Any]:
            seen = [await session.pop_item(), await session.get_items()]
            await session.add_items(TALK)
            seen += [await session.get_items(limit=2), await session.get_items(limit=0), await session.pop_item()]
            await session.add_items([ANSWERED, ASKED])
            seen += [await session.get_items(), await session.pop_item(), await session.get_items(limit=99)]
            await session.clear_session()
            seen += [await session.get_items(), await session.pop_item()]
            await session.add_items(TALK[:1])
            return [*seen, await session.get_items()]

        assert run(told(MemorandaSession("x", vault))) == run(told(SQLiteSession("x")))
