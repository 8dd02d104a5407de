"""The properties of a note: what its YAML front matter says, as far as notes make use of YAML.

Read are ``key: value``, lists in both forms, quoted texts, block texts (``|``
and ``>``), and one mapping inside another (``metadata.type``). Anything else
(anchors, tags, flow mappings, mappings in lists) is kept as the text it is.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.frontmatter import front_matter_end

__all__ = ["Properties", "first_of", "read_properties", "texts_of"]

Properties = dict[str, "str | list[str]"]

_KEY = r"""(?:"([^"]*)"[ \t]*|'([^']*)'[ \t]*|([^\s#"'\[\]{},&*!|>%@`-][^:#]*)):(?:[ \t]+(.*)|[ \t]*)\Z"""
_BLOCK = r"[|>][+\-0-9]*[ \t]*(?:#.*)?\Z"
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_MOST_LINES = 2000


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def read_properties(text: str) -> tuple[Properties, int]:
    """The properties at the beginning of ``text``, and the offset where the text behind them begins.

    Keys are lower-case with single spaces; those of an inner mapping follow the
    outer key and a dot. Of a key that stands twice the last value counts.
    """
    end = front_matter_end(text, 0) if text.startswith("---") else 0
    if not end:
        return {}, 0
    rows = text[:end].replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")[1:-1]
    return _Reader([row.rstrip() for row in rows[:_MOST_LINES]]).read(), end


def texts_of(properties: Properties, *keys: str) -> list[str]:
    """All values under the keys, as a list; a text with commas under ``tags`` or ``aliases`` is several."""
    found: list[str] = []
    for key in keys:
        value = properties.get(key, "")
        parts = value if isinstance(value, list) else value.split(",")
        found += [part.strip() for part in parts if part.strip() and part.strip() not in found]
    return found


def first_of(properties: Properties, *keys: str) -> str:
    """The first of the keys that has one value which is not empty; else an empty text."""
    for key in keys:
        value = properties.get(key)
        if isinstance(value, list):
            value = value[0] if value else ""
        if value and value.strip():
            return value.strip()
    return ""


class _Reader:
    """Goes through the rows once."""

    def __init__(self, rows: list[str]) -> None:
        self._rows = rows
        self._at = 0
        self._found: Properties = {}

    def read(self) -> Properties:
        while self._at < len(self._rows):
            row = self._rows[self._at]
            self._at += 1
            if row.strip() and not row.startswith(("#", "---", "...")):
                self._pair(row, "")
        return self._found

    def _pair(self, row: str, outer: str) -> None:
        key = _pattern(_KEY).match(row.strip())
        if key is None:
            return
        name = outer + " ".join((key[1] or key[2] or key[3] or "").split()).casefold()
        value = (key[4] or "").strip()
        if _pattern(_BLOCK).match(value):
            self._found[name] = self._block(_indent(row), "\n" if value[0] == "|" else " ")
        elif value.startswith("["):
            self._found[name] = _flow_list(self._flow(value))
        elif value and not value.startswith("#"):
            self._found[name] = _plain(value)
        else:
            self._inner(name, _indent(row), nested=bool(outer))

    def _block(self, indent: int, joint: str) -> str:
        lines: list[str] = []
        while self._at < len(self._rows):
            row = self._rows[self._at]
            if row.strip() and _indent(row) <= indent:
                break
            lines.append(row.strip())
            self._at += 1
        return joint.join(lines).strip()

    def _flow(self, value: str) -> str:
        """A list in brackets up to its end, which may stand some rows below."""
        pieces = [value]
        while not pieces[-1].rstrip().endswith("]") and self._at < len(self._rows) and len(pieces) < 200:
            if _pattern(_KEY).match(self._rows[self._at]):
                break
            pieces.append(self._rows[self._at].strip())
            self._at += 1
        return " ".join(pieces)

    def _inner(self, name: str, indent: int, nested: bool) -> None:
        """What stands below a key without a value: a list, or another mapping."""
        entries: list[str] = []
        while self._at < len(self._rows):
            row = self._rows[self._at]
            body = row.strip()
            if not body or body.startswith("#"):
                self._at += 1
            elif body == "-" or body.startswith(("- ", "-\t")):
                if _indent(row) < indent:
                    break
                entries.append(_plain(body[1:].strip()))
                self._at += 1
            elif _indent(row) > indent:
                self._at += 1
                if not nested:
                    self._pair(row, name + ".")
            else:
                break
        self._found[name] = [entry for entry in entries if entry]


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" \t"))


def _plain(value: str) -> str:
    """One value without its quotes, or without the comment behind it."""
    quote = value[:1]
    if quote == "'" and len(value) > 1:
        end = len(value)
        at = 1
        while (at := value.find("'", at)) >= 0:
            if value.startswith("''", at):
                at += 2
                continue
            end = at
            break
        return value[1:end].replace("''", "'").strip()
    if quote == '"' and len(value) > 1:
        read: list[str] = []
        at = 1
        while at < len(value) and value[at] != '"':
            if value[at] == "\\" and at + 1 < len(value):
                read.append(_ESCAPES.get(value[at + 1], value[at : at + 2]))
                at += 2
            else:
                read.append(value[at])
                at += 1
        return "".join(read).strip()
    comment = value.find(" #")
    plain = (value if comment < 0 else value[:comment]).strip()
    return "" if plain in ("null", "~", "[]", "{}") else plain


def _flow_list(value: str) -> list[str]:
    """The entries of ``[a, "b, c", [[d]]]``; wiki-links in it stay whole."""
    inner = value.strip()[1:]
    inner = inner[: inner.rfind("]")] if "]" in inner else inner
    entries: list[str] = []
    start = depth = 0
    quote = ""
    begun = False  # whether the entry has begun: a quote inside it is a letter
    for at, character in enumerate(inner):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and not begun:
            quote, begun = character, True
        elif character in "[]":
            depth += 1 if character == "[" else -1
        elif character == "," and depth <= 0:
            entries.append(_plain(inner[start:at].strip()))
            start, begun = at + 1, False
        if character not in " \t," and not begun:
            begun = True
    entries.append(_plain(inner[start:].strip()))
    return [entry for entry in entries if entry]
