"""``choices/``: questions that wait for a person, one readable file each, and the answers to them.

An id is a moment and a few random characters, all digits and small letters, so
that ids sort by time and can be typed.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

from memoranda.core.choices import choice_from_record, choice_to_record
from memoranda.core.errors import MemorandaError, NotFound
from memoranda.core.model import Problem
from memoranda.core.names import check_identifier
from memoranda.core.records import replace
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    read_bytes,
    reading,
    remove_file,
    replace_file,
    stamp_of,
    writing,
)
from memoranda.storage.new_files import put_new_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from memoranda.core.choices import Choice
    from memoranda.storage.files import Stamp
    from memoranda.storage.vault import VaultFolder

__all__ = ["ChoiceFiles"]

_FOLDER = "choices"
_ENDING = ".json"
#: Without the letters that are taken for digits; in the order in which names sort.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
#: So many ids can be told apart in a second; the digits last until the year 3058.
_TICKS = 32
_MOMENT_DIGITS, _RANDOM_DIGITS = 8, 3
#: What was written within so many nanoseconds before a look may change once more under the same stamp.
_UNSETTLED = 50_000_000


class ChoiceFiles:
    """The choices of one vault. Who changes one that is there holds the vault's lock."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._folder = vault.path(_FOLDER)
        self._last = 0
        self._known: dict[str, tuple[Stamp, Choice | Problem]] = {}

    def put(self, choice: Choice, moment: datetime) -> Choice:
        """Write a new choice, named after the moment; durable when this returns.

        Raises:
            VaultFull, VaultReadOnly, OutsideVault: it is not written.
        """

        def made() -> tuple[str, bytes]:
            named = replace(choice, id=self._new_id(moment))
            return named.id + _ENDING, _encoded(named)

        with writing(self._folder):
            self._vault.check_inside(self._folder, _FOLDER)
            name = put_new_file(self._folder, made)
        return replace(choice, id=name.removesuffix(_ENDING))

    def _new_id(self, moment: datetime) -> str:
        # What one process asks keeps its order, whatever the clock does.
        self._last = tick = max(int(moment.timestamp() * _TICKS), self._last + 1)
        random = int.from_bytes(os.urandom(4), "big")
        return _written(tick, _MOMENT_DIGITS) + _written(random, _RANDOM_DIGITS)

    def change(self, choice: Choice) -> None:
        """Put a choice in the place of what its file holds, durably. Raises VaultFull, VaultReadOnly, OutsideVault."""
        path = self._inside(choice.id)
        with writing(path):
            replace_file(path, _encoded(choice))
        self._known.pop(choice.id, None)

    def remove(self, choice: str) -> None:
        """Remove a choice for good. Raises VaultReadOnly, OutsideVault."""
        path = self._inside(choice)
        with writing(path):
            remove_file(path)
        self._known.pop(choice, None)

    def ids(self) -> list[str]:
        """The ids of all, the oldest first. Raises VaultUnreadable."""
        with reading(self._folder):
            try:
                names = os.listdir(self._folder)
            except (FileNotFoundError, NotADirectoryError):
                return []
        return sorted(n.removesuffix(_ENDING) for n in names if n.endswith(_ENDING) and not n.startswith("."))

    def stamp(self, choice: str) -> Stamp | None:
        """What a look at its file says; it is another one after every change. ``None``: it is gone."""
        with reading(self._folder):
            return stamp_of(self._path(choice))

    def read(self, choice: str) -> Choice | Problem:
        """What its file holds now, or what is wrong with that. Raises NotFound, BadName."""
        path, shown = self._path(check_identifier(choice, "a choice")), f"{_FOLDER}/{choice}{_ENDING}"
        try:
            self._vault.check_inside(path, shown)
            record = json.loads(read_bytes(path))
            found = choice_from_record(record)
            if found.id != choice:
                raise ValueError(f"its id is {found.id!r}, which its name does not say")
        except FileNotFoundError:
            raise NotFound(f"there is no choice {choice!r}") from None
        except OSError as error:
            return Problem(shown, 0, "unreadable", f"could not be read ({error.strerror})")
        except MemorandaError as error:
            return Problem(shown, 0, "outside", str(error))
        except json.JSONDecodeError as error:
            return Problem(shown, error.lineno, "choice", f"is no JSON ({error.msg})")
        except (ValueError, RecursionError) as error:
            return Problem(shown, 0, "choice", f"is no choice: {error}")
        return found

    def all(self) -> list[Choice | Problem]:
        """What every file holds, the oldest first; those that have not changed are not read again.

        Raises:
            VaultUnreadable: the folder may not be read.
        """
        found: dict[str, tuple[Stamp, Choice | Problem]] = {}
        told: list[Choice | Problem] = []
        for choice in self.ids():
            with suppress(NotFound):  # removed meanwhile
                told.append(self._looked_up(choice, found))
        self._known = found
        return told

    def _looked_up(self, choice: str, found: dict[str, tuple[Stamp, Choice | Problem]]) -> Choice | Problem:
        try:
            stamp = self.stamp(choice)
            known = self._known.get(choice)
            if known is None or known[0] != stamp:
                value = self.read(choice)
                if stamp is None or time.time_ns() - stamp.mtime_ns < _UNSETTLED:
                    return value
                known = (stamp, value)
        except NotFound:
            raise
        except MemorandaError as error:
            return Problem(f"{_FOLDER}/{choice}{_ENDING}", 0, "unreadable", str(error))
        found[choice] = known
        return known[1]

    def clear_temporaries(self) -> None:
        """Remove what crashes left half-written. Needs the lock. Raises VaultReadOnly."""
        with suppress(FileNotFoundError, NotADirectoryError):
            for name in os.listdir(self._folder):
                if name.startswith(TEMPORARY_PREFIX):
                    with writing(self._folder):
                        remove_file(os.path.join(self._folder, name))

    def _inside(self, choice: str) -> str:
        path = self._path(check_identifier(choice, "a choice"))
        self._vault.check_inside(path, f"{_FOLDER}/{choice}{_ENDING}")
        return path

    def _path(self, choice: str) -> str:
        return os.path.join(self._folder, choice + _ENDING)


def _written(number: int, digits: int) -> str:
    """The number's last digits, as ids have them."""
    return "".join(_DIGITS[number >> 5 * place & 31] for place in reversed(range(digits)))


def _encoded(choice: Choice) -> bytes:
    text = json.dumps(choice_to_record(choice), ensure_ascii=False, indent=1)
    return (text + "\n").encode("utf-8", "surrogatepass")
