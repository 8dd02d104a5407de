"""A clock that goes where it is told, also backwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

__all__ = ["FakeClock"]


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime | None = None, zone: tzinfo = UTC) -> None:
        self._now = (now or datetime(2026, 7, 10, 3, 0, tzinfo=UTC)).astimezone(UTC)
        self._zone = zone

    def now(self) -> datetime:
        return self._now

    def zone(self) -> tzinfo:
        return self._zone

    def set(self, now: datetime) -> None:
        self._now = now.astimezone(UTC)

    def advance(self, **spans: float) -> None:
        """As ``timedelta`` takes them; negative ones go back."""
        self._now += timedelta(**spans)
