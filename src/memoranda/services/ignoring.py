"""Which files of a folder are not meant: the rules of ``.gitignore`` and ``.memorandaignore`` files, as git has them.

A rule holds in the folder of its file and below; of several that match the last
one decides, of several files the deepest. ``!`` takes a rule back, a ``/`` in
front or within binds it to the folder, one at the end means folders alone,
``**`` any number of folders.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from fnmatch import translate

from memoranda.core.records import dataclass
from memoranda.storage.files import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["IGNORE_FILES", "IgnoreRules", "is_left_out", "read_rules"]

IGNORE_FILES = (".gitignore", ".memorandaignore")
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class _Rule:
    parts: tuple[re.Pattern[str] | None, ...]
    takes_back: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder's ignore files. ``folder`` is its path."""

    folder: str
    rules: tuple[_Rule, ...]

    def decides(self, path: str, is_folder: bool) -> bool | None:
        """Whether a file or folder below is left out; ``None`` where no rule is about it."""
        names = os.path.relpath(path, self.folder).split(os.sep)
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and _matches(rule.parts, names):
                return not rule.takes_back
        return None


def read_rules(folder: str) -> IgnoreRules | None:
    """The rules that a folder's ignore files hold, if it has any that can be read."""
    rules: list[_Rule] = []
    for name in IGNORE_FILES:
        with suppress(OSError):
            text = read_bytes(os.path.join(folder, name))[:_MOST].decode("utf-8", "replace")
            rules += [rule for line in text.splitlines() if (rule := _rule(line)) is not None]
    return IgnoreRules(folder, tuple(rules)) if rules else None


def is_left_out(path: str, is_folder: bool, rules: Sequence[IgnoreRules]) -> bool:
    """Whether a file or folder is left out by rules of the folders above it, outermost first."""
    for one in reversed(rules):
        if (decided := one.decides(path, is_folder)) is not None:
            return decided
    return False


def _rule(line: str) -> _Rule | None:
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    takes_back = text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\")
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    if not text:
        return None
    if "/" not in text:
        return _Rule((None, re.compile(translate(_plain(text)))), takes_back, folders_only)
    return _Rule(_segments(text.removeprefix("/")), takes_back, folders_only)


def _segments(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    """A pattern of git, folder by folder; ``None`` stands for any number of them.

    :func:`fnmatch.translate` makes expressions that never go back over what a star took.
    """
    parts: list[re.Pattern[str] | None] = []
    for part in pattern.split("/"):
        if part == "**":
            if not parts or parts[-1] is not None:
                parts.append(None)
        else:
            parts.append(re.compile(translate(_plain(part))))
    return tuple(parts)


def _plain(part: str) -> str:
    """A part of git's pattern as :mod:`fnmatch` writes it: ``\\x`` is ``[x]``, ``[^a]`` is ``[!a]``, ``**`` a star."""
    out, at = "", 0
    while at < len(part):
        one = part[at]
        if one == "\\" and at + 1 < len(part):
            out, at = out + f"[{part[at + 1]}]", at + 2
        elif one == "[" and (end := part.find("]", at + 2)) > 0:
            inner = part[at + 1 : end]
            out, at = out + f"[{'!' + inner[1:] if inner[0] == '^' else inner}]", end + 1
        elif one == "*" and out.endswith("*"):
            at += 1
        else:
            out, at = out + one, at + 1
    return out


def _matches(parts: tuple[re.Pattern[str] | None, ...], names: list[str]) -> bool:
    """Whether the parts of a pattern match the names of a path, each once."""
    # Where in the pattern one may stand after the names so far.
    places = _skipped(parts, {0})
    for name in names:
        following = set()
        for place in places:
            if place < len(parts):
                part = parts[place]
                if part is None:
                    # At the end it stands for what is inside a folder: one name at least.
                    following |= {place, place + 1} if place == len(parts) - 1 else {place}
                elif part.match(name):
                    following.add(place + 1)
        places = _skipped(parts, following)
    return len(parts) in places


def _skipped(parts: tuple[re.Pattern[str] | None, ...], places: set[int]) -> set[int]:
    """The same places, and those behind what may stand for no folder at all."""
    return places | {place + 1 for place in places if place < len(parts) - 1 and parts[place] is None}
