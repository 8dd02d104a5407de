"""What can be a name, and when two names are the same.

Names may be in any language. They are stored as written and compared by
:func:`name_key` (NFC, then case folding, then single spaces). File names must
also be legal on Linux, macOS and Windows.
"""

from __future__ import annotations

from memoranda.core.errors import BadName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

__all__ = [
    "PLAIN_NAME",
    "RESERVED_FOLDERS",
    "check_category",
    "check_identifier",
    "check_item_name",
    "clean_name",
    "content_hash",
    "hash_name",
    "is_category",
    "is_conflict_copy",
    "is_item_name",
    "made_name",
    "name_key",
    "normalize_newlines",
    "stored_key",
]

#: First folders that a shared category may not have: they begin other addresses.
RESERVED_FOLDERS = frozenset({"user", "agent", "project", "shared", "turn", "kb"})

#: A file name may have 255 bytes on common file systems; ``.md`` and a temporary prefix must fit too.
MAX_SEGMENT_BYTES = 200

#: A pattern of ASCII names of items that are stored as written and whose key is their lower case.
PLAIN_NAME = r"[!\"$-Z\\_-{}]+(?: [!\"$-Z\\_-{}]+)*"

# Dropbox, Syncthing, Nextcloud, OneDrive and our own set-aside copies.
_CONFLICT_COPY = r"(?i)\.sync-conflict-|\(.*(?:conflicted copy|冲突的?副本).*\)|_conflict-\d|\.conflict-[0-9a-f]{8}"

_NOT_IN_SEGMENT = '\\/:：*?"<>|#^[]'

_normalize: Callable[[Literal["NFC"], str], str] | None = None


def _nfc(text: str) -> str:
    global _normalize
    if text.isascii():
        return text
    if _normalize is None:
        import unicodedata

        _normalize = unicodedata.normalize
    return _normalize("NFC", text)


def clean_name(name: str) -> str:
    """The name as it is stored: NFC, no space around it, single spaces inside."""
    return " ".join(_nfc(name).split())


def name_key(name: str) -> str:
    """The form under which names are compared."""
    return stored_key(clean_name(name))


def stored_key(name: str) -> str:
    """:func:`name_key` of a name as :func:`clean_name` gave it."""
    return _nfc(name.casefold())


def is_item_name(name: str) -> bool:
    """Whether ``name`` can be written down and linked to as an item's name."""
    cleaned = name.strip()
    return bool(cleaned) and not cleaned.startswith(("~", "^")) and not _forbidden_in_name(cleaned)


def check_item_name(name: str) -> str:
    """Return the name as stored.

    Raises:
        BadName: empty, holds ``[[ ]] | #`` or a control character, or begins
            with ``~`` or ``^`` (which mark addresses by hash and by block id).
    """
    if not name.strip():
        raise BadName("an item's name may not be empty")
    if found := _forbidden_in_name(name.strip()):
        raise BadName(f"an item's name may not hold {found!r}: {name!r}")
    cleaned = clean_name(name)
    if cleaned.startswith(("~", "^")):
        raise BadName(f"an item's name may not begin with {cleaned[0]!r}: {name!r}")
    return cleaned


def _forbidden_in_name(name: str) -> str:
    """The first thing in it that no item's name may hold; empty if there is none."""
    if name.isprintable() and not ("|" in name or "#" in name or "[[" in name or "]]" in name):
        return ""
    for at, character in enumerate(name):
        if character in "|#" or _is_control(character):
            return character
        if character in "[]" and name.startswith(character, at + 1):
            return character * 2
    return ""


def _is_control(character: str) -> bool:
    """Whether it is a control character, a line or paragraph separator or half a surrogate pair."""
    return (
        character < " "
        or "\x7f" <= character <= "\x9f"
        or character in "\u2028\u2029"
        or "\ud800" <= character <= "\udfff"
    )


