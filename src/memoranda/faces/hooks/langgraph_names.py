"""Namespaces' labels and keys as names of files and items, and back: what no name can hold is percent-encoded."""

from __future__ import annotations

from contextlib import suppress

from memoranda.core.errors import BadName
from memoranda.core.names import check_category, check_item_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["decoded", "fits", "key_of", "label_name", "name_of"]

_NOT_IN_LABEL = frozenset('%\\/:：*?"<>|#^[]')
_NOT_IN_KEY = frozenset("%|#[]")
#: The empty key; a ``%`` of its own is written ``%25``.
_EMPTY = "%"


def label_name(label: str, whole: bool = False) -> str:
    """A label as part of a category's name; ``whole``: so that it is not what it was."""
    return _encoded(label, _NOT_IN_LABEL, lambda text: check_category(text, shared=False), whole)


def name_of(key: str) -> str:
    """A key as an item's name."""
    return _encoded(key, _NOT_IN_KEY, check_item_name, False) if key else _EMPTY


def key_of(name: str) -> str:
    """The key of an item; a name that no key gives is its own."""
    key = "" if name == _EMPTY else decoded(name)
    with suppress(BadName):
        if name_of(key) == name:
            return key
    return name


def _encoded(text: str, forbidden: frozenset[str], check: Callable[[str], str], whole: bool) -> str:
    """The text with what is forbidden percent-encoded; where that is not enough, with all but plain letters so.

    Raises:
        BadName: no name can hold it.
    """
    if not whole:
        tried = "".join(c if c.isprintable() and c not in forbidden else _percent(c) for c in text)
        with suppress(BadName):
            if check(tried) == tried:
                return tried
    plain = (at and c.isascii() and (c.isalnum() or c in "_-") for at, c in enumerate(text))
    return check("".join(c if stays else _percent(c) for c, stays in zip(text, plain, strict=True)))


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def decoded(text: str) -> str:
    """What a name stands for; a name that was never encoded, for itself."""
    if "%" not in text:
        return text
    from urllib.parse import unquote_to_bytes

    try:
        return unquote_to_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text


def fits(namespace: tuple[str, ...], kind: str, path: tuple[str, ...]) -> bool:
    """Whether a namespace begins (``prefix``) or ends (``suffix``) like a path; ``*`` stands for any label."""
    if kind not in ("prefix", "suffix"):
        raise ValueError(f"a namespace is matched by prefix or suffix, not {kind!r}")
    part = namespace[: len(path)] if kind == "prefix" else namespace[max(len(namespace) - len(path), 0) :]
    return len(part) == len(path) and all(asked in ("*", label) for asked, label in zip(path, part, strict=True))
