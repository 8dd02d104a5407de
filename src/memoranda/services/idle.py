"""Whether anybody works with a vault just now, and whether it is the time to sleep."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta

from memoranda.storage.journal import change_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from memoranda.storage.sleep_settings import SleepSettings
    from memoranda.storage.store import Storage

__all__ = ["activity", "is_time_to_sleep", "last_work"]

#: What changes where somebody works; sleep itself writes the journal, which tells nothing therefore.
_FILES = ("usage.jsonl",)
_FOLDERS = ("inbox", "resources")
_OPEN_STAGE, _STAGES = ".open.jsonl", (".open.jsonl", ".json")
#: Outside of its hours sleep waits until there was none for so long.
_LONGEST_AWAKE = timedelta(hours=24)


def activity(storage: Storage, *, ended: bool = False) -> tuple[tuple[str, int, int], ...]:
    """What somebody's work changes: paths with sizes and times in nanoseconds. Another value: somebody works.

    With stages that have ``ended``, which sleep itself puts aside.
    """
    found: list[tuple[str, int, int]] = []
    for path in _watched(storage.vault.root, _STAGES if ended else _OPEN_STAGE):
        with suppress(OSError):
            status = os.stat(path)
            found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(sorted(found))


def _watched(root: str, stages_ending: str | tuple[str, ...]) -> Iterator[str]:
    yield from (os.path.join(root, name) for name in _FILES)
    for name in _FOLDERS:
        folder = os.path.join(root, name)
        yield folder
        with suppress(OSError), os.scandir(folder) as listing:
            yield from (entry.path for entry in listing)
    projects = os.path.join(root, "projects")
    with suppress(OSError), os.scandir(projects) as listing:
        for project in list(listing):
            stages = os.path.join(project.path, "stages")
            with suppress(OSError), os.scandir(stages) as stages_listing:
                yield from (entry.path for entry in stages_listing if entry.name.endswith(stages_ending))


def last_work(storage: Storage) -> datetime | None:
    """When somebody worked last, as the files and the journal tell; ``None``: never."""
    from datetime import UTC, datetime

    latest = max((changed for _, _, changed in activity(storage, ended=True)), default=0)
    slept: set[str] = set()
    for entry in storage.journal.read_backwards():
        change = change_of(entry.id)
        if entry.action == "sleep":
            slept.add(change)
        if change in slept or entry.action == "ask":
            continue  # the last line of a sleep's change says what it was
        with suppress(ValueError):
            latest = max(latest, int(datetime.fromisoformat(entry.ts).timestamp() * 1e9))
        break
    return datetime.fromtimestamp(latest / 1e9, UTC) if latest else None


def last_sleep(storage: Storage) -> datetime | None:
    """When the newest sleep changed something; ``None``: none ever did."""
    from datetime import datetime

    for entry in storage.journal.read_backwards():
        if entry.action == "sleep":
            with suppress(ValueError):
                return datetime.fromisoformat(entry.ts)
    return None


def is_time_to_sleep(storage: Storage, settings: SleepSettings, now: datetime, zone: tzinfo) -> str:
    """Nothing where it is; else why not, in words: somebody works, or it is the wrong hour and not urgent."""
    worked = last_work(storage)
    idle = None if worked is None else now - worked
    if idle is not None and idle < timedelta(minutes=settings.after):
        return (
            f"somebody worked {int(idle.total_seconds() // 60)} min ago; {settings.after:g} min without work are wanted"
        )
    slept = last_sleep(storage)
    lately = slept is not None and now - slept < _LONGEST_AWAKE
    if lately and settings.hours and not _within(settings.hours, now.astimezone(zone)):
        return f"it is not between {settings.hours.replace('-', ' and ')}, and the last sleep was within a day"
    return ""


def _within(hours: str, local: datetime) -> bool:
    begin, end = hours.split("-")
    clock = f"{local:%H:%M}"
    return begin <= clock < end if begin <= end else clock >= begin or clock < end
