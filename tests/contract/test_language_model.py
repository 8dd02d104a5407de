"""What every language model promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.language_model import ScriptedModel
from memoranda.adapters.language_models import language_model_for
from memoranda.core.errors import ServiceFailed, ServiceRefused
from memoranda.core.ports import LanguageModel
from memoranda.storage.model_settings import ModelSettings
from model_endpoint import ModelEndpoint

ECHO = "def reply(text):\n    return 'You said: ' + text\n"


@dataclass
class Subject:
    """A model, and how to make it behave."""

    model: LanguageModel
    say: Callable[[str], object]
    fail: Callable[[], object]
    refuse: Callable[[], object]
    asked: Callable[[], list[list[dict[str, str]]]]


@pytest.fixture(params=["fake", "endpoint"], scope="module")
def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """By itself it says back what it was told."""
    if request.param == "fake":
        fake = ScriptedModel(usual=lambda text: f"You said: {text}")
        yield Subject(
            fake,
            fake.script.append,
            lambda: fake.script.append(ServiceFailed("busy")),
            lambda: fake.script.append(ServiceRefused("too long")),
            lambda: fake.calls,
        )
        return
    if find_spec("openai") is None:
        pytest.skip("the extra openai is not installed")
    with pytest.MonkeyPatch.context() as patch, ModelEndpoint(tmp_path_factory.mktemp("model"), ECHO) as endpoint:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        yield Subject(
            language_model_for(ModelSettings(**endpoint.settings)),
            endpoint.say,
            lambda: endpoint.say({"status": 503, "error": "busy"}),
            lambda: endpoint.say({"status": 400, "error": "maximum context length is 10 tokens"}),
            lambda: [call.body["messages"] for call in endpoint.calls],
        )


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_reply_is_the_text_as_it_came(subject: Subject) -> None:
    subject.say(' \n{"half": "a rep')
    assert subject.model.chat(user("hello")) == ' \n{"half": "a rep'


def test_one_call_is_one_request_of_all_messages_in_their_order(subject: Subject) -> None:
    before = len(subject.asked())
    messages = [
        {"role": "system", "content": "You keep notes."},
        {"role": "user", "content": "我喜欢海边。"},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "And?"},
    ]
    assert subject.model.chat(messages) == "You said: And?"
    assert subject.asked()[before:] == [messages]
    assert messages[0] == {"role": "system", "content": "You keep notes."}


def test_what_was_given_is_not_changed_and_tuples_will_do(subject: Subject) -> None:
    given_ = tuple(user("a\ud800b"))
    subject.model.chat(given_)
    assert given_ == ({"role": "user", "content": "a\ud800b"},)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(["\0", "\r\n", "\u2028"]))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_goes_there_and_comes_back(subject: Subject, text: str) -> None:
    assert subject.model.chat(user(text)) == f"You said: {text}"


def test_after_a_fault_there_is_no_reply_and_no_other_request_and_then_there_is_one(subject: Subject) -> None:
    before = len(subject.asked())
    subject.fail()
    with pytest.raises(ServiceFailed) as failed:
        subject.model.chat(user("a"))
    assert not isinstance(failed.value, ServiceRefused)
    assert len(subject.asked()) == before + 1
    assert subject.model.chat(user("a")) == "You said: a"


def test_what_would_be_refused_again_is_told_from_what_passes(subject: Subject) -> None:
    subject.refuse()
    with pytest.raises(ServiceRefused):
        subject.model.chat(user("a"))


def test_several_threads_get_their_own_replies(subject: Subject) -> None:
    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(lambda number: subject.model.chat(user(f"number {number}")), range(24)))
    assert replies == [f"You said: number {number}" for number in range(24)]
