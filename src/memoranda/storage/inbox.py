"""``inbox/``: exchanges that are not memorized yet, one file each, and how far each one has come.

::

    inbox/<id>.json              the exchange as it was said; never changed, removed when it is done
    inbox/<id>.work.json         attempts, the last fault, and (once there is one) the model's reply
    inbox/parked/<id>.json       what a person is to look at, with its work beside it
    inbox/memorized.jsonl        the ids of the turns that were memorized: none is asked about twice

An id is a moment, a hash of the conversation and one of its turns, so that the
names alone tell the order and what belongs together. Who works on an exchange
holds a kernel lock for its conversation (``.lock.inbox.<n>``): nobody else does
meanwhile, and when its holder dies it is free again.
"""

from __future__ import annotations

import errno
import json
import os
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from memoranda.core.errors import NotFound, VaultBusy
from memoranda.core.exchanges import exchange_from_record, exchange_to_record
from memoranda.core.records import dataclass
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    make_folder,
    read_bytes,
    reading,
    remove_file,
    replace_file,
    sync_folder,
    writing,
)
from memoranda.storage.jsonlines import JsonLines
from memoranda.storage.locks import VaultLock
from memoranda.storage.new_files import put_new_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from memoranda.core.exchanges import Exchange
    from memoranda.storage.vault import VaultFolder

__all__ = ["Inbox", "Parked", "Work", "conversation_key", "key_of"]

_FOLDER = "inbox"
_PARKED = "parked"
_DONE = "memorized.jsonl"
_QUEUED, _WORK = ".json", ".work.json"
#: Conversations share so many locks; two that share one are not worked on at once.
_LOCKS = 64
#: Seconds after which nobody is still writing a temporary: it is written in one go.
_ABANDONED = 60.0
_MOMENT = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True, slots=True)
class Work:
    """How far an exchange has come.

    ``attempts`` counts questions to the model, ``deaths`` those during which
    the process ended. ``asking`` is true while one is under way.
    ``not_before`` is in seconds since 1970. ``change`` is the id that the
    change in the vault has, or will have; ``faults`` say why it was parked.
    ``again``: a person wants it asked about once more, whatever was done before.
    """

    attempts: int = 0
    deaths: int = 0
    asking: bool = False
    not_before: float = 0.0
    error: str = ""
    reply: str | None = None
    change: str = ""
    faults: tuple[str, ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True)
class Parked:
    """What waits for a person: the exchange (``None`` if it cannot be read), the reply, and what was wrong."""

    id: str
    exchange: Exchange | None
    work: Work


