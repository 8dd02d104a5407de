"""The metadata comment of an item: reading, writing, and rewriting what a person wrote.

::

    <!-- memoranda: owner=user:lin | source=conv_20260710#4 | ts=2026-07-10T03:00:00Z -->

Pairs are separated by ``|``. Only what would break the comment is
percent-encoded: ``|``, line ends, ``--``, white space at a value's ends, and a
``%`` that would otherwise be read as one of these. Nothing else is decoded.
"""

from __future__ import annotations

from memoranda.core.pairs import SPACE, encoded, fault_of, legal_key, number, read_pair, sound_pairs
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

__all__ = [
    "EMPTY_METADATA",
    "KNOWN_KEYS",
    "SOUND_COMMENT",
    "Metadata",
    "find_comment",
    "format_comment",
    "is_comment",
    "parse_comment",
    "rewrite_comment",
    "sound_metadata",
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

#: A pattern of metadata comments as tools write them; the group is what :func:`sound_metadata` reads.
SOUND_COMMENT = "<!-- (?:memoranda|wikimem):([^>]*)-->"

_USUAL_OPENING = "<!-- memoranda:"
_CLOSING = "-->"
_TRUE = frozenset({"true", "yes", "1", "on"})

# Compiled when the first comment comes that is written in another way.
_OPENING = r"(?i)<!--[ \t\r\n]*(?:memoranda|wikimem)[ \t]*:"
_opening: re.Pattern[str] | None = None


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
                pairs.append((legal_key(key), value_or_none))
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
        return number(self.get("confidence") or "")


EMPTY_METADATA = Metadata()


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
    stripped = text.strip(SPACE)
    body = _body(stripped, 0, len(stripped))
    return body is not None and body[0] == 0 and body[2] + len(_CLOSING) == len(stripped)


def _body(text: str, start: int, end: int) -> tuple[int, int, int] | None:
    """Where the next metadata comment begins, its pairs begin, and its pairs end."""
    global _opening
    if text.startswith(_USUAL_OPENING, start, end):
        begins = start + len(_USUAL_OPENING)
    else:
        if _opening is None:
            import re

            _opening = re.compile(_OPENING)
        opening = _opening.search(text, start, end)
        if opening is None:
            return None
        start, begins = opening.span()
    last = text.find(_CLOSING, begins, end)
    return None if last < 0 else (start, begins, last)


def sound_metadata(body: str) -> Metadata | None:
    """What a comment says whose pairs are ``body``; ``None`` when anything in it is broken."""
    try:
        pairs = tuple(map(sound_pairs.__getitem__, body.split("|")))
    except KeyError:
        return None
    return Metadata(pairs) if len(dict(pairs)) == len(pairs) else None


def parse_comment(comment: str) -> tuple[Metadata, list[str]]:
    """Read a metadata comment; never raises.

    Returns:
        The metadata, and what is broken, in words. Of a key that stands twice
        the first value counts.
    """
    place = _body(comment, 0, len(comment))
    if place is None:
        return EMPTY_METADATA, ["this is no metadata comment"]
    body = comment[place[1] : place[2]]
    if sound := sound_metadata(body):
        return sound, []
    pairs: dict[str, str] = {}
    broken: list[str] = []
    for key, value in map(read_pair, body.split("|")):
        if key is None:
            if value:
                broken.append(value)
        elif key in pairs:
            broken.append(f"{key} stands twice; the first one counts")
        else:
            pairs[key] = value
            if fault := fault_of(key, value):
                broken.append(fault)
    return Metadata(tuple(pairs.items())), broken


def format_comment(metadata: Metadata) -> str:
    """The metadata as a comment of one line; :func:`parse_comment` reads it back unchanged.

    Raises:
        UsageError: a key that cannot be written down.
    """
    pairs = " | ".join(f"{legal_key(key)}={encoded(value)}" for key, value in metadata.pairs)
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
    for raw in comment[body[1] : body[2]].split("|"):
        key, value = read_pair(raw)
        if key is None or key in seen:
            kept.append(raw)
        elif key in wanted:
            kept.append(raw if wanted[key] == value else _with_value(raw, wanted[key]))
            seen.add(key)
    new = [f"{legal_key(key)}={encoded(value)}" for key, value in metadata.pairs if key not in seen]
    if new:
        kept = _appended(kept, new)
    written = "|".join(kept) or " "
    if written[0] not in SPACE and comment[body[1]] in SPACE:
        written = " " + written  # the pair that began with the space is gone
    return comment[: body[1]] + written + comment[body[2] :]


def _with_value(raw: str, value: str) -> str:
    head, _, old = raw.partition("=")
    lead = old[: len(old) - len(old.lstrip(SPACE))]
    tail = old[len(old.rstrip(SPACE)) :] if old.strip(SPACE) else ""
    return f"{head}={lead}{encoded(value)}{tail}"


def _appended(kept: list[str], new: list[str]) -> list[str]:
    while kept and not kept[-1].strip(SPACE):
        kept.pop()
    if not kept:
        return [" " + " | ".join(new) + " "]
    core = kept[-1].rstrip(SPACE)
    tail = kept[-1][len(core) :] or " "
    return [*kept[:-1], core + " ", " " + " | ".join(new) + tail]
