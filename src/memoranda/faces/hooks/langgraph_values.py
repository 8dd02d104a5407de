"""LangGraph's values as items' texts, and back; and the filters by which values are asked for.

A text stands as it is, what else the value holds in a fence behind it::

    喜欢海边。

    ```json memoranda
    {"since": 2019}
    ```
"""

from __future__ import annotations

import json
from contextlib import suppress

from memoranda.core.bodies import check_body
from memoranda.core.errors import BadText
from memoranda.retrieval.rendering import strip_injected
from memoranda.services.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["matches", "text_of", "value_of"]

_SOURCE = "langgraph"
_FENCE, _FENCE_END = "```json memoranda", "\n```"
#: Characters of a value that fits into one line.
_SHORT = 100
#: Where a value's text is looked for, behind the field that the store was told.
_TEXT_FIELDS = ("text", "content", "memory")


def text_of(value: Mapping[str, Any], text_field: str, mark: str = "") -> tuple[str, str]:
    """The item's text and source for a value; ``mark`` sets it apart from others that say the same.

    Raises TypeError, ValueError: it holds what JSON cannot.
    """
    clean = _cleaned(json.loads(json.dumps(dict(value))))
    for field in dict.fromkeys((text_field, *_TEXT_FIELDS)):
        text = clean.get(field)
        if isinstance(text, str) and text.strip():
            rest = {key: one for key, one in clean.items() if key != field}
            written = f"{text}\n\n{_fenced(rest, mark)}" if rest or mark else text
            source = f"{_SOURCE}:{field}"
            with suppress(BadText, UnicodeEncodeError):
                written.encode()
                if check_body(written).text == written and value_of(written, source, text_field) == clean:
                    return written, source
    return _fenced(clean, mark), _SOURCE


def _cleaned(value: Any) -> Any:
    """The value as it may be stored: without secrets and recalled blocks, so that no fence is broken by that later."""
    if isinstance(value, str):
        return redact(strip_injected(value))[0]
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list) else value


def _fenced(value: dict[str, Any], mark: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    if len(written) > _SHORT:
        written = json.dumps(value, ensure_ascii=False, indent=2)
    if not written.replace("\n", "").isprintable():
        written = json.dumps(value, indent=2)
    return f"{_FENCE}{' ' if mark else ''}{mark}\n{written}{_FENCE_END}"


def value_of(text: str, source: str, text_field: str) -> dict[str, Any]:
    """The value that an item's text stands for."""
    # At the beginning of a line: within the fence's JSON it may be said, but not there.
    head, fence, tail = f"\n{text}".rpartition(f"\n{_FENCE}")
    field = source.removeprefix(f"{_SOURCE}:") if source.startswith(f"{_SOURCE}:") else text_field
    _, _, body = tail.partition("\n")
    if not fence or not body.endswith(_FENCE_END):
        return {field: text}
    try:
        rest = json.loads(body.removesuffix(_FENCE_END))
    except (ValueError, RecursionError):
        rest = None
    if not isinstance(rest, dict):
        return {field: text}
    said = head.removeprefix("\n").removesuffix("\n")
    return {**rest, field: said} if said else rest


def matches(value: Any, asked: Any) -> bool:
    """Whether a value is as a filter wants it: fields equal, or compared by ``$eq $ne $gt $gte $lt $lte``."""
    if isinstance(asked, dict):
        if any(key.startswith("$") for key in asked):
            return all(_compares(value, operator, limit) for operator, limit in asked.items())
        return isinstance(value, dict) and all(matches(value.get(key), one) for key, one in asked.items())
    if isinstance(asked, (list, tuple)):
        return isinstance(value, list) and len(value) == len(asked) and all(map(matches, value, asked))
    return bool(value == asked)


def _compares(value: Any, operator: str, limit: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == limit) is (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"a filter has no operator {operator!r}")
    try:
        one, other = float(value), float(limit)
    except (TypeError, ValueError):
        if not (isinstance(value, str) and isinstance(limit, str)):
            return False
        one, other = (value > limit) - (value < limit), 0  # texts, as moments are
    wanted = {"$gt": one > other, "$gte": one >= other, "$lt": one < other, "$lte": one <= other}
    return wanted[operator]