class Inbox:
    """The queue of one vault. Any number of processes may put in and take out at once."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._folder = vault.path(_FOLDER)
        self._parked = os.path.join(self._folder, _PARKED)
        self._done = JsonLines(os.path.join(self._folder, _DONE))
        self._last = ""
        self._known: tuple[int, set[tuple[str, str]]] = (0, set())

    def put(self, exchange: Exchange) -> str:
        """Queue an exchange; durable when this returns. Its id.

        Raises:
            VaultFull, VaultReadOnly, OutsideVault: it is not queued.
        """
        text = json.dumps(exchange_to_record(exchange), ensure_ascii=False, indent=1) + "\n"
        data = text.encode("utf-8", "surrogatepass")
        with writing(self._folder):
            self._vault.check_inside(self._folder, _FOLDER)
            name = put_new_file(self._folder, lambda: (self._new_id(exchange) + _QUEUED, data))
        return name.removesuffix(_QUEUED)

    def _new_id(self, exchange: Exchange) -> str:
        moment = datetime.now(UTC).strftime(_MOMENT)
        if moment <= self._last:
            # What one process puts in keeps its order, whatever the clock does.
            moment = (datetime.strptime(self._last, _MOMENT) + datetime.resolution).strftime(_MOMENT)
        self._last = moment
        return f"{moment}-{key_of(exchange)}"

    def ids(self) -> list[str]:
        """What is queued, the oldest first. Raises VaultUnreadable."""
        return sorted(
            name.removesuffix(_QUEUED)
            for name in self._names(self._folder)
            if name.endswith(_QUEUED) and not name.endswith(_WORK) and not name.startswith(".")
        )

    def held_keys(self) -> set[str]:
        """The keys (:func:`key_of`) of what is queued or parked. Raises VaultUnreadable."""
        return {queued.partition("-")[2] for queued in (*self.ids(), *self._parked_ids())}

    @contextmanager
    def leased(self, queued: str) -> Iterator[Exchange | ValueError | None]:
        """The exchange, nobody else working on its conversation inside; ``None``: somebody is, or it is done.

        A ValueError in its place says why the file cannot be read as one.
        """
        lock = VaultLock(self._vault.path(f".lock.inbox.{_stripe(queued)}"))
        try:
            lock.acquire(0.0)
        except VaultBusy:
            yield None
            return
        try:
            yield self._read(queued)
        finally:
            lock.release()

    def is_queued(self, queued: str) -> bool:
        """Whether it is still there: what was forgotten meanwhile is not."""
        return os.path.exists(self._path(queued, _QUEUED))

    def work(self, queued: str) -> Work:
        """How far it has come; what cannot be read counts as nothing."""
        with suppress(OSError, ValueError, TypeError, OverflowError, RecursionError):
            return _work(json.loads(read_bytes(self._path(queued, _WORK))))
        return Work()

    def note(self, queued: str, work: Work) -> None:
        """Write down how far it has come, durably. Raises VaultFull, VaultReadOnly."""
        with writing(self._folder):
            replace_file(self._path(queued, _WORK), _encoded(work))

    def note_memorized(self, exchange: Exchange, change: str) -> None:
        """Remember that these turns are done, durably. Needs the vault's lock. Raises VaultFull, VaultReadOnly."""
        turns = [turn.turn for turn in exchange.turns]
        self._vault.check_inside(self._done.path, f"{_FOLDER}/{_DONE}")
        with writing(self._done.path):
            make_folder(self._folder)
            self._done.append([{"conversation": exchange.conversation, "turns": turns, "change": change}])

    def memorized(self) -> set[tuple[str, str]]:
        """The conversations and ids of all turns that are done. Raises VaultUnreadable."""
        return set(self._all_done())

    def is_memorized(self, exchange: Exchange) -> bool:
        """Whether all turns of these ids are done. Raises VaultUnreadable."""
        done = self._all_done()
        return all((turn.conversation, turn.turn) in done for turn in exchange.turns)

    def _all_done(self) -> set[tuple[str, str]]:
        """What is done; only what came since the last look is read."""
        with reading(self._done.path):
            size, known = self._known
            now = self._done.size()
            if now != size:
                rows = self._done.read(size) if now > size else self._done.read()
                known = set(known) if now > size else set()
                for row in rows:
                    turns = row.get("turns")
                    if isinstance(turns, list):
                        known.update((str(row.get("conversation")), str(turn)) for turn in turns)
                self._known = (now, known)
        return known

    def finish(self, queued: str) -> None:
        """It is done: remove it. Raises VaultReadOnly."""
        with writing(self._folder):
            # In this order: a reply without its turn is swept, a turn without its reply would be asked about again.
            with suppress(FileNotFoundError):
                os.unlink(self._path(queued, _QUEUED))
            sync_folder(self._folder)
            with suppress(FileNotFoundError):
                os.unlink(self._path(queued, _WORK))

    def park(self, queued: str, work: Work) -> None:
        """Put it where a person looks, with what is known of it. Raises VaultFull, VaultReadOnly."""
        with writing(self._parked):
            self._vault.check_inside(self._parked, f"{_FOLDER}/{_PARKED}")
            make_folder(self._parked)
            replace_file(os.path.join(self._parked, queued + _WORK), _encoded(work))
            with suppress(FileNotFoundError):
                os.replace(self._path(queued, _QUEUED), os.path.join(self._parked, queued + _QUEUED))
            sync_folder(self._parked)
            sync_folder(self._folder)
            with suppress(FileNotFoundError):
                os.unlink(self._path(queued, _WORK))

    def parked(self) -> list[Parked]:
        """What waits for a person, the oldest first. Raises VaultUnreadable."""
        found = []
        for queued in self._parked_ids():
            exchange, work = None, Work()
            with suppress(OSError, ValueError, RecursionError):
                exchange = exchange_from_record(json.loads(read_bytes(os.path.join(self._parked, queued + _QUEUED))))
            with suppress(OSError, ValueError, TypeError, OverflowError, RecursionError):
                work = _work(json.loads(read_bytes(os.path.join(self._parked, queued + _WORK))))
            found.append(Parked(queued, exchange, work))
        return found

    def parked_count(self) -> int:
        """How many wait for a person. Raises VaultUnreadable."""
        return len(self._parked_ids())

    def _parked_ids(self) -> list[str]:
        names = self._names(self._parked)
        return sorted(n.removesuffix(_QUEUED) for n in names if n.endswith(_QUEUED) and not n.endswith(_WORK))

    def retry(self, queued: str) -> None:
        """Queue what was parked once more, to be asked about anew. Raises NotFound, VaultReadOnly."""

        def take(path: str) -> None:
            replace_file(self._path(queued, _WORK), _encoded(Work(again=True)))
            os.replace(path, self._path(queued, _QUEUED))

        self._take_parked(queued, take)

    def drop(self, queued: str) -> None:
        """Remove what was parked. Raises NotFound, VaultReadOnly."""
        self._take_parked(queued, os.unlink)

    def _take_parked(self, queued: str, take: Any) -> None:
        if queued not in self._parked_ids():
            raise NotFound(f"nothing is parked under {queued!r}")
        with writing(self._parked):
            take(os.path.join(self._parked, queued + _QUEUED))
            sync_folder(self._folder)
            remove_file(os.path.join(self._parked, queued + _WORK))

    def sweep(self) -> None:
        """Remove what crashes left over: work without its exchange, and what nobody can be writing any more."""
        self._sweep(time.time() - _ABANDONED)

    def _sweep(self, old: float) -> None:
        for name in self._names(self._folder):
            path = os.path.join(self._folder, name)
            with suppress(OSError):
                # Work comes after its exchange and goes after it: asked in this order, what is not there is done.
                left = name.endswith(_WORK) and not self.is_queued(name.removesuffix(_WORK))
                if left or (name.startswith(TEMPORARY_PREFIX) and os.stat(path).st_mtime < old):
                    os.unlink(path)

    def forget(self, takes: Iterable[str]) -> None:
        """Remove these, queued or parked, for good. Raises VaultReadOnly."""
        # A temporary may hold what goes; who is just writing one writes another.
        self._sweep(float("inf"))
        for queued in takes:
            self.finish(queued)
            with writing(self._parked), suppress(FileNotFoundError):
                os.unlink(os.path.join(self._parked, queued + _QUEUED))
                os.unlink(os.path.join(self._parked, queued + _WORK))

    def all(self) -> Iterator[tuple[str, Exchange]]:
        """Everything that can be read, queued or parked."""
        for queued in self.ids():
            with suppress(OSError, ValueError, RecursionError):
                yield queued, exchange_from_record(json.loads(read_bytes(self._path(queued, _QUEUED))))
        for parked in self.parked():
            if parked.exchange is not None:
                yield parked.id, parked.exchange

    def _read(self, queued: str) -> Exchange | ValueError | None:
        try:
            return exchange_from_record(json.loads(read_bytes(self._path(queued, _QUEUED))))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EINVAL):
                raise
            return ValueError("it is no file")
        except (ValueError, RecursionError) as error:
            return ValueError(f"it is no JSON ({error})" if isinstance(error, json.JSONDecodeError) else str(error))

    def _names(self, folder: str) -> list[str]:
        with reading(folder):
            try:
                return os.listdir(folder)
            except FileNotFoundError:
                return []

    def _path(self, queued: str, ending: str) -> str:
        return os.path.join(self._folder, queued + ending)


