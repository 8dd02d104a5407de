"""Questions that tell of what is forgotten go with it, open or answered."""

from __future__ import annotations

import re

from memoranda.core.choices import Choice, choice_to_record
from memoranda.core.names import name_key
from memoranda.core.records import replace
from memoranda.services.linking import item_key
from memoranda.storage.choice_files import ChoiceFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from memoranda.core.model import JournalEntry
    from memoranda.services.scrub import Traces
    from memoranda.storage.store import Storage

__all__ = ["choices_about", "forget_choices"]


def forget_choices(storage: Storage, addresses: Iterable[str], traces: Traces) -> tuple[str, ...]:
    """Remove the choices that tell of forgotten items, and their answers from the journal; their ids. Needs the lock.

    Raises:
        VaultReadOnly.
    """
    files = ChoiceFiles(storage.vault)
    files.clear_temporaries()
    gone = choices_about(storage, addresses, traces)
    for choice in gone:
        files.remove(choice)
    if gone:
        storage.journal.scrub(lambda entry: _without_answer(entry, gone))
    return gone


def choices_about(storage: Storage, addresses: Iterable[str], traces: Traces) -> tuple[str, ...]:
    """The ids of the choices that name one of the addresses, or hold an item's text. Raises VaultUnreadable."""
    files = ChoiceFiles(storage.vault)
    is_named = _naming(addresses)
    found = []
    for id in files.ids():
        choice = files.read(id)
        if isinstance(choice, Choice) and _tells(choice, is_named, traces):
            found.append(id)
    return tuple(found)


def _tells(choice: Choice, is_named: re.Pattern[str] | None, traces: Traces) -> bool:
    keys = traces.keys
    for text in _texts(choice_to_record(choice)):
        if traces.shows_in(text) or (is_named is not None and is_named.search(name_key(text))):
            return True
    return any(item_key(text) in keys for text in _texts([choice.subject, choice.effect]) if text)


def _naming(addresses: Iterable[str]) -> re.Pattern[str] | None:
    """Finds any of the addresses, in either form of a link, within other text but not within a longer address."""
    keys = {name_key(address) for address in addresses}
    keys |= {key.replace(":", "#", 1) for key in keys}
    if not keys:
        return None
    # Chinese goes on without a space after a name; Latin letters would be another name's.
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, sorted(keys)))})(?![a-z0-9_-])", re.ASCII)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _without_answer(entry: JournalEntry, gone: tuple[str, ...]) -> JournalEntry:
    if entry.detail.get("choice") not in gone or "answer" not in entry.detail:
        return entry
    return replace(entry, detail={key: value for key, value in entry.detail.items() if key != "answer"})
