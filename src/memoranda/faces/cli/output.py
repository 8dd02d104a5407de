"""Where a command's words go: results to stdout, everything said about them to stderr."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["Output", "Progress", "visible"]

#: What a terminal or a reader's eye could be tricked with: directions that are overridden or isolated.
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPES: dict[int, str] = {}
_JSON_ESCAPES: dict[int, str] = {}
#: Seconds of work before a counter appears.
_PATIENCE = 0.5
_STYLES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "cyan": "36", "red": "31"}


def visible(text: str) -> str:
    """The text with its control characters written out (``\\x1b``); newlines and tabs stay."""
    if text.isprintable():
        return text
    if not _ESCAPES:
        for code in (*range(0x20), *range(0x7F, 0xA0)):
            _ESCAPES[code] = f"\\x{code:02x}"
        for code in (*_DIRECTIONS, 0x2028, 0x2029):
            _ESCAPES[code] = f"\\u{code:04x}"
        del _ESCAPES[0x09], _ESCAPES[0x0A]
        _ESCAPES[0x0D] = "\\r"
    return text.translate(_ESCAPES)


def _stream(stream: IO[str] | None) -> IO[str]:
    """The stream in UTF-8 whatever the locale, unencodable characters written as escapes."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    return stream


def _is_terminal(stream: IO[str]) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False


class Output:
    """The two streams of one run of a command."""

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        self._out = out
        self._err = err
        self.terminal = _is_terminal(out)
        self.err_terminal = _is_terminal(err)
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.colour = self.terminal and not plain
        self.failed = False

    @classmethod
    def standard(cls) -> Output:
        """The process's own stdout and stderr."""
        return cls(_stream(sys.stdout), _stream(sys.stderr))

    @property
    def columns(self) -> int | None:
        """How many columns a line may take; ``None`` when no terminal shows it."""
        if not self.terminal:
            return None
        try:
            return os.get_terminal_size(self._out.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def raw(self, text: str) -> None:
        """Write the text to stdout as it is."""
        try:
            self._out.write(text)
        except OSError:
            self.failed = True
            raise

    def line(self, text: str = "") -> None:
        """Write one line (or a text of several) for people, control characters shown."""
        self.raw(visible(text) + "\n")

    def styled(self, *pieces: str | tuple[str, str]) -> None:
        """Write one line of pieces, some with a style: ``("bold", text)``."""
        parts = []
        for piece in pieces:
            style, text = piece if isinstance(piece, tuple) else ("", piece)
            shown = visible(text)
            if style and shown and self.colour:
                shown = f"\x1b[{_STYLES[style]}m{shown}\x1b[0m"
            parts.append(shown)
        self.raw("".join(parts) + "\n")

    def text(self, text: str) -> None:
        """Write a stored text: shown on a terminal, as it is elsewhere."""
        self.raw(visible(text) if self.terminal else text)

    def json(self, value: Any, *, indent: int | None = 2, end: str = "\n") -> None:
        """Write the value as JSON and a newline, or ``end``."""
        import json

        shown = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
        if not shown.isprintable():
            if not _JSON_ESCAPES:
                codes = (*range(0x7F, 0xA0), *_DIRECTIONS, 0x2028, 0x2029)
                _JSON_ESCAPES.update({code: f"\\u{code:04x}" for code in codes})
            shown = shown.translate(_JSON_ESCAPES)
        self.raw(shown + end)

    def note(self, text: str, *, lines: bool = False) -> None:
        """Say something on stderr, in one line unless ``lines``; a closed stderr is no fault."""
        shown = visible(text if lines else " ".join(text.split("\n")))
        try:
            self._out.flush()
        except OSError:
            self.failed = True
            raise
        try:
            self._err.write(shown + "\n")
            self._err.flush()
        except (OSError, ValueError):
            pass

    def error(self, text: str) -> None:
        """Say on stderr what went wrong."""
        try:
            self.note(f"memoranda: {text}")
        except OSError:
            self.abandon()
            self.note(f"memoranda: {text}")

    def flush(self) -> None:
        """Hand everything written so far to the system."""
        try:
            self._out.flush()
        except OSError:
            self.failed = True
            raise

    def abandon(self) -> None:
        """Point stdout at nothing, so that the interpreter's last flush cannot fail."""
        try:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self._out.fileno())
            os.close(nothing)
        except (OSError, ValueError):
            pass

    def progress(self, what: str) -> Progress:
        """A counter on stderr; silent unless a person watches."""
        return Progress(self._err if self.err_terminal else None, what)


def _plain(value: object) -> object:
    """What JSON does not know: tuples' kin, and values that read as text (addresses, times)."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


class Progress:
    """Shows ``what: done/total`` in one line of the terminal, ten times a second once it takes its time."""

    def __init__(self, stream: IO[str] | None, what: str) -> None:
        self._stream = stream
        self._what = what
        self._next: float | None = None
        self._shown = False

    def __call__(self, done: int, total: int | None) -> None:
        """Show the count."""
        if self._stream is None:
            return
        import time

        now = time.monotonic()
        if self._next is None:
            # What is done in a moment needs no counter.
            self._next = now + _PATIENCE
        if now < self._next:
            return
        self._next = now + 0.1
        count = f"{done} %" if total == 100 else f"{done}/{total}" if total else str(done)
        self._write(f"\r\x1b[K{self._what}: {count}")
        self._shown = True

    def clear(self) -> None:
        """Take the line off the terminal."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _write(self, text: str) -> None:
        assert self._stream is not None
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._stream = None
