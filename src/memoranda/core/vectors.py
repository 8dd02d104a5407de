"""What is known of a vector beside its numbers."""

from __future__ import annotations

from memoranda.core.records import dataclass

__all__ = ["Near", "VectorRow"]


@dataclass(frozen=True, slots=True)
class VectorRow:
    """Whose vector it is, and of what text.

    ``parent`` is the category, conversation or document that it belongs to,
    ``home`` its level and scope (``"item user/lin"``), ``digest`` tells what was
    embedded: 32 hexadecimal digits.
    """

    address: str
    parent: str
    home: str
    digest: str


@dataclass(frozen=True, slots=True)
class Near:
    """A row that was found: its address, what was embedded of it, and its cosine with the question."""

    address: str
    digest: str
    cosine: float
