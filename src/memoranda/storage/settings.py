"""``memoranda.toml``: optional, written by people only. Absent means the defaults below."""

from __future__ import annotations

import os

from memoranda.core.errors import BadName, UsageError
from memoranda.core.names import check_identifier, name_key
from memoranda.core.records import dataclass, field
from memoranda.storage.files import read_bytes, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memoranda.core.kinds import Kind
    from memoranda.storage.embedding_settings import EmbeddingSettings
    from memoranda.storage.model_settings import ModelSettings
    from memoranda.storage.sleep_settings import SleepSettings

__all__ = ["SETTINGS_FILE", "VAULT_FOLDERS", "Settings", "is_below", "read_settings", "usable_settings"]

SETTINGS_FILE = "memoranda.toml"
#: What a vault keeps of everybody, and of each: no project's memory may be put there.
VAULT_FOLDERS = frozenset(
    {
        ".cache",
        "agents",
        "choices",
        "docs",
        "history",
        "inbox",
        "memory",
        "projects",
        "raw",
        "resources",
        "sleep",
        "users",
    }
)
_LONGEST_DEADLINE = 10**9


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person may set for one vault.

    ``deadline`` is in seconds; ``k1`` and ``b`` shape BM25; ``projects`` maps a
    project's id to the folder that holds its memory; ``segmenter`` names what
    cuts Chinese into words, empty for characters and pairs of them.
    """

    link_style: str = "colon"
    deadline: float = 0.3
    k1: float = 1.2
    b: float = 0.4
    overview: bool = True
    usage: bool = True
    projects: Mapping[str, str] = field(default_factory=dict)
    segmenter: str = ""
    #: The table ``[embedding]``; ``None`` where there is none.
    embedding: EmbeddingSettings | None = None
    #: The table ``[model]``; ``None`` where there is none.
    model: ModelSettings | None = None
    #: The table ``[sleep]``; ``None`` where there is none.
    sleep: SleepSettings | None = None
    #: The matrix with the tables ``[kinds.NAME]``; ``None`` where there are none.
    kinds: Mapping[str, Kind] | None = None


_RULES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "link_style": (str, '"colon" or "hash"'),
    "deadline": ((int, float), "a number of seconds above 0 (inf for none)"),
    "k1": ((int, float), "a number from 0 to 10"),
    "b": ((int, float), "a number from 0 to 1"),
    "overview": (bool, "true or false"),
    "usage": (bool, "true or false"),
    "segmenter": (str, '"" (none), "rjieba" or "jieba"'),
}


def usable_settings(root: str) -> tuple[Settings, list[str]]:
    """The settings of the vault at ``root`` without what means nothing, and what that is, in words.

    A person's slip of the pen costs that one setting, not the memory. Raises
    VaultUnreadable: the file is there and may not be read.
    """
    faults: list[str] = []
    return read_settings(root, faults), faults


def read_settings(root: str, faults: list[str] | None = None) -> Settings:
    """The settings of the vault at ``root``. With a list for ``faults``, what means nothing is put there and left out.

    Raises:
        UsageError: the file is not TOML, or holds a key or value that means nothing here.
        VaultUnreadable: the file is there and may not be read.
    """
    path = os.path.join(root, SETTINGS_FILE)
    with reading(path):
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            return Settings()
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        if faults is None:
            raise UsageError(f"{SETTINGS_FILE} is not TOML: {error}") from error
        faults.append(f"is not TOML: {error}; every setting has its default")
        return Settings()
    values: dict[str, Any] = {}
    for key, value in table.items():
        try:
            values |= _setting(key, value, root)
        except UsageError as error:
            if faults is None:
                raise
            faults.append(f"{str(error).removeprefix(f'{SETTINGS_FILE}: ')}; it is left out")
    return Settings(**values)


def _setting(key: str, value: Any, root: str) -> dict[str, Any]:
    if key == "projects":
        return {"projects": _projects_from(value, root)}
    if key == "embedding":
        from memoranda.storage.embedding_settings import read_embedding

        return {"embedding": read_embedding(value, SETTINGS_FILE)}
    if key == "model":
        from memoranda.storage.model_settings import read_model

        return {"model": read_model(value, SETTINGS_FILE)}
    if key in ("sleep", "kinds"):
        from memoranda.storage.sleep_settings import read_kinds, read_sleep

        return {key: (read_sleep if key == "sleep" else read_kinds)(value, SETTINGS_FILE)}
    if key not in _RULES:
        known = ", ".join((*_RULES, "projects", "embedding", "model", "sleep", "kinds"))
        raise UsageError(f"{SETTINGS_FILE}: {key!r} is not a setting (known: {known})")
    kinds, meaning = _RULES[key]
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool) or not _fits(key, value):
        raise UsageError(f"{SETTINGS_FILE}: {key} is {meaning}, not {_shown(value)}")
    return {key: value}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"


def _fits(key: str, value: Any) -> bool:
    if key == "link_style":
        return value in ("colon", "hash")
    if key == "segmenter":
        return value in ("", "rjieba", "jieba")
    if key == "deadline":
        return bool(0 < value <= _LONGEST_DEADLINE or value == float("inf"))
    if key in ("k1", "b"):
        return bool(0 <= value <= (10 if key == "k1" else 1))
    return True


def _projects_from(value: Any, root: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise UsageError(f"{SETTINGS_FILE}: projects is a table of tables, as in [projects.apollo]")
    projects: dict[str, str] = {}
    taken: dict[str, str] = {}
    for project, table in value.items():
        if not isinstance(table, dict) or set(table) != {"path"} or not isinstance(table.get("path"), str):
            raise UsageError(f'{SETTINGS_FILE}: [projects.{project}] holds one line, path = "FOLDER"')
        try:
            name = check_identifier(project, "a project's id")
        except BadName as error:
            raise UsageError(f"{SETTINGS_FILE}: {error}") from error
        if (other := taken.setdefault(name_key(name), project)) != project:
            raise UsageError(f"{SETTINGS_FILE}: [projects.{other}] and [projects.{project}] are the same project")
        projects[name] = _project_folder(name, table["path"], root)
        for other, folder in projects.items():
            if other != name and _share_memory(folder, projects[name]):
                raise UsageError(f"{SETTINGS_FILE}: [projects.{other}] and [projects.{name}] would share their memory")
    return projects


def _share_memory(one: str, other: str) -> bool:
    """Whether the memory of a project in one folder would be seen in that of a project in the other."""
    pairs = ((one, other), (other, one))
    return one == other or any(is_below(folder, os.path.join(home, "memory")) for folder, home in pairs)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder's, or of something in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _project_folder(project: str, path: str, root: str) -> str:
    if not path.strip() or "\0" in path:
        raise UsageError(f"{SETTINGS_FILE}: the path of [projects.{project}] is no folder's: {path!r}")
    folder, vault = os.path.realpath(os.path.join(root, os.path.expanduser(path))), os.path.realpath(root)
    if folder == vault:
        # Its memory would be the shared memory, and every other project would see it.
        raise UsageError(f"{SETTINGS_FILE}: the path of [projects.{project}] may not be the vault itself")
    if is_below(folder, vault):
        kept, *names = os.path.relpath(folder, vault).split(os.sep)
        own = kept == "projects" and names and name_key(names[0]) == name_key(project)
        if kept.casefold() in VAULT_FOLDERS and not own:
            raise UsageError(
                f"{SETTINGS_FILE}: the path of [projects.{project}] lies in {kept}/ of the vault, which is not its own"
            )
    return folder
