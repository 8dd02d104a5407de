"""A language model before a real server that behaves well, badly, and not at all."""

from __future__ import annotations

import json
import socket
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.chat_answers import is_about_form, read_reply
from memoranda.adapters.endpoint_answers import Refused
from memoranda.adapters.endpoint_requests import Answered
from memoranda.adapters.openai_model import OpenAIModel
from memoranda.core.errors import MissingExtra, ServiceFailed, ServiceRefused, UsageError
from memoranda.storage.model_settings import ModelSettings
from model_endpoint import Call, ModelEndpoint

#: Made up: no credential of anything.
KEY = "made-up-key-0123456789abcdef"
OPEN = {"type": "object", "properties": {"operations": {"type": "array", "items": {"type": "string"}}}}
CLOSED = OPEN | {"required": ["operations"], "additionalProperties": False}
ASKED = [{"role": "user", "content": "Reply in JSON."}]


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelEndpoint]:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    with ModelEndpoint(tmp_path_factory.mktemp("model")) as made:
        yield made


class Endpoint:
    """The process, and what it was asked in this test."""

    def __init__(self, process: ModelEndpoint) -> None:
        self.process, self._before = process, process.count

    def say(self, *entries: str | dict[str, Any]) -> None:
        self.process.say(*entries)

    @property
    def calls(self) -> list[Call]:
        return self.process.calls[self._before :]


@pytest.fixture
def endpoint(process: ModelEndpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    return Endpoint(process)


def model(endpoint: Endpoint | str, schema: dict[str, Any] | None = None, **changes: Any) -> OpenAIModel:
    url = endpoint if isinstance(endpoint, str) else endpoint.process.url
    settings = {"provider": "openai", "model": "some-model", "base_url": url, "key": "env:TEST_MODEL_KEY"} | changes
    made = OpenAIModel(ModelSettings(**settings), schema)
    made.warm()
    return made


def test_what_is_sent_is_what_openai_documents(endpoint: Endpoint) -> None:
    assert model(endpoint, CLOSED).chat(ASKED) == "ok"
    (call,) = endpoint.calls
    assert call["path"] == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.body == {
        "model": "some-model",
        "messages": ASKED,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": CLOSED, "strict": True},
        },
    }


def test_what_was_not_set_is_not_sent_and_what_was_is(endpoint: Endpoint) -> None:
    model(endpoint).chat(ASKED)
    model(endpoint, temperature=0, max_tokens=300).chat(ASKED)
    plain, full = endpoint.calls
    assert plain.body == {"model": "some-model", "messages": ASKED}
    assert full.body == plain.body | {"temperature": 0, "max_tokens": 300}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        (OPEN, False),
        (CLOSED | {"required": []}, False),
        ({"type": "object"}, False),
        (CLOSED | {"properties": {"operations": {"type": "array", "items": OPEN}}}, False),
        (CLOSED | {"properties": {"operations": {"anyOf": [CLOSED, {"type": "null"}]}}}, True),
        (CLOSED | {"properties": {"operations": {"anyOf": [OPEN, {"type": "null"}]}}}, False),
        (CLOSED | {"properties": {"operations": {"oneOf": [CLOSED]}}}, False),
        (CLOSED | {"$defs": {"one": OPEN}}, False),
    ],
)
def test_a_model_is_held_strictly_to_a_schema_that_allows_it(
    endpoint: Endpoint, schema: dict[str, Any], strict: bool
) -> None:
    model(endpoint, schema).chat(ASKED)
    assert endpoint.calls[0].body["response_format"]["json_schema"]["strict"] is strict


@pytest.mark.parametrize(
    ("changes", "form"),
    [
        ({}, "json_schema"),
        ({"provider": "deepseek"}, "json_object"),
        ({"provider": "deepseek", "json": "schema"}, "json_schema"),
        ({"json": "object"}, "json_object"),
        ({"json": "none"}, None),
    ],
)
def test_a_reply_is_asked_for_in_the_form_that_was_set(
    endpoint: Endpoint, changes: dict[str, str], form: str | None
) -> None:
    model(endpoint, CLOSED, **changes).chat(ASKED)
    model(endpoint, None, **changes).chat(ASKED)
    assert [call.form for call in endpoint.calls] == [form, None]


