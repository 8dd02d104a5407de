"""How much one document may take while it is converted."""

from __future__ import annotations

from memoranda.core.records import dataclass

__all__ = ["Limits"]


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
    memory: int = 1 << 30
    expanded: int = 512 << 20
    ratio: int = 150
    members: int = 20_000
    depth: int = 2
