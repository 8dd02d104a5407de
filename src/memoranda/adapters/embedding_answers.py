"""What an endpoint of embeddings answers: vectors, or a reason why not; neither is believed unread."""

from __future__ import annotations

from memoranda.adapters.endpoint_answers import Refused, describe_status, is_too_large, reason, shown, what_instead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any

__all__ = ["read_answer"]


def read_answer(body: bytes, count: int, place: str, key: str) -> list[array[float]]:
    """The vectors of an answer of status 200, in the order of the texts. Raises Refused."""
    import json

    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Refused(f"{place} answered with {what_instead(body)} in the place of vectors", again=True)
    data = answer.get("data")
    if not isinstance(data, list):
        words, code = reason(body)
        if code.isdigit() and 400 <= int(code) < 600:
            raise describe_status(int(code), body, {}, place, key)
        if is_too_large(400, words):
            raise Refused(f"{place} takes less at once: {shown(words, key)}", size=True)
        raise Refused(f"{place} answered with no vectors{': ' if words else ''}{shown(words, key)}", again=True)
    if len(data) != count:
        raise Refused(f"{place} answered with {len(data)} vectors for {count} texts")
    return [_vector(one, place) for one in _in_order(data, place)]


def _in_order(data: list[Any], place: str) -> list[Any]:
    """The entries by their index. One left out is 0 (some leave out what is 0); all 0, or none: they stand in order."""
    places: list[int] = [one.get("index") or 0 for one in data if isinstance(one, dict)]
    if len(places) < len(data) or any(type(at) is not int for at in places):
        raise Refused(f"{place} answered with what are no vectors")
    if not any(places):
        return data
    if sorted(places) != list(range(len(data))):
        raise Refused(f"{place} answered with vectors that belong to no text (index)")
    ordered = data[:]
    for at, one in zip(places, data, strict=True):
        ordered[at] = one
    return ordered


def _vector(entry: dict[str, Any], place: str) -> array[float]:
    """The numbers of an entry, given as such or as base64 of little-endian floats of 4 bytes."""
    import sys
    from array import array
    from math import isfinite

    given = entry.get("embedding")
    vector = array("f")
    try:
        if isinstance(given, str):
            from base64 import b64decode

            vector.frombytes(b64decode(given, validate=True))
            if sys.byteorder == "big":
                vector.byteswap()
        elif isinstance(given, list):
            vector.extend(given)
    except (ValueError, TypeError, OverflowError):
        raise Refused(f"{place} answered with a vector that holds what is no number") from None
    if not vector:
        raise Refused(f"{place} answered with a vector of no numbers")
    if not all(map(isfinite, vector)):
        raise Refused(f"{place} answered with a vector that holds what is no number (NaN or infinity)")
    return vector
