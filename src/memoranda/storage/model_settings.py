"""``[model]`` in ``memoranda.toml``: the language model that turns what was said into memory."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["JSON_FORMS", "ModelSettings", "read_model"]

#: How a reply in JSON is asked for, the strictest first; ``"auto"`` begins with what the provider is known to take.
JSON_FORMS = ("schema", "object", "none")
_LONGEST_REPLY = 10**6


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a person may set of the language model. Without a ``provider`` there is none.

    ``key`` is where the credential is, never the credential: ``env:NAME`` or
    ``keyring:SERVICE/USER``. ``timeout`` is the seconds that one call may take.
    ``temperature`` and ``max_tokens`` are not sent where they are ``None``.
    ``json`` is one of :data:`JSON_FORMS`, or ``"auto"``.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""
    key: str = ""
    timeout: float = 60.0
    temperature: float | None = None
    max_tokens: int | None = None
    json: str = "auto"

    def __bool__(self) -> bool:
        """Whether there is a model to ask."""
        return bool(self.provider)


_RULES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "provider": (str, "the name of a provider"),
    "model": (str, "the name of a model"),
    "base_url": (str, "the address of an endpoint, http:// or https://"),
    "key": (str, '"env:NAME" or "keyring:SERVICE/USER", never the key itself'),
    "timeout": ((int, float), "a number of seconds above 0, 3600 at most"),
    "temperature": ((int, float), "a number from 0 to 2"),
    "max_tokens": (int, f"a whole number from 1 to {_LONGEST_REPLY}"),
    "json": (str, '"schema", "object", "none" or "auto"'),
}


def read_model(value: Any, file: str) -> ModelSettings:
    """The table ``[model]`` of a settings ``file``. Raises UsageError: it holds what means nothing."""
    if not isinstance(value, dict):
        raise UsageError(f"{file}: model is a table, as in [model]")
    try:
        return _checked(value, file)
    except UsageError as error:
        raise UsageError(f"{error} (so [model] as a whole does not count)") from None


def _checked(value: dict[str, Any], file: str) -> ModelSettings:
    for key, one in value.items():
        if key not in _RULES:
            raise UsageError(f"{file}: [model] {key!r} is not a setting (known: {', '.join(_RULES)})")
        kinds, meaning = _RULES[key]
        if not isinstance(one, kinds) or isinstance(one, bool) or not _fits(key, one):
            # What was written in place of a reference may be the secret itself.
            shown = "" if key == "key" else f", not {str(one)[:60]!r}"
            raise UsageError(f"{file}: [model] {key} is {meaning}{shown}")
    if value.get("provider", "").strip() and not value.get("model", "").strip():
        # Which models there are changes too often for a default that one could rely on, or pay for.
        raise UsageError(f'{file}: [model] names a provider and no model: model = "NAME"')
    return ModelSettings(**value)


def _fits(key: str, value: Any) -> bool:
    if key == "key":
        kind, _, rest = value.partition(":")
        if kind == "env":
            return bool(rest.isascii() and rest.isidentifier())
        return not value or (kind == "keyring" and bool(rest.strip()))
    if key == "base_url":
        return not value or value.startswith(("http://", "https://"))
    if key == "timeout":
        return bool(0 < value <= 3600)
    if key == "temperature":
        return bool(0 <= value <= 2)
    if key == "max_tokens":
        return bool(1 <= value <= _LONGEST_REPLY)
    if key == "json":
        return value == "auto" or value in JSON_FORMS
    return True
