"""What was remembered at an earlier moment: today's files, wound back along the history."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.links import find_links
from memoranda.core.metadata import EMPTY_METADATA, parse_comment
from memoranda.core.names import content_hash, name_key
from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry
from memoranda.retrieval.validity import moment_after
from memoranda.storage.clock import parse_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, tzinfo

    from memoranda.core.addresses import Address
    from memoranda.core.metadata import Metadata
    from memoranda.index.segmenting import Segmentation
    from memoranda.storage.history import ChangeRecord, ItemState
    from memoranda.storage.store import Storage

__all__ = ["FixedClock", "corpus_as_of", "entries_as_of", "is_valid_at"]


class FixedClock:
    """A clock that stands still at one moment, for asking what held then."""

    def __init__(self, moment: datetime, zone: tzinfo) -> None:
        self._moment = moment
        self._zone = zone

    def now(self) -> datetime:
        """The moment, in UTC."""
        return self._moment

    def zone(self) -> tzinfo:
        """The user's zone."""
        return self._zone


def corpus_as_of(
    storage: Storage, present: Iterable[Entry], moment: datetime, segmentation: Segmentation | None = None
) -> Corpus:
    """A corpus of what was valid at ``moment``; built for one question and thrown away."""
    corpus = Corpus(segmentation=segmentation)
    for entry in entries_as_of(storage, present, moment):
        corpus.put(entry)
    return corpus


def entries_as_of(storage: Storage, present: Iterable[Entry], moment: datetime) -> Iterator[Entry]:
    """The entries that were valid at ``moment``, with the text that they had then.

    The history gives older text as far back as it is kept; ``ts``,
    ``valid_from``, ``valid_to`` and ``superseded_by`` say what was valid. A fact
    that was written down later but is dated earlier counts from its date.
    """
    zone = storage.clock.zone()
    then: dict[tuple[str, str, str], Entry | None] = {}
    for record in _later_records(storage, moment):
        seen_late = record.extra.get("kind") == "found"
        for change in reversed(record.items):
            category = storage.vault.address_at(change.path)
            if category is None:
                continue
            if change.after is not None and (change.before is None or change.before.name != change.after.name):
                address = category.named(change.after.name)
                # What was added later may be dated earlier; a file that was only found later may be of any age.
                added = change.before is None
                entry = _entry(address, change.after, change.path) if added else None
                then[address.key] = entry if entry is not None and (seen_late or _is_dated(entry)) else None
            if change.before is not None:
                address = category.named(change.before.name)
                then[address.key] = _entry(address, change.before, change.path)
    for entry in present:
        key = _key(entry)
        if key is not None and key in then:
            continue
        if is_valid_at(entry, moment, zone):
            yield entry
    for changed in then.values():
        if changed is not None and is_valid_at(changed, moment, zone):
            yield changed


def _is_dated(entry: Entry) -> bool:
    return bool(entry.ts or entry.metadata.valid_from)


def _later_records(storage: Storage, moment: datetime) -> Iterator[ChangeRecord]:
    """What happened after ``moment``, newest first; ended by the first record that is not later.

    Order on disk decides, since the clock may have gone back.
    """
    given_up: set[str] = set()
    for record in storage.history.read_backwards():
        if record.state == "aborted":
            given_up.add(record.id)
            continue
        try:
            when = parse_moment(record.ts, storage.clock.zone())
        except UsageError:
            continue
        if when <= moment:
            return
        if record.id not in given_up:
            yield record


def _entry(address: Address, state: ItemState, path: str) -> Entry:
    metadata: Metadata = parse_comment(state.comment)[0] if state.comment else EMPTY_METADATA
    category = address.scope.prefix + address.category
    return Entry(
        address=str(address),
        level="item",
        scope=str(address.scope),
        category=category,
        name=state.name,
        text=state.text,
        hash=content_hash(state.text),
        metadata=metadata,
        links=find_links(state.text),
        citation=path,
        ts=metadata.ts or "",
        parent=category,
    )


def _key(entry: Entry) -> tuple[str, str, str] | None:
    if entry.level != "item":
        return None
    category = entry.category
    if entry.scope != "shared":
        category = category.removeprefix(f"{entry.scope}/")
    return (name_key(entry.scope), name_key(category), name_key(entry.name))


def is_valid_at(entry: Entry, moment: datetime, zone: tzinfo) -> bool:
    """Whether an entry's own dates say that it was known and held at ``moment``; bare dates are days of ``zone``."""
    metadata = entry.metadata
    known, begins = _moment(entry.ts or metadata.ts, zone), _moment(metadata.valid_from, zone)
    if begins is not None and begins > moment:
        return False
    if known is not None and known > moment and begins is None:
        return False
    ends = moment_after(metadata.valid_to, zone) if metadata.valid_to else None
    return ends is None or ends > moment


def _moment(text: str | None, zone: tzinfo) -> datetime | None:
    if not text:
        return None
    try:
        return parse_moment(text, zone)
    except UsageError:
        return None
