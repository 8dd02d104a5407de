"""Which language model the settings name, and by what it is asked: a table that is read before anything is imported."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memoranda.adapters.openai_model import OpenAIModel
    from memoranda.storage.model_settings import ModelSettings

__all__ = ["MODEL_PROVIDERS", "language_model_for"]

#: The values of the setting ``provider`` under ``[model]``, and what each is.
MODEL_PROVIDERS = {
    "openai": "OpenAI, or whatever speaks its language at base_url",
    "openrouter": "OpenRouter",
    "anthropic": "Anthropic's Claude, by the endpoint that speaks OpenAI's language",
    "gemini": "Google's Gemini",
    "azure": "OpenAI's models on Azure, at base_url",
    "deepseek": "DeepSeek",
    "dashscope": "Alibaba Cloud's Model Studio",
    "moonshot": "Moonshot AI's Kimi",
    "zhipu": "Zhipu's GLM",
    "groq": "Groq",
    "mistral": "Mistral AI",
    "ollama": "an Ollama server, on this machine by default",
    "lmstudio": "an LM Studio server, on this machine by default",
}


def language_model_for(settings: ModelSettings, schema: Mapping[str, Any] | None = None) -> OpenAIModel:
    """The model that the settings name, to reply in JSON of this ``schema`` (``None``: in whatever text).

    Nothing is imported, asked or read yet: a package that is missing, or a
    credential, shows at the first call.

    Raises:
        UsageError: there is no provider of that name, no model was named, or
            the address cannot be one.
    """
    name = settings.provider.strip().casefold()
    if name not in MODEL_PROVIDERS:
        raise UsageError(f"there is no model provider {settings.provider!r}; there are: {', '.join(MODEL_PROVIDERS)}")
    if not settings.model.strip():
        raise UsageError('[model] names a provider and no model: model = "NAME"')
    from memoranda.adapters.openai_model import OpenAIModel

    return OpenAIModel(replace(settings, provider=name, model=settings.model.strip()), schema)
