"""What an endpoint answers when it answers amiss: why, in words that may be shown, and what may help."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from re import Pattern

__all__ = ["NO_KEY", "Refused", "describe_status", "is_too_large", "reason", "retry_after", "shown", "what_instead"]

#: What is sent as a key where none is asked for.
NO_KEY = "none"
#: Seconds that an endpoint may have one wait.
_LONGEST_WAIT = 60.0
#: Characters of an endpoint's own words in a message.
_WORDS = 160

_too_large: Pattern[str] | None = None


class Refused(Exception):
    """Why a request brought nothing, in words that may be shown.

    ``again``: it may do so another time, after ``wait`` seconds if that is not
    ``None``. ``size``: it may do so with fewer or shorter texts. ``late``: it
    was given up on. ``unpaid``: it may do so when somebody has paid.
    ``declined``: this request will never bring anything, whatever is set or paid.
    """

    def __init__(
        self,
        message: str,
        again: bool = False,
        size: bool = False,
        late: bool = False,
        wait: float | None = None,
        unpaid: bool = False,
        declined: bool = False,
    ) -> None:
        super().__init__(message)
        self.declined = declined
        self.again, self.size, self.late, self.wait, self.unpaid = again or late, size, late, wait, unpaid


def shown(text: str, key: str = "") -> str:
    """Foreign words for a message: on one line, short, without the credential."""
    if len(key) > 5:
        text = text.replace(key, "[key]")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[:2000]).split())
    return line if len(line) <= _WORDS else line[: _WORDS - 1] + "…"


def describe_status(
    status: int, body: bytes, headers: Mapping[str, str], place: str, key: str, table: str = "embedding"
) -> Refused:
    """What a status other than 200 means. ``table`` is where the settings of this endpoint are."""
    words, code = reason(body)
    said = f": {shown(words, key)}" if words else ""
    if status == 401:  # what is said of it may repeat a part of the credential
        if key == NO_KEY:
            return Refused(f'{place} asks for a key (401): key = "env:NAME" under [{table}]')
        return Refused(f"{place} does not accept the key (401)")
    if is_too_large(status, words):
        return Refused(f"{place} takes less at once ({status}){said}", size=True)
    if status == 429:
        spent = code == "insufficient_quota"
        return Refused(
            f"{place} lets no more through (429){said}", again=not spent, wait=retry_after(headers), unpaid=spent
        )
    if status == 402:
        return Refused(f"{place} wants to be paid first (402){said}", unpaid=True)
    if status >= 500 or status in (408, 425):
        return Refused(f"{place} failed ({status}){said}", again=True, wait=retry_after(headers))
    if 300 <= status < 400:
        return Refused(f"{place} has moved ({status}): base_url must be the new address")
    if status == 404:
        return Refused(f"{place} knows no such model or address (404){said}")
    return Refused(f"{place} refused the request ({status}){said}")


def what_instead(body: bytes) -> str:
    """What a body is that should have been JSON, in words for a message."""
    return "a web page" if body.lstrip()[:1] == b"<" else "nothing" if not body.strip() else "what is no JSON"


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


def reason(body: bytes) -> tuple[str, str]:
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


def is_too_large(status: int, words: str) -> bool:
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
