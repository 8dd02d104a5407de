"""Claude Code's ``settings.json``: adding our hooks to it and taking them out, everything else left as it is.

::

    {"hooks": {"UserPromptSubmit": [
        {"hooks": [{"type": "command", "command": "memoranda -C VAULT hook claude-code prompt"}]}
    ]}}

A hook is ours by its command: this program, then ``hook claude-code ACTION``.
"""

from __future__ import annotations

import json
import os
import shlex
from contextlib import suppress
from datetime import datetime

from memoranda.core.errors import ChangedUnderneath, UsageError
from memoranda.core.records import dataclass
from memoranda.faces.hooks.claude_code import EVENTS
from memoranda.storage.files import (
    create_only,
    make_folder,
    read_bytes,
    reading,
    replace_file,
    write_temporary,
    writing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

__all__ = ["Change", "commands_for", "install", "is_ours", "settings_path", "uninstall"]

_BOM = b"\xef\xbb\xbf"
_OPERATORS = frozenset({"&&", "||", ";", "|", "&"})
#: Seconds that Claude Code waits for each.
_TIMEOUTS = {"session-start": 15, "prompt": 10, "stop": 60, "pre-compact": 60, "session-end": 60}


@dataclass(frozen=True, slots=True)
class Change:
    """What was changed in a file of settings, or would be: (event, command) pairs, and the copy made before."""

    path: str
    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    backup: str = ""

    def __bool__(self) -> bool:
        """Whether anything is different."""
        return bool(self.added or self.removed)


def settings_path(given: str, *, project: bool) -> str:
    """The file of settings: the one ``given``, else this folder's (``project``), else the user's own."""
    if given:
        return os.path.abspath(os.path.expanduser(given))
    home = os.getcwd() if project else os.path.expanduser("~")
    return os.path.join(home, ".claude", "settings.json")


def commands_for(program: Sequence[str], options: Sequence[str]) -> dict[str, str]:
    """The command line of each action: ``program`` with its leading options, and the ``options`` of the hook."""
    return {action: shlex.join([*program, "hook", "claude-code", action, *options]) for action in EVENTS}


def is_ours(command: object) -> bool:
    """Whether a hook's command is one that :func:`commands_for` makes, whatever its options."""
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if _OPERATORS & set(words):
        return False  # a person's own command that also calls us
    return _program_length(words) > 0 and any(
        words[at : at + 2] == ["hook", "claude-code"] and words[at + 2] in EVENTS
        for at in range(_program_length(words), len(words) - 2)
    )


def _program_length(words: Sequence[str]) -> int:
    """How many words at the beginning call this program; 0: they call another."""
    if words and words[0].replace("\\", "/").rpartition("/")[2].casefold() in ("memoranda", "memoranda.exe"):
        return 1
    return 3 if list(words[1:3]) == ["-m", "memoranda"] else 0


def install(path: str, commands: Mapping[str, str], *, dry_run: bool = False) -> Change:
    """Put a hook for each action into a file of settings, which is made if it is not there.

    Ours that are there with other commands get these. A copy of the file is
    made beside it first.

    Raises:
        UsageError: it is no JSON object, or its hooks are no such table; nothing was written.
        ChangedUnderneath: somebody else wrote it meanwhile; nothing was written.
        VaultUnreadable, VaultReadOnly, VaultFull: of the file.
    """

    def put(settings: dict[str, Any], change: Callable[[str, str, str], None]) -> None:
        hooks = settings.setdefault("hooks", {})
        if not isinstance(hooks, dict):
            raise UsageError(f'{path}: "hooks" is no JSON object; nothing was changed')
        for action, command in commands.items():
            _put(path, hooks, action, command, change)

    return _edited(path, put, dry_run)


def uninstall(path: str, *, dry_run: bool = False) -> Change:
    """Take our hooks out of a file of settings, and nothing else. Raises what :func:`install` raises."""

    def take(settings: dict[str, Any], change: Callable[[str, str, str], None]) -> None:
        hooks = settings.get("hooks")
        if not isinstance(hooks, dict):
            return
        for event in list(hooks):
            groups = hooks[event]
            there = list(_ours(groups))
            for group, ours in there:
                change("removed", event, ours["command"])
                _drop(groups, group, ours)
            if there and not groups:
                del hooks[event]
        if not hooks:
            del settings["hooks"]

    return _edited(path, take, dry_run)


def _put(path: str, hooks: dict[str, Any], action: str, command: str, change: Callable[[str, str, str], None]) -> None:
    event = EVENTS[action]
    groups = hooks.setdefault(event, [])
    if not isinstance(groups, list):
        raise UsageError(f'{path}: "hooks": "{event}" is no list; nothing was changed')
    there = list(_ours(groups))
    for group, other in there[1:]:
        change("removed", event, other["command"])
        _drop(groups, group, other)
    if not there:
        groups.append({"hooks": [{"type": "command", "command": command, "timeout": _TIMEOUTS[action]}]})
        change("added", event, command)
    elif there[0][1]["command"] != command:
        # In its place, with the time limit that a person may have given it.
        change("removed", event, there[0][1]["command"])
        there[0][1]["command"] = command
        change("added", event, command)


def _ours(groups: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Our hooks among an event's groups, each with its group."""
    for group in groups if isinstance(groups, list) else ():
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict) and is_ours(hook.get("command")):
                yield group, hook


def _drop(groups: list[Any], group: dict[str, Any], hook: dict[str, Any]) -> None:
    # By identity: another one may say the same.
    group["hooks"][:] = [one for one in group["hooks"] if one is not hook]
    if not group["hooks"]:
        groups[:] = [one for one in groups if one is not group]


def _edited(
    path: str, edit: Callable[[dict[str, Any], Callable[[str, str, str], None]], None], dry_run: bool
) -> Change:
    with reading(path):
        data = read_bytes(path) if os.path.exists(path) else None
    settings = _parsed(path, data)
    changes: dict[str, list[tuple[str, str]]] = {"added": [], "removed": []}
    edit(settings, lambda kind, event, command: changes[kind].append((event, command)))
    change = Change(path, tuple(changes["added"]), tuple(changes["removed"]))
    if not change or dry_run:
        return change
    with writing(path):
        folder = os.path.dirname(path)
        make_folder(folder)
        backup = "" if data is None else _backed_up(path, data)
        if data != (read_bytes(path) if os.path.exists(path) else None):
            raise ChangedUnderneath(f"{path} was changed by somebody else just now; nothing was written")
        replace_file(path, _written(settings, data))
    return Change(path, change.added, change.removed, backup)


def _parsed(path: str, data: bytes | None) -> dict[str, Any]:
    if data is None or not data.removeprefix(_BOM).strip():
        return {}

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            # One of the two would be lost.
            raise ValueError("a key stands twice")
        return found

    try:
        settings = json.loads(data.decode("utf-8-sig"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        # Not what stands there: settings may hold keys.
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        if str(error) == "a key stands twice":
            where = str(error)
        raise UsageError(f"{path} is no JSON ({where}); nothing was changed") from None
    if not isinstance(settings, dict):
        raise UsageError(f"{path} is no JSON object; nothing was changed")
    return settings


def _written(settings: dict[str, Any], data: bytes | None) -> bytes:
    """The settings in the layout that the file had: indentation, line ends, byte order mark."""
    text = "" if data is None else data.decode("utf-8-sig")
    indent: int | str | None = 2
    if body := text.strip():
        second = text.lstrip().partition("\n")[2]
        lead = second[: len(second) - len(second.lstrip(" \t"))]
        indent = lead or (2 if "\n" in body else None)
        if body == "{}":
            indent = 2
    written = json.dumps(settings, ensure_ascii=False, indent=indent)
    if not text.strip() or text.endswith("\n"):
        written += "\n"
    if "\r\n" in text:
        written = written.replace("\n", "\r\n")
    encoded = written.encode("utf-8", "surrogatepass")
    return _BOM + encoded if data is not None and data.startswith(_BOM) else encoded


def _backed_up(path: str, data: bytes) -> str:
    """A copy of the file beside it, under a name that nothing has yet."""
    temporary = write_temporary(os.path.dirname(path), data, like=path)
    moment = datetime.now().strftime("%Y%m%dT%H%M%S")
    try:
        for number in range(1, 1000):
            backup = f"{path}.{moment}{f'-{number}' if number > 1 else ''}.bak"
            with suppress(FileExistsError):
                create_only(temporary, backup)
                return backup
        raise FileExistsError(f"{path} has a thousand copies of this second")
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
