"""The default vector store: files in one folder for one model, mapped into memory, searched with numpy."""

from __future__ import annotations

import os
import stat
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np

from memoranda.core.errors import UsageError, VaultError
from memoranda.core.records import replace
from memoranda.core.vectors import Near
from memoranda.index.vectors.building import appended, compacted, ordered, signed, without_empty_homes
from memoranda.index.vectors.files import ranges_of, recover, settle, wipe
from memoranda.index.vectors.kernels import cosines, unit
from memoranda.index.vectors.layout import HELD, hash_of
from memoranda.index.vectors.order import is_behind, rows_at, rows_of_addresses
from memoranda.index.vectors.pointer import (
    POINTER,
    Calibration,
    Damaged,
    Pointer,
    new_token,
    read_pointer,
    write_pointer,
)
from memoranda.index.vectors.search import nearest
from memoranda.index.vectors.signatures import wants_signatures
from memoranda.index.vectors.view import View
from memoranda.storage.files import Stamp, make_folder, read_bytes, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.core.vectors import VectorRow

__all__ = ["VectorStore"]

#: A store is written anew without what was taken out when that is a third of it, and at least so many rows.
_WORTH_COMPACTING = 64
#: How often a reader looks again whose files are swapped while it opens them.
_TRIES = 20


class VectorStore:
    """The vectors of one model in a folder of their own, or beside other things; a :class:`VectorIndex`.

    Vectors are stored with length 1. Files of another model are as good as
    none, and are replaced by the first ``put``. One process writes at a time,
    which is the caller's to see to; any number read, and see at every call what
    was committed last.
    """

    def __init__(self, folder: str, model: str) -> None:
        self._folder, self._model = folder, model
        self._path = os.path.join(folder, POINTER)
        self._data: bytes | None = None
        self._stamp: Stamp | None = None
        self._recovered: bytes | None = None
        self._empty = View(folder, Pointer(model, 0))
        self._view = self._empty
        self._fault = ""
        # One thread looks at what was committed, or changes it; while one changes it the others read what was before.
        self._lock = threading.RLock()
        self._is_changing = False

    @property
    def dimension(self) -> int:
        """The length of the vectors; 0 as long as there is none."""
        pointer = self._look().pointer
        return pointer.dimension if pointer.live else 0

    @property
    def fault(self) -> str:
        """What is wrong with the files, so that nothing is held and all has to be made anew; "" if nothing is."""
        self._look()
        return self._fault

    @property
    def degraded(self) -> str:
        """What is wrong with signatures, so that every row is compared until ``build``; "" if nothing is."""
        return self._look().fault

    @property
    def calibration(self) -> Calibration | None:
        """What was found out about signatures when they were made; ``None`` as long as every row is compared."""
        view = self._look()
        return view.pointer.calibration if view.frame is not None else None

    @property
    def generation(self) -> int:
        """Counts what was committed."""
        return self._look().pointer.generation

    def __len__(self) -> int:
        """How many rows are held."""
        return self._look().pointer.live

    def parents(self) -> set[str]:
        """The parents of all rows."""
        view = self._look()
        found: set[str] = set()
        seen: set[int] = set()
        for start in range(0, view.rows, 65_536):
            part = view.table[start : start + 65_536]
            held = np.flatnonzero(part["flags"] & HELD)
            hashes, first = np.unique(part["parent"][held], return_index=True)
            for one, at in zip(hashes.tolist(), first.tolist(), strict=True):
                if one in seen:
                    continue
                rows = [int(held[at]) + start]
                if view.key(rows[0]) is None:
                    rows = (held[part["parent"][held] == one] + start).tolist()
                for row in rows:
                    if (key := view.key(row)) is not None:
                        found.add(key.parent)
                        seen.add(one)
                        break
        return found

    def held(self, parent: str) -> Mapping[str, str]:
        """The rows of one parent: digests by address. One whose vector is damaged is not held."""
        view = self._look()
        found: dict[str, str] = {}
        for row in rows_at(view, "parent", [hash_of(parent)])[0]:
            key = view.key(row)
            if key is not None and key.parent == parent and view.is_sound(row):
                found[key.address] = key.digest
        return found

    def put(self, rows: Sequence[VectorRow], vectors: Sequence[Sequence[float]]) -> None:
        """Add rows with their vectors, or replace those of the same address. All or none is held after a crash.

        Raises:
            UsageError: not as many vectors as rows, or of another length than those that are held.
            VaultError: it could not be written.
        """
        if len(rows) != len(vectors):
            raise UsageError(f"{len(rows)} rows need as many vectors, not {len(vectors)}")
        if not rows:
            return
        dimension = len(vectors[0])
        if not dimension or any(len(vector) != dimension for vector in vectors):
            raise UsageError("the vectors are not all of one length")
        # Where an address comes twice, the last one counts.
        last = {row.address: at for at, row in enumerate(rows)}
        chosen = sorted(last.values())
        with self._writing() as view:
            pointer = view.pointer
            if pointer.live and pointer.dimension != dimension:
                raise UsageError(f"vectors here have {pointer.dimension} numbers, not {dimension}")
            fresh = not pointer.live
            if fresh:
                pointer = Pointer(self._model, dimension, pointer.generation, base=new_token())
                view = View(self._folder, pointer)
            replaced = [] if fresh else rows_of_addresses(view, last, damaged=True).values()
            added = appended(self._folder, view, fresh, [rows[at] for at in chosen], [vectors[at] for at in chosen])
            wiping = ranges_of(replaced)
            pointer = replace(added, live=added.live - len(replaced), wiping=wiping)
            self._commit(pointer, swapped=fresh)
            if wiping:
                wipe(self._folder, self._view, wiping)
                self._forget_homes()
            self._tidy()

    def remove(self, addresses: Collection[str]) -> None:
        """Take rows out, their vectors and addresses wiped from the disk; those that are not held are ignored.

        Raises VaultError: it could not be written, and is wiped when the store is written to again.
        """
        with self._writing() as view:
            rows = set(rows_of_addresses(view, addresses, damaged=True).values())
            if not rows:
                return
            wiping = ranges_of(rows)
            self._commit(replace(view.pointer, live=view.pointer.live - len(rows), wiping=wiping))
            wipe(self._folder, self._view, wiping)
            self._forget_homes()
            self._tidy()

    def search(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> list[Near]:
        """The ``count`` rows nearest to a vector, the nearest first, equal ones by address. Raises UsageError."""
        for _ in range(_TRIES):
            view = self._look()
            query = self._query(view, vector)
            if query is None:
                return []
            found, damaged = nearest(view, query, count, _numbers(view, homes))
            # Rows that another process wiped meanwhile look damaged; then there is something newer to look at.
            if not damaged or self._look() is view:
                break
        return found

    def cosines(self, vector: Sequence[float], addresses: Collection[str]) -> Mapping[str, Near]:
        """How near single rows are; those that are not held, or have no direction, are left out. Raises UsageError."""
        view = self._look()
        query = self._query(view, vector)
        if query is None:
            return {}
        rows = {
            address: row
            for address, row in rows_of_addresses(view, addresses).items()
            if view.homes[row] and view.is_sound(row)
        }
        found: dict[str, Near] = {}
        for address, cosine in zip(rows, self._cosines(view, query, list(rows.values())), strict=True):
            if (key := view.key(rows[address])) is not None:
                found[address] = Near(address, key.digest, cosine)
        return found

    def sample(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> Sequence[float]:
        """The cosines of up to ``count`` rows from all over these homes, always the same ones. Raises UsageError."""
        view = self._look()
        query = self._query(view, vector)
        if query is None or count <= 0:
            return []
        rows = np.flatnonzero(view.findable(_numbers(view, homes)))
        if len(rows) > count:
            rows = rows[np.linspace(0, len(rows) - 1, count).astype(np.int64)]
        return self._cosines(view, query, [row for row in rows.tolist() if view.is_sound(row)])

    def clear(self) -> None:
        """Hold nothing. Raises VaultError: it could not be written."""
        with self._changing():
            view = self._look()
            if self._data is None and not os.path.isdir(self._folder):
                return
            self._commit(Pointer(self._model, 0, view.pointer.generation), swapped=True)

    def build(self) -> None:
        """Make anew what is derived from the vectors and missing or damaged. Raises VaultError."""
        with self._writing() as view:
            if view.rows:
                self._tidy()

    def close(self) -> None:
        """Give back what is held open; the next call opens it again."""
        self._view, self._data, self._stamp = self._empty, None, None

    def _look(self) -> View:
        """The files as they were committed last; while a thread of this process changes them, as they were before."""
        while not self._lock.acquire(timeout=0.01):
            if self._is_changing:
                return self._view
        try:
            return self._look_at_files()
        finally:
            self._lock.release()

    def _look_at_files(self) -> View:
        for _ in range(_TRIES):
            try:
                status = os.stat(self._path)
                if not stat.S_ISREG(status.st_mode):
                    raise OSError("no file")
                stamp = Stamp.of(status)
                if stamp == self._stamp:
                    return self._view
                data: bytes | None = read_bytes(self._path)
            except (FileNotFoundError, NotADirectoryError):
                stamp, data = None, None
            except OSError as error:
                self._take(None, None, self._empty, f"{POINTER} cannot be read ({error.strerror or error})")
                return self._view
            if data != self._data or data is None:
                view, fault = self._open(data)
                if data is not None and self._read_again() != data:
                    continue
                self._take(None, data, view, fault)
            # Two changes may share a time stamp: it is relied on when it is old enough.
            self._stamp = stamp if stamp is not None and stamp.is_settled(time.time_ns()) else None
            return self._view
        self._take(None, None, self._empty, "the files change faster than they can be opened")
        return self._view

    def _take(self, stamp: Stamp | None, data: bytes | None, view: View, fault: str) -> None:
        self._stamp, self._data, self._view, self._fault = stamp, data, view, fault

    def _read_again(self) -> bytes | None:
        try:
            return read_bytes(self._path)
        except OSError:
            return None

    def _open(self, data: bytes | None) -> tuple[View, str]:
        if data is None:
            return self._empty, ""
        try:
            pointer = read_pointer(data)
            if pointer.model != self._model:
                return View(self._folder, Pointer(self._model, 0, pointer.generation)), ""
            return self._mapped(pointer), ""
        except Damaged as error:
            return self._empty, str(error)
        except OSError as error:
            name = os.path.basename(str(error.filename or "a file"))
            return self._empty, f"{name} cannot be read ({error.strerror or error})"

    def _mapped(self, pointer: Pointer) -> View:
        """The files that a pointer tells of. Raises Damaged, OSError."""
        for _ in range(_TRIES - 1):
            # The token that new files have in their names is taken off meanwhile.
            with suppress(FileNotFoundError):
                return View(self._folder, pointer, self._view)
        return View(self._folder, pointer, self._view)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock, writing(self._path):
            before, self._is_changing = self._is_changing, True
            try:
                yield
            finally:
                self._is_changing = before

    @contextmanager
    def _writing(self) -> Iterator[View]:
        with self._changing():
            make_folder(self._folder)
            view = self._look()
            if self._data is not None and self._data != self._recovered and view is not self._empty:
                if view.pointer.base:
                    recover(self._folder, view)
                    if view.pointer.wiping:
                        self._forget_homes()
                        view = self._view
                self._recovered = self._data
            try:
                yield view
            except Damaged as error:
                self._recovered = None
                raise VaultError(f"{self._folder}: {error}") from error
            except BaseException:
                # What was begun may lie behind what counts, or not be wiped: the next write sees to it first.
                self._recovered = None
                raise

    def _commit(self, pointer: Pointer, *, swapped: bool = False) -> View:
        """Make a pointer the one that counts, and look at what it tells of."""
        pointer = replace(pointer, generation=pointer.generation + 1)
        data = write_pointer(self._folder, pointer)
        if swapped:
            settle(self._folder, pointer)
        view, fault = self._open(data)
        self._take(None, data, view, fault)
        self._recovered = data
        if fault:
            raise Damaged(fault)
        return view

    def _forget_homes(self) -> None:
        if (pointer := without_empty_homes(self._view)) is not None:
            self._commit(pointer)

    def _tidy(self) -> None:
        """Make anew what has fallen behind. It can all be missed: a disk that refuses it leaves the store as it is."""
        with suppress(OSError, Damaged):
            pointer = self._view.pointer
            dead = pointer.rows - pointer.live
            if dead >= _WORTH_COMPACTING and 3 * dead >= pointer.rows:
                pointer = self._commit(compacted(self._folder, self._view), swapped=True).pointer
            if is_behind(pointer.rows, pointer.ordered if self._view.order is not None else 0):
                pointer = self._commit(ordered(self._folder, self._view), swapped=True).pointer
            missing = self._view.frame is None or pointer.rows >= 2 * max(1, pointer.signed_at)
            if missing and wants_signatures(pointer.live, pointer.dimension):
                self._commit(signed(self._folder, self._view), swapped=True)

    def _query(self, view: View, vector: Sequence[float]) -> NDArray[Any] | None:
        """A question's vector with length 1; ``None``: nothing is near it. Raises UsageError: another length."""
        pointer = view.pointer
        if not pointer.live:
            return None
        if len(vector) != pointer.dimension:
            raise UsageError(f"vectors here have {pointer.dimension} numbers, not {len(vector)}")
        return unit(vector)

    def _cosines(self, view: View, query: NDArray[Any], rows: list[int]) -> list[float]:
        found: list[float] = []
        for start in range(0, len(rows), 1024):
            exact = cosines(view.vectors[rows[start : start + 1024]], query)
            found.extend(np.clip(exact, -1, 1).tolist())
        return found


def _numbers(view: View, homes: Collection[str] | None) -> list[int] | None:
    """The numbers of homes; ``None``: of all."""
    if homes is None:
        return None
    wanted = set(homes)
    return [number for number, home in enumerate(view.pointer.homes) if home in wanted]
