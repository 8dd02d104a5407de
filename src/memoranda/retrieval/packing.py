"""Fitting hits into a budget of tokens."""

from __future__ import annotations

from memoranda.core.tokens import estimate_tokens
from memoranda.retrieval.rendering import frame_text, hit_text
from memoranda.retrieval.result import Dropped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from memoranda.retrieval.result import Hit

__all__ = ["pack"]


def pack(hits: Sequence[Hit], budget: int | None, zone: tzinfo | None = None) -> tuple[list[Hit], list[Dropped]]:
    """The hits that fit, in order, and those that do not.

    What does not fit is passed over, smaller ones after it still enter. The
    cost of a hit is that of its whole entry in the rendered block; the block's
    own lines are paid first. Without a budget everything fits.
    """
    if budget is None:
        return list(hits), []
    left = budget - estimate_tokens(frame_text())
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    for hit in hits:
        cost = estimate_tokens(hit_text(hit, len(kept) + 1, zone))
        if cost <= left:
            kept.append(hit)
            left -= cost
        else:
            reason = f"takes about {cost} tokens, {max(left, 0)} of {budget} were left"
            dropped.append(Dropped(hit.address, cost, reason))
    return kept, dropped
