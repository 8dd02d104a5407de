"""Edits of a text: what is to stand where, against the text as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Edit", "splice"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``base[start:end]`` by ``new``; ``start == end`` inserts."""

    start: int
    end: int
    new: str


def splice(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made.

    Raises:
        ValueError: the edits are not in order, overlap, or reach beyond the text.
    """
    pieces: list[str] = []
    done = 0
    for edit in edits:
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}..{edit.end} is out of order or reaches beyond the text")
        pieces += (text[done : edit.start], edit.new)
        done = edit.end
    pieces.append(text[done:])
    return "".join(pieces)
