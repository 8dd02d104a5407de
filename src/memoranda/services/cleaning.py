"""What of a text and its metadata may be written: no secrets, no recalled blocks, moments in one form."""

from __future__ import annotations

from datetime import timedelta

from memoranda.core.errors import BadName, BadText, UsageError
from memoranda.core.model import Redaction
from memoranda.core.names import check_item_name, normalize_newlines
from memoranda.retrieval.rendering import strip_injected
from memoranda.services.redaction import redact
from memoranda.storage.clock import parse_moment, written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import tzinfo
    from typing import Any

    from memoranda.core.addresses import Address

__all__ = ["checked_fields", "cleaned", "field_value", "merged", "without_secrets"]

_MOMENTS = ("ts", "valid_from", "valid_to")


def cleaned(address: Address, text: str) -> tuple[Address, str, tuple[Redaction, ...]]:
    """The address and text as they may be stored: without secrets and without what was only recalled.

    Raises:
        BadText: nothing is left of the text.
        BadName: a category or scope holds a secret.
    """
    body = strip_injected(normalize_newlines(text))
    if not body.strip():
        recalled = "the text is only a recalled block; there is nothing new to remember"
        raise BadText(recalled if text.strip() else "the text is empty")
    body, redactions = redact(body.strip("\n"))
    if redact(f"{address.scope.name} {address.category}")[1]:
        raise BadName("a category or scope may not hold a secret; nothing was written")
    if address.name is not None:
        name, more = redact(address.name)
        if more:
            address = address.named(check_item_name(name))
            redactions = merged(redactions, more)
    return address, body, redactions


def checked_fields(fields: Mapping[str, object], zone: tzinfo) -> tuple[dict[str, str | None], tuple[Redaction, ...]]:
    """Metadata as it may be stored, and what was taken out of it. Raises UsageError: a value means nothing."""
    values: dict[str, str | None] = {}
    redactions: tuple[Redaction, ...] = ()
    for key, value in fields.items():
        if value is not None:
            clean, more = redact(normalize_newlines(_written(value)).strip())
            redactions = merged(redactions, more)
            if clean:
                values[key] = field_value(key, clean, zone)
    return values, redactions


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def field_value(key: str, text: str, zone: tzinfo) -> str:
    """A metadata value as it is stored: moments in UTC, a day that something is valid to up to its end.

    Raises:
        UsageError: it is no moment, or no number from 0 to 1, where it has to be one.
    """
    if key in _MOMENTS:
        last = key == "valid_to"
        moment = parse_moment(text, zone, end_of_day=last)
        return written_moment(moment + timedelta(microseconds=last and len(text) <= 10))
    if key == "confidence":
        try:
            known = 0.0 <= float(text) <= 1.0
        except ValueError:
            known = False
        if not known:
            raise UsageError(f"confidence is a number from 0 to 1, not {text!r}")
    return text


def merged(first: tuple[Redaction, ...], second: tuple[Redaction, ...]) -> tuple[Redaction, ...]:
    """Both together, counted by kind."""
    counts: dict[str, int] = {}
    for redaction in (*first, *second):
        counts[redaction.kind] = counts.get(redaction.kind, 0) + redaction.count
    return tuple(Redaction(kind, count) for kind, count in counts.items())


def without_secrets(value: Any, found: list[Redaction], prepare: Callable[[str], str] | None = None) -> Any:
    """A JSON value with the secrets of all its texts replaced; what they were is added to ``found``.

    ``prepare`` is done to each text before that.
    """
    if isinstance(value, str):
        text, more = redact(value if prepare is None else prepare(value))
        found.extend(more)
        return text
    if isinstance(value, dict):
        # A key may be what announces the secret: {"password": "..."}.
        return {
            without_secrets(key, found, prepare): _announced(key, without_secrets(one, found, prepare), found)
            for key, one in value.items()
        }
    return [without_secrets(one, found, prepare) for one in value] if isinstance(value, (list, tuple)) else value


def _announced(key: Any, value: Any, found: list[Redaction]) -> Any:
    """A value whose key names a secret, replaced if it is one."""
    if not (isinstance(key, str) and isinstance(value, str)) or "\n" in value:
        return value
    text, more = redact(f"{key}={value}")
    if not more or not text.startswith(f"{key}="):
        return value
    found.extend(more)
    return text.removeprefix(f"{key}=")
