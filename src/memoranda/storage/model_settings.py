"""``[model]`` in ``memoranda.toml``: the language model that turns what was said into memory."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass
from memoranda.storage.endpoint_settings import PLACE_RULES, checked_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.storage.endpoint_settings import Rules

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


_RULES: Rules = {
    **PLACE_RULES,
    "temperature": ((int, float), "a number from 0 to 2", lambda value: 0 <= value <= 2),
    "max_tokens": (int, f"a whole number from 1 to {_LONGEST_REPLY}", lambda value: 1 <= value <= _LONGEST_REPLY),
    "json": (str, '"schema", "object", "none" or "auto"', lambda value: value in ("auto", *JSON_FORMS)),
}


def read_model(value: Any, file: str) -> ModelSettings:
    """The table ``[model]`` of a settings ``file``. Raises UsageError: it holds what means nothing."""
    values = checked_table(value, file, "model", _RULES)
    if values.get("provider", "").strip() and not values.get("model", "").strip():
        # Which models there are changes too often for a default that one could rely on, or pay for.
        raise UsageError(
            f'{file}: [model] names a provider and no model: model = "NAME" (so [model] as a whole does not count)'
        )
    return ModelSettings(**values)
