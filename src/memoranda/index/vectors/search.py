"""Finding the nearest rows: exactly where there are few, by a cascade of ever better measures where there are many.

Signs of the vectors without their mean, compared by counting bits, leave a
small part of all rows; bytes leave some dozens; float32 decides. What decides
is held against its checksum first. How large the part has to be was measured
when the signatures were made (:mod:`.signatures`).
"""

from __future__ import annotations

import numpy as np

from memoranda.core.vectors import Near
from memoranda.index.vectors.kernels import byte_scores, byte_scores_of, cosines, distances, float_scores, signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.index.vectors.pointer import Calibration
    from memoranda.index.vectors.view import View

__all__ = ["EXACT_UP_TO", "candidates", "nearest", "part_of"]

#: Up to so many rows each is compared.
EXACT_UP_TO = 10_000
#: float32 sums in another order differ by less; rows that are as near as that to the last one are decided exactly.
_MARGIN = 2e-6
#: The part of fewer rows is larger than in proportion: it grows with this power of their number.
_POWER = 0.5
#: Fewer are never looked at by the second step.
_LEAST = 400
#: Every sixteenth distance tells where the nearest part ends.
_STRIDE = 16
#: So many rows that are equally near are decided exactly.
_EQUAL = 1000
#: No row is as far as one that does not count.
_NEVER = 65_535


def nearest(view: View, query: NDArray[Any], count: int, homes: Sequence[int] | None = None) -> tuple[list[Near], int]:
    """The ``count`` nearest rows to a vector of length 1, equal ones by address; and how many damaged rows were met."""
    if count <= 0 or not view.rows:
        return [], 0
    allowed = view.findable(homes)
    able = int(np.count_nonzero(allowed))
    if not able:
        return [], 0
    plan = view.pointer.calibration
    if able > EXACT_UP_TO and plan is not None and view.frame is not None:
        rerank = max(plan.rerank, 4 * count)
        rows = candidates(view, query, plan.method, part_of(plan, able, rerank), rerank, allowed, able)
        found, damaged = _decide(view, query, rows, cosines_of(view, query, rows), count)
        if len(found) >= min(count, able) or not damaged:
            return found, damaged
    rows = np.flatnonzero(allowed)
    if 2 * able >= view.rows:
        # Where most count, it costs less to compare all than to pick them out.
        scores = float_scores(view.vectors, query)[rows]
    else:
        scores = float_scores(view.vectors, query, rows)
    return _decide(view, query, rows, scores, count)


def part_of(plan: Calibration, able: int, rerank: int) -> int:
    """How many of ``able`` rows the second step looks at."""
    whole = plan.fraction * max(plan.rows, able)
    return int(max(whole * min(1.0, able / max(1, plan.rows)) ** _POWER, _LEAST, 4 * rerank))


def candidates(
    view: View,
    query: NDArray[Any],
    method: str,
    part: int,
    rerank: int,
    allowed: NDArray[Any],
    able: int,
) -> NDArray[Any]:
    """The rows that are left to be decided exactly: ``rerank`` of the nearest ``part`` by signs, or of all."""
    frame, bits, codes = view.frame, view.bits, view.codes
    if frame is None or bits is None or codes is None:
        raise ValueError("there are no signatures")
    narrow = query.astype(np.float32)
    weights = narrow * frame.scale
    if method == "int8":
        scores = byte_scores(codes, weights)
        scores[~allowed] = -np.inf
        return _best(view, np.arange(view.rows), scores, rerank)
    signature = signs(narrow[None], frame.mean, frame.rotation)[0]
    far = distances(bits, signature, view.rows)
    rows = np.flatnonzero(far <= _limit(far, allowed, part, able))
    rows = rows[allowed[rows]]
    return _best(view, rows, byte_scores_of(codes, weights, rows), rerank)


def cosines_of(view: View, query: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Exact cosines of some rows."""
    found = cosines(view.vectors[rows], query)
    found[~np.isfinite(found)] = -2
    return found


def _limit(far: NDArray[Any], allowed: NDArray[Any], part: int, able: int) -> int:
    """The distance up to which about ``part`` of the ``able`` rows lie that are ``allowed``."""
    sample = far[::_STRIDE] if able == len(far) else far[::_STRIDE][allowed[::_STRIDE]]
    share = part / able if able else 1.0
    counted = np.bincount(sample)
    reached = np.cumsum(counted)
    if not len(reached):
        return _NEVER - 1
    at = int(np.searchsorted(reached, share * int(reached[-1])))
    # A sample may hold none of a few rows that lie together: then all do that are not farther than the farthest.
    return _NEVER - 1 if at >= len(reached) - 1 else at


def _best(view: View, rows: NDArray[Any], scores: NDArray[Any], count: int) -> NDArray[Any]:
    """The ``count`` rows of the highest scores, and those whose are as high as the last of them."""
    if len(scores) <= count:
        return rows
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    chosen = np.flatnonzero(scores >= last - _MARGIN)
    if len(chosen) > _EQUAL:
        # A great many copies of one text: which of them are taken is not to depend on the order they came in.
        sure = np.flatnonzero(scores > last + _MARGIN)
        level = chosen[scores[chosen] <= last + _MARGIN]
        by_hash = np.argsort(view.table["address"][rows[level]], kind="stable")
        chosen = np.concatenate([sure, level[by_hash[: max(0, _EQUAL - len(sure))]]])
    found: NDArray[Any] = rows[chosen]
    return found


def _decide(
    view: View, query: NDArray[Any], rows: NDArray[Any], scores: NDArray[Any], count: int
) -> tuple[list[Near], int]:
    """The nearest of ``rows``, whose scores are nearly right; each is checked, and decided exactly."""
    damaged, wanted = 0, count
    while True:
        # The next best take the place of those that turn out to be damaged.
        if wanted < len(scores):
            last = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
            chosen = np.flatnonzero(scores >= last - _MARGIN)
        else:
            chosen = np.arange(len(scores))
        picked = rows[chosen]
        exact = _in_pieces(view, query, picked)
        found, damaged = _sound(view, picked, exact, count)
        if len(found) >= count or len(chosen) == len(scores):
            return found, damaged
        wanted = max(2 * wanted, len(chosen) + count)


def _in_pieces(view: View, query: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    found = np.empty(len(rows), np.float64)
    for start in range(0, len(rows), 256):
        found[start : start + 256] = cosines_of(view, query, rows[start : start + 256])
    return found


def _sound(view: View, rows: NDArray[Any], exact: NDArray[Any], count: int) -> tuple[list[Near], int]:
    """The nearest of these rows that are as they were written, by cosine and address."""
    damaged = 0
    found: list[Near] = []
    level: float | None = None
    for at in np.argsort(-exact, kind="stable").tolist():
        cosine = float(exact[at])
        if len(found) >= count and cosine != level:
            break
        row = int(rows[at])
        key = view.key(row) if view.is_sound(row) else None
        if key is None:
            damaged += 1
            continue
        level = cosine
        found.append(Near(key.address, key.digest, min(1.0, max(-1.0, cosine))))
    found.sort(key=lambda near: (-near.cosine, near.address))
    return found[:count], damaged
