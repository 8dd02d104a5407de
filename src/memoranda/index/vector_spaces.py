"""Where the vectors of each model lie: those in use right in the cache, those in the making in a folder beside them.

Until all is embedded with a new model, what the one before gave stays as it
is: who goes back to that has lost nothing, and at no time do vectors of two
models lie in one index.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KEYS_FILE", "SYNC_STATE", "VectorSpaces", "is_named"]

#: The index whose files lie right in the cache; others have a folder of their own.
_PLAIN = "numpy"
_POINTER = "vectors.json"
#: What of the index is up to date, beside it.
SYNC_STATE = "vectors.synced.json"
#: The list of rows for people, where the index has one.
KEYS_FILE = "vectors.keys.jsonl"
_PIECE = 1 << 20


class VectorSpaces:
    """The folders of one vault's vectors. Who changes anything holds the lock of the vectors."""

    def __init__(self, cache: str, index: str, model: str) -> None:
        self._cache = cache
        self._folders = os.path.join(cache, "vectors")
        self._plain = index == _PLAIN
        self._own = os.path.join(self._folders, _folder_name(index, model))
        self._model = model
        self._seen: tuple[tuple[int, int, int] | None, str | None] = (None, None)

    def folder(self) -> str:
        """Where the vectors of this model in this index are, or are to be."""
        if self._plain and self._model_in_use() in (None, self._model):
            return self._cache
        return self._own

    def settle(self) -> bool:
        """All is embedded: put it in its place, and drop every other space; whether the folder is another now.

        A crash on the way costs what was in use before, never what is complete. Raises OSError.
        """
        moves = self._plain and self.folder() == self._own
        if moves:
            self._drop_in_use()
            # The pointer goes after what it points to, without it nothing is believed; and what is known to be up to
            # date goes last.
            order = (_POINTER, SYNC_STATE)
            names = sorted(os.listdir(self._own), key=lambda name: order.index(name) if name in order else -1)
            for name in names:
                os.replace(os.path.join(self._own, name), os.path.join(self._cache, name))
        self.drop_others()
        return moves

    def drop_others(self) -> None:
        """Throw away the vectors of every other model, or in another index. Raises OSError."""
        mine = self.folder()
        if mine != self._cache:
            self._drop_in_use()
        if os.path.islink(self._folders):
            return  # whatever is there is not ours
        with suppress(FileNotFoundError), os.scandir(self._folders) as listing:
            for entry in listing:
                if entry.path != mine and entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)

    def _model_in_use(self) -> str | None:
        """The model of what lies right in the cache; ``None``: nothing does."""
        path = os.path.join(self._cache, _POINTER)
        try:
            status = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._seen[0] != stamp:
            try:
                with open(path, "rb") as stream:
                    model = json.load(stream)["pointer"]["model"]
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                model = None
            self._seen = (stamp, model if isinstance(model, str) else None)
        return self._seen[1]

    def _drop_in_use(self) -> None:
        pointer = os.path.join(self._cache, _POINTER)
        with suppress(FileNotFoundError):
            os.unlink(pointer)
        with suppress(FileNotFoundError), os.scandir(self._cache) as listing:
            for entry in listing:
                if entry.name.startswith("vectors.") and entry.is_file(follow_symlinks=False):
                    os.unlink(entry.path)


def is_named(path: str, addresses: Iterable[str]) -> bool:
    """Whether a list of rows still names any of these: of a row that is damaged nothing is found, and nothing wiped."""
    wanted = [json.dumps(address, ensure_ascii=False).encode("utf-8", "surrogatepass") for address in addresses]
    longest = max(map(len, wanted), default=0)
    before = b""
    try:
        with open(path, "rb") as stream:
            while piece := stream.read(_PIECE):
                held = before + piece
                if any(one in held for one in wanted):
                    return True
                before = held[-longest:]
    except FileNotFoundError:
        pass
    return False


def _folder_name(index: str, model: str) -> str:
    """The name of a folder for the vectors of one model in one kind of index."""
    import hashlib

    readable = "".join(one if one.isalnum() and one.isascii() else "-" for one in model)[:40].strip("-")
    return f"{index}-{readable}-{hashlib.blake2b(model.encode(), digest_size=4).hexdigest()}"
