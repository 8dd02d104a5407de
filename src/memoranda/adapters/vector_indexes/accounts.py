"""What is asked of a ledger and written in it, in the words of SQLite."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from memoranda.core.vectors import VectorRow

__all__ = [
    "Old",
    "all_of",
    "check_length",
    "delete_rows",
    "dimension_of",
    "drawn",
    "forget_doomed",
    "forget_homes",
    "generation",
    "hashed",
    "home_number",
    "insert_rows",
    "meta",
    "row_of",
    "set_meta",
    "single",
    "take_numbers",
    "told",
]

#: Texts are written anew when so many are blank, and more than are not.
_BLANK = 1000


@dataclass(frozen=True, slots=True)
class Old:
    """A row that is held: its number, its home, and whether it can be found."""

    id: int
    home: str
    found: bool


def hashed(text: str) -> bytes:
    """What stands for a text where it is looked up: 128 bits of BLAKE2b."""
    from hashlib import blake2b

    return blake2b(kept(text), digest_size=16).digest()


def kept(text: str) -> bytes:
    """A text as it is kept: any at all, half a surrogate pair too."""
    return text.encode("utf-8", "surrogatepass")


def told(stored: bytes) -> str:
    """A text that was kept."""
    return bytes(stored).decode("utf-8", "surrogatepass")


def single(connection: Any, statement: str, *values: Any) -> int:
    """The one number that a statement answers."""
    found: tuple[int] = connection.execute(statement, values).fetchone()
    return found[0]


def meta(connection: Any, key: str) -> int:
    """A number that is kept of the whole."""
    return single(connection, "SELECT value FROM meta WHERE key = ?", key)


def set_meta(connection: Any, key: str, value: int) -> None:
    """Keep a number of the whole."""
    connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))


def generation(connection: Any) -> int:
    """Grows with every change."""
    return meta(connection, "generation")


def dimension_of(connection: Any) -> int:
    """The length of the vectors that are held; 0: there is none."""
    return meta(connection, "dimension") if single(connection, "SELECT EXISTS (SELECT 1 FROM rows)") else 0


def check_length(connection: Any, length: int) -> None:
    """Raises UsageError: a question of this length has nothing to do with the vectors."""
    if (known := dimension_of(connection)) and known != length:
        raise UsageError(f"a question of length {length} cannot be held against vectors of length {known}")


def take_numbers(connection: Any, count: int) -> range:
    """Numbers that were never given before."""
    start = meta(connection, "next")
    set_meta(connection, "next", start + count)
    return range(start, start + count)


def home_number(connection: Any, name: str) -> int:
    """The number of a home, which it has from now on."""
    key = hashed(name)
    found = connection.execute("SELECT number FROM homes WHERE key = ?", (key,)).fetchone()
    if found is None:
        connection.execute("INSERT INTO homes(key) VALUES (?)", (key,))
        found = connection.execute("SELECT number FROM homes WHERE key = ?", (key,)).fetchone()
        connection.execute("INSERT INTO names VALUES (?, ?)", (found[0], kept(name)))
    number: int = found[0]
    return number


def forget_homes(connection: Any) -> None:
    """Blank the names of homes that have nothing any more: that of a scope may be a person's."""
    statement = """SELECT number FROM homes WHERE NOT EXISTS (SELECT 1 FROM rows WHERE home = number)
                   AND number NOT IN (SELECT home FROM doomed)"""
    for (number,) in connection.execute(statement).fetchall():
        connection.execute("DELETE FROM homes WHERE number = ?", (number,))
        connection.execute("UPDATE names SET name = zeroblob(length(name)) WHERE number = ?", (number,))


def forget_doomed(connection: Any, ids: Sequence[int]) -> None:
    """These are no longer in the engine."""
    connection.executemany("DELETE FROM doomed WHERE id = ?", [(id,) for id in ids])
    forget_homes(connection)


def row_of(connection: Any, address: str) -> Old | None:
    """The row of an address."""
    statement = "SELECT id, name, mark IS NOT NULL FROM rows JOIN names ON home = number WHERE key = ?"
    found = connection.execute(statement, (hashed(address),)).fetchone()
    return Old(found[0], told(found[1]), bool(found[2])) if found else None


def drawn(connection: Any, count: int, homes: Collection[str] | None) -> list[int]:
    """The numbers of up to ``count`` rows of these homes that can be found, always the same ones."""
    keys = None if homes is None else [hashed(home) for home in homes]
    among = "" if keys is None else f"AND homes.key IN ({', '.join('?' * len(keys))})"
    statement = f"""SELECT rows.id FROM rows JOIN homes ON home = number WHERE mark IS NOT NULL {among}
                    ORDER BY mark, rows.key LIMIT ?"""
    return [id for (id,) in connection.execute(statement, (*(keys or ()), count))]


def all_of(connection: Any, homes: Sequence[str]) -> list[int]:
    """The numbers of all rows of these homes that can be found."""
    statement = "SELECT rows.id FROM homes JOIN rows ON home = number WHERE homes.key = ? AND mark IS NOT NULL"
    return [id for home in homes for (id,) in connection.execute(statement, (hashed(home),))]


def insert_rows(connection: Any, rows: Sequence[VectorRow], found: Sequence[bool], ids: Sequence[int]) -> None:
    """Hold rows, none of which is held."""
    homes = {home: home_number(connection, home) for home in {row.home for row in rows}}
    whole, texts = [], []
    for id, row, one in zip(ids, rows, found, strict=True):
        key = hashed(row.address)
        # Of equal chance for every address, and the same in whatever order they come.
        mark = int.from_bytes(key[:4], "big") if one else None
        whole.append((id, key, hashed(row.parent), homes[row.home], row.digest, mark))
        texts.append((id, kept(row.address), kept(row.parent)))
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", whole)
    connection.executemany("INSERT INTO texts VALUES (?, ?, ?)", texts)


def delete_rows(connection: Any, old: Sequence[Old]) -> None:
    """Hold rows no longer, and overwrite their texts."""
    if not old:
        return
    ids = [(one.id,) for one in old]
    connection.executemany("DELETE FROM rows WHERE id = ?", ids)
    blank = "UPDATE texts SET address = zeroblob(length(address)), parent = zeroblob(length(parent)) WHERE id = ?"
    connection.executemany(blank, ids)
    many = meta(connection, "blank") + len(ids)
    set_meta(connection, "blank", many)
    if many >= _BLANK and many > single(connection, "SELECT count(*) FROM rows"):
        connection.execute("CREATE TABLE anew(id INTEGER PRIMARY KEY, address BLOB NOT NULL, parent BLOB NOT NULL)")
        connection.execute("INSERT INTO anew SELECT * FROM texts WHERE id IN (SELECT id FROM rows) ORDER BY id")
        connection.execute("DROP TABLE texts")
        connection.execute("ALTER TABLE anew RENAME TO texts")
        set_meta(connection, "blank", 0)
