"""Documents on their way in: what a converter makes of one, and why one cannot be taken in."""

from __future__ import annotations

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Refusal = Literal[
        "corrupt",
        "empty",
        "encrypted",
        "no_text",
        "secret",
        "too_large",
        "too_slow",
        "unreadable",
        "unsafe",
        "unsupported",
    ]
else:
    Refusal = str

__all__ = ["Converted", "NotConverted", "Refusal"]


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as markdown.

    ``format`` is what it was recognised as (``pdf``, ``docx``, ``csv``, ...), by
    its bytes where its name says something else. ``converter`` and ``version``
    say what made the markdown, ``encoding`` how its bytes were read where that
    had to be found out. Where a page, slide or sheet begins a line says so:
    ``<!-- page 3 -->``, ``<!-- slide 2 -->``, ``<!-- sheet Prices -->``.
    ``notes`` say in words what was left out or guessed.
    """

    markdown: str
    format: str
    converter: str
    version: str = ""
    title: str = ""
    encoding: str = ""
    notes: tuple[str, ...] = ()


class NotConverted(Exception):
    """A document cannot be taken in. ``kind`` is one of :data:`Refusal`; the message is one line for people."""

    def __init__(self, kind: Refusal, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
