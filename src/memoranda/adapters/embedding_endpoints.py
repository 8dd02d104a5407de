"""Endpoints that speak OpenAI's language of embeddings: where each is, and in what it differs."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = ["ENDPOINTS", "Endpoint", "Place", "read_place"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider.

    ``variables`` are where its credential usually is; they are read by
    themselves for its own ``hosts`` only (names, or ends of names with a dot),
    so that no credential goes to where a settings file points instead.
    ``asks_no_key`` is a server on this machine. ``batch`` is how many texts it
    takes at most. ``encoding`` and ``dimension_name`` are what it wants in the
    place of OpenAI's ``"float"`` and ``dimensions``; ``query`` and ``document``
    are what it is told beside the texts, for models that begin with ``told``.
    """

    name: str
    base_url: str
    model: str = ""
    variables: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    asks_no_key: bool = False
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


#: Endpoints by the value of the setting ``provider``.
ENDPOINTS = {
    entry.name: entry
    for entry in (
        Endpoint(
            "openai",
            "https://api.openai.com/v1",
            "text-embedding-3-small",
            ("OPENAI_API_KEY",),
            ("api.openai.com",),
        ),
        Endpoint(
            "openrouter",
            "https://openrouter.ai/api/v1",
            "openai/text-embedding-3-small",
            ("OPENROUTER_API_KEY",),
            ("openrouter.ai",),
        ),
        # It refuses encoding_format="float" and dimensions, and tells questions from documents itself.
        Endpoint(
            "voyage",
            "https://api.voyageai.com/v1",
            "voyage-3.5",
            ("VOYAGE_API_KEY",),
            ("api.voyageai.com",),
            batch=1000,
            encoding="base64",
            dimension_name="output_dimension",
            query=(("input_type", "query"),),
            document=(("input_type", "document"),),
        ),
        Endpoint(
            "jina",
            "https://api.jina.ai/v1",
            "jina-embeddings-v3",
            ("JINA_API_KEY",),
            ("api.jina.ai",),
            told="jina-embeddings-v3",
            query=(("task", "retrieval.query"),),
            document=(("task", "retrieval.passage"),),
        ),
        # "at most 100 requests can be in one batch"; the first answer has no index, for it would be 0.
        Endpoint(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "gemini-embedding-001",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            ("generativelanguage.googleapis.com",),
            batch=100,
        ),
        # https://NAME.openai.azure.com/openai/v1, or .../openai/deployments/NAME?api-version=...
        Endpoint(
            "azure",
            "",
            "text-embedding-3-small",
            ("AZURE_OPENAI_API_KEY",),
            (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com", ".openai.azure.us"),
        ),
        # "batch size is invalid, it should not be larger than 10"
        Endpoint(
            "dashscope",
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            "text-embedding-v4",
            ("DASHSCOPE_API_KEY",),
            ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
            batch=10,
        ),
        Endpoint("ollama", "http://localhost:11434/v1", "nomic-embed-text", asks_no_key=True),
        Endpoint("lmstudio", "http://localhost:1234/v1", "text-embedding-nomic-embed-text-v1.5", asks_no_key=True),
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


def read_place(endpoint: Endpoint, base_url: str) -> Place:
    """The place that the settings name, else the endpoint's usual one. Raises UsageError: none, or none that can be."""
    from urllib.parse import parse_qsl, urlsplit

    if not (base_url or endpoint.base_url):
        raise UsageError(f"provider {endpoint.name!r} needs its address: base_url under [embedding]")
    try:
        parts = urlsplit(base_url or endpoint.base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError("[embedding] base_url is not an address") from None
    if "@" in parts.netloc:
        raise UsageError('[embedding] base_url holds a credential: take it out, and name it by key = "env:NAME"')
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError("[embedding] base_url is not an address: it begins with http:// or https:// and a host")
    path = _path(parts)
    shown = f"[{host}]" if ":" in host else host
    host_port = shown if port is None else f"{shown}:{port}"
    return Place(
        f"{parts.scheme}://{host_port}{path}",
        tuple(parse_qsl(parts.query)),
        host_port,
        host_port + ("" if path == "/v1" else path),
        any(host.endswith(own) if own.startswith(".") else host == own for own in endpoint.hosts)
        and parts.scheme == "https",
    )


def _path(parts: SplitResult) -> str:
    # The client adds this part itself; who copied the whole address meant the same.
    return parts.path.rstrip("/").removesuffix("/embeddings").rstrip("/")
