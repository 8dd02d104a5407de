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
from functools import cache

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["IGNORE_FILES", "IgnoreRules", "is_left_out", "read_rules"]

IGNORE_FILES = (".gitignore", ".memorandaignore")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    takes_back: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder's ignore files. ``folder`` is its path."""

    folder: str
    rules: tuple[_Rule, ...]

    def decides(self, path: str, is_folder: bool) -> bool | None:
        """Whether a file or folder below is left out; ``None`` where no rule is about it."""
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(relative):
                return not rule.takes_back
        return None


def read_rules(folder: str) -> IgnoreRules | None:
    """The rules that a folder's ignore files hold, if it has any that can be read."""
    rules: list[_Rule] = []
    for name in IGNORE_FILES:
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
            rules += [rule for line in stream.read(1 << 20).splitlines() if (rule := _rule(line)) is not None]
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
    bound = "/" in text
    pattern = _translated(text.removeprefix("/"))
    return _Rule(re.compile(pattern if bound else f"(?:.*/)?{pattern}"), takes_back, folders_only)


@cache
def _translated(text: str) -> str:
    """A pattern of git as a regular expression."""
    out, at = "", 0
    while at < len(text):
        if text.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif text.startswith("/**", at) and at + 3 == len(text):
            out, at = out + "/.*", at + 3
        elif text[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif text[at] == "?":
            out, at = out + "[^/]", at + 1
        elif text[at] == "[" and (end := text.find("]", at + 2)) > 0:
            inner = text[at + 1 : end].replace("\\", "\\\\")
            out += f"[{'^' + inner[1:] if inner[:1] in '!^' else inner}]"
            at = end + 1
        else:
            at += 1 if text[at] == "\\" and at + 1 < len(text) else 0
            out, at = out + re.escape(text[at]), at + 1
    return out
