"""What each category file held when it was last accounted for: how a person's edit is told from our own.

Kept in ``.cache/seen`` and made again from the history when it is lost.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from memoranda.core.items import Category
from memoranda.core.names import content_hash, name_key
from memoranda.storage.history import History
from memoranda.storage.vault import VaultFolder

__all__ = ["Baseline", "Baselines"]

_VERSION = 2
_ENDING = ".seen"
_TAIL = re.compile(rb"\t([0-9a-f]{16})\t([0-9a-f]{8})\n\Z")
_TAIL_BYTES = 64
#: From this size on, and this much for each item, a file of changes is written whole again.
_WHOLE_BYTES = 65_536
_BYTES_AN_ITEM = 256


@dataclass(frozen=True, slots=True)
class Baseline:
    """One file as last accounted for: the hash of its bytes, and of each item's text by name."""

    path: str
    hash: str
    items: dict[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str, file_hash: str, category: Category) -> Baseline:
        """The baseline of a file that holds ``category``."""
        return cls(path, file_hash, {s.key: (s.address_name, s.hash) for s in category.sections})


class Baselines:
    """One small file a category: a whole baseline, then a line for each change since.

    Every line ends with the hash that the category's file has after it, and with
    checksums, so that asking for the hash reads only the end, and damage is
    noticed. Writers hold the vault's lock; all of it may be deleted at any time.
    """

    def __init__(self, vault: VaultFolder, history: History) -> None:
        self._folder = os.path.join(vault.root, ".cache", "seen")
        self._cache = os.path.join(vault.root, ".cache")
        self._history = history
        self._complete = os.path.join(self._folder, f"complete-{_VERSION}-{vault.id}")

    def hash_of(self, path: str) -> str | None:
        """The hash of a file as last accounted for, without reading what it held; ``None`` if it never was."""
        try:
            with open(self._file(path), "rb") as stream:
                stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL_BYTES))
                found = _TAIL.search(stream.read())
        except FileNotFoundError:
            return None
        except OSError:
            found = None
        if found is None or _checksum(found.group(1)) != found.group(2):
            self._damaged()
            return None
        return found.group(1).decode("ascii")

    def get(self, path: str) -> Baseline | None:
        """What is known of a file; ``None`` if it was never accounted for."""
        try:
            found = _read(self._file(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            self._damaged()
            return None
        if found.path != path:
            self._damaged()
            return None
        return found

    def _damaged(self) -> None:
        # The next holder of the lock makes all of them again.
        with suppress(OSError):
            os.unlink(self._complete)

    def put(self, baseline: Baseline) -> None:
        """Remember a file as accounted for. Best effort: a failure costs a journal line, never text."""
        row = {"path": baseline.path, "items": baseline.items}
        with suppress(OSError):
            self._make_folder()
            target = self._file(baseline.path)
            temporary = f"{target}.tmp"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as stream:
                stream.write(_line(row, baseline.hash))
            os.replace(temporary, target)

    def update(
        self,
        path: str,
        hashes: tuple[str | None, str],
        items: Mapping[str, tuple[str, str] | None] | None,
        category: Category,
    ) -> None:
        """Remember a change of some ``items`` (``None``: gone) that took a file from one hash to another.

        Costs as much as the change, not as the file; all of ``category`` is
        written down only where that is not possible.
        """
        before, after = hashes
        if items is None or before is None or self.hash_of(path) != before:
            self.put(Baseline.of(path, after, category))
            return
        with suppress(OSError):
            descriptor = os.open(self._file(path), os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                size = os.fstat(descriptor).st_size
                if size <= _WHOLE_BYTES + _BYTES_AN_ITEM * len(category.sections):
                    os.write(descriptor, _line({"items": dict(items)}, after))
                    return
            finally:
                os.close(descriptor)
            self.put(Baseline.of(path, after, category))

    def drop(self, path: str) -> None:
        """Forget a file that is gone."""
        with suppress(OSError):
            os.unlink(self._file(path))

    def vanished(self, present: Iterable[str]) -> list[Baseline]:
        """What was accounted for and is no longer among the ``present`` paths."""
        known = {os.path.basename(self._file(path)) for path in present}
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        gone = []
        for name in sorted(names):
            if name.endswith(_ENDING) and name not in known:
                with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                    gone.append(_read(os.path.join(self._folder, name)))
        return gone

    def ensure(self) -> None:
        """Make the baselines again from the history if they are missing, damaged or of another version.

        Needs the lock.
        """
        if not os.path.exists(self._complete):
            self._rebuild()

    def _rebuild(self) -> None:
        """Replay the history: the last known hash of each file, and the items that it held."""
        import shutil

        shutil.rmtree(self._folder, ignore_errors=True)
        files: dict[str, str] = {}
        items: dict[str, dict[str, tuple[str, str]]] = {}
        aborted = {record.id for record in self._history.read() if record.state == "aborted"}
        for record in self._history.read():
            if record.id in aborted:
                continue
            for file in record.files:
                if file.after is None:
                    files.pop(file.path, None)
                    items.pop(file.path, None)
                else:
                    files[file.path] = file.after
            for item in record.items:
                held = items.setdefault(item.path, {})
                if item.before is not None:
                    held.pop(_key(item.before.name), None)
                if item.after is not None:
                    held[_key(item.after.name)] = (item.after.name, content_hash(item.after.text))
        for path, file_hash in files.items():
            self.put(Baseline(path, file_hash, items.get(path, {})))
        with suppress(OSError):
            self._make_folder()
            os.close(os.open(self._complete, os.O_WRONLY | os.O_CREAT, 0o600))

    def _make_folder(self) -> None:
        if os.path.isdir(self._folder):
            return
        fresh = not os.path.isdir(self._cache)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        os.chmod(self._cache, 0o700)
        if fresh:
            descriptor = os.open(os.path.join(self._cache, "CACHEDIR.TAG"), os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(descriptor, b"Signature: 8a477f597d28d172789f06886806bc55\n")
            os.close(descriptor)

    def _file(self, path: str) -> str:
        import hashlib

        digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self._folder, f"{digest[:24]}{_ENDING}")


def _line(row: dict[str, Any], file_hash: str) -> bytes:
    body = json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    tail = file_hash.encode("ascii")
    return b"\t".join((body, _checksum(body + tail), tail, _checksum(tail))) + b"\n"


def _checksum(data: bytes) -> bytes:
    return b"%08x" % zlib.crc32(data)


def _read(file: str) -> Baseline:
    """Fold the lines of one file. Raises OSError, and ValueError and the like for damage."""
    with open(file, "rb") as stream:
        data = stream.read()
    if not data.endswith(b"\n"):
        raise ValueError(file)
    path, file_hash = "", ""
    items: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(data[:-1].split(b"\n")):
        body, check, tail, check_tail = line.split(b"\t")
        if _checksum(body + tail) != check or _checksum(tail) != check_tail:
            raise ValueError(file)
        row = json.loads(body)
        if number == 0:
            path = row["path"]
        file_hash = tail.decode("ascii")
        for key, value in row["items"].items():
            if value is None:
                items.pop(key, None)
            else:
                items[key] = (value[0], value[1])
    return Baseline(path, file_hash, items)


def _key(name: str) -> str:
    # A block id is found with or without its caret, so its key has none (see core.items).
    return name_key(name.removeprefix("^"))
