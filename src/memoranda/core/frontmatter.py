"""What is plainly wrong in YAML front matter, found without a YAML library.

Only faults that every YAML reader trips over are reported; what this scanner
does not understand it lets pass.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.lines import lines

__all__ = ["check_front_matter", "front_matter_end"]

# Each is compiled when the first front matter comes that needs it.
_compiled = cache(re.compile)
_KEY = (
    r"""(?x)(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\#"'\[\]{},&*!|>%@`?-](?:[^:\#]|:(?!\s|\Z)|(?<!\s)\#)*"""
    r"""|[?-](?=\S)(?:[^:\#]|:(?!\s|\Z)|(?<!\s)\#)*)[ ]*:(?:[ \t]+|\Z)"""
)
_ENTRY = r"-(?:[ \t]+|\Z)"
_BLOCK_SCALAR = r"(?:[!&]\S+[ ]+)*[|>](?:[+-]?[1-9]?|[1-9][+-])[ \t]*(?:[ \t]#.*)?\Z"
_COMMENT_BEHIND = r"[ \t]+#"
_QUOTE_ENDS = {'"': r'(?s)(?:[^"\\]|\\.)*"', "'": r"(?s)(?:[^']|'')*'(?!')"}
_LATE_COLON = r":(?=[ \t]|\Z)"


def front_matter_end(text: str, start: int) -> int:
    """Where the front matter that begins at ``start`` ends, its closing line included; ``start`` if there is none."""
    opened = False
    for begin, stop, end in lines(text, start):
        line = text[begin : min(stop, begin + 4)]
        if not line.startswith(("---", "...")) or text[begin + 3 : stop].strip(" \t"):
            if not opened:
                return start
        elif opened:
            return end
        opened = True
    return start


def check_front_matter(text: str) -> list[tuple[int, str]]:
    """Faults of the YAML front matter at a document's beginning, as (line counted from 1, message)."""
    start = 1 if text.startswith("\ufeff") else 0
    end = front_matter_end(text, start) if text.startswith("---", start) else start
    rows = [text[begin:stop] for begin, stop, _ in lines(text, start, end)]
    return _Checker(rows[:-1]).run() if rows else []


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


class _Checker:
    """Reads row by row; ``at`` is the row at hand, row 0 being the opening ``---``."""

    def __init__(self, rows: list[str]) -> None:
        self.rows = rows
        self.at = 1
        self.problems: list[tuple[int, str]] = []

    def run(self) -> list[tuple[int, str]]:
        """All faults, in order."""
        while self.at < len(self.rows):
            row = self.rows[self.at]
            body = row.lstrip(" \t")
            if not body or body.startswith("#"):
                self.at += 1
            elif "\t" in row[: len(row) - len(body)]:
                self._report(self.at, "YAML may not be indented with tabs")
                self.at += 1
            else:
                self._row(row)
        return self.problems

    def _report(self, at: int, message: str) -> None:
        self.problems.append((at + 1, f"front matter: {message}"))

    def _row(self, row: str) -> None:
        column = parent = _indent(row)
        entry = False
        while mark := _compiled(_ENTRY).match(row, column):
            parent, column, entry = column, mark.end(), True
        if row.startswith(("? ", ": "), column):
            parent, column, entry = column, column + 2, True
        key = _compiled(_KEY).match(row, column)
        if key:
            self._value(row[key.end() :], column)
        elif entry or row.startswith(("%", "{", "["), column):
            self._value(row[column:], parent)
        else:
            if column == 0:
                self._report(self.at, f"neither 'key: value' nor a list entry: {row.strip()[:40]!r}")
            self.at += 1

    def _value(self, value: str, parent: int) -> None:
        """Check what stands behind a key or dash at column ``parent``, with the rows that belong to it."""
        if _compiled(_BLOCK_SCALAR).match(value):
            self.at += 1
            while self.at < len(self.rows):
                row = self.rows[self.at]
                if row.strip(" \t") and _indent(row) <= parent:
                    break
                self.at += 1
        elif value[:1] in ("'", '"'):
            self._quoted(value, parent)
        elif value[:1] in ("[", "{"):
            self._flow(value)
        else:
            self._plain(value, parent)

    def _quoted(self, value: str, parent: int) -> None:
        opened, quote, rest = self.at, value[0], value[1:]
        while True:
            end = _compiled(_QUOTE_ENDS[quote]).match(rest)
            self.at += 1
            if end:
                behind = rest[end.end() :].rstrip(" \t")
                if behind and not behind.lstrip(" \t").startswith("#"):
                    self._report(opened, f"text behind the closing {quote}: {behind.strip()[:40]!r}")
                return
            following = self.rows[self.at] if self.at < len(self.rows) else None
            if following is None or (following.strip(" \t") and _indent(following) <= parent):
                self._report(opened, f"the quote {quote} is not closed")
                return
            rest += "\n" + following

    def _flow(self, value: str) -> None:
        opened, depth, quote, before = self.at, 0, "", ""
        while True:
            for place, character in enumerate(value):
                if quote:
                    if character == quote and before != "\\":
                        quote = ""
                    before = "" if before == "\\" else character
                    continue
                if character in "\"'" and before in ("", "[", "{", ",", ":"):
                    quote, before = character, ""
                    continue
                if character == "#" and place and value[place - 1] in " \t":
                    break
                depth += (character in "[{") - (character in "]}")
                if depth == 0:
                    behind = value[place + 1 :].rstrip(" \t")
                    self.at += 1
                    if behind and not behind.lstrip(" \t").startswith(("#", ":")):
                        self._report(opened, f"text behind the closing bracket: {behind.strip()[:40]!r}")
                    return
                if character not in " \t":
                    before = character
            self.at += 1
            if self.at == len(self.rows):
                self._report(opened, "a bracket is not closed")
                return
            value = self.rows[self.at]

    def _plain(self, value: str, parent: int) -> None:
        comment = _compiled(_COMMENT_BEHIND).search(" " + value)
        plain = value[: max(comment.start() - 1, 0)] if comment else value
        if plain and plain[0] not in "&*!?" and _compiled(_LATE_COLON).search(plain):
            self._report(self.at, f"a value with ': ' in it needs quotes: {plain.strip()[:40]!r}")
        self.at += 1
        while plain.strip() and self.at < len(self.rows):
            row = self.rows[self.at]  # further rows of the same plain text
            body = row.lstrip(" \t")
            if not body or _indent(row) <= parent or body.startswith("#") or _compiled(_KEY).match(body):
                return
            if "\t" in row[: len(row) - len(body)] and not row.startswith(" "):
                return
            self.at += 1
