"""Times as other programs write them: ISO 8601 or seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

from memoranda.core.errors import UsageError
from memoranda.storage.clock import parse_moment, written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo

__all__ = ["moment"]

#: Seconds beyond this (the year 5138) are milliseconds.
_MILLISECONDS = 1e11


def moment(value: object, zone: tzinfo = UTC) -> str | None:
    """ISO 8601 in UTC (a bare date stays one), or ``None`` where ``value`` is no time; ``zone`` is for local times."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = float(value)
            if seconds <= 0:
                return None
            return written_moment(datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, UTC))
        if not isinstance(value, str) or not value.strip():
            return None
        text = value.strip()
        found = parse_moment(text, zone)
        return text if len(text) == len("2026-07-10") and text.count("-") == 2 else written_moment(found)
    except (UsageError, ValueError, OverflowError, OSError):
        return None
