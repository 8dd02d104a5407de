"""What turns documents of some formats into markdown, and how much it may take to do so."""

from __future__ import annotations

from typing import Protocol

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from memoranda.core.documents import Converted

__all__ = ["Converter", "Limits"]


class Converter(Protocol):
    """Turns documents of some formats into markdown. Reads the bytes it is given and nothing else.

    It may use much memory and time, loop, or crash on a hostile document: the
    caller runs it where that does no harm.
    """

    @property
    def name(self) -> str:
        """What it is called in the settings and in what it makes: ``"built-in"``, ``"pandoc"``."""
        ...

    @property
    def version(self) -> str:
        """The same document gives the same markdown as long as this is the same."""
        ...

    @property
    def formats(self) -> Collection[str]:
        """The formats it reads, by the names of :mod:`memoranda.adapters.converters.formats`."""
        ...

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """The document as markdown with a text in it, never without one.

        ``format`` is one of :attr:`formats`, ``name`` a file's name, for titles and
        messages only.

        Raises:
            NotConverted: it cannot be taken in; the message says in one line why.
        """
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may take. Sizes are bytes, times seconds.

    ``size`` is that of the document, ``markdown`` that of what is made of it.
    ``seconds`` is the wall's time and ``cpu_seconds`` the processor's; ``memory``
    is address space, interpreter and libraries included. What an archive holds
    may be ``expanded`` unpacked in all and ``ratio`` times as much as is packed
    (large members only), in ``members`` files; archives stand ``depth`` deep in
    archives.
    """

    size: int = 200 << 20
    markdown: int = 64 << 20
    seconds: float = 120.0
    cpu_seconds: int = 90
    memory: int = 2 << 30
    expanded: int = 512 << 20
    ratio: int = 150
    members: int = 20_000
    depth: int = 2
