"""Tables of ``memoranda.toml`` that name an endpoint: each value held against what it may be."""

from __future__ import annotations

from memoranda.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    #: For each key: of what kind a value is, what it means in words, and whether one will do.
    Rules = Mapping[str, tuple[type | tuple[type, ...], str, Callable[[Any], bool]]]

__all__ = ["PLACE_RULES", "checked_table", "is_address", "is_reference"]


def is_reference(value: str) -> bool:
    """Whether it names where a credential is: ``env:NAME``, ``keyring:SERVICE/USER``, or nothing."""
    kind, _, rest = value.partition(":")
    if kind == "env":
        return rest.isascii() and rest.isidentifier()
    return not value or (kind == "keyring" and bool(rest.strip()))


def is_address(value: str) -> bool:
    """Whether it is the address of a server, or nothing."""
    return not value or value.startswith(("http://", "https://"))


def _any(value: Any) -> bool:
    return True


#: What every such table may say of where an endpoint is.
PLACE_RULES: Rules = {
    "provider": (str, "the name of a provider", _any),
    "model": (str, "the name of a model", _any),
    "base_url": (str, "the address of an endpoint, http:// or https://", is_address),
    "key": (str, '"env:NAME" or "keyring:SERVICE/USER", never the key itself', is_reference),
    "timeout": ((int, float), "a number of seconds above 0, 3600 at most", lambda value: 0 < value <= 3600),
}


def checked_table(value: Any, file: str, table: str, rules: Rules) -> dict[str, Any]:
    """The values of a table of a settings ``file``. Raises UsageError: one of them means nothing."""
    if not isinstance(value, dict):
        raise UsageError(f"{file}: {table} is a table, as in [{table}]")
    for key, one in value.items():
        if key not in rules:
            raise _fault(file, table, f"{key!r} is not a setting (known: {', '.join(rules)})")
        kinds, meaning, will_do = rules[key]
        if not isinstance(one, kinds) or isinstance(one, bool) or not will_do(one):
            # What was written in place of a reference may be the secret itself.
            shown = "" if key == "key" else f", not {str(one)[:60]!r}"
            raise _fault(file, table, f"{key} is {meaning}{shown}")
    return value


def _fault(file: str, table: str, what: str) -> UsageError:
    return UsageError(f"{file}: [{table}] {what} (so [{table}] as a whole does not count)")
