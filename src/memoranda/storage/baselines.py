"""What each category file held when it was last accounted for: how a person's edit is told from our own.

Kept in ``.cache/seen`` and made again from the history when it is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from memoranda.core.items import Category
from memoranda.core.names import content_hash, name_key
from memoranda.storage.history import History
from memoranda.storage.vault import VaultFolder

__all__ = ["Baseline", "Baselines"]

_VERSION = 1


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
    """One small file a category. Writers hold the vault's lock; all of it may be deleted at any time."""

    def __init__(self, vault: VaultFolder, history: History) -> None:
        self._folder = os.path.join(vault.root, ".cache", "seen")
        self._cache = os.path.join(vault.root, ".cache")
        self._history = history
        self._complete = os.path.join(self._folder, f"complete-{_VERSION}-{vault.id}")

    def get(self, path: str) -> Baseline | None:
        """What is known of a file; ``None`` if it was never accounted for."""
        try:
            with open(self._file(path), "rb") as stream:
                row = json.load(stream)
            if row["path"] != path:
                raise ValueError(path)
            items = {str(k): (str(v[0]), str(v[1])) for k, v in row["items"].items()}
            return Baseline(path, str(row["hash"]), items)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            # Damaged: the next holder of the lock makes all of them again.
            with suppress(OSError):
                os.unlink(self._complete)
            return None

    def put(self, baseline: Baseline) -> None:
        """Remember a file as accounted for. Best effort: a failure costs a journal line, never text."""
        row = {"path": baseline.path, "hash": baseline.hash, "items": baseline.items}
        with suppress(OSError):
            self._make_folder()
            target = self._file(baseline.path)
            temporary = f"{target}.{os.getpid()}.tmp"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8", errors="surrogatepass") as stream:
                stream.write(json.dumps(row, ensure_ascii=True, separators=(",", ":")))
            os.replace(temporary, target)

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
            if name.endswith(".json") and name not in known:
                with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                    with open(os.path.join(self._folder, name), "rb") as stream:
                        row = json.load(stream)
                    items = {str(k): (str(v[0]), str(v[1])) for k, v in row["items"].items()}
                    gone.append(Baseline(str(row["path"]), str(row["hash"]), items))
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
        return os.path.join(self._folder, f"{digest[:24]}.json")


def _key(name: str) -> str:
    # A block id is found with or without its caret, so its key has none (see core.items).
    return name_key(name.removeprefix("^"))
