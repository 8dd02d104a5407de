"""Knowledge on disk: markdown documents under ``docs/<corpus>/``, and what a corpus is set to (``corpus.json``)."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from memoranda.core.addresses import SHARED, parse_scope
from memoranda.core.errors import BadName, OutsideVault, UsageError
from memoranda.core.names import check_identifier, is_conflict_copy, name_key
from memoranda.core.records import dataclass
from memoranda.storage.files import Stamp, read_bytes, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memoranda.storage.embedding_settings import EmbeddingSettings
    from memoranda.storage.vault import VaultFolder

__all__ = ["CorpusSettings", "DocumentFile", "Documents", "check_settings"]

_FOLDER = "docs"
_SETTINGS = "corpus.json"
_ENDING = ".md"
_LEAST, _MOST = 40, 100_000
_MAX_SIZE = 200 << 20
_SETTINGS_KNOWN = frozenset({"scope", "size", "overlap", "max_size", "converters", "embedding"})


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """What ``corpus.json`` says: whose knowledge it is, and how its documents are cut, in columns.

    ``max_size`` bounds a document's file, in bytes; ``converters`` names one by
    format where another than the usual one is wanted, ``embedding`` what embeds
    it where that is another than the vault's (provider ``none``: nothing). ``faults`` are what in it
    means nothing, in words; the defaults hold there.
    """

    scope: str = str(SHARED)
    size: int = 1000
    overlap: int = 0
    max_size: int = _MAX_SIZE
    converters: tuple[tuple[str, str], ...] = ()
    embedding: EmbeddingSettings | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """One document's file and its stamp; ``settings`` is the stamp of its corpus's settings."""

    relative: str
    path: str
    corpus: str
    document: str
    stamp: Stamp
    settings: Stamp | None = None


class Documents:
    """Reads documents. Whatever a person puts there as markdown counts, whoever made it."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._folder = vault.path(_FOLDER)
        self._known: dict[str, tuple[Stamp | None, CorpusSettings]] = {}

    def corpora(self) -> list[str]:
        """The names of all corpora. Raises VaultUnreadable."""
        with reading(self._folder):
            try:
                names = os.listdir(self._folder)
            except FileNotFoundError:
                return []
        return sorted(name for name in names if _is_name(name) and os.path.isdir(os.path.join(self._folder, name)))

    def settings(self, corpus: str) -> CorpusSettings:
        """What a corpus is set to. Never raises: what cannot be read is a fault of the settings."""
        path = os.path.join(self._folder, corpus, _SETTINGS)
        stamp = _stamp(path)
        known = self._known.get(corpus)
        if known is None or known[0] != stamp:
            known = self._known[corpus] = (stamp, _settings_in(path) if os.path.lexists(path) else CorpusSettings())
        return known[1]

    def files(self, only: str = "") -> Iterator[DocumentFile]:
        """Every document, or those of one corpus, by corpus and name. Raises VaultUnreadable."""
        for corpus in self.corpora():
            if only and corpus != only:
                continue
            folder = os.path.join(self._folder, corpus)
            settings = _stamp(os.path.join(folder, _SETTINGS))
            try:
                self._vault.check_inside(folder, f"{_FOLDER}/{corpus}")
            except OutsideVault:
                continue
            with reading(folder), os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
            for entry in entries:
                document = entry.name.removesuffix(_ENDING)
                if document == entry.name or not _is_name(document) or is_conflict_copy(entry.name):
                    continue
                relative = f"{_FOLDER}/{corpus}/{entry.name}"
                with suppress(OutsideVault, OSError):
                    if entry.is_symlink():
                        self._vault.check_inside(entry.path, relative)
                    if entry.is_file():
                        yield DocumentFile(relative, entry.path, corpus, document, Stamp.of(entry.stat()), settings)


def _is_name(name: str) -> bool:
    """Whether it can be part of an address."""
    try:
        return not name.startswith(".") and "#" not in name and check_identifier(name, "a document") == name
    except BadName:
        return False


def _stamp(path: str) -> Stamp | None:
    try:
        return Stamp.of(os.stat(path))
    except OSError:
        return None


def _settings_in(path: str) -> CorpusSettings:
    try:
        table: Any = json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError) as error:
        # Whose it is cannot be told: nobody is shown what may be private.
        return CorpusSettings(scope="", faults=(f"cannot be read: {error}",))
    if not isinstance(table, dict):
        return CorpusSettings(scope="", faults=("is no JSON object",))
    return check_settings(table)


def check_settings(table: dict[str, Any]) -> CorpusSettings:
    """The settings in a table; what means nothing is a fault, and the default holds."""
    faults: list[str] = []
    scope = table.get("scope", str(SHARED))
    try:
        scope = name_key(str(parse_scope(scope)))
    except (BadName, AttributeError, TypeError):
        # Whose it is is not known: nobody is shown what may be private.
        scope = ""
        faults.append(f"scope is shared, user/NAME, agent/NAME or project/ID, not {table['scope']!r}")
    size = _number(table, "size", 1000, _LEAST, _MOST, faults)
    overlap = _number(table, "overlap", 0, 0, size // 2, faults)
    most = _number(table, "max_size", _MAX_SIZE, 1, 1 << 40, faults)
    converters = table.get("converters", {})
    if not isinstance(converters, dict) or not all(isinstance(name, str) for name in converters.values()):
        faults.append(f'converters are names by format, such as {{"docx": "pandoc"}}, not {converters!r}')
        converters = {}
    embedding = None
    if (said := table.get("embedding")) is not None:
        from memoranda.storage.embedding_settings import read_embedding

        try:
            embedding = read_embedding(said, _SETTINGS) or None
        except UsageError as error:
            faults.append(str(error))
    faults += [f"there is no setting {key!r}" for key in table.keys() - _SETTINGS_KNOWN]
    return CorpusSettings(scope, size, overlap, most, tuple(sorted(converters.items())), embedding, tuple(faults))


def _number(table: dict[str, Any], key: str, otherwise: int, least: int, most: int, faults: list[str]) -> int:
    value = table.get(key, otherwise)
    if type(value) is int and least <= value <= most:
        return value
    faults.append(f"{key} is a whole number from {least} to {most}, not {value!r}")
    return otherwise if least <= otherwise <= most else least
