"""A stage that goes on: its file of lines, and the one process that adds to it."""

from __future__ import annotations

import json
import os
from _thread import RLock  # threading's, without the rest of threading
from contextlib import suppress

from memoranda.core.errors import Conflict, OutsideVault, VaultBusy
from memoranda.core.records import dataclass, replace
from memoranda.core.stages import StageArchive, archive_from_record, header_of, record_from_json, record_to_json
from memoranda.storage.files import read_bytes, reading, replace_file, stamp_of, sync_folder, writing
from memoranda.storage.jsonlines import JsonLines, encode_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from memoranda.core.stages import StageRecord
    from memoranda.storage.files import Stamp
    from memoranda.storage.locks import VaultLock

__all__ = ["UNREADABLE", "Lines", "OpenStage", "Place", "encoded", "parse_lines"]

#: Under this key an archive keeps the lines that could not be read as records.
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stage lies. ``project`` and ``stage`` are as the folder and the files spell them."""

    folder: str
    project: str
    stage: str

    def __str__(self) -> str:
        return f"stage {self.stage} of project {self.project}"

    @property
    def open_path(self) -> str:
        """The file while it goes on."""
        return os.path.join(self.folder, f"{self.stage}.open.jsonl")

    @property
    def archive_path(self) -> str:
        """The file once it has ended."""
        return os.path.join(self.folder, f"{self.stage}.json")

    @property
    def torn_path(self) -> str:
        """What crashes tore off the end of the open one."""
        return JsonLines(self.open_path).torn_path

    def check_no_links(self) -> None:
        """See that the files are no links: they could lead to another project's. Raises OutsideVault."""
        for path in (self.open_path, self.archive_path, self.torn_path):
            if os.path.islink(path):
                name = os.path.basename(path)
                raise OutsideVault(f"projects/{self.project}/stages/{name} is a link; it is neither read nor written")

    def remove_open(self) -> None:
        """Remove what is left of the open one, as far as that can be done: beside an archive it counts no more."""
        for path in (self.open_path, self.torn_path):
            with suppress(OSError):
                os.unlink(path)
        with suppress(OSError):
            sync_folder(self.folder)

    def remove_torn(self) -> None:
        """Remove what crashes tore off. Raises OSError."""
        with suppress(FileNotFoundError):
            os.unlink(self.torn_path)


@dataclass(slots=True)
class Lines:
    """What an open stage's file holds; ``has_head`` tells whether its first line says what it is."""

    head: StageArchive
    records: list[StageRecord]
    unreadable: list[str]
    has_head: bool = False

    def as_archive(self) -> StageArchive:
        """The stage with its records. Lines that are none are kept beside them."""
        extra = {**self.head.extra, UNREADABLE: self.unreadable} if self.unreadable else self.head.extra
        return replace(self.head, records=tuple(self.records), extra=extra)


def parse_lines(data: bytes, place: Place) -> Lines:
    """Read an open stage's file; a line that is nothing costs only itself."""
    found = Lines(StageArchive(place.stage, place.project), [], [])
    for line in data.split(b"\n"):
        if not line.strip(b"\0 \t\r"):
            continue  # a power cut may leave blanks
        try:
            value = json.loads(line)
            if not found.has_head and isinstance(value, dict) and "kind" not in value:
                head = archive_from_record(value)
                # Where it lies says whose it is; and it has not ended.
                found.head = replace(head, stage=place.stage, project=place.project, ended="", records=())
                found.has_head = True
            else:
                found.records.append(record_from_json(value))
        except (ValueError, RecursionError):
            found.unreadable.append(line.decode("utf-8", "backslashreplace"))
    if not found.has_head:
        found.head = replace(found.head, begun=next((one.ts for one in found.records if one.ts), ""))
    return found


def encoded(archive: StageArchive) -> bytes:
    """The file of a stage that has ended: readable, with a line for each record."""
    rows = [b"  " + encode_line(record_to_json(record)).rstrip(b"\n") for record in archive.records]
    records = b"[\n" + b",\n".join(rows) + b"\n ]" if rows else b"[]"
    head = json.dumps(header_of(archive), ensure_ascii=False, indent=1)
    try:
        begin = head.encode("utf-8")
    except UnicodeEncodeError:
        begin = json.dumps(header_of(archive), indent=1).encode("ascii")
    return begin.removesuffix(b"\n}") + b',\n "records": ' + records + b"\n}\n"


