"""Vectors that are paid for once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from memoranda import Vault
from memoranda_bench.datasets import Collection, DataSet, Document, Question
from memoranda_bench.embedded import CachedEmbedder, document_texts, fill
from memoranda_bench.systems.ours import _names


class Counting:
    """Gives a vector of a text's digest, another one for a question, and counts."""

    def __init__(self, model: str = "m/1", dimension: int = 4) -> None:
        self.model, self.dimension, self.asked = model, dimension, 0

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += len(texts)
        return [self._vector("d" + text) for text in texts]

    def embed_query(self, text: str, seconds: float | None = None) -> list[float]:
        self.asked += 1
        return self._vector("q" + text)

    def _vector(self, text: str) -> list[float]:
        return [byte / 4 for byte in hashlib.blake2b(text.encode("utf-8"), digest_size=self.dimension).digest()]


def test_a_text_is_asked_for_once(tmp_path: Path) -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner, str(tmp_path))
    texts = ["a", "b", "a"]
    assert [list(v) for v in embedder.embed_documents(texts)] == Counting().embed_documents(texts)
    assert inner.asked == embedder.asked == 2
    assert list(embedder.embed_query("a")) == Counting().embed_query("a")
    assert list(embedder.embed_query("a", 0.1)) == Counting().embed_query("a")
    assert inner.asked == 3
    again = CachedEmbedder(Counting(), str(tmp_path))
    assert len(again) == 3
    assert [list(v) for v in again.embed_documents(["b", "c"])] == Counting().embed_documents(["b", "c"])
    assert again.asked == 1


def test_two_share_a_file(tmp_path: Path) -> None:
    one, other = (CachedEmbedder(Counting(), str(tmp_path)) for _ in range(2))
    one.embed_documents(["a", "b"])
    other.embed_documents(["b", "c"])
    assert other.asked == 1
    one.embed_documents(["c"])
    assert one.asked == 2
    assert len(CachedEmbedder(Counting(), str(tmp_path))) == 3


@pytest.mark.parametrize("left", [1, 15, 16, 17, 31])
def test_what_a_killed_process_left_unfinished_is_overwritten(tmp_path: Path, left: int) -> None:
    first = CachedEmbedder(Counting(), str(tmp_path))
    first.embed_documents(["a", "b"])
    os.truncate(first.path, os.path.getsize(first.path) - left)
    second = CachedEmbedder(Counting(), str(tmp_path))
    assert len(second) == 1
    second.embed_documents(["c"])
    third = CachedEmbedder(Counting(), str(tmp_path))
    assert [list(v) for v in third.embed_documents(["a", "c"])] == Counting().embed_documents(["a", "c"])
    assert third.asked == 0


def test_a_question_does_not_wait_for_documents(tmp_path: Path) -> None:
    begun, go = Event(), Event()

    class Slow(Counting):
        def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
            begun.set()
            assert go.wait(30)
            return super().embed_documents(texts)

    embedder = CachedEmbedder(Slow(), str(tmp_path))
    thread = Thread(target=embedder.embed_documents, args=(["a"],))
    thread.start()
    try:
        assert begun.wait(30)
        assert list(embedder.embed_query("q")) == Counting().embed_query("q")
        assert thread.is_alive()
    finally:
        go.set()
        thread.join()
    assert len(CachedEmbedder(Counting(), str(tmp_path))) == 2


def test_models_do_not_mix(tmp_path: Path) -> None:
    first = CachedEmbedder(Counting("m/1"), str(tmp_path))
    first.embed_documents(["a"])
    second = CachedEmbedder(Counting("m/2"), str(tmp_path))
    assert len(second) == 0
    # Two names that make one file name.
    with pytest.raises(ValueError, match="holds vectors of m/1"):
        CachedEmbedder(Counting("m:1"), str(tmp_path))
    with pytest.raises(ValueError, match="gave 5 numbers"):
        CachedEmbedder(Counting("m/1", 5), str(tmp_path)).embed_documents(["z"])


TURNS = (
    Document("D1:1", "I saw [[places:home|the house]].", "Ann", "2023-05-08T13:56:00Z", "8 May", 0, "conv-1"),
    Document("D1:2", "明天下雨吗？", "Bob", "2023-05-09T13:56:00Z", "9 May", 1, "conv-1"),
)
PASSAGES = (Document("1", "The boundary layer."), Document("2", "范廷颂是越南罗马天主教枢机。", order=1))


@pytest.mark.parametrize("documents", [TURNS, PASSAGES])
def test_the_texts_are_those_that_a_vault_embeds(tmp_path: Path, documents: tuple[Document, ...]) -> None:
    seen: list[str] = []

    class Seeing(Counting):
        def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
            seen.extend(texts)
            return super().embed_documents(texts)

    (tmp_path / "v").mkdir()
    with Vault.open(str(tmp_path / "v"), embedder=Seeing()) as vault:
        if documents[0].is_turn:
            vault.import_turns(document.as_turn() for document in documents)
        else:
            for document, name in zip(documents, _names(), strict=False):
                vault.remember(f"passages:{name}", document.text)
        vault.embed()
    # Beside them a vault embeds sentences of its own, to know what is near by chance.
    assert set(document_texts(documents)) <= set(seen)


def test_a_set_is_filled(tmp_path: Path) -> None:
    embedder = CachedEmbedder(Counting(), str(tmp_path))
    collection = Collection("c", 1, TURNS, (Question("where?", {"D1:1": 1}),))
    assert fill(embedder, DataSet("s", "en", (collection,))) == 3
    assert fill(embedder, DataSet("s", "en", (collection,))) == 0
