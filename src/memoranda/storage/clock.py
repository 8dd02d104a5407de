"""The machine's clock, behind the :class:`memoranda.core.ports.Clock` port, and how moments are written."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from memoranda.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import timedelta

__all__ = ["SystemClock", "parse_moment", "written_moment"]


class _MachineZone(tzinfo):
    """The machine's zone with the offset of each moment: summer time has its own, and so had former years."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """The offset at a local time; of a time that comes twice, ``fold`` says which."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Not told apart from the rest of the offset."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """The zone's abbreviation at a local time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """The local time at a moment."""
        local = moment.replace(tzinfo=UTC).astimezone()
        found = local.replace(tzinfo=self)
        return found if self.utcoffset(found) == local.utcoffset() else found.replace(fold=1)


_MACHINE_ZONE = _MachineZone()


class SystemClock:
    """The machine's time; days begin and end in the machine's zone (``TZ``)."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        return datetime.now(UTC)

    def zone(self) -> tzinfo:
        """The machine's zone, summer time included."""
        return _MACHINE_ZONE


def written_moment(moment: datetime) -> str:
    """``2026-07-10T03:00:00Z``; microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_moment(text: str, zone: tzinfo, *, end_of_day: bool = False) -> datetime:
    """Read an ISO 8601 date or moment; without an offset it is in ``zone``.

    A bare date is that day's first moment, or its last with ``end_of_day``.

    Raises:
        UsageError: the text is neither.
    """
    cleaned = text.strip()
    try:
        moment = datetime.fromisoformat(cleaned)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        if end_of_day and len(cleaned) <= 10:
            # Where the clock goes back at midnight the last hour comes twice.
            moment = moment.replace(hour=23, minute=59, second=59, microsecond=999999, fold=1)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"a time is a date or moment such as 2026-07-10 or 2026-07-10T09:30, not {text!r}") from error
