"""Edits of a text: what is to stand where, against the text as it was read."""

from __future__ import annotations

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

__all__ = ["Edit", "common_start", "splice"]


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


if TYPE_CHECKING:
    Text = TypeVar("Text", str, bytes)


def common_start(first: Text, second: Text) -> int:
    """How much two texts begin alike; by halving, so that most of the work is one comparison."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
