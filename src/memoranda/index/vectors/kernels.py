"""The sums over many rows, in pieces small enough to stay in a processor's own memory."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

__all__ = ["byte_scores", "byte_scores_of", "cosines", "distances", "float_scores", "signs", "unit", "units"]

#: Numbers in a piece: less than 1 MB of float32.
_PIECE = 196_608
_PAGE = 4096


def units(vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors of length 1 in float32, and which of them have a direction; the others are zero."""
    wide = np.array(vectors, np.float64)
    found = np.isfinite(wide).all(axis=1)
    wide[~found] = 0
    # By the largest number first: squares of very large or small ones would leave the range.
    largest = np.abs(wide).max(axis=1, initial=0)
    found &= largest > 0
    wide /= np.where(found, largest, 1)[:, None]
    wide /= np.where(found, np.sqrt((wide * wide).sum(axis=1)), 1)[:, None]
    return wide.astype("<f4"), found


def unit(vector: Any) -> NDArray[Any] | None:
    """One vector of length 1 in float64; ``None`` where it has no direction."""
    wide = np.array(vector, np.float64)
    largest = np.abs(wide).max(initial=0)
    if not np.isfinite(wide).all() or not largest > 0:
        return None
    wide /= largest
    found: NDArray[Any] = wide / np.sqrt((wide * wide).sum())
    return found


def cosines(vectors: NDArray[Any], query: NDArray[Any]) -> NDArray[Any]:
    """Cosines in float64, to twelve places: what differs by the order of a sum alone is equal.

    A row's does not depend on the other rows, as that of a matrix product may.
    """
    found: NDArray[Any] = (vectors.astype(np.float64) * query).sum(axis=1).round(12)
    return found


def float_scores(vectors: NDArray[Any], query: NDArray[Any], rows: NDArray[Any] | None = None) -> NDArray[Any]:
    """Cosines in float32, of all rows or of these; what is no number counts as the farthest."""
    narrow = query.astype(np.float32)
    if rows is None:
        found: NDArray[Any] = vectors @ narrow
    else:
        found = np.empty(len(rows), np.float32)
        step = max(1, _PIECE // max(1, vectors.shape[1]))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            found[start : start + step] = vectors[part] @ narrow
    found[~np.isfinite(found)] = -2
    return found


def signs(vectors: NDArray[Any], mean: NDArray[Any], rotation: NDArray[Any]) -> NDArray[Any]:
    """Signatures: the signs of the rotated vectors without their mean, 64 a word; rows × words."""
    turned = (vectors - mean) @ rotation > 0
    rows, dimension = turned.shape
    packed = np.zeros((rows, -(-dimension // 64) * 8), np.uint8)
    packed[:, : -(-dimension // 8)] = np.packbits(turned, axis=1)
    found: NDArray[Any] = packed.view("<u8")
    return found


def distances(bits: NDArray[Any], signature: NDArray[Any], rows: int) -> NDArray[Any]:
    """In how many places the signature of each row differs. ``bits``: blocks × words × rows in a block."""
    blocks, wide, block = bits.shape
    found = np.empty((blocks, block), np.uint16)
    differing = _apart((wide, block), bits)
    counts = np.empty((wide, block), np.uint8)
    column = signature.reshape(wide, 1)
    for at in range(blocks):
        np.bitwise_xor(bits[at], column, out=differing)
        np.bitwise_count(differing, out=counts)
        np.add.reduce(counts, axis=0, dtype=np.uint16, out=found[at])
    return found.reshape(-1)[:rows]


def _apart(shape: tuple[int, int], other: NDArray[Any]) -> NDArray[Any]:
    """Words whose addresses end otherwise than those of another array.

    Where the last twelve bits of both are near, a processor holds a reading
    back for the writing before it: a third more time, as it was measured.
    """
    size = shape[0] * shape[1] * 8
    room = np.empty(size + _PAGE, np.uint8)
    start = (other.ctypes.data + _PAGE // 2 - room.ctypes.data) % _PAGE // 8 * 8
    found: NDArray[Any] = room[start : start + size].view(np.uint64).reshape(shape)
    return found


def byte_scores_of(codes: NDArray[Any], weights: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Approximate cosines of these rows, less a constant, from bytes; ``weights``: the question times the scale."""
    found = np.empty(len(rows), np.float32)
    step = max(1, _PIECE // codes.shape[1])
    wide = np.empty((min(step, len(rows)), codes.shape[1]), np.float32)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        piece = wide[: len(part)]
        np.copyto(piece, codes.take(part, axis=0))
        np.dot(piece, weights, out=found[start : start + len(part)])
    return found


def byte_scores(codes: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """The same of all rows."""
    found = np.empty(len(codes), np.float32)
    step = max(1, _PIECE // codes.shape[1])
    wide = np.empty((min(step, len(codes)), codes.shape[1]), np.float32)
    for start in range(0, len(codes), step):
        piece = wide[: min(step, len(codes) - start)]
        np.copyto(piece, codes[start : start + len(piece)])
        np.dot(piece, weights, out=found[start : start + len(piece)])
    return found
