"""The metadata comment of an item: reading, writing, and rewriting what a person wrote.

::

    <!-- memoranda: owner=user:lin | source=conv_20260710#4 | ts=2026-07-10T03:00:00Z -->

Pairs are separated by ``|``. Only what would break the comment is
percent-encoded: ``|``, line ends, ``--``, white space at a value's ends, and a
``%`` that would otherwise be read as one of these. Nothing else is decoded.
"""

from __future__ import annotations

import math
import re

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EMPTY_METADATA",
    "KNOWN_KEYS",
    "Metadata",
    "find_comment",
    "format_comment",
    "is_comment",
    "parse_comment",
    "rewrite_comment",
]

#: The keys that have a meaning, in the order in which new ones are written.
KNOWN_KEYS = (
    "owner",
    "source",
    "ts",
    "type",
    "actor",
    "trust",
    "valid_from",
    "valid_to",
    "supersedes",
    "superseded_by",
    "pinned",
    "confidence",
    "kind",
    "name",
)

_CLOSING = "-->"
_SPACE = " \t\r\n"  # not str.strip()'s idea of space: U+2028 and the like belong to values
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_OPENING = re.compile(r"<!--[ \t\r\n]*(?:memoranda|wikimem)[ \t]*:", re.IGNORECASE)
_ENCODED = re.compile(r"%(7C|0A|0D|25|2D)", re.IGNORECASE)
_UNSAFE = re.compile(r"%(?=7C|0A|0D|25|2D)|--+|[|\n\r]", re.IGNORECASE)
_LEADING = re.compile(r"(?:[ \t]|%20|%09)+")
_TRAILING = re.compile(r"(?:[ \t]|%20|%09)+\Z")
_EDGES = {"%": "%25", " ": "%20", "\t": "%09"}
_TRUE = frozenset({"true", "yes", "1", "on"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known about an item beside its text: pairs in file order, unknown keys included."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def get(self, key: str) -> str | None:
        """The value of ``key`` (compared case-sensitively), ``None`` when it is not there."""
        for known, value in self.pairs:
            if known == key:
                return value
        return None

    def with_values(self, **changes: str | None) -> Metadata:
        """A copy with some values changed; ``None`` removes one.

        Existing keys keep their place; new ones follow in the order of
        :data:`KNOWN_KEYS`, unknown ones last.

        Raises:
            UsageError: a key that cannot be written down.
        """
        pairs: list[tuple[str, str]] = []
        new = dict(changes)
        for key, value in self.pairs:
            changed = new.pop(key, value) if key in new else value
            if changed is not None:
                pairs.append((key, changed))
        for key in [k for k in KNOWN_KEYS if k in new] + [k for k in new if k not in KNOWN_KEYS]:
            value_or_none = new[key]
            if value_or_none is not None:
                pairs.append((_legal(key), value_or_none))
        return Metadata(tuple(pairs))

    @property
    def owner(self) -> str | None:
        """Whom the item is about (``user:lin``)."""
        return self.get("owner") or None

    @property
    def source(self) -> str | None:
        """Where the item comes from (``turn/conv_1#4``)."""
        return self.get("source") or None

    @property
    def ts(self) -> str | None:
        """When it was said or learned, ISO 8601."""
        return self.get("ts") or None

    @property
    def type(self) -> str | None:
        """One of ``profile event knowledge behavior skill tool``, or a person's own word."""
        return self.get("type") or None

    @property
    def actor(self) -> str | None:
        """Who wrote the item down."""
        return self.get("actor") or None

    @property
    def trust(self) -> str | None:
        """How far the item's origin is trusted."""
        return self.get("trust") or None

    @property
    def valid_from(self) -> str | None:
        """Since when the item holds, ISO 8601."""
        return self.get("valid_from") or None

    @property
    def valid_to(self) -> str | None:
        """Until when the item held, ISO 8601."""
        return self.get("valid_to") or None

    @property
    def supersedes(self) -> str | None:
        """The address of the item that this one replaces."""
        return self.get("supersedes") or None

    @property
    def superseded_by(self) -> str | None:
        """The address of the item that replaces this one."""
        return self.get("superseded_by") or None

    @property
    def kind(self) -> str | None:
        """The item's kind in the generalization matrix (``preference``, ``project_detail``, ...)."""
        return self.get("kind") or None

    @property
    def name(self) -> str | None:
        """The name of an item in a file without headings."""
        return self.get("name") or None

    @property
    def pinned(self) -> bool:
        """Whether the item is exempt from sleep's tidying."""
        return (self.get("pinned") or "").casefold() in _TRUE

    @property
    def confidence(self) -> float | None:
        """How sure the writer was; ``None`` when absent or no finite number."""
        return _number(self.get("confidence") or "")


EMPTY_METADATA = Metadata()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _legal(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise UsageError(f"a metadata key is a word of letters, digits and _ . - (got {key!r})")
    return key


def _encode(value: str) -> str:
    def edge(run: str) -> str:
        return "".join(_EDGES.get(c, c) for c in run)

    lead = tail = ""
    if found := _LEADING.match(value):
        lead, value = edge(found.group()), value[found.end() :]
    if found := _TRAILING.search(value):
        tail, value = edge(found.group()), value[: found.start()]
    return lead + _UNSAFE.sub(lambda m: "".join(f"%{ord(c):02X}" for c in m.group()), value) + tail


def _decode(raw: str) -> str:
    if "%" not in raw:
        return raw

    def edge(run: str) -> str:
        return run.replace("%20", " ").replace("%09", "\t")

    lead = tail = ""
    if found := _LEADING.match(raw):
        lead, raw = edge(found.group()), raw[found.end() :]
    if found := _TRAILING.search(raw):
        tail, raw = edge(found.group()), raw[: found.start()]
    return lead + _ENCODED.sub(lambda m: chr(int(m.group(1), 16)), raw) + tail


def find_comment(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The slice of the last metadata comment that stands alone on its line(s) in ``text[start:end]``.

    The slice has neither the indentation before the comment nor the line end
    behind it. Whether it stands in code is for the caller to know.
    """
    found = None
    while body := _body(text, start, end):
        first, _, last = body
        before = first
        while before > start and text[before - 1] in " \t":
            before -= 1
        after = last + len(_CLOSING)
        while after < end and text[after] in " \t":
            after += 1
        opens = before == start or text[before - 1] in "\r\n\ufeff"
        if opens and (after == end or text[after] in "\r\n"):
            found = (first, last + len(_CLOSING))
        start = last + len(_CLOSING)
    return found


def is_comment(text: str) -> bool:
    """Whether the whole text, but for white space around it, is one metadata comment."""
    stripped = text.strip(_SPACE)
    body = _body(stripped, 0, len(stripped))
    return body is not None and body[0] == 0 and body[2] + len(_CLOSING) == len(stripped)


def _body(text: str, start: int, end: int) -> tuple[int, int, int] | None:
    """Where the next metadata comment begins, its pairs begin, and its pairs end."""
    opening = _OPENING.search(text, start, end)
    if opening is None:
        return None
    last = text.find(_CLOSING, opening.end(), end)
    return None if last < 0 else (opening.start(), opening.end(), last)


def _fragments(body: str) -> Iterator[tuple[str, str | None, str]]:
    """Every ``key=value`` of a comment: its raw text, its key (``None``: broken), its value or fault."""
    for raw in body.split("|"):
        key, equals, value = raw.partition("=")
        key, value = key.strip(_SPACE), value.strip(_SPACE)
        if not key and not equals:
            yield raw, None, ""
        elif not _KEY.fullmatch(key):
            yield raw, None, f"{key!r} cannot be a key"
        elif not equals:
            yield raw, None, f"{key} has no value"
        else:
            yield raw, key, _decode(value)


def parse_comment(comment: str) -> tuple[Metadata, list[str]]:
    """Read a metadata comment; never raises.

    Returns:
        The metadata, and what is broken, in words. Of a key that stands twice
        the first value counts.
    """
    body = _body(comment, 0, len(comment))
    if body is None:
        return EMPTY_METADATA, ["this is no metadata comment"]
    pairs: dict[str, str] = {}
    broken: list[str] = []
    for _, key, value in _fragments(comment[body[1] : body[2]]):
        if key is None:
            if value:
                broken.append(value)
            continue
        if key in pairs:
            broken.append(f"{key} stands twice; the first one counts")
            continue
        pairs[key] = value
        if not value:
            broken.append(f"{key} has no value")
        elif key == "confidence" and _number(value) is None:
            broken.append(f"confidence is not a number: {value!r}")
    return Metadata(tuple(pairs.items())), broken


def format_comment(metadata: Metadata) -> str:
    """The metadata as a comment of one line; :func:`parse_comment` reads it back unchanged.

    Raises:
        UsageError: a key that cannot be written down.
    """
    pairs = " | ".join(f"{_legal(key)}={_encode(value)}" for key, value in metadata.pairs)
    return f"<!-- memoranda: {pairs} -->" if pairs else "<!-- memoranda: -->"


def rewrite_comment(comment: str, metadata: Metadata) -> str:
    """The comment with ``metadata`` in it, keeping the raw text of all that does not change.

    What is broken stays as it is, as do the marker word, order and spacing.

    Raises:
        UsageError: a new key that cannot be written down.
    """
    body = _body(comment, 0, len(comment))
    if body is None:
        return format_comment(metadata)
    wanted = dict(metadata.pairs)
    kept: list[str] = []
    seen: set[str] = set()
    for raw, key, value in _fragments(comment[body[1] : body[2]]):
        if key is None or key in seen:
            kept.append(raw)
        elif key in wanted:
            kept.append(raw if wanted[key] == value else _with_value(raw, wanted[key]))
            seen.add(key)
    new = [f"{_legal(key)}={_encode(value)}" for key, value in metadata.pairs if key not in seen]
    if new:
        kept = _appended(kept, new)
    written = "|".join(kept) or " "
    if written[0] not in _SPACE and comment[body[1]] in _SPACE:
        written = " " + written  # the pair that began with the space is gone
    return comment[: body[1]] + written + comment[body[2] :]


def _with_value(raw: str, value: str) -> str:
    head, _, old = raw.partition("=")
    lead = old[: len(old) - len(old.lstrip(_SPACE))]
    tail = old[len(old.rstrip(_SPACE)) :] if old.strip(_SPACE) else ""
    return f"{head}={lead}{_encode(value)}{tail}"


def _appended(kept: list[str], new: list[str]) -> list[str]:
    while kept and not kept[-1].strip(_SPACE):
        kept.pop()
    if not kept:
        return [" " + " | ".join(new) + " "]
    core = kept[-1].rstrip(_SPACE)
    tail = kept[-1][len(core) :] or " "
    return [*kept[:-1], core + " ", " " + " | ".join(new) + tail]
