"""An embedder before a real server that behaves well, badly, and not at all."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from embedding_endpoint import Answer, EmbeddingEndpoint, Request, encoded, vectors
from fakes.embedder import word_vector
from memoranda.adapters.openai_embedder import OpenAIEmbedder
from memoranda.core.errors import ServiceFailed, UsageError
from memoranda.storage.embedding_settings import EmbeddingSettings

pytest.importorskip("openai", reason="the extra openai is not installed")

#: Made up: no credential of anything.
KEY = "made-up-key-0123456789abcdef"
TEXTS = ["a red house", "two blue boats", "三只猫"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("TEST_EMBEDDING_KEY", KEY)


@pytest.fixture
def endpoint() -> Iterator[EmbeddingEndpoint]:
    with EmbeddingEndpoint() as made:
        yield made


@pytest.fixture
def pauses() -> list[float]:
    return []


def embedder(endpoint: EmbeddingEndpoint | str, pauses: list[float] | None = None, **changes: Any) -> OpenAIEmbedder:
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    settings = {"provider": "openai", "model": "some-model", "base_url": url, "key": "env:TEST_EMBEDDING_KEY"} | changes
    slept = pauses if pauses is not None else []
    made = OpenAIEmbedder(EmbeddingSettings(**settings), sleep=slept.append, chance=lambda: 1.0)
    made.warm()
    return made


def near(given: Any, text: str, dimension: int = 64) -> bool:
    return list(given) == pytest.approx(word_vector(text, dimension))


def test_each_text_has_its_vector_and_what_is_sent_is_what_openai_documents(endpoint: EmbeddingEndpoint) -> None:
    found = embedder(endpoint, dimension=32).embed_documents(TEXTS)
    assert all(near(vector, text, 32) for vector, text in zip(found, TEXTS, strict=True))
    (request,) = endpoint.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "some-model", "input": TEXTS, "encoding_format": "float", "dimensions": 32}


def test_no_texts_are_no_request(endpoint: EmbeddingEndpoint) -> None:
    assert list(embedder(endpoint).embed_documents([])) == []
    assert endpoint.requests == []


def test_three_times_too_many_requests_then_vectors(endpoint: EmbeddingEndpoint, pauses: list[float]) -> None:
    endpoint.script = [Answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "1"})] * 3
    assert len(embedder(endpoint, pauses).embed_documents(TEXTS)) == 3
    assert len(endpoint.requests) == 4
    assert all(1.0 <= pause <= 1.5 for pause in pauses)
    assert len(pauses) == 3


def test_a_date_to_come_back_at_is_honoured_and_bounded(endpoint: EmbeddingEndpoint, pauses: list[float]) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=20)
    endpoint.script = [
        Answer(429, {}, {"Retry-After": format_datetime(soon, usegmt=True)}),
        Answer(503, {}, {"Retry-After": "86400"}),
        Answer(503, {}, {"Retry-After": "soon"}),
    ]
    embedder(endpoint, pauses).embed_documents(TEXTS)
    assert 10 < pauses[0] < 21
    assert 60 <= pauses[1] < 61
    assert pauses[2] == 2.0


@pytest.mark.parametrize(
    "fault",
    [
        Answer(500, {"error": "broken"}),
        Answer(502, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"}),
        Answer(200, b"<!doctype html><p>Sign in</p>", {"Content-Type": "text/html"}),
        Answer(200, {"error": {"message": "upstream is busy", "code": 503}}),
        Answer(200, {"error": "upstream is busy"}),
        Answer(200, b""),
        Answer(200, b'{"data": [{"embed'),
        Answer(200, b'{"data": [{"embedding": [1.0, 2.0]}]}', cut=12),
    ],
    ids=["500", "502 page", "200 page", "200 error", "200 text error", "empty", "half", "broken off"],
)
def test_what_passes_is_tried_again(endpoint: EmbeddingEndpoint, pauses: list[float], fault: Answer) -> None:
    endpoint.script = [fault]
    found = embedder(endpoint, pauses).embed_documents(TEXTS)
    assert near(found[2], TEXTS[2])
    assert pauses == [0.5]


def test_what_does_not_pass_is_given_up_after_six_tries(endpoint: EmbeddingEndpoint, pauses: list[float]) -> None:
    endpoint.usual = lambda request: Answer(500, {"error": {"message": "x" * 5000}})
    with pytest.raises(ServiceFailed, match=r"failed \(500\).*tried 6 times") as failed:
        embedder(endpoint, pauses).embed_documents(TEXTS)
    assert len(endpoint.requests) == 6
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert len(str(failed.value)) < 300


@pytest.mark.parametrize("status", [400, 401, 403, 404, 307])
def test_what_would_be_refused_again_is_not_tried_again(endpoint: EmbeddingEndpoint, status: int) -> None:
    elsewhere = {"Location": "http://127.0.0.1:9/v1/embeddings"}
    endpoint.usual = lambda request: Answer(status, {"error": {"message": "no such thing"}}, elsewhere)
    with pytest.raises(ServiceFailed, match=str(status)):
        embedder(endpoint).embed_documents(TEXTS)
    assert len(endpoint.requests) == 1


def test_money_that_is_spent_is_not_asked_for_again(endpoint: EmbeddingEndpoint) -> None:
    endpoint.usual = lambda request: Answer(429, {"error": {"message": "no credit", "code": "insufficient_quota"}})
    with pytest.raises(ServiceFailed, match="no credit"):
        embedder(endpoint).embed_documents(TEXTS)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_no_key_comes_into_a_message_or_a_traceback(
    endpoint: EmbeddingEndpoint, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    endpoint.usual = lambda request: Answer(status, {"error": {"message": f"wrong key {KEY} {KEY[:20]}***"}})
    made = embedder(endpoint)
    with pytest.raises(ServiceFailed) as failed:
        made.embed_documents(TEXTS)
    shown = "".join(traceback.format_exception(failed.value)) + repr(made) + repr(vars(made)) + made.model
    assert KEY not in shown
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("memoranda"))


def test_a_key_that_was_changed_is_found_after_a_refusal(
    endpoint: EmbeddingEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = embedder(endpoint)
    endpoint.script = [Answer(401, {})]
    with pytest.raises(ServiceFailed, match="does not accept the key"):
        made.embed_query("a")
    monkeypatch.setenv("TEST_EMBEDDING_KEY", "another-made-up-key")
    made.embed_query("a")
    assert endpoint.requests[-1].headers["authorization"] == "Bearer another-made-up-key"


def test_a_key_is_not_sent_to_where_it_was_not_named_for(
    endpoint: EmbeddingEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder(endpoint, key="").embed_query("a")
    assert KEY not in str(endpoint.requests[0].headers)
    endpoint.script = [Answer(401, {})]
    with pytest.raises(ServiceFailed, match="asks for a key"):
        embedder(endpoint, key="").embed_query("a")


def test_a_variable_that_is_missing_is_named_before_anything_is_sent(endpoint: EmbeddingEndpoint) -> None:
    with pytest.raises(UsageError, match="NO_SUCH_KEY_HERE"):
        embedder(endpoint, key="env:NO_SUCH_KEY_HERE").embed_documents(TEXTS)
    assert endpoint.requests == []


def changed(change: Any) -> Any:
    def answer(request: Request) -> Answer:
        made = vectors(request)
        made.body["data"] = change(made.body["data"])
        return made

    return answer


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "2 vectors for 3 texts"),
        (lambda data: [*data, data[0]], "4 vectors for 3 texts"),
        (lambda data: [one | {"embedding": one["embedding"][:-1]} for one in data], "63 numbers where 64 were asked"),
        (lambda data: [data[0], data[1] | {"embedding": [1.0]}, data[2]], "1 numbers where 64"),
        (lambda data: [one | {"embedding": [float("nan")] * 64} for one in data], "no number"),
        (lambda data: [one | {"embedding": [1e300] * 64} for one in data], "no number"),
        (lambda data: [one | {"embedding": ["1"] * 64} for one in data], "no number"),
        (lambda data: [one | {"embedding": "!!"} for one in data], "no number"),
        (lambda data: [one | {"embedding": []} for one in data], "of no numbers"),
        (lambda data: [one | {"embedding": None} for one in data], "of no numbers"),
        (lambda data: [one | {"index": 7} for one in data], "index"),
        (lambda data: [one | {"index": "0"} for one in data], "no vectors"),
        (lambda data: [1, 2, 3], "no vectors"),
    ],
)
def test_an_answer_that_cannot_be_true_is_refused(endpoint: EmbeddingEndpoint, change: Any, message: str) -> None:
    endpoint.usual = changed(change)
    with pytest.raises(ServiceFailed, match=message):
        embedder(endpoint, dimension=64).embed_documents(TEXTS)
    assert len(endpoint.requests) == 1


def test_a_length_that_changes_on_the_way_is_refused(endpoint: EmbeddingEndpoint) -> None:
    made = embedder(endpoint)
    made.embed_documents(TEXTS)
    endpoint.usual = lambda request: vectors(request, 32)
    with pytest.raises(ServiceFailed, match="32 numbers where 64 came before"):
        made.embed_query("a")


def test_vectors_are_put_in_order_by_their_index(endpoint: EmbeddingEndpoint) -> None:
    def mixed(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
        del data[0]["index"]  # one leaves out what is 0
        return [data[2], data[0], data[1]]

    endpoint.usual = changed(mixed)
    found = embedder(endpoint).embed_documents(TEXTS)
    assert all(near(vector, text) for vector, text in zip(found, TEXTS, strict=True))


@pytest.mark.parametrize("index", [0, None])
def test_vectors_without_a_telling_index_stand_in_order(endpoint: EmbeddingEndpoint, index: int | None) -> None:
    endpoint.usual = changed(lambda data: [one | {"index": index} for one in data])
    found = embedder(endpoint).embed_documents(TEXTS)
    assert all(near(vector, text) for vector, text in zip(found, TEXTS, strict=True))


def test_base64_is_read_too(endpoint: EmbeddingEndpoint) -> None:
    endpoint.usual = encoded
    found = embedder(endpoint).embed_documents(TEXTS)
    assert all(near(vector, text) for vector, text in zip(found, TEXTS, strict=True))


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_batch_that_is_too_large_is_halved_until_it_is_taken(endpoint: EmbeddingEndpoint, status: int) -> None:
    refusal = Answer(status, {"error": {"message": "batch size is invalid, it should not be larger than 10"}})
    endpoint.usual = lambda request: refusal if len(request.texts) > 10 else vectors(request)
    texts = [f"text {number} of many" for number in range(100)]
    found = embedder(endpoint, batch=64).embed_documents(texts)
    assert all(near(vector, text) for vector, text in zip(found, texts, strict=True))
    # 64 in halves to 8: seven refusals; then by eight.
    assert len(endpoint.requests) == 7 + 8 + 5


def test_a_text_that_is_too_long_is_cut_and_the_others_are_not(endpoint: EmbeddingEndpoint) -> None:
    refusal = Answer(400, {"error": {"message": "This model's maximum context length is 100 tokens"}})
    endpoint.usual = lambda r: refusal if any(len(text) > 100 for text in r.texts) else vectors(r)
    texts = ["short one", "long " * 200, "another"]
    found = embedder(endpoint).embed_documents(texts)
    assert near(found[0], texts[0])
    assert near(found[1], texts[1][:62])
    assert near(found[2], texts[2])


def test_a_text_that_is_refused_however_short_is_named(endpoint: EmbeddingEndpoint) -> None:
    refusal = Answer(400, {"error": {"message": "input is too long"}})
    endpoint.usual = lambda r: refusal if any(text.startswith("cursed") for text in r.texts) else vectors(r)
    with pytest.raises(ServiceFailed, match=r"text 2 of 3 \('cursed"):
        embedder(endpoint).embed_documents(["fine", "cursed " * 30, "fine too"])


def test_one_long_text_does_not_make_all_later_batches_small(endpoint: EmbeddingEndpoint) -> None:
    refusal = Answer(413, {})
    endpoint.usual = lambda r: refusal if any(len(text) > 100 for text in r.texts) else vectors(r)
    made = embedder(endpoint, batch=8)
    made.embed_documents(["long " * 40, *["short"] * 7])
    endpoint.requests.clear()
    made.embed_documents(["short"] * 16)
    assert [len(request.texts) for request in endpoint.requests] == [8, 8]


def test_much_text_is_sent_in_parts(endpoint: EmbeddingEndpoint) -> None:
    embedder(endpoint).embed_documents(["x" * 90_000] * 5)
    assert [len(request.texts) for request in endpoint.requests] == [2, 2, 1]


def test_an_empty_text_and_half_a_character_are_sent_as_what_can_be(endpoint: EmbeddingEndpoint) -> None:
    assert len(embedder(endpoint).embed_documents(["", "  \n", "a\ud800b\0"])) == 3
    assert endpoint.requests[0].texts == [" ", " ", "a?b\0"]


def test_prefixes_are_put_before_what_is_embedded(endpoint: EmbeddingEndpoint) -> None:
    made = embedder(endpoint, model="intfloat/multilingual-e5-base", query_prefix="ask: ")
    made.embed_documents(["a"])
    made.embed_query("b")
    assert [request.texts for request in endpoint.requests] == [["passage: a"], ["ask: b"]]


@pytest.mark.parametrize(
    "fault",
    [Answer(silence=30), Answer(body=b" " * 4000, trickle=0.05), Answer(500, b" " * 4000, trickle=0.05)],
    ids=["silence", "trickle", "trickled error"],
)
def test_a_question_is_given_up_on_in_time(endpoint: EmbeddingEndpoint, fault: Answer) -> None:
    made = embedder(endpoint)
    made.embed_query("so that all is loaded")
    endpoint.usual = lambda request: fault
    begun = time.monotonic()
    with pytest.raises(ServiceFailed, match=r"did not answer in 0.3 s$"):
        made.embed_query("a", 0.3)
    assert time.monotonic() - begun < 5  # far less than the silence; the machine may be busy
    assert len(endpoint.requests) == 2


def test_documents_are_given_up_on_too(endpoint: EmbeddingEndpoint, pauses: list[float]) -> None:
    endpoint.script = [Answer(body=b" " * 4000, trickle=0.05)]
    assert len(embedder(endpoint, pauses, timeout=0.6).embed_documents(TEXTS)) == 3
    assert pauses == [0.5]


def test_many_that_hang_do_not_pile_up(endpoint: EmbeddingEndpoint) -> None:
    made = embedder(endpoint)
    made.embed_query("so that all is loaded")
    endpoint.usual = lambda request: Answer(silence=30)
    for _ in range(20):
        with pytest.raises(ServiceFailed):
            made.embed_query("a", 0.01)
    endpoint.usual = vectors
    assert near(made.embed_query("b", 20), "b")


def test_a_question_is_tried_once(endpoint: EmbeddingEndpoint, pauses: list[float]) -> None:
    endpoint.script = [Answer(503, {})]
    with pytest.raises(ServiceFailed, match="503"):
        embedder(endpoint, pauses).embed_query("a", 20)
    assert len(endpoint.requests) == 1
    assert pauses == []


def test_a_question_that_is_too_long_is_cut(endpoint: EmbeddingEndpoint) -> None:
    endpoint.usual = lambda r: Answer(413, {}) if len(r.texts[0]) > 100 else vectors(r)
    assert near(embedder(endpoint).embed_query("word " * 100), ("word " * 100)[:62])


def test_a_server_that_is_not_there_is_said_to_be_so(pauses: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ServiceFailed, match=f"{address} cannot be reached.*tried 6 times"):
        embedder(f"http://{address}/v1", pauses).embed_documents(TEXTS)
    assert len(pauses) == 5


def test_an_answer_without_end_is_not_read_to_its_end(endpoint: EmbeddingEndpoint) -> None:
    endpoint.usual = lambda request: Answer(body=b" " * 8_000_000)
    with pytest.raises(ServiceFailed, match="more than vectors can be"):
        embedder(endpoint).embed_query("a")


def test_a_deployment_on_azure_gets_its_key_and_version_as_azure_wants_them(endpoint: EmbeddingEndpoint) -> None:
    url = f"http://{endpoint.host}/openai/deployments/mine?api-version=2024-02-01"
    made = embedder(url, provider="azure")
    made.embed_query("a")
    (request,) = endpoint.requests
    assert request.path == "/openai/deployments/mine/embeddings?api-version=2024-02-01"
    assert request.headers["api-key"] == KEY
    assert made.model == f"azure:some-model@default#{endpoint.host}/openai/deployments/mine"


def test_voyage_is_told_what_it_wants_to_know(endpoint: EmbeddingEndpoint) -> None:
    made = embedder(endpoint, provider="voyage", model="", dimension=64)
    endpoint.usual = encoded
    made.embed_documents(["a"])
    made.embed_query("b")
    sent = {"model": "voyage-3.5", "encoding_format": "base64", "output_dimension": 64}
    assert endpoint.requests[0].body == sent | {"input": ["a"], "input_type": "document"}
    assert endpoint.requests[1].body == sent | {"input": ["b"], "input_type": "query"}
