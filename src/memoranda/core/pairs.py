"""The ``key=value`` pairs of a metadata comment: what can be a key, how values are encoded, what is wrong with them."""

from __future__ import annotations

from memoranda.core.errors import UsageError

__all__ = ["SPACE", "encoded", "fault_of", "legal_key", "number", "read_pair", "sound_pairs"]

#: White space around keys and values; not ``str.strip``'s idea of it: U+2028 and the like belong to values.
SPACE = " \t\r\n"

_ENCODED = "(?i)%(7C|0A|0D|25|2D)"
_UNSAFE = r"(?i)%(?=7C|0A|0D|25|2D)|--+|[|\n\r]"
_EDGE = (" ", "\t", "%20", "%09")

_LONGEST_KEPT = 100
_MOST_KEPT = 4000


def _is_key(key: str) -> bool:
    """Whether it is ``[A-Za-z_][A-Za-z0-9_.-]*``."""
    return key.isascii() and key[:1] not in (".", "-") and key.replace(".", "_").replace("-", "_").isidentifier()


def legal_key(key: str) -> str:
    """The key, if it can be written down.

    Raises:
        UsageError: it cannot.
    """
    if not _is_key(key):
        raise UsageError(f"a metadata key is a word of letters, digits and _ . - (got {key!r})")
    return key


def encoded(value: str) -> str:
    """The value as it is written in a comment."""
    if not ("%" in value or "|" in value or "--" in value) and value.isprintable() and value == value.strip(SPACE):
        return value
    import re

    middle = value.lstrip(" \t")
    before, middle = value[: len(value) - len(middle)], middle.rstrip(" \t")
    behind = value[len(before) + len(middle) :]
    # What looks like encoded white space at the edges is not to be taken for it.
    lead, core, tail = _parted(middle)
    core = re.sub(_UNSAFE, lambda found: "".join(f"%{ord(c):02X}" for c in found.group()), core)
    middle = lead.replace("%", "%25") + core + tail.replace("%", "%25")
    return _encoded_white(before) + middle + _encoded_white(behind)


def _decoded(raw: str) -> str:
    if "%" not in raw:
        return raw
    import re

    lead, core, tail = _parted(raw)
    core = re.sub(_ENCODED, lambda found: chr(int(found.group(1), 16)), core)
    return _decoded_white(lead) + core + _decoded_white(tail)


def _parted(value: str) -> tuple[str, str, str]:
    """White space at the beginning, encoded or not, what follows, and white space at the end."""
    first, last = 0, len(value)
    while value.startswith(_EDGE, first):
        first += 3 if value[first] == "%" else 1
    while last > first and value.endswith(_EDGE, first, last):
        last -= 1 if value[last - 1] in " \t" else 3
    return value[:first], value[first:last], value[last:]


def _encoded_white(run: str) -> str:
    return run.replace(" ", "%20").replace("\t", "%09")


def _decoded_white(run: str) -> str:
    return run.replace("%20", " ").replace("%09", "\t")


def number(text: str) -> float | None:
    """The finite number that the text is; ``None`` if it is none."""
    try:
        read = float(text)
    except ValueError:
        return None
    return read if read - read == 0.0 else None  # neither infinite nor NaN


def read_pair(raw: str) -> tuple[str | None, str]:
    """What one ``key=value`` says: its key (``None``: broken), its value or fault."""
    key, equals, value = raw.partition("=")
    key, value = key.strip(SPACE), value.strip(SPACE)
    if not key and not equals:
        return None, ""
    if not _is_key(key):
        return None, f"{key!r} cannot be a key"
    if not equals:
        return None, f"{key} has no value"
    return key, _decoded(value)


def fault_of(key: str, value: str) -> str:
    """What is wrong with the value of a key; empty if nothing is."""
    if not value:
        return f"{key} has no value"
    if key == "confidence" and number(value) is None:
        return f"confidence is not a number: {value!r}"
    return ""


class _SoundPairs(dict[str, tuple[str, str]]):
    """Pairs without a fault by their raw text, bounded; any other raises ``KeyError``."""

    def __missing__(self, raw: str) -> tuple[str, str]:
        key, value = read_pair(raw)
        if key is None or fault_of(key, value):
            raise KeyError(raw)
        if len(raw) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[raw] = key, value
        return key, value


#: Many items share their owner, source or type: what was read once is looked up.
sound_pairs = _SoundPairs()
