"""What an item is worth: how often and how lately it was recalled, how it was rated, whether somebody pinned it."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from datetime import datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.core.model import Item

__all__ = ["read_usage", "value_of"]

#: Days after which a recall counts half.
_HALF_LIFE = 30.0


def read_usage(path: str, now: datetime) -> dict[str, float]:
    """Of each address that was recalled, the sum of its recalls, each halved every thirty days.

    A line that means nothing is left out; so is the file where there is none.
    """
    found: dict[str, float] = {}
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
                row = json.loads(line)
                age = (now - datetime.fromisoformat(row["ts"])).total_seconds() / 86_400.0
                weight = 0.5 ** (max(age, 0.0) / _HALF_LIFE)
                for address in row["hits"]:
                    found[address] = found.get(address, 0.0) + weight
    return found


def value_of(usage: dict[str, float]) -> Callable[[Item], tuple[float, str]]:
    """What ranks items, the least valuable first: pinned ones last of all, of equals the older first."""

    def value(item: Item) -> tuple[float, str]:
        metadata = item.metadata
        if metadata.pinned:
            return math.inf, metadata.ts or ""
        rated = 0.0
        with suppress(ValueError):
            rated = (float(metadata.get("rating") or 3) - 3.0) + (float(metadata.get("confidence") or 0.5) - 0.5)
        return usage.get(str(item.address), 0.0) + rated, metadata.ts or ""

    return value
