"""An honest vector index: it keeps the vectors and looks at every one at every question."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from memoranda.core.errors import UsageError
from memoranda.core.vectors import Near, VectorRow

__all__ = ["NaiveVectorIndex", "cosine"]


def cosine(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The cosine of two vectors; ``None``: one of them has no direction."""
    if not (_has_direction(one) and _has_direction(other)):
        return None
    one, other = _scaled(one), _scaled(other)
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return max(-1.0, min(1.0, product / (math.hypot(*one) * math.hypot(*other))))


def _has_direction(vector: Sequence[float]) -> bool:
    return any(vector) and all(map(math.isfinite, vector))


def _scaled(vector: Sequence[float]) -> list[float]:
    peak = max(map(abs, vector))
    return [float(one) / peak for one in vector]


class NaiveVectorIndex:
    """Slow and plainly right."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[VectorRow, list[float]]] = {}

    @property
    def dimension(self) -> int:
        return len(next(iter(self.rows.values()))[1]) if self.rows else 0

    def __len__(self) -> int:
        return len(self.rows)

    def parents(self) -> set[str]:
        return {row.parent for row, _ in self.rows.values()}

    def held(self, parent: str) -> Mapping[str, str]:
        return {row.address: row.digest for row, _ in self.rows.values() if row.parent == parent}

    def put(self, rows: Sequence[VectorRow], vectors: Sequence[Sequence[float]]) -> None:
        if len(rows) != len(vectors):
            raise UsageError("not as many vectors as rows")
        lengths = {len(vector) for vector in vectors} | ({self.dimension} if self.rows else set())
        if len(lengths) > 1 or 0 in lengths:
            raise UsageError("vectors of several lengths")
        # A new dictionary each time: who reads meanwhile goes on in the old one.
        new = {row.address: (row, list(map(float, vector))) for row, vector in zip(rows, vectors, strict=True)}
        self.rows = self.rows | new

    def remove(self, addresses: Collection[str]) -> None:
        gone = set(addresses)
        self.rows = {address: held for address, held in self.rows.items() if address not in gone}

    def search(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> list[Near]:
        asked = [address for address, (row, _) in self.rows.items() if homes is None or row.home in homes]
        near = self.cosines(vector, asked)
        return sorted(near.values(), key=lambda one: (-one.cosine, one.address))[: max(count, 0)]

    def cosines(self, vector: Sequence[float], addresses: Collection[str]) -> Mapping[str, Near]:
        if self.rows and len(vector) != self.dimension:
            raise UsageError("a question of another length")
        near = {}
        for address in addresses:
            row, stored = self.rows.get(address, (None, []))
            if row is not None and (found := cosine(vector, stored)) is not None:
                near[address] = Near(address, row.digest, found)
        return near

    def sample(self, vector: Sequence[float], count: int, homes: Collection[str] | None = None) -> Sequence[float]:
        wanted = [address for address, (row, _) in self.rows.items() if homes is None or row.home in homes]
        near = sorted(self.cosines(vector, wanted).values(), key=lambda one: one.address)
        if count < 1 or len(near) <= count:
            return [one.cosine for one in near[: max(count, 0)]]
        return [near[place * len(near) // count].cosine for place in range(count)]

    def clear(self) -> None:
        self.rows = {}

    def close(self) -> None:
        """Nothing is open."""