def _check_segment(segment: str, what: str, whole: str) -> str:
    cleaned = clean_name(segment)
    if not cleaned:
        raise BadName(f"{what} has an empty part: {whole!r}")
    if not segment.isalnum():
        for character in segment:
            if character in _NOT_IN_SEGMENT or _is_control(character):
                raise BadName(f"{what} may not hold {character!r}: {whole!r}")
        if cleaned.startswith("."):
            raise BadName(f"{what} may not have a part that begins with a dot: {whole!r}")
        if cleaned.endswith("."):
            raise BadName(f"{what} may not have a part that ends with a dot: {whole!r}")
    if _is_device(cleaned.partition(".")[0].casefold()):
        raise BadName(f"{what} may not be the name of a Windows device: {whole!r}")
    if len(cleaned) > MAX_SEGMENT_BYTES // 4 and len(cleaned.encode("utf-8")) > MAX_SEGMENT_BYTES:
        raise BadName(f"{what} is too long for a file name (over {MAX_SEGMENT_BYTES} bytes)")
    return cleaned


def _is_device(name: str) -> bool:
    if len(name) == 4:
        return name.startswith(("com", "lpt")) and name[3] in "123456789"
    return name in ("con", "prn", "aux", "nul")


def check_category(category: str, *, shared: bool = True) -> str:
    """Return the category as stored (``work/rules``).

    Raises:
        BadName: a part that cannot be a file name on every system, that would
            leave the vault, or (when ``shared``) a first folder that begins
            another kind of address.
    """
    segments = [_check_segment(part, "a category", category) for part in category.split("/")]
    if is_conflict_copy(f"{segments[-1]}.md"):
        raise BadName(f"a category may not be named like a sync program's conflict copy: {category!r}")
    if shared and len(segments) > 1 and segments[0].casefold() in RESERVED_FOLDERS:
        raise BadName(f"a shared category may not begin with {segments[0] + '/'!r}: {category!r}")
    return "/".join(segments)


def is_conflict_copy(name: str) -> bool:
    """Whether a file's name says that it is a sync program's, or an interrupted save's, second copy."""
    if not ("onflict" in name or "冲突" in name or "ONFLICT" in name):
        return False
    import re

    return re.search(_CONFLICT_COPY, name) is not None


def is_category(category: str, *, shared: bool = True) -> str | None:
    """The category as stored, or ``None`` if a person's file has a name that cannot be addressed."""
    try:
        return check_category(category, shared=shared)
    except BadName:
        return None


def check_identifier(identifier: str, what: str) -> str:
    """Return the id of a user, agent, project or conversation folder as stored.

    Raises:
        BadName: it cannot be one folder's name.
    """
    return _check_segment(identifier, what, identifier)


def normalize_newlines(text: str) -> str:
    """Text with ``\\n`` as its only line ending (CRLF and lone CR become ``\\n``)."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def content_hash(text: str) -> str:
    """Sixteen hexadecimal digits of SHA-256 over the text with ``\\n`` line endings."""
    from hashlib import sha256  # OpenSSL: milliseconds that most readers do not need

    return sha256(normalize_newlines(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash_name(text: str) -> str:
    """The name of an item that has none of its own: ``~`` and ten digits of its text's hash."""
    return "~" + content_hash(_nfc(text).strip())[:10]


#: So many characters of a text are looked at for its name.
_NAMING = 2000
_CLAUSE = r"[.!?;。！？；\n]"
_NAME_WORD = r"[^\W_]+(?:['’.-][^\W_]+)*"
_WIDE = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"


def made_name(text: str) -> str:
    """A short stable name for a text that came without one.

    The first clause's first six words joined by ``-`` (Latin and the like), or
    its first sixteen characters (Chinese, Japanese, Korean).
    """
    import re

    # What a name is made of stands at the beginning; a long text without a word could take long to look through.
    plain = re.sub(r"\[\[[^\]]*\]\]", " ", _nfc(text[:_NAMING]))
    words: list[str] = next(filter(None, (re.findall(_NAME_WORD, c) for c in re.split(_CLAUSE, plain))), [])
    if not words:
        return "item-" + content_hash(text)[:8]
    wide = re.compile(_WIDE)
    if wide.search("".join(words)):
        name = ""
        for word in words:
            joint = "-" if name and not (wide.match(word) or wide.match(name[-1])) else ""
            if len(name) + len(joint) + len(word) > 16 and name:
                break
            name += joint + word[:16]
        return name
    name = "-".join(w.casefold() for w in words[:6])
    return name if len(name) <= 60 else name[:60].rstrip("-")
