"""Cosines, worked out alike whatever engine keeps the vectors."""

from __future__ import annotations

import numpy as np

from memoranda.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["CLOSE", "cosines", "unit", "units"]

#: Two cosines no farther apart than this may be one, rounded differently.
CLOSE = 1e-6
#: Cosines are told to so many places: below, the order of rows would hang on how a sum was rounded.
_PLACES = 7


def unit(vector: Sequence[float]) -> Any:
    """The vector at length 1 in float64; ``None``: it is all zero, or holds what is no number."""
    matrix, found = units([vector])
    return matrix[0] if found[0] else None


def units(vectors: Sequence[Sequence[float]]) -> tuple[Any, Any]:
    """The vectors at length 1 as a float64 matrix, and which of them have a direction at all.

    Raises UsageError: they are not numbers, or not of one length above 0.
    """
    try:
        matrix = np.array(vectors, dtype=np.float64, ndmin=2)
    except (TypeError, ValueError) as error:
        raise UsageError(f"these are no vectors of one length: {error}") from error
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise UsageError("a vector is a row of numbers, at least one")
    # The greatest component becomes 1 first: the square of a tiny or a huge number is none.
    peaks = np.abs(matrix).max(axis=1)
    found = np.isfinite(peaks) & (peaks > 0)
    matrix[~found] = 0.0
    peaks[~found] = 1.0
    matrix /= peaks[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    lengths[~found] = 1.0
    matrix /= lengths[:, None]
    return matrix, found


def cosines(question: Any, matrix: Any) -> list[float]:
    """The cosines of a question of length 1 with every row of a float32 matrix of rows of about length 1."""
    rows = np.asarray(matrix, dtype=np.float64)
    # Not a product of matrices: there, how a row is rounded depends on where it stands.
    products = np.einsum("ij,j->i", rows, question) / np.sqrt(np.einsum("ij,ij->i", rows, rows))
    told: list[float] = np.round(np.clip(products, -1.0, 1.0), _PLACES).tolist()
    return told
