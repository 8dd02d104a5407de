"""``projects/<project>/stages/``: the short-term tier, a file for each stage of work.

::

    <stage>.open.jsonl        while it goes on: a line that says what it is, then a line for each record
    <stage>.open.jsonl.torn   what a crash tore off its end; goes when the stage ends
    <stage>.json              once it has ended; from then on the other one counts no more

They lie in the vault, also where the settings put the project's memory
elsewhere. Who has a stage open holds a kernel lock of its own
(``.lock.stage.<hash>``), which its death frees. Whoever changes a file holds,
for that moment, the lock of the project's folder (``.lock.stages.<n>``). What
was put away for its age lies in ``history/sleep/<change>/<project>/``.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress

from memoranda.core.addresses import Scope
from memoranda.core.errors import BadName, Conflict, MemorandaError, NotFound, OutsideVault, VaultBusy
from memoranda.core.names import check_identifier, name_key
from memoranda.core.records import dataclass, replace
from memoranda.core.stages import StageArchive, archive_from_record, header_of, record_to_json
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    make_folder,
    read_bytes,
    reading,
    replace_file,
    writing,
)
from memoranda.storage.jsonlines import encode_line
from memoranda.storage.locks import VaultLock
from memoranda.storage.open_stages import OpenStage, Place, encoded, parse_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memoranda.storage.vault import VaultFolder

__all__ = ["StageFiles", "StageSummary"]

_FOLDER = "stages"
#: Where :mod:`.stage_history` puts old ones, below the id of a change.
_ASIDE = "history/sleep"
_OPEN, _ENDED = ".open.jsonl", ".json"
#: Projects share so many locks for the moments in which a file is changed.
_LOCKS = 16
_RECORDS = b' "records": [\n'


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage in a list; ``ended`` is empty while it goes on, ``problem`` says what is wrong with its file."""

    project: str
    stage: str
    agent: str = ""
    begun: str = ""
    ended: str = ""
    records: int = 0
    problem: str = ""