@pytest.mark.parametrize(
    "refusal",
    [
        {"status": 400, "error": "This response_format type is unavailable now"},
        {"status": 422, "error": "invalid", "more": {"param": "response_format.type"}},
        {"status": 400, "error": "This model does not support response format `json_schema`"},
        {"status": 400, "error": "Invalid schema for response_format 'reply': 'operations' is not permitted"},
        {"status": 400, "error": "Unknown name \"x\" at 'generation_config.response_schema'"},
    ],
)
def test_a_form_that_is_refused_is_weakened_and_not_asked_for_again(
    endpoint: Endpoint, refusal: dict[str, Any]
) -> None:
    made = model(endpoint, CLOSED)
    endpoint.say(refusal, "first", "second")
    assert [made.chat(ASKED), made.chat(ASKED)] == ["first", "second"]
    assert [call.form for call in endpoint.calls] == ["json_schema", "json_object", "json_object"]
    first, again, _ = (call.body for call in endpoint.calls)
    assert {**first, "response_format": {"type": "json_object"}} == again


def test_where_no_form_is_taken_none_is_asked_for(endpoint: Endpoint) -> None:
    made = model(endpoint, CLOSED)
    refusal = {"status": 400, "error": "'messages' must contain the word 'json' to use 'response_format'"}
    endpoint.say(refusal, refusal, "first", "second")
    assert [made.chat(ASKED), made.chat(ASKED)] == ["first", "second"]
    assert [call.form for call in endpoint.calls] == ["json_schema", "json_object", None, None]


def test_another_refusal_is_not_taken_for_one_of_the_form(endpoint: Endpoint) -> None:
    made = model(endpoint, CLOSED)
    endpoint.say({"status": 400, "error": "no such parameter: seed"})
    with pytest.raises(ServiceFailed, match="seed"):
        made.chat(ASKED)
    endpoint.say({"status": 500, "error": "response_format broke"})
    with pytest.raises(ServiceFailed, match="500"):
        made.chat(ASKED)
    made.chat(ASKED)
    assert [call.form for call in endpoint.calls] == ["json_schema"] * 3


def test_an_endpoint_that_refuses_even_without_a_form_is_asked_no_further(endpoint: Endpoint) -> None:
    endpoint.say(*[{"status": 400, "error": "response_format is unknown here"}] * 3)
    with pytest.raises(ServiceFailed, match="response_format is unknown"):
        model(endpoint, CLOSED).chat(ASKED)
    assert len(endpoint.calls) == 3


