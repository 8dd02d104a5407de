"""Signatures of vectors: made with a mean that is frozen, and tried out on some of the rows before they count."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from memoranda.index.vectors.kernels import distances, signs
from memoranda.index.vectors.pointer import Calibration
from memoranda.index.vectors.search import EXACT_UP_TO, candidates, cosines_of
from memoranda.index.vectors.view import Frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.index.vectors.view import View

__all__ = ["WIDEST", "calibrate", "codes_of", "frame_of", "signatures_of", "wants_signatures"]

#: Vectors of more numbers have no signatures: turning them would cost more than it saves.
WIDEST = 4096
#: The recall of ten that the first step has to reach, and what the whole cascade has to at the least.
_TARGET = 0.985
_ENOUGH = 0.97
#: Questions lie farther from their answers than rows from each other. On embeddings of real questions (e5) .98 of
#: the ten nearest were among 4,000 of 100,000 rows, .99 among 10,000 of a million, where rows of the store needed a
#: tenth of that. So many are looked at whatever the rows say: as many for so many rows, and with this power of them;
#: in proportion fewer where signatures are longer, and tell more, than those 384 bits.
_SMALLEST_ROWS, _SMALLEST_OF, _SMALLEST_POWER, _SMALLEST_BITS = 4000, 100_000, 0.4, 384
#: The largest part that the second step may look at, and how many rows that may be however few there are.
_LARGEST, _LARGEST_ROWS = 0.1, 6000
#: How much of another row is mixed into a row that stands for a question.
_BLEND = 0.5
_NEIGHBOURS = 10
_QUERIES = 100
#: Every second of these tries the whole cascade.
_EVERY = 2
_RERANKS = (40, 100)
#: Rows that mean and scale are taken of.
_SAMPLE = 20_000
#: A byte reaches so many standard deviations of its dimension.
_REACH = 4.5
_PIECE = 4096


def wants_signatures(rows: int, dimension: int) -> bool:
    """Whether so many rows are worth signatures."""
    return rows > EXACT_UP_TO and dimension <= WIDEST


def frame_of(view: View) -> Frame:
    """Mean, scale and rotation for the rows of a store. The rotation is any one; axes of their own fit signs worse."""
    rows = _spread(view, _SAMPLE)
    dimension = view.dimension
    total = np.zeros(dimension)
    squares = np.zeros(dimension)
    for start in range(0, len(rows), _PIECE):
        part = view.vectors[rows[start : start + _PIECE]].astype(np.float64)
        part[~np.isfinite(part).all(axis=1)] = 0
        total += part.sum(axis=0)
        squares += (part * part).sum(axis=0)
    count = max(1, len(rows))
    mean = total / count
    spread = np.sqrt(np.maximum(squares / count - mean * mean, 0))
    scale = np.maximum(spread * _REACH / 127, 1e-9)
    turned = np.random.default_rng(dimension).standard_normal((dimension, dimension), np.float32)
    rotation = np.linalg.qr(turned)[0]
    return Frame(mean.astype("<f4"), scale.astype("<f4"), np.ascontiguousarray(rotation, "<f4"))


def signatures_of(frame: Frame, vectors: NDArray[Any]) -> NDArray[Any]:
    """Signs of some vectors: rows × words."""
    return signs(vectors, frame.mean, frame.rotation)


def codes_of(frame: Frame, vectors: NDArray[Any]) -> NDArray[Any]:
    """Bytes of some vectors: rows × dimension."""
    scaled = np.rint((vectors - frame.mean) / frame.scale)
    found: NDArray[Any] = np.clip(scaled, -127, 127).astype(np.int8)
    return found


def calibrate(view: View) -> Calibration:
    """Find how large a part of the rows has to pass the first step, by rows whose neighbours are found exactly."""
    begun = perf_counter()
    frame, bits = view.frame, view.bits
    if frame is None or bits is None:
        raise ValueError("there are no signatures")
    allowed = view.findable()
    able = int(np.count_nonzero(allowed))
    asked = _spread(view, _QUERIES)
    queries = _questions(view, frame, asked)
    truths = _truths(view, asked, queries, allowed)
    ranks = []
    for query, truth in zip(queries, truths, strict=True):
        signature = signs(query.astype(np.float32)[None], frame.mean, frame.rotation)[0]
        far = distances(bits, signature, view.rows)
        far[~allowed] = 65_535
        ranks.append(np.cumsum(np.bincount(far[allowed], minlength=1))[far[truth]])
    places = np.sort(np.concatenate(ranks)) / max(1, able)
    tried = []
    for fraction in (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1):
        tried.append((fraction, round(float(np.searchsorted(places, fraction, "right")) / max(1, len(places)), 4)))
    needed = float(places[max(0, int(np.ceil(_TARGET * len(places))) - 1)]) if len(places) else 0.0
    least = _SMALLEST_ROWS * max(1.0, (able / _SMALLEST_OF) ** _SMALLEST_POWER)
    least *= min(1.0, _SMALLEST_BITS / view.dimension)
    fraction = min(max(needed, least / max(1, able)), max(_LARGEST, _LARGEST_ROWS / max(1, able)), 1.0)
    reached = 0.0
    for rerank in _RERANKS:
        reached = _recall(view, asked, queries, truths, "cascade", (fraction, rerank), allowed)
        if reached >= _ENOUGH:
            break
    method = "cascade"
    if reached < _ENOUGH:
        method = "int8"
        for rerank in _RERANKS:
            reached = _recall(view, asked, queries, truths, method, (fraction, rerank), allowed)
            if reached >= _TARGET:
                break
    seconds = perf_counter() - begun
    return Calibration(
        method, round(fraction, 6), rerank, round(reached, 4), len(asked), able, round(seconds, 3), tuple(tried)
    )


def _recall(
    view: View,
    asked: NDArray[Any],
    queries: NDArray[Any],
    truths: list[NDArray[Any]],
    method: str,
    shape: tuple[float, int],
    allowed: NDArray[Any],
) -> float:
    able = int(np.count_nonzero(allowed))
    fraction, rerank = shape
    part = max(int(fraction * able), 4 * rerank)
    hits = total = 0
    for row, query, truth in zip(asked[::_EVERY], queries[::_EVERY], truths[::_EVERY], strict=True):
        rows = candidates(view, query, method, part, rerank + 1, allowed, able)
        rows = rows[rows != row]
        best = rows[np.argsort(-cosines_of(view, query, rows), kind="stable")[: len(truth)]]
        # Another row that is just as near is as good.
        least = cosines_of(view, query, truth).min() if len(truth) else 0.0
        hits += int(np.count_nonzero(cosines_of(view, query, best) >= least - 1e-6))
        total += len(truth)
    return hits / total if total else 1.0


def _questions(view: View, frame: Frame, asked: NDArray[Any]) -> NDArray[Any]:
    """Vectors that stand for questions: rows, each with a part of another one; of length 1."""
    rows = view.vectors[asked].astype(np.float64) - frame.mean
    blended = rows + _BLEND * np.roll(rows, len(rows) // 2 + 1, axis=0)
    lengths = np.sqrt((blended * blended).sum(axis=1, keepdims=True))
    blended *= np.sqrt((rows * rows).sum(axis=1, keepdims=True)) / np.where(lengths > 0, lengths, 1)
    blended += frame.mean
    lengths = np.sqrt((blended * blended).sum(axis=1, keepdims=True))
    found: NDArray[Any] = blended / np.where(lengths > 0, lengths, 1)
    return found


def _truths(view: View, asked: NDArray[Any], questions: NDArray[Any], allowed: NDArray[Any]) -> list[NDArray[Any]]:
    """The rows nearest to each question, without the row that it was made of."""
    queries = questions.astype(np.float32)
    scores = np.full((len(asked), _NEIGHBOURS), -2.0, np.float32)
    rows = np.zeros((len(asked), _NEIGHBOURS), np.int64)
    for start in range(0, view.rows, _PIECE):
        part = queries @ view.vectors[start : start + _PIECE].T
        part[:, ~allowed[start : start + _PIECE]] = -2
        part[~np.isfinite(part)] = -2
        inside = np.flatnonzero((asked >= start) & (asked < start + _PIECE))
        part[inside, asked[inside] - start] = -2
        for at in np.flatnonzero((part > scores[:, -1:]).any(axis=1)).tolist():
            better = np.flatnonzero(part[at] > scores[at, -1])
            every = np.concatenate([scores[at], part[at, better]])
            which = np.concatenate([rows[at], better + start])
            best = np.argsort(-every, kind="stable")[:_NEIGHBOURS]
            scores[at], rows[at] = every[best], which[best]
    return [rows[at][scores[at] > -2] for at in range(len(asked))]


def _spread(view: View, count: int) -> NDArray[Any]:
    """Up to ``count`` rows that can be found, from all over the store."""
    rows = np.flatnonzero(view.findable())
    if len(rows) <= count:
        return rows
    return rows[np.linspace(0, len(rows) - 1, count).astype(np.int64)]
