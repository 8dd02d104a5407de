"""Endpoints that speak OpenAI's language of embeddings: in what each differs."""

from __future__ import annotations

from memoranda.adapters.providers import PROVIDERS, Provider
from memoranda.core.records import dataclass

__all__ = ["ENDPOINTS", "Endpoint"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider's embeddings.

    ``batch`` is how many texts it takes at most. ``encoding`` and
    ``dimension_name`` are what it wants in the place of OpenAI's ``"float"``
    and ``dimensions``; ``query`` and ``document`` are what it is told beside
    the texts, for models that begin with ``told``.
    """

    provider: Provider
    model: str
    batch: int = 2048
    encoding: str = "float"
    dimension_name: str = "dimensions"
    told: str = ""
    query: tuple[tuple[str, str], ...] = ()
    document: tuple[tuple[str, str], ...] = ()

    def beside(self, model: str, question: bool) -> dict[str, str]:
        """What is sent beside the texts."""
        told = self.query if question else self.document
        return dict(told) if model.rpartition("/")[2].casefold().startswith(self.told) else {}


#: Endpoints by the value of the setting ``provider`` under ``[embedding]``.
ENDPOINTS = {
    entry.provider.name: entry
    for entry in (
        Endpoint(PROVIDERS["openai"], "text-embedding-3-small"),
        Endpoint(PROVIDERS["openrouter"], "openai/text-embedding-3-small"),
        # It refuses encoding_format="float" and dimensions, and tells questions from documents itself.
        Endpoint(
            PROVIDERS["voyage"],
            "voyage-3.5",
            batch=1000,
            encoding="base64",
            dimension_name="output_dimension",
            query=(("input_type", "query"),),
            document=(("input_type", "document"),),
        ),
        Endpoint(
            PROVIDERS["jina"],
            "jina-embeddings-v3",
            told="jina-embeddings-v3",
            query=(("task", "retrieval.query"),),
            document=(("task", "retrieval.passage"),),
        ),
        # "at most 100 requests can be in one batch"; the first answer has no index, for it would be 0.
        Endpoint(PROVIDERS["gemini"], "gemini-embedding-001", batch=100),
        Endpoint(PROVIDERS["azure"], "text-embedding-3-small"),
        # "batch size is invalid, it should not be larger than 10"
        Endpoint(PROVIDERS["dashscope"], "text-embedding-v4", batch=10),
        Endpoint(PROVIDERS["ollama"], "nomic-embed-text"),
        Endpoint(PROVIDERS["lmstudio"], "text-embedding-nomic-embed-text-v1.5"),
    )
}