@pytest.mark.parametrize(
    ("entry", "reply"),
    [
        ({"text": '{"operations": [{"op": "ad', "cut": True}, '{"operations": [{"op": "ad'),
        ({"text": "as far as it went", "finish": "content_filter"}, "as far as it went"),
        ({"parts": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"parts": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "b"}]}, "b"),
        ({"parts": ["a", "b"]}, "ab"),
        ("<think>Hm.</think>\n{}", "<think>Hm.</think>\n{}"),
        (
            {
                "status": 400,
                "error": "Failed to generate JSON. See 'failed_generation'.",
                "code": "json_validate_failed",
                "more": {"failed_generation": "```json\n{}\n``` of response_format"},
            },
            "```json\n{}\n``` of response_format",
        ),
    ],
    ids=["cut", "filtered", "parts", "thoughts apart", "bare parts", "thoughts", "withheld"],
)
def test_whatever_text_there_is_is_the_reply(endpoint: Endpoint, entry: Any, reply: str) -> None:
    endpoint.say(entry)
    assert model(endpoint, CLOSED).chat(ASKED) == reply
    assert len(endpoint.calls) == 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"status": 429, "error": "slow down", "headers": {"Retry-After": "1"}}, r"no more through \(429\): slow down"),
        ({"status": 429, "error": "no credit", "code": "insufficient_quota"}, "no credit"),
        ({"status": 402, "error": "Insufficient Balance"}, "paid first.*Insufficient"),
        ({"status": 500, "error": "broken"}, r"failed \(500\): broken"),
        ({"status": 502, "html": "<html>Bad gateway</html>"}, r"failed \(502\)$"),
        ({"html": "<!doctype html><p>Sign in</p>"}, "a web page in the place of a reply"),
        ({"body": ""}, "nothing in the place of a reply"),
        ({"body": '{"choices": [{"mess'}, "what is no JSON"),
        ({"body": "[]"}, "what is no JSON"),
        ({"error": "upstream is busy", "code": 503}, r"failed \(503\): upstream is busy"),
        ({"error": "upstream is busy"}, "no reply: upstream is busy"),
        ({"body": '{"choices": []}'}, "no reply$"),
        ({"body": '{"choices": [{}]}'}, "no message"),
        ({"body": '{"choices": [7]}'}, "no message"),
        ({"text": ""}, "replied with nothing"),
        # Somebody will mend the settings, and then all that waits can be asked.
        ({"status": 401, "error": "wrong key"}, "does not accept the key"),
        ({"status": 403, "error": "not yours"}, "403.*not yours"),
        ({"status": 404, "error": "no such model"}, "no such model or address"),
        ({"status": 400, "error": "what is this?"}, "refused the request"),
        ({"status": 307, "headers": {"Location": "http://127.0.0.1:9/"}}, "has moved"),
        ({"error": "no such model", "code": 404}, "no such model"),
        ({"text": None}, "replied with nothing"),
        ({"text": " \n"}, "replied with nothing"),
        ({"parts": [{"type": "image"}, 7]}, "replied with nothing"),
        ({"broken": 30}, "broke off its answer|cannot be reached"),
        ({"dropped": True}, "cannot be reached"),
    ],
)
def test_what_may_pass_has_failed(endpoint: Endpoint, entry: Any, message: str) -> None:
    endpoint.say(entry)
    with pytest.raises(ServiceFailed, match=message) as failed:
        model(endpoint, CLOSED).chat(ASKED)
    assert not isinstance(failed.value, ServiceRefused)
    assert len(endpoint.calls) == 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"status": 400, "error": "This model's maximum context length is 8192 tokens"}, "8192 tokens"),
        ({"status": 413}, "413"),
        ({"text": None, "refusal": "I cannot help with that."}, "declined to answer: I cannot help"),
        ({"text": "", "finish": "content_filter"}, "withheld"),
        ({"text": "", "cut": True}, "raise max_tokens"),
    ],
)
def test_what_would_not_pass_is_refused(endpoint: Endpoint, entry: Any, message: str) -> None:
    endpoint.say(entry)
    with pytest.raises(ServiceRefused, match=message):
        model(endpoint, CLOSED).chat(ASKED)
    assert len(endpoint.calls) == 1


def test_a_server_that_is_not_there_is_said_to_be_so(endpoint: Endpoint) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ServiceFailed, match=f"{address} cannot be reached") as failed:
        model(f"http://{address}/v1").chat(ASKED)
    assert not isinstance(failed.value, ServiceRefused)


def test_silence_is_given_up_on_in_time(endpoint: Endpoint) -> None:
    made = model(endpoint, timeout=0.5)
    endpoint.say({"silence": 20})
    begun = time.monotonic()
    with pytest.raises(ServiceFailed, match=r"did not answer in 0.5 s$") as failed:
        made.chat(ASKED)
    assert time.monotonic() - begun < 10  # far less than the silence; the machine may be busy
    assert not isinstance(failed.value, ServiceRefused)
    assert len(endpoint.calls) == 1


def test_the_time_is_for_all_forms_together(endpoint: Endpoint) -> None:
    made = model(endpoint, CLOSED, timeout=1.0)
    endpoint.say({"status": 400, "error": "response_format?", "silence": 0.3}, {"text": "late", "silence": 20})
    begun = time.monotonic()
    with pytest.raises(ServiceFailed, match="did not answer in 1 s"):
        made.chat(ASKED)
    assert time.monotonic() - begun < 10
    assert [call.form for call in endpoint.calls] == ["json_schema", "json_object"]
    # What was learnt on the way is kept.
    made.chat(ASKED)
    assert endpoint.calls[-1].form == "json_object"