def key_of(exchange: Exchange) -> str:
    """What tells an exchange from others: two hashes, of its conversation and of the ids of its turns."""
    from hashlib import blake2b

    def digest(*texts: str) -> str:
        return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    return f"{digest(exchange.conversation)}-{digest(*(turn.turn for turn in exchange.turns))}"


def conversation_key(queued: str) -> str:
    """What the ids of one conversation's exchanges have in common."""
    return queued.split("-")[1] if queued.count("-") == 2 else queued


def _stripe(queued: str) -> int:
    from zlib import crc32

    return crc32(conversation_key(queued).encode("utf-8", "surrogatepass")) % _LOCKS


def _encoded(work: Work) -> bytes:
    row = {name: getattr(work, name) for name in Work.__slots__}
    kept = {key: value for key, value in row.items() if value or (key == "reply" and value is not None)}
    return (json.dumps(kept, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")


def _work(record: Any) -> Work:
    """Read leniently: a person may have edited it."""
    if not isinstance(record, dict):
        raise TypeError("no JSON object")
    empty = Work()
    values: dict[str, Any] = {}
    for name in Work.__slots__:
        value, usual = record.get(name), getattr(empty, name)
        if name == "faults":
            values[name] = tuple(map(str, value)) if isinstance(value, list) else ()
        elif name == "reply":
            values[name] = value if isinstance(value, str) else None
        elif name == "not_before":
            values[name] = float(value) if isinstance(value, (int, float)) else 0.0
        else:
            values[name] = value if type(value) is type(usual) else usual
    return Work(**values)
