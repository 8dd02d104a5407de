"""``docs/<corpus>/skipped.jsonl``: the files that are not in a corpus though they were to be, and why, a line each."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from memoranda.core.errors import OutsideVault
from memoranda.core.records import dataclass
from memoranda.storage.files import read_bytes, remove_file, replace_file, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["Refused", "read_refusals", "update_refusals"]

_NAME = "skipped.jsonl"


@dataclass(frozen=True, slots=True)
class Refused:
    """A file, what became of it (``corrupt``, ``changed``, ...), and why in words; ``document`` where there is one."""

    path: str
    outcome: str
    reason: str = ""
    document: str = ""


def read_refusals(folder: str) -> list[Refused]:
    """The files that a corpus skipped, by path; a line that means nothing is left out."""
    found: list[Refused] = []
    with suppress(OSError, UnicodeError):
        for line in read_bytes(os.path.join(folder, _NAME)).decode("utf-8", "surrogatepass").split("\n"):
            with suppress(ValueError, TypeError, AttributeError):
                row = json.loads(line)
                found.append(Refused(*(str(row.get(name) or "") for name in Refused.__slots__)))
    return [one for one in found if one.path]


def _is_address(path: str) -> bool:
    return path.lower().startswith(("http://", "https://"))


def update_refusals(folder: str, looked_at: Collection[str], refused: Iterable[Refused]) -> None:
    """Say of the files that were looked at which were refused now. Writers hold the lock. Raises VaultFull."""
    before = read_refusals(folder)
    # A file that is not there any more is no fault any more.
    kept = [one for one in before if one.path not in looked_at and (_is_address(one.path) or os.path.lexists(one.path))]
    now = sorted([*kept, *refused], key=lambda one: one.path)
    if now == before:
        return
    path = os.path.join(folder, _NAME)
    if os.path.islink(path):
        raise OutsideVault(f"{path} is a link; it is not written through")
    with writing(path):
        if not now:
            remove_file(path)
            return
        rows = ({name: value for name in Refused.__slots__ if (value := getattr(one, name))} for one in now)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        replace_file(path, text.encode("utf-8", "surrogatepass"))
