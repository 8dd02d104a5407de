"""``[embedding]`` in ``memoranda.toml``: what turns texts into vectors, and where these are kept."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


_RULES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "provider": (str, "the name of a provider"),
    "model": (str, "the name of a model"),
    "base_url": (str, "the address of an endpoint, http:// or https://"),
    "key": (str, '"env:NAME" or "keyring:SERVICE/USER", never the key itself'),
    "dimension": (int, "a whole number from 0 to 65536"),
    "query_prefix": (str, "a text"),
    "document_prefix": (str, "a text"),
    "batch": (int, "a whole number from 1 to 4096"),
    "timeout": ((int, float), "a number of seconds above 0"),
    "index": (str, "the name of a vector index"),
    "url": (str, "the address of a server, http:// or https://"),
    "weight": ((int, float), "a number from 0 to 1"),
}


def read_embedding(value: Any, file: str) -> EmbeddingSettings:
    """The table ``[embedding]`` of a settings ``file``. Raises UsageError: it holds what means nothing."""
    if not isinstance(value, dict):
        raise UsageError(f"{file}: embedding is a table, as in [embedding]")
    try:
        return _checked(value, file)
    except UsageError as error:
        raise UsageError(f"{error} (so [embedding] as a whole does not count)") from None


def _checked(value: dict[str, Any], file: str) -> EmbeddingSettings:
    for key, one in value.items():
        if key not in _RULES:
            raise UsageError(f"{file}: [embedding] {key!r} is not a setting (known: {', '.join(_RULES)})")
        kinds, meaning = _RULES[key]
        if not isinstance(one, kinds) or isinstance(one, bool) or not _fits(key, one):
            # What was written in place of a reference may be the secret itself.
            shown = "" if key == "key" else f", not {str(one)[:60]!r}"
            raise UsageError(f"{file}: [embedding] {key} is {meaning}{shown}")
    return EmbeddingSettings(**value)


def _fits(key: str, value: Any) -> bool:
    if key == "key":
        kind, _, rest = value.partition(":")
        if kind == "env":
            return bool(rest.isascii() and rest.isidentifier())
        return not value or (kind == "keyring" and bool(rest.strip()))
    if key in ("base_url", "url"):
        return not value or value.startswith(("http://", "https://"))
    if key == "dimension":
        return bool(0 <= value <= 65536)
    if key == "batch":
        return bool(1 <= value <= 4096)
    if key == "timeout":
        return bool(0 < value <= 3600)
    if key == "weight":
        return bool(0 <= value <= 1)
    return True