class StageFiles:
    """The stages of one vault."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault

    def open(self, project: str, stage: str, *, agent: str, begun: str) -> OpenStage:
        """Begin a stage, or go on with one that has not ended; it is this caller's alone until it is closed.

        Raises:
            BadName: the project's id or the stage's name cannot be one.
            Conflict: it has ended, or cannot be read.
            VaultBusy: it is open already, here or in another process.
            OutsideVault, VaultFull, VaultReadOnly.
        """
        place = self._place(project, stage)
        with writing(place.folder):
            make_folder(place.folder)
        lock_path = self._vault.path(f".lock.stage.{_digest(place)}")
        owner = VaultLock(lock_path)
        try:
            owner.acquire(0.0)
        except VaultBusy:
            message = f"{place} is open already, here or in another process; one at a time goes on with it"
            raise VaultBusy(message) from None
        opened = OpenStage(place, owner, lock_path, lambda: self._changing(place.project))
        try:
            with self._changing(place.project):
                self._check_not_ended(place)
                opened.start(StageArchive(place.stage, place.project, agent, begun))
        except BaseException:
            opened.close()
            raise
        return opened

    def _check_not_ended(self, place: Place) -> None:
        archive = self._archive(place)
        if isinstance(archive, StageArchive):
            place.remove_open()
            raise Conflict(f"{place} has ended; open {self._free_name(place)} to go on")
        if archive is not None and not os.path.exists(place.open_path):
            raise Conflict(f"{place} has ended and its file is damaged: {archive}")

    def _free_name(self, place: Place) -> str:
        taken = {name_key(name) for name in self._names(place.folder)}
        number = 2
        while name_key(f"{place.stage}-{number}") in taken:
            number += 1
        return f"{place.stage}-{number}"

    def read(self, project: str, stage: str) -> StageArchive:
        """A stage with its records, ended or as far as it has come.

        Raises:
            NotFound: there is none of that name.
            Conflict: it has ended and its file is damaged.
            BadName, OutsideVault, VaultUnreadable.
        """
        return self._read(self._place(project, stage))

    def readable(self) -> Iterator[StageArchive]:
        """Every stage that can be read, one after the other, also those that were put away. Raises VaultUnreadable."""
        for name, folder in self._folders():
            for stage in sorted(self._names(folder)):
                with suppress(Conflict, NotFound, OutsideVault):
                    yield self._read(Place(folder, name, stage))

    def _read(self, place: Place) -> StageArchive:
        archive: StageArchive | ValueError | None = None
        for _ in range(2):  # it may end between the two looks
            archive = self._archive(place)
            if isinstance(archive, StageArchive):
                return archive
            if (lines := self._data(place, _OPEN)) is not None:
                return parse_lines(lines, place).as_archive()
        if archive is not None:
            raise Conflict(f"{place} is damaged: {archive}")
        raise NotFound(f"there is no {place}")

    def summaries(self, project: str | None = None) -> Iterator[StageSummary]:
        """The stages of a project, or of all, by name; of none more than a record at a time is in memory.

        Raises:
            BadName, OutsideVault, VaultUnreadable: that one project cannot be looked at.
        """
        for one in self._projects() if project is None else [project]:
            try:
                name, folder = self._home(one)
                stages = sorted(self._names(folder))
            except MemorandaError:
                if project is not None:
                    raise
                continue
            for stage in stages:
                yield self._summary(Place(folder, name, stage))

    def _summary(self, place: Place) -> StageSummary:
        try:
            found = self._counted(place)
            if found is None:
                # Not as this program writes it: a person has been at it.
                whole = self.read(place.project, place.stage)
                found = whole, len(whole.records)
        except MemorandaError as error:
            return StageSummary(place.project, place.stage, problem=str(error))
        head, count = found
        return StageSummary(place.project, place.stage, head.agent, head.begun, head.ended, count)

    def _counted(self, place: Place) -> tuple[StageArchive, int] | None:
        """A stage without its records, and how many these are, line by line; ``None`` where that cannot be told so."""
        ended = os.path.exists(place.archive_path)
        path = place.archive_path if ended else place.open_path
        place.check_no_links()
        with reading(path), suppress(ValueError, RecursionError, FileNotFoundError), open(path, "rb") as stream:
            if not ended:
                head = archive_from_record(json.loads(stream.readline()))
                return replace(head, ended=""), sum(line.endswith(b"}\n") for line in stream)
            lines = []
            for line in stream:
                if line == _RECORDS:
                    break
                lines.append(line)
            head = archive_from_record(json.loads(b"".join(lines).rstrip().removesuffix(b",") + b"}"))
            for count, line in enumerate(stream):
                if not (line.startswith(b"  {") and line.rstrip(b",\n").endswith(b"}")):
                    return (head, count) if head.ended and line + stream.read(3) == b" ]\n}\n" else None
        return None

    def blank(self, change: Callable[[StageArchive], StageArchive]) -> list[str]:
        """Rewrite every stage as ``change`` has it; which those are that it changed, as paths in the vault.

        What a crash left of them goes too.

        Raises:
            VaultReadOnly, VaultFull, VaultBusy: those before are changed.
        """
        changed: list[str] = []
        for name, folder in self._folders():
            with self._changing(name):
                _clear_temporaries(folder)
                for stage in sorted(self._names(folder)):
                    with suppress(OutsideVault):
                        found = self._blank(Place(folder, name, stage), change)
                        changed += [self._vault.relative(path) for path in found]
        return changed

    def _folders(self) -> Iterator[tuple[str, str]]:
        """The projects and the folders of their stages, those too where some were set aside."""
        for project in self._projects():
            with suppress(OutsideVault, BadName):
                yield self._home(project)
        aside = self._vault.path(_ASIDE)
        for change in _listed(aside):
            for project in _listed(os.path.join(aside, change)):
                with suppress(OutsideVault):
                    yield project, self._own_folder(f"{_ASIDE}/{change}/{project}")

    def _blank(self, place: Place, change: Callable[[StageArchive], StageArchive]) -> Iterator[str]:
        """Rewrite one stage; the path of its file, if that changed."""
        archive, lines = self._archive(place), self._data(place, _OPEN)
        if isinstance(archive, StageArchive):
            place.remove_open()
            if (after := change(archive)) != archive:
                with writing(place.archive_path):
                    replace_file(place.archive_path, encoded(after))
                yield place.archive_path
        elif lines is not None:
            found = parse_lines(lines, place)
            before = found.as_archive()
            if (after := change(before)) != before:
                head = replace(found.head, summary=after.summary)
                rows = [header_of(head), *map(record_to_json, after.records)]
                with writing(place.open_path):
                    replace_file(place.open_path, b"".join(map(encode_line, rows)))
                    place.remove_torn()
                yield place.open_path

    def _archive(self, place: Place) -> StageArchive | ValueError | None:
        """The stage that has ended; ``None`` if it has not; a ValueError that says what is wrong with its file."""
        data = self._data(place, _ENDED)
        if data is None:
            return None
        try:
            found = archive_from_record(json.loads(data))
            if not found.ended:
                raise ValueError("it does not say when it ended")
        except RecursionError:
            return ValueError("it is nested too deeply")
        except json.JSONDecodeError as error:
            return ValueError(f"it is no JSON (line {error.lineno}: {error.msg})")
        except UnicodeDecodeError:
            return ValueError("it is not UTF-8")
        except ValueError as error:
            return error
        # Where it lies says whose it is, not what somebody wrote into it.
        return replace(found, stage=place.stage, project=place.project)

    @staticmethod
    def _data(place: Place, ending: str) -> bytes | None:
        place.check_no_links()
        path = place.archive_path if ending == _ENDED else place.open_path
        with reading(path):
            try:
                return read_bytes(path)
            except FileNotFoundError:
                return None

    def _place(self, project: str, stage: str) -> Place:
        name, folder = self._home(project)
        wanted = check_identifier(stage, "a stage")
        key = name_key(wanted)
        names = [found for found in self._names(folder) if name_key(found) == key]
        place = Place(folder, name, wanted if wanted in names else min(names, default=wanted))
        place.check_no_links()
        return place

    def _home(self, project: str) -> tuple[str, str]:
        """A project's id as it is written, and the folder of its stages.

        Raises:
            BadName, VaultUnreadable.
            OutsideVault: a link leads from there to somewhere else, be it in the vault: to another project.
        """
        wanted = Scope("project", check_identifier(project, "a project's id"))
        name = self._vault.memory_root(wanted).scope.name
        return name, self._own_folder(f"projects/{name}/{_FOLDER}")

    def _own_folder(self, shown: str) -> str:
        folder = self._vault.path(shown)
        if self._vault.check_inside(folder, shown) != folder:
            raise OutsideVault(f"{shown} is reached by a link; a project's stages lie in its own folder")
        return folder

    def _projects(self) -> list[str]:
        return [name for name in _listed(self._vault.path("projects")) if not name.startswith(".")]

    @staticmethod
    def _names(folder: str) -> set[str]:
        """The stages in a folder, open or ended."""
        files = _listed(folder)
        names = {file.removesuffix(end) for file in files for end in (_OPEN, _ENDED) if file.endswith(end)}
        return {name for name in names if _is_identifier(name)}

    @contextmanager
    def _changing(self, project: str) -> Iterator[None]:
        from zlib import crc32

        number = crc32(name_key(project).encode("utf-8", "surrogatepass")) % _LOCKS
        with VaultLock(self._vault.path(f".lock.stages.{number}")):
            yield


def _is_identifier(name: str) -> bool:
    try:
        check_identifier(name, "a stage")
    except BadName:
        return False
    return True


def _digest(place: Place) -> str:
    from hashlib import blake2b

    key = f"{name_key(place.project)}/{name_key(place.stage)}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _listed(folder: str) -> list[str]:
    with reading(folder):
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []


def _clear_temporaries(folder: str) -> None:
    for name in _listed(folder):
        if name.startswith(TEMPORARY_PREFIX):
            with writing(folder):
                os.unlink(os.path.join(folder, name))