@pytest.mark.parametrize("status", [400, 401, 403, 500, 200])
def test_no_key_comes_into_a_message_or_a_traceback(endpoint: Endpoint, status: int) -> None:
    endpoint.say({"status": status, "error": f"wrong key {KEY} {KEY[:20]}***"})
    made = model(endpoint)
    with pytest.raises(ServiceFailed) as failed:
        made.chat(ASKED)
    assert KEY not in "".join(traceback.format_exception(failed.value)) + repr(made) + repr(vars(made))
    assert "\n" not in str(failed.value)
    assert len(str(failed.value)) < 300


def test_a_key_that_was_changed_is_found_after_a_refusal(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(endpoint)
    endpoint.say({"status": 401})
    with pytest.raises(ServiceFailed):
        made.chat(ASKED)
    monkeypatch.setenv("TEST_MODEL_KEY", "another-made-up-key")
    made.chat(ASKED)
    assert endpoint.calls[-1].headers["authorization"] == "Bearer another-made-up-key"


def test_a_key_is_not_sent_to_where_it_was_not_named_for(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model(endpoint, key="").chat(ASKED)
    assert KEY not in str(endpoint.calls[0].headers)
    endpoint.say({"status": 401})
    with pytest.raises(ServiceFailed, match=r"asks for a key \(401\).*under \[model\]"):
        model(endpoint, key="").chat(ASKED)


def test_a_variable_that_is_missing_is_named_before_anything_is_sent(endpoint: Endpoint) -> None:
    with pytest.raises(UsageError, match="NO_SUCH_KEY_HERE"):
        model(endpoint, key="env:NO_SUCH_KEY_HERE").chat(ASKED)
    assert endpoint.calls == []


def test_a_provider_without_a_key_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    made = OpenAIModel(ModelSettings("deepseek", "some-model"))
    with pytest.raises(UsageError, match=r"DEEPSEEK_API_KEY.*under \[model\]"):
        made.chat(ASKED)


def test_a_deployment_on_azure_gets_its_key_and_version_as_azure_wants_them(endpoint: Endpoint) -> None:
    url = f"http://{endpoint.process.host}/openai/deployments/mine?api-version=2024-10-21"
    model(url, provider="azure").chat(ASKED)
    (call,) = endpoint.calls
    assert call["path"] == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert call.headers["api-key"] == KEY


def test_an_address_that_was_copied_whole_is_meant_the_same(endpoint: Endpoint) -> None:
    model(f"{endpoint.process.url}/chat/completions").chat(ASKED)
    assert endpoint.calls[0]["path"] == "/v1/chat/completions"


def test_half_a_character_does_not_fail_the_rest(endpoint: Endpoint) -> None:
    model(endpoint).chat([{"role": "user", "content": "a\ud800b\0"}])
    assert endpoint.calls[0].text == "a?b\0"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'memoranda\[openai\]'"):
        OpenAIModel(ModelSettings("ollama", "some-model")).chat(ASKED)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.fixed_dictionaries({}, optional={"content": VALUES, "refusal": VALUES})
CHOICES = st.fixed_dictionaries({}, optional={"message": MESSAGES | VALUES, "finish_reason": VALUES})
ANSWERS = (
    VALUES
    | st.fixed_dictionaries({"choices": st.lists(CHOICES | VALUES, max_size=2)})
    | st.dictionaries(st.sampled_from(["error", "message", "choices", "code"]), VALUES)
)


@given(
    status=st.just(200) | st.integers(300, 599),
    body=st.binary(max_size=60) | ANSWERS.map(lambda value: json.dumps(value).encode()),
)
def test_any_answer_is_a_reply_or_is_told_in_few_words(status: int, body: bytes) -> None:
    answered = Answered(status, {}, body, KEY)
    assert not is_about_form(answered) or status in (400, 422)
    reply, why = "", "none"
    try:
        reply = read_reply(answered, "example.org")
    except Refused as refused:
        why = str(refused)
    assert bool(reply.strip()) is (why == "none")
    assert why.isprintable()
    assert len(why) < 300
