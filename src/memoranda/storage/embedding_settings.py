"""``[embedding]`` in ``memoranda.toml``: what turns texts into vectors, and where these are kept."""

from __future__ import annotations

from memoranda.core.records import dataclass
from memoranda.storage.endpoint_settings import PLACE_RULES, checked_table, is_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.storage.endpoint_settings import Rules

__all__ = ["EmbeddingSettings", "read_embedding"]


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """What a person may set of embeddings. Without a ``provider`` there are none.

    ``key`` is where the credential is, never the credential: ``env:NAME`` or
    ``keyring:SERVICE/USER``. ``dimension`` is what is asked of an endpoint and
    held against its answers (0: whatever it gives). The prefixes are put before
    what is embedded (``None``: what the model is known to want). ``batch`` is
    how many texts are sent at once, ``timeout`` the seconds that one request
    may take. ``index`` names what keeps the vectors, ``url`` where it is if
    that is a server. ``weight`` is the share of vectors in a score, from 0 to 1
    (``None``: the default).
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""
    key: str = ""
    dimension: int = 0
    query_prefix: str | None = None
    document_prefix: str | None = None
    batch: int = 64
    timeout: float = 30.0
    index: str = "numpy"
    url: str = ""
    weight: float | None = None

    def __bool__(self) -> bool:
        """Whether anything is to be embedded."""
        return bool(self.provider)


_RULES: Rules = {
    **PLACE_RULES,
    "dimension": (int, "a whole number from 0 to 65536", lambda value: 0 <= value <= 65536),
    "query_prefix": (str, "a text", lambda value: True),
    "document_prefix": (str, "a text", lambda value: True),
    "batch": (int, "a whole number from 1 to 4096", lambda value: 1 <= value <= 4096),
    "index": (str, "the name of a vector index", lambda value: True),
    "url": (str, "the address of a server, http:// or https://", is_address),
    "weight": ((int, float), "a number from 0 to 1", lambda value: 0 <= value <= 1),
}


def read_embedding(value: Any, file: str) -> EmbeddingSettings:
    """The table ``[embedding]`` of a settings ``file``. Raises UsageError: it holds what means nothing."""
    return EmbeddingSettings(**checked_table(value, file, "embedding", _RULES))
