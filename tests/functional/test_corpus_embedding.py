"""Corpora with an embedder of their own, at endpoints that count what they are asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedding_endpoint import EmbeddingEndpoint
from memoranda.bootstrap import Vault
from memoranda.core.errors import UsageError
from observing import write

pytest.importorskip("openai", reason="the extra openai is not installed")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "made-up-key-0123456789abcdef")


@pytest.fixture
def first() -> Iterator[EmbeddingEndpoint]:
    with EmbeddingEndpoint() as made:
        yield made


@pytest.fixture
def second() -> Iterator[EmbeddingEndpoint]:
    with EmbeddingEndpoint() as made:
        yield made


def table(endpoint: EmbeddingEndpoint, model: str) -> dict[str, str]:
    return {"provider": "openai", "model": model, "base_url": endpoint.url, "key": "env:TEST_KEY"}


def texts(endpoint: EmbeddingEndpoint) -> set[str]:
    return {text for request in endpoint.requests for text in request.texts}


def put(vault: Path, corpus: str, text: str, embedding: dict[str, str] | None = None) -> None:
    write(vault, f"docs/{corpus}/d.md", f"# D\n\n{text}\n")
    if embedding is not None:
        write(vault, f"docs/{corpus}/corpus.json", json.dumps({"embedding": embedding}))


def test_each_corpus_is_embedded_by_its_own_and_found_by_it(
    tmp_path: Path, first: EmbeddingEndpoint, second: EmbeddingEndpoint
) -> None:
    rows = "".join(f'{key} = "{value}"\n' for key, value in table(first, "one").items())
    write(tmp_path, "memoranda.toml", f"[embedding]\n{rows}")
    put(tmp_path, "usual", "the red lighthouse stands on the cliff")
    put(tmp_path, "apart", "a blue submarine under the ice", table(second, "two"))
    put(tmp_path, "silent", "the green parrot speaks", {"provider": "none"})
    with Vault.open(tmp_path) as vault:
        vault.remember("c:a", "the white horse")
        vault.embed()
        assert any("lighthouse" in text for text in texts(first))
        assert any("white horse" in text for text in texts(first))
        assert not any("submarine" in text or "parrot" in text for text in texts(first))
        assert any("submarine" in text for text in texts(second))
        assert not any("lighthouse" in text or "parrot" in text for text in texts(second))
        for corpus, word in (("usual", "lighthouse"), ("apart", "submarine")):
            found = vault.retrieve(
                f"{word} cliff ice", levels=("passage",), corpora=(corpus,), mode="vector", deadline=30
            )
            assert word in found.hits[0].text
            assert found.unavailable == []
        both = vault.retrieve("lighthouse submarine parrot", levels=("item", "passage"), deadline=30)
        assert {hit.address.split("/")[1] for hit in both.hits} == {"usual", "apart", "silent"}
        # Nothing changed: nothing is asked but questions.
        counts = [len(endpoint.requests) for endpoint in (first, second)]
        assert vault.embed().embedded == 0
        assert [len(endpoint.requests) for endpoint in (first, second)] == counts
        # Removed, its vector goes from its own space.
        vault.library.remove("apart", ["d"])
        assert not list((tmp_path / ".cache/vectors.corpora/apart").rglob("*d*.md"))
        keys = tmp_path / ".cache/vectors.corpora/apart/vectors.keys.jsonl"
        assert not keys.exists() or "kb/apart/d" not in keys.read_text("utf-8")


def test_a_corpus_alone_may_have_vectors_and_give_them_up(tmp_path: Path, second: EmbeddingEndpoint) -> None:
    put(tmp_path, "apart", "a blue submarine under the ice", table(second, "two"))
    with Vault.open(tmp_path) as vault:
        assert vault.embed().embedded >= 1
        assert vault.retrieve("submarine", levels=("passage",), mode="vector", deadline=30).unavailable == []
        assert vault.retrieve("submarine", mode="vector").unavailable == ["vectors: not configured; keyword answered"]
        assert (tmp_path / ".cache/vectors.corpora/apart").is_dir()
        vault.library.configure("apart", {"embedding": None})
        with pytest.raises(UsageError, match="no embedder"):
            vault.embed()
        assert not (tmp_path / ".cache/vectors.corpora/apart").exists()
        assert vault.retrieve("submarine", levels=("passage",)).hits


def test_an_endpoint_that_is_down_costs_its_corpus_its_signal(tmp_path: Path, second: EmbeddingEndpoint) -> None:
    put(tmp_path, "apart", "a blue submarine under the ice", table(second, "two"))
    with Vault.open(tmp_path) as vault:
        vault.embed()
    second.__exit__(None, None, None)
    with Vault.open(tmp_path) as vault:
        found = vault.retrieve("submarine", levels=("passage",))
        assert "submarine" in found.hits[0].text
        assert any(one.startswith("vectors:") for one in found.unavailable)


@pytest.mark.parametrize("said", [{"provider": 3}, {"key": "sk-secret"}, {"unknown": "x"}, "openai"])
def test_settings_that_mean_nothing_are_refused_and_no_secret_is_shown(tmp_path: Path, said: object) -> None:
    with Vault.open(tmp_path) as vault:
        with pytest.raises(UsageError) as caught:
            vault.library.configure("c", {"embedding": said})
        assert "sk-secret" not in str(caught.value)
    write(tmp_path, "docs/c/corpus.json", json.dumps({"embedding": said}))
    write(tmp_path, "docs/c/d.md", "# D\n\nsubmarine\n")
    with Vault.open(tmp_path) as vault:
        assert vault.retrieve("submarine", levels=("passage",)).hits
        assert any(problem.kind == "settings" for problem in vault.check())
