"""What no longer holds: superseded by something newer, or past its time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memoranda.core.records import dataclass
from memoranda.index.entries import link_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from memoranda.index.entries import Entry, Key
    from memoranda.retrieval.view import View

__all__ = ["Outdated", "moment_after", "outdated", "reference_keys"]

_DAY = r"\s*(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?\s*"
_REFERENCE = r"\s*!?(?:\[\[)?([^\[\]|]*)(?:\|[^\]]*)?(?:\]\])?\s*"


@dataclass(frozen=True, slots=True)
class Outdated:
    """Why an entry ranks below others, in words, and the visible entry that took its place."""

    reasons: tuple[str, ...]
    successor: Entry | None = None


def outdated(entry: Entry, view: View, now: datetime, zone: tzinfo) -> Outdated | None:
    """Whether an entry no longer holds at ``now``.

    A successor that the view leaves out (it is newer than the time asked
    about) has not taken its place yet; one that is not found at all has.
    """
    reasons: list[str] = []
    successor: Entry | None = None
    if reference := entry.metadata.superseded_by:
        successor = view.find_hidden(reference_keys(reference, entry))
        if successor is None or successor is entry:
            successor = None
            reasons.append(f"superseded by {reference}")
        elif view.sees(successor):
            reasons.append(f"superseded by {successor.address}")
        else:
            successor = None
    if valid_to := entry.metadata.valid_to:
        end = moment_after(valid_to, zone)
        if end is not None and end <= now:
            reasons.append(f"valid until {valid_to}")
    return Outdated(tuple(reasons), successor) if reasons else None


def reference_keys(reference: str, source: Entry) -> Sequence[Key]:
    """Where ``superseded_by`` and ``supersedes`` lead: an address, a link, or a name in the same category."""
    found = re.fullmatch(_REFERENCE, reference)
    target = (found.group(1) if found else reference).strip()
    category, *name = re.split("[:：#]", target, maxsplit=1)
    return link_keys(category.strip(), name[0].strip(), source) if name else link_keys("", target, source)


def moment_after(text: str, zone: tzinfo) -> datetime | None:
    """The first moment after a date (a year, month, day or an exact time), or ``None`` if it is no date.

    A day, month or year ends where it ends in ``zone``; a time without one is taken to be there.
    """
    try:
        if found := re.fullmatch(_DAY, text):
            year, month, day = (int(part) if part else None for part in found.groups())
            if year is None or month is None:
                return datetime((year or 0) + 1, 1, 1, tzinfo=zone)
            if day is None:
                return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=zone)
            return datetime(year, month, day, tzinfo=zone) + timedelta(days=1)
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None
