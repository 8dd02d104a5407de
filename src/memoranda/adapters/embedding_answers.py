"""What an endpoint of embeddings answers: vectors, or a reason why not; neither is believed unread."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping
    from re import Pattern
    from typing import Any

__all__ = ["NO_KEY", "Refused", "describe_status", "read_answer", "retry_after", "shown"]

#: What is sent as a key where none is asked for.
NO_KEY = "none"
#: Seconds that an endpoint may have one wait.
_LONGEST_WAIT = 60.0
#: Characters of an endpoint's own words in a message.
_WORDS = 160

_too_large: Pattern[str] | None = None


class Refused(Exception):
    """Why a request brought no vectors, in words that may be shown.

    ``again``: it may do so another time, after ``wait`` seconds if that is not
    ``None``. ``size``: it may do so with fewer or shorter texts. ``late``: it
    was given up on.
    """

    def __init__(
        self, message: str, again: bool = False, size: bool = False, late: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.again, self.size, self.late, self.wait = again or late, size, late, wait


def shown(text: str, key: str = "") -> str:
    """Foreign words for a message: on one line, short, without the credential."""
    if len(key) > 5:
        text = text.replace(key, "[key]")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[:2000]).split())
    return line if len(line) <= _WORDS else line[: _WORDS - 1] + "…"


def describe_status(status: int, body: bytes, headers: Mapping[str, str], place: str, key: str) -> Refused:
    """What a status other than 200 means."""
    words, code = _reason(body)
    said = f": {shown(words, key)}" if words else ""
    if status == 401:  # what is said of it may repeat a part of the credential
        if key == NO_KEY:
            return Refused(f'{place} asks for a key (401): key = "env:NAME" under [embedding]')
        return Refused(f"{place} does not accept the key (401)")
    if _is_size(status, words):
        return Refused(f"{place} takes less at once ({status}){said}", size=True)
    if status == 429:
        spent = code == "insufficient_quota"
        return Refused(f"{place} lets no more through (429){said}", again=not spent, wait=retry_after(headers))
    if status >= 500 or status in (408, 425):
        return Refused(f"{place} failed ({status}){said}", again=True, wait=retry_after(headers))
    if 300 <= status < 400:
        return Refused(f"{place} has moved ({status}): base_url must be the new address")
    if status == 404:
        return Refused(f"{place} knows no such model or address (404){said}")
    return Refused(f"{place} refused the request ({status}){said}")


def read_answer(body: bytes, count: int, place: str, key: str) -> list[array[float]]:
    """The vectors of an answer of status 200, in the order of the texts. Raises Refused."""
    import json

    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        what = "a web page" if body.lstrip()[:1] == b"<" else "nothing" if not body.strip() else "what is no JSON"
        raise Refused(f"{place} answered with {what} in the place of vectors", again=True)
    data = answer.get("data")
    if not isinstance(data, list):
        words, code = _reason(body)
        if code.isdigit() and 400 <= int(code) < 600:
            raise describe_status(int(code), body, {}, place, key)
        if _is_size(400, words):
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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that ``Retry-After`` asks for, a number or a date, from 0 to 60; ``None``: it asks for nothing."""
    from math import isfinite

    named = {name.casefold(): value for name, value in headers.items()}
    value = named.get("retry-after", "").strip()
    try:
        seconds = float(named["retry-after-ms"]) / 1000 if "retry-after-ms" in named else float(value)
    except ValueError:
        from email.utils import parsedate_to_datetime
        from time import time

        try:
            seconds = parsedate_to_datetime(value).timestamp() - time()
        except (ValueError, OverflowError, TypeError):
            return None
    return min(max(seconds, 0.0), _LONGEST_WAIT) if isfinite(seconds) else None


def _reason(body: bytes) -> tuple[str, str]:
    """What a body says went wrong, and its code: ``{"error": {"message": ..., "code": ...}}`` or alike."""
    import json

    text = body[:65536].decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return ("" if text.lstrip().startswith("<") else text), ""
    if isinstance(said, list) and said:  # Google's
        said = said[0]
    if isinstance(said, dict):
        inner = said.get("error", said)
        code = ""
        if isinstance(inner, dict):
            code = str(inner.get("code") or inner.get("type") or "")
            inner = inner.get("message") or inner.get("detail") or inner
        return (inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)), code
    return str(said), ""


def _is_size(status: int, words: str) -> bool:
    """Whether a refusal is of how much was sent; a 429 is only where it is said of the request itself."""
    global _too_large
    if status == 413:
        return True
    if status == 429:
        return "request too large" in words.casefold()
    if status not in (400, 422, 500):
        return False
    if _too_large is None:
        import re

        _too_large = re.compile(
            r"too (?:large|long|big|many (?:tokens|inputs|texts|items))"
            r"|context (?:length|size|window)|maximum (?:input|sequence|number)|batch.?size|max_tokens|n_ctx"
            r"|(?:larger|longer|greater|more) than|at most \d|exceeds? [^.]{0,40}(?:length|limit|maximum|tokens|size)"
            r"|token limit",
            re.IGNORECASE,
        )
    return _too_large.search(words[:2000]) is not None
