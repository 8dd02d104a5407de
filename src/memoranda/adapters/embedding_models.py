"""What is known of embedding models by name: their prefixes, the length of their vectors, the longest input.

A model that was trained with prefixes loses much without them, and says so
nowhere in its answers. Each entry is taken from the model's card (named beside
it) or its maker's documentation; a model that is not here gets no prefixes.
"""

from __future__ import annotations

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["MODELS", "ModelFacts", "model_facts", "prefixes", "space_name"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """``dimension`` is the length of its vectors, ``tokens`` the longest input; 0: not known."""

    query_prefix: str = ""
    document_prefix: str = ""
    dimension: int = 0
    tokens: int = 0


_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_REPRESENT = "Represent this sentence for searching relevant passages: "
_BGE_ZH = "为这个句子生成表示以用于检索相关文章："
_NOMIC = ("search_query: ", "search_document: ")
_E5 = ("query: ", "passage: ")

#: What is known, by the beginning of a model's name in small letters; the longest beginning that fits counts.
MODELS = {
    # huggingface.co/intfloat/multilingual-e5-small (-base, -large), e5-small-v2 (-base-v2, -large-v2)
    "multilingual-e5-": ModelFacts(*_E5, tokens=512),
    "multilingual-e5-small": ModelFacts(*_E5, 384, 512),
    "multilingual-e5-base": ModelFacts(*_E5, 768, 512),
    "multilingual-e5-large": ModelFacts(*_E5, 1024, 512),
    "e5-": ModelFacts(*_E5, tokens=512),
    "e5-small": ModelFacts(*_E5, 384, 512),
    "e5-base": ModelFacts(*_E5, 768, 512),
    "e5-large": ModelFacts(*_E5, 1024, 512),
    # huggingface.co/intfloat/multilingual-e5-large-instruct, e5-mistral-7b-instruct
    "multilingual-e5-large-instruct": ModelFacts(_INSTRUCT + " ", "", 1024, 512),
    "e5-mistral-7b-instruct": ModelFacts(_INSTRUCT + " ", "", 4096, 4096),
    # huggingface.co/BAAI/bge-small-zh-v1.5 (-base, -large), bge-small-en-v1.5 (-base, -large), bge-m3
    "bge-small-zh": ModelFacts(_BGE_ZH, "", 512, 512),
    "bge-base-zh": ModelFacts(_BGE_ZH, "", 768, 512),
    "bge-large-zh": ModelFacts(_BGE_ZH, "", 1024, 512),
    "bge-small-en": ModelFacts(_REPRESENT, "", 384, 512),
    "bge-base-en": ModelFacts(_REPRESENT, "", 768, 512),
    "bge-large-en": ModelFacts(_REPRESENT, "", 1024, 512),
    "bge-m3": ModelFacts("", "", 1024, 8192),
    # huggingface.co/nomic-ai/nomic-embed-text-v1.5, nomic-embed-text-v2-moe
    "nomic-embed-text": ModelFacts(*_NOMIC, 768, 8192),
    "nomic-embed-text-v2": ModelFacts(*_NOMIC, 768, 512),
    # huggingface.co/jinaai/jina-embeddings-v3, jina-embeddings-v4: a "task" beside the text, no prefix
    "jina-embeddings-v3": ModelFacts("", "", 1024, 8192),
    "jina-embeddings-v4": ModelFacts("", "", 2048, 32768),
    # huggingface.co/Qwen/Qwen3-Embedding-0.6B (-4B, -8B): no space before the question
    "qwen3-embedding": ModelFacts(_INSTRUCT, "", 0, 32768),
    # huggingface.co/mixedbread-ai/mxbai-embed-large-v1
    "mxbai-embed-large": ModelFacts(_REPRESENT, "", 1024, 512),
    # huggingface.co/Snowflake/snowflake-arctic-embed-l (-xs, -s, -m, -m-long, -m-v1.5), -l-v2.0, -m-v2.0
    "snowflake-arctic-embed": ModelFacts(_REPRESENT, "", 0, 512),
    "snowflake-arctic-embed-m-long": ModelFacts(_REPRESENT, "", 768, 2048),
    "snowflake-arctic-embed-l-v2": ModelFacts("query: ", "", 1024, 8192),
    "snowflake-arctic-embed-m-v2": ModelFacts("query: ", "", 768, 8192),
    "snowflake-arctic-embed2": ModelFacts("query: ", "", 1024, 8192),
    # huggingface.co/google/embeddinggemma-300m
    "embeddinggemma": ModelFacts("task: search result | query: ", "title: none | text: ", 768, 2048),
    # huggingface.co/sentence-transformers/all-MiniLM-L6-v2
    "all-minilm-l6-v2": ModelFacts("", "", 384, 256),
    # platform.openai.com/docs/guides/embeddings
    "text-embedding-3-small": ModelFacts("", "", 1536, 8192),
    "text-embedding-3-large": ModelFacts("", "", 3072, 8192),
    "text-embedding-ada-002": ModelFacts("", "", 1536, 8192),
    # ai.google.dev/gemini-api/docs/embeddings
    "gemini-embedding-001": ModelFacts("", "", 3072, 2048),
    # docs.voyageai.com/docs/embeddings: an "input_type" beside the text, no prefix
    "voyage-3": ModelFacts("", "", 0, 32000),
    # www.alibabacloud.com/help/en/model-studio/embedding
    "text-embedding-v3": ModelFacts("", "", 1024, 8192),
    "text-embedding-v4": ModelFacts("", "", 1024, 8192),
}


def model_facts(model: str) -> ModelFacts:
    """What is known of a model: by its own name, whoever offers it and however it is tagged."""
    name = model.casefold().rpartition("/")[2]
    names = (name, name.removeprefix("text-embedding-"))  # as LM Studio calls them all
    fitting = [known for known in MODELS if any(one.startswith(known) for one in names)]
    return MODELS[max(fitting, key=len)] if fitting else ModelFacts()


def prefixes(settings: EmbeddingSettings, model: str) -> tuple[str, str]:
    """What is put before a question and before a document: as set, else as the model is known to want."""
    known = model_facts(model)
    query, document = settings.query_prefix, settings.document_prefix
    return known.query_prefix if query is None else query, known.document_prefix if document is None else document


def space_name(provider: str, model: str, dimension: int, place: str, query_prefix: str, document_prefix: str) -> str:
    """A name that changes when the vectors would, as ``ollama:bge-m3@default#localhost:11434``.

    ``dimension`` is what is asked for (0: nothing), ``place`` where an endpoint
    is (empty: in this process). Prefixes count by eight digits of their digest.
    """
    name = f"{provider}:{model}@{dimension or 'default'}"
    if place:
        name += f"#{place}"
    if query_prefix or document_prefix:
        from hashlib import sha256

        name += "+" + sha256(f"{query_prefix}\0{document_prefix}".encode("utf-8", "replace")).hexdigest()[:8]
    return name
