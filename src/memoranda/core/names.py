"""What can be a name, and when two names are the same.

Names may be in any language. They are stored as written and compared by
:func:`name_key` (NFC, then case folding, then single spaces). File names must
also be legal on Linux, macOS and Windows.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from memoranda.core.errors import BadName

__all__ = [
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
]

#: First folders that a shared category may not have: they begin other addresses.
RESERVED_FOLDERS = frozenset({"user", "agent", "project", "shared", "turn", "kb"})

#: A file name may have 255 bytes on common file systems; ``.md`` and a temporary prefix must fit too.
MAX_SEGMENT_BYTES = 200

# Dropbox, Syncthing, Nextcloud, OneDrive and our own set-aside copies.
_CONFLICT_COPY = r"(?i)\.sync-conflict-|\(.*(?:conflicted copy|冲突的?副本).*\)|_conflict-\d|\.conflict-[0-9a-f]{8}"

_WINDOWS_DEVICES = frozenset(["con", "prn", "aux", "nul"] + [f"{d}{n}" for d in ("com", "lpt") for n in "123456789"])
_SPACE = re.compile(r"\s+")
_FORBIDDEN_IN_NAME = re.compile(r"\[\[|\]\]|[|#\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_FORBIDDEN_IN_SEGMENT = re.compile(r'[\\/:：*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')


def clean_name(name: str) -> str:
    """The name as it is stored: NFC, no space around it, single spaces inside."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", name)).strip()


def name_key(name: str) -> str:
    """The form under which names are compared."""
    if name.isascii():
        return _SPACE.sub(" ", name).strip().casefold()
    return unicodedata.normalize("NFC", clean_name(name).casefold())


def is_item_name(name: str) -> bool:
    """Whether ``name`` can be written down and linked to as an item's name."""
    cleaned = name.strip()
    return bool(cleaned) and not cleaned.startswith(("~", "^")) and not _FORBIDDEN_IN_NAME.search(cleaned)


def check_item_name(name: str) -> str:
    """Return the name as stored.

    Raises:
        BadName: empty, holds ``[[ ]] | #`` or a control character, or begins
            with ``~`` or ``^`` (which mark addresses by hash and by block id).
    """
    if not name.strip():
        raise BadName("an item's name may not be empty")
    if found := _FORBIDDEN_IN_NAME.search(name.strip()):
        raise BadName(f"an item's name may not hold {found.group()!r}: {name!r}")
    cleaned = clean_name(name)
    if cleaned.startswith(("~", "^")):
        raise BadName(f"an item's name may not begin with {cleaned[0]!r}: {name!r}")
    return cleaned


def _check_segment(segment: str, what: str, whole: str) -> str:
    cleaned = clean_name(segment)
    if not cleaned:
        raise BadName(f"{what} has an empty part: {whole!r}")
    if found := _FORBIDDEN_IN_SEGMENT.search(segment):
        raise BadName(f"{what} may not hold {found.group()!r}: {whole!r}")
    if cleaned.startswith("."):
        raise BadName(f"{what} may not have a part that begins with a dot: {whole!r}")
    if cleaned.endswith("."):
        raise BadName(f"{what} may not have a part that ends with a dot: {whole!r}")
    if cleaned.split(".")[0].casefold() in _WINDOWS_DEVICES:
        raise BadName(f"{what} may not be the name of a Windows device: {whole!r}")
    if len(cleaned.encode("utf-8")) > MAX_SEGMENT_BYTES:
        raise BadName(f"{what} is too long for a file name (over {MAX_SEGMENT_BYTES} bytes)")
    return cleaned


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
    return ("onflict" in name or "冲突" in name or "ONFLICT" in name) and re.search(_CONFLICT_COPY, name) is not None


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
    return hashlib.sha256(normalize_newlines(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash_name(text: str) -> str:
    """The name of an item that has none of its own: ``~`` and ten digits of its text's hash."""
    return "~" + content_hash(unicodedata.normalize("NFC", text).strip())[:10]


_CLAUSE = re.compile(r"[.!?;。！？；\n]")
_NAME_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def made_name(text: str) -> str:
    """A short stable name for a text that came without one.

    The first clause's first six words joined by ``-`` (Latin and the like), or
    its first sixteen characters (Chinese, Japanese, Korean).
    """
    plain = re.sub(r"\[\[[^\]]*\]\]", " ", unicodedata.normalize("NFC", text))
    clauses = [c for c in _CLAUSE.split(plain) if _NAME_WORD.search(c)]
    words = _NAME_WORD.findall(clauses[0]) if clauses else []
    if not words:
        return "item-" + content_hash(text)[:8]
    if _WIDE.search("".join(words)):
        name = ""
        for word in words:
            joint = "-" if name and not (_WIDE.match(word) or _WIDE.match(name[-1])) else ""
            if len(name) + len(joint) + len(word) > 16 and name:
                break
            name += joint + word[:16]
        return name
    name = "-".join(w.casefold() for w in words[:6])
    return name if len(name) <= 60 else name[:60].rstrip("-")