class OpenStage:
    """A stage that this process goes on with, and nobody else meanwhile. Safe from several threads.

    ``owner`` is the lock that says so, at ``lock_path``; ``changing`` holds that of the folder.
    """

    def __init__(
        self, place: Place, owner: VaultLock, lock_path: str, changing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._place = place
        self._owner = owner
        self._lock_path = lock_path
        self._changing = changing
        self._file = JsonLines(place.open_path)
        self._lines = Lines(StageArchive(place.stage, place.project), [], [])
        self._stamp: Stamp | None = None
        self._mutex = RLock()
        self._closed = False

    @property
    def head(self) -> StageArchive:
        """The stage without its records."""
        return self._lines.head

    @property
    def is_closed(self) -> bool:
        """Whether it has been closed or ended."""
        return self._closed

    @property
    def records(self) -> tuple[StageRecord, ...]:
        """What happened so far, from memory; read anew where somebody else changed the file: what is forgotten is gone.

        Raises:
            VaultUnreadable.
        """
        if self._owner.depth:
            with self._mutex, reading(self._place.open_path):
                self._load()
        return tuple(self._lines.records)

    def start(self, head: StageArchive) -> None:
        """Read what is there, or write the first line. Whoever calls this holds the folder's lock.

        Raises:
            VaultFull, VaultReadOnly, VaultUnreadable.
        """
        self._lines.head = head
        with writing(self._place.open_path):
            self._catch_up()

    def append(self, record: StageRecord) -> None:
        """Add a record; durable when this returns.

        Raises:
            Conflict: it is closed.
            VaultBusy: this is a child of the process that has it open.
            VaultFull, VaultReadOnly: it was not added.
        """
        self._check_owned()
        with self._mutex, self._changing(), writing(self._place.open_path):
            self._catch_up()
            self._file.append([record_to_json(record)])
            self._lines.records.append(record)
            self._stamp = stamp_of(self._place.open_path)

    def finish(self, ended: str, summary: str) -> StageArchive:
        """Write the archive, durably, and remove the open file; the stage is closed then.

        Raises:
            Conflict: it is closed.
            VaultBusy, VaultFull, VaultReadOnly: it goes on.
        """
        self._check_owned()
        place = self._place
        with self._mutex, self._changing(), writing(place.archive_path):
            self._catch_up()
            archive = self._lines.as_archive()
            archive = replace(archive, ended=ended, summary=summary or archive.summary)
            if os.path.exists(place.archive_path):
                # It could not be read: else this one would not have been opened.
                os.replace(place.archive_path, f"{place.archive_path}.damaged")
            replace_file(place.archive_path, encoded(archive))
            place.remove_open()
            self.close()
        return archive

    def close(self) -> None:
        """Let others go on with it. Does nothing for one that is closed."""
        with self._mutex:
            self._closed = True
            if self._owner.depth:
                # Who waits with the removed file open looks whether it is still there, and locks another one.
                with suppress(OSError):
                    os.unlink(self._lock_path)
                with suppress(RuntimeError):  # another thread opened it: the kernel's lock is given back all the same
                    self._owner.release()

    def _check_owned(self) -> None:
        if self._closed:
            raise Conflict(f"{self._place} is closed; open it again to go on")
        if not self._owner.depth:
            raise VaultBusy(f"{self._place} is open in the process that this one comes from; that one goes on with it")

    def _catch_up(self) -> None:
        """See that memory is as the file, and the file is whole: somebody may have changed it or taken it away."""
        path = self._place.open_path
        if self._stamp is not None and stamp_of(path) == self._stamp:
            return
        self._place.check_no_links()
        self._file.mend()
        self._stamp = None
        self._load()
        if not self._lines.has_head and not self._lines.records and not self._lines.unreadable:
            self._file.append([header_of(self._lines.head)])
            self._lines.has_head = True
            self._stamp = stamp_of(path)

    def _load(self) -> None:
        """Read the file, if it is not as it was last."""
        path = self._place.open_path
        now = stamp_of(path)
        if now is not None and now == self._stamp:
            return
        self._place.check_no_links()
        found, head = parse_lines(b"" if now is None else read_bytes(path), self._place), self._lines.head
        if not found.has_head:
            found.head = replace(head, begun=found.head.begun or head.begun)
        self._lines, self._stamp = found, now
