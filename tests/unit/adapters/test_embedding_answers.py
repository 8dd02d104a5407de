"""What an endpoint may answer, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.embedding_answers import read_answer
from memoranda.adapters.endpoint_answers import Refused, describe_status, retry_after, shown

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries({}, optional={"index": VALUES, "embedding": VALUES, "object": VALUES})
ANSWERS = (
    VALUES
    | st.fixed_dictionaries({"data": st.lists(ENTRIES | VALUES, max_size=3)})
    | st.dictionaries(st.sampled_from(["error", "message", "detail", "code", "data"]), VALUES)
)


@given(body=st.binary(max_size=60) | ANSWERS.map(lambda value: json.dumps(value).encode()), count=st.integers(1, 3))
def test_an_answer_is_vectors_or_is_refused_in_few_words(body: bytes, count: int) -> None:
    vectors, why = [], None
    try:
        vectors = read_answer(body, count, "example.org", "made-up-key")
    except Refused as refused:
        why = str(refused)
    if why is None:
        assert len(vectors) == count
        assert all(vectors)
    else:
        assert len(why) < 300
        assert why.isprintable()


@given(
    status=st.integers(300, 599), body=st.binary(max_size=60) | ANSWERS.map(lambda value: json.dumps(value).encode())
)
def test_every_status_is_told_in_few_words(status: int, body: bytes) -> None:
    refused = describe_status(status, body, {}, "example.org", "made-up-key")
    assert str(status) in str(refused)
    assert len(str(refused)) < 300
    assert not (refused.again and refused.size)


@given(order=st.permutations(range(5)))
def test_the_index_says_whose_vector_it_is(order: list[int]) -> None:
    body = json.dumps({"data": [{"index": at, "embedding": [float(at), 1.0]} for at in order]}).encode()
    assert [vector[0] for vector in read_answer(body, 5, "example.org", "")] == [0, 1, 2, 3, 4]


@given(text=st.text(max_size=400))
def test_foreign_words_are_one_short_line_without_the_key(text: str) -> None:
    line = shown(f"{text}made-up-key{text}", "made-up-key")
    assert len(line) <= 160
    assert "made-up-key" not in line
    assert line.isprintable()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "3600"}, 60.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
    ],
)
def test_what_retry_after_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("status", "words", "size"),
    [
        (413, "", True),
        (400, "This model's maximum context length is 8192 tokens, however you requested 25701 tokens", True),
        (400, "the input length exceeds the context length", True),
        (400, "batch size is invalid, it should not be larger than 10.: input.contents", True),
        (400, "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch", True),
        (500, "input is too large to process. increase the physical batch size", True),
        (429, "Request too large for text-embedding-3-small", True),
        (429, "Rate limit exceeded: too many requests, limit 20", False),
        (400, "unknown parameter: dimensions", False),
        (403, "your quota exceeds the limit", False),
        (503, "too many requests waiting", False),
    ],
)
def test_a_refusal_of_size_is_told_from_others(status: int, words: str, size: bool) -> None:
    body: Any = {"error": {"message": words}}
    assert describe_status(status, json.dumps(body).encode(), {}, "example.org", "").size is size
