"""Who offers models behind an endpoint that speaks OpenAI's language: where each is, and where its credential is."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

__all__ = ["PROVIDERS", "Place", "Provider", "read_place"]


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider.

    ``variables`` are where its credential usually is; they are read by
    themselves for its own ``hosts`` only (names, or ends of names with a dot),
    so that no credential goes to where a settings file points instead.
    ``asks_no_key`` is a server on this machine.
    """

    name: str
    base_url: str
    variables: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    asks_no_key: bool = False


#: Providers by the value of the setting ``provider``; not each has models of every kind.
PROVIDERS = {
    entry.name: entry
    for entry in (
        Provider("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), ("api.openai.com",)),
        Provider("openrouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), ("openrouter.ai",)),
        Provider("voyage", "https://api.voyageai.com/v1", ("VOYAGE_API_KEY",), ("api.voyageai.com",)),
        Provider("jina", "https://api.jina.ai/v1", ("JINA_API_KEY",), ("api.jina.ai",)),
        Provider(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            ("generativelanguage.googleapis.com",),
        ),
        # https://NAME.openai.azure.com/openai/v1, or .../openai/deployments/NAME?api-version=...
        Provider(
            "azure",
            "",
            ("AZURE_OPENAI_API_KEY",),
            (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com", ".openai.azure.us"),
        ),
        Provider(
            "dashscope",
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            ("DASHSCOPE_API_KEY",),
            ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        ),
        Provider("deepseek", "https://api.deepseek.com", ("DEEPSEEK_API_KEY",), ("api.deepseek.com",)),
        # The second host is the one inside China; a key of one is not known to the other.
        Provider(
            "moonshot",
            "https://api.moonshot.ai/v1",
            ("MOONSHOT_API_KEY",),
            ("api.moonshot.ai", "api.moonshot.cn"),
        ),
        Provider(
            "zhipu",
            "https://open.bigmodel.cn/api/paas/v4",
            ("ZHIPUAI_API_KEY", "BIGMODEL_API_KEY", "ZAI_API_KEY"),
            ("open.bigmodel.cn", "api.z.ai"),
        ),
        Provider("groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), ("api.groq.com",)),
        Provider("mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), ("api.mistral.ai",)),
        Provider("anthropic", "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), ("api.anthropic.com",)),
        Provider("ollama", "http://localhost:11434/v1", asks_no_key=True),
        Provider("lmstudio", "http://localhost:1234/v1", asks_no_key=True),
    )
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an endpoint is: its address without a query, what the query said, and how it is called in messages.

    ``name`` is the host with its port, and the path where that is more than
    ``/v1``: it has no credential in it. ``own`` tells whether it is the
    provider's own host.
    """

    url: str
    query: tuple[tuple[str, str], ...]
    host: str
    name: str
    own: bool


def read_place(provider: Provider, base_url: str, table: str, end: str) -> Place:
    """The place that the settings name, else the provider's usual one.

    ``table`` is the table of the settings, for messages: ``embedding``. ``end``
    is the end of a path that the client adds itself: who copied the whole
    address meant the same. Raises UsageError: no place, or none that can be.
    """
    from urllib.parse import parse_qsl, urlsplit

    if not (base_url or provider.base_url):
        raise UsageError(f"provider {provider.name!r} needs its address: base_url under [{table}]")
    try:
        parts = urlsplit(base_url or provider.base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"[{table}] base_url is not an address") from None
    if "@" in parts.netloc:
        raise UsageError(f'[{table}] base_url holds a credential: take it out, and name it by key = "env:NAME"')
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(f"[{table}] base_url is not an address: it begins with http:// or https:// and a host")
    path = parts.path.rstrip("/").removesuffix(end).rstrip("/")
    shown = f"[{host}]" if ":" in host else host
    host_port = shown if port is None else f"{shown}:{port}"
    return Place(
        f"{parts.scheme}://{host_port}{path}",
        tuple(parse_qsl(parts.query)),
        host_port,
        host_port + ("" if path == "/v1" else path),
        any(host.endswith(own) if own.startswith(".") else host == own for own in provider.hosts)
        and parts.scheme == "https",
    )
