"""A vector index over an engine that keeps vectors by number, and a ledger that knows whose they are.

The engine proposes what is near; the cosines, the order and the ties are worked
out here from the vectors that it keeps, so that every engine answers alike.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Protocol

from memoranda.adapters.vector_indexes.accounts import (
    all_of,
    check_length,
    delete_rows,
    dimension_of,
    drawn,
    forget_doomed,
    forget_homes,
    generation,
    hashed,
    home_number,
    insert_rows,
    meta,
    row_of,
    set_meta,
    single,
    take_numbers,
    told,
)
from memoranda.adapters.vector_indexes.cosines import CLOSE, cosines, unit, units
from memoranda.adapters.vector_indexes.ledger import Damaged, Ledger
from memoranda.core.errors import ServiceFailed, UsageError, VaultError
from memoranda.core.records import dataclass
from memoranda.core.vectors import Near

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from memoranda.adapters.vector_indexes.accounts import Old
    from memoranda.core.vectors import VectorRow

    T = TypeVar("T")

__all__ = ["AccountedIndex", "Engine", "Kept"]

#: So many more than asked for are looked at: the engine orders by sums that are rounded otherwise.
_SPARE = 16
#: So often an answer is begun again because somebody wrote meanwhile.
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Kept:
    """A vector of an engine: its number, and what it may be filtered by."""

    id: int
    home: str
    parent: str


class Engine(Protocol):
    """What keeps vectors, all of length 1, by number.

    ``inside`` says that it keeps them in the ledger's file, within the
    transaction of the connection that it is given. ``Damaged`` is raised where
    it has lost what it kept, ``ServiceFailed`` where a server does not answer.
    """

    inside: bool

    def prepare(self, connection: Any, dimension: int) -> None:
        """Hold nothing, and from now on vectors of that length."""
        ...

    def add(self, connection: Any, kept: Sequence[Kept], matrix: Any) -> None:
        """Keep the rows of a float32 matrix."""
        ...

    def discard(self, connection: Any, kept: Sequence[tuple[int, str]]) -> None:
        """Wipe vectors, told by number and home; those that are not there are ignored."""
        ...

    def nearest(self, connection: Any, question: Any, count: int, homes: Sequence[tuple[str, int]]) -> set[int] | None:
        """At least the ``count`` nearest of these homes, each told with how many vectors it has.

        ``None``: it knows no better than to look at all of them.
        """
        ...

    def vectors(self, connection: Any, kept: Sequence[tuple[int, str]]) -> Mapping[int, Any]:
        """Vectors by number, told by number and home; those that are not there are left out."""
        ...

    def flush(self) -> None:
        """Leave nothing of what was discarded in any file."""
        ...

    def wipe(self) -> None:
        """Hold nothing."""
        ...

    def close(self) -> None:
        """Give back what is held open."""
        ...


class AccountedIndex:
    """A :class:`memoranda.core.ports.VectorIndex` of an engine and a ledger."""

    def __init__(self, engine: Engine, ledger: Ledger) -> None:
        self._engine, self._ledger = engine, ledger

    @property
    def fault(self) -> str:
        """Why nothing is held though there are files; empty: they are sound, as far as is known."""
        return self._ledger.fault

    @property
    def dimension(self) -> int:
        """The length of the vectors; 0 as long as there is none."""
        return self._ledger.read(dimension_of, 0)

    def __len__(self) -> int:
        """How many rows are held."""
        return self._ledger.read(lambda connection: single(connection, "SELECT count(*) FROM rows"), 0)

    def parents(self) -> set[str]:
        """The parents of all rows."""
        statement = "SELECT parent FROM texts WHERE id IN (SELECT min(id) FROM rows GROUP BY parent)"
        return self._ledger.read(lambda it: {told(one) for (one,) in it.execute(statement)}, set())

    def held(self, parent: str) -> dict[str, str]:
        """The rows of one parent: digests by address."""
        statement = "SELECT address, digest FROM rows JOIN texts USING (id) WHERE rows.parent = ?"
        asked = (hashed(parent),)
        return self._ledger.read(lambda it: {told(one): digest for one, digest in it.execute(statement, asked)}, {})

    def put(self, rows: Sequence[VectorRow], vectors: Sequence[Sequence[float]]) -> None:
        """Add or replace rows. Raises UsageError, VaultError, ServiceFailed."""
        if len(rows) != len(vectors):
            raise UsageError(f"{len(rows)} rows have {len(vectors)} vectors")
        if not len(rows):
            return
        matrix, found = units(vectors)
        places = {row.address: place for place, row in enumerate(rows)}
        chosen = list(places.values())
        rows, found = [rows[place] for place in chosen], [bool(found[place]) for place in chosen]
        matrix = matrix[chosen].astype("float32")
        if self._engine.inside:
            self._ledger.write(
                lambda it: self._replace(it, rows, found, matrix, take_numbers(it, len(rows))), None, create=True
            )
            self._after(self._ledger.flush)
            return
        try:
            self._put_outside(rows, found, matrix)
        except Damaged as error:
            self._ledger.damage(str(error))
            self._put_outside(rows, found, matrix)
        self._after(self._sweep)

    def remove(self, addresses: Collection[str]) -> None:
        """Take rows out, wiped. Raises VaultError; ServiceFailed: they are no longer held, but not wiped yet."""

        def change(connection: Any) -> bool:
            gone = [old for address in set(addresses) if (old := row_of(connection, address))]
            self._drop(connection, gone)
            forget_homes(connection)
            return bool(gone)

        if self._ledger.write(change, False):
            self._sweep()
            try:
                self._engine.flush()
            except Damaged as error:
                self._ledger.damage(str(error))
            self._ledger.flush()

    def search(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> list[Near]:
        """The nearest rows. Raises UsageError: another length."""
        question = unit(vector)

        def ask(connection: Any, lost: list[int]) -> list[Near]:
            check_length(connection, len(vector))
            counts = connection.execute("SELECT name, filled FROM homes JOIN names USING (number) WHERE filled > 0")
            there = [(told(name), many) for name, many in counts]
            if homes is not None:
                wanted = set(homes)
                there = [one for one in there if one[0] in wanted]
            if question is None or count < 1 or not there:
                return []
            return self._nearest(connection, question, count, there, lost)

        return self._consistent(ask, [])

    def cosines(self, vector: Sequence[float], addresses: Collection[str]) -> dict[str, Near]:
        """How near single rows are."""
        question = unit(vector)

        def ask(connection: Any, lost: list[int]) -> dict[str, Near]:
            check_length(connection, len(vector))
            if question is None:
                return {}
            asked = [row for address in set(addresses) if (row := row_of(connection, address)) and row.found]
            near = self._near(connection, question, [row.id for row in asked], lost)
            return {one.address: one for one in near}

        return self._consistent(ask, {})

    def sample(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> list[float]:
        """The cosines of up to ``count`` rows of these homes, drawn by a hash of their addresses."""
        question = unit(vector)

        def ask(connection: Any, lost: list[int]) -> list[float]:
            check_length(connection, len(vector))
            if question is None:
                return []
            ids = drawn(connection, max(count, 0), homes)
            return [
                one.cosine for one in sorted(self._near(connection, question, ids, lost), key=lambda one: one.address)
            ]

        return self._consistent(ask, [])

    def clear(self) -> None:
        """Hold nothing."""
        self._ledger.erase()

    def close(self) -> None:
        """Give back what is held open."""
        self._ledger.close()
        self._engine.close()

    def _put_outside(self, rows: Sequence[VectorRow], found: Sequence[bool], matrix: Any) -> None:
        # What was left by a crash goes first: it may be what the disk has no room for.
        self._sweep()
        ids = self._ledger.write(lambda it: self._announce(it, rows, matrix.shape[1]), range(0), create=True)
        kept = [Kept(id, row.home, row.parent) for id, row, one in zip(ids, rows, found, strict=True) if one]
        if kept:
            self._engine.add(None, kept, matrix[found])
        self._ledger.write(lambda it: self._replace(it, rows, found, matrix, ids), None)

    def _announce(self, connection: Any, rows: Sequence[VectorRow], dimension: int) -> range:
        """The numbers of rows that the engine is given next."""
        self._settle(connection, dimension)
        ids = take_numbers(connection, len(rows))
        homes = {home: home_number(connection, home) for home in {row.home for row in rows}}
        doomed = ((id, homes[row.home]) for id, row in zip(ids, rows, strict=True))
        connection.executemany("INSERT INTO doomed VALUES (?, ?)", doomed)
        return ids

    def _settle(self, connection: Any, dimension: int) -> None:
        """Make the engine ready for vectors of that length. Raises UsageError: it holds others."""
        known = meta(connection, "dimension")
        if known == dimension:
            return
        if known and single(connection, "SELECT count(*) FROM rows"):
            raise UsageError(f"vectors of length {dimension} do not belong with those of length {known}")
        self._engine.prepare(connection, dimension)
        set_meta(connection, "dimension", dimension)

    def _replace(
        self, connection: Any, rows: Sequence[VectorRow], found: Sequence[bool], matrix: Any, ids: Sequence[int]
    ) -> None:
        self._settle(connection, matrix.shape[1])
        if not self._engine.inside:
            doomed = single(connection, "SELECT count(*) FROM doomed WHERE id BETWEEN ? AND ?", ids[0], ids[-1])
            if doomed != len(ids):
                raise VaultError(f"{self._ledger.path}: was taken away while it was written")
            connection.execute("DELETE FROM doomed WHERE id BETWEEN ? AND ?", (ids[0], ids[-1]))
        self._drop(connection, [old for row in rows if (old := row_of(connection, row.address))])
        insert_rows(connection, rows, found, ids)
        if self._engine.inside:
            kept = [Kept(id, row.home, row.parent) for id, row, one in zip(ids, rows, found, strict=True) if one]
            self._engine.add(connection, kept, matrix[found])

    def _drop(self, connection: Any, old: Sequence[Old]) -> None:
        delete_rows(connection, old)
        vectors = [one for one in old if one.found]
        if self._engine.inside:
            self._engine.discard(connection, [(one.id, one.home) for one in vectors])
        else:
            doomed = ((one.id, home_number(connection, one.home)) for one in vectors)
            connection.executemany("INSERT INTO doomed VALUES (?, ?)", list(doomed))
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")

    def _sweep(self) -> None:
        """Wipe in the engine what is doomed."""
        statement = "SELECT id, name FROM doomed JOIN names ON home = number"
        doomed: list[tuple[int, str]] = self._ledger.read(
            lambda connection: [(id, told(home)) for id, home in connection.execute(statement)], []
        )
        if doomed:
            with suppress(Damaged):
                self._engine.discard(None, doomed)
            self._ledger.write(lambda it: forget_doomed(it, [id for id, _ in doomed]), None)

    def _after(self, tidy: Callable[[], None]) -> None:
        """Tidy up behind a change that stands already: what fails is made up for by the next one."""
        with suppress(ServiceFailed, VaultError):
            tidy()

    def _consistent(self, ask: Callable[[Any, list[int]], T], nothing: T) -> T:
        """An answer that nobody wrote in between; of an engine outside, the ledger shows whether somebody did."""
        for last in (False,) * (_TRIES - 1) + (True,):
            lost: list[int] = []
            before = self._ledger.read(generation, -1)
            answer = self._ledger.read(lambda connection: ask(connection, lost), nothing)  # noqa: B023 - called at once
            unchanged = self._engine.inside or self._ledger.read(generation, -1) == before
            if unchanged and lost:
                self._ledger.damage(f"{self._ledger.path}: {len(lost)} vectors or more are lost")
                return nothing
            if unchanged or last:
                return answer
        raise AssertionError("unreachable")

    def _nearest(
        self, connection: Any, question: Any, count: int, homes: Sequence[tuple[str, int]], lost: list[int]
    ) -> list[Near]:
        there = sum(many for _, many in homes)
        look = count + _SPARE
        while True:
            proposed = self._engine.nearest(connection, question, look, homes) if look < there else None
            everything = proposed is None
            ids = all_of(connection, [home for home, _ in homes]) if proposed is None else proposed
            near = sorted(self._near(connection, question, ids, lost), key=lambda one: (-one.cosine, one.address))
            # The last that was looked at is clearly farther than the last that is told: no tie is cut in two.
            if everything or (len(near) > count and near[count - 1].cosine - near[-1].cosine > CLOSE):
                return near[:count]
            look *= 4

    def _near(self, connection: Any, question: Any, ids: Iterable[int], lost: list[int]) -> list[Near]:
        """The rows of these numbers, with their cosines, in no order; ``lost`` gains those without a vector."""
        statement = """SELECT id, address, digest, name FROM rows JOIN texts USING (id) JOIN names ON home = number
                       WHERE id IN (SELECT value FROM json_each(?)) AND mark IS NOT NULL"""
        rows = connection.execute(statement, (json.dumps(list(ids)),)).fetchall()
        if not rows:
            return []
        vectors = self._engine.vectors(connection, [(id, told(home)) for id, _, _, home in rows])
        lost += (row[0] for row in rows if row[0] not in vectors)
        rows = [row for row in rows if row[0] in vectors]
        if not rows:
            return []
        reckoned = cosines(question, [vectors[id] for id, _, _, _ in rows])
        return [Near(told(row[1]), row[2], cosine) for row, cosine in zip(rows, reckoned, strict=True)]
